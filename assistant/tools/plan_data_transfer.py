"""Calculator: moving data over a line or on shipped devices; solves for time, bandwidth or volume, and compares.

Time over a line: 8 bits a byte x volume / (bandwidth x usable share). On devices: copy + road + import, where devices
are filled and emptied in parallel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from assistant.errors import InvalidField
from assistant.schema import Language, ToolRun
from assistant.tools import _checks, _transfer_words
from assistant.tools._inputs import GB, Bound, MoneyInputs, ask, check
from assistant.tools.base import Calculation, Filled, Presentation, Tool
from knowledge import catalog, quantities
from knowledge.catalog.records import Provenance, TransferPrice

DAY = 86400.0
USUAL_SHARE = 0.7
"""What of a line's rate is usually left after protocol overhead and other traffic: the pessimistic end of the range."""


class TransferInputs(MoneyInputs):
    """What is moved, over what, by when; of volume, bandwidth and days the missing one is worked out."""

    @model_validator(mode="before")
    @classmethod
    def _read_measured(cls, data: Any) -> Any:
        """A rate written in bytes ("80 MB/s") is what was seen, not what a carrier sells."""
        rate = data.get("bandwidth_bits_per_second") if isinstance(data, Mapping) else None
        if isinstance(rate, str) and "measured" not in data:
            found = quantities.find(rate)
            return {**data, "measured": len(found) == 1 and found[0].unit == "byte/s"}
        return data

    volume_bytes: float | None = Field(None, description="Data to move", json_schema_extra={"unit": "byte"})
    compressed_to: float | None = Field(
        None, description="Size after compression, as a share of the original", json_schema_extra={"unit": "fraction"}
    )
    bandwidth_bits_per_second: float | None = Field(
        None, description="Rate of the line, or the speed measured", json_schema_extra={"unit": "bit/s"}
    )
    compare_bandwidth_bits_per_second: float | None = Field(
        None, description="Another rate to compare with", json_schema_extra={"unit": "bit/s"}
    )
    measured: bool = Field(False, description="The rate is a throughput that was measured, so all of it is usable")
    utilization: float | None = Field(
        None, description="Share of the rate that is usable", json_schema_extra={"unit": "fraction"}
    )
    days: float | None = Field(None, description="Deadline", json_schema_extra={"unit": "day"})
    device_count: float | None = Field(
        None, description="Devices that are filled in parallel", json_schema_extra={"unit": "device"}
    )
    device_capacity_bytes: float | None = Field(
        None, description="Capacity of one device", json_schema_extra={"unit": "byte"}
    )
    device_copy_bytes_per_second: float | None = Field(
        None, description="Speed at which one device is filled", json_schema_extra={"unit": "byte/s"}
    )
    device_import_bytes_per_second: float | None = Field(
        None, description="Speed at which one device is read out; by default that of copying",
        json_schema_extra={"unit": "byte/s"},
    )  # fmt: skip
    shipping_days: float | None = Field(
        None, description="Days on the road, all together", json_schema_extra={"unit": "day"}
    )
    device_price: float | None = Field(None, description="Fee for one device", json_schema_extra={"unit": "money"})
    price_per_gb: float | None = Field(None, description="Traffic fee", json_schema_extra={"unit": "money/GB"})
    line_price_per_month: float | None = Field(None, json_schema_extra={"unit": "money/month"})
    provider: str | None = Field(None, description="Cloud that the data leaves or goes to")
    direction: Literal["in", "out", "inter-region"] = Field(
        "in", description="Into the cloud, out of it to the internet, or between its regions"
    )


