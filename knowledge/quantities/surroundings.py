"""What the words around an amount say of it: sign, approximation, bounds, of what each has it, how often."""
# ruff: noqa: E501

from __future__ import annotations

import re

from knowledge.quantities.item import Item
from knowledge.quantities.rates import set_rate
from knowledge.quantities.units import CURRENCIES

_FILLERS = ("一共", "用了", "花了", "用", "是", "有", "为", "要", "在", "花", "了", "：", ":")
_ABOUT = (
    "约", "大概", "差不多", "大致", "估计", "预计", "将近", "接近", "附近", "~", "≈", "左右", "about", "around", "roughly", "approx",
    "approx.", "approximately", "circa", "nearly", "almost", " some", "ca.",
)  # fmt: skip
_NEAR = "近"
_AT_MOST = (
    "不超过", "能超过", "别超过", "不得超过", "不高于", "不多于", "不大于", "最多", "至多", "顶多", "少于", "小于", "低于", "不到", "以内",
    "≤", "<", "<=", "under", "below", "less than", "fewer than", "at most", "up to", "max", "maximum", "max of", "maximum of",
    "within", "no more than", "not more than", "capped at", "cap of", "cap at", "limited to", "limit of", "not exceed",
    "not exceeding",
)  # fmt: skip
_AT_LEAST = (
    "至少", "起码", "最少", "不少于", "不低于", "不小于", "超过", "大于", "高于", "多于", "≥", ">", ">=", "at least",
    "more than", "above", "no less than", "not less than", "min", "minimum", "min of", "minimum of", "exceed", "exceeds",
    "exceeding",
)  # fmt: skip
_ABOUT_AFTER = re.compile(
    r"\s?(?:左右|上下(?!文)|出头|多(?![少久大长快高])|余|\+|or\sso\b|-?ish\b|的样子)", re.I | re.A
)
_AT_MOST_AFTER = re.compile(
    r"\s?(?:以内|之内|内(?!存|网|部)|以下|之下|封顶|or\s(?:less|fewer|under|below)\b|max(?:imum)?\b|at\smost\b|tops\b)",
    re.I | re.A,
)
_AT_LEAST_AFTER = re.compile(
    r"\s?(?:以上|之上|起(?!来|步|码)|开外|or\smore\b|or\sabove\b|minimum\b|at\sleast\b)", re.I | re.A
)

_PER_BEFORE = re.compile(
    r"(?:(?:每|单|per\s|each\s|every\s|one\s)\s?(?:一|个|张)?\s?(?:(?P<gpu>卡|张卡?|块|gpus?|cards?)|(?P<node>台(?:机器|服务器)?|机|节点|nodes?|servers?|box(?:es)?|machines?)|(?P<device>设备|盘|devices?|drives?|appliances?)|(?P<example>条|个?样本|examples?|samples?)))"
    r"(?:\s?(?:有|上|要|是|does|gets?|has|have|with|,|only|跑|约|大概|差不多|about|~|装|插|都|能|的|价格?|拷贝?|配|of|at))*\s?(?:每\s?(?P<time>秒|小时|天|月))?\s?(?:能|可以?|大概|大约)?\s?(?:跑|处理|训|出)?\s?(?:~|约|about\s)?$",
    re.I | re.A,
)
_TIME_BEFORE = re.compile(
    r"(?:(?:每|per\s)\s?个?(?P<unit>秒|分钟|小时|天|周|月|年|second|minute|hour|day|week|month|year|卡时|gpu[- ]?hour|gb|tb|度电?|kwh))(?:的)?(?:大概|大约|约|要|用|跑|开|烧|花|费用?|预算|是|产生|新增|增长|付|收|账单|:|：|\s)*$",
    re.I | re.A,
)
_EVERY_BEFORE = ("every", "once per", "每", "隔", "interval of")
_OVER = frozenset(("gpu", "tokens", "parameters", "fraction", *CURRENCIES))
"""Units before which "over" is more than; before others it is across or during."""
_EACH = ("每", "单", "per ", "each ", "every ", "one ")
_EVERY_AFTER = re.compile(
    r"\s?(?:就)?(?:[存来写保备断中掉挂被]|触发|打断|回收)?[^，。,;；\d]{0,3}[一1](?:次|回|遍|趟)|\s?(?:between\s(?:failures|interruptions)|apart)",
    re.I | re.A,
)
_TIME_NAMES = {
    "秒": "s", "second": "s", "分钟": "minute", "小时": "hour", "天": "day", "周": "week", "月": "month", "年": "year",
    "卡时": "gpu-hour", "gpu hour": "gpu-hour", "gpuhour": "gpu-hour", "gb": "GB", "度": "kWh", "度电": "kWh", "kwh": "kWh",
}  # fmt: skip
_WINDOW = 22


