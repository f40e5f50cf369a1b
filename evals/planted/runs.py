"""Calculations with what a person would say of their results, in other words than the calculators' own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools.base import Presentation
from assistant.tools.registry import get_tool

_TRAINING = {"parameters": "7B", "tokens": "2T", "gpu": "H100", "gpu_count": 64}
_SMALLER = {"parameters": "13B", "tokens": "300B", "gpu": "A100", "gpu_count": 32, "mfu": 0.45}
_LORA = {"parameters": "13B", "method": "lora", "gpu": "RTX 4090", "gpu_count": 2}
_FULL = {"parameters": "70B", "method": "full", "gpu": "H100", "gpu_count": 16}
_DEVICES = {
    "volume_bytes": "300 TB", "bandwidth_bits_per_second": "1 Gbps", "utilization": "80%", "device_count": 3,
    "device_capacity_bytes": "100 TB", "device_copy_bytes_per_second": "300 MB/s", "shipping_days": 7,
}  # fmt: skip
_LINE = {"volume_bytes": "1 PB", "bandwidth_bits_per_second": "10 Gbps", "utilization": "70%"}
_CARBON = {"gpu": "A100", "gpu_count": 64, "days": 30}
_CHECKPOINTS = {"parameters": "7B", "checkpoint_count": 10}
_REWORDED: tuple[tuple[str, Mapping[str, Any], Language, str], ...] = (
    ("estimate_training_cost", _TRAINING, "en", "On 64 H100s the run should finish in roughly {days:.1f} days and come to about ${cost:,.0f}."),
    ("estimate_training_cost", _TRAINING, "en", "You need around {gpu_hours:,.0f} GPU-hours, so budget close to ${cost:,.0f} for compute."),
    ("estimate_training_cost", _TRAINING, "zh", "用 64 张 H100 大约要跑 {days:.0f} 天，算力费在 {cost:,.0f} 美元左右。"),
    ("estimate_training_cost", _TRAINING, "zh", "总共约需 {gpu_hours:,.0f} 卡时，按每卡时 {price_per_gpu_hour} 美元计算。"),
    ("estimate_training_cost", _SMALLER, "en", "At 45% MFU, 32 A100s would take about {days:.0f} days."),
    ("estimate_training_cost", _SMALLER, "zh", "MFU 取 45% 时，32 张 A100 需要约 {days:.0f} 天。"),
    ("estimate_memory", _LORA, "en", "It won't fit: each card would need about 28.9 GB, while an RTX 4090 has only 21.8 GB usable."),
    ("estimate_memory", _LORA, "en", "With 4-bit QLoRA each GPU needs just 9.6 GB, which does fit."),
    ("estimate_memory", _LORA, "zh", "两张 4090 放不下，每张要 28.9 GB 左右，可用的只有 21.8 GB 左右。"),
    ("estimate_memory", _LORA, "zh", "换成 4-bit 的 QLoRA，每卡约 9.6 GB 就够了。"),
    ("estimate_memory", _FULL, "en", "It fits only barely: about 77.7 GB a card against 75 GB to 80 GB."),
    ("estimate_memory", _FULL, "zh", "勉强能放下，每张卡约占 77.7 GB，几乎没有余量。"),
    ("plan_data_transfer", _DEVICES, "en", "Sending devices takes about 14.7 days, while the line would need 34.7 days."),
    ("plan_data_transfer", _DEVICES, "en", "Shipping pays off once you have more than about 77.8 TB to move."),
    ("plan_data_transfer", _DEVICES, "zh", "寄送设备约 14.7 天，走线路约 34.7 天，所以寄设备更快。"),
    ("plan_data_transfer", _DEVICES, "zh", "数据超过 77.8 TB 左右，寄设备就更合算。"),
    ("plan_data_transfer", _LINE, "en", "Moving the petabyte takes about 13.2 days at an effective 875 MB/s."),
    ("plan_data_transfer", _LINE, "zh", "有效速率 875 MB/s，传完 1 PB 约需 13.2 天。"),
    ("estimate_carbon", _CARBON, "en", "The run uses about 21,800 kWh and emits some 10.4 tonnes of CO2e."),
    ("estimate_carbon", _CARBON, "zh", "大约耗电 2.18 万度，排放约 10.4 吨二氧化碳当量。"),
    ("estimate_storage", _CHECKPOINTS, "en", "Ten checkpoints of 98 GB each need 980 GB in all."),
    ("estimate_storage", _CHECKPOINTS, "zh", "每个检查点约 98 GB，存 10 个就是 980 GB。"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunStatement:
    """A true statement on a calculation."""

    run: ToolRun
    shown: Presentation
    language: Language
    text: str
    held_out: bool
    """Every other calculation belongs to the half on which nothing was tuned."""


def run_statements() -> list[RunStatement]:
    """The calculations are run now, so that the statements' figures are those of the present catalog."""
    found = []
    for number, (name, arguments, language, text) in enumerate(_REWORDED):
        tool = get_tool(name)
        run = tool.run(arguments, language)
        figures = {key: value for key, value in run.result.items() if isinstance(value, int | float)}
        found.append(RunStatement(run, tool.present(run, language), language, text.format(**figures), number % 2 == 1))
    return found
