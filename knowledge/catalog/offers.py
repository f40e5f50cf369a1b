"""Instance offers as they apply here: the shipped rows, newer refreshed ones, and a company's own prices over both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from knowledge.catalog import data
from knowledge.catalog.age import DEFAULT_MAX_AGE_DAYS
from knowledge.catalog.records import Instance, PriceFile, Problem, RowOrigin

REFRESH_PREFIX = "prices-"


@dataclass(frozen=True, slots=True)
class Offers:
    """All instance offers; `problems` are the rows of price files that could not be used."""

    instances: tuple[Instance, ...]
    problems: tuple[Problem, ...] = ()
    max_age_days: int = DEFAULT_MAX_AGE_DAYS


@dataclass
class _Active:
    offers: Offers | None = field(default=None)


_active = _Active()
_here: ContextVar[Offers | None] = ContextVar("offers", default=None)


def _over(base: Sequence[Instance], own: Sequence[Instance]) -> tuple[Instance, ...]:
    """`base` with every offer that `own` names again taken out, and `own` in front.

    A row of `own` without a region stands for all regions of its instance type.
    """
    exact = {(row.provider, row.name, row.region) for row in own}
    everywhere = {(row.provider, row.name) for row in own if not row.region}
    kept = [
        row
        for row in base
        if (row.provider, row.name, row.region) not in exact and (row.provider, row.name) not in everywhere
    ]
    return (*own, *kept)


def read_price_file(path: Path, origin: RowOrigin = "price file") -> PriceFile:
    """Read a price sheet (CSV or XLSX); rows that can't be used become problems, the others are offers.

    Raises:
        InvalidInput: the file is missing, is no CSV or XLSX, or lacks the columns for a GPU and its price.
    """
    # Reading amounts as people write them is slow to import, and most runs have no price file.
    from knowledge.catalog import price_files

    return price_files.read_price_file(path, origin)


def newest_refresh(folder: Path) -> Path | None:
    """The latest dated file of a folder, None where there is none."""
    return max(folder.glob(f"{REFRESH_PREFIX}????-??-??.csv"), default=None, key=lambda path: path.name)


def load_offers(
    price_files: Sequence[Path] = (), *, folder: Path | None = None, max_age_days: int = DEFAULT_MAX_AGE_DAYS
) -> Offers:
    """Shipped offers, under the newest refresh in `folder`, under the price files (later files win).

    Raises:
        InvalidInput: a price file can't be read at all.
    """
    rows = data.read(Instance)
    problems: list[Problem] = []
    refreshed = newest_refresh(folder) if folder is not None else None
    if refreshed is not None:
        rows = _over(rows, read_price_file(refreshed, origin="catalog").instances)
    for path in price_files:
        own = read_price_file(path)
        rows = _over(rows, own.instances)
        problems.extend(own.problems)
    return Offers(rows, tuple(problems), max_age_days)


def use(offers: Offers | None) -> None:
    """Make these the offers that calculators use; None goes back to the shipped ones."""
    _active.offers = offers


@contextmanager
def using(own: Sequence[Instance]) -> Iterator[None]:
    """Put somebody's own offers over those in use, for what runs in this context alone."""
    offers = current()
    token = _here.set(Offers(_over(offers.instances, own), offers.problems, offers.max_age_days))
    try:
        yield
    finally:
        _here.reset(token)


def current() -> Offers:
    """The offers in use."""
    here = _here.get()
    if here is not None:
        return here
    if _active.offers is None:
        _active.offers = load_offers()
    return _active.offers