_LABELLED_MINUS = re.compile(
    r"(?:带宽|网速|速度|速率|线路|数据量?|数量|卡数|台数|利用率|预算|价格|单价|时间|天数|token数?|mfu|pue|speed|bandwidth|budget|price)-$",
    re.I,
)
"""A hyphen right behind the name of a quantity is a sign."""


def read_surroundings(text: str, item: Item) -> None:
    """Sign, "about", "at most", "per GPU", "every": what stands before and after an amount."""
    at = max(0, item.start - _WINDOW)
    window = text[at : item.start]
    before = f" {window.lower() if len(window.lower()) == len(window) else window}"
    _sign(before, item)
    before = before.rstrip()
    if after := _ABOUT_AFTER.match(text, item.end):
        item.approximate = True
        item.end = after.end() if after.group().strip() in ("左右", "上下", "出头", "+") else item.end
    tail = _without_fillers(before)
    if tail.endswith(_ABOUT) or (tail.endswith(_NEAR) and not tail.endswith("最近")):
        item.approximate = True
        tail = _without_fillers(tail.removesuffix("约").removesuffix("about").rstrip())
    if tail.endswith(_AT_MOST) or _AT_MOST_AFTER.match(text, item.end):
        item.qualifier = "at most"
    elif (
        tail.endswith(_AT_LEAST)
        or (tail.endswith(" over") and item.unit in _OVER)
        or _AT_LEAST_AFTER.match(text, item.end)
    ):
        item.qualifier = "at least"
    if any(word in before for word in _EACH):
        _each(before, item, at - 1)
    if item.unit in ("second", "step", "1") and (
        before.endswith(_EVERY_BEFORE) or (item.unit == "second" and _EVERY_AFTER.match(text, item.end))
    ):
        item.kind = "interval"


def _without_fillers(before: str) -> str:
    for filler in _FILLERS:
        before = before.removesuffix(filler).rstrip()
    return before


def _each(before: str, item: Item, at: int) -> None:
    """每张卡每秒380 token, each node has 8, 每月50万元; `at` is where `before` begins in the text."""
    if per := _PER_BEFORE.search(before):
        if not item.per:
            item.per = next(name for name in ("gpu", "node", "device", "example") if per[name])
        if per["time"] and "/" not in item.unit:
            set_rate(item, [_TIME_NAMES[per["time"]]])
    elif (time := _TIME_BEFORE.search(before)) and "/" not in item.unit and item.unit != "fraction":
        name = time["unit"]
        if item.unit in ("1", "second", "run"):
            item.per = item.per or _TIME_NAMES.get(name, name).removesuffix("/s")
            return
        if name == "tb":
            item.scale(1e-3)
            name = "gb"
        set_rate(item, [_TIME_NAMES.get(name, name)])
        # "每GB 0.5元": the amount without the words before it would be no rate.
        item.start = max(0, at + time.start())


def _sign(before: str, item: Item) -> None:
    if not before.endswith(("-", "负", "minus ")):
        return
    if before[-1] == "-" and before[-2] not in " (（=:，,、" and not _LABELLED_MINUS.search(before):
        return
    item.scale(-1.0)
    item.low, item.high = item.high, item.low
    item.start -= 6 if before.endswith("minus ") else 1
