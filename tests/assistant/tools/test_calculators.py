"""What every calculator of money, volumes and times must show, in both languages."""

from __future__ import annotations

import re
from typing import Any

import pytest

from assistant.answer.figures import unsupported, values_of_run
from assistant.schema import Language
from assistant.tools.registry import get_tool

CASES: list[tuple[str, dict[str, Any]]] = [
    ("plan_data_transfer", {"volume_bytes": "1PB", "bandwidth_bits_per_second": "10Gbps", "utilization": 0.7}),
    (
        "plan_data_transfer",
        {
            "volume_bytes": "20TB",
            "bandwidth_bits_per_second": "100MB/s",
            "compare_bandwidth_bits_per_second": "100Mbps",
        },
    ),
    (
        "plan_data_transfer",
        {
            "volume_bytes": "300TB",
            "bandwidth_bits_per_second": "1Gbps",
            "utilization": 0.8,
            "device_count": 3,
            "device_capacity_bytes": "100TB",
            "device_copy_bytes_per_second": "300MB/s",
            "shipping_days": 7,
        },
    ),
    ("plan_data_transfer", {"volume_bytes": "400TB", "days": 10}),
    ("plan_data_transfer", {"volume_bytes": "5GB", "bandwidth_bits_per_second": "1Gbps", "days": 1}),
    (
        "plan_data_transfer",
        {"volume_bytes": "50TB", "bandwidth_bits_per_second": "1Gbps", "provider": "aws", "direction": "out"},
    ),
    ("plan_data_transfer", {"volume_bytes": "500TB", "device_capacity_bytes": "80TB"}),
    ("estimate_storage", {"parameters": "7B", "steps": 20_000, "save_every_steps": 1000, "keep_last": 3}),
    ("estimate_storage", {"parameters": "70B", "save_every_seconds": 3600, "write_bytes_per_second": "2GB/s"}),
    (
        "estimate_storage",
        {
            "volume_bytes": "80T",
            "price_per_gb_month": "0.12元/GB/月",
            "archive_share": 0.5,
            "archive_price_per_gb_month": 0.033,
        },
    ),
    ("estimate_storage", {"volume_bytes": "100TB", "copies": 3, "months": 6}),
    ("estimate_storage", {"gpu_count": 64, "tokens_per_second_per_gpu": 4000}),
    ("compare_purchase_options", {"checkpoint_seconds": 300, "interruption_hours": 12}),
    ("compare_purchase_options", {"gpu": "H100", "gpu_count": 8, "hours": 336}),
    (
        "compare_purchase_options",
        {"on_demand_price_per_hour": 65, "reserved_price_per_month": 30_000, "hours_per_month": 500},
    ),
    (
        "compare_purchase_options",
        {"spot_discount": 0.7, "interruption_hours": 6, "checkpoint_seconds": 180, "restart_seconds": 900},
    ),
    ("compare_purchase_options", {"hours_per_day": 10}),
    ("compare_purchase_options", {"checkpoint_seconds": 180, "gpu_count": 1000}),
    ("compare_cloud_onprem", {"server_price": "$300k", "cloud_price_per_gpu_hour": 2.5, "utilization": 0.3}),
    (
        "compare_cloud_onprem",
        {
            "server_price": "$250k",
            "power_watts": "10kW",
            "electricity_price": 0.12,
            "gpu": "H100",
            "utilization": 0.8,
            "gpu_hours_per_run": 300,
        },
    ),
    ("compare_cloud_onprem", {"server_price": "$900k", "cloud_price_per_gpu_hour": 2}),
    ("plan_budget", {"budget": 50_000, "spent": 25_000, "days_elapsed": 12, "period_days": 30}),
    ("plan_budget", {"budget": "60万元", "period_days": 90, "start_date": "2026-12-01"}),
    ("plan_budget", {"budget": "300万元", "phases": ["预训练", "微调"], "phase_shares": [0.7, 0.2]}),
    ("plan_budget", {"spent_share": 0.4, "elapsed_share": 0.3}),
    ("estimate_carbon", {"gpu": "H100", "gpu_hours": 1e6}),
    (
        "estimate_carbon",
        {"gpu": "A100", "gpu_count": 64, "days": 30, "region": "us-east-1", "compare_region": "eu-north-1"},
    ),
    ("calculate", {"bill": "$969", "quantity": "400 hours", "avoided": "30 minutes"}),
    ("calculate", {"needed": "80e9 bytes", "capacity": "79.33 GiB"}),
    ("calculate", {"expression": "64 GPUs x 72 h x $2.5/GPU-hour"}),
    ("calculate", {"part": "15%", "whole": "42,000"}),
]


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_says_only_numbers_that_the_run_holds(name: str, arguments: dict[str, Any], language: Language) -> None:
    tool = get_tool(name)
    run = tool.run(arguments, language)
    shown = tool.present(run, language)
    support = list(values_of_run(run))
    for text in (shown.headline, shown.drivers, *(" ".join(row) for row in shown.table)):
        assert unsupported(text, support) == []


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_speaks_one_language_and_no_machine_words(name: str, arguments: dict[str, Any], language: Language) -> None:
    tool = get_tool(name)
    run = tool.run(arguments, language)
    shown = tool.present(run, language)
    text = " ".join([shown.headline, shown.drivers, *run.assumptions, *run.warnings])
    assert not re.search(r"\b(?:None|nan|inf|True|False)\b|\w+_\w+|\d{16}", text), text
    chinese = re.findall(r"[\u4e00-\u9fff]", text.replace("预训练", "").replace("微调", ""))
    assert bool(chinese) == (language == "zh")
    assert run.formula
    stated = {key for key, given in run.inputs.items() if given.origin == "question"}
    assert stated == set(arguments) | ({"currency"} & stated)
