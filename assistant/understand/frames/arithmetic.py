"""Arithmetic by units: which product or quotient of the stated amounts has the unit that is asked for.

"Invoice of $6,653 for 3,412 GPU-hours, price per GPU-hour?" has one answer in money over GPU-hours, whatever the words
between the amounts. Where more than one combination has the unit, none is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

from assistant.understand.frames.common import PER_GPU_HOUR
from assistant.understand.mentions import Mentions
from knowledge.quantities import Quantity, compatible
from knowledge.quantities.units import CURRENCIES, is_known, unit

MIN_AMOUNTS, MAX_AMOUNTS = 3, 5
"""Two amounts are a bill and a quantity, or a rate and one, which need no search."""
_Dimension = Mapping[str, int]
_ASKED: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(
            rf"{PER_GPU_HOUR.pattern}|(?:每|一)(?:张|块)?卡(?:每|一)(?:个)?小时|per[- ](?:gpu|card)[- ]?(?:hour|h\b)", re.I
        ),
        "money/gpu-hour",
        "",
    ),
    (re.compile(r"每秒.{0,6}(?:多少|几)|吞吐|throughput|(?:tokens?|samples?) ?(?:/|per|a) ?s(?:ec(?:ond)?)?\b", re.I), "tokens/second", ""),
    (re.compile(r"每(?:个)?小时(?:多少|几|合|花|要)|一(?:个)?小时(?:多少|几|合)|\bhourly\b|\bper hour\b|\ban hour\?", re.I), "money/hour", ""),
    (re.compile(r"每(?:个)?月|一个月|\bper month\b|\bmonthly\b|\ba month\b", re.I), "money/month", "month"),
    (re.compile(r"每天|一天|\bper day\b|\bdaily\b|\ba day\b", re.I), "money/day", "day"),
    (re.compile(r"每年|一年|全年|\bper year\b|\byearly\b|\ba year\b", re.I), "money/year", "year"),
    (re.compile(r"多少(?:个)?卡时|how many (?:gpu|card)[- ]?hours", re.I), "gpu-hour", ""),
    (re.compile(r"多久|几(?:天|个?小时|个?月)|多少(?:天|小时)|how long|how many (?:days|hours|weeks|months)", re.I), "second", ""),
    (re.compile(r"一共|总共|合计|多少钱|总价|账单|\btotal\b|\bbill\b|\bcost|how much", re.I), "money", ""),
)  # fmt: skip
"""Words that ask for a unit; that unit; and the period in which it is shown."""
_PERIODS = {"month": 2592000.0, "year": 31536000.0}


def solved(mentions: Mentions) -> tuple[str, str] | None:
    """(expression, unit to show it in or "") that uses every amount once; None when there is none, or more than one."""
    amounts = usable(mentions)
    if not MIN_AMOUNTS <= len(amounts) <= MAX_AMOUNTS:
        return None
    currency = next((code for q in amounts for code in q.unit.split("/")[:1] if code in CURRENCIES), "")
    for words, wanted, period in _ASKED:
        if not words.search(mentions.text) or ("money" in wanted and not currency):
            continue
        target = dict(unit(wanted.replace("money", currency))[1])
        for lump in (False, True):
            signs = _signs([_dimension(q, lump=lump) for q in amounts], target)
            if signs is not None:
                return _expression(amounts, signs, lump=lump), f"{currency}/{period}" if period else ""
    return None


def usable(mentions: Mentions) -> list[Quantity]:
    """The amounts that arithmetic can use: not one machine, nor "a month" beside a length in hours that says what it is."""
    kept = [
        q
        for q in mentions.quantities
        if q.unit != "fraction"
        and q.kind not in ("gpu memory", "model", "sequence length")
        and not (q.unit in ("node", "step") and q.value == 1)
    ]
    durations = [q for q in kept if q.unit == "second"]
    if len(durations) < 2:
        return kept
    return [q for q in kept if not (q.unit == "second" and q.kind != "interval" and q.value == _PERIODS.get(q.written))]


def _dimension(quantity: Quantity, *, lump: bool) -> _Dimension:
    """With `lump`, what is paid a month or a year counts as a sum, the length of the month being stated beside it."""
    dimension = dict(unit(quantity.unit)[1])
    if lump and quantity.unit.partition("/")[2] in _PERIODS:
        dimension.pop("second")
    if quantity.per in ("gpu", "node", "example") and quantity.per not in dimension:
        dimension[quantity.per] = -1
    return dimension


def _signs(dimensions: Sequence[_Dimension], target: _Dimension) -> tuple[int, ...] | None:
    """Exponents of 1 and -1 by which the dimensions make the target; None when not exactly one choice does."""
    fitting = [signs for signs in product((1, -1), repeat=len(dimensions)) if _power(dimensions, signs) == dict(target)]
    return fitting[0] if len(fitting) == 1 and any(dimensions) else None


def _power(dimensions: Sequence[_Dimension], signs: Sequence[int]) -> dict[str, int]:
    total: dict[str, int] = {}
    for dimension, sign in zip(dimensions, signs, strict=True):
        for base, exponent in dimension.items():
            total[base] = total.get(base, 0) + sign * exponent
    return {base: exponent for base, exponent in total.items() if exponent}


def _expression(amounts: Sequence[Quantity], signs: Sequence[int], *, lump: bool) -> str:
    ordered = sorted(zip(signs, amounts, strict=True), key=lambda pair: -pair[0])
    if ordered[0][0] < 0:
        return "1 / " + " / ".join(_written(q, lump=lump) for _, q in ordered)
    first, *rest = ordered
    return _written(first[1], lump=lump) + "".join(
        f" {'x' if sign > 0 else '/'} {_written(quantity, lump=lump)}" for sign, quantity in rest
    )


def _written(quantity: Quantity, *, lump: bool) -> str:
    """The amount in the unit that it was written in, where an expression can hold that."""
    name = quantity.unit
    if lump and name.partition("/")[2] in _PERIODS:
        name = name.partition("/")[0]
    elif name != "1" and is_known(quantity.written) and compatible(quantity.written, name):
        return f"{quantity.to(quantity.written):.10g} {quantity.written}"
    return f"{quantity.value:.10g}" if name == "1" else f"{quantity.value:.10g} {name}"
