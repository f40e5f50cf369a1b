from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.compare_cloud_onprem import TOOL


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def test_all_costs_of_owning() -> None:
    result = run(
        server_price="$250k", gpus_per_server=8, years=4, resale_share="20%", maintenance_share=0.05,
        power_watts="10kW", electricity_price=0.12, pue=1.5, staff=0.2, salary_per_year=150_000,
        colocation_per_month=1000, cloud_price_per_gpu_hour=2.5, utilization=0.8,
    ).result  # fmt: skip
    yearly = 250e3 * 0.8 / 4 + 250e3 * 0.05 + 10 * 8760 * 1.5 * 0.12 + 30e3 + 12e3
    assert result["onprem_cost_per_year"] == pytest.approx(yearly)
    assert result["cloud_cost_per_year"] == pytest.approx(8 * 2.5 * 8760 * 0.8)
    assert result["break_even_utilization"] == pytest.approx(yearly / (8 * 2.5 * 8760))
    assert result["cheaper"] == ("own" if result["break_even_utilization"] < 0.8 else "rent")


def test_little_use_speaks_for_renting() -> None:
    result = run("zh", server_price="250万元", cloud_price_per_gpu_hour="12元/卡时", utilization=0.3)
    assert result.result["cheaper"] == "rent"
    assert result.result["currency"] == "CNY"
    headline = TOOL.present(result, "zh").headline
    assert headline.startswith("上云更划算")
    assert "电费" in headline  # what is left out is said


def test_owning_that_never_pays_is_said() -> None:
    result = run(server_price="$900k", cloud_price_per_gpu_hour=2)
    assert result.result["owning_can_pay"] is False
    assert "even at full load" in TOOL.present(result, "en").headline


def test_break_even_in_runs() -> None:
    result = run(server_price="$300k", cloud_price_per_gpu_hour=2.5, gpu_hours_per_run=400).result
    assert result["break_even_gpu_hours_per_year"] == pytest.approx(40_000)
    assert result["break_even_runs_per_year"] == pytest.approx(100)


def test_a_cloud_bill_against_a_purchase() -> None:
    result = run(hardware_cost="$5M", cloud_cost_per_month="$200k/month").result
    assert result["cloud_cost_per_year"] == pytest.approx(2.4e6)
    assert result["payback_years"] == pytest.approx(5 / 2.4)


def test_the_listed_price_is_used_only_when_none_is_stated() -> None:
    listed = run(server_price="$250k", gpu="H100")
    assert listed.inputs["cloud_price_per_gpu_hour"].origin == "catalog"
    assert listed.sources
    stated = run(server_price="$250k", gpu="H100", cloud_price_per_gpu_hour=3)
    assert stated.result["cloud_price_per_gpu_hour"] == pytest.approx(3)


def test_missing_and_impossible() -> None:
    with pytest.raises(MissingInputs) as error:
        run("zh")
    assert error.value.fields == ("server_price", "cloud_price_per_gpu_hour")
    with pytest.raises(InvalidField, match="PUE must be at least 1"):
        run(server_price=1e5, cloud_price_per_gpu_hour=2, pue=0.8)
    with pytest.raises(InvalidField, match="mixed"):
        run(server_price="¥2.5M", cloud_price_per_gpu_hour="$2/GPU-hour")


@given(st.floats(1e4, 1e7), st.floats(0.1, 50), st.floats(1, 10), st.floats(0, 0.5))
def test_at_the_break_even_both_cost_the_same(price: float, rent: float, years: float, resale: float) -> None:
    arguments = {"server_price": price, "cloud_price_per_gpu_hour": rent, "years": years, "resale_share": resale}
    share = run(**arguments).result["break_even_utilization"]
    assume(1e-3 < share <= 1)
    result = run(**arguments, utilization=share).result
    assert result["cloud_cost_per_year"] == pytest.approx(result["onprem_cost_per_year"])


@given(st.floats(1e4, 1e7), st.floats(1.0, 3.0))
def test_dearer_hardware_never_breaks_even_earlier(price: float, factor: float) -> None:
    one, more = (
        run(server_price=value, cloud_price_per_gpu_hour=2.5).result["break_even_utilization"]
        for value in (price, price * factor)
    )
    assert more >= one
