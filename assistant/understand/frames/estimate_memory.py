"""How people ask whether a model fits, and how much memory it takes."""

from __future__ import annotations

import re
from typing import Any

from assistant.understand.frames import common
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Choice, Frame


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    arguments = common.drop_size_of_named_model(arguments, mentions)
    if "gpu" in arguments:
        arguments.pop("gpu_memory_bytes", None)
    return arguments


def _settle(arguments: dict[str, Any]) -> dict[str, Any]:
    if arguments.get("method") == "lora" and arguments.get("precision") == "int4":
        return {name: value for name, value in arguments.items() if name != "precision"} | {"method": "qlora"}
    return arguments


FRAME = Frame(
    tool="estimate_memory",
    asks=re.compile(
        r"显存|放得?下|放不下|装得?下|装不下|塞得?下|塞进|够不够|够吗|能不?能?(?:跑|训|微调|放|装|行)|[卡得能]行(?:吗|么|不)|能行|行不行|几张卡|多少张|要几张|炸|爆|oom"
        r"|out of memory|\bfits?\b|vram|gpu memory|memory per|how (?:much|many) (?:memory|vram|gpus?|cards?)|kv ?cache|显卡能",
        re.I,
    ),
    amounts=(
        common.ACTIVE_PARAMETERS,
        common.PARAMETERS,
        Amount("gpu_memory_bytes", "byte", kinds=("gpu memory",)),
        Amount("sequence_length", "tokens", kinds=("sequence length",), plain=False),
        Amount(
            "batch",
            "1",
            cues=re.compile(r"batch(?:[ _-]?size)?|(?<![a-z])bs(?![a-z])|批大小|批次|并发|requests?|concurren", re.I),
            read=round,
            reach=10,
        ),
        Amount("lora_rank", "1", cues=re.compile(r"rank|秩|(?<![a-z])r\s*="), read=round, reach=8),
    ),
    choices=(
        common.METHOD,
        Choice(
            "zero_stage",
            (
                (3, re.compile(r"zero\s*-?\s*(?:stage\s*)?3|fsdp|full[_ ]shard|z3\b", re.I)),
                (2, re.compile(r"zero\s*-?\s*(?:stage\s*)?2|z2\b", re.I)),
                (1, re.compile(r"zero\s*-?\s*(?:stage\s*)?1|z1\b", re.I)),
                (0, re.compile(r"(?<![a-z])ddp(?![a-z])|纯数据并行", re.I)),
            ),
        ),
        Choice(
            "precision",
            (
                ("int4", re.compile(r"int4|4\s?-?bit|nf4|gptq|awq", re.I)),
                ("int8", re.compile(r"int8|8\s?-?bit(?!\s*(?:adam|optim))", re.I)),
                ("fp8", re.compile(r"fp8", re.I)),
                ("fp32", re.compile(r"fp32|float32|单精度|全精度", re.I)),
                ("fp16", re.compile(r"fp16|float16|半精度", re.I)),
                ("bf16", re.compile(r"bf16|bfloat16", re.I)),
            ),
        ),
        Choice(
            "recompute",
            (
                (
                    "full",
                    re.compile(
                        r"重算|检查点(?=.{0,6}(?:激活|开))|gradient checkpoint|activation checkpoint|recompute", re.I
                    ),
                ),
            ),
        ),
        Choice(
            "offload",
            (
                ("all", re.compile(r"offload.{0,16}(?:param|all|全)|infinity", re.I)),
                ("optimizer", re.compile(r"offload|卸载到", re.I)),
            ),
        ),
        Choice(
            "optimizer",
            (
                ("adam8bit", re.compile(r"8\s?-?bit\s*adam|adam\w*\s*8\s?-?bit", re.I)),
                ("adafactor", re.compile(r"adafactor", re.I)),
                ("sgd", re.compile(r"\bsgd\b", re.I)),
            ),
        ),
    ),
    derived=(common.MODEL, common.GPU, common.GPU_COUNT),
    excludes=(common.SIZE_OR_MODEL, frozenset({"gpu", "gpu_memory_bytes"})),
    refine=_refine,
    settle=_settle,
    follow_ups={
        "zh": ("换成 QLoRA 呢？", "用 8 张卡 ZeRO-3 每卡要多少？", "训练要多久、多少钱？"),
        "en": (
            "And with QLoRA?",
            "How much per GPU with ZeRO-3 on 8 GPUs?",
            "How long and how expensive is the training?",
        ),
    },
)
