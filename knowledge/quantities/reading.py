"""Reads the one amount that begins at a number: scale, unit, currency, rate, and what the words around it say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from knowledge.quantities import vocabulary as words
from knowledge.quantities.names import GPU_MARK
from knowledge.quantities.numerals import NUMBER, read_number
from knowledge.quantities.quantity import Qualifier, Reading
from knowledge.quantities.units import CURRENCIES


@dataclass(slots=True)
class Item:
    """A quantity while it is being put together."""

    value: float
    low: float
    high: float
    start: int
    end: int
    unit: str = "1"
    written: str = ""
    letter: str = ""
    """A scale letter without a unit: it may be a scale or a unit (G, T, M, B)."""
    scaled: bool = False
    approximate: bool = False
    qualifier: Qualifier | None = None
    kind: str = ""
    name: str = ""
    per: str = ""
    numeral: str = "arabic"
    negative: bool = False
    factor: float = 1.0
    """What scale and unit have multiplied the number with."""
    readings: list[Reading] = field(default_factory=list)

    def scale(self, factor: float) -> None:
        """Multiply the value and its range."""
        self.factor *= factor
        self.value, self.low, self.high = self.value * factor, self.low * factor, self.high * factor

    @property
    def is_range(self) -> bool:
        """Whether low and high differ."""
        return self.low != self.high


_MONEY_BEFORE = re.compile(
    r"(?P<usd>(?:US)?\$|USD|美元|美金)|(?P<hkd>HK\$|HKD)|(?P<cny>¥|RMB|CNY|人民币)|(?P<eur>€|EUR)|(?P<gbp>£|GBP)", re.I | re.A
)
_MONEY_TAIL = re.compile(r"(?:US\$|HK\$|\$|USD|美元|美金|HKD|¥|RMB|CNY|人民币|€|EUR|£|GBP)\s?$", re.I | re.A)
_MONEY_AFTER = re.compile(r"\s?(?:(?P<usd>\$)|(?P<cny>¥)|(?P<eur>€)|(?P<gbp>£))", re.A)
_SHARE = re.compile(r"(?P<whole>百|千|万|\d+|[二三四五六七八九十]+)分之(?P<part>\d+(?:\.\d+)?|[零一二三四五六七八九十百点]+)", re.A)
_ENGLISH_SHARE = re.compile(
    r"(?<![\w.])(?P<count>an?|one|two|three|[123])[\s-](?P<of>thirds?|quarters?|fifths?|halves|tenths?)(?![a-z])|(?<![\d./])(?P<top>\d{1,2})/(?P<bottom>\d{1,2})(?=\s(?:of|the)\b|的)",
    re.I | re.A,
)
_HALF = re.compile(r"一半|半数|(?<![A-Za-z])half(?=\s+(?:of|the|my|our|it|to|on|in|as|goes|is)\b|\s*[,.;?!]|\s*$)", re.I | re.A)
_MORE = re.compile(r"\s?(?:多|余|来|几)(?=[个张台块卡万亿天小时人年周步条G-T份核美元]|\s?[A-Za-z])", re.A)
_AND_HALF = re.compile(r"个半|\s+and\s+a\s+half(?![A-Za-z])", re.I | re.A)
_HALF_MORE = re.compile(r"半(?!夜|路|价|数|年|个|天)", re.A)
_DISCOUNT = re.compile(r"\s?(?:off|cheaper|discount|less)(?![a-z])|\s?(?:的)?(?:折扣|优惠)", re.I | re.A)

_ABOUT = re.compile(
    r"(?:约|大约|大概|差不多|大致|估计|预计|将近|接近|近|~|≈|左右|about|around|roughly|approx(?:imately|\.)?|circa|nearly|almost|some|ca\.)(?:用|是|有|为|要|在|花)?(?:了)?\s?(?:一共)?$",
    re.I | re.A,
)
_ABOUT_AFTER = re.compile(r"\s?(?:左右|上下|出头|多(?![少久大长快高])|余|\+|or\sso\b|-?ish\b|的样子)", re.I | re.A)
_AT_MOST = re.compile(
    r"(?:不超过|不能超过|别超过|不得超过|不高于|不多于|不大于|最多|至多|顶多|少于|小于|低于|不到|以内|≤|<=?|under|below|less\sthan|fewer\sthan|at\smost|up\sto|max(?:imum)?(?:\sof)?|within|no\smore\sthan|not\smore\sthan|capped?\s(?:at|of)|cap\sof|limit(?:ed)?\s(?:to|of))\s?(?:约|about|是|了)?\s?$",
    re.I | re.A,
)
_AT_LEAST = re.compile(
    r"(?:至少|起码|最少|不少于|不低于|不小于|超过|大于|高于|多于|≥|>=?|at\sleast|over|more\sthan|above|no\sless\sthan|not\sless\sthan|min(?:imum)?(?:\sof)?|exceed(?:s|ing)?)\s?$",
    re.I | re.A,
)
_AT_MOST_AFTER = re.compile(r"\s?(?:以内|之内|内(?!存|网|部)|以下|之下|封顶|or\s(?:less|fewer|under|below)\b|max(?:imum)?\b|at\smost\b|tops\b)", re.I | re.A)
_AT_LEAST_AFTER = re.compile(r"\s?(?:以上|之上|起(?!来|步|码)|开外|or\smore\b|or\sabove\b|minimum\b|at\sleast\b)", re.I | re.A)

_PER_BEFORE = re.compile(
    r"(?:(?:每|单|per\s|each\s|every\s|one\s)\s?(?:一|个|张)?\s?(?:(?P<gpu>卡|张卡?|块|gpus?|cards?)|(?P<node>台(?:机器|服务器)?|机|节点|nodes?|servers?|box(?:es)?|machines?)|(?P<device>设备|盘|devices?|drives?|appliances?)))"
    r"(?:\s?(?:有|上|要|是|does|gets?|has|have|with|,|only|跑|约|大概|差不多|about|~|装|插|都|能|的|价格?|拷贝?|配|of|at))*\s?(?:每\s?(?P<time>秒|小时|天|月))?\s?(?:~|约|about\s)?$",
    re.I | re.A,
)
_TIME_BEFORE = re.compile(
    r"(?:(?:每|per\s)\s?个?(?P<unit>秒|分钟|小时|天|周|月|年|second|minute|hour|day|week|month|year))(?:的)?(?:大概|大约|约|要|花|费用?|预算|是|产生|新增|增长|付|收|账单|:|：|\s)*$",
    re.I | re.A,
)
_EVERY_BEFORE = re.compile(r"(?:every|once\severy|once\sper|每隔?|隔|间隔|interval\sof)\s?$", re.I | re.A)
_EVERY_AFTER = re.compile(r"\s?(?:就)?(?:[存来写保备断中掉挂被]|触发|打断|回收)?[^，。,;；\d]{0,3}[一1](?:次|回|遍|趟)|\s?(?:between\s(?:failures|interruptions)|apart)", re.I | re.A)
_TIME_NAMES = {
    "秒": "s", "second": "s", "分钟": "minute", "小时": "hour", "天": "day", "周": "week", "月": "month", "年": "year",
}  # fmt: skip
_WINDOW = 22


def read_amount(text: str, match: re.Match[str]) -> Item | None:
    """The amount at a match of `NUMBER`; None when the number is none (a word that only looks like one)."""
    number = read_number(text, match)
    if number is None:
        return None
    item = Item(number.value, number.low, number.high, match.start(), number.end, numeral=number.written)
    item.approximate = item.is_range
    _scale_and_unit(text, item)
    _money(text, item)
    if _no_amount(text, item):
        return None
    _rates(text, item)
    before = text[max(0, item.start - _WINDOW) : item.start]
    _sign(before, item)
    _around(text, before, item)
    return item


_COUNTS_A_NAME = re.compile(rf"\s?[xX×*]?\s?{GPU_MARK}", re.A)
_GLUED = re.compile(rf"(?![xX]\s?[\d{GPU_MARK}])[A-Za-z]", re.A)


def _no_amount(text: str, item: Item) -> bool:
    """A word such as 一 or "one" without a unit, or digits that begin a name ("3FS")."""
    if item.unit == "run" and item.numeral == "chinese" and item.value == 1:
        return True
    if item.unit != "1" or item.scaled:
        return False
    if item.numeral == "arabic":
        return bool(_GLUED.match(text, item.end))
    return not (item.value >= 1e4 or _COUNTS_A_NAME.match(text, item.end))


def read_share(text: str, position: int) -> Item | None:
    """百分之七十, 三分之一, 一半, two thirds, half of it."""
    if match := _SHARE.match(text, position):
        whole = {"百": 100.0, "千": 1000.0, "万": 1e4}.get(match["whole"]) or _value(match["whole"])
        part = _value(match["part"])
    elif match := _HALF.match(text, position):
        whole, part = 2.0, 1.0
    elif match := _ENGLISH_SHARE.match(text, position):
        if match["top"]:
            part, whole = float(match["top"]), float(match["bottom"])
        else:
            part = {"a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0}.get(match["count"].lower()) or float(match["count"])
            whole = {"th": 3.0, "qu": 4.0, "fi": 5.0, "ha": 2.0, "te": 10.0}[match["of"][:2].lower()]
    else:
        return None
    if not whole or part is None:
        return None
    item = Item(part / whole, part / whole, part / whole, match.start(), match.end(), "fraction", "share", kind="share")
    _around(text, text[max(0, item.start - _WINDOW) : item.start], item)
    return item


def _value(text: str) -> float | None:
    match = NUMBER.fullmatch(text)
    number = match and read_number(text, match)
    return number.value if number else None


def _scale_and_unit(text: str, item: Item) -> None:
    _skip_more(text, item)
    if _digital(text, item):
        return
    if half := _AND_HALF.match(text, item.end):
        item.value, item.low, item.high, item.end = item.value + 0.5, item.low + 0.5, item.high + 0.5, half.end()
    if unit := words.UNIT.match(text, item.end):
        _take_unit(text, item, unit)
        return
    scale = words.SCALE.match(text, item.end)
    if scale is None:
        return
    letter = scale["letter"] or scale["joined"] or ""
    item.scale(words.LETTERS[letter.lower()] if letter else words.SCALES[(scale["word"] or scale["en"]).lower()])
    item.end, item.scaled = scale.end(), True
    if not letter:
        _add_smaller_scale(text, item)
    elif scale["letter"]:
        item.letter = letter
    _skip_more(text, item)
    if letter in "BbTtMGg" and letter and (per := words.PER.match(text, item.end)) and per["parameter"]:
        return
    if unit := words.UNIT.match(text, item.end):
        if item.letter and unit.lastgroup in ("minute", "hour", "second") and unit.group().strip().lower() in "smh":
            return
        _take_unit(text, item, unit)
        item.letter = ""
    elif _digital(text, item):
        item.letter = ""


def _skip_more(text: str, item: Item) -> None:
    if more := _MORE.match(text, item.end):
        item.approximate, item.end = True, more.end()


def _add_smaller_scale(text: str, item: Item) -> None:
    """1亿2千万, 3万5千, 3万5."""
    match = re.compile(r"(\d{1,4})(千万|百万|万|千|百)?(?![\d.])").match(text, item.end)
    before = text[item.end - 1 : item.end]
    if match is None or before not in "万亿":
        return
    if match[2]:
        item_more = float(match[1]) * words.SCALES[match[2]]
    elif len(match[1]) == 1:
        item_more = float(match[1]) * (1e3 if before == "万" else 1e7)
    else:
        return
    for name in ("value", "low", "high"):
        setattr(item, name, getattr(item, name) + item_more)
    item.end = match.end()


def _take_unit(text: str, item: Item, match: re.Match[str]) -> None:
    group = match.lastgroup or ""
    factor, item.unit, item.written = words.BY_GROUP[group]
    item.end = match.end()
    if group == "off":
        # 85折 and 8.5折 both leave 85% to pay.
        factor = 0.01 if item.value >= 10 else 0.1
        item.kind = "price left"
    if group == "tonne" and item.scaled and item.value < 0:
        item.negative = True
    item.scale(factor)
    if item.unit == "second" and factor >= 3600 and (half := _HALF_MORE.match(text, item.end)):
        for name in ("value", "low", "high"):
            setattr(item, name, getattr(item, name) + factor / 2)
        item.end = half.end()
    if item.unit == "fraction" and group == "fraction" and (off := _DISCOUNT.match(text, item.end)):
        item.kind, item.end = "discount", off.end()


def _digital(text: str, item: Item) -> bool:
    """Bytes, bits and their rates, and FLOPs: case decides between bit and byte."""
    if match := words.FLOPS.match(text, item.end):
        prefix = (match["prefix"] or "").lower()
        item.scale({"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18, "z": 1e21, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15, "exa": 1e18, "zetta": 1e21}[prefix])
        is_rate = bool(match["rate"]) and item.value < 1e21
        item.unit, item.end, item.letter = "FLOP/s" if is_rate else "FLOP", match.end(), ""
        item.written = item.unit
        return True
    if match := words.BYTES.match(text, item.end):
        _take_bytes(text, item, match)
        return True
    if match := words.BIT_LETTER_RATE.match(text, item.end):
        item.scale(words.LETTERS[match["prefix"].lower()])
        item.end, item.unit, item.written = match.end(), "bit/s", f"{match['prefix']}bit/s"
        if match["rate"] not in ("bps", "bit/s"):
            item.readings = [Reading(item.value, "bit/s"), Reading(item.value, "byte/s")]
        return True
    if match := words.NETWORK_WORD.match(text, item.end):
        _take_mega(text, item, match)
        return True
    return False


def _take_bytes(text: str, item: Item, match: re.Match[str]) -> None:
    prefix = match["prefix"] or (match["long"] or ("g" if match["gigs"] else ""))[:1]
    unit = match["unit"] or match["word"] or match["long_unit"] or "B"
    binary = bool(match["binary"])
    factor = 1.0
    if prefix:
        factor = 1024.0 ** (1 + "kmgtpe".index(prefix.lower())) if binary else words.LETTERS[prefix.lower()]
    item.scale(factor)
    item.end = match.end()
    is_word = len(unit) > 1
    is_bit = unit.lower().startswith("bit") or unit == "比特" or (not is_word and unit == "b" and not prefix.islower())
    is_rate = bool(match["rate"])
    if not is_rate and (per := words.PER_SECOND.match(text, item.end)):
        is_rate, item.end = True, per.end()
    if is_rate and match["rate"] and not is_word:
        # Gbps, gbps and GBPS are bits; GBps with its capital B alone are bytes.
        is_bit = not (unit == "B" and match["rate"] == "ps")
    careless = is_rate and not match["rate"] and not is_word and unit == "b" and prefix.islower()
    shown = (prefix.upper() if prefix.lower() != "k" else "k") + ("i" if binary else "")
    item.unit = ("bit" if is_bit else "byte") + ("/s" if is_rate else "")
    item.written = f"{shown}{'bit' if is_bit else 'B'}{'/s' if is_rate else ''}" if shown else item.unit
    if careless:
        item.readings = [Reading(item.value, "byte/s"), Reading(item.value, "bit/s")]
    elif is_bit and not is_rate and not is_word:
        item.readings = [Reading(item.value, "bit/s"), Reading(item.value, "byte")]


def _take_mega(text: str, item: Item, match: re.Match[str]) -> None:
    """兆: 10^6 of data or of line rate; 10^12 before tokens and parameters."""
    size = {"百": 1e2, "千": 1e3, "万": 1e4}.get(match["size"] or "", 1.0)
    item.end, item.scaled = match.end(), True
    unit = words.UNIT.match(text, item.end)
    if unit and unit.lastgroup in ("tokens", "parameters", "cny", "usd"):
        item.scale(size * 1e12)
        _take_unit(text, item, unit)
        return
    item.scale(size * 1e6)
    item.letter, item.written = "兆", "M"
    if per := words.PER_SECOND.match(text, item.end):
        item.end, item.letter, item.unit = per.end(), "", "byte/s"
        item.readings = [Reading(item.value, "byte/s"), Reading(item.value, "bit/s")]


def _money(text: str, item: Item) -> None:
    before = text[max(0, item.start - 6) : item.start]
    if tail := _MONEY_TAIL.search(before):
        head = _MONEY_BEFORE.match(tail.group())
        if head and (item.unit == "1" or item.unit in CURRENCIES):
            item.unit = item.written = (head.lastgroup or "").upper()
            item.letter, item.start = "", item.start - len(tail.group())
    elif item.unit == "1" and (after := _MONEY_AFTER.match(text, item.end)):
        item.unit = item.written = (after.lastgroup or "").upper()
        item.letter, item.end = "", after.end()


def _rates(text: str, item: Item) -> None:
    """USD/gpu-hour, CNY/GB/month, token/s, byte/parameter: denominators that follow."""
    over: list[str] = []
    while len(over) < 3 and (match := words.PER.match(text, item.end)):
        spoken = match.group().lstrip()[:1] in "一aA"
        if spoken and (over or item.unit not in CURRENCIES or match.lastgroup not in ("hour", "day", "week", "month", "year", "gpu_hour", "gpu", "node")) and not (match.lastgroup == "parameter"):
            break
        if item.unit == "1" and not (item.letter.upper() == "B" and match.lastgroup == "parameter"):
            break
        group = match.lastgroup or ""
        if group == "tb":
            item.scale(1e-3)
        elif group in ("mtok", "ktok"):
            item.scale(1e-6 if group == "mtok" else 1e-3)
        over.append({"gpu_hour": "gpu-hour", "second": "s", "tb": "GB", "gb": "GB", "mtok": "token", "ktok": "token", "kwh": "kWh"}.get(group, group))
        item.end = match.end()
    if item.letter.upper() == "B" and "parameter" in over:
        item.scale(1e-9)
        item.unit, item.letter, item.written = "byte", "", "byte"
    set_rate(item, over)


def set_rate(item: Item, over: list[str]) -> None:
    """Give the item the denominators; "gpu" and "node" say of what each has the amount."""
    if "gpu" in over and "hour" in over and item.unit in CURRENCIES:
        over = ["gpu-hour", *(name for name in over if name not in ("gpu", "hour"))]
    for name in over:
        if name in ("gpu", "node", "person", "run", "checkpoint") and item.unit != "gpu-hour":
            item.per = name
        else:
            item.unit = f"{'token' if item.unit == 'tokens' else item.unit}/{name}"


def _sign(before: str, item: Item) -> None:
    if re.search(r"(?:^|[\s(（=:，,、])-$|负$|minus\s$", before):
        item.scale(-1.0)
        item.low, item.high = min(item.low, item.high), max(item.low, item.high)
        item.start -= 1 if before.endswith(("-", "负")) else 6


def _around(text: str, before: str, item: Item) -> None:
    before = before[: item.start - max(0, item.start - _WINDOW)] if len(before) > item.start else before
    if after := _ABOUT_AFTER.match(text, item.end):
        item.approximate = True
        item.end = after.end() if after.group().strip() in ("左右", "上下", "出头", "+") else item.end
    if _ABOUT.search(before):
        item.approximate = True
    if _AT_MOST_AFTER.match(text, item.end) or _AT_MOST.search(before):
        item.qualifier = "at most"
    elif _AT_LEAST_AFTER.match(text, item.end) or _AT_LEAST.search(before):
        item.qualifier = "at least"
    if per := _PER_BEFORE.search(before):
        if not item.per:
            item.per = per.lastgroup if per.lastgroup != "time" else next(name for name in ("gpu", "node", "device") if per[name])
        if per["time"] and "/" not in item.unit:
            set_rate(item, [_TIME_NAMES[per["time"]]])
    elif (time := _TIME_BEFORE.search(before)) and "/" not in item.unit and item.unit not in ("second", "fraction"):
        set_rate(item, [_TIME_NAMES[time["unit"].lower()]])
    if item.unit in ("second", "step", "1") and (_EVERY_BEFORE.search(before) or (item.unit == "second" and _EVERY_AFTER.match(text, item.end))):
        item.kind = "interval"
