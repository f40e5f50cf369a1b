from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.estimate_storage import TOOL


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def test_checkpoints_of_a_run() -> None:
    result = run(parameters="7B", steps="20k steps", save_every_steps=1000, keep_last=3)
    assert result.result["checkpoint_bytes"] == 98e9
    assert result.result["checkpoint_count"] == 20
    assert result.result["checkpoints_bytes"] == pytest.approx(1.96e12)
    assert result.result["kept_bytes"] == pytest.approx(294e9)
    assert result.result["weights_bytes"] == pytest.approx(14e9)
    headline = TOOL.present(result, "en").headline
    assert "98 GB" in headline and "1.96 TB" in headline and "294 GB" in headline


def test_a_synchronous_save_stalls_training() -> None:
    result = run("zh", parameters="70B", save_every_seconds="1小时", write_bytes_per_second="2GB/s")
    assert result.result["write_seconds"] == pytest.approx(490)
    assert result.result["lost_share"] == pytest.approx(0.1361, rel=1e-3)
    headline = TOOL.present(result, "zh").headline
    assert "490 秒" in headline and "13.6%" in headline and "异步" in headline and "分片" in headline


def test_a_cheap_save_needs_no_advice() -> None:
    result = run(parameters="7B", save_every_seconds="2 hours", write_bytes_per_second="5GB/s")
    assert result.warnings == []


def test_price_copies_and_archive() -> None:
    price = {"volume_bytes": "80T", "price_per_gb_month": "0.12元/GB/月"}
    one = run("zh", **price)
    assert (one.result["monthly_cost"], one.result["currency"]) == (pytest.approx(9600), "CNY")
    assert run("zh", **price, copies=3).result["monthly_cost"] == pytest.approx(28_800)
    half = run("zh", **price, archive_share="一半", archive_price_per_gb_month=0.033)
    assert half.result["monthly_cost"] == pytest.approx(6120)
    assert "¥6,120" in TOOL.present(half, "zh").headline


def test_the_model_of_the_catalog_gives_its_size() -> None:
    result = run(model="Llama 3 8B", weights_only=True)
    assert result.result["checkpoint_bytes"] == pytest.approx(16.06e9, rel=0.01)
    assert result.inputs["parameters"].origin == "catalog"


def test_without_a_price_the_listed_ones_give_a_range() -> None:
    result = run(volume_bytes="100TB")
    low, high = result.result["monthly_cost_range"]
    assert low < result.result["monthly_cost"] < high
    assert all(source.as_of for source in result.sources)
    assert any("older than" in warning for warning in result.warnings)


def test_bill_volume_and_price_from_one_another() -> None:
    assert run(monthly_cost="$500", price_per_gb_month=0.02).result["volume_bytes"] == pytest.approx(25e12)
    assert run(monthly_cost="$500", volume_bytes="25TB").result["price_per_gb_month"] == pytest.approx(0.02)


def test_throughput_for_the_gpus() -> None:
    result = run(gpu_count=32, examples_per_second_per_gpu=400, bytes_per_example="150 KB")
    assert result.result["read_bytes_per_second"] == pytest.approx(32 * 400 * 150e3)


def test_tokens_on_disk() -> None:
    assert run(tokens="2T tokens").result["dataset_bytes"] == 8e12


def test_project_cost() -> None:
    result = run(volume_bytes="40TB", price_per_gb_month="$0.023/GB/month", months="6 months")
    assert result.result["cost"] == pytest.approx(40_000 * 0.023 * 6)


def test_a_cloud_without_sourced_price_is_asked_for() -> None:
    with pytest.raises(MissingInputs, match="单价"):
        run("zh", volume_bytes="100TB", provider="阿里云")


def test_missing_and_impossible() -> None:
    with pytest.raises(MissingInputs):
        run()
    with pytest.raises(MissingInputs):
        run(keep_last=5)
    with pytest.raises(InvalidField, match="at least 1"):
        run(volume_bytes="1TB", copies=0)
    with pytest.raises(InvalidField, match="greater than 0"):
        run(parameters="7B", write_bytes_per_second=0)


@given(st.floats(1e9, 1e18), st.floats(1.0, 3.0), st.floats(1e-4, 10), st.integers(1, 5))
def test_more_never_costs_less(volume: float, factor: float, price: float, copies: int) -> None:
    one = run(volume_bytes=volume, price_per_gb_month=price, copies=copies).result["monthly_cost"]
    more = run(volume_bytes=volume * factor, price_per_gb_month=price, copies=copies).result["monthly_cost"]
    another = run(volume_bytes=volume, price_per_gb_month=price, copies=copies + 1).result["monthly_cost"]
    assert more >= one
    assert another > one


@given(st.floats(1e9, 1e18), st.floats(1e-3, 10))
def test_volume_to_cost_and_back(volume: float, price: float) -> None:
    monthly = run(volume_bytes=volume, price_per_gb_month=price).result["monthly_cost"]
    if monthly <= 1e12:
        assert run(monthly_cost=monthly, price_per_gb_month=price).result["volume_bytes"] == pytest.approx(volume)
