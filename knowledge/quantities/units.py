"""Units, their dimensions and conversion between them.

A small table of its own: importing pint takes about 180 ms, and most of what is counted here (tokens, GPU-hours, a
currency, a gigabyte-month) is no unit that pint knows. Money of two currencies has two dimensions: a rate between
them is never assumed. A month is 30 days and a year 365.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

Dimension = Mapping[str, int]
"""Base -> exponent; {} for a plain number."""

CURRENCIES = frozenset(
    [
        "USD",
        "CNY",
        "EUR",
        "GBP",
        "JPY",
        "HKD",
        "TWD",
        "KRW",
        "INR",
        "SGD",
        "AUD",
        "CAD",
        "CHF",
        "RUB",
        "AED",
        "BRL",
        "money",
    ]
)
"""ISO codes that amounts are read in; `money` stands for whatever currency an argument beside it names."""

_COUNTS = [
    "parameters",
    "tokens",
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
_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}

_TABLE: dict[str, tuple[float, Dimension]] = {
    "1": (1.0, {}),
    "fraction": (1.0, {}),
    "percent": (0.01, {}),
    "%": (0.01, {}),
    "ratio": (1.0, {}),
    **{name: (1.0, {name: 1}) for name in _COUNTS},
    **{name: (1.0, {name: 1}) for name in CURRENCIES},
    "parameter": (1.0, {"parameters": 1}),
    "token": (1.0, {"tokens": 1}),
    "gpus": (1.0, {"gpu": 1}),
    "second": (1.0, {"second": 1}),
    "s": (1.0, {"second": 1}),
    "ms": (1e-3, {"second": 1}),
    "us": (1e-6, {"second": 1}),
    "minute": (60.0, {"second": 1}),
    "min": (60.0, {"second": 1}),
    "hour": (3600.0, {"second": 1}),
    "h": (3600.0, {"second": 1}),
    "day": (86400.0, {"second": 1}),
    "d": (86400.0, {"second": 1}),
    "week": (7 * 86400.0, {"second": 1}),
    "month": (30 * 86400.0, {"second": 1}),
    "quarter": (91.25 * 86400.0, {"second": 1}),
    "year": (365 * 86400.0, {"second": 1}),
    "gpu-hour": (3600.0, {"gpu": 1, "second": 1}),
    "gpu-day": (86400.0, {"gpu": 1, "second": 1}),
    "byte": (1.0, {"byte": 1}),
    "bit": (0.125, {"byte": 1}),
    "bps": (0.125, {"byte": 1, "second": -1}),
    **{f"{prefix}B": (factor, {"byte": 1}) for prefix, factor in (_DECIMAL | _BINARY).items() if prefix},
    **{f"{prefix}bit": (factor / 8, {"byte": 1}) for prefix, factor in _DECIMAL.items() if prefix},
    **{f"{prefix}b": (factor / 8, {"byte": 1}) for prefix, factor in _DECIMAL.items() if prefix},
    **{f"{prefix}bps": (factor / 8, {"byte": 1, "second": -1}) for prefix, factor in _DECIMAL.items() if prefix},
    "W": (1.0, {"joule": 1, "second": -1}),
    "kW": (1e3, {"joule": 1, "second": -1}),
    "MW": (1e6, {"joule": 1, "second": -1}),
    "J": (1.0, {"joule": 1}),
    "Wh": (3.6e3, {"joule": 1}),
    "kWh": (3.6e6, {"joule": 1}),
    "MWh": (3.6e9, {"joule": 1}),
    "GWh": (3.6e12, {"joule": 1}),
    "g": (1.0, {"gram": 1}),
    "kg": (1e3, {"gram": 1}),
    "tonne": (1e6, {"gram": 1}),
    **{f"{prefix}FLOP": (factor, {"flop": 1}) for prefix, factor in _DECIMAL.items()},
    **{f"{prefix}FLOPS": (factor, {"flop": 1, "second": -1}) for prefix, factor in _DECIMAL.items()},
}
_PARTS = re.compile(r"([*/·])")


class IncompatibleUnits(ValueError):
    """Two units have different dimensions, or a unit isn't known."""


@cache
def unit(text: str) -> tuple[float, Dimension]:
    """Factor to base units and dimension of a unit such as "byte", "GiB", "bit/s" or "CNY/GB/month".

    Raises:
        IncompatibleUnits: the unit isn't known.
    """
    factor, dimension = 1.0, dict[str, int]()
    sign = 1
    for part in _PARTS.split(text.strip()):
        if part in "*·/" and part:
            sign = -1 if part == "/" else 1
            continue
        scale = re.fullmatch(r"(1[kMBT])\s?(.+)", part)
        name = scale[2] if scale else part
        if name not in _TABLE:
            raise IncompatibleUnits(f"'{part}' is no unit that is known here")
        unit_factor, bases = _TABLE[name]
        if scale:
            unit_factor *= {"k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}[scale[1][1]]
        factor *= unit_factor**sign
        for base, exponent in bases.items():
            dimension[base] = dimension.get(base, 0) + sign * exponent
    return factor, {base: exponent for base, exponent in dimension.items() if exponent}


def is_known(text: str) -> bool:
    """Whether `unit` can read it."""
    try:
        unit(text)
    except IncompatibleUnits:
        return False
    return True


def compatible(one: str, other: str) -> bool:
    """Whether both are known and have the same dimension; any currency goes with `money`."""
    return is_known(one) and is_known(other) and _same(unit(one)[1], unit(other)[1])


def convert(value: float, from_unit: str, to_unit: str) -> float:
    """A value in another unit of the same dimension.

    Raises:
        IncompatibleUnits: the dimensions differ.
    """
    if from_unit == to_unit:
        return value
    from_factor, from_dimension = unit(from_unit)
    to_factor, to_dimension = unit(to_unit)
    if not _same(from_dimension, to_dimension):
        raise IncompatibleUnits(f"{from_unit} can't be expressed in {to_unit}")
    return value * from_factor / to_factor if from_factor != to_factor else value


def _same(one: Dimension, other: Dimension) -> bool:
    if one == other:
        return True
    if "money" in one or "money" in other:
        return _any_money(one) == _any_money(other)
    return False


def _any_money(dimension: Dimension) -> Dimension:
    return {("money" if base in CURRENCIES else base): exponent for base, exponent in dimension.items()}
