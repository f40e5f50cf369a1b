"""Formulas for what a model takes on one GPU, in bytes.

Mixed-precision Adam and ZeRO: arXiv 1910.02054. Activations, tensor and sequence parallelism, recompute and interleaved
pipelines: arXiv 2205.05198. Four-bit base with double quantisation: arXiv 2305.14314.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Literal

from assistant.tools._shape import Shape

Method = Literal["full", "lora", "qlora", "inference"]
Recompute = Literal["none", "selective", "full"]
Offload = Literal["none", "optimizer", "all"]
Verdict = Literal["fits", "tight", "no"]

OPTIMIZER_BYTES = {"adamw": 12.0, "adam8bit": 6.0, "sgd": 8.0, "adafactor": 4.0}
"""Bytes a parameter of fp32 master weights and optimizer states: Adam 4+4+4, 8-bit Adam 4+1+1, momentum 4+4."""
WEIGHT_BYTES = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 0.5}
QUANTISATION_CONSTANTS = 0.127 / 8
"""Bytes a parameter of NF4's constants after double quantisation."""
LORA_WIDTH = 21.5
"""Trained values a layer, over rank and hidden size, for adapters on all linear layers (4 in attention, 3 gated)."""
CONTEXT_BYTES = 1e9
FRAGMENTATION = 0.05
SERVING_SHARE = 0.9
"""Share of the card that vLLM takes by default."""
_LOGIT_BYTES = 8
_DEFAULT_VOCABULARY = 32_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How a model is to run."""

    shape: Shape
    method: Method
    gpus: int
    stage: int = 3
    """ZeRO stage over the data-parallel GPUs; 3 is also FSDP's full sharding."""
    weight_bytes: float = 2.0
    gradient_bytes: float = 2.0
    optimizer_bytes: float = 12.0
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    virtual_stages: int = 1
    sequence_parallel: bool = False
    sequence_length: float = 2048
    micro_batch: float = 1
    recompute: Recompute = "full"
    flash_attention: bool = True
    lora_rank: float = 16
    offload: Offload = "none"
    kv_bytes: float = 2.0

    @property
    def data_parallel(self) -> float:
        """Replicas, or shards under ZeRO-3."""
        return self.gpus / (self.tensor_parallel * self.pipeline_parallel)


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes on each GPU."""

    weights: float
    gradients: float
    optimizer: float
    activations: float
    buffers: float
    kv_cache: float
    host_total: float
    """Host memory over all nodes."""

    @property
    def states(self) -> float:
        """Weights, gradients and optimizer."""
        return self.weights + self.gradients + self.optimizer

    @property
    def total(self) -> float:
        """Everything but the runtime's own share."""
        return self.states + self.activations + self.buffers + self.kv_cache


def zero_states(
    parameters: float,
    stage: int,
    data_parallel: float,
    *,
    weight: float = 2.0,
    gradient: float = 2.0,
    optimizer: float = 12.0,
) -> tuple[float, float, float]:
    """Weights, gradients and optimizer of one GPU: stage 1 shards the optimizer, 2 also gradients, 3 also weights."""
    n = max(data_parallel, 1.0)
    return (
        parameters * weight / (n if stage >= 3 else 1),
        parameters * gradient / (n if stage >= 2 else 1),
        parameters * optimizer / (n if stage >= 1 else 1),
    )


def layer_activations(
    *,
    sequence_length: float,
    micro_batch: float,
    hidden_size: float,
    heads: float,
    tensor_parallel: int = 1,
    sequence_parallel: bool = False,
    recompute: Recompute = "none",
) -> float:
    """Stored activations of one transformer layer (arXiv 2205.05198, table 2)."""
    base = sequence_length * micro_batch * hidden_size
    t = tensor_parallel
    scores = 5 * heads * sequence_length / (hidden_size * t)
    if recompute == "full":
        return 2 * base / (t if sequence_parallel else 1)
    kept = 34 / t if sequence_parallel else 10 + 24 / t
    return base * (kept if recompute == "selective" else kept + scores)


def interleaving(pipeline_parallel: int, virtual_stages: int) -> float:
    """How many times a pipeline's first stage holds its layers' activations, over a run without a pipeline."""
    if pipeline_parallel == 1 or virtual_stages == 1:
        return 1.0
    return 1 + (pipeline_parallel - 1) / (pipeline_parallel * virtual_stages)


def lora_parameters(shape: Shape, rank: float) -> float:
    """Trained parameters with adapters on all linear layers."""
    return rank * shape.layers * LORA_WIDTH * shape.hidden_size


