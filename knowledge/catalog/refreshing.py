"""Takes current prices through gpuhunt into a dated file, and says what changed against the prices in use."""

from __future__ import annotations

import csv
import logging
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from knowledge.catalog.data import aliases
from knowledge.catalog.names import UnknownName, find_accelerator, find_provider
from knowledge.catalog.offers import REFRESH_PREFIX
from knowledge.catalog.records import Instance
from knowledge.errors import AdvisorError

_HEADER = (
    "provider",
    "instance",
    "gpu",
    "gpu_count",
    "region",
    "currency",
    "price_per_instance_hour",
    "spot_price_per_instance_hour",
    "vcpus",
    "memory_gib",
    "as_of",
    "source",
    "source_url",
)
_SOURCE = ("gpuhunt", "https://github.com/dstackai/gpuhunt")


class RefreshFailed(AdvisorError):
    """Current prices could not be had; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Change:
    """A price that is new, gone or different: on-demand, for the whole instance, an hour."""

    provider: str
    instance: str
    region: str
    currency: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Refresh:
    """A finished refresh."""

    path: Path
    rows: int
    changes: tuple[Change, ...]


def _query() -> list[Any]:
    """All GPU offers that gpuhunt knows of without an account.

    Raises:
        RefreshFailed: gpuhunt is not installed, or its catalog can't be reached.
    """
    try:
        from gpuhunt import Catalog
    except ImportError as error:
        raise RefreshFailed("Prices were not refreshed: gpuhunt is not installed. Run: pip install gpuhunt.") from error
    logging.getLogger("gpuhunt").setLevel(logging.CRITICAL)
    catalog = Catalog(auto_reload=False)
    try:
        catalog.load()
        return list(catalog.query(min_gpu_count=1, provider=sorted(catalog.catalog)))
    except Exception as error:
        reason = error.__cause__ or error
        raise RefreshFailed(
            f"Prices were not refreshed and nothing was changed: the price catalog can't be reached ({reason})."
        ) from error


def _rows(items: Iterable[Any], today: date) -> list[dict[str, str]]:
    merged: dict[tuple[str, str, str], dict[str, str]] = {}
    for item in items:
        label = f"{item.gpu_name} {item.gpu_memory:g}GB" if item.gpu_memory else str(item.gpu_name)
        try:
            label = find_accelerator(label).row.name
        except UnknownName:
            continue
        provider = find_provider(item.provider) if item.provider in aliases("provider") else item.provider
        key = (provider, item.instance_name, item.location)
        row = merged.setdefault(
            key,
            {
                "provider": provider,
                "instance": item.instance_name,
                "gpu": label,
                "gpu_count": str(item.gpu_count),
                "region": item.location,
                "currency": "USD",
                "vcpus": str(item.cpu),
                "memory_gib": f"{item.memory:g}",
                "as_of": today.isoformat(),
                "source": _SOURCE[0],
                "source_url": _SOURCE[1],
            },
        )
        column = "spot_price_per_instance_hour" if item.spot else "price_per_instance_hour"
        if item.price > 0 and float(row.get(column) or "inf") > item.price:
            row[column] = f"{item.price:g}"
    return [merged[key] for key in sorted(merged)]


def _write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """Write beside the target, then rename, so that a reader sees the old file or the whole new one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".prices-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, _HEADER, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _changes(before: Sequence[Instance], rows: Sequence[dict[str, str]]) -> tuple[Change, ...]:
    old = {(row.provider, row.name, row.region): row.on_demand for row in before if row.origin == "catalog"}
    changes = []
    for row in rows:
        key = (row["provider"], row["instance"], row["region"])
        price = row.get("price_per_instance_hour")
        after = float(price) if price else None
        known = old.get(key)
        same = known == after or (known is not None and after is not None and abs(known - after) <= 0.001 * known)
        if key not in old or not same:
            changes.append(Change(*key, row["currency"], known, after))
    return tuple(changes)


def refresh_prices(folder: Path, in_use: Sequence[Instance], *, today: date | None = None) -> Refresh:
    """Write today's prices to `folder`/prices-YYYY-MM-DD.csv.

    Raises:
        RefreshFailed: no prices could be had; no file was written.
    """
    now = today or date.today()
    rows = _rows(_query(), now)
    if not rows:
        raise RefreshFailed("Prices were not refreshed and nothing was changed: the price catalog had no known GPU.")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{REFRESH_PREFIX}{now.isoformat()}.csv"
    _write(path, rows)
    return Refresh(path, len(rows), _changes(in_use, rows))
