"""How people ask what the network costs a run over several machines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from assistant.understand.frames import common
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Choice, Derived, Frame

_GPUS_PER_NODE = 8


def _nodes(mentions: Mentions) -> Sequence[int]:
    """Machines; where only GPUs are counted, machines of eight."""
    nodes = [round(quantity.value) for quantity in mentions.quantities if quantity.unit == "node"]
    if nodes:
        return nodes[-1:]
    gpus = max(common.gpu_counts(mentions), default=0)
    return [max(2, -(-gpus // _GPUS_PER_NODE))] if gpus > _GPUS_PER_NODE else []


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    arguments = common.drop_size_of_named_model(arguments, mentions)
    counts = common.gpu_counts(mentions)
    nodes = arguments.get("nodes")
    if nodes and counts and counts[-1] % nodes == 0:
        arguments["gpus_per_node"] = counts[-1] // nodes
    return arguments


FRAME = Frame(
    tool="estimate_scaling",
    asks=re.compile(
        r"同步(?:要|时间|多久)|通信(?:时间|开销|占)|all-?reduce|梯度同步|扩(?:展|到)|加(?:到|机器|节点)|线性加速|加速比|并行效率|多机效率|快几倍|快多少"
        r"|gradient sync|sync(?:hroni[sz]ation)? time|scal(?:e|ing)|speed-?up|adding (?:nodes|machines)|communication|parallel efficiency|per step",
        re.I,
    ),
    amounts=(
        common.ACTIVE_PARAMETERS,
        common.PARAMETERS,
        Amount(
            "gradient_bytes",
            "byte",
            cues=re.compile(r"梯度|grad|all-?reduce|同步|sync", re.I),
            not_kinds=("gpu memory",),
            plain=True,
        ),
        Amount("step_seconds", "second", cues=re.compile(r"单步|每步|计算|step|compute", re.I)),
        Amount("network_efficiency", "fraction", cues=re.compile(r"网|带宽|线路|bandwidth|network|line", re.I)),
        Amount("mfu", "fraction", cues=re.compile(r"mfu|利用率|utili", re.I)),
        Amount("accumulation", "step", cues=re.compile(r"累积|accumul", re.I), read=round),
        Amount("accumulation", "1", cues=re.compile(r"累积|accumul", re.I), read=round),
    ),
    choices=(
        Choice(
            "method",
            (("lora", re.compile(r"(?<![a-z])q?lora(?![a-z])", re.I)), ("full", re.compile(r"全参|full", re.I))),
        ),
        Choice(
            "zero_stage",
            (
                (3, re.compile(r"zero\s*-?3|fsdp", re.I)),
                (2, re.compile(r"zero\s*-?2", re.I)),
                (1, re.compile(r"zero\s*-?1", re.I)),
            ),
        ),
        Choice(
            "precision",
            (
                ("fp32", re.compile(r"fp32|float32", re.I)),
                ("fp16", re.compile(r"fp16", re.I)),
                ("fp8", re.compile(r"fp8", re.I)),
                ("bf16", re.compile(r"bf16", re.I)),
            ),
        ),
        common.RDMA,
    ),
    derived=(
        common.MODEL,
        common.GPU,
        Derived("nodes", _nodes, units=("node", "gpu")),
        common.BANDWIDTH,
    ),
    needs=(("parameters",), ("model",), ("gradient_bytes",)),
    excludes=(
        common.SIZE_OR_MODEL,
        frozenset({"gradient_bytes", "parameters", "model"}),
        frozenset({"bandwidth_bits_per_second", "rdma"}),
    ),
    refine=_refine,
    follow_ups={
        "zh": ("换成 400G InfiniBand 呢？", "梯度累积 8 步呢？", "扩到 16 台还划算吗？"),
        "en": ("And with 400G InfiniBand?", "With gradient accumulation over 8 steps?", "Does it pay on 16 nodes?"),
    },
)
