"""What a question names: amounts with their units, and models, accelerators, clouds and regions of the catalog."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from knowledge import quantities
from knowledge.catalog.mentions import mentions as catalog_mentions
from knowledge.quantities import Quantity

_CORRECTION = re.compile(
    r"(?:\bno\b,?|\bsorry\b,?|\bi mean(?:t)?\b|\bactually\b,?|\brather\b(?! than)|\bcorrection\b:?|\bscratch that\b"
    r"|不对|不是(?=\s*[，,。…])|错了|说错|打错|写错|更正|口误|应该是|我是说|哦不|噢不)",
    re.I,
)
_CORRECTION_REACH = 16
_BARE = re.compile(r"[\d.,]+\s*(?:[kmbtw]|[十百千万亿]+)?", re.I)
"""A number without a noun takes the unit of the one that it corrects."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the catalog, as it stands there, and where the question has it."""

    kind: str
    """model, accelerator, provider, instance, region or place."""
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """Everything in a question that a calculator could use; `text` is what offsets count in."""

    text: str
    quantities: tuple[Quantity, ...]
    names: tuple[Name, ...]

    def names_of(self, kind: str) -> list[Name]:
        """The names of one kind, in order."""
        return [name for name in self.names if name.kind == kind]


def read_mentions(text: str) -> Mentions:
    """Amounts and names; what the writer takes back in the same message ("1.5T… no, 1.5B") is dropped."""
    names = tuple(Name(m.kind, m.name or text[m.start : m.end], m.start, m.end) for m in catalog_mentions(text))
    found = sorted([*quantities.find(text), *_single_times(text)], key=lambda quantity: quantity.start)
    return Mentions(text, tuple(_corrected(text, found)), names)


_SINGLE_TIME = re.compile(
    r"\b(?:for|over|in|within|takes|every|to|what.?s|is|costs?|all) (?P<amount>an? (?P<unit>hour|day|week|month|quarter|year))\b",
    re.I,
)
_SECONDS = {
    "hour": 3600.0,
    "day": 86400.0,
    "week": 604800.0,
    "month": 2592000.0,
    "quarter": 7884000.0,
    "year": 31536000.0,
}


_DENIAL = re.compile(
    r"(?:(?<!why )\bnot|\bisn't|\brather than|\binstead of|(?<!是)不是|而非|并非)\s*(?:the |a )?\s*$", re.I
)
_DENIAL_REACH = 14


def _single_times(text: str) -> Iterator[Quantity]:
    """ "for a year": an amount that is written without a number."""
    for match in _SINGLE_TIME.finditer(text):
        start, end = match.span("amount")
        yield Quantity(
            value=_SECONDS[match["unit"].lower()],
            unit="second",
            start=start,
            end=end,
            text=match["amount"],
            written=match["unit"],
        )


def _corrected(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    kept = list(found)
    for cue in _CORRECTION.finditer(text):
        before = next((q for q in reversed(kept) if q.end <= cue.start()), None)
        after = next((q for q in kept if cue.end() <= q.start <= cue.end() + _CORRECTION_REACH), None)
        if before is None or after is None or cue.start() - before.end > _CORRECTION_REACH:
            continue
        units = {after.unit, *(reading.unit for reading in after.readings)}
        if _BARE.fullmatch(after.text):
            units.add(before.unit)
        if before.unit in units:
            kept[kept.index(after)] = replace(after, unit=before.unit, readings=())
            kept.remove(before)
        elif before.unit == after.unit:
            kept.remove(before)
    return [quantity for quantity in kept if not _is_denied(text, quantity, kept)]


def _is_denied(text: str, quantity: Quantity, stated: Sequence[Quantity]) -> bool:
    """Whether an amount stands beside another that it is not: "60B, not 600B", "是60B不是600B"."""
    return len(stated) > 1 and _DENIAL.search(text[max(0, quantity.start - _DENIAL_REACH) : quantity.start]) is not None