_BANDWIDTH = Bound(
    "带宽", "Bandwidth", high=1e16, hint_zh="带宽为 0 传不了：请给出实际有效带宽，或改用离线设备寄送。",
    hint_en="Nothing can be sent over that: give the effective bandwidth, or ship the data on an offline device.",
)  # fmt: skip
BOUNDS = {
    "volume_bytes": Bound("数据量", "The volume", high=1e21),
    "bandwidth_bits_per_second": _BANDWIDTH,
    "compare_bandwidth_bits_per_second": _BANDWIDTH,
    "utilization": Bound("带宽利用率", "The usable share of the line", high=1.0),
    "compressed_to": Bound("压缩后占比", "The size after compression", high=1.0),
    "days": Bound("期限", "The deadline", high=36_500),
    "device_count": Bound("设备数", "The number of devices", low=1, high=1e6, above=False),
    "device_capacity_bytes": Bound("单台容量", "A device's capacity", high=1e18),
    "device_copy_bytes_per_second": Bound("拷贝速度", "The copy speed", high=1e13),
    "device_import_bytes_per_second": Bound("导入速度", "The import speed", high=1e13),
    "shipping_days": Bound("运输天数", "Days on the road", above=False, high=3650),
    "device_price": Bound("设备费", "The device fee", above=False),
    "price_per_gb": Bound("每 GB 单价", "The price a GB", above=False),
    "line_price_per_month": Bound("线路月费", "The line's monthly price", above=False),
}


def line_days(volume: float, bits_per_second: float, share: float = 1.0) -> float:
    """Days that a volume in bytes takes over a line."""
    return volume * 8 / (bits_per_second * share) / DAY


def device_days(volume: float, count: float, copy: float, imported: float, road: float, trips: int = 1) -> float:
    """Days for devices that work in parallel: each holds its share, is filled, travels and is read out."""
    each = volume / count
    return each / copy / DAY + road * trips + each / imported / DAY


def break_even_bytes(bits_per_second: float, count: float, copy: float, imported: float, road: float) -> float | None:
    """The volume from which devices are faster than the line; None when the line always is."""
    per_byte = 8 / bits_per_second - (1 / copy + 1 / imported) / count
    return road * DAY / per_byte if per_byte > 0 else None


def _calculate(inputs: TransferInputs, language: Language) -> Calculation:
    check(inputs, BOUNDS, language)
    filled: dict[str, Filled] = {}
    used: list[Provenance] = []
    share = 1.0 if inputs.utilization is None else inputs.utilization
    low_share = USUAL_SHARE if inputs.utilization is None and not inputs.measured else share
    if inputs.utilization is None:
        filled["utilization"] = Filled(1.0, "default", "fraction")
    result = _line(inputs, share, low_share, language)
    if _mentions_devices(inputs):
        _devices(inputs, result, language)
    _compare(inputs, result, share)
    _costs(inputs, result, used, filled)
    return Calculation(
        result=result,
        formula=_transfer_words.formula(result),
        filled=filled,
        assumptions=_transfer_words.assumptions(inputs.model_dump(), result, language),
        warnings=(*_notices(inputs, used, language), *_checks.age_warnings(_prices(used), language)),
        sources=_checks.sources(used),
    )


def _mentions_devices(inputs: TransferInputs) -> bool:
    return any((inputs.device_count, inputs.device_capacity_bytes, inputs.device_copy_bytes_per_second))


def _asks_for_fees(inputs: TransferInputs) -> bool:
    """Whether the volume alone can be answered: with what its traffic costs."""
    return inputs.price_per_gb is not None or inputs.direction != "in"


