"""Reads one written amount into the unit that a calculator's argument wants."""

from __future__ import annotations

import math

from knowledge.quantities.numerals import fold
from knowledge.quantities.quantity import Quantity, Reading
from knowledge.quantities.sentence import find
from knowledge.quantities.units import CURRENCIES, compatible, convert

_MAX_CHARACTERS = 200
_COUNTED = frozenset(("parameters", "tokens", "byte", "bit/s", "byte/s", "W", "FLOP/s"))
"""Readings of a bare scaled number (70B, 100G) that may stand for an argument of that unit."""


def amount(text: str, unit: str) -> float:
    """Read one written amount in the given unit ("7B" in parameters, "10 Gbps" in bit/s, "50万元" in CNY).

    A number without a unit is in the wanted unit already. `money` as the unit takes any currency. A range gives its
    middle.

    Raises:
        ValueError: the text is not an amount of that kind; the message says what was expected.
    """
    plain = _plain(text)
    if plain is not None:
        return plain
    found = find(text[:_MAX_CHARACTERS])
    fitting = [value for quantity in found if (value := _value(quantity, unit)) is not None]
    if len(fitting) == 1 or (fitting and len(set(fitting)) == 1):
        return fitting[0]
    if len(fitting) > 1:
        raise ValueError(f"'{_shown(text)}' holds {len(fitting)} amounts; give one, in {unit}")
    if found:
        raise ValueError(f"'{_shown(text)}' is an amount in {found[0].unit}; expected one in {unit}")
    raise ValueError(f"'{_shown(text)}' is no amount; expected a number or an amount in {unit}")


def currency_of(text: str) -> str | None:
    """The ISO code of the currency that a written amount names; None when it names none or leaves it open."""
    for quantity in find(text[:_MAX_CHARACTERS]):
        code = quantity.unit.split("/")[0]
        if code in CURRENCIES and not quantity.ambiguous:
            return code
    return None


def _plain(text: str) -> float | None:
    try:
        value = float(fold(text).strip().replace(",", ""))
    except ValueError:
        return None
    if not math.isfinite(value):
        raise ValueError(f"'{_shown(text)}' is no finite number")
    return value


def _value(quantity: Quantity, unit: str) -> float | None:
    if quantity.unit == "second" and compatible(unit, "second"):
        return quantity.to(unit)
    candidates = quantity.readings or (Reading(quantity.value, quantity.unit),)
    for reading in candidates:
        if compatible(reading.unit, unit):
            return convert(reading.value, reading.unit, unit)
    bare = next((reading for reading in candidates if reading.unit == "1"), None)
    if bare is not None:
        # "30万" without a noun: the argument says what it counts.
        return bare.value
    if any(reading.unit in _COUNTED or reading.unit in CURRENCIES for reading in quantity.readings):
        return quantity.value
    if (
        quantity.unit == "parameters"
        and not quantity.kind
        and quantity.text[-1:] in "bB"
        and unit in ("tokens", "token", "1")
    ):
        return quantity.value
    return None


def _shown(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
