"""What `advisor catalog` shows: lists of rows, one row whole, and a check of price files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from knowledge.catalog import data, offers
from knowledge.catalog.age import DEFAULT_MAX_AGE_DAYS, stale
from knowledge.catalog.names import UnknownName, find_accelerator, find_model
from knowledge.catalog.records import (
    Accelerator,
    Commitment,
    DedicatedLine,
    GridCarbon,
    MfuMeasurement,
    Model,
    Notice,
    OfflineDevice,
    PowerUsage,
    Problem,
    Provenance,
    PublishedRun,
    SpotTerm,
    StoragePrice,
    TransferPrice,
)
from knowledge.errors import InvalidInput

_PRICES = ("storage", "transfer", "lines", "commitments", "spot", "carbon", "power")
_KINDS: Mapping[str, Callable[[], Sequence[Any]]] = {
    "models": lambda: data.read(Model),
    "accelerators": lambda: data.read(Accelerator),
    "instances": lambda: offers.current().instances,
    "storage": lambda: data.read(StoragePrice),
    "transfer": lambda: data.read(TransferPrice),
    "lines": lambda: data.read(DedicatedLine),
    "devices": lambda: data.read(OfflineDevice),
    "commitments": lambda: data.read(Commitment),
    "spot": lambda: data.read(SpotTerm),
    "carbon": lambda: data.read(GridCarbon),
    "power": lambda: data.read(PowerUsage),
    "notices": lambda: data.read(Notice),
    "runs": lambda: data.read(PublishedRun),
    "mfu": lambda: data.read(MfuMeasurement),
}
KINDS = tuple(_KINDS)


def _plain(row: Any) -> dict[str, Any]:
    """A row as JSON-ready values, its source in three fields."""
    values = {name: value for name, value in asdict(row).items() if name != "source"}
    source: Provenance = row.source
    return values | {
        "source": source.name,
        "source_url": source.url,
        "as_of": source.as_of.isoformat() if source.as_of else None,
    }


def list_rows(kind: str) -> list[dict[str, Any]]:
    """All rows of one kind, as plain values.

    Raises:
        InvalidInput: there is no such kind.
    """
    if kind not in _KINDS:
        raise InvalidInput(f"The catalog has no '{kind}'. It has: {', '.join(KINDS)}.")
    return [_plain(row) for row in _KINDS[kind]()]


def show(name: str) -> list[dict[str, Any]]:
    """The rows that a name means: an instance type (one row a region), an accelerator or a model.

    Raises:
        UnknownName, AmbiguousName: the name is unknown, or means several models.
    """
    folded = name.casefold().strip()
    instances = [row for row in offers.current().instances if row.name.casefold() == folded]
    if instances:
        return [_plain(row) for row in instances]
    try:
        return [_plain(find_accelerator(name).row)]
    except UnknownName:
        return [_plain(find_model(name).row)]


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found. `usable` counts offers of the price files; `old` are sources past the allowed age."""

    usable: int
    problems: tuple[Problem, ...]
    old: tuple[Provenance, ...]

    @property
    def ok(self) -> bool:
        """Whether every row could be used."""
        return not self.problems


def check(paths: Sequence[Path] = (), *, max_age_days: int = DEFAULT_MAX_AGE_DAYS, today: date | None = None) -> Report:
    """Read the price files and the shipped prices; report bad rows with line and reason, and old sources.

    Raises:
        InvalidInput: a file can't be read at all.
    """
    loaded = offers.load_offers(paths)
    own = [row for row in loaded.instances if row.origin == "price file"]
    prices: list[Provenance] = [row.source for name in _PRICES for row in _KINDS[name]()]
    sources = [row.source for row in loaded.instances] + prices
    return Report(len(own), loaded.problems, stale(sources, max_age_days=max_age_days, today=today))
