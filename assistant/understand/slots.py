"""From what a question mentions to a calculator's arguments.

A frame declares, for each argument, what may fill it: an amount of some unit, with the words that claim it; a choice,
with the words that name each option; or a name from the catalog. Nothing here knows a particular question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assistant.schema import Language
from assistant.understand.mentions import Mentions
from knowledge.quantities import Quantity

_CLAUSE_END = re.compile(r"[,;.!?，；。！？、\n]")
_CUE_WORTH = 3.0
_DEFAULT_WORTH = 1.0


@dataclass(frozen=True, slots=True)
class Amount:
    """An argument filled by an amount.

    `cues` are words that claim an amount near them; `blocks` words near an amount that give it another meaning; an
    amount that no cue claims goes to the argument of its unit that is `plain`.
    """

    argument: str
    units: tuple[str, ...]
    cues: re.Pattern[str] | None = None
    blocks: re.Pattern[str] | None = None
    plain: bool = False
    reach: int = 14
    """How far from the amount a cue may stand, in characters of the same clause."""
    read: Callable[[Quantity], Any] = lambda quantity: quantity.value


@dataclass(frozen=True, slots=True)
class Choice:
    """An argument filled by the first option whose words occur."""

    argument: str
    options: tuple[tuple[Any, re.Pattern[str]], ...]


@dataclass(frozen=True, slots=True)
class Named:
    """An argument filled by a catalog name of this kind."""

    argument: str
    kind: str
    many: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """How one calculator is asked for in words."""

    tool: str
    asks: re.Pattern[str]
    """Words that ask for this calculation."""
    amounts: tuple[Amount, ...] = ()
    choices: tuple[Choice, ...] = ()
    names: tuple[Named, ...] = ()
    follow_ups: Mapping[Language, tuple[str, ...]] = field(default_factory=lambda: {"zh": (), "en": ()})
    """What people ask next."""
    needs: tuple[tuple[str, ...], ...] = ()
    """Sets of arguments; the calculation can be meant only when one of the sets is filled, wholly. Empty: always."""
    excludes: tuple[frozenset[str], ...] = ()
    """Groups of arguments of which a newly stated one drops the earlier others (a model and a parameter count)."""
    refine: Callable[[dict[str, Any], Mentions], dict[str, Any]] = field(default=lambda arguments, mentions: arguments)
    """Last word on the arguments, for relations between several amounts."""

    @property
    def arguments(self) -> frozenset[str]:
        """All arguments that words can fill."""
        return frozenset(slot.argument for slots in (self.amounts, self.choices, self.names) for slot in slots)

    def dropped_by(self, stated: Mapping[str, Any]) -> frozenset[str]:
        """Earlier arguments that no longer hold once these are stated."""
        return frozenset(
            name for group in self.excludes if group & stated.keys() for name in group if name not in stated
        )


@dataclass(frozen=True, slots=True)
class Filling:
    """Arguments found in a question, and how much of the question they account for."""

    arguments: Mapping[str, Any]
    used: int
    """Amounts that found an argument."""
    unused: int
    """Amounts that did not."""


def fill(frame: Frame, mentions: Mentions) -> Filling:
    """Arguments of a frame that the question states."""
    arguments: dict[str, Any] = {}
    for choice in frame.choices:
        value = next((value for value, words in choice.options if words.search(mentions.text)), None)
        if value is not None:
            arguments[choice.argument] = value
    for named in frame.names:
        found = mentions.names_of(named.kind)
        if found:
            arguments[named.argument] = [name.value for name in found] if named.many else found[0].value
    taken = _assign(frame.amounts, mentions)
    for slot, quantity in taken:
        arguments[slot.argument] = slot.read(quantity)
    used = len({id(quantity) for _, quantity in taken})
    return Filling(frame.refine(arguments, mentions), used, len(mentions.quantities) - used)


def _assign(slots: Sequence[Amount], mentions: Mentions) -> list[tuple[Amount, Quantity]]:
    """Best pairs first; an amount fills one argument and an argument takes one amount."""
    pairs = [
        (worth, -slots.index(slot), -quantity.start, slot, quantity)
        for slot in slots
        for quantity in mentions.quantities
        if (worth := _worth(slot, quantity, mentions)) > 0
    ]
    pairs.sort(key=lambda pair: pair[:3], reverse=True)
    taken: list[tuple[Amount, Quantity]] = []
    for _, _, _, slot, quantity in pairs:
        if all(slot.argument != other.argument and quantity is not used for other, used in taken):
            taken.append((slot, quantity))
    return taken


def _worth(slot: Amount, quantity: Quantity, mentions: Mentions) -> float:
    if not any(unit in slot.units for unit in (quantity.unit, *(reading.unit for reading in quantity.readings))):
        return 0.0
    before, after = _clause_around(mentions.text, quantity)
    if slot.blocks and (slot.blocks.search(before[-slot.reach :]) or slot.blocks.search(after[: slot.reach])):
        return 0.0
    worth = _DEFAULT_WORTH if slot.plain else 0.0
    if slot.cues:
        distances = [len(before) - match.end() for match in slot.cues.finditer(before)]
        distances += [match.start() for match in slot.cues.finditer(after)]
        nearest = min(distances, default=slot.reach + 1)
        if nearest <= slot.reach:
            worth += _CUE_WORTH - nearest / slot.reach
    return worth


def _clause_around(text: str, quantity: Quantity) -> tuple[str, str]:
    """The clause's text before and after the amount."""
    starts = [match.end() for match in _CLAUSE_END.finditer(text, 0, quantity.start)]
    end = _CLAUSE_END.search(text, quantity.end)
    return text[starts[-1] if starts else 0 : quantity.start], text[quantity.end : end.start() if end else len(text)]
