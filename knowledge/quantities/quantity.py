"""The typed quantity that a written amount is read into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from knowledge.quantities.units import compatible, convert

_MONTHS = {"month": 1, "quarter": 3, "year": 12}
Qualifier = Literal["at most", "at least"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One thing that an ambiguous amount may mean."""

    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount in a text.

    Units: "parameters", "tokens", "gpu", "node", "device", "step", "epoch", "example", "checkpoint", "copy", "file",
    "person", "run", "core", "layer", "times", "byte", "byte/s", "bit/s", "token/s", "second" (every duration),
    "gpu-hour", "fraction", "W", "kWh", "g", "FLOP", "FLOP/s", "1" (a bare count), ISO currencies, and rates of these
    such as "USD/gpu-hour", "CNY/GB/month", "CNY/month", "second/step", "byte/parameter".
    """

    value: float
    """The middle of a range."""
    unit: str
    start: int
    end: int
    text: str
    low: float | None = None
    high: float | None = None
    approximate: bool = False
    qualifier: Qualifier | None = None
    readings: tuple[Reading, ...] = ()
    """All meanings, the likeliest first, when there is more than one; empty when there is only one."""
    written: str = ""
    """The unit as written, in its usual form ("day", "GiB", "Mb/s"); for a count the noun."""
    kind: str = ""
    """What the words around it say that it is: "model" (size in a model's name), "active" (parameters), "gpu memory",
    "sequence length", "per node" (GPUs of each node), "each" (what a count before it is multiplied with), "interval"
    (every so often), "discount" (30% off), "share"."""
    name: str = ""
    """The GPU or model that the words give with it."""
    per: str = ""
    """"gpu", "node", … for an amount that each of them has."""

    @property
    def ambiguous(self) -> bool:
        """Whether the dialogue should ask."""
        return len(self.readings) > 1

    def to(self, unit: str) -> float:
        """The value in a unit of the same dimension, by whichever reading has it.

        Raises:
            IncompatibleUnits: no reading has that dimension.
        """
        months = _MONTHS.get(self.written), _MONTHS.get(unit)
        if self.unit == "second" and months[0] and months[1]:
            # Half a year is six months, although a year is not twelve times 30 days.
            return convert(self.value, "second", self.written) * months[0] / months[1]
        for reading in self.readings:
            if compatible(reading.unit, unit):
                return convert(reading.value, reading.unit, unit)
        return convert(self.value, self.unit, unit)
