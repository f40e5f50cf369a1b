"""Calculator: what training or serving a model takes on each GPU, whether it fits, and the smallest count that does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language
from assistant.tools import _checks, _memory, _memory_notes, _memory_words, _shape
from assistant.tools._memory import Plan
from assistant.tools._shape import Shape
from assistant.tools.base import Calculation, Filled, Tool, ToolInputs
from knowledge import catalog
from knowledge.catalog.records import Accelerator, Provenance

_METHODS = {
    "full": ("full fine-tuning", "full finetuning", "full-parameter", "pretraining", "pre-training", "全参", "全量"),
    "lora": ("lora fine-tuning", "peft"),
    "qlora": ("4-bit lora", "4bit lora"),
    "inference": ("serving", "推理", "部署"),
}
_PRECISIONS = {
    "int4": ("4bit", "4-bit", "nf4", "q4"),
    "int8": ("8bit", "8-bit", "q8"),
    "bf16": ("bfloat16",),
    "fp16": ("float16", "half"),
    "fp32": ("float32",),
    "fp8": ("float8",),
}


def _one_of(options: Mapping[str, tuple[str, ...]]) -> BeforeValidator:
    written = {alias: name for name, aliases in options.items() for alias in (name, *aliases)}
    return BeforeValidator(lambda value: written.get(str(value).strip().casefold(), value))


class MemoryInputs(ToolInputs):
    """What to run, how, and on which GPUs."""

    model: str | None = Field(None, description="Model name, such as Llama 3.1 70B")
    parameters: float | None = Field(None, description="Parameters in all", json_schema_extra={"unit": "parameters"})
    active_parameters: float | None = Field(
        None, description="Parameters that a token passes through", json_schema_extra={"unit": "parameters"}
    )
    method: Annotated[Literal["full", "lora", "qlora", "inference"] | None, _one_of(_METHODS)] = Field(
        None, description="full (also pre-training), lora, qlora or inference"
    )
    gpu: str | None = Field(None, description="GPU name, such as A100 80GB")
    gpu_memory_bytes: float | None = Field(None, gt=0, le=1e13, json_schema_extra={"unit": "byte"})
    gpu_count: int | None = Field(None, ge=1, le=_checks.MAX_GPUS, description="GPUs in all")
    gpus_per_node: int = Field(8, ge=1, le=72)
    precision: Annotated[Literal["bf16", "fp16", "fp32", "fp8", "int8", "int4"] | None, _one_of(_PRECISIONS)] = Field(
        None, description="Format of the weights"
    )
    optimizer: Literal["adamw", "adam8bit", "sgd", "adafactor"] = "adamw"
    fp32_gradients: bool = Field(False, description="Keep gradients in fp32: 18 bytes a parameter in place of 16")
    zero_stage: int | None = Field(None, ge=0, le=3, description="ZeRO stage; FSDP full sharding is 3, DDP is 0")
    tensor_parallel: int = Field(1, ge=1, le=64)
    pipeline_parallel: int = Field(1, ge=1, le=256)
    sequence_parallel: bool = False
    sequence_length: float | None = Field(None, gt=0, le=1e8, json_schema_extra={"unit": "tokens"})
    batch: int = Field(1, ge=1, le=100_000, description="Sequences a GPU at once; when serving, requests at once")
    recompute: Literal["none", "selective", "full"] | None = Field(None, description="Activation checkpointing")
    flash_attention: bool = True
    lora_rank: int = Field(16, ge=1, le=4096)
    offload: Literal["none", "optimizer", "all"] = Field("none", description="What is kept in host memory")
    kv_precision: Annotated[Literal["bf16", "fp16", "fp8", "int8"], _one_of(_PRECISIONS)] = "bf16"


@dataclass(frozen=True, slots=True)
class _Card:
    """A GPU as the question has it; `name` is empty when only its memory is known."""

    name: str
    memory: float
    row: Accelerator | None
    others: tuple[str, ...] = ()


def _card(inputs: MemoryInputs, language: Language) -> _Card | None:
    if inputs.gpu is None:
        return None if inputs.gpu_memory_bytes is None else _Card("", inputs.gpu_memory_bytes, None)
    stated = inputs.gpu_memory_bytes
    names = [inputs.gpu] if stated is None else [f"{inputs.gpu} {stated / 1e9:.0f}GB", inputs.gpu]
    for name in names:
        try:
            match = _checks.accelerator(name, language)
        except InvalidField:
            if name is names[-1]:
                raise
            continue
        memory = stated or (match.row.memory_gb * 1e9 if match.row.memory_gb is not None else None)
        if memory is None:
            question = (
                f"{match.row.name} 的显存是多少？" if language == "zh" else f"How much memory has {match.row.name}?"
            )
            raise MissingInputs(["gpu_memory_bytes"], question)
        return _Card(match.row.name, memory, match.row, () if stated else match.others)
    return None


def _method(inputs: MemoryInputs) -> Literal["full", "lora", "qlora", "inference"] | None:
    return "qlora" if inputs.method == "lora" and inputs.precision == "int4" else inputs.method


def _ask(inputs: MemoryInputs, shape: Shape | catalog.AmbiguousName | None, language: Language) -> None:
    """Ask for the model and the method when they are not known.

    Raises:
        MissingInputs: one of them is missing; the usual cases come along when the size is known.
    """
    fields, clauses = [], []
    if shape is None:
        fields.append("model")
        clauses.append("哪个模型、多少参数" if language == "zh" else "which model (or how many parameters)")
    elif isinstance(shape, catalog.AmbiguousName):
        fields.append("model")
        clauses.append(_shape.which_model(shape, inputs.model or "", language))
    if inputs.method is None:
        fields.append("method")
        clauses.append(
            "推理还是训练，训练的话是全参、LoRA 还是 QLoRA"
            if language == "zh"
            else "inference or training, and if training whether full fine-tuning, LoRA or QLoRA"
        )
    if not fields:
        return
    if inputs.gpu is None and inputs.gpu_memory_bytes is None:
        fields.append("gpu")
        clauses.append("用哪种卡（显存多大）" if language == "zh" else "which GPU (how much memory)")
    question = ("请先说明：" + "；".join(clauses) + "？") if language == "zh" else f"Please say {'; '.join(clauses)}."
    note, table = ("", ()) if not isinstance(shape, Shape) else _memory_words.usual_cases(shape, language)
    if isinstance(shape, catalog.AmbiguousName):
        note, table = _memory_words.candidates(shape, language)
    raise MissingInputs(fields, question, note=note, table=table)


def _plan(inputs: MemoryInputs, shape: Shape, method: _memory.Method, gpus: int) -> Plan:
    weight = _memory.WEIGHT_BYTES[inputs.precision or "bf16"]
    stage = inputs.zero_stage
    if stage is None:
        stage = 3 if method == "full" else 0
    if method == "full":
        weight = 4.0 if inputs.precision == "fp32" else 2.0
    full_precision = inputs.precision == "fp32"
    gradient = 4.0 if inputs.fp32_gradients or full_precision else 2.0
    optimizer = _memory.OPTIMIZER_BYTES[inputs.optimizer] - (4.0 if full_precision else 0.0)
    return Plan(
        shape=shape,
        method=method,
        gpus=gpus,
        stage=stage,
        weight_bytes=weight,
        gradient_bytes=gradient,
        optimizer_bytes=optimizer,
        tensor_parallel=inputs.tensor_parallel,
        pipeline_parallel=inputs.pipeline_parallel,
        sequence_parallel=inputs.sequence_parallel,
        sequence_length=inputs.sequence_length or (4096 if method == "inference" else 2048),
        micro_batch=inputs.batch,
        recompute=inputs.recompute or "full",
        flash_attention=inputs.flash_attention,
        lora_rank=inputs.lora_rank,
        offload=inputs.offload,
        kv_bytes=_memory.WEIGHT_BYTES[inputs.kv_precision],
    )


def _option(kind: str, plan: Plan, memory: float) -> dict[str, Any]:
    need = _memory.need(plan)
    return {
        "option": kind,
        "gpu_count": plan.gpus,
        "card_bytes": memory,
        "model_state_bytes_per_gpu": need.states,
        "total_bytes_per_gpu": need.total,
        "host_bytes": need.host_total,
        "fits": _memory.verdict(need.total, memory, plan.method),
    }


def _options(plan: Plan, memory: float) -> list[dict[str, Any]]:
    """Other ways to run the same model: more cards, sharding, four bits, offload, a bigger card."""
    options = []
    if plan.method in ("full", "inference") or plan.stage >= 3:
        options += [_option("count", replace(plan, gpus=plan.gpus * k), memory) for k in (2, 4)]
    if plan.method in ("lora", "qlora") and plan.stage < 3 and plan.gpus > 1:
        options.append(_option("shard", replace(plan, stage=3), memory))
    if plan.method == "full" and plan.offload == "none":
        options.append(_option("offload", replace(plan, offload="optimizer", stage=3), memory))
    if plan.method in ("full", "lora"):
        options.append(_option("qlora", replace(plan, method="qlora", stage=0, optimizer_bytes=12.0), memory))
    if plan.method in ("lora", "qlora"):
        options += [
            _option("card", replace(plan, gpus=1, stage=0), size * 1e9) for size in (48, 80) if size * 1e9 > memory
        ]
    if plan.method == "inference" and plan.weight_bytes > 1:
        options.append(_option("int8", replace(plan, weight_bytes=1.0), memory))
    if plan.method == "inference" and plan.weight_bytes > 0.5:
        options.append(_option("int4", replace(plan, weight_bytes=0.5), memory))
    return options


def _count(plan: Plan, memory: float) -> int | None:
    """The smallest count that fits: adapters unsharded when one card does, else sharded."""
    if plan.method in ("lora", "qlora"):
        one = replace(plan, gpus=plan.tensor_parallel * plan.pipeline_parallel, stage=0)
        if _memory.verdict(_memory.need(one).total, memory, plan.method) == "fits":
            return one.gpus
    return _memory.smallest_count(replace(plan, stage=3) if plan.method != "full" else plan, memory)


def _largest(inputs: MemoryInputs, method: _memory.Method, gpus: int, memory: float) -> Shape | None:
    """The largest dense model, to two digits, that fits the GPUs with headroom; None when not even a tiny one does."""
    low, high = 1e6, _checks.MAX_PARAMETERS

    def fits(parameters: float) -> bool:
        plan = _plan(inputs, _shape.from_size(parameters), method, gpus)
        return _memory.verdict(_memory.need(plan).total, memory, method) == "fits"

    if not fits(low):
        return None
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    digit = 10.0 ** (math.floor(math.log10(low)) - 1)
    return _shape.from_size(math.floor(low / digit) * digit)


def _calculate(inputs: MemoryInputs, language: Language) -> Calculation:
    found = _shape.resolve(inputs.model, inputs.parameters, inputs.active_parameters, language)
    method = _method(inputs)
    solved = None
    if found is None and method is not None and inputs.gpu_count is not None:
        asked = _card(inputs, language)
        if asked is not None:
            found = solved = _largest(inputs, method, inputs.gpu_count, asked.memory)
    _ask(inputs, found, language)
    if not isinstance(found, Shape) or method is None:
        raise AssertionError("asked for above")
    card = _card(inputs, language)
    split = inputs.tensor_parallel * inputs.pipeline_parallel
    if inputs.gpu_count is not None and inputs.gpu_count % split:
        raise InvalidField(
            "gpu_count",
            f"{inputs.gpu_count} 张卡不能被张量并行 × 流水线并行 = {split} 整除。"
            if language == "zh"
            else f"{inputs.gpu_count} GPUs can't be divided by tensor x pipeline parallel = {split}.",
            accepted=f"multiples of {split}",
        )
    plan = _plan(inputs, found, method, inputs.gpu_count or split)
    need = _memory.need(plan)
    result: dict[str, Any] = {
        "model": found.name,
        "method": method,
        "parameters": found.parameters,
        "model_state_bytes": _memory.need(replace(plan, gpus=split, stage=0)).states * split,
        "weights_bytes": _memory.base_weights(plan),
        "nominal_weights_bytes": found.parameters * (0.5 if method == "qlora" else plan.weight_bytes),
    }
    if solved is not None:
        result["largest_parameters"] = solved.parameters
    filled = {
        "sequence_length": Filled(plan.sequence_length, "default", "tokens"),
        "batch": Filled(inputs.batch, "default"),
    }
    if method != "inference":
        filled["recompute"] = Filled(plan.recompute, "default")
        filled["optimizer"] = Filled(inputs.optimizer, "default")
    else:
        result["kv_cache_bytes"] = _memory.kv_cache(found, plan.sequence_length * inputs.batch, plan.kv_bytes)
    if card is not None:
        result |= {"gpu": card.name, "card_bytes": card.memory, "usable_bytes": _memory.usable(card.memory, method)}
        smallest = _count(plan, card.memory)
        result["minimum_gpu_count"] = math.ceil(result["model_state_bytes"] / card.memory)
        result["smallest_gpu_count"] = smallest
        if inputs.gpu_count is None and smallest is not None:
            sharded = method == "full" or smallest > split
            plan = replace(plan, gpus=smallest, stage=3 if sharded and method != "inference" else plan.stage)
            need = _memory.need(plan)
            result["gpu_count"] = smallest
        elif inputs.gpu_count is not None:
            result["gpu_count"] = inputs.gpu_count
        result["fits"] = _memory.verdict(need.total, card.memory, method) if "gpu_count" in result else "no"
        result["options"] = _options(plan, card.memory)
        if card.row is not None and card.row.memory_gb is not None and inputs.gpu_memory_bytes is None:
            filled["gpu_memory_bytes"] = Filled(card.memory, "catalog", "byte")
    else:
        result["counts"] = [
            {"card_bytes": size * 1e9, "gpu_count": _count(plan, size * 1e9)} for size in (24, 32, 48, 80, 141)
        ]
        if inputs.gpu_count is not None:
            result["gpu_count"] = inputs.gpu_count
    result |= {
        "zero_stage": plan.stage,
        "weights_bytes_per_gpu": need.weights,
        "trained_state_bytes_per_gpu": need.gradients + need.optimizer,
        "model_state_bytes_per_gpu": need.states,
        "kv_cache_bytes_per_gpu": need.kv_cache,
        "activation_bytes_per_gpu": need.activations,
        "total_bytes_per_gpu": need.total,
        "total_bytes_per_gpu_range": [
            need.total - 0.3 * (need.activations + need.buffers),
            need.total + 0.5 * (need.activations + need.buffers),
        ],
    }
    if plan.offload != "none":
        nodes = math.ceil(plan.gpus / inputs.gpus_per_node)
        result["host_bytes_per_node"] = need.host_total / nodes
    if method != "inference" and "zero_stage" not in inputs.model_fields_set and plan.gpus > 1:
        filled["zero_stage"] = Filled(plan.stage, "default")
    rows = [row for row in (found.source, card.row.source if card and card.row else None) if row is not None]
    return Calculation(
        result=result,
        formula=_memory_notes.formula(plan, language),
        filled=filled,
        assumptions=_memory_notes.assumptions(
            plan, found, inputs.model, card.name if card else "", card.others if card else (), language
        ),
        warnings=_memory_notes.warnings(plan, found, card.row if card else None, inputs.precision, language),
        sources=_checks.sources([*rows, *_references(method)]),
    )


def _references(method: _memory.Method) -> list[Provenance]:
    """The papers that a method's formulas are from."""
    if method == "inference":
        return [Provenance("arXiv 2309.06180 (vLLM)", "https://arxiv.org/abs/2309.06180")]
    papers = [Provenance("arXiv 1910.02054 (ZeRO)", "https://arxiv.org/abs/1910.02054")]
    if method == "qlora":
        papers.append(Provenance("arXiv 2305.14314 (QLoRA)", "https://arxiv.org/abs/2305.14314"))
    return [*papers, Provenance("arXiv 2205.05198 (activations)", "https://arxiv.org/abs/2205.05198")]


TOOL = Tool(
    name="estimate_memory",
    title={"zh": "显存估算", "en": "GPU memory"},
    description={
        "zh": "训练（全参、LoRA、QLoRA）或推理一个模型每张卡要多少显存、放不放得下、最少几张卡。",
        "en": "Memory that training (full, LoRA, QLoRA) or serving a model takes on each GPU, whether it fits, and the "
        "fewest GPUs that do.",
    },
    Inputs=MemoryInputs,
    calculate=_calculate,
    present=_memory_words.present,
)
