"""From what a question mentions to a calculator's arguments.

A frame declares, for each argument, what may fill it: an amount of some unit, with the words that claim it; a choice,
with the words that name each option; or whatever a function reads from the mentions. Nothing here knows a particular
question. A question that gives an argument twice ("two cards… and four?") asks for several calculations.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assistant.schema import Language
from assistant.understand.mentions import Mentions
from knowledge.quantities import Quantity, compatible

_CLAUSE_END = re.compile(r"[,;!?，；。！？、\n]|\.(?=\s|$)|\sand\s")
_MONEY = re.compile(r"[A-Z]{3}(?:/|$)")
_CUE_WORTH = 3.0
_DISTANCE_COST = 0.05
"""For each character between a cue and the amount."""
_KIND_WORTH = 2.0
_PLAIN_WORTH = 1.0
MAX_ALTERNATIVES = 3


@dataclass(frozen=True, slots=True)
class Amount:
    """An argument filled by an amount, given in `unit`.

    `cues` are words that claim an amount near them; `blocks` words that give it another meaning; an amount that no cue
    claims goes to the argument of its unit that is `plain`.
    """

    argument: str
    unit: str
    cues: re.Pattern[str] | None = None
    blocks: re.Pattern[str] | None = None
    kinds: tuple[str, ...] = ()
    """Kinds of amount (`Quantity.kind`) that are always this argument."""
    not_kinds: tuple[str, ...] = ()
    plain: bool = False
    reach: int = 14
    """How far from the amount a cue may stand, in characters of the same clause."""
    exact: bool = False
    """Whether the amount must be over the same period or thing, a price an hour being no monthly bill."""
    least: float = 0.0
    """What is smaller is something else: a length of 70 seconds is not the months that data is kept."""
    alternatives: bool = False
    """Whether a second amount of this unit is another value to calculate with."""
    read: Callable[[float], Any] = float


@dataclass(frozen=True, slots=True)
class Choice:
    """An argument filled by the first option whose words occur."""

    argument: str
    options: tuple[tuple[Any, re.Pattern[str]], ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """An argument that a function reads from the mentions; more than one value are alternatives."""

    argument: str
    read: Callable[[Mentions], Sequence[Any]]
    units: tuple[str, ...] = ()
    """Amounts that are accounted for by this argument."""
    accounts: Callable[[Mentions], Sequence[Quantity]] | None = None
    """The amounts that went into it, where the unit doesn't tell."""


@dataclass(frozen=True, slots=True)
class Frame:
    """How one calculator is asked for in words."""

    tool: str
    asks: re.Pattern[str]
    """Words that ask for this calculation."""
    amounts: tuple[Amount, ...] = ()
    choices: tuple[Choice, ...] = ()
    derived: tuple[Derived, ...] = ()
    words: re.Pattern[str] | None = None
    """Words that stand in for `needs`."""
    needs: tuple[tuple[str, ...], ...] = ()
    """Sets of arguments; the calculation can be meant only when one of the sets is filled, wholly. Empty: always."""
    unless: re.Pattern[str] | None = None
    """Words that say that another calculation is meant."""
    excludes: tuple[frozenset[str], ...] = ()
    """Groups of arguments of which a newly stated one drops the earlier others (a model and a parameter count)."""
    refine: Callable[[dict[str, Any], Mentions], dict[str, Any]] = field(default=lambda arguments, mentions: arguments)
    """Last word on the arguments, for relations between several amounts."""
    settle: Callable[[dict[str, Any]], dict[str, Any]] = field(default=lambda arguments: arguments)
    """Puts arguments of several turns in accord ("LoRA", then "in 4 bit": QLoRA)."""
    follow_ups: Mapping[Language, tuple[str, ...]] = field(default_factory=lambda: {"zh": (), "en": ()})
    """What people ask next."""

    @property
    def arguments(self) -> frozenset[str]:
        """All arguments that words can fill."""
        return frozenset(slot.argument for slots in (self.amounts, self.choices, self.derived) for slot in slots)

    def dropped_by(self, stated: Mapping[str, Any]) -> frozenset[str]:
        """Earlier arguments that no longer hold once these are stated."""
        return frozenset(
            name for group in self.excludes if group & stated.keys() for name in group if name not in stated
        )


@dataclass(frozen=True, slots=True)
class Filling:
    """Arguments found in a question, and how much of the question they account for."""

    arguments: Mapping[str, Any]
    variants: tuple[Mapping[str, Any], ...]
    """Further calculations that the question asks for: each the arguments with one or more replaced."""
    used: int
    """Amounts that found an argument."""
    unused: int
    """Amounts that did not."""
    ignores_money: bool
    """Whether one of those is money: what is asked is then what it buys or whether it is enough."""