def _line(inputs: TransferInputs, share: float, low_share: float, language: Language) -> dict[str, Any]:
    """What the line gives: the missing one of volume, rate and days."""
    volume, rate, days = inputs.volume_bytes, inputs.bandwidth_bits_per_second, inputs.days
    kept = inputs.compressed_to or 1.0
    alone = (_mentions_devices(inputs) or _asks_for_fees(inputs)) and volume is not None and rate is None
    if not alone and sum(value is not None for value in (volume, rate, days)) < 2:
        missing = []
        if volume is None:
            missing.append(("volume_bytes", "要传多少数据（如 200 TB）", "how much data it is (such as 200 TB)"))
        if rate is None and days is None:
            missing.append(
                (
                    "bandwidth_bits_per_second",
                    "带宽多少（如 10 Gbps），或者希望几天内传完",
                    "the bandwidth (such as 10 Gbps), or by when it must be done",
                )
            )
        ask(missing, language)
    result: dict[str, Any] = {"utilization": share}
    if volume is None and rate is not None and days is not None:
        result |= {"solved": "volume_bytes", "bandwidth_bits_per_second": rate, "days": days}
        result["transferred_bytes"] = rate * share * days * DAY / 8
        result["volume_bytes"] = result["transferred_bytes"] / kept
        if low_share < share:
            result["volume_bytes_range"] = [result["volume_bytes"] * low_share / share, result["volume_bytes"]]
        return result
    volume = volume or 0.0
    result |= {"volume_bytes": volume, "transferred_bytes": volume * kept}
    if rate is None and days is not None:
        needed = volume * kept * 8 / (days * DAY)
        result |= {"solved": "bandwidth_bits_per_second", "days": days, "bandwidth_bits_per_second": needed / share}
        if low_share < share:
            result["bandwidth_bits_per_second_range"] = [needed / share, needed / low_share]
    elif rate is not None:
        result |= {"solved": "days", "bandwidth_bits_per_second": rate}
        result["days"] = line_days(volume * kept, rate, share)
        result["effective_bytes_per_second"] = rate * share / 8
        if low_share < share:
            result["days_range"] = [result["days"], result["days"] * share / low_share]
        if days is not None:
            result |= {"deadline_days": days, "meets_deadline": result["days"] <= days}
            result["bandwidth_for_deadline"] = volume * kept * 8 / (days * DAY * share)
    return result


def _devices(inputs: TransferInputs, result: dict[str, Any], language: Language) -> None:
    """Devices, trips and days of the offline way, and where the choice flips."""
    capacity, count = inputs.device_capacity_bytes, inputs.device_count
    if "volume_bytes" not in result:
        return
    volume = result["transferred_bytes"]
    if count is None and capacity is not None:
        count = float(math.ceil(volume / capacity - 1e-9))
        result["device_count_solved"] = True
    count = float(math.ceil(count or 1.0))
    trips = max(1, math.ceil(volume / (count * capacity) - 1e-9)) if capacity is not None else 1
    result |= {"device_count": int(count), "device_trips": trips}
    copy, road = inputs.device_copy_bytes_per_second, inputs.shipping_days
    if copy is None or road is None:
        if "days" not in result and not result.get("device_count_solved"):
            missing = (
                []
                if copy
                else [("device_copy_bytes_per_second", "每台设备的拷贝速度", "how fast one device is filled")]
            )
            missing += [] if road is not None else [("shipping_days", "路上要几天", "how many days it is on the road")]
            ask(missing, language)
        return
    imported = inputs.device_import_bytes_per_second or copy
    offline = device_days(volume, count, copy, imported, road, trips)
    result |= {
        "device_days": offline,
        "device_copy_days": volume / count / copy / DAY,
        "device_import_days": volume / count / imported / DAY,
        "shipping_days": road * trips,
    }
    if result.get("solved") == "days":
        effective = result["bandwidth_bits_per_second"] * result["utilization"]
        result["faster"] = "line" if result["days"] <= offline else "devices"
        result["days_saved"] = abs(result["days"] - offline)
        flips = break_even_bytes(effective, count, copy, imported, road)
        if flips is not None and trips == 1:
            result["break_even_bytes"] = flips
    deadline = inputs.days
    if deadline is not None:
        result["devices_meet_deadline"] = offline <= deadline


def _compare(inputs: TransferInputs, result: dict[str, Any], share: float) -> None:
    other = inputs.compare_bandwidth_bits_per_second
    if other is None or result.get("solved") != "days":
        return
    result["compare_bandwidth_bits_per_second"] = other
    result["compare_days"] = line_days(result["transferred_bytes"], other, share)
    result["bandwidth_ratio"] = max(other, result["bandwidth_bits_per_second"]) / min(
        other, result["bandwidth_bits_per_second"]
    )


