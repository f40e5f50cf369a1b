"""Values with dimensions, and a small parser for expressions over them: + - x / ^ and brackets, nothing else.

GPUs, nodes and other counts are pure numbers here, so that "8 GPUs x 24 h x $2.5/GPU-hour" works out; two durations
multiplied are hours a day times days ("24 h x 30 days" is 720 hours).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from knowledge import quantities
from knowledge.quantities import units
from knowledge.quantities.units import CURRENCIES, IncompatibleUnits

_COUNTS = frozenset(
    [
        "gpu",
        "node",
        "device",
        "step",
        "epoch",
        "example",
        "file",
        "checkpoint",
        "copy",
        "person",
        "run",
        "core",
        "layer",
        "request",
        "char",
        "times",
        "image",
    ]
)
_DAY = 86400.0
MAX_DEPTH = 40
MAX_POWER = 64.0
_READABLE: tuple[tuple[Mapping[str, int], str], ...] = (
    ({"byte": 1, "second": -1}, "MB/s"),
    ({"joule": 1}, "kWh"),
    ({"joule": 1, "second": -1}, "W"),
    ({"gram": 1}, "kg"),
    ({"flop": 1, "second": -1}, "TFLOPS"),
    ({"flop": 1}, "FLOP"),
    ({"tokens": 1, "second": -1}, "tokens/s"),
    ({"tokens": 1}, "tokens"),
    ({"parameters": 1}, "parameters"),
    ({"byte": 1, "parameters": -1}, "byte/parameter"),
)
_TOKEN = re.compile(r"\s*(?P<operator>[-+*×✕/÷^()（）]|[xX](?![A-Za-z])|乘以?|除以)")
_WANTED = re.compile(
    r"(?P<expression>[^=]{1,400}?)(?:\s+(?:in|to|into|as)\s+|\s*(?:是多少|等于多少|合多少|换算成|换成|转成)\s*)"
    r"(?P<unit>[A-Za-z%/\u4e00-\u9fff-]{1,20})\s*[?？]?$"
)
_ATOM = re.compile(
    r"\s*(?P<text>(?:每[^\d\s+*×÷()（）]{1,8}\s?)?(?:US\$|[$¥€£])?\s?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
    r"(?:\s?(?:%|[^\s\d+*×✕÷^()（）/=,，。xX-]|[xX](?=[A-Za-z])|(?<=[A-Za-z])-(?=[A-Za-z])|/(?=\s?[A-Za-z\u4e00-\u9fff])))*)"
)


@dataclass(frozen=True)
class Value:
    """A number in base units (byte, second, joule, …) with its dimension."""

    number: float
    dimension: Mapping[str, int]
    fraction: bool = False
    unit: str = ""
    """The unit that it was written in, which it is shown in as well; "" for the one that reads best."""

    def __mul__(self, other: Value) -> Value:
        if self.dimension == other.dimension == {"second": 1}:
            return Value(self.number * other.number / _DAY, {"second": 1}, unit=self.unit)
        if self.is_plain_money and other.dimension and not other.has_money:
            # "$0.5 x 300 GB": a price of one unit, as that was written.
            return Value(self.number * other.readable()[0], self.dimension)
        if other.is_plain_money and self.dimension and not self.has_money:
            return Value(other.number * self.readable()[0], other.dimension)
        kept = self.unit if not other.dimension else other.unit if not self.dimension else ""
        return Value(self.number * other.number, _add(self.dimension, other.dimension, 1), unit=kept)

    def __truediv__(self, other: Value) -> Value:
        if other.number == 0:
            raise ValueError("division by 0")
        return Value(self.number / other.number, _add(self.dimension, other.dimension, -1))

    def __add__(self, other: Value) -> Value:
        self._same(other)
        return Value(self.number + other.number, self.dimension, unit=self.unit)

    def __sub__(self, other: Value) -> Value:
        self._same(other)
        return Value(self.number - other.number, self.dimension, unit=self.unit)

    def __pow__(self, other: Value) -> Value:
        if other.dimension or abs(other.number) > MAX_POWER:
            raise ValueError(f"the exponent must be a plain number of at most {MAX_POWER:g}")
        if self.dimension and other.number != int(other.number):
            raise ValueError("an amount with a unit takes whole exponents only")
        try:
            number = self.number**other.number
        except (OverflowError, ZeroDivisionError) as error:
            raise ValueError("the result is not finite") from error
        if isinstance(number, complex):
            raise ValueError("the root of a negative number")
        return Value(number, {base: exponent * int(other.number) for base, exponent in self.dimension.items()})

    def _same(self, other: Value) -> None:
        if not self.like(other):
            raise ValueError(f"{self.text()} and {other.text()} have different units")

    def like(self, other: Value) -> bool:
        """Whether both can be added."""
        return dict(self.dimension) == dict(other.dimension)

    @property
    def is_fraction(self) -> bool:
        """Whether it was written as a share, such as 15%."""
        return self.fraction

    @property
    def is_plain_money(self) -> bool:
        """Whether it is an amount of one currency."""
        return len(self.dimension) == 1 and next(iter(self.dimension)) in CURRENCIES

    @property
    def has_money(self) -> bool:
        """Whether a currency is part of its unit."""
        return any(base in CURRENCIES for base in self.dimension)

    @property
    def is_money_rate(self) -> bool:
        """Whether it is a price of something."""
        return self.has_money and not self.is_plain_money

    def readable(self) -> tuple[float, str]:
        """(number, unit) in the unit that reads best."""
        dimension = dict(self.dimension)
        if not dimension:
            return self.number, "fraction" if self.fraction else "1"
        if self.unit:
            return self.number / units.unit(self.unit)[0], self.unit
        if dimension == {"byte": 1}:
            for name in ("PB", "TB", "GB", "MB", "kB"):
                if abs(self.number) >= units.unit(name)[0]:
                    return self.number / units.unit(name)[0], name
            return self.number, "byte"
        if dimension == {"second": 1}:
            for name, least in (("day", 2 * _DAY), ("hour", 2 * 3600.0), ("minute", 120.0)):
                if abs(self.number) >= least:
                    return self.number / units.unit(name)[0], name
            return self.number, "second"
        for known, name in _READABLE:
            if dimension == known:
                return self.number / units.unit(name)[0], name
        return self._compound(dimension)

    def _compound(self, dimension: dict[str, int]) -> tuple[float, str]:
        """Prices: a currency over GB, hours and months; anything else in base units."""
        number, over = self.number, list[str]()
        top = [base for base, exponent in dimension.items() if exponent > 0]
        for base, exponent in dimension.items():
            if exponent >= 0:
                continue
            if base == "byte" and exponent == -1:
                number, name = number * 1e9, "GB"
            elif base == "second" and exponent == -1:
                # Storage is priced by the month, everything else by the hour.
                name = "month" if "byte" in dimension else "hour"
                number *= units.unit(name)[0]
            elif base == "tokens" and exponent == -1:
                number, name = number * 1e6, "1M tokens"
            elif base == "joule" and exponent == -1:
                number, name = number * 3.6e6, "kWh"
            else:
                name = base if exponent == -1 else f"{base}^{-exponent}"
            over.append(name)
        shown = "·".join(base if dimension[base] == 1 else f"{base}^{dimension[base]}" for base in top) or "1"
        return number, "/".join([shown, *sorted(over, key=("GB", "hour", "month").count, reverse=True)])

    def text(self) -> str:
        """As in a derivation: "2.4225 USD/hour"."""
        number, unit = self.readable()
        if unit == "fraction":
            return f"{number * 100:,.6g}%"
        shown = f"{number:,.10g}" if abs(number) < 1e15 else f"{number:.6g}"
        return shown if unit == "1" else f"{shown} {unit}"

    def into(self, unit: str) -> tuple[float, str]:
        """(number, unit) in a wanted unit, which may be written as people write it ("MB/s", "天").

        Raises:
            ValueError: the unit isn't known or has another dimension.
        """
        name = unit.strip()
        if not units.is_known(name):
            found = quantities.find(f"1 {name}")
            if len(found) != 1:
                raise ValueError(f"'{name}' is no unit that is known here")
            wanted = _of_quantity(found[0])
            if dict(wanted.dimension) != dict(self.dimension):
                raise ValueError(f"{self.text()} can't be expressed in {name}")
            return self.number / wanted.number, name
        factor, dimension = units.unit(name)
        if _without_counts(dimension) != dict(self.dimension):
            raise ValueError(f"{self.text()} can't be expressed in {name}")
        return self.number / factor, name


def _without_counts(dimension: Mapping[str, int]) -> dict[str, int]:
    return {base: exponent for base, exponent in dimension.items() if base not in _COUNTS}


def _add(one: Mapping[str, int], other: Mapping[str, int], sign: int) -> dict[str, int]:
    joined = dict(one)
    for base, exponent in other.items():
        joined[base] = joined.get(base, 0) + sign * exponent
    return {base: exponent for base, exponent in joined.items() if exponent}


def _of_quantity(quantity: quantities.Quantity) -> Value:
    factor, dimension = units.unit(quantity.unit)
    base = _without_counts(dimension)
    shown = quantity.written if units.is_known(quantity.written) else ""
    if shown and _without_counts(units.unit(shown)[1]) != base:
        shown = ""
    return Value(quantity.value * factor, base, fraction=quantity.unit == "fraction", unit=shown)


def read_amount(text: str) -> Value:
    """The one amount that a text holds.

    Raises:
        ValueError: it holds none, or several.
    """
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return Value(number, {})
    found = quantities.find(text)
    if len(found) != 1:
        raise ValueError("no amount was found" if not found else f"{len(found)} amounts were found")
    try:
        return _of_quantity(found[0])
    except IncompatibleUnits as error:
        raise ValueError(str(error)) from error


def evaluate(text: str) -> tuple[Value, list[str]]:
    """The value of an expression and its steps.

    Raises:
        ValueError: it can't be read, units don't go together, or something is divided by zero.
    """
    if wanted := _WANTED.match(text):
        text = wanted["expression"]
    parser = _Parser(text)
    value = parser.sum()
    parser.end()
    if wanted:
        number, name = value.into(wanted["unit"])
        parser.steps.append(f"{value.text()} = {number:,.8g} {name}")
        value = Value(value.number, value.dimension, unit=name if units.is_known(name) else "")
    if not math.isfinite(value.number):
        raise ValueError("the result is not finite")
    return value, parser.steps


class _Parser:
    """Recursive descent: sum of products of powers of amounts."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.steps: list[str] = []

    def _operator(self, accepted: str) -> str | None:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            return None
        sign = {
            "×": "*",
            "✕": "*",
            "x": "*",
            "X": "*",
            "乘": "*",
            "乘以": "*",
            "÷": "/",
            "除以": "/",
            "（": "(",
            "）": ")",
        }.get(match["operator"], match["operator"])
        if sign not in accepted:
            return None
        self.at = match.end()
        return sign

    def end(self) -> None:
        """Nothing may be left."""
        rest = self.text[self.at :].strip().rstrip("=＝?？")
        if rest.strip():
            raise ValueError(f"'{rest[:30]}' was not understood")

    def sum(self) -> Value:
        value = self.product()
        while sign := self._operator("+-"):
            right = self.product()
            result = value + right if sign == "+" else value - right
            self.steps.append(f"{value.text()} {sign} {right.text()} = {result.text()}")
            value = result
        return value

    def product(self) -> Value:
        value = self.power()
        while sign := self._operator("*/"):
            right = self.power()
            result = value * right if sign == "*" else value / right
            self.steps.append(f"{value.text()} {'x' if sign == '*' else '/'} {right.text()} = {result.text()}")
            value = result
        return value

    def power(self) -> Value:
        value = self.signed()
        if self._operator("^"):
            value = value ** self.signed()
        return value

    def signed(self) -> Value:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        try:
            if self._operator("-"):
                inner = self.signed()
                return Value(-inner.number, inner.dimension, inner.fraction)
            if self._operator("("):
                value = self.sum()
                if not self._operator(")"):
                    raise ValueError("a bracket is not closed")
                return value
            return self.atom()
        finally:
            self.depth -= 1

    def atom(self) -> Value:
        match = _ATOM.match(self.text, self.at)
        if match is None:
            rest = self.text[self.at :].strip()
            raise ValueError(
                f"an amount is missing before '{rest[:20]}'" if rest else "it ends where an amount should be"
            )
        self.at = match.end()
        text = match["text"].strip()
        found = quantities.find(text)
        if len(found) == 1:
            before = "" if text.startswith("每") else text[: found[0].start]
            if rest := text[found[0].end :].strip() or before.strip():
                raise ValueError(f"'{rest[:30]}' was not understood")
        return read_amount(text)
