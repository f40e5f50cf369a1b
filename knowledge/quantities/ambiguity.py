"""Decides what "100G", "1M", "70亿" or "50万" count, from the words around them; what they leave open stays open."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.quantities.item import Item
from knowledge.quantities.quantity import Reading

_CUES = (
    (
        "bit/s",
        re.compile(
            r"带宽|宽带|专线|网速|网络|网卡|线路|[万千]兆|网$|^网|上行|下行|(?<![a-z])ib(?![a-z])|roce|infiniband|rdma|\blinks?\b|\blines?\b|bandwidth|ethernet|uplink|network|\bnic\b|circuit|connection|internet|fiber|光纤|出口|交换机",
            re.I | re.A,
        ),
    ),
    ("sequence", re.compile(r"上下文|序列|context|\bseq|窗口|\bctx|window|长度|length", re.I | re.A)),
    ("tokens", re.compile(r"tokens?|\btok\b|词元", re.I | re.A)),
    (
        "parameters",
        re.compile(
            r"参数|param|模型|\bmodel|大小的?模型|微调|finetun|fine-tun|全参|lora|预训练|训练|\btrain|推理|部署",
            re.I | re.A,
        ),
    ),
    (
        "byte",
        re.compile(
            r"数据|语料|传|存储|存了?|硬盘|磁盘|盘|备份|归档|对象|文件|迁移|拷贝|下载|上传|容量|检查点|显存|内存|流量|日志|视频|影像|storage|stor(?:e|ing)|data|corpus|disk|upload|transfer|mov(?:e|ing)|bucket|backup|archive|ckpt|checkpoint|memory|vram|egress|download|\bship",
            re.I | re.A,
        ),
    ),
    (
        "money",
        re.compile(
            r"预算|花费?|费用|成本|价|钱|账单|贵|省|烧|剩|包月|包年|月租|租金|托管|budget|bill|cost|spen[dt]|price|pay|invoice|quote|damage|charge|\bbuy\b|\brent|hourly|monthly",
            re.I | re.A,
        ),
    ),
    ("W", re.compile(r"功耗|功率|用电|tdp|\bpower|watt", re.I | re.A)),
)
_CLAUSE = re.compile(r"[,;?!，。；？！、\n]|\.\s", re.A)
_REACH_BEFORE, _REACH_AFTER = 16, 14
_OPTIONS: dict[str, tuple[str, ...]] = {
    "k": ("1",),
    "m": ("parameters", "tokens", "byte", "1", "bit/s"),
    "b": ("parameters", "tokens"),
    "t": ("tokens", "byte", "parameters"),
    "g": ("byte", "bit/s"),
    "p": ("byte", "FLOP/s"),
    "e": ("byte", "FLOP/s"),
    "兆": ("byte", "bit/s"),
    "": ("1",),
}
_CURRENCY = re.compile(
    r"(?P<usd>\$|usd|美元|美金|刀(?!片)|dollars?)|(?P<cny>¥|rmb|cny|人民币|元(?!素)|块钱)|(?P<eur>€|eur(?:os?)?(?![a-z]))",
    re.I | re.A,
)
_ZH = re.compile(r"[\u4e00-\u9fff]", re.A)
_TRAINED_ON = re.compile(r"(?:\bon|\bover|吃|喂|跑|用)\s*(?:了|about|约)?\s*$", re.I | re.A)
_MIN_SEQUENCE, _MAX_SEQUENCE = 64, 1e8
_MIN_MONEY, _MIN_PARAMETERS = 1e4, 1e7
_MAX_KG_PER_KWH = 3.0
_TIMES = frozenset(("hour", "day", "week", "month", "year"))
_MONEY_TEXT = re.compile(
    r"预算|花|费用|成本|多少钱|价|账单|租|买|付|烧|budget|bill|\bcosts?(?![a-z])|spen[dt]|price|\bpay|invoice|\bbuy|\brent|[$¥元刀]",
    re.I | re.A,
)
_LABEL = re.compile(
    r"(?:(?P<hours>卡时|gpu[- ]?hours?)"
    r"|(?P<rate>(?:tok(?:en)?s?\s?(?:/\s?s(?:ec(?:ond)?)?|per second)|tps|每秒\s?tokens?)(?:\s?(?:per gpu|/gpu|每卡))?)"
    r"|(?P<grid>碳强度|grid intensity|carbon intensity))\s?(?:数|是|为|约|is|of|at|about|=|:|：)?\s?$",
    re.I | re.A,
)
_PER_GPU = re.compile(r"gpu|卡", re.I)


def resolve(text: str, items: Sequence[Item]) -> None:
    """Give every bare or half-written amount a unit, or all the units that it may have."""
    chinese = len(_ZH.findall(text)) > 0
    for item in items:
        if item.unit == "1" or item.unit.startswith("1/"):
            _resolve_bare(text, item, items, chinese)
        elif (
            item.unit == "tokens"
            and not item.kind
            and item.value < _MAX_SEQUENCE
            and _nearest(text, item, ("sequence",))
        ):
            item.kind = "sequence length"
        if (
            item.unit == "bit/s"
            and any(reading.unit == "byte" for reading in item.readings)
            and _nearest(text, item, ("bit/s",)) == "bit/s"
        ):
            item.readings = []
        elif item.readings and item.readings[0].unit == "bit/s" and item.unit == "bit":
            _resolve_bits(text, item)
        if item.unit == "1" and item.kind == "interval" and any(other.unit == "step" for other in items):
            item.unit = item.written = "step"


def _currency(text: str) -> str | None:
    """The only currency that the text names."""
    named = {(match.lastgroup or "").upper() for match in _CURRENCY.finditer(text)}
    return named.pop() if len(named) == 1 else None


def _resolve_bits(text: str, item: Item) -> None:
    """100Mb: a line's rate, or data written carelessly."""
    of_line, as_bytes = Reading(item.value, "bit/s"), Reading(item.value, "byte")
    cue = _nearest(text, item, ("bit/s", "byte"))
    item.readings = [as_bytes, of_line] if cue == "byte" or item.kind == "gpu memory" else [of_line, as_bytes]
    item.unit = item.readings[0].unit
    if cue == "bit/s" or item.kind == "gpu memory":
        item.readings = []


