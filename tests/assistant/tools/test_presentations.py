"""What a calculator says of its result holds only numbers that the result, the inputs or the notes have."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.answer.figures import unsupported, values_of_run
from assistant.schema import Language
from assistant.tools.registry import get_tool

CASES: list[tuple[str, dict[str, Any]]] = [
    ("estimate_training_cost", {"parameters": "7B", "tokens": "2T", "gpu": "H100", "gpu_count": 64}),
    ("estimate_training_cost", {"parameters": "7B", "tokens": "2T", "gpu": "A100", "gpu_count": 64, "budget": 3e5, "currency": "USD"}),
    ("estimate_training_cost", {"parameters": "130B", "tokens": "400B", "gpu": "A100 40G", "gpu_count": 768, "days": 60}),
    ("estimate_training_cost", {"model": "DeepSeek-V3", "tokens": "14.8T", "gpu": "H800", "price_per_gpu_hour": 2, "currency": "USD"}),
    ("estimate_training_cost", {"parameters": "13B", "days": 30, "gpu": "H100", "budget": 1e6, "currency": "CNY", "price_per_gpu_hour": 20}),
    ("estimate_memory", {"parameters": "7B", "method": "full", "zero_stage": 3, "gpu": "V100 32G", "gpu_count": 4}),
    ("estimate_memory", {"parameters": "70B", "method": "qlora", "gpu": "A10G", "gpu_count": 4}),
    ("estimate_memory", {"model": "Llama 3.1 70B", "method": "inference", "gpu": "H100", "batch": 16, "sequence_length": 32768}),
    ("estimate_memory", {"model": "Mixtral 8x7B", "method": "full", "gpu": "A100 80G"}),
    ("select_instances", {"gpu": "H100", "gpu_count": 8}),
    ("select_instances", {"parameters": "13B", "method": "full", "tokens": "100B", "budget": 1e5, "currency": "USD"}),
    ("estimate_scaling", {"parameters": "7B", "nodes": 2, "bandwidth_bits_per_second": 1e10, "rdma": False}),
    ("estimate_scaling", {"parameters": "70B", "nodes": 16, "gpu": "H100", "bandwidth_bits_per_second": 3.2e12}),
]  # fmt: skip


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_says_only_numbers_that_the_run_holds(name: str, arguments: dict[str, Any], language: Language) -> None:
    tool = get_tool(name)
    run = tool.run(arguments, language)
    shown = tool.present(run, language)
    support = list(values_of_run(run))
    assert unsupported(shown.headline, support) == []
    assert unsupported(shown.drivers, support) == []
    for row in shown.table:
        assert unsupported(" ".join(row), support) == []
