"""Amounts as people write them, in Chinese and English, read into typed quantities with units.

`find` gives every amount of a text, `amount` reads one into a wanted unit, `convert` changes units.
"""

from __future__ import annotations

from knowledge.quantities.quantity import Qualifier, Quantity, Reading
from knowledge.quantities.sentence import MAX_CHARACTERS, find
from knowledge.quantities.single import amount, currency_of
from knowledge.quantities.units import IncompatibleUnits, compatible, convert

__all__ = [
    "MAX_CHARACTERS",
    "IncompatibleUnits",
    "Qualifier",
    "Quantity",
    "Reading",
    "amount",
    "compatible",
    "convert",
    "currency_of",
    "find",
]
