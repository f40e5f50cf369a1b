"""Readings that several calculators share: which GPUs and how many, which model and how large."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Choice, Derived
from knowledge.quantities import compatible

PARAMETERS = Amount("parameters", "parameters", not_kinds=("model", "active"), plain=True, alternatives=True)
ACTIVE_PARAMETERS = Amount(
    "active_parameters", "parameters", cues=re.compile(r"激活|active|activated", re.I), kinds=("active",)
)


_SINGLE = re.compile(r"单(?:张|卡|块|机单卡)|\bsingle\b|\bone (?:gpu|card)\b|\ba (?:gpu|card)\b", re.I)
_OF = re.compile(r"\s*(?:of|with|w/)\s*", re.I)
"""Between machines and the GPUs of each of them."""


def gpu_counts(mentions: Mentions) -> Sequence[int]:
    """GPUs in all, one number for each way in which the question counts them ("96台8卡" is 768; "两张…四张" both)."""
    counts: list[int] = []
    nodes: float | None = None
    end = 0
    for quantity in mentions.quantities:
        if quantity.unit == "node":
            nodes, end = quantity.value, quantity.end
        elif quantity.unit == "gpu":
            joined = _OF.fullmatch(mentions.text, end, quantity.start)
            per_node = nodes is not None and (quantity.kind == "per node" or bool(joined))
            counts.append(round(quantity.value * (nodes or 1.0) if per_node else quantity.value))
            nodes = None if per_node else nodes
    if not counts and mentions.names_of("accelerator") and _SINGLE.search(mentions.text):
        return [1]
    return counts


def gpu_names(mentions: Mentions) -> Sequence[str]:
    """Accelerators named, in the catalog's names."""
    return [name.value for name in mentions.names_of("accelerator")]


def model_names(mentions: Mentions) -> Sequence[str]:
    """Models named; one that can mean several stays as it was written."""
    return [name.value for name in mentions.names_of("model")]


def providers(mentions: Mentions) -> Sequence[str]:
    """Clouds named."""
    return [name.value for name in mentions.names_of("provider")]


def regions(mentions: Mentions) -> Sequence[str]:
    """Regions named."""
    return [name.value for name in mentions.names_of("region")]


def places(mentions: Mentions) -> Sequence[str]:
    """Regions in order, those that are named by their place too."""
    return [name.value for name in mentions.names if name.kind in ("region", "place")]


PER_GPU_HOUR = re.compile(
    r"(?:每|一)?(?:个)?卡时|(?:每|一)张?卡(?:每|一)?(?:个)?小时|(?:per|an?|/)\s?(?:gpu|card)[- ]?(?:hour|h\b)", re.I
)
MODEL = Derived("model", model_names)
GPU = Derived("gpu", gpu_names)
GPU_COUNT = Derived("gpu_count", gpu_counts, units=("gpu", "node"))
SIZE_OR_MODEL = frozenset({"model", "parameters", "active_parameters"})

METHOD = Choice(
    "method",
    (
        ("qlora", re.compile(r"q-?lora|(?:4|8)\s?-?bit(?=.{0,12}(?:lora|微调|fine))|lora.{0,12}(?:4|8)\s?-?bit", re.I)),
        ("lora", re.compile(r"(?<![a-z])(?:lora|peft|adapter)(?![a-z])|低秩", re.I)),
        (
            "full",
            re.compile(
                r"全参|全量(?!\s*(?:ckpt|checkpoint|检查点|存))|全部参数|全精调|full[- ]?(?:param|fine|ft|train|weight)|"
                r"\bsft\b|adam(?:w)?\b|优化器状态?|混合精度|mixed[- ]precision|预训练|从头训|从零训|pre-?train|from scratch|zero-?[123]|fsdp",
                re.I,
            ),
        ),
        (
            "inference",
            re.compile(
                r"推理|部署|权重(?:本身|多大|多少)|(?:bf16|fp16|fp8|int[48])(?: \S+)? weights|weights (?:alone|only)|just the weights|\binfer|\bserv(?:e|ing)\b|kv[ -]?cache|并发|\bhost(?:ing)?\b(?! (?:ram|mem))",
                re.I,
            ),
        ),
    ),
)


def drop_size_of_named_model(arguments: dict[str, Any], _mentions: Mentions) -> dict[str, Any]:
    """A model's name carries its size; a size beside it would contradict the catalog."""
    if "model" in arguments:
        arguments.pop("parameters", None)
    return arguments


def currencies(mentions: Mentions) -> Sequence[str]:
    """The currency of the first amount of money."""
    for quantity in mentions.quantities:
        for unit in (quantity.unit, *(reading.unit for reading in quantity.readings)):
            if match := re.match(r"[A-Z]{3}(?=/|$)", unit):
                return [match.group()]
    return []


CURRENCY = Derived("currency", currencies)
PURCHASE = Choice(
    "purchase",
    (
        ("spot", re.compile(r"抢占|竞价|\bspot\b|preempt|可中断", re.I)),
        ("reserved", re.compile(r"预留|包年|包月|承诺|reserv|commit|savings plan|节省计划", re.I)),
        ("on_demand", re.compile(r"按需|按量|on[- ]?demand|pay[- ]as", re.I)),
    ),
)
PROVIDER = Derived("provider", providers)
REGION = Derived("region", regions)


def bandwidths(mentions: Mentions) -> Sequence[float]:
    """Line rates in bit/s; "8 × 400G" is one of eight times as much, "100 Mb" an abbreviation of a rate."""
    rates: list[float] = []
    factor = 1.0
    for quantity in mentions.quantities:
        units = (quantity.unit, *(reading.unit for reading in quantity.readings))
        if any(compatible(unit, "bit/s") for unit in units):
            rates.append(quantity.to("bit/s") * (factor if quantity.kind == "each" else 1.0))
        factor = quantity.value if quantity.unit == "1" else 1.0
    return rates


BANDWIDTH = Derived("bandwidth_bits_per_second", bandwidths, units=("bit/s", "byte/s"))
RDMA = Choice(
    "rdma",
    (
        (
            False,
            re.compile(
                r"(?:没有?|无|不带|without|no)\s*(?:rdma|ib\b|infiniband)|\btcp\b|以太网|ethernet|10gbe|万兆|千兆", re.I
            ),
        ),
        (True, re.compile(r"rdma|infiniband|(?<![a-z])ib(?![a-z])|roce|(?<![a-z])efa(?![a-z])", re.I)),
    ),
)
