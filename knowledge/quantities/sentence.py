"""Every amount of a sentence: single amounts, then ranges, products ("4 nodes × 8"), GPU names and ambiguities."""

from __future__ import annotations

import re

from knowledge.quantities.ambiguity import resolve
from knowledge.quantities.composing import compose, spoken_rates
from knowledge.quantities.item import Item
from knowledge.quantities.names import masked, names_in
from knowledge.quantities.numerals import CHINESE_DIGITS, NUMBER, NUMBER_WORDS, fold
from knowledge.quantities.quantity import Quantity
from knowledge.quantities.reading import read_amount, read_share

MAX_CHARACTERS = 100_000
"""Longer texts are read up to here."""

_RUN = re.compile(rf"(?P<digits>(?:\.(?=\d))?[\d{CHINESE_DIGITS}]+)|[A-Za-z]+", re.A)
_SHARE_WORDS = ("分之", "半", "half", "hal", "third", "quarter", "fifth", "tenth", "/")


def find(text: str) -> list[Quantity]:
    """All amounts in order, without overlap; offsets count in `text` as given.

    Never raises for a text of any kind. Runs in time linear in the text's length.
    """
    raw = text[:MAX_CHARACTERS]
    folded = fold(raw)
    names = names_in(folded)
    shadow = masked(folded, names)
    items = compose(shadow, _scan(shadow), names)
    resolve(shadow, items)
    items = spoken_rates(shadow, items)
    items = _with_tenths(shadow, items)
    quantities: list[Quantity] = []
    for item in items:
        item.start = max(item.start, quantities[-1].end if quantities else 0)
        if item.start < item.end:
            quantities.append(_quantity(raw, item))
    return quantities


_TENTHS = re.compile(r"\d(?![\d.%A-Za-z]|\s?(?:卡|张|台|个|小时|天|月|年|万|亿|千|块|元))")


def _with_tenths(text: str, items: list[Item]) -> list[Item]:
    """ "9块8" is 9.8: a single digit after the yuan counts its tenths."""
    kept: list[Item] = []
    for item in items:
        before = kept[-1] if kept else None
        if before and before.end == item.start and text[item.start - 1] == "块" and _TENTHS.match(text, item.start):
            before.value += int(text[item.start]) / 10
            before.end = item.start + 1
            continue
        kept.append(item)
    return kept


def _scan(text: str) -> list[Item]:
    items: list[Item] = []
    position = 0
    lower = text.casefold()
    shares = any(word in lower for word in _SHARE_WORDS)
    for run in _RUN.finditer(text):
        start, end = run.span()
        if run["digits"] is None:
            if start < position or run.group().casefold() not in NUMBER_WORDS:
                continue
            end = start + 1
        while (start := max(start, position)) < end:
            item, position = _read(text, start, shares)
            if item is not None:
                items.append(item)
    return items


def _read(text: str, start: int, shares: bool) -> tuple[Item | None, int]:
    """The amount that begins here, if any, and where to go on."""
    before = text[start - 1 : start]
    glued = before.isascii() and before.isalnum()
    if shares and not glued and (share := read_share(text, start)) is not None:
        return share, share.end
    number = NUMBER.match(text, start)
    if number is None:
        return None, start + 1
    item = read_amount(text, number)
    return item, max(number.end(), start + 1, item.end if item else 0)


def _quantity(raw: str, item: Item) -> Quantity:
    readings = tuple(item.readings)
    if len(readings) < 2:
        readings = ()
    return Quantity(
        value=item.value,
        unit=item.unit,
        start=item.start,
        end=item.end,
        text=raw[item.start : item.end],
        low=item.low if item.is_range else None,
        high=item.high if item.is_range else None,
        approximate=item.approximate,
        qualifier=item.qualifier,
        readings=readings,
        written=item.written,
        kind=item.kind,
        name=item.name,
        per=item.per,
    )