def _resolve_bare(text: str, item: Item, items: Sequence[Item], chinese: bool) -> None:
    letter = item.letter.lower()
    if letter == "w" and not chinese:
        tenthousands = Reading(item.value, "1")
        _as_watts(item)
        item.readings = [Reading(item.value, "W"), tenthousands] if item.letter == "w" else []
        return
    cue = _nearest(text, item, ("bit/s", "sequence", "tokens", "parameters", "byte", "money", "W"))
    if item.priced or (item.per in _TIMES and letter in ("", "k") and _MONEY_TEXT.search(text)):
        _take_money(text, item, chinese)
    elif item.letter == "W" and (cue == "W" or item.per == "gpu"):
        _as_watts(item)
    elif unit := _labelled(text, item):
        factor = 1000.0 if unit == "g/kWh" and item.value < _MAX_KG_PER_KWH else 1.0
        item.value, item.low, item.high = item.value * factor, item.low * factor, item.high * factor
        item.unit, item.written, item.letter = unit, unit, ""
    elif cue == "money" and letter not in ("g", "t", "p", "e", "b", "兆"):
        _take_money(text, item, chinese)
    elif item.letter == "W":
        spaced = text[item.end - 2 : item.end - 1] == " "
        item.readings = [Reading(item.value, "1"), Reading(item.value / 1e4, "W")]
        if spaced:
            _as_watts(item)
    elif item.per == "example" and letter in ("", "k"):
        item.unit, item.written = "tokens", "token"
    elif cue == "sequence" and _MIN_SEQUENCE <= item.value < _MAX_SEQUENCE and letter in ("", "k", "m"):
        item.unit, item.written, item.kind = ("tokens", "token", "sequence length")
    elif letter == "b":
        _resolve_billions(text, item, items)
    elif item.scaled:
        _resolve_scaled(text, item, cue, letter, chinese)


