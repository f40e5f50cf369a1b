"""How people ask how long a training run takes, what it costs, and how well it used its GPUs."""

from __future__ import annotations

import re
from typing import Any

from assistant.understand.frames import common
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Choice, Frame

_BILL = re.compile(r"账单|花了|烧了|付了|用掉|bill|invoice|paid|spent|burn(?:ed|t)|cost us|came to", re.I)
_OPTIMAL = re.compile(
    r"chinchilla|compute[- ]optimal|最优(?:token|数据|配比)|龙猫|(?:多大|什么规模|几B)的?(?:模型|参数)|训多大|(?:how (?:big|large)|what size)\b.{0,12}model|what model",
    re.I,
)
"""Asks for what is trained best with what there is."""
_WASTE = re.compile(r"^(?!.*(?:训|token|train)).*(?:浪费|白烧|白花|空转|\bwast|\bidle)", re.I | re.S)
_BUDGET = re.compile(r"预算|以内|给你|只有|手头|budget|\bhave\b|under|within|at most|afford", re.I)


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    arguments = common.drop_size_of_named_model(arguments, mentions)
    if "examples" not in arguments:
        arguments.pop("tokens_per_example", None)
    return arguments


FRAME = Frame(
    tool="estimate_training_cost",
    asks=re.compile(
        r"要(?:多久|多长时间|几天|多少天|多少卡时|多少钱)|多少卡时|几天|训完|训练(?:成本|费用|时间)|跑完|卡时|mfu|利用率(?:是|有|才)?多少|反推|算力"
        r"|能(?:训|喂|跑)多(?:大|少)|多少token|flops|how long|how many days|gpu[- ]?hours?|training (?:cost|time)|cost of|how much (?:would|does|will)|tokens? can"
        r"|when (?:is|will) it|(?:pre)?train(?:ing)? .{0,40}(?:days|cost|\$)|compute[- ]optimal|chinchilla",
        re.I,
    ),
    amounts=(
        common.ACTIVE_PARAMETERS,
        common.PARAMETERS,
        Amount("tokens", "tokens", not_kinds=("sequence length",), plain=True, alternatives=True),
        Amount(
            "tokens_per_example",
            "tokens",
            cues=re.compile(r"每条|每个样本|长度|平均|each|per (?:example|sample)|(?<!how )long|length", re.I),
            kinds=("sequence length",),
        ),
        Amount("tokens_per_example", "1", cues=re.compile(r"每条|每个样本|each|per (?:example|sample)", re.I), reach=8),
        Amount("examples", "example", plain=True),
        Amount("epochs", "epoch", plain=True),
        Amount("gpu_hours", "gpu-hour", plain=True),
        Amount("days", "day", not_kinds=("interval",), plain=True, alternatives=True),
        Amount("mfu", "fraction", cues=re.compile(r"mfu|利用率|utili[sz]ation|efficien", re.I), alternatives=True),
        Amount("tokens_per_second_per_gpu", "token/s", plain=True),
        Amount(
            "tokens_per_second",
            "token/s",
            cues=re.compile(r"总|合计|整个|集群|total|overall|cluster|aggregate|altogether", re.I),
        ),
        Amount("price_per_gpu_hour", "money/gpu-hour", plain=True, alternatives=True),
        Amount(
            "price_per_instance_hour",
            "money/hour",
            cues=re.compile(r"台|节点|机器|实例|node|instance|machine|box|server", re.I),
        ),
        Amount("price_per_gpu_hour", "money/hour", plain=True, alternatives=True),
        Amount("price_per_gpu_hour", "money", cues=common.PER_GPU_HOUR, reach=4, alternatives=True),
        Amount("cost", "money", cues=_BILL),
        Amount("budget", "money", cues=_BUDGET, plain=True),
        Amount(
            "data_bytes", "byte", cues=re.compile(r"语料|文本|数据|text|corpus|data", re.I), not_kinds=("gpu memory",)
        ),
    ),
    choices=(
        Choice(
            "method",
            (
                ("qlora", re.compile(r"q-?lora", re.I)),
                ("lora", re.compile(r"(?<![a-z])lora(?![a-z])", re.I)),
                ("continued", re.compile(r"继续预训练|增量预训练|二次预训练|continued|continual|domain.adapt", re.I)),
                ("full", re.compile(r"微调|精调|\bsft\b|fine-?tun", re.I)),
                ("pretraining", re.compile(r"预训练|从头|从零|pre-?train|from scratch", re.I)),
            ),
        ),
        Choice(
            "compute_optimal",
            ((True, _OPTIMAL),),
        ),
        Choice("recompute", ((True, re.compile(r"重算|recompute|activation checkpoint|gradient checkpoint", re.I)),)),
        Choice("fp8", ((True, re.compile(r"fp8", re.I)),)),
        common.PURCHASE,
    ),
    derived=(common.MODEL, common.GPU, common.GPU_COUNT, common.CURRENCY, common.PROVIDER, common.REGION),
    needs=(
        ("parameters",),
        ("model",),
        ("gpu_hours",),
        ("tokens",),
        ("tokens", "tokens_per_second_per_gpu"),
        ("examples",),
        ("gpu_count", "days"),
        ("budget", "price_per_gpu_hour"),
    ),
    excludes=(
        common.SIZE_OR_MODEL,
        frozenset({"tokens", "examples", "tokens_per_example", "data_bytes", "compute_optimal"}),
        frozenset({"cost", "budget"}),
        frozenset({"price_per_gpu_hour", "price_per_instance_hour", "purchase"}),
        frozenset({"mfu", "tokens_per_second_per_gpu", "tokens_per_second"}),
    ),
    unless=_WASTE,
    refine=_refine,
    follow_ups={
        "zh": ("换成抢占式实例能省多少？", "显存放得下吗？", "预算减半能训多少 token？"),
        "en": ("How much would spot instances save?", "Does it fit in memory?", "What does half the budget buy?"),
    },
)
