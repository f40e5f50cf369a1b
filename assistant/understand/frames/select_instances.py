"""How people ask which machine to take, and which of several offers is worth more."""

from __future__ import annotations

import re
from typing import Any

from assistant.understand.frames import common
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Choice, Frame

_PRICE_UNITS = re.compile(r"([A-Z]{3})(?:/(?:gpu-)?hour)?$")


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    arguments = common.drop_size_of_named_model(arguments, mentions)
    offers = _offers(mentions)
    if len(offers) > 1:
        return {name: value for name, value in arguments.items() if name in ("model", "parameters", "tokens")} | {
            "offers": offers
        }
    return arguments


def _offers(mentions: Mentions) -> list[dict[str, Any]]:
    """Each accelerator with the price that follows it, or the one before it where none follows."""
    accelerators = mentions.names_of("accelerator")
    prices = [(quantity, match[1]) for quantity in mentions.quantities if (match := _PRICE_UNITS.match(quantity.unit))]
    if len(accelerators) < 2 or len(prices) != len(accelerators):
        return []
    return [
        {"name": accelerator.value, "gpu": accelerator.value, "price_per_gpu_hour": price.value}
        for accelerator, (price, currency) in zip(accelerators, prices, strict=True)
    ]


FRAME = Frame(
    tool="select_instances",
    asks=re.compile(
        r"(?:选|用|租|挑|推荐|哪)(?:个|种|款|家|些)?[^，。？?]{0,8}(?:实例|机型|机器|卡|云|集群|配置)|哪(?:家|个|种|款).{0,10}(?:便宜|划算|好|合适)|机型|实例(?:类型|规格)"
        r"|which (?:instance|gpu|machine|cloud|provider|vm|card)|recommend|cheapest|best (?:value|gpu|instance)|instances? (?:with|for|that)|compare .{0,40}(?:xlarge|highgpu|h100|a100)"
        r"|what (?:instance|machine|vm|gpu)|options\?|per unit of compute|better (?:deal|value)|machine type",
        re.I,
    ),
    amounts=(
        common.PARAMETERS,
        Amount("tokens", "tokens", plain=True),
        Amount("min_gpu_memory_bytes", "byte", kinds=("gpu memory",), plain=True),
        Amount("min_memory_bytes", "byte", cues=re.compile(r"(?<!显)内存|host|\bram\b", re.I)),
        Amount("days", "day", plain=True),
        Amount("max_price_per_gpu_hour", "money/gpu-hour", plain=True),
        Amount("budget", "money", plain=True),
    ),
    choices=(
        common.METHOD,
        common.PURCHASE,
        Choice(
            "rdma", ((True, re.compile(r"rdma|infiniband|(?<![a-z])ib(?![a-z])|roce|(?<![a-z])efa(?![a-z])", re.I)),)
        ),
        Choice("nvlink", ((True, re.compile(r"nvlink|nvswitch", re.I)),)),
        Choice(
            "sort",
            (
                ("price", re.compile(r"最?便宜|省钱|cheapest|lowest price", re.I)),
                ("time", re.compile(r"最快|尽快|fastest|soonest", re.I)),
                ("value", re.compile(r"性价比|划算|best value|per unit", re.I)),
            ),
        ),
    ),
    derived=(common.MODEL, common.GPU, common.GPU_COUNT, common.CURRENCY, common.PROVIDER, common.REGION),
    needs=(
        ("gpu",),
        ("parameters",),
        ("model",),
        ("provider",),
        ("min_gpu_memory_bytes",),
        ("gpu_count",),
        ("offers",),
        ("budget",),
    ),
    excludes=(common.SIZE_OR_MODEL,),
    refine=_refine,
    follow_ups={
        "zh": ("只看有 RDMA 的呢？", "抢占式的价格呢？", "训练一次大概多少钱？"),
        "en": ("Only those with RDMA?", "What about spot prices?", "What would the run cost?"),
    },
)
