"""Prices of a GPU-hour from the offers in use: one a provider, so that many regions do not weigh more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Literal

from assistant.schema import Origin
from knowledge import catalog
from knowledge.catalog.records import Instance

Purchase = Literal["on_demand", "reserved", "spot"]


@dataclass(frozen=True, slots=True)
class Price:
    """What a GPU-hour costs: the median over providers, each at its cheapest; `rows` are those, cheapest first."""

    likely: float
    currency: str
    rows: tuple[Instance, ...]
    purchase: Purchase
    origin: Origin

    @property
    def low(self) -> float:
        """The cheapest provider."""
        return self.rows[0].price_per_gpu(self.purchase) or self.likely

    @property
    def high(self) -> float:
        """The dearest provider, each at its cheapest."""
        return self.rows[-1].price_per_gpu(self.purchase) or self.likely


def matching(
    accelerator: str, *, provider: str | None = None, region: str | None = None, rows: Iterable[Instance] | None = None
) -> list[Instance]:
    """Offers of that accelerator; a region matches when it is named, or when the offer holds for all of them."""
    found = []
    for row in catalog.instances() if rows is None else rows:
        if row.accelerator != accelerator or (provider is not None and row.provider != provider):
            continue
        anywhere = not row.region or row.region.startswith("all")
        if region is not None and not anywhere and region.casefold() not in row.region.casefold():
            continue
        found.append(row)
    return found


def gpu_hour(
    accelerator: str,
    *,
    purchase: Purchase = "on_demand",
    provider: str | None = None,
    region: str | None = None,
    currency: str | None = None,
) -> Price | None:
    """The listed price of a GPU-hour; None where none is listed. A company's own prices go before the catalog's."""
    priced = [
        row
        for row in matching(accelerator, provider=provider, region=region)
        if row.price_per_gpu(purchase) is not None and (currency is None or row.currency == currency)
    ]
    own = [row for row in priced if row.origin == "price file"]
    if own:
        priced = own
    if not priced:
        return None
    if currency is None:
        main = max({row.currency for row in priced}, key=lambda code: sum(row.currency == code for row in priced))
        priced = [row for row in priced if row.currency == main]
    cheapest: dict[str, Instance] = {}
    for row in priced:
        known = cheapest.get(row.provider)
        if known is None or (row.price_per_gpu(purchase) or 0) < (known.price_per_gpu(purchase) or 0):
            cheapest[row.provider] = row
    rows = tuple(sorted(cheapest.values(), key=lambda row: row.price_per_gpu(purchase) or 0))
    likely = median(row.price_per_gpu(purchase) or 0 for row in rows)
    return Price(likely, rows[0].currency, rows, purchase, "price file" if own else "catalog")