def fill(frame: Frame, mentions: Mentions) -> Filling:
    """Arguments of a frame that the question states."""
    values: dict[str, list[Any]] = {}
    used: set[int] = set()
    for choice in frame.choices:
        value = next((value for value, words in choice.options if words.search(mentions.text)), None)
        if value is not None:
            values[choice.argument] = [value]
    for derived in frame.derived:
        if found := list(dict.fromkeys(derived.read(mentions))):
            values[derived.argument] = found
            used |= {id(q) for q in mentions.quantities if q.unit in derived.units}
            used |= {id(q) for q in (derived.accounts(mentions) if derived.accounts else ())}
    open_amounts = [quantity for quantity in mentions.quantities if id(quantity) not in used]
    for slot, quantity in _assign(frame.amounts, open_amounts, mentions.text):
        values.setdefault(slot.argument, []).append(slot.read(quantity.to(slot.unit)))
        used.add(id(quantity))
    arguments = frame.refine({name: found[0] for name, found in values.items()}, mentions)
    variants = [
        frame.refine({name: found[min(i, len(found) - 1)] for name, found in values.items()}, mentions)
        for i in range(1, min(MAX_ALTERNATIVES, max((len(found) for found in values.values()), default=0)))
    ]
    different = [v for i, v in enumerate(variants) if v != arguments and v not in variants[:i]]
    unused = [quantity for quantity in mentions.quantities if id(quantity) not in used]
    ignores_money = any(_MONEY.match(quantity.unit) for quantity in unused)
    return Filling(arguments, tuple(different), len(used), len(unused), ignores_money)


def closest(frame: Frame, quantity: Quantity, text: str, earlier: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The earlier argument that an amount without a word of its own replaces: of its unit, and nearest in size."""
    if quantity.unit == "times" or quantity.kind in ("discount", "price left"):
        return None
    if any(_worth(slot, quantity, text) >= _CUE_WORTH - _DISTANCE_COST * slot.reach for slot in frame.amounts):
        return None
    fitting = [
        (
            abs(math.log(quantity.to(slot.unit) / earlier[slot.argument])),
            slot.argument,
            slot.read(quantity.to(slot.unit)),
        )
        for slot in frame.amounts
        if isinstance(earlier.get(slot.argument), int | float)
        and earlier[slot.argument] > 0
        and quantity.value > 0
        and (quantity.unit == slot.unit if quantity.unit == "fraction" else compatible(quantity.unit, slot.unit))
    ]
    return min(fitting)[1:] if fitting else None


def _assign(slots: Sequence[Amount], quantities: Sequence[Quantity], text: str) -> list[tuple[Amount, Quantity]]:
    """Best pairs first; an amount fills one argument, and an argument takes a second amount only as an alternative."""
    pairs = [
        (worth, -place, -quantity.start, slot, quantity)
        for place, slot in enumerate(slots)
        for quantity in quantities
        if (worth := _worth(slot, quantity, text)) > 0
    ]
    pairs.sort(key=lambda pair: pair[:3], reverse=True)
    taken: list[tuple[Amount, Quantity]] = []
    for _, _, _, slot, quantity in pairs:
        if any(used is quantity for _, used in taken):
            continue
        if slot.alternatives or all(slot.argument != other.argument for other, _ in taken):
            taken.append((slot, quantity))
    return sorted(taken, key=lambda pair: pair[1].start)


def _worth(slot: Amount, quantity: Quantity, text: str) -> float:
    if quantity.kind in slot.not_kinds and quantity.kind:
        return 0.0
    if not any(compatible(unit, slot.unit) for unit in (quantity.unit, *(r.unit for r in quantity.readings))):
        return 0.0
    if _is_mismatched(slot, quantity):
        return 0.0
    if slot.least and quantity.to(slot.unit) < slot.least:
        return 0.0
    before, after = _clause_around(text, quantity)
    if slot.blocks and (slot.blocks.search(before[-slot.reach :]) or slot.blocks.search(after[: slot.reach])):
        return 0.0
    worth = _KIND_WORTH if quantity.kind and quantity.kind in slot.kinds else 0.0
    worth += _KIND_WORTH if quantity.per in _PERIODS and slot.argument.endswith(f"_per_{quantity.per}") else 0.0
    if slot.cues:
        distances = [len(before) - match.end() for match in slot.cues.finditer(before)]
        distances += [match.start() for match in slot.cues.finditer(after)]
        nearest = min(distances, default=slot.reach + 1)
        if nearest <= slot.reach:
            return worth + _CUE_WORTH - _DISTANCE_COST * nearest
    return worth + (_PLAIN_WORTH if slot.plain else 0.0)


_PERIODS = frozenset({"day", "week", "month", "year"})
_TIMES = frozenset({"second", "hour", "day"})


def _is_mismatched(slot: Amount, quantity: Quantity) -> bool:
    """Units that could be converted but mean another thing: a price an hour is no monthly bill, 60% is no price, 1.5 no
    share, and nine hours a day are no length of a run."""
    if quantity.unit == "1" and slot.unit == "fraction":
        return not 0 < quantity.value <= 1
    if quantity.unit == "fraction":
        return slot.unit == "1"
    if quantity.per in _PERIODS and slot.unit in _TIMES:
        return not slot.argument.endswith(f"_per_{quantity.per}")
    return slot.exact and quantity.unit.partition("/")[2] != slot.unit.partition("/")[2]


def _clause_around(text: str, quantity: Quantity) -> tuple[str, str]:
    """The clause's text before and after the amount."""
    start = max((match.end() for match in _CLAUSE_END.finditer(text, 0, quantity.start)), default=0)
    end = _CLAUSE_END.search(text, quantity.end)
    return text[start : quantity.start], text[quantity.end : end.start() if end else len(text)]