def _resolve_scaled(text: str, item: Item, cue: str | None, letter: str, chinese: bool) -> None:
    """A scaled number without a unit: 100G, 1M, 30w, 50万, 300k."""
    word = letter in ("", "w")
    allowed = ("1", "tokens", "parameters") if word or letter == "k" else _OPTIONS[letter]
    if cue is not None and cue in allowed:
        item.unit = cue
        item.written = item.written or cue
        return
    if letter == "兆":
        if item.value in (1e9, 1e10):
            item.unit, item.written = "bit/s", "Mbit/s"
            return
        if item.numeral == "scale":
            allowed = ("bit/s", "byte")
    elif word or letter == "k":
        if _MONEY_TEXT.search(text) and item.value >= _MIN_MONEY and cue is None:
            _take_money(text, item, chinese)
            return
        if letter == "k" or item.value < _MIN_MONEY:
            return
        money = "CNY" if chinese else "USD"
        allowed = ("1", "parameters", "tokens", money) if item.value >= _MIN_PARAMETERS else ("1", money)
    item.readings = [Reading(item.value, unit) for unit in allowed]
    item.unit = item.readings[0].unit


def _labelled(text: str, item: Item) -> str | None:
    """The unit that a label just before the number gives it: "卡时5万", "tokens/s per GPU: 3100", "碳强度0.58"."""
    label = _LABEL.search(text[max(0, item.start - 30) : item.start])
    if label is None:
        return None
    if label.lastgroup == "rate" and not item.per and _PER_GPU.search(label.group()):
        item.per = "gpu"
    return {"hours": "gpu-hour", "rate": "token/s", "grid": "g/kWh"}[label.lastgroup or ""]


def _as_watts(item: Item) -> None:
    item.value, item.low, item.high = item.value / 1e4, item.low / 1e4, item.high / 1e4
    item.unit = item.written = "W"
    item.readings = []


def _resolve_billions(text: str, item: Item, items: Sequence[Item]) -> None:
    """7B is a model's size; after another size, "on 300B" is what it was trained on."""
    item.unit, item.written = "parameters", "parameter"
    before = text[max(0, item.start - 10) : item.start]
    if _TRAINED_ON.search(before) and any(
        other.unit == "parameters" for other in items if other is not item and other.start < item.start
    ):
        item.readings = [Reading(item.value, "tokens"), Reading(item.value, "parameters")]
        item.unit, item.written = "tokens", "token"


def _take_money(text: str, item: Item, chinese: bool) -> None:
    """Money in the text's only currency, or in one that stays open; "a day" and "/GB" make a rate of it."""
    over = item.unit.removeprefix("1")
    if item.per in _TIMES:
        over, item.per = f"/{item.per}", ""
    item.letter = ""
    if currency := _currency(text):
        item.unit, item.written = currency + over, currency
        return
    currencies = ("CNY", "USD") if chinese else ("USD", "CNY")
    item.readings = [Reading(item.value, currency + over) for currency in currencies]
    item.unit = item.readings[0].unit


def _nearest(text: str, item: Item, kinds: tuple[str, ...]) -> str | None:
    """The kind whose word stands nearest to the amount in its clause; words after it count as nearer."""
    before = text[max(0, item.start - _REACH_BEFORE) : item.start]
    ends = [match.end() for match in _CLAUSE.finditer(before)]
    before = before[ends[-1] :] if ends else before
    after = text[item.end : item.end + _REACH_AFTER]
    cut = _CLAUSE.search(after)
    after = after[: cut.start()] if cut else after
    best: tuple[int, str] | None = None
    for kind, pattern in _CUES:
        if kind not in kinds:
            continue
        distances = [2 * (len(before) - match.end()) + 3 for match in pattern.finditer(before)]
        distances += [match.start() for match in pattern.finditer(after)]
        if distances and (best is None or min(distances) < best[0]):
            best = (min(distances), kind)
    return best[1] if best else None
