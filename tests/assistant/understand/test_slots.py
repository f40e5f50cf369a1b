"""From words to arguments: each row is how somebody asks and what the calculator must be given."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.understand.frames import FRAMES, frame_of
from assistant.understand.mentions import read_mentions
from assistant.understand.slots import fill

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("estimate_training_cost", "用 32 台 8 卡 H800 训 34B，1.5T token", {"gpu_count": 256, "parameters": 34e9, "tokens": 1.5e12}),
    ("estimate_training_cost", "we paid $900k for 400k GPU-hours", {"cost": 9e5, "gpu_hours": 4e5, "currency": "USD"}),
    ("estimate_training_cost", "预算 80 万元，每卡时 16 元，7B 能喂多少 token", {"budget": 8e5, "price_per_gpu_hour": 16.0, "currency": "CNY"}),
    ("estimate_training_cost", "SFT llama 3.1 8b on 20k samples of 900 tokens, 2 epochs", {"method": "full", "examples": 2e4, "epochs": 2.0}),
    ("estimate_memory", "两张 3090 跑 30B 的 4bit lora", {"gpu_count": 2, "gpu": "RTX 3090", "method": "qlora", "parameters": 30e9}),
    ("estimate_memory", "serve a 70B at batch 16 with 8k context on one H100", {"method": "inference", "batch": 16, "sequence_length": 8000.0, "gpu_count": 1}),
    ("estimate_memory", "13B 全量 zero2 八张 A100 40G", {"method": "full", "zero_stage": 2, "gpu_count": 8, "gpu": "A100-SXM-40GB"}),
    ("plan_data_transfer", "600 TB within 20 days, what line?", {"volume_bytes": 600e12, "days": 20.0}),
    ("plan_data_transfer", "压缩掉四成再传，90TB，2Gbps", {"compressed_to": 0.6, "volume_bytes": 90e12, "bandwidth_bits_per_second": 2e9}),
    ("estimate_storage", "30TB, three copies at $0.02/GB/month", {"volume_bytes": 30e12, "copies": 3.0, "price_per_gb_month": 0.02}),
    ("estimate_storage", "13B 每 500 步存一次，一共 1 万步，只留最近 5 个", {"save_every_steps": 500.0, "steps": 1e4, "keep_last": 5.0}),
    ("estimate_scaling", "4 台机器，每台 8×200G，30B 全参", {"nodes": 4, "bandwidth_bits_per_second": 1.6e12, "parameters": 30e9}),
    ("compare_purchase_options", "竞价打四折，平均 8 小时被收走一次，重启 10 分钟", {"spot_discount": 0.6, "interruption_hours": 8.0, "restart_seconds": 600.0}),
    ("compare_cloud_onprem", "服务器 180 万一台，电费 0.7 元一度，PUE 1.3，用四年", {"server_price": 1.8e6, "electricity_price": 0.7, "pue": 1.3, "years": 4.0}),
    ("plan_budget", "预算 5 万美元，12 天花了 2.5 万美元", {"budget": 5e4, "spent": 2.5e4, "days_elapsed": 12.0}),
    ("estimate_carbon", "200k GPU-hours on A100 in eu-north-1", {"gpu_hours": 2e5, "region": "eu-north-1"}),
    ("plan_data_transfer", "专线 4Gbps 实际跑 3，500TB", {"utilization": 0.75, "bandwidth_bits_per_second": 4e9}),
    ("plan_budget", "预算还剩30%，时间过了一半", {"spent_share": 0.7}),
    ("compare_purchase_options", "reserved or on-demand, used 9 hours a day", {"hours_per_day": 9.0}),
    ("compare_purchase_options", "按量一小时40，包年一小时26，一年开6000小时", {"on_demand_price_per_hour": 40.0, "reserved_price_per_hour": 26.0, "hours_per_year": 6000.0}),
    ("compare_cloud_onprem", "云上每小时75美元，自建一共30万美元", {"cloud_price_per_hour": 75.0, "hardware_cost": 3e5}),
    ("compare_cloud_onprem", "每月付云12万，自己买机器80万呢", {"cloud_cost_per_month": 1.2e5}),
    ("compare_cloud_onprem", "机器90万，电费一年5万，运维一年8万", {"other_per_year": 1.3e5}),
    ("estimate_storage", "put 40% into the archive", {"archive_share": 0.4}),
    ("estimate_storage", "saved every 20 min and each write stalls for 45 seconds", {"save_every_seconds": 1200.0, "write_seconds": 45.0}),
    ("estimate_carbon", "which region has the cleanest grid", {"rank_regions": True}),
    ("estimate_training_cost", "how long for 3B on 90B tokens with 16 H100", {"tokens": 90e9, "gpu_count": 16}),
    ("estimate_training_cost", "3 nodes of 8 A100 for 1B on 40B tokens", {"gpu_count": 24, "tokens": 40e9}),
    ("estimate_memory", "9B lora seq 2048 bs 4", {"batch": 4, "sequence_length": 2048.0}),
    ("compare_cloud_onprem", "24 cards at 20k each or rent at 1.8/h", {"salary_per_year": None}),
    ("compare_cloud_onprem", "12 L40S cards at 9k each, renting is 1.1/h", {"price_per_gpu": 9e3, "cloud_price_per_gpu_hour": 1.1, "gpu_count": 12}),
    ("compare_cloud_onprem", "3 servers at $210k each", {"server_price": 2.1e5, "servers": 3.0, "price_per_gpu": None}),
    ("estimate_carbon", "16 V100s for 40 hours in Frankfurt, or 新加坡", {"gpu": "V100-SXM2-32GB", "region": "europe-west3", "compare_region": "asia-southeast1"}),
    ("calculate", "what is (6*3e9*4e11)/(300e12*32)/3600", {"expression": "(6*3e9*4e11)/(300e12*32)/3600"}),
    ("calculate", "does 40 GiB hold 41e9 bytes", {"needed": "41e9 bytes", "capacity": "40 GiB"}),
    ("calculate", "bill is $4,310 for 1,250 hours", {"bill": "$4,310", "quantity": "1,250 hours"}),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "question", "expected"), CASES)
def test_fills_arguments_from_words(tool: str, question: str, expected: dict[str, Any]) -> None:
    arguments = fill(frame_of(tool), read_mentions(question)).arguments
    assert {name: arguments.get(name) for name in expected} == pytest.approx(expected)


def test_a_second_count_asks_for_a_second_calculation() -> None:
    filling = fill(frame_of("estimate_memory"), read_mentions("7B 全参两张 A100 行不行？四张呢"))
    assert filling.arguments["gpu_count"] == 2
    assert [variant["gpu_count"] for variant in filling.variants] == [4]


def test_what_the_writer_takes_back_does_not_count() -> None:
    mentions = read_mentions("train it on 1.5T tokens… no, 1.5B")
    assert [(q.value, q.unit) for q in mentions.quantities] == [(1.5e9, "tokens")]


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("sorry, 40B tokens, not 400B", [4e10]),
        ("是 40B token，不是 400B", [4e10]),
        ("9 cards rather than 18", [9]),
        ("why not 64 GPUs for 7B", [64, 7e9]),
        ("不是 7B，是 13B", [13e9]),
    ],
)
def test_what_something_is_not_does_not_count(text: str, amounts: list[float]) -> None:
    assert [quantity.value for quantity in read_mentions(text).quantities] == amounts


def test_every_argument_of_a_frame_exists() -> None:
    from assistant.tools.registry import get_tool

    for frame in FRAMES:
        assert frame.arguments <= set(get_tool(frame.tool).Inputs.model_fields)
