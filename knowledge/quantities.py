"""Amounts as people write them, read into typed quantities with units."""

from __future__ import annotations


def amount(text: str, unit: str) -> float:
    """Read one written amount in the given unit ("7B" in parameters, "10 Gbps" in bit/s, "50万元" in CNY).

    Raises:
        ValueError: the text is not an amount of that kind; the message says what was expected.
    """
    raise NotImplementedError
