"""Calculator: which cloud instances meet hard constraints, ranked by price for useful compute, and why not others."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language
from assistant.tools import _checks, _memory, _mfu, _select_words, _shape
from assistant.tools._inputs import MoneyInputs
from assistant.tools._memory import Plan
from assistant.tools._shape import Shape
from assistant.tools.base import Calculation, Filled, Tool
from knowledge import catalog
from knowledge.catalog.records import Accelerator, Instance, Provenance

_SHOWN = 8
_TYPICAL = _shape.from_size(7e9)


class Offer(BaseModel):
    """An offer that the user states. Prices per GPU and per instance are different fields; 0 means none is listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(description="What to call it")
    gpu: str
    gpu_count: int = Field(1, ge=1, le=1024, description="GPUs of one instance")
    price_per_gpu_hour: float | None = Field(None, ge=0, le=1e6)
    price_per_instance_hour: float | None = Field(None, ge=0, le=1e7)
    tokens_per_second_per_gpu: float | None = Field(None, gt=0, le=1e9, description="Measured speed")


class SelectInputs(MoneyInputs):
    """What must hold, and what it is for."""

    gpu: str | None = Field(None, description="GPU name, such as A100 80GB")
    gpu_count: int | None = Field(None, ge=1, le=_checks.MAX_GPUS, description="GPUs in all")
    min_gpu_memory_bytes: float | None = Field(None, gt=0, le=1e13, json_schema_extra={"unit": "byte"})
    min_memory_bytes: float | None = Field(
        None, gt=0, le=1e15, description="Host memory of an instance", json_schema_extra={"unit": "byte"}
    )
    model: str | None = Field(None, description="Model to train or serve: sets memory and GPU count")
    parameters: float | None = Field(None, description="Parameters in all", json_schema_extra={"unit": "parameters"})
    method: Literal["full", "lora", "qlora", "inference"] | None = None
    tokens: float | None = Field(None, gt=0, le=_checks.MAX_TOKENS, json_schema_extra={"unit": "tokens"})
    rdma: bool = Field(False, description="Only instances that are known to have RDMA (InfiniBand, RoCE, EFA)")
    nvlink: bool = Field(False, description="Only GPUs that are linked by NVLink or the like")
    min_bandwidth_bits_per_second: float | None = Field(None, gt=0, le=1e15, json_schema_extra={"unit": "bit/s"})
    provider: str | None = None
    region: str | None = Field(None, description="Part of a region's name, such as us-east or eu")
    purchase: Literal["on_demand", "reserved", "spot"] = "on_demand"
    budget: float | None = Field(None, gt=0, le=1e13, json_schema_extra={"unit": "money"})
    days: float | None = Field(None, gt=0, le=36_500, description="Deadline", json_schema_extra={"unit": "day"})
    max_price_per_gpu_hour: float | None = Field(None, gt=0, le=1e6, json_schema_extra={"unit": "money/gpu-hour"})
    sort: Literal["value", "price", "time"] = "value"
    offers: tuple[Offer, ...] = Field((), description="Offers to compare; then the catalog's are left out")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An offer with what follows from it."""

    row: Instance
    accelerator: Accelerator
    price: float
    """A GPU and hour."""
    useful_tflops: float
    """Expected 10^12 useful FLOP/s of one GPU."""
    instances: int
    days: float | None
    cost: float | None

    @property
    def value(self) -> float:
        """Price of 10^18 useful FLOPs."""
        return self.price / (self.useful_tflops * 1e12 * 3600 / 1e18)

    @property
    def hourly(self) -> float:
        """All instances together, an hour."""
        return self.price * self.row.accelerator_count * self.instances


class _Left:
    """Why offers were left out: reason, how many, and whom."""

    def __init__(self) -> None:
        self.reasons: dict[str, list[str]] = {}

    def add(self, reason: str, row: Instance) -> None:
        names = self.reasons.setdefault(reason, [])
        label = f"{row.provider} {row.name}".strip()
        if label not in names:
            names.append(label)


def _stated(inputs: SelectInputs, language: Language) -> list[Instance]:
    """The user's offers as catalog rows.

    Raises:
        InvalidField: an offer's GPU is unknown.
    """
    rows = []
    for offer in inputs.offers:
        accelerator = _checks.accelerator(offer.gpu, language, "offers").row
        price = offer.price_per_instance_hour or (offer.price_per_gpu_hour or 0) * offer.gpu_count
        rows.append(
            Instance(
                provider="",
                name=offer.name,
                accelerator=accelerator.name,
                accelerator_label=offer.gpu,
                accelerator_count=offer.gpu_count,
                accelerator_memory_gb=accelerator.memory_gb,
                vcpus=None,
                memory_gib=None,
                network_gbps=None,
                rdma=None,
                region="",
                currency=inputs.currency or "USD",
                on_demand=price or None,
                reserved=None,
                spot=None,
                note="",
                source=accelerator.source,
            )
        )
    return rows


def _needed_gpus(inputs: SelectInputs, shape: Shape | None, row: Accelerator) -> int | None:
    """GPUs that the job takes on this accelerator; None when it fits on no number of them."""
    if inputs.gpu_count is not None:
        return inputs.gpu_count
    if shape is None or inputs.method is None or row.memory_gb is None:
        return 1
    return _fewest(shape, inputs.method, row.memory_gb)


@lru_cache(maxsize=512)
def _fewest(shape: Shape, method: _memory.Method, memory_gb: float) -> int | None:
    length = 4096.0 if method == "inference" else 2048.0
    return _memory.smallest_count(Plan(shape, method, 1, stage=3, sequence_length=length), memory_gb * 1e9)


@lru_cache(maxsize=4096)
def _expected(accelerator: Accelerator, shape: Shape, gpus: int) -> float:
    """Useful FLOP/s of one GPU."""
    return _mfu.expect(accelerator, shape, gpus=gpus).likely * (accelerator.peak_tflops or 0) * 1e12


def _reasons(
    inputs: SelectInputs,
    row: Instance,
    accelerator: Accelerator | None,
    wanted: frozenset[str] | None,
    provider: str | None,
) -> str | None:
    """The first hard constraint that an offer breaks."""
    memory = row.accelerator_memory_gb or (accelerator.memory_gb if accelerator else None)
    checks = (
        ("gpu", wanted is not None and row.accelerator not in wanted),
        ("provider", provider is not None and row.provider != provider),
        ("region", inputs.region is not None and not _in_region(row, inputs.region)),
        ("gpu memory", inputs.min_gpu_memory_bytes is not None and (memory or 0) * 1e9 < inputs.min_gpu_memory_bytes),
        (
            "host memory",
            inputs.min_memory_bytes is not None and (row.memory_gib or 0) * 2**30 < inputs.min_memory_bytes,
        ),
        ("rdma", inputs.rdma and row.rdma is not True),
        ("nvlink", inputs.nvlink and (accelerator is None or "PCIe" in accelerator.interconnect)),
        (
            "bandwidth",
            inputs.min_bandwidth_bits_per_second is not None
            and (row.network_gbps or 0) * 1e9 < inputs.min_bandwidth_bits_per_second,
        ),
        ("currency", inputs.currency is not None and row.currency != inputs.currency),
        ("no price", row.price_per_gpu(inputs.purchase) is None),
        ("no specification", accelerator is None or accelerator.peak_tflops is None),
        (
            "price",
            inputs.max_price_per_gpu_hour is not None
            and (row.price_per_gpu(inputs.purchase) or 0) > inputs.max_price_per_gpu_hour,
        ),
    )
    return next((reason for reason, broken in checks if broken), None)


def _in_region(row: Instance, region: str) -> bool:
    if not row.region or region.casefold() in row.region.casefold():
        return True
    return row.region.startswith("all") and not _in_china(region)


def _in_china(region: str) -> bool:
    words = ("cn-", "china", "中国", "国内", "北京", "上海", "beijing", "shanghai", "hangzhou", "shenzhen")
    return any(word in region.casefold() for word in words)


def _candidate(
    inputs: SelectInputs, row: Instance, accelerator: Accelerator, shape: Shape | None, left: _Left
) -> _Candidate | None:
    gpus = _needed_gpus(inputs, shape, accelerator)
    if gpus is None:
        left.add("gpu memory", row)
        return None
    instances = math.ceil(gpus / row.accelerator_count)
    count = instances * row.accelerator_count
    job = shape or _TYPICAL
    measured = next((o.tokens_per_second_per_gpu for o in inputs.offers if o.name == row.name), None)
    per_token = 6 * job.active_parameters
    rate = measured * per_token if measured is not None else _expected(accelerator, job, count)
    days = cost = None
    price = row.price_per_gpu(inputs.purchase) or 0.0
    if shape is not None and inputs.tokens is not None:
        hours = per_token * inputs.tokens / (rate * 3600)
        days, cost = hours / (24 * count), hours * price
        if inputs.days is not None and days > inputs.days and inputs.gpu_count is None:
            instances = math.ceil(hours / (24 * inputs.days) / row.accelerator_count)
            days = hours / (24 * instances * row.accelerator_count)
    elif inputs.days is not None:
        cost = price * count * 24 * inputs.days
    if days is not None and inputs.days is not None and days > inputs.days * (1 + 1e-9):
        left.add("deadline", row)
        return None
    if cost is not None and inputs.budget is not None and cost > inputs.budget:
        left.add("budget", row)
        return None
    return _Candidate(row, accelerator, price, rate / 1e12, instances, days, cost)


def _ranked(inputs: SelectInputs, candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """Best first; one an instance type, in its cheapest region."""
    order = {
        "value": lambda c: (c.cost if c.cost is not None else c.value, c.hourly),
        "price": lambda c: (c.hourly, c.price),
        "time": lambda c: (c.days if c.days is not None else -c.useful_tflops, c.price),
    }[inputs.sort]
    best: dict[tuple[str, str], _Candidate] = {}
    for candidate in sorted(candidates, key=order):
        best.setdefault((candidate.row.provider, candidate.row.name), candidate)
    return list(best.values())


def _calculate(inputs: SelectInputs, language: Language) -> Calculation:
    found = _shape.resolve(inputs.model, inputs.parameters, None, language)
    if isinstance(found, catalog.AmbiguousName):
        clause = _shape.which_model(found, inputs.model or "", language)
        raise MissingInputs(["model"], f"请先说明{clause}。" if language == "zh" else f"Please say {clause}.")
    _ask(inputs, found, language)
    wanted = _wanted(inputs.gpu, language) if inputs.gpu is not None else None
    provider = _provider(inputs)
    by_name = {row.name: row for row in catalog.accelerators()}
    left = _Left()
    candidates = []
    for row in _stated(inputs, language) if inputs.offers else catalog.instances():
        accelerator = by_name.get(row.accelerator or "")
        reason = _reasons(inputs, row, accelerator, None if inputs.offers else wanted, provider)
        if reason is not None:
            left.add(reason, row)
        elif accelerator is not None:
            candidate = _candidate(inputs, row, accelerator, found, left)
            if candidate is not None:
                candidates.append(candidate)
    ranked = _ranked(inputs, candidates)
    shown = ranked[:_SHOWN]
    used: list[Provenance] = [candidate.row.source for candidate in shown]
    result: dict[str, Any] = {
        "offers": [_plain(candidate, ranked[0]) for candidate in shown],
        "matching": len(ranked),
        "left_out": [
            {"reason": reason, "count": len(names), "examples": names[:3]} for reason, names in left.reasons.items()
        ],
        "currency": shown[0].row.currency if shown else inputs.currency or "USD",
    }
    if provider is not None and not any(row.provider == provider for row in catalog.instances()):
        result["unlisted_provider"] = provider
    if shown:
        fastest = min(shown, key=lambda c: c.days if c.days is not None else -c.useful_tflops)
        result["fastest"] = _plain(fastest, ranked[0])
    filled = {"purchase": Filled(inputs.purchase, "default"), "sort": Filled(inputs.sort, "default")}
    warnings = () if inputs.offers else _checks.age_warnings(used, language)
    return Calculation(
        result=result,
        formula=(
            "单位有效算力价 = 卡时价 ÷ (峰值 × 预期 MFU × 3600)；台数 = 卡数 ÷ 每台卡数，向上取整"
            if language == "zh"
            else "value = price a GPU-hour / (peak FLOP/s x expected MFU x 3600); instances = GPUs / GPUs each, up"
        ),
        filled=filled,
        assumptions=_assumptions(inputs, found, language),
        warnings=(*warnings, *_export(inputs, language)),
        sources=_checks.sources([*used, *_mfu.sources()]),
    )


def _plain(candidate: _Candidate, best: _Candidate) -> dict[str, Any]:
    row = candidate.row
    entry: dict[str, Any] = {
        "provider": row.provider,
        "instance": row.name,
        "region": row.region,
        "gpu": candidate.accelerator.name,
        "gpus_per_instance": row.accelerator_count,
        "instances": candidate.instances,
        "price_per_gpu_hour": candidate.price,
        "price_per_instance_hour": candidate.price * row.accelerator_count,
        "price_per_hour": candidate.hourly,
        "price_per_exaflop": candidate.value,
        "value_over_best": candidate.value / best.value,
        "network_gbps": row.network_gbps,
        "rdma": row.rdma,
        "as_of": row.source.as_of.isoformat() if row.source.as_of else None,
    }
    if candidate.days is not None:
        entry["days"] = candidate.days
    if candidate.cost is not None:
        entry["cost"] = candidate.cost
    return entry


def _ask(inputs: SelectInputs, shape: Shape | None, language: Language) -> None:
    known = (inputs.gpu, inputs.gpu_count, inputs.min_gpu_memory_bytes, shape, inputs.provider, inputs.region)
    if inputs.offers or any(item is not None for item in known) or inputs.rdma:
        return
    question = (
        "要训练或部署什么模型（多少参数、全参/LoRA/QLoRA/推理），或者要什么卡、几张？"
        if language == "zh"
        else "Which model is it for (size; full, LoRA, QLoRA or inference), or which GPU and how many of them?"
    )
    raise MissingInputs(["model", "gpu", "gpu_count"], question)


def _wanted(gpu: str, language: Language) -> frozenset[str]:
    """The accelerators that a name asks for: all forms and sizes of it, unless it names one.

    Raises:
        InvalidField: there is no such GPU.
    """
    match = _checks.accelerator(gpu, language)
    if any(form in gpu.casefold() for form in ("sxm", "pcie", "nvl")):
        return frozenset({match.row.name})
    return frozenset(
        row.name
        for row in catalog.accelerators()
        if row.family == match.row.family and (match.others or row.memory_gb == match.row.memory_gb)
    )


def _provider(inputs: SelectInputs) -> str | None:
    if inputs.provider is None:
        return None
    try:
        return catalog.find_provider(inputs.provider)
    except catalog.UnknownName as unknown:
        raise InvalidField("provider", str(unknown), nearest=unknown.nearest) from unknown


def _export(inputs: SelectInputs, language: Language) -> tuple[str, ...]:
    """The export notice, when a region in mainland China is asked for."""
    if not _in_china(inputs.region or ""):
        return ()
    return tuple(
        notice.text_zh if language == "zh" else notice.text_en
        for notice in catalog.notices()
        if notice.topic == "export control"
    )


def _assumptions(inputs: SelectInputs, shape: Shape | None, language: Language) -> tuple[str, ...]:
    zh = language == "zh"
    job = shape.name if shape is not None else "7B"
    said = [
        f"有效算力 = 稠密峰值 × 预期 MFU（按 {job} 估）；同一机型取最便宜的地域。"
        if zh
        else f"Useful compute is the dense peak times the expected MFU (for {job}); each type in its cheapest region."
    ]
    if inputs.gpu_count is None and shape is not None and inputs.method is not None:
        said.append(
            "卡数按放得下模型的最少张数计。" if zh else "The number of GPUs is the fewest that the model fits on."
        )
    said.append(
        "挂牌价不代表有货，也没有查合规认证：下单前向云厂商确认。"
        if zh
        else "A list price does not mean stock, and certifications were not checked: confirm with the provider."
    )
    return tuple(said)


TOOL = Tool(
    name="select_instances",
    title={"zh": "实例选型", "en": "Choice of instances"},
    description={
        "zh": "按卡、显存、RDMA、地域、预算、期限筛选云上 GPU 实例，按单位有效算力的价格排序，并说明其余为何排除。",
        "en": "Cloud GPU instances that meet constraints on GPU, memory, RDMA, region, budget and deadline, ranked by "
        "price for useful compute, and why the rest was left out.",
    },
    Inputs=SelectInputs,
    calculate=_calculate,
    present=_select_words.present,
)
