"""Whether a statement's numbers come from what it cites: the same value, and the same unit where both have one.

Stricter than `figures`, which serves text that the calculators and documents wrote themselves: a chat model may move a
number to another unit ("50.6 hours" for 50.6 days), so amounts are compared as typed quantities too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.answer.figures import Figure, figures, values_of_run, values_of_text
from assistant.schema import ToolRun
from knowledge import quantities
from knowledge.quantities import IncompatibleUnits, Quantity, convert
from knowledge.quantities.units import CURRENCIES, is_known, unit

_ABOUT = re.compile(
    r"(?:约|大约|大概|近|将近|差不多|左右|上下|about|around|roughly|approximately|nearly|almost|some|~|≈)\s*\W{0,2}$",
    re.I,
)
_ABOUT_AFTER = re.compile(r"^\s*\S{0,6}?(?:左右|上下|or so)", re.I)
_OVER = re.compile(r"(?:超过|多于|大于|不止|至少|more than|over|above|at least|upwards of)\s*\W{0,2}$", re.I)
_ABOUT_TOLERANCE = 0.05
_OVER_TOLERANCE = 0.15
_NO_UNITS = frozenset(["1", ""])
_MEASURED = frozenset(["second", "byte", "joule", "gram", "flop", *CURRENCIES, "money"])
"""Dimensions of what is measured rather than counted: a count's noun may be said in many ways, a unit not."""
_NUMERAL = re.compile(
    r"[\d一二三四五六七八九十两百千万亿半]|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|half|dozen|hundred)\b",
    re.I,
)
_STEP = re.compile(
    r"[=＝≈≒]|\b(?:equals?|makes|comes to|gives|is about)\b|等于|就是|合计|总共|得(?:到|出)?|约为|大约是"
)
_OPERATOR = re.compile(r"[+＋×✕*·/÷−-]|\bx\b|\btimes\b|\bplus\b|\bminus\b|\bdivided by\b|乘以?|除以|加|减")
_OPERATIONS = {
    "+": "+", "＋": "+", "plus": "+", "加": "+", "-": "-", "−": "-", "minus": "-", "减": "-",
    "/": "/", "÷": "/", "divided by": "/", "除以": "/",
}  # fmt: skip
_RUN_UNITS = {
    "seconds": ("second", 1.0), "minutes": ("second", 60.0), "hours": ("second", 3600.0), "days": ("second", 86400.0),
    "weeks": ("second", 604800.0), "months": ("second", 2592000.0), "years": ("second", 31536000.0),
    "bytes": ("byte", 1.0), "gb": ("byte", 1e9), "gib": ("byte", 2.0**30), "tb": ("byte", 1e12),
}  # fmt: skip
_ENGLISH = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 - one line
_CHINESE = {numeral: value for value, numeral in enumerate("零一二三四五六七八九十")} | {"两": 2}
_COUNT_EN = re.compile(rf"\b({'|'.join(_ENGLISH[1:])})\s+([a-z]{{3,}})", re.I)
_COUNT_ZH = re.compile(
    r"(?<![一二三四五六七八九十两百千万第])([一二三四五六七八九十两])(?![一二三四五六七八九十百千万亿成])([\u4e00-\u9fff])"
)
_MONEY = re.compile(r"cost|price|budget|total|saving|spend|fee", re.I)


@dataclass(frozen=True, slots=True)
class Support:
    """The numbers that a statement may use."""

    values: tuple[float, ...]
    typed: tuple[tuple[float, str], ...]
    """(value, unit) of those whose unit is known."""
    bare: tuple[float, ...]
    """Those without a unit, which may stand for any."""
    counts: tuple[tuple[float, str], ...]
    """Numbers written as words with what they count: (3, "levels"), (3, "档")."""


def support_of(texts: Iterable[str], runs: Iterable[ToolRun] = ()) -> Support:
    """All numbers of some texts and calculations."""
    values: list[float] = []
    typed: list[tuple[float, str]] = []
    bare: list[float] = []
    counts: list[tuple[float, str]] = []
    for text in texts:
        values += values_of_text(text)
        counts += _counts(text)
        found = quantities.find(text)
        for quantity in found:
            read = list(_readings(quantity))
            typed += [(value, name) for value, name in read if name not in _NO_UNITS]
            bare += [value for value, name in read if name in _NO_UNITS]
        covered = [(quantity.start, quantity.end) for quantity in found]
        bare += [
            float(match.group().replace(",", ""))
            for match in re.finditer(r"\d[\d,]*(?:\.\d+)?", text)
            if not any(start <= match.start() < end for start, end in covered)
        ]
    for run in runs:
        values += values_of_run(run.model_copy(update={"result": main_results(run)}))
        for name, value in _named_numbers(run):
            named, factor = _run_unit(name, run)
            if named:
                typed.append((value * factor, named))
            else:
                bare.append(value)
    return Support(tuple(values), tuple(typed), tuple(bare), tuple(counts))


