"""Every amount of a sentence: single amounts, then ranges, products ("4 nodes × 8"), GPU names and ambiguities."""

from __future__ import annotations

import re

from knowledge.quantities.ambiguity import resolve
from knowledge.quantities.composing import compose
from knowledge.quantities.item import Item
from knowledge.quantities.names import masked, names_in
from knowledge.quantities.numerals import NUMBER, fold
from knowledge.quantities.quantity import Quantity
from knowledge.quantities.reading import read_amount, read_share

MAX_CHARACTERS = 100_000
"""Longer texts are read up to here."""

_SHARE_START = re.compile(
    r"(?:百|千|万|\d+|[二三四五六七八九十]+)分之|一半|半数|half(?![a-z])|(?:an?|one|two|three|[123])[\s-](?:third|quarter|half|halves|fifth|tenth)|\d{1,2}/\d{1,2}(?=\s(?:of|the)\b|的)",
    re.I | re.A,
)
_START = re.compile(rf"(?P<share>(?<![A-Za-z\d]){_SHARE_START.pattern})|{NUMBER.pattern}", re.I | re.A)


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
    quantities: list[Quantity] = []
    for item in items:
        item.start = max(item.start, quantities[-1].end if quantities else 0)
        if item.start < item.end:
            quantities.append(_quantity(raw, item))
    return quantities


def _scan(text: str) -> list[Item]:
    items: list[Item] = []
    position = 0
    while match := _START.search(text, position):
        item = read_share(text, match.start()) if match["share"] else None
        if item is None and (number := NUMBER.match(text, match.start())):
            item = read_amount(text, number)
            position = max(number.end(), position + 1)
        if item is not None:
            items.append(item)
        position = max(position, match.start() + 1, item.end if item else 0)
    return items


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
