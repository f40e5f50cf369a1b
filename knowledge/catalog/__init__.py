"""Models, accelerators, instances, prices and published runs, each row with its source and date.

Rows (`knowledge.catalog.records`, units in the field names), as tuples that are read once:
    accelerators()  models()  instances()  storage_prices()  transfer_prices()  dedicated_lines()  offline_devices()
    commitments()  spot_terms()  grid_carbon()  power_usage()  notices()  published_runs()  mfu_measurements()
    memory_measurements()

`instances()` are the offers in use: the shipped ones, or what `use(load_offers(price_files, folder=...))` set, in
which a company's own prices override (`row.origin == "price file"`).

Names as people write them:
    find_accelerator("a100-80g") -> Match(row, others)    UnknownName(.nearest)
    find_model("llama3 70b") -> Match(row, others)        UnknownName, AmbiguousName(.candidates)
    find_provider("阿里云") -> "aliyun"
    mentions("8 张 A100 训 Llama 3 70B") -> [Mention(kind, name, start, end, candidates), ...]

Age: `stale([row.source, ...])` gives the sources that are older than allowed (`current().max_age_days`).
For the command line: `list_rows(kind)`, `show(name)`, `check(paths)`, `refresh(folder)`; `KINDS` are the kinds.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

from knowledge.catalog import data, records
from knowledge.catalog.age import DEFAULT_MAX_AGE_DAYS, stale
from knowledge.catalog.mentions import Mention, mentions
from knowledge.catalog.names import AmbiguousName, Match, UnknownName, find_accelerator, find_model, find_provider
from knowledge.catalog.offers import Offers, current, load_offers, newest_refresh, read_price_file, use, using
from knowledge.catalog.records import PriceFile, Problem, Provenance
from knowledge.catalog.refreshing import Change, Refresh, RefreshFailed, refresh_prices
from knowledge.catalog.views import KINDS, Report, check, list_rows, show

__all__ = [
    "DEFAULT_MAX_AGE_DAYS",
    "KINDS",
    "AmbiguousName",
    "Change",
    "Match",
    "Mention",
    "Offers",
    "PriceFile",
    "Problem",
    "Provenance",
    "Refresh",
    "RefreshFailed",
    "Report",
    "UnknownName",
    "accelerators",
    "check",
    "commitments",
    "current",
    "dedicated_lines",
    "find_accelerator",
    "find_model",
    "find_provider",
    "grid_carbon",
    "instances",
    "list_rows",
    "load_offers",
    "memory_measurements",
    "mentions",
    "mfu_measurements",
    "models",
    "newest_refresh",
    "notices",
    "offline_devices",
    "power_usage",
    "published_runs",
    "read_price_file",
    "refresh",
    "show",
    "spot_terms",
    "stale",
    "storage_prices",
    "transfer_prices",
    "use",
    "using",
]


def accelerators() -> tuple[records.Accelerator, ...]:
    """GPUs and other accelerators; the first of a family is what its bare name means."""
    return data.read(records.Accelerator)


def models() -> tuple[records.Model, ...]:
    """Models with their shapes; of one family and size, the newest last."""
    return data.read(records.Model)


def instances() -> tuple[records.Instance, ...]:
    """Instance offers in use, one row an instance type and region."""
    return current().instances


def storage_prices() -> tuple[records.StoragePrice, ...]:
    """Object and block storage, a GB and month."""
    return data.read(records.StoragePrice)


def transfer_prices() -> tuple[records.TransferPrice, ...]:
    """Egress, inter-region traffic and online transfer services, a GB, in steps of a month's volume."""
    return data.read(records.TransferPrice)


def dedicated_lines() -> tuple[records.DedicatedLine, ...]:
    """Ports of private circuits."""
    return data.read(records.DedicatedLine)


def offline_devices() -> tuple[records.OfflineDevice, ...]:
    """Appliances that data is shipped on; `available` is False for those no longer sold."""
    return data.read(records.OfflineDevice)


def commitments() -> tuple[records.Commitment, ...]:
    """Discounts for one and three years."""
    return data.read(records.Commitment)


def spot_terms() -> tuple[records.SpotTerm, ...]:
    """Interruption rates, notice times and discounts of interruptible capacity."""
    return data.read(records.SpotTerm)


def grid_carbon() -> tuple[records.GridCarbon, ...]:
    """Carbon intensity of the grid by region."""
    return data.read(records.GridCarbon)


def power_usage() -> tuple[records.PowerUsage, ...]:
    """PUE by provider."""
    return data.read(records.PowerUsage)


def notices() -> tuple[records.Notice, ...]:
    """End of sales, export rules, price changes."""
    return data.read(records.Notice)


def published_runs() -> tuple[records.PublishedRun, ...]:
    """Training runs as their authors reported them."""
    return data.read(records.PublishedRun)


def mfu_measurements() -> tuple[records.MfuMeasurement, ...]:
    """Measured utilisation that the MFU model is fitted on."""
    return data.read(records.MfuMeasurement)


def memory_measurements() -> tuple[records.MemoryMeasurement, ...]:
    """Memory of published runs, a GPU."""
    return data.read(records.MemoryMeasurement)


def refresh(folder: Path, *, today: date | None = None) -> Refresh:
    """Take current prices into a dated file of `folder`; what changed is in `.changes`.

    Raises:
        RefreshFailed: no prices could be had; nothing was changed.
    """
    return refresh_prices(folder, load_offers(folder=folder).instances, today=today)
