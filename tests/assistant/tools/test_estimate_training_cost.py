from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.estimate_training_cost import TOOL
from knowledge import catalog


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def headline(language: Language = "en", **arguments: Any) -> str:
    return TOOL.present(run(language, **arguments), language).headline


@pytest.fixture(autouse=True)
def _shipped_offers() -> Iterator[None]:
    yield
    catalog.use(None)


def test_utilisation_from_nodes_and_days() -> None:
    asked = {"parameters": 130e9, "tokens": 400e9, "gpu": "A100 40G", "nodes": 96, "gpus_per_node": 8, "days": 60}
    result = run(**asked).result
    assert result["flops"] == pytest.approx(3.12e23)
    assert result["gpu_count"] == 768
    assert result["mfu"] == pytest.approx(3.12e23 / (768 * 312e12 * 60 * 86400))
    text = headline("zh", **asked)
    assert "25.1%" in text and "312" in text and "6ND" in text and "重算" in text
    assert "$" not in text


def test_days_hours_and_price_from_a_measured_speed_and_a_bill() -> None:
    asked = {
        "parameters": 65e9,
        "tokens": 1.4e12,
        "gpu": "A100-80G",
        "gpu_count": 2048,
        "tokens_per_second_per_gpu": 380,
        "cost": 2.2e6,
        "currency": "USD",
    }
    result = run(**asked).result
    assert result["days"] == pytest.approx(20.82, rel=1e-3)
    assert result["gpu_hours"] == pytest.approx(1.0234e6, rel=1e-3)
    assert result["price_per_gpu_hour"] == pytest.approx(2.15, rel=1e-2)
    assert result["mfu"] == pytest.approx(0.475, rel=1e-2)
    text = headline(**asked)
    assert "20.8 days" in text and "1.02M" in text and "$2.15" in text


def test_a_speed_of_the_whole_cluster_is_not_one_of_a_gpu() -> None:
    one = run(parameters=7e9, tokens=1e12, gpu="H100", gpu_count=64, tokens_per_second_per_gpu=10_000).result
    all_of_them = run(parameters=7e9, tokens=1e12, gpu="H100", gpu_count=64, tokens_per_second=640_000).result
    assert one["days"] == pytest.approx(all_of_them["days"])


def test_gpus_from_a_deadline_are_whole_nodes_that_keep_it() -> None:
    result = run(model="llama 3 8b", tokens=1e12, gpu="H100", days=30).result
    assert result["solved"] == "gpu_count" and result["gpu_count"] % 8 == 0 and result["days"] <= 30
    fewer = result["gpu_count"] - 8
    assert result["gpu_hours"] / (24 * fewer) > 30


def test_a_deadline_is_judged() -> None:
    asked: dict[str, Any] = {"parameters": 7e9, "tokens": 1e12, "gpu": "H100", "mfu": 0.4, "gpu_count": 64}
    late = run(**asked, days=10)
    assert late.result["meets_deadline"] is False
    assert TOOL.present(late, "en").headline.startswith("Not within 10 days")
    enough = run(**asked | {"gpu_count": late.result["gpu_count_for_deadline"]}, days=10)
    assert enough.result["meets_deadline"] is True


def test_a_time_that_no_utilisation_keeps_is_a_missed_deadline() -> None:
    asked = run("zh", model="llama 3 8b", tokens=1e12, gpu="H100", gpu_count=64, days=3)
    assert asked.result["meets_deadline"] is False and asked.result["days"] > 20
    assert TOOL.present(asked, "zh").headline.startswith("3 天赶不上")


def test_tokens_from_a_budget_and_back() -> None:
    bought = run(model="qwen2.5 7b", gpu="A100", budget=500_000, currency="CNY", price_per_gpu_hour=14).result
    assert bought["solved"] == "tokens"
    spent = run(model="qwen2.5 7b", gpu="A100", tokens=bought["tokens"], currency="CNY", price_per_gpu_hour=14).result
    assert spent["cost"] == pytest.approx(500_000)


