from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.compare_purchase_options import TOOL, daly_seconds, lost_share, young_seconds


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def test_the_best_checkpoint_interval() -> None:
    result = run("zh", checkpoint_seconds="5分钟", interruption_hours="12小时")
    assert result.result["checkpoint_interval_seconds"] == pytest.approx(math.sqrt(2 * 300 * 43_200))
    headline = TOOL.present(result, "zh").headline
    assert "84.9 分钟" in headline and "Young" in headline
    assert "84.9 minutes" in TOOL.present(result, "en").headline
    assert {source.name.split()[0] for source in result.sources} == {"Young", "Daly"}


def test_a_monthly_price_against_hours() -> None:
    result = run(on_demand_price_per_hour=65, reserved_price_per_month=30_000, hours_per_month=500, currency="USD")
    assert result.result["best"] == "reserved"
    assert result.result["saving"] == pytest.approx(2500)
    assert result.result["break_even_hours_per_month"] == pytest.approx(30_000 / 65)


def test_a_discount_alone_gives_the_break_even() -> None:
    result = run(reserved_discount="55%", commitment_years=3)
    assert result.result["break_even_utilization"] == pytest.approx(0.45)


def test_spot_with_interruptions() -> None:
    result = run(
        on_demand_price_per_hour="$98/hour", spot_discount=0.7, hours=100, interruption_hours=8,
        checkpoint_seconds=180, restart_seconds=600,
    )  # fmt: skip
    interval = young_seconds(180, 8 * 3600)
    lost = 180 / interval + (interval / 2 + 600) / (8 * 3600)
    assert result.result["lost_share"] == pytest.approx(lost)
    spot = next(option for option in result.result["options"] if option["option"] == "spot")
    assert spot["cost"] == pytest.approx(98 * 0.3 * 100 * (1 + lost))
    assert result.result["best"] == "spot"


def test_light_use_stays_on_demand_by_published_discounts() -> None:
    result = run("zh", hours_per_day=10)
    assert result.result["best"] == "on_demand"
    low, high = result.result["break_even_utilization_range"]
    assert low <= result.result["break_even_utilization"] <= high
    assert result.inputs["reserved_discount"].origin == "catalog"


def test_listed_prices_are_dated_and_stated_ones_beat_them() -> None:
    listed = run(gpu="H100", gpu_count=8, hours=336)
    assert listed.inputs["on_demand_price_per_hour"].origin == "catalog"
    assert listed.sources
    stated = run(
        gpu="H100", gpu_count=8, hours=336, on_demand_price_per_hour=20, spot_price_per_hour=30, currency="USD"
    )
    assert stated.result["on_demand_price"] == 20
    assert stated.inputs["on_demand_price_per_hour"].origin == "question"
    assert stated.result["best"] == "on_demand"


def test_failures_of_a_cluster_are_scaled_from_a_published_run() -> None:
    result = run(checkpoint_seconds=180, gpu_count=1000)
    assert result.result["interruption_seconds"] == pytest.approx(54 * 24 * 16_384 / 419 / 1000 * 3600)
    assert any("Llama 3" in source.name for source in result.sources)


def test_a_stated_interval_is_compared_with_the_best() -> None:
    result = run(checkpoint_seconds=180, interruption_hours=8, checkpoint_interval_seconds=600)
    assert result.result["least_lost_share"] < result.result["lost_share"]


def test_missing_and_impossible() -> None:
    with pytest.raises(MissingInputs) as error:
        run("zh")
    assert len(error.value.fields) == 2
    with pytest.raises(MissingInputs, match="interrupted"):
        run(checkpoint_seconds=240)
    with pytest.raises(InvalidField, match="longer than the mean time"):
        run(checkpoint_seconds=200, interruption_hours=0.01)
    with pytest.raises(InvalidField) as field:
        run(hours_per_day=25)
    assert field.value.field == "hours_per_day"


@given(st.floats(1, 1e4), st.floats(3600, 1e7), st.floats(0.2, 5))
def test_young_loses_least(write: float, between: float, off: float) -> None:
    best = young_seconds(write, between)
    assert lost_share(write, best, between, 0) <= lost_share(write, best * off, between, 0) * (1 + 1e-12)


@given(st.floats(1, 100), st.floats(1e5, 1e8))
def test_daly_comes_near_young_when_writing_is_short(write: float, between: float) -> None:
    assert daly_seconds(write, between) == pytest.approx(young_seconds(write, between), rel=0.05)


@given(st.floats(0.01, 0.9), st.floats(0.01, 1))
def test_the_commitment_wins_exactly_above_its_break_even(discount: float, use: float) -> None:
    result = run(reserved_discount=discount, utilization=use).result
    if abs(use - (1 - discount)) > 1e-6:
        assert (result["best"] == "reserved") == (use > result["break_even_utilization"])
