"""The arguments of a training-cost estimate."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from assistant.tools import _checks
from assistant.tools._inputs import MoneyInputs


class TrainingInputs(MoneyInputs):
    """What is trained, on what, how fast, for how long and for how much; any of the last three may be what is asked."""

    model: str | None = Field(None, description="Model name, such as Llama 3.1 70B")
    parameters: float | None = Field(None, description="Parameters in all", json_schema_extra={"unit": "parameters"})
    active_parameters: float | None = Field(
        None, description="Parameters that a token passes through", json_schema_extra={"unit": "parameters"}
    )
    method: Literal["pretraining", "continued", "full", "lora", "qlora"] = "pretraining"
    tokens: float | None = Field(None, gt=0, le=_checks.MAX_TOKENS, json_schema_extra={"unit": "tokens"})
    examples: float | None = Field(None, gt=0, le=1e13, description="Training examples")
    tokens_per_example: float | None = Field(None, gt=0, le=1e8, json_schema_extra={"unit": "tokens"})
    epochs: float = Field(1, gt=0, le=10_000, description="Passes over the tokens or examples")
    data_bytes: float | None = Field(
        None, gt=0, le=1e18, description="Text to train on", json_schema_extra={"unit": "byte"}
    )
    compute_optimal: bool = Field(False, description="Take 20 tokens a parameter")
    sequence_length: float | None = Field(
        None, gt=0, le=1e8, description="Counts attention's FLOPs too", json_schema_extra={"unit": "tokens"}
    )
    gpu: str | None = Field(None, description="GPU name, such as A100 80GB")
    gpu_count: int | None = Field(None, ge=1, le=_checks.MAX_GPUS, description="GPUs in all")
    nodes: int | None = Field(None, ge=1, le=_checks.MAX_GPUS)
    gpus_per_node: int = Field(8, ge=1, le=72)
    days: float | None = Field(None, description="How long it took or may take", json_schema_extra={"unit": "day"})
    gpu_hours: float | None = Field(None, gt=0, le=1e12, json_schema_extra={"unit": "gpu-hour"})
    mfu: float | None = Field(None, description="Model FLOPs utilisation", json_schema_extra={"unit": "fraction"})
    tokens_per_second_per_gpu: float | None = Field(None, gt=0, le=1e9, json_schema_extra={"unit": "tokens/second"})
    tokens_per_second: float | None = Field(
        None, gt=0, le=1e13, description="Of all GPUs together", json_schema_extra={"unit": "tokens/second"}
    )
    goodput: float | None = Field(
        None,
        description="Share of the time that is not lost to restarts, checkpoints and evaluation",
        json_schema_extra={"unit": "fraction"},
    )
    fp8: bool = False
    recompute: bool = Field(False, description="Full activation recomputation: 8ND of hardware work")
    price_per_gpu_hour: float | None = Field(None, gt=0, le=1e6, json_schema_extra={"unit": "money/gpu-hour"})
    price_per_instance_hour: float | None = Field(None, gt=0, le=1e7, json_schema_extra={"unit": "money/hour"})
    cost: float | None = Field(
        None, gt=0, le=1e13, description="A bill that is known", json_schema_extra={"unit": "money"}
    )
    budget: float | None = Field(
        None, gt=0, le=1e13, description="At most this much", json_schema_extra={"unit": "money"}
    )
    exchange_rate: float | None = Field(None, gt=0, le=1e6, description="Stated currency for one of the price's")
    provider: str | None = None
    region: str | None = None
    purchase: Literal["on_demand", "reserved", "spot"] = "on_demand"
    storage_bytes: float | None = Field(None, gt=0, le=1e20, json_schema_extra={"unit": "byte"})
    storage_price_per_gb_month: float | None = Field(None, gt=0, le=1e4, json_schema_extra={"unit": "money/GB/month"})
    transfer_bytes: float | None = Field(None, gt=0, le=1e20, json_schema_extra={"unit": "byte"})
    transfer_price_per_gb: float | None = Field(None, gt=0, le=1e4, json_schema_extra={"unit": "money/GB"})