def test_a_model_from_a_budget_is_compute_optimal() -> None:
    result = run(gpu="H100", budget=1e6, price_per_gpu_hour=2, compute_optimal=True).result
    assert result["solved"] == "parameters"
    assert result["tokens"] == pytest.approx(20 * result["parameters"])
    assert result["cost"] == pytest.approx(1e6)
    again = run(gpu="H100", parameters=result["parameters"], tokens=result["tokens"], price_per_gpu_hour=2).result
    assert again["cost"] == pytest.approx(1e6, rel=0.01)


def test_a_bill_over_hours_needs_no_model() -> None:
    result = run(gpu_hours=400, cost=969).result
    assert result["price_per_gpu_hour"] == pytest.approx(2.4225)


def test_a_frozen_base_costs_two_thirds() -> None:
    full, lora = (
        run(parameters=7e9, tokens=1e9, gpu="H100", gpu_count=8, mfu=0.4, method=method).result
        for method in ("full", "lora")
    )
    assert lora["flops"] == pytest.approx(full["flops"] * 2 / 3)


def test_compute_of_a_mixture_of_experts_follows_the_active_parameters() -> None:
    result = run(model="DeepSeek-V3 671B", tokens=14.8e12, gpu="H800", gpu_count=2048).result
    assert result["flops"] == pytest.approx(6 * 37e9 * 14.8e12)


def test_examples_length_and_epochs_make_tokens() -> None:
    result = run(parameters=7e9, examples=50_000, tokens_per_example=1000, epochs=3, gpu="H100", gpu_count=8).result
    assert result["tokens"] == 150e6
    with pytest.raises(MissingInputs) as error:
        run(parameters=7e9, examples=50_000, gpu="H100", gpu_count=8)
    assert error.value.fields == ("tokens_per_example",)


def test_attention_counts_when_the_length_is_given() -> None:
    plain = run(model="llama 3 8b", tokens=1e12, gpu="H100", gpu_count=64).result
    long = run(model="llama 3 8b", tokens=1e12, gpu="H100", gpu_count=64, sequence_length=131_072).result
    share = 12 * 32 * 4096 * 131_072 / (6 * 8.03e9)
    assert long["flops"] == pytest.approx(plain["flops"] * (1 + share), rel=1e-3)
    assert long["gpu_hours"] > plain["gpu_hours"]


def test_a_stated_price_goes_before_the_catalog_and_says_so() -> None:
    asked: dict[str, Any] = {"parameters": 7e9, "tokens": 1e11, "gpu": "H100", "gpu_count": 8}
    stated, listed = run(**asked, price_per_gpu_hour=2), run(**asked)
    assert stated.inputs["price_per_gpu_hour"].origin == "question"
    assert stated.result["cost"] == pytest.approx(2 * stated.result["gpu_hours"])
    assert listed.inputs["price_per_gpu_hour"].origin == "catalog"
    assert {offer["provider"] for offer in listed.result["offers"]} >= {"aws", "azure", "lambda"}
    assert all(source.url for source in listed.sources)