def base_weights(plan: Plan) -> float:
    """All weights of the model as they are stored, before any sharding."""
    shape = plan.shape
    if plan.method != "qlora":
        return shape.parameters * plan.weight_bytes
    stored = shape.parameters * (0.5 + QUANTISATION_CONSTANTS)
    # Embedding and output layers stay in 16 bits; small models tie them or are hardly larger than them.
    if shape.vocabulary is not None and shape.parameters >= 7e9:
        stored += 2 * shape.vocabulary * shape.hidden_size * 1.5
    return stored


def _activations(plan: Plan) -> float:
    shape, t = plan.shape, plan.tensor_parallel
    recompute: Recompute = "selective" if plan.recompute == "none" and plan.flash_attention else plan.recompute

    def layer(kind: Recompute) -> float:
        return layer_activations(
            sequence_length=plan.sequence_length,
            micro_batch=plan.micro_batch,
            hidden_size=shape.hidden_size,
            heads=shape.heads,
            tensor_parallel=t,
            sequence_parallel=plan.sequence_parallel,
            recompute=kind,
        )

    kept = shape.layers * layer(recompute) * interleaving(plan.pipeline_parallel, plan.virtual_stages)
    working = layer("selective" if plan.flash_attention else "none") if recompute == "full" else 0.0
    vocabulary = shape.vocabulary or _DEFAULT_VOCABULARY
    logits = plan.sequence_length * plan.micro_batch * vocabulary * _LOGIT_BYTES / t
    return kept + working + logits


def kv_cache(shape: Shape, tokens: float, kv_bytes: float = 2.0) -> float:
    """KV cache of that many tokens over all layers; grouped-query attention stores only its KV heads."""
    return shape.layers * shape.kv_elements * kv_bytes * tokens


def need(plan: Plan) -> Need:
    """What each GPU of a plan holds."""
    shape = plan.shape
    split = plan.tensor_parallel * plan.pipeline_parallel
    if plan.method == "inference":
        cache = kv_cache(shape, plan.sequence_length * plan.micro_batch, plan.kv_bytes)
        return Need(base_weights(plan) / plan.gpus, 0, 0, 0, 0, cache / plan.gpus, 0)
    n = plan.data_parallel
    if plan.method == "full":
        weights, gradients, optimizer = zero_states(
            shape.parameters / split,
            plan.stage,
            n,
            weight=plan.weight_bytes,
            gradient=plan.gradient_bytes,
            optimizer=plan.optimizer_bytes,
        )
        trained = shape.parameters
    else:
        trained = lora_parameters(shape, plan.lora_rank)
        weights = base_weights(plan) / split / (n if plan.stage >= 3 else 1)
        own, gradients, optimizer = zero_states(trained / split, plan.stage, n, optimizer=plan.optimizer_bytes)
        weights += own
    # Two layers are whole at a time; of a mixture of experts only what a token passes through is gathered.
    remote = 1.0 if plan.offload == "all" else (1 - 1 / n if plan.stage >= 3 else 0.0)
    whole = 2 * shape.active_parameters / shape.parameters / shape.layers
    buffers = base_weights(plan) / split * min(whole, remote)
    host = 0.0
    if plan.offload != "none":
        # The host keeps fp32 gradients beside the optimizer's states.
        host = trained * (plan.optimizer_bytes + 4)
        gradients, optimizer = 0.0, 0.0
        if plan.offload == "all":
            host += base_weights(plan)
            weights = 0.0
    return Need(weights, gradients, optimizer, _activations(plan), buffers, 0, host)


def usable(card_bytes: float, method: Method) -> float:
    """What of a card's memory a job can count on."""
    if method == "inference":
        return card_bytes * SERVING_SHARE
    return card_bytes * (1 - FRAGMENTATION) - CONTEXT_BYTES


def verdict(total: float, card_bytes: float, method: Method) -> Verdict:
    """Whether it fits: with headroom, only just, or not."""
    if total <= usable(card_bytes, method):
        return "fits"
    return "tight" if total <= card_bytes else "no"


def smallest_count(plan: Plan, card_bytes: float) -> int | None:
    """The fewest GPUs, of 1, 2, 4 and whole nodes of 8, on which the plan fits; None if on none."""
    split = plan.tensor_parallel * plan.pipeline_parallel
    counts = [count for count in (1, 2, 4, *range(8, 16_385, 8)) if count % split == 0]

    def fits(count: int) -> bool:
        return verdict(need(replace(plan, gpus=count)).total, card_bytes, plan.method) == "fits"

    # What a GPU holds never grows with the count, so the first that fits can be bisected.
    at = bisect_left(counts, True, key=fits)
    return counts[at] if at < len(counts) else None
