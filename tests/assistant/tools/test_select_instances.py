from __future__ import annotations

from typing import Any

import pytest

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.select_instances import TOOL


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def test_hard_constraints_hold_and_the_rest_is_explained() -> None:
    result = run(gpu="H100", gpu_count=16, rdma=True).result
    assert result["offers"]
    for offer in result["offers"]:
        assert offer["gpu"].startswith("H100") and offer["rdma"] is True
        assert offer["instances"] * offer["gpus_per_instance"] >= 16
    reasons = {item["reason"] for item in result["left_out"]}
    assert {"gpu", "rdma"} <= reasons


def test_they_are_ranked_by_price_for_useful_compute() -> None:
    values = [offer["price_per_exaflop"] for offer in run(gpu="A100").result["offers"]]
    assert values == sorted(values)


def test_a_bare_name_means_all_its_sizes_a_full_one_only_itself() -> None:
    assert len({offer["gpu"] for offer in run(gpu="A100").result["offers"]}) > 1
    assert {offer["gpu"] for offer in run(gpu="A100 40GB").result["offers"]} == {"A100-SXM-40GB"}


def test_a_job_sets_count_time_and_cost() -> None:
    result = run(model="qwen2.5 7b", method="full", tokens=1e10, days=3).result
    for offer in result["offers"]:
        assert offer["days"] <= 3
        assert offer["cost"] == pytest.approx(offer["days"] * 24 * offer["price_per_hour"])
    costs = [offer["cost"] for offer in result["offers"]]
    assert costs == sorted(costs)


def test_a_budget_is_never_passed() -> None:
    result = run(model="qwen2.5 7b", method="full", tokens=1e10, budget=900).result
    assert result["offers"] and all(offer["cost"] <= 900 for offer in result["offers"])
    assert any(item["reason"] == "budget" for item in result["left_out"])


def test_stated_offers_are_compared_and_zero_is_no_price() -> None:
    asked = run(
        offers=[
            {"name": "A", "gpu": "H100", "price_per_gpu_hour": 2.5},
            {"name": "B", "gpu": "A100 80G", "gpu_count": 8, "price_per_instance_hour": 9.6},
            {"name": "C", "gpu": "H200", "price_per_gpu_hour": 0},
        ]
    )
    offers = {offer["instance"]: offer for offer in asked.result["offers"]}
    assert set(offers) == {"A", "B"}
    assert offers["B"]["price_per_gpu_hour"] == pytest.approx(1.2)
    assert asked.result["left_out"] == [{"reason": "no price", "count": 1, "examples": ["C"]}]
    assert TOOL.present(asked, "en").headline.startswith("Best value is A")


def test_a_measured_speed_goes_before_the_model() -> None:
    offers = [
        {"name": "A", "gpu": "H100", "price_per_gpu_hour": 2.5, "tokens_per_second_per_gpu": 5000},
        {"name": "B", "gpu": "H100", "price_per_gpu_hour": 2.5, "tokens_per_second_per_gpu": 10000},
    ]
    assert [offer["instance"] for offer in run(parameters=7e9, offers=offers).result["offers"]] == ["B", "A"]


def test_without_a_sourced_price_it_asks_for_a_quote() -> None:
    asked = run("zh", min_gpu_memory_bytes=80e9, provider="阿里云")
    assert asked.result["offers"] == []
    assert "报价" in TOOL.present(asked, "zh").headline


def test_a_region_in_china_brings_the_export_notice() -> None:
    asked = run("zh", gpu="H100", region="cn-beijing")
    assert asked.result["offers"] == [] and any("出口" in warning for warning in asked.warnings)


def test_what_is_missing_or_unknown() -> None:
    with pytest.raises(MissingInputs):
        run()
    with pytest.raises(InvalidField) as provider:
        run(gpu="H100", provider="nowhere cloud")
    assert provider.value.field == "provider"