def test_own_prices_go_before_the_catalog(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("provider,gpu,price_per_gpu_hour,currency,as_of\n自有,H100,9,CNY,2026-11-01\n", encoding="utf-8")
    catalog.use(catalog.load_offers([path]))
    asked = run(parameters=7e9, tokens=1e11, gpu="H100", gpu_count=8)
    assert asked.inputs["price_per_gpu_hour"].origin == "price file"
    assert asked.result["price_per_gpu_hour"] == 9 and asked.result["currency"] == "CNY"


def test_currency_is_converted_only_at_a_stated_rate() -> None:
    asked: dict[str, Any] = {"model": "qwen2.5 7b", "gpu": "A100", "budget": 500_000, "currency": "CNY"}
    with pytest.raises(MissingInputs) as error:
        run("zh", **asked)
    assert "汇率" in error.value.question
    converted = run(**asked, exchange_rate=7.0).result
    dollars = run(model="qwen2.5 7b", gpu="A100", tokens=1e12).result["price_per_gpu_hour"]
    assert converted["price_per_gpu_hour"] == pytest.approx(7 * dollars)
    assert converted["exchange_rate"] == 7.0


def test_old_prices_and_missing_ones_are_said() -> None:
    old = run(parameters=7e9, tokens=1e11, gpu="H100", gpu_count=8)
    assert any("days" in warning for warning in old.warnings)
    none = run("zh", parameters=7e9, tokens=1e11, gpu="H100", gpu_count=8, provider="阿里云")
    assert "cost" not in none.result and any("报价" in warning for warning in none.warnings)


def test_a_gpu_that_nobody_measured_has_a_wide_range_and_says_so() -> None:
    asked = run(parameters=7e9, tokens=1e11, gpu="MI300X", gpu_count=8)
    low, high = asked.result["gpu_hours_range"]
    assert high / low > 2 and any("MI300X" in warning for warning in asked.warnings)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"mfu": 1.5}, "mfu"),
        ({"mfu": 0}, "mfu"),
        ({"days": 0}, "days"),
        ({"days": -3}, "days"),
        ({"tokens": -1}, "tokens"),
        ({"parameters": 1e30}, "parameters"),
        ({"active_parameters": 8e9}, "active_parameters"),
        ({"gpu": "H1000"}, "gpu"),
        ({"gpu_count": 0}, "gpu_count"),
        ({"nodes": 4, "gpus_per_node": 8, "gpu_count": 64}, "gpu_count"),
        ({"tokens_per_second_per_gpu": 1e6}, "tokens_per_second_per_gpu"),
        ({"shoes": 1}, "shoes"),
    ],
)
def test_the_impossible_names_its_field(arguments: dict[str, Any], field: str) -> None:
    asked: dict[str, Any] = {"parameters": 7e9, "tokens": 1e12, "gpu": "H100", "gpu_count": 64} | arguments
    with pytest.raises(InvalidField) as error:
        run(**asked)
    assert error.value.field in (field, "mfu") and error.value.field


def test_missing_is_asked_at_once_in_the_language() -> None:
    with pytest.raises(MissingInputs) as nothing:
        run("zh")
    assert nothing.value.fields == ("model", "tokens", "gpu") and "参数" in nothing.value.question
    with pytest.raises(MissingInputs) as tokens:
        run(model="llama 3 70b")
    assert tokens.value.fields == ("tokens",) and "1.41T" in tokens.value.note
    with pytest.raises(MissingInputs) as which:
        run(model="deepseek", tokens=1e12)
    assert which.value.fields == ("model",)


jobs = st.fixed_dictionaries(
    {
        "parameters": st.floats(1e8, 1e12),
        "tokens": st.floats(1e8, 1e14),
        "gpu": st.sampled_from(["H100", "A100 80G", "A100 40G", "H200", "MI300X", "V100"]),
        "gpu_count": st.integers(1, 20_000),
        "price_per_gpu_hour": st.floats(0.1, 20),
    }
)


@given(jobs, st.floats(1, 50))
def test_more_tokens_never_cost_less(job: dict[str, Any], times: float) -> None:
    less, more = run(**job).result, run(**job | {"tokens": job["tokens"] * times}).result
    for name in ("flops", "gpu_hours", "days", "cost"):
        assert more[name] >= less[name] * (1 - 1e-9)


@given(jobs)
def test_days_to_utilisation_and_back(job: dict[str, Any]) -> None:
    forward = run(**job, mfu=0.37).result
    if forward["days"] >= 36_500:
        return
    back = run(**job, days=forward["days"]).result
    assert back["mfu"] == pytest.approx(0.37)


@given(jobs, st.floats(0.5, 500))
def test_gpus_for_a_deadline_keep_it(job: dict[str, Any], days: float) -> None:
    asked = {name: value for name, value in job.items() if name != "gpu_count"}
    result = run(**asked, mfu=0.4, days=days).result
    assert result["days"] <= days * (1 + 1e-9)


@given(jobs, st.floats(1e3, 1e9))
def test_a_budget_buys_tokens_that_cost_it(job: dict[str, Any], budget: float) -> None:
    asked = {name: value for name, value in job.items() if name != "tokens"}
    bought = run(**asked, budget=budget).result["tokens"]
    if bought > 1e17:
        return
    assert run(**job | {"tokens": bought}).result["cost"] == pytest.approx(budget)


@given(jobs)
def test_ranges_hold_their_value_and_are_finite(job: dict[str, Any]) -> None:
    result = run(**job).result
    for name, value in result.items():
        if name.endswith("_range"):
            low, high = value
            assert low <= result[name.removesuffix("_range")] <= high
            assert math.isfinite(low) and math.isfinite(high)
