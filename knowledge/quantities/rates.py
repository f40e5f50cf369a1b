"""Currencies and denominators: what makes an amount a price or a rate."""

from __future__ import annotations

import re

from knowledge.quantities import vocabulary as words
from knowledge.quantities.item import Item
from knowledge.quantities.units import CURRENCIES

_MONEY_BEFORE = re.compile(
    r"(?P<usd>(?:US)?\$|USD|美元|美金)|(?P<hkd>HK\$|HKD)|(?P<cny>¥|RMB|CNY|人民币)|(?P<eur>€|EUR)|(?P<gbp>£|GBP)",
    re.I | re.A,
)
_MONEY_TAIL = re.compile(r"(?:US\$|HK\$|\$|USD|美元|美金|HKD|¥|RMB|CNY|人民币|€|EUR|£|GBP)\s?$", re.I | re.A)
_MONEY_AFTER = re.compile(r"\s?(?:(?P<usd>\$)|(?P<cny>¥)|(?P<eur>€)|(?P<gbp>£))(?!\s?\d)", re.A)
_SPOKEN = frozenset(("hour", "day", "week", "month", "year", "gpu_hour", "gpu", "node", "kwh", "gb", "tb"))
_PRICED_BY = frozenset(("gpu_hour", "kwh", "gb", "tb", "mtok", "ktok"))
"""What a bare number over it can only be a price of."""
_TIMES = frozenset(("hour", "day", "week", "month", "year"))
_PER_ITSELF = frozenset(("1", "second", "byte", "run", "gpu-hour"))
"""Units whose "a day" says of what time they are, without making another unit of them."""
_COUNTS = frozenset(("gpu", "node", "device", "copy", "step", "epoch", "checkpoint", "person", "core", "layer"))
_PER_LARGER = {"tb": 1e3, "mtok": 1e6, "ktok": 1e3, "million": 1e6, "ten_thousand": 1e4}
_PER_NAMES = {
    "gpu_hour": "gpu-hour", "second": "s", "tb": "GB", "gb": "GB", "mtok": "token", "ktok": "token", "kwh": "kWh",
}  # fmt: skip


def read_currency(text: str, item: Item) -> None:
    """$, ¥, RMB before the number, $ after it."""
    before = text[max(0, item.start - 6) : item.start]
    if tail := _MONEY_TAIL.search(before):
        head = _MONEY_BEFORE.match(tail.group())
        if head and (item.unit == "1" or item.unit in CURRENCIES):
            item.unit = item.written = (head.lastgroup or "").upper()
            item.letter, item.start = "", item.start - len(tail.group())
    elif item.unit == "1" and (after := _MONEY_AFTER.match(text, item.end)):
        item.unit = item.written = (after.lastgroup or "").upper()
        item.letter, item.end = "", after.end()


def read_rate(text: str, item: Item) -> None:
    """USD/gpu-hour, CNY/GB/month, token/s, byte/parameter: denominators that follow."""
    over: list[str] = []
    while len(over) < 3 and (match := words.PER.match(text, item.end)):
        group = match.lastgroup or ""
        if not _divides(text, item, match, over):
            after_all = match.group().lstrip()[0] == "每" and item.unit == "1"
            if item.unit in _PER_ITSELF and group in _TIMES and not after_all:
                item.per, item.end = group, match.end()
            break
        if item.unit == "1" and group != "parameter":
            item.priced, item.letter = True, ""
        if group in _PER_LARGER:
            item.scale(1 / _PER_LARGER[group])
        if group not in ("million", "ten_thousand"):
            over.append(_PER_NAMES.get(group, group))
        item.end = match.end()
    if item.letter.upper() == "B" and "parameter" in over:
        item.scale(1e-9)
        item.unit, item.letter, item.written = "byte", "", "byte"
    set_rate(item, over)


def _divides(text: str, item: Item, match: re.Match[str], over: list[str]) -> bool:
    """Whether the words that follow an amount make a rate of it."""
    group = match.lastgroup or ""
    spoken = match.group().lstrip()[0]
    if spoken == "每" and item.unit == "second" and re.match(r"\s?[\d$¥]", text[match.end() : match.end() + 2]):
        return False  # "30天每卡时12块": the words are those of the next amount
    if group == "parameter":
        return item.unit != "1" or item.letter.upper() == "B"
    if spoken in "一aA":
        # "12块一小时", "$4 an hour", and "25万一张" without a currency; no other amount is one "a day".
        priced = item.unit in CURRENCIES or (item.unit == "1" and item.scaled and spoken == "一")
        return priced and not over and group in _SPOKEN
    if item.unit == "1":
        return group in _PRICED_BY or bool(over) or (group in _TIMES and spoken == "/")
    return not (item.unit in _COUNTS and group in ("gpu", "node") and match.group().lstrip()[0] == "每")


def set_rate(item: Item, over: list[str]) -> None:
    """Give the item the denominators; "gpu" and "node" say of what each has the amount."""
    if "gpu" in over and "hour" in over and item.unit in CURRENCIES:
        over = ["gpu-hour", *(name for name in over if name not in ("gpu", "hour"))]
    for name in over:
        if name in ("gpu", "node", "person", "run", "checkpoint") and item.unit != "gpu-hour":
            item.per = name
        else:
            item.unit = f"{'token' if item.unit == 'tokens' else item.unit}/{name}"
