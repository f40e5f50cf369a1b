"""A company's own price sheet (CSV or XLSX) as instance offers; every bad row is reported with its line and reason.

Columns, in any order and in either language: provider, instance, gpu, gpu_count, region, price_per_gpu_hour or
price_per_instance_hour (with spot_ and reserved_ forms), currency, as_of, vcpus, memory_gib, network_gbps, rdma, note.
Price per GPU and per instance are different columns; a blank, a dash or 0 means that no price is listed.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from knowledge import quantities
from knowledge.catalog.names import UnknownName, find_accelerator, find_provider
from knowledge.catalog.records import Instance, PriceFile, Problem, Provenance, RowOrigin
from knowledge.errors import InvalidInput

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "provider": ("provider", "cloud", "vendor", "供应商", "云厂商", "厂商", "云"),
    "instance": ("instance", "instance_type", "instance_name", "name", "实例", "实例类型", "实例规格", "规格", "机型"),
    "gpu": ("gpu", "accelerator", "gpu_type", "gpu_model", "card", "卡型", "gpu型号", "显卡", "型号", "加速卡"),
    "gpu_count": ("gpu_count", "gpus", "count", "accelerator_count", "卡数", "gpu数量", "gpu数", "数量", "每台卡数"),
    "region": ("region", "location", "地域", "区域", "地区"),
    "price_per_gpu_hour": ("price_per_gpu_hour", "gpu_hour_price", "单卡每小时", "卡时价", "每卡时", "卡时单价"),
    "price_per_instance_hour": (
        "price_per_instance_hour",
        "price_per_hour",
        "instance_price",
        "on_demand",
        "整机每小时",
        "整机价",
        "每小时价格",
        "实例每小时",
    ),
    "spot_price_per_gpu_hour": ("spot_price_per_gpu_hour", "竞价卡时价", "抢占式卡时价"),
    "spot_price_per_instance_hour": ("spot_price_per_instance_hour", "spot", "竞价整机价", "抢占式整机价"),
    "reserved_price_per_gpu_hour": ("reserved_price_per_gpu_hour", "预留卡时价", "包年卡时价"),
    "reserved_price_per_instance_hour": ("reserved_price_per_instance_hour", "reserved", "预留整机价", "包年整机价"),
    "currency": ("currency", "币种", "货币"),
    "as_of": ("as_of", "date", "日期", "报价日期", "有效日期"),
    "vcpus": ("vcpus", "vcpu", "cpu", "cpu核数"),
    "memory_gib": ("memory_gib", "memory", "ram_gib", "内存", "内存gib"),
    "network_gbps": ("network_gbps", "network", "网络", "网络gbps", "带宽gbps"),
    "rdma": ("rdma", "infiniband", "支持rdma"),
    "note": ("note", "notes", "备注", "说明"),
    "source": ("source", "来源"),
    "source_url": ("source_url", "url", "链接"),
}
_ALIASES = {alias: name for name, aliases in _COLUMNS.items() for alias in aliases}
_NOTHING = frozenset({"", "-", "--", "—", "–", "n/a", "na", "none", "无", "暂无", "/"})
_MAX_PRICE = 1e7
_MAX_GPUS = 1024


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _header(cell: str) -> str:
    text = re.sub(r"[(（\[].*?[)）\]]", "", _fold(cell)).strip().casefold()
    return _ALIASES.get(re.sub(r"[\s-]+", "_", text), "") or _ALIASES.get(re.sub(r"[\s_-]+", "", text), "")


def _decode(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InvalidInput("it is neither UTF-8, UTF-16 nor GB18030; save it as UTF-8")


def _csv_rows(path: Path) -> list[tuple[int, list[str]]]:
    text = _decode(path.read_bytes())
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[tuple[int, list[str]]] = []
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return rows
        rows.append((start, cells))


def _xlsx_rows(path: Path) -> list[tuple[int, list[str]]]:
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        sheet = book.worksheets[0]
        rows: list[tuple[int, list[str]]] = []
        for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
            rows.append((number, ["" if cell is None else _cell_text(cell) for cell in cells]))
        return rows
    finally:
        book.close()


def _cell_text(cell: object) -> str:
    if isinstance(cell, datetime):
        return cell.date().isoformat()
    return str(cell)


def _price(text: str, currency: str) -> float | None:
    """A price as people write it; None where none is listed.

    Raises:
        ValueError: the text is no price.
    """
    folded = _fold(text)
    if folded.casefold() in _NOTHING:
        return None
    plain = folded.replace(",", "")
    value = float(plain) if re.fullmatch(r"[+-]?\d+(\.\d+)?", plain) else quantities.amount(folded, currency)
    if value < 0 or value > _MAX_PRICE:
        raise ValueError(f"price {text!r} is not between 0 and {_MAX_PRICE:,.0f}")
    return value or None


def _per_instance(cells: Mapping[str, str], prefix: str, count: int, currency: str) -> float | None:
    per_gpu = _price(cells.get(f"{prefix}price_per_gpu_hour", ""), currency)
    per_instance = _price(cells.get(f"{prefix}price_per_instance_hour", ""), currency)
    if per_gpu is not None and per_instance is not None and abs(per_gpu * count - per_instance) > 0.01 * per_instance:
        raise ValueError(
            f"{per_gpu:g} a GPU and {per_instance:g} an instance of {count} GPUs contradict each other; keep one"
        )
    return per_instance if per_instance is not None or per_gpu is None else per_gpu * count


def _optional_number(text: str, field: str) -> float | None:
    folded = _fold(text).replace(",", "")
    if folded.casefold() in _NOTHING:
        return None
    try:
        value = float(folded)
    except ValueError:
        raise ValueError(f"{field} {text!r} is not a number") from None
    if value < 0:
        raise ValueError(f"{field} {text!r} is negative")
    return value


def _date(text: str) -> date | None:
    folded = _fold(text)
    if folded.casefold() in _NOTHING:
        return None
    match = re.fullmatch(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?", folded)
    if match is None:
        raise ValueError(f"as_of {text!r} is not a date such as 2026-05-31")
    return date(int(match[1]), int(match[2]), int(match[3]))


def _yes(text: str) -> bool | None:
    folded = _fold(text).casefold()
    if folded in _NOTHING and folded != "无":
        return None
    return folded in {"yes", "true", "1", "y", "是", "有", "支持", "infiniband", "ib", "roce", "efa"}


_CURRENCIES = {"人民币": "CNY", "RMB": "CNY", "元": "CNY", "¥": "CNY", "$": "USD", "美元": "USD", "€": "EUR"}


def _instance(cells: Mapping[str, str], path: Path, origin: RowOrigin) -> Instance:
    """One row.

    Raises:
        ValueError, InvalidInput: what is wrong with the row.
    """
    label = _fold(cells.get("gpu", ""))
    if not label:
        raise ValueError("the gpu column is empty")
    accelerator = find_accelerator(label).row
    count_cell = _optional_number(cells.get("gpu_count", ""), "gpu_count")
    count = 1 if count_cell is None else int(count_cell)
    if count_cell is not None and (count != count_cell or not 1 <= count <= _MAX_GPUS):
        raise ValueError(f"gpu_count {cells['gpu_count']!r} is not a whole number from 1 to {_MAX_GPUS}")
    provider_cell = _fold(cells.get("provider", ""))
    try:
        provider = find_provider(provider_cell) if provider_cell else "own"
    except UnknownName:
        provider = provider_cell
    currency_cell = _fold(cells.get("currency", "")).upper()
    currency = _CURRENCIES.get(currency_cell, currency_cell)
    if not re.fullmatch(r"[A-Z]{3}", currency):
        raise ValueError(f"currency {cells.get('currency', '')!r} is not a code such as CNY or USD")
    vcpus = _optional_number(cells.get("vcpus", ""), "vcpus")
    as_of = _date(cells.get("as_of", ""))
    return Instance(
        provider=provider,
        name=_fold(cells.get("instance", "")) or f"{count} x {label}",
        accelerator=accelerator.name,
        accelerator_label=label,
        accelerator_count=count,
        accelerator_memory_gb=accelerator.memory_gb,
        vcpus=None if vcpus is None else int(vcpus),
        memory_gib=_optional_number(cells.get("memory_gib", ""), "memory_gib"),
        network_gbps=_optional_number(cells.get("network_gbps", ""), "network_gbps"),
        rdma=_yes(cells.get("rdma", "")),
        region=_fold(cells.get("region", "")),
        currency=currency,
        on_demand=_per_instance(cells, "", count, currency),
        reserved=_per_instance(cells, "reserved_", count, currency),
        spot=_per_instance(cells, "spot_", count, currency),
        note=_fold(cells.get("note", "")),
        source=Provenance(cells.get("source") or path.name, cells.get("source_url") or None, as_of),
        origin=origin,
    )


def _named_rows(rows: Iterable[tuple[int, list[str]]], path: Path) -> list[tuple[int, dict[str, str]]]:
    header: list[str] | None = None
    named = []
    for line, cells in rows:
        if not any(_fold(cell) for cell in cells):
            continue
        if header is None:
            header = [_header(cell) for cell in cells]
            if "gpu" not in header or not any(name.endswith("_hour") for name in header):
                raise InvalidInput(
                    f"{path.name}: line {line} has no column for the GPU and a price; "
                    "name them gpu and price_per_gpu_hour or price_per_instance_hour."
                )
            continue
        named.append((line, {name: cell for name, cell in zip(header, cells, strict=False) if name}))
    return named


def read_price_file(path: Path, origin: Literal["catalog", "price file"] = "price file") -> PriceFile:
    """Read a price sheet; rows that can't be used become problems, the others are offers.

    Raises:
        InvalidInput: the file is missing, is no CSV or XLSX, or lacks the columns for a GPU and its price.
    """
    if not path.is_file():
        raise InvalidInput(f"Price file {path} does not exist.")
    try:
        rows = _xlsx_rows(path) if path.suffix.casefold() in (".xlsx", ".xlsm") else _csv_rows(path)
    except Exception as error:
        raise InvalidInput(f"Price file {path.name} can't be read: {error}.") from error
    instances = []
    problems = []
    for line, cells in _named_rows(rows, path):
        try:
            instances.append(_instance(cells, path, origin))
        except (ValueError, InvalidInput) as error:
            problems.append(Problem(path.name, line, str(error)))
    return PriceFile(tuple(instances), tuple(problems))