def near_numbers(strange: Sequence[str], statement: str, around: str) -> list[str]:
    """Those of some numbers that headings and titles don't have beside the same word ("level 3", "第 3 级")."""
    return [number for number in strange if not _beside_the_same_word(number, statement, around)]


def _beside_the_same_word(number: str, statement: str, around: str) -> bool:
    def neighbours(text: str) -> set[str]:
        found: set[str] = set()
        for match in re.finditer(rf"(?<![\d.]){re.escape(number)}(?![\d])", text):
            before = re.search(r"([A-Za-z]+|[\u4e00-\u9fff])\W{0,2}$", text[: match.start()])
            after = re.match(r"\W{0,2}([A-Za-z]+|[\u4e00-\u9fff])", text[match.end() :])
            found |= {side[1].casefold() for side in (before, after) if side}
        return found

    return bool(neighbours(statement) & neighbours(around))


def strange_amounts(statement: str, support: Support) -> list[str]:
    """The numbers of a statement that nothing supports and no shown step derives."""
    derived = _derived(statement, support)
    strange = []
    for figure in figures(statement):
        if any(reading == 0 for reading in figure.readings) or figure.text in derived:
            continue
        tolerance, below = _tolerance(figure, statement)
        if not any(_near(reading, value, tolerance, below) for reading in figure.readings for value in support.values):
            strange.append(figure.text)
    strange += [
        f"{value:g} {noun}"
        for value, noun in _counts(statement)
        if any(n == noun for _, n in support.counts) and (value, noun) not in support.counts
    ]
    if strange:
        return strange
    return [
        quantity.text
        for quantity in quantities.find(statement)
        if _is_stated(quantity) and not any(text in quantity.text for text in derived) and not _typed(quantity, support)
    ]


def _counts(text: str) -> list[tuple[float, str]]:
    """Small numbers written as words, each with the noun or measure word after it."""
    english = [(float(_ENGLISH.index(word.casefold())), noun.casefold()) for word, noun in _COUNT_EN.findall(text)]
    return english + [(float(_CHINESE[numeral]), noun) for numeral, noun in _COUNT_ZH.findall(text)]


def _is_stated(quantity: Quantity) -> bool:
    """Whether it is an amount that has to come from somewhere, not a way of speaking ("once", "a week")."""
    if quantity.kind == "model" or not is_known(quantity.unit) or not _MEASURED & unit(quantity.unit)[1].keys():
        return False
    if quantity.value in (0, 1) and not re.search(r"\d", quantity.text):
        return False
    return bool(_NUMERAL.search(quantity.text))


def _typed(quantity: Quantity, support: Support) -> bool:
    read = figures(quantity.text)
    tolerance = max((figure.tolerance for figure in read), default=0.0) if read else 0.01
    if quantity.approximate:
        tolerance = max(tolerance, _ABOUT_TOLERANCE)
    if quantity.qualifier in ("at least", "more than"):
        tolerance = max(tolerance, _ABOUT_TOLERANCE)
    tolerance = max(tolerance, 1e-6)
    for value, written in _readings(quantity):
        if any(_same_amount(value, written, other, other_unit, tolerance) for other, other_unit in support.typed):
            return True
    plain = [value for value, _ in _readings(quantity)] + [value for figure in read for value in _without_unit(figure)]
    return any(math.isclose(value, abs(bare), rel_tol=tolerance) for value in plain for bare in support.bare)


def _without_unit(figure: Figure) -> tuple[float, ...]:
    """The readings of the number alone: as it is, and with its scale word; those with its unit come after them."""
    return figure.readings[:2] if len(figure.readings) == 4 else figure.readings[:1]


def _same_amount(value: float, own: str, other: float, other_unit: str, tolerance: float) -> bool:
    """Whether two amounts agree; a price an hour may leave out that it is for one GPU."""
    if not _same_currency(own, other_unit):
        return False
    if "/" in own and "/" in other_unit:
        own, other_unit = own.replace("gpu-hour", "hour"), other_unit.replace("gpu-hour", "hour")
    try:
        return math.isclose(value, convert(other, other_unit, own), rel_tol=tolerance)
    except IncompatibleUnits:
        return False