def _costs(inputs: TransferInputs, result: dict[str, Any], used: list[Provenance], filled: dict[str, Filled]) -> None:
    """Traffic fees, stated or listed; the line's months; the devices' fees."""
    volume_gb = result["transferred_bytes"] / GB
    currency = inputs.currency or "USD"
    if inputs.price_per_gb is not None:
        result["traffic_cost"] = volume_gb * inputs.price_per_gb
    elif inputs.direction != "in":
        currency = _listed_fees(inputs, volume_gb, result, used, filled) or currency
    if inputs.line_price_per_month is not None and "days" in result:
        result["line_cost"] = inputs.line_price_per_month * math.ceil(result["days"] / 30 - 1e-9)
    if inputs.device_price is not None and "device_count" in result:
        result["device_cost"] = inputs.device_price * result["device_count"] * result["device_trips"]
    if any(name in result for name in ("traffic_cost", "line_cost", "device_cost")):
        result["currency"] = currency


def _listed_fees(
    inputs: TransferInputs,
    volume_gb: float,
    result: dict[str, Any],
    used: list[Provenance],
    filled: dict[str, Filled],
) -> str | None:
    """Listed traffic fees of the cloud that is named, or of all that list one; gives their currency."""
    kind = "internet egress" if inputs.direction == "out" else "inter-region"
    named = _provider(inputs) if inputs.provider is not None else None
    rows = [row for row in catalog.transfer_prices() if row.kind == kind and named in (None, row.provider)]
    rows = [row for row in rows if row.currency == (inputs.currency or rows[0].currency)]
    if not rows:
        return None
    clouds = dict.fromkeys(row.provider for row in rows)
    costs = sorted((graduated(volume_gb, [row for row in rows if row.provider == name]), name) for name in clouds)
    result["traffic_costs"] = [{"provider": name, "cost": cost} for cost, name in costs]
    result["traffic_cost"] = costs[len(costs) // 2][0]
    if len(costs) > 1:
        result["traffic_cost_range"] = [costs[0][0], costs[-1][0]]
    used += [row.source for row in rows]
    if volume_gb:
        filled["price_per_gb"] = Filled(result["traffic_cost"] / volume_gb, "catalog", f"{rows[0].currency}/GB")
    return rows[0].currency


def graduated(volume_gb: float, steps: list[TransferPrice]) -> float:
    """A month's traffic over a price scale; a free allowance takes the first gigabytes off."""
    free = max((row.to_gb or 0.0 for row in steps if row.price == 0), default=0.0)
    cost = 0.0
    for row in steps:
        if row.price == 0:
            continue
        start, end = max(row.from_gb, free), min(volume_gb, row.to_gb if row.to_gb is not None else math.inf)
        cost += max(0.0, end - start) * row.price
    return cost


def _provider(inputs: TransferInputs) -> str:
    try:
        return catalog.find_provider(inputs.provider or "")
    except catalog.UnknownName as unknown:
        raise InvalidField("provider", str(unknown), nearest=unknown.nearest) from unknown


def _notices(inputs: TransferInputs, used: list[Provenance], language: Language) -> tuple[str, ...]:
    """What a cloud no longer sells."""
    if inputs.provider is None or (inputs.direction != "in" and not _mentions_devices(inputs)):
        return ()
    provider = _provider(inputs)
    gone = {row.name: row for row in catalog.offline_devices() if row.provider == provider and row.available is False}
    said = []
    for notice in catalog.notices():
        if notice.topic == "availability" and any(name.startswith(notice.subject.split(" ", 1)[-1]) for name in gone):
            said.append(notice.text_zh if language == "zh" else notice.text_en)
            used.append(notice.source)
    return tuple(said)


def _prices(used: list[Provenance]) -> list[Provenance]:
    priced = {row.source for row in catalog.transfer_prices()}
    return [source for source in used if source in priced]


def _present(run: ToolRun, language: Language) -> Presentation:
    return _transfer_words.present(run, language)


TOOL = Tool(
    name="plan_data_transfer",
    title={"zh": "数据传输规划", "en": "Data transfer plan"},
    description={
        "zh": "数据上云或搬迁要几天、要多大带宽、要几台离线设备、多少钱；线路与寄送设备哪个快。",
        "en": "Days, bandwidth, devices and cost of moving data, over a line or on shipped devices, and which is "
        "faster.",
    },
    Inputs=TransferInputs,
    calculate=_calculate,
    present=_present,
)
