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
    ("compare_purchase_options", {"on_demand_price_per_hour": 4.1, "spot_discount": 0.62, "interruption_hours": 5, "restart_seconds": 1500, "currency": "USD", "hours": 500}),
    ("compare_purchase_options", {"checkpoint_seconds": 300, "interruption_hours": 12}),
    ("plan_data_transfer", {"volume_bytes": "300TB", "bandwidth_bits_per_second": 1e9, "utilization": 0.8, "device_count": 3, "device_copy_bytes_per_second": 3e8, "shipping_days": 7}),
    ("plan_data_transfer", {"volume_bytes": "1.2 PB", "days": 14, "utilization": 0.7}),
    ("estimate_storage", {"volume_bytes": "80TB", "price_per_gb_month": 0.12, "archive_share": 0.5, "archive_price_per_gb_month": 0.033, "currency": "CNY", "months": 6}),
    ("estimate_storage", {"parameters": "70B", "save_every_seconds": 3600, "write_bytes_per_second": 2e9, "keep_last": 3}),
    ("compare_cloud_onprem", {"server_price": 1.2e6, "power_watts": 1e4, "electricity_price": 0.8, "pue": 1.3, "utilization": 0.6, "years": 3, "cloud_price_per_gpu_hour": 18, "currency": "CNY"}),
    ("plan_budget", {"budget": 6e4, "spent": 2.2e4, "days_elapsed": 9, "period_days": 30, "currency": "USD"}),
    ("plan_budget", {"budget": 1e6, "phase_count": 3, "reserve_share": 0.1, "currency": "CNY"}),
    ("estimate_carbon", {"gpu": "H100", "gpu_count": 64, "days": 20, "pue": 1.2}),
    ("calculate", {"bill": "$969", "quantity": "400 hours", "avoided": "30 min"}),
    ("calculate", {"needed": "80e9 bytes", "capacity": "79.33 GiB"}),
]  # fmt: skip


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_says_only_numbers_that_the_run_holds(name: str, arguments: dict[str, Any], language: Language) -> None:
    tool = get_tool(name)
    run = tool.run(arguments, language)
    shown = tool.present(run, language)
    support = list(values_of_run(run))
    assert language == "en" or any("\u4e00" <= character <= "\u9fff" for character in run.formula), run.formula
    assert unsupported(shown.headline, support) == []
    assert unsupported(shown.drivers, support) == []
    for row in shown.table:
        assert unsupported(" ".join(row), support) == []
