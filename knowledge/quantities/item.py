"""A quantity while it is being put together."""

from __future__ import annotations

from dataclasses import dataclass, field

from knowledge.quantities.quantity import Qualifier, Reading


@dataclass(slots=True)
class Item:
    """The mutable forerunner of a `Quantity`; its fields of the same name mean the same."""

    value: float
    low: float
    high: float
    start: int
    end: int
    unit: str = "1"
    written: str = ""
    letter: str = ""
    """A scale letter without a unit: it may be a scale or a unit (G, T, M, B)."""
    scaled: bool = False
    approximate: bool = False
    qualifier: Qualifier | None = None
    kind: str = ""
    name: str = ""
    per: str = ""
    numeral: str = "arabic"
    priced: bool = False
    """Whether "25万一张" says that it is money."""
    factor: float = 1.0
    """What scale and unit have multiplied the number with."""
    readings: list[Reading] = field(default_factory=list)

    def scale(self, factor: float) -> None:
        """Multiply the value and its range."""
        self.factor *= factor
        inverse = round(1 / factor) if 0 < factor < 1 else 0
        if inverse and abs(inverse * factor - 1) < 1e-12:
            # 七成 is 7 / 10, which is 0.7, while 7 x 0.1 is not.
            self.value, self.low, self.high = self.value / inverse, self.low / inverse, self.high / inverse
        else:
            self.value, self.low, self.high = self.value * factor, self.low * factor, self.high * factor

    @property
    def is_range(self) -> bool:
        """Whether low and high differ."""
        return self.low != self.high
