"""Puts single amounts together: ranges, durations of two units, rates in words, products, GPU and model names."""
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from knowledge.quantities.item import Item
from knowledge.quantities.names import GPU_MARK, NameSpan
from knowledge.quantities.rates import set_rate
from knowledge.quantities.units import CURRENCIES

_RANGE = re.compile(r"\s?(?:-|~|to|到|至|and|与|和)\s?(?:US)?[$¥]?", re.I | re.A)
_BETWEEN = re.compile(r"(?:between|介于|在)\s*(?:US)?[$¥]?$", re.I | re.A)
_EITHER = re.compile(r"\s?(?:或者?|or|/|、|和|and|vs\.?|对比?)\s?", re.I | re.A)
_SHARED_UNITS = frozenset(("gpu", "node", "second", "fraction", "copy", "step", "byte", "bit/s", "run"))
_ACTIVE_BEFORE = re.compile(
    r"(?:激活|活跃|active|activated|activates)\s?(?:参数|parameters)?\s?(?:量|是|为|of)?\s?$", re.I
)
_ACTIVE_AFTER = re.compile(r"\s?(?:的)?(?:激活|活跃|active|activated)", re.I)
_LISTED = re.compile(r"\s?[,，、/]?\s?")
_FROM = re.compile(r"(?:from|从|由)\s?(?:US)?[$¥]?$", re.I)
_DURATION_GAP = re.compile(r"\s?(?:零|又|and|,)?\s?", re.I | re.A)
_RATE_GAP = re.compile(r"\s?(?:要|花|收|大概|约|的?价格?是?|is|costs?|:|：)*\s?", re.I | re.A)
_EVERY_TOKENS = re.compile(r"(?:每|per\s|each\s)$", re.I)
_TIMES = re.compile(r"\s?(?:[×*]|[xX](?![A-Za-z])|乘以?)\s?", re.I | re.A)
_BEFORE_NAME = re.compile(r"\s?(?:[×*xX]|张|块|片|个|台|的|-)?\s?(?:nvidia|英伟达)?\s?", re.I | re.A)
_AFTER_NAME = re.compile(r"s?\s?(?:[,，、(（:：的有共用要]|gpu|显卡)?\s?(?P<times>[×*xX])?\s?", re.I | re.A)
_MEMORY_BEFORE = re.compile(
    r"(?:显存|单卡|每张?卡|[张块片卡个]|vram|gpu memory|card (?:says|has)|显卡)\s?(?:的|是|有|为|of|is|:|：|只有|够|给)?\s?$",
    re.I | re.A,
)
_MEMORY_AFTER = re.compile(
    rf"\s?(?:的)?\s?(?:显存|显?卡(?!时)|vram|(?:of )?(?:gpu )?(?:memory|mem)\b|(?:gpu|card)s?\b|版|{GPU_MARK})",
    re.I | re.A,
)
_HOST_MEMORY = re.compile(r"(?:内存|主存|host memory|ram|cpu memory)\s?(?:的|是|有|of|:|：)?\s?$", re.I | re.A)
_HOST_MEMORY_AFTER = re.compile(r"\s?(?:的)?(?:内存|主存|ram\b|host memory|cpu memory)", re.I | re.A)
_PER_NODE_AFTER = re.compile(
    r"\s?(?:的)?\s?(?:机器?|服务器|节点|nodes?|servers?|machines?|box(?:es)?|per node|/node|每台|a node|in each|instances?)(?![a-z])",
    re.I | re.A,
)
_OF_DEVICES = re.compile(r"(?:appliances?|devices?|drives?|disks?|设备|硬盘)\s?(?:of|with|at|是|为)?\s?$", re.I)
_DEVICES_AFTER = re.compile(r"\s?(?:的)?\s?(?:appliances?|devices?|drives?|disks?|设备|硬盘)(?![a-z])", re.I)
_MAX_GPU_MEMORY = 320e9
_MAX_PER_NODE = 16
_SIZES = {"year": 6, "month": 5, "week": 4, "day": 3, "hour": 2, "minute": 1, "second": 0}
_EVERY = re.compile(
    r"每(?:隔)?(?:一|1)?\s?个?(?P<zh>小时|分钟|天|周|月)(?=[^，。,;；\d]{0,8}(?:[存写]|保存|备份|一次|checkpoint|ckpt))"
    r"|\b(?:every|once an?|once per)\s(?P<en>hour|minute|day|week)\b|\b(?P<adverb>hourly|daily|weekly)(?=\s+(?:checkpoint|ckpt|snapshot|backup|save))",
    re.I | re.A,
)
_PERIODS = {
    "小时": "hour", "分钟": "minute", "天": "day", "周": "week", "月": "month", "hourly": "hour", "daily": "day", "weekly": "week",
}  # fmt: skip
_SECONDS = {"minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0, "month": 2592000.0}


def compose(text: str, items: list[Item], names: Sequence[NameSpan]) -> list[Item]:
    """The items of a text, put together, in order."""
    items = _durations(text, _ranges(text, items))
    items = spoken_rates(text, items)
    items = sorted([*items, *_intervals(text, items)], key=lambda item: item.start)
    _products(text, items)
    _name_counts(text, items, names)
    items = sorted([*items, *_sizes(names)], key=lambda item: item.start)
    _nodes(text, items)
    _memory(text, items)
    for item in items:
        if item.unit == "parameters" or item.letter in ("b", "B"):
            active = _ACTIVE_BEFORE.search(text[max(0, item.start - 12) : item.start])
            if active or _ACTIVE_AFTER.match(text, item.end):
                item.kind = item.kind or "active"
    return [item for item in items if item.numeral == "arabic" or item.unit != "1" or item.scaled or item.value >= 1e4]


def _ranges(text: str, items: list[Item]) -> list[Item]:
    kept: list[Item] = []
    for item in items:
        previous = kept[-1] if kept else None
        if previous is not None and (joined := _range(text, previous, item)):
            kept[-1] = joined
        else:
            kept.append(item)
    for first, second in pairwise(reversed(kept)):
        # "50, 75 and 90 percent": the unit of the last is that of all.
        bare = first.written == "%" and second.unit == "1" and not second.scaled
        if bare and _LISTED.fullmatch(text[second.end : first.start]):
            second.unit, second.written = first.unit, first.written
            second.scale(first.factor)
    return kept


def _range(text: str, first: Item, second: Item) -> Item | None:
    gap = text[first.end : second.start]
    bare = first.unit == "1"
    if len(gap) > 6 or not (bare or first.unit == second.unit) or first.kind == "share":
        return None
    before = text[max(0, first.start - 10) : first.start]
    listed = second.unit == "fraction" and _LISTED.fullmatch(gap)
    either = _EITHER.fullmatch(gap) and not _BETWEEN.search(before)
    changed = _FROM.search(before) and _RANGE.fullmatch(gap)
    if either or listed or changed:
        # "4 or 8 GPUs": two amounts, the first takes the second's unit.
        if bare and not first.letter and second.unit in _SHARED_UNITS:
            first.unit, first.written = second.unit, second.written
            first.scale(second.factor if not first.scaled else 1.0)
        return None
    if not _RANGE.fullmatch(gap) or second.value < 0:
        return None
    low, high = first.low, second.high
    if bare and not first.scaled and low * second.factor < second.low:
        low *= second.factor
    if not low < high:
        return None
    second.low, second.value, second.start = low, (low + high) / 2, first.start
    second.approximate, second.qualifier = True, first.qualifier or second.qualifier
    second.per = second.per or first.per
    if first.unit in CURRENCIES and second.unit == "1":
        second.unit = second.written = first.unit
        second.letter = ""
    second.readings = []
    return second


def _durations(text: str, items: list[Item]) -> list[Item]:
    """2 h 30 min, 3天12小时."""
    kept: list[Item] = []
    for item in items:
        previous = kept[-1] if kept else None
        if (
            previous is not None
            and previous.unit == item.unit == "second"
            and not (previous.is_range or item.is_range or item.kind == "interval")
            and item.value < previous.factor
            and _SIZES.get(previous.written, -1) > _SIZES.get(item.written, 9)
            and item.start - previous.end <= 5
            and _DURATION_GAP.fullmatch(text[previous.end : item.start])
        ):
            for name in ("value", "low", "high"):
                setattr(previous, name, getattr(previous, name) + item.value)
            previous.end, previous.qualifier = item.end, previous.qualifier or item.qualifier
            previous.approximate = previous.approximate or item.approximate
        else:
            kept.append(item)
    return kept


_PRICED = re.compile(r"钱|价|块|元|费|便宜|划算|省|按量|按需|包[月年]|预算|租|成本")
_CLAUSE_END = re.compile(r"\s*(?:[，,。；;？?！!、)）]|$)")


def spoken_rates(text: str, items: list[Item]) -> list[Item]:
    """一小时12块: a duration of one, then money; where prices are spoken of "一小时88" alone is yuan too."""
    dropped = set[int]()
    for first, second in pairwise(items):
        if (
            first.unit == "second"
            and first.value == first.factor >= 3600
            and second.unit == "1"
            and not (second.letter or second.kind or second.per)
            and _PRICED.search(text)
            and _CLAUSE_END.match(text, second.end)
            and _RATE_GAP.fullmatch(text[first.end : second.start])
        ):
            second.unit = second.written = "CNY"
            second.readings = []
        if (
            (first.unit == "tokens" or (first.unit == "1" and first.value >= 1e4))
            and second.unit in CURRENCIES
            and second.start - first.end <= 6
            and _EVERY_TOKENS.search(text[max(0, first.start - 5) : first.start])
            and _RATE_GAP.fullmatch(text[first.end : second.start])
        ):
            second.scale(1 / first.value if first.value else 1.0)
            set_rate(second, ["token"])
            second.start = first.start - (1 if text[first.start - 1] == "每" else 4)
            dropped.add(id(first))
        if (
            first.unit in ("second", "gpu-hour")
            and first.value == first.factor
            and second.unit in CURRENCIES
            and second.start - first.end <= 6
            and _RATE_GAP.fullmatch(text[first.end : second.start])
        ):
            second.readings = []
            set_rate(second, [first.written if first.unit == "second" else first.unit])
            second.start = first.start
            dropped.add(id(first))
    return [item for item in items if id(item) not in dropped]


def _intervals(text: str, items: Sequence[Item]) -> list[Item]:
    """Every hour, 每小时存一次: an interval without a number."""
    found = []
    for match in _EVERY.finditer(text):
        name = (match["zh"] or match["en"] or match["adverb"]).lower()
        written = _PERIODS.get(name, name)
        seconds = _SECONDS[written]
        if all(match.end() <= item.start or match.start() >= item.end for item in items):
            found.append(
                Item(seconds, seconds, seconds, match.start(), match.end(), "second", written, kind="interval")
            )
    return found


def _is_count(item: Item) -> bool:
    return item.unit == "1" and not item.letter and item.value == int(item.value) and 0 < item.value < 1e12


def _products(text: str, items: Sequence[Item]) -> None:
    """4 nodes × 8, 3台×100TB, 8×400G: what each of the first has."""
    for first, second in pairwise(items):
        gap = text[first.end : second.start]
        if len(gap) > 4 or not _TIMES.fullmatch(gap):
            continue
        card = second.unit == "byte" and second.value <= _MAX_GPU_MEMORY and _is_count(first)
        if card:
            first.unit = first.written = "gpu"
            second.kind, second.per = "gpu memory", "gpu"
        elif second.unit in ("byte", "bit/s", "byte/s") or second.letter in ("G", "T", "g", "t"):
            second.kind = "each"
            if second.unit == "byte" or second.letter in ("T", "t"):
                second.kind = "each"
                if first.unit in ("node", "1") and second.value >= 1e12:
                    first.unit = first.written = "device"
        elif first.unit == "node" and (_is_count(second) or second.unit == "gpu"):
            second.unit = second.written = "gpu"
            second.kind, second.per = "per node", "node"
        elif first.unit == "gpu" and second.unit == "node":
            first.kind, first.per = "per node", "node"


def _name_counts(text: str, items: Sequence[Item], names: Sequence[NameSpan]) -> None:
    """8×H100, 64张A100, V100 32G两张, H100 x 8: the count is one of GPUs, and carries the name."""
    gpus = [name for name in names if name.kind == "gpu"]
    for name in gpus:
        before = next((item for item in reversed(items) if item.end <= name.start), None)
        if before is not None and name.start - before.end <= 10:
            gap = text[before.end : name.start]
            if (
                _BEFORE_NAME.fullmatch(gap)
                and (_is_count(before) or before.unit in ("gpu", "node"))
                and not before.name
            ):
                if before.unit == "1":
                    before.unit = before.written = "gpu"
                if before.unit == "gpu" or "," not in gap:
                    before.name = name.name
                    _outer(text, items, before)
                continue
        after = next((item for item in items if item.start >= name.end), None)
        if after is not None and after.start - name.end <= 8 and not after.name:
            link = _AFTER_NAME.fullmatch(text[name.end : after.start])
            if link and (after.unit == "gpu" or (link["times"] and _is_count(after))):
                after.unit = after.written = "gpu"
                after.name = name.name


def _outer(text: str, items: Sequence[Item], inner: Item) -> None:
    """16 × 8 H100: the count before a count of named GPUs is one of nodes."""
    index = next(index for index, item in enumerate(items) if item is inner)
    if index and _is_count(items[index - 1]) and _TIMES.fullmatch(text[items[index - 1].end : inner.start]):
        items[index - 1].unit = items[index - 1].written = "node"
        inner.kind, inner.per = "per node", "node"


def _sizes(names: Sequence[NameSpan]) -> list[Item]:
    """The sizes that names of models and GPUs carry."""
    items = []
    for name in names:
        if name.parameters:
            size = name.parameters
            items.append(
                Item(
                    size,
                    size,
                    size,
                    name.start,
                    name.end,
                    "parameters",
                    "parameter",
                    kind="model",
                    name=name.name,
                    approximate=name.experts,
                )
            )
        if name.active_parameters:
            size = name.active_parameters
            start = name.end - 1 if name.parameters else name.start
            if name.parameters:
                items[-1].end = start
            items.append(
                Item(size, size, size, start, name.end, "parameters", "parameter", kind="active", name=name.name)
            )
        if name.memory:
            items.append(
                Item(
                    name.memory,
                    name.memory,
                    name.memory,
                    *name.memory_span,
                    "byte",
                    "GB",
                    kind="gpu memory",
                    name=name.name,
                    per="gpu",
                )
            )
    return items


def _nodes(text: str, items: Sequence[Item]) -> None:
    """96台8卡, 4机32卡, 8卡机4台, 8-GPU nodes, 8 GPUs per node."""
    for first, second in pairwise(items):
        gap = text[first.end : second.start].strip(" 的,，、")
        if first.unit == "node" and second.unit == "gpu" and not gap and second.start - first.end <= 2:
            total = second.value > _MAX_PER_NODE or (second.value > 8 and second.value == 8 * first.value)
            if not total:
                second.kind, second.per = "per node", "node"
        elif (
            first.unit == "gpu"
            and second.unit == "node"
            and gap in ("", "机", "机器", "服务器", "的机器", "的服务器")
            and first.value <= _MAX_PER_NODE
        ):
            first.kind, first.per = "per node", "node"
    for item in items:
        counts = item.unit == "gpu" and item.value <= _MAX_PER_NODE
        if counts and (item.per == "node" or _PER_NODE_AFTER.match(text, item.end)):
            item.kind, item.per = "per node", "node"
    for first, second in pairwise(items):
        if second.kind == "per node" and _is_count(first) and second.start - first.end <= 1:
            first.unit = first.written = "node"


def _memory(text: str, items: Sequence[Item]) -> None:
    """80G卡, 24 GB of VRAM, 四张80G: memory of one GPU; 内存512G: of the host."""
    for index, item in enumerate(items):
        is_bytes = item.unit == "byte" or (item.unit == "1" and item.letter in ("G", "g"))
        if not is_bytes or item.kind:
            continue
        if item.per in ("node", "device"):
            item.kind = "each"
            continue
        before = text[max(0, item.start - 14) : item.start]
        if _OF_DEVICES.search(before) or _DEVICES_AFTER.match(text, item.end):
            item.kind, item.per = "each", "device"
            continue
        previous = items[index - 1] if index else None
        after_gpus = (
            previous is not None
            and previous.unit == "gpu"
            and text[previous.end : item.start].strip(" 的(（") in ("", GPU_MARK)
        )
        if _HOST_MEMORY.search(before) or _HOST_MEMORY_AFTER.match(text, item.end):
            item.kind = "memory"
        elif item.value <= _MAX_GPU_MEMORY and (
            after_gpus or item.per == "gpu" or _MEMORY_BEFORE.search(before) or _MEMORY_AFTER.match(text, item.end)
        ):
            item.kind, item.per = "gpu memory", "gpu"
        else:
            continue
        item.unit, item.written, item.letter = "byte", item.written or "GB", ""
        if (
            previous is not None
            and _is_count(previous)
            and item.kind == "gpu memory"
            and text[previous.end : item.start].strip() in ("", "x", "×", "*")
        ):
            previous.unit = previous.written = "gpu"
