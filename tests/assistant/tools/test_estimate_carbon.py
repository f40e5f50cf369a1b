from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.estimate_carbon import TOOL


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def test_the_published_figures_of_llama_65b() -> None:
    # arXiv 2302.13971, table 15: 1,022,362 GPU-hours of A100 at 400 W, PUE 1.1 and 0.385 kg/kWh are 449 MWh and 173 t.
    result = run(gpu_hours=1_022_362, power_watts=400, pue=1.1, grid_grams_per_kwh="0.385 kg/kWh").result
    assert result["energy_kwh"] == pytest.approx(449_000, rel=0.005)
    assert result["co2_tonnes"] == pytest.approx(173, rel=0.005)


def test_gpus_over_days_in_a_region() -> None:
    result = run(gpu="A100", gpu_count=64, days=30, pue=1.2, region="europe-north1")
    assert result.result["energy_kwh"] == pytest.approx(64 * 720 * 0.4 * 1.2)
    assert result.result["place"] == "Finland"
    assert result.inputs["grid_grams_per_kwh"].origin == "catalog"


def test_without_a_region_the_regions_give_the_range() -> None:
    low, high = run(gpu="H100", gpu_hours=1e6).result["co2_tonnes_range"]
    assert low < run(gpu="H100", gpu_hours=1e6).result["co2_tonnes"] < high


def test_moving_to_another_region() -> None:
    result = run(gpu="H100", gpu_hours=1000, region="us-east-1", compare_region="eu-north-1")
    assert result.result["co2_tonnes_saved"] > 0
    assert "less" in TOOL.present(result, "en").headline


def test_greener_regions_are_ordered() -> None:
    grams = [row["grams_per_kwh"] for row in run(gpu="H100", gpu_hours=10).result["greener_regions"]]
    assert grams == sorted(grams)


def test_metered_energy_needs_no_gpu() -> None:
    result = run("zh", energy_kwh="100万度电", grid_grams_per_kwh=580)
    assert result.result["co2_tonnes"] == pytest.approx(580)


def test_energy_tells_the_gpu_hours() -> None:
    result = run(energy_kwh=449_000, power_watts=400, pue=1.1).result
    assert result["gpu_hours"] == pytest.approx(1_020_454, rel=1e-3)


def test_electricity_cost() -> None:
    result = run(gpu_hours=1000, power_watts=700, pue=1.2, grid_grams_per_kwh=400, electricity_price="0.6元/度").result
    assert (result["electricity_cost"], result["currency"]) == (pytest.approx(504), "CNY")


def test_missing_and_impossible() -> None:
    with pytest.raises(MissingInputs) as error:
        run("zh")
    assert error.value.fields == ("gpu_hours", "gpu")
    with pytest.raises(InvalidField) as region:
        run(gpu="H100", gpu_hours=10, region="narnia")
    assert region.value.field == "region" and region.value.nearest
    with pytest.raises(InvalidField) as gpu:
        run(gpu="H9000", gpu_hours=10)
    assert gpu.value.nearest
    with pytest.raises(InvalidField, match="PUE"):
        run(gpu="H100", gpu_hours=10, pue=0.9)


@given(st.floats(1, 1e9), st.floats(1.0, 4.0), st.floats(1, 3), st.floats(1, 1000))
def test_more_hours_never_emit_less(hours: float, factor: float, pue: float, grams: float) -> None:
    one, more = (
        run(gpu_hours=value, power_watts=400, pue=pue, grid_grams_per_kwh=grams).result["co2_tonnes"]
        for value in (hours, hours * factor)
    )
    assert more >= one


@given(st.floats(1, 1e9), st.floats(50, 2000), st.floats(1, 3))
def test_hours_to_energy_and_back(hours: float, watts: float, pue: float) -> None:
    energy = run(gpu_hours=hours, power_watts=watts, pue=pue, grid_grams_per_kwh=1).result["energy_kwh"]
    back = run(energy_kwh=energy, power_watts=watts, pue=pue, grid_grams_per_kwh=1).result["gpu_hours"]
    assert back == pytest.approx(hours)
