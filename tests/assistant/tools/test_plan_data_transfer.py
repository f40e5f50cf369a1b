from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.plan_data_transfer import TOOL

VOLUMES = st.floats(1e9, 1e17)
RATES = st.floats(1e6, 1e13)
SHARES = st.floats(0.05, 1.0)


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def said(result: ToolRun, language: Language = "en") -> str:
    return TOOL.present(result, language).headline


def test_a_petabyte_over_ten_gigabits_at_seventy_percent() -> None:
    result = run("zh", volume_bytes="1PB", bandwidth_bits_per_second="10G专线", utilization="七成")
    assert result.result["days"] == pytest.approx(13.228, rel=1e-3)
    assert "days_range" not in result.result
    assert "13.23 天" in said(result, "zh")


def test_parallel_devices_against_the_line() -> None:
    arguments: dict[str, Any] = {
        "volume_bytes": "300TB",
        "bandwidth_bits_per_second": "1Gbps",
        "utilization": 0.8,
        "device_count": 3,
        "device_capacity_bytes": "100TB",
        "device_copy_bytes_per_second": "300MB/s",
        "shipping_days": 7,
    }
    result = run("zh", **arguments)
    assert result.result["days"] == pytest.approx(34.722, rel=1e-3)
    assert result.result["device_days"] == pytest.approx(14.716, rel=1e-3)
    assert result.result["faster"] == "devices"
    assert result.result["days_saved"] == pytest.approx(20.006, rel=1e-3)
    assert said(result, "zh").startswith("寄设备更快：约 14.72 天，线路要 34.72 天，快约 20.01 天")
    at_break_even = run(
        **{**arguments, "volume_bytes": result.result["break_even_bytes"], "device_capacity_bytes": None}
    )
    assert at_break_even.result["days"] == pytest.approx(at_break_even.result["device_days"])
    small = run(**{**arguments, "volume_bytes": "10TB"})
    assert small.result["faster"] == "line"


def test_compression_shrinks_what_is_sent() -> None:
    result = run(volume_bytes="40TB", bandwidth_bits_per_second="2 Gbps", utilization=0.75, compressed_to="60%")
    assert result.result["days"] == pytest.approx(1.4815, rel=1e-3)
    assert result.result["transferred_bytes"] == pytest.approx(24e12)


def test_bits_and_bytes_are_told_apart_and_explained() -> None:
    result = run(
        "zh", volume_bytes="20TB", bandwidth_bits_per_second="100MB/s", compare_bandwidth_bits_per_second="100Mb/s"
    )
    assert result.result["days"] == pytest.approx(2.3148, rel=1e-3)
    assert result.result["compare_days"] == pytest.approx(18.518, rel=1e-3)
    assert "8 倍" in said(result, "zh")


def test_bandwidth_that_a_deadline_needs() -> None:
    result = run(volume_bytes="400TB", days="10 days", utilization=1)
    assert result.result["bandwidth_bits_per_second"] == pytest.approx(3.7037e9, rel=1e-3)
    late = run("zh", volume_bytes="300TB", days=7, bandwidth_bits_per_second="1Gbps")
    assert late.result["meets_deadline"] is False
    assert "传不完" in said(late, "zh")


def test_volume_that_time_allows() -> None:
    assert run(bandwidth_bits_per_second="2 Gbps", days=2).result["volume_bytes"] == pytest.approx(43.2e12)


def test_whole_devices() -> None:
    result = run(volume_bytes="500TB", device_capacity_bytes="80TB")
    assert result.result["device_count"] == 7
    trips = run(volume_bytes="500TB", device_capacity_bytes="80TB", device_count=2, shipping_days=5,
                device_copy_bytes_per_second="200MB/s")  # fmt: skip
    assert trips.result["device_trips"] == 4


def test_unstated_share_gives_a_range() -> None:
    low, high = run(volume_bytes="50TB", bandwidth_bits_per_second="1Gbps").result["days_range"]
    assert high == pytest.approx(low / 0.7)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_no_bandwidth_is_refused_with_a_way_out(language: Language) -> None:
    with pytest.raises(InvalidField) as error:
        run(language, volume_bytes="50TB", bandwidth_bits_per_second=0)
    assert error.value.field == "bandwidth_bits_per_second"
    assert error.value.accepted and error.value.accepted.startswith("> 0")
    message = str(error.value)
    assert (
        ("必须大于 0" in message and "离线设备" in message)
        if language == "zh"
        else ("greater than 0" in message and "offline device" in message)
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("volume_bytes", -1), ("utilization", 1.5), ("days", 0), ("compressed_to", 0), ("device_count", 0)],
)
def test_the_impossible_names_its_field(field: str, value: float) -> None:
    with pytest.raises(InvalidField) as error:
        run(**{"volume_bytes": 1e12, "bandwidth_bits_per_second": 1e9, field: value})
    assert error.value.field == field


@pytest.mark.parametrize("language", ["zh", "en"])
def test_one_question_for_all_that_is_missing(language: Language) -> None:
    with pytest.raises(MissingInputs) as error:
        run(language)
    assert error.value.fields == ("volume_bytes", "bandwidth_bits_per_second")


def test_egress_is_charged_by_the_scale() -> None:
    result = run(volume_bytes="50TB", bandwidth_bits_per_second="1Gbps", provider="AWS", direction="out")
    # 100 GB free, then 9,900 GB at 0.09 and 40,000 GB at 0.085.
    assert result.result["traffic_cost"] == pytest.approx(9_900 * 0.09 + 40_000 * 0.085)
    assert result.sources and result.sources[0].as_of is not None
    stated = run(volume_bytes="50TB", bandwidth_bits_per_second="1Gbps", provider="AWS", direction="out",
                 price_per_gb="$0.02/GB")  # fmt: skip
    assert stated.result["traffic_cost"] == pytest.approx(1000)
    assert stated.inputs["price_per_gb"].origin == "question"


def test_what_is_no_longer_sold_is_said() -> None:
    result = run(volume_bytes="300TB", bandwidth_bits_per_second="1Gbps", provider="aws")
    assert any("Snowball" in warning for warning in result.warnings)


@given(VOLUMES, RATES, RATES, SHARES)
def test_a_faster_line_never_takes_longer(volume: float, one: float, other: float, share: float) -> None:
    slow, fast = sorted((one, other))
    days = [
        run(volume_bytes=volume, bandwidth_bits_per_second=rate, utilization=share).result["days"]
        for rate in (slow, fast)
    ]
    assert days[1] <= days[0]


@given(VOLUMES, RATES, SHARES)
def test_solving_for_each_and_back(volume: float, rate: float, share: float) -> None:
    days = run(volume_bytes=volume, bandwidth_bits_per_second=rate, utilization=share).result["days"]
    if not 0 < days <= 36_500:
        return
    back = run(volume_bytes=volume, days=days, utilization=share).result["bandwidth_bits_per_second"]
    assert back == pytest.approx(rate)
    assert run(bandwidth_bits_per_second=rate, days=days, utilization=share).result["volume_bytes"] == pytest.approx(
        volume
    )
