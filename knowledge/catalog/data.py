"""Reads the catalog's CSV files into typed rows; each file is read once, when it is first asked for."""

from __future__ import annotations

import csv
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from knowledge.catalog import records
from knowledge.catalog.records import (
    Accelerator,
    Commitment,
    DedicatedLine,
    GridCarbon,
    Instance,
    MemoryMeasurement,
    MfuMeasurement,
    Model,
    Notice,
    OfflineDevice,
    PowerUsage,
    Provenance,
    PublishedRun,
    SpotTerm,
    StoragePrice,
    TransferPrice,
)

FOLDER = Path(__file__).parent / "data"
Row = TypeVar("Row")

_FILES: Mapping[type[Any], str] = {
    Accelerator: "accelerators.csv",
    Model: "models.csv",
    Instance: "instances.csv",
    StoragePrice: "storage_prices.csv",
    TransferPrice: "transfer_prices.csv",
    DedicatedLine: "dedicated_lines.csv",
    OfflineDevice: "offline_devices.csv",
    Commitment: "commitments.csv",
    SpotTerm: "spot_terms.csv",
    GridCarbon: "grid_carbon.csv",
    PowerUsage: "power_usage.csv",
    Notice: "notices.csv",
    PublishedRun: "published_runs.csv",
    MfuMeasurement: "mfu_measurements.csv",
    MemoryMeasurement: "memory_measurements.csv",
}
_TYPES: Mapping[str, type[Any]] = {file_name: row_type for row_type, file_name in _FILES.items()}


def _number(text: str) -> float:
    return float(text)


_CONVERTERS: Mapping[Any, Callable[[str], Any]] = {
    float: _number,
    int: lambda text: int(float(text)),
    bool: lambda text: text == "yes",
    str: str,
}


def _converters(row_type: type[Any]) -> dict[str, tuple[Callable[[str], Any], bool]]:
    """For each field but the source: its converter, and whether a blank means None."""
    hints = typing.get_type_hints(row_type, vars(records))
    result = {}
    for field in fields(row_type):
        if field.name in ("source", "origin"):
            continue
        options = typing.get_args(hints[field.name])
        optional = type(None) in options
        plain = next((option for option in options if option in _CONVERTERS), hints[field.name])
        result[field.name] = (_CONVERTERS.get(plain, str), optional)
    return result


def provenance(cells: Mapping[str, str]) -> Provenance:
    """The source columns of a row."""
    as_of = cells["as_of"]
    return Provenance(cells["source"], cells["source_url"] or None, date.fromisoformat(as_of) if as_of else None)


def read(row_type: type[Row]) -> tuple[Row, ...]:
    """All rows of one kind, in the file's order."""
    return _read(_FILES[row_type])


@cache
def _read(file_name: str) -> tuple[Any, ...]:
    row_type = _TYPES[file_name]
    converters = _converters(row_type)
    with (FOLDER / file_name).open(encoding="utf-8", newline="") as file:
        rows = []
        for cells in csv.DictReader(file):
            values = {
                name: None if optional and cells[name] == "" else convert(cells[name])
                for name, (convert, optional) in converters.items()
            }
            rows.append(row_type(**values, source=provenance(cells)))
    return tuple(rows)


@cache
def aliases(kind: str) -> dict[str, str]:
    """Written form to name, for "accelerator", "family" (of models), "provider", "place" (of a grid's region)."""
    with (FOLDER / "aliases.csv").open(encoding="utf-8", newline="") as file:
        return {cells["alias"]: cells["name"] for cells in csv.DictReader(file) if cells["kind"] == kind}