def _readings(quantity: Quantity) -> Iterator[tuple[float, str]]:
    yield quantity.value, quantity.unit
    for bound in (quantity.low, quantity.high):
        if bound is not None:
            yield bound, quantity.unit
    for reading in quantity.readings:
        yield reading.value, reading.unit


def _same_currency(one: str, other: str) -> bool:
    first = {part for part in re.split(r"[/*·]", one) if part in CURRENCIES}
    second = {part for part in re.split(r"[/*·]", other) if part in CURRENCIES}
    return not first or not second or first == second


def _tolerance(figure: Figure, statement: str) -> tuple[float, bool]:
    """How far a value may be off, and whether only upwards ("more than 50 days")."""
    at = statement.find(figure.text)
    before, after = statement[max(0, at - 16) : at], statement[at + len(figure.text) :]
    if _OVER.search(before):
        return _OVER_TOLERANCE, True
    if _ABOUT.search(before) or _ABOUT_AFTER.search(after):
        return max(_ABOUT_TOLERANCE, figure.tolerance), False
    return figure.tolerance, False


def _near(shown: float, value: float, tolerance: float, below: bool) -> bool:
    size = abs(value)
    if below and size < shown * (1 - 1e-9):
        return False
    return abs(shown - size) <= tolerance * max(shown, size)


def _derived(statement: str, support: Support) -> set[str]:
    """Results of steps that the statement shows: "64 × 24 = 1,536", each of whose operands is supported."""
    results: set[str] = set()
    for sign in _STEP.finditer(statement):
        left = re.split(r"[，,。；;：:=＝≈]", statement[: sign.start()].replace(",", "\0"))[-1].replace("\0", ",")
        operands = figures(left)
        right = figures(statement[sign.end() : sign.end() + 40])
        operators = [_OPERATIONS.get(m.group().casefold(), "*") for m in _OPERATOR.finditer(left)]
        if not right or len(operands) < 2 or len(operators) < len(operands) - 1:
            continue
        supported = all(
            any(
                _near(reading, value, operand.tolerance, False)
                for reading in operand.readings
                for value in support.values
            )
            or operand.text in results
            for operand in operands
        )
        if supported and _works_out(operands, operators[-(len(operands) - 1) :], right[0]):
            results.add(right[0].text)
    return results


def _works_out(operands: Sequence[Figure], operators: Sequence[str], result: Figure) -> bool:
    totals = set(operands[0].readings)
    for operator, operand in zip(operators, operands[1:], strict=True):
        totals = {_apply(total, operator, reading) for total in totals for reading in operand.readings}
    return any(
        _near(reading, total, max(result.tolerance, 1e-3), False) for reading in result.readings for total in totals
    )


def _apply(one: float, operator: str, other: float) -> float:
    if operator == "+":
        return one + other
    if operator == "-":
        return one - other
    if operator == "/":
        return one / other if other else math.nan
    return one * other


def main_results(run: ToolRun) -> dict[str, Any]:
    """The results that stand for themselves; options and ranges count where the calculation's own words show them."""
    return {name: value for name, value in run.result.items() if not isinstance(value, dict | list | tuple)}


def _named_numbers(run: ToolRun) -> Iterator[tuple[str, float]]:
    for name, given in run.inputs.items():
        yield from _numbers(name, given.value)
    for name, value in main_results(run).items():
        yield from _numbers(name, value)


def _numbers(name: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield name, float(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(str(key), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _numbers(name, inner)


def _run_unit(name: str, run: ToolRun) -> tuple[str, float]:
    """Unit and factor of a calculation's field by its name; ("", 1) where the name doesn't say."""
    short = name.removesuffix("_range")
    currency = str(run.result.get("currency") or "money")
    if short.endswith("price_per_gpu_hour"):
        return f"{currency}/gpu-hour", 1.0
    given = run.inputs.get(name)
    if given is not None and given.unit and quantities.compatible(given.unit, given.unit):
        return given.unit, 1.0
    if short.endswith("gpu_hours"):
        return "gpu-hour", 1.0
    if _MONEY.search(short) and "per" not in short:
        return currency, 1.0
    return _RUN_UNITS.get(short.rpartition("_")[2], ("", 1.0))
