"""How old a figure may be before every answer that uses it says so."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from knowledge.catalog.records import Provenance

DEFAULT_MAX_AGE_DAYS = 180


def stale(
    sources: Iterable[Provenance], *, max_age_days: int = DEFAULT_MAX_AGE_DAYS, today: date | None = None
) -> tuple[Provenance, ...]:
    """The sources that are older than allowed, oldest first, each once; an undated one counts as old.

    For figures that change with time (prices, discounts, grid carbon), not for data sheets and papers.
    """
    now = today or date.today()
    old = {source for source in sources if source.as_of is None or (now - source.as_of).days > max_age_days}
    return tuple(sorted(old, key=lambda source: (source.as_of or date.min, source.name)))
