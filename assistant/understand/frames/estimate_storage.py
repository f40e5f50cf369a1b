"""How people ask what keeping data and checkpoints takes and costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from assistant.understand.frames import common
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Choice, Derived, Frame

_CHECKPOINT = re.compile(r"ckpt|checkpoint|检查点|存档|快照|snapshot", re.I)
_ARCHIVE = re.compile(r"归档|冷|低频|archive|glacier|cold|cool", re.I)
_TRAFFIC = re.compile(
    r"^(?!.*(?:存储|存放|归档|副本|盘|storage|\bstor(?:e|ing)\b|archiv|disk)).*(?:出网|出口流量|流量|egress|\bnat\b|data transfer|transfer out)",
    re.I | re.S,
)
"""A price a GB of traffic is none of keeping it."""
_KEEP = re.compile(r"保留|只留|留(?:最近|最后)|最近|最后|keep|last|latest|retain", re.I)
_WRITING = re.compile(
    r"写(?:一次|入|盘)?|存一次|卡住?|阻塞|停住|\bwrit(?:e|es|ing)\b|\bsav(?:e|es|ing)\b|\bblock|\bstall|\bpaus", re.I
)
_RUNNING = re.compile(r"训练|跑|\bfor \d+ days|\btrain", re.I)
_EVERY = re.compile(r"每|间隔|every|interval|each", re.I)


def _months(value: float) -> float:
    """A unit month has 30 days and a year 365: half a year is 6 months, not 6.08."""
    months = value * 30 * 12 / 365
    return float(round(months)) if abs(months - round(months)) < 1e-6 else value


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    arguments = common.drop_size_of_named_model(arguments, mentions)
    if "save_every_seconds" in arguments and "run_days" not in arguments and "months" in arguments:
        arguments["run_days"] = round(arguments.pop("months") * 30, 6)
    if _CHECKPOINT.search(mentions.text) and "volume_bytes" in arguments and "price_per_gb_month" not in arguments:
        arguments["checkpoint_bytes"] = arguments.pop("volume_bytes")
    if {"parameters", "model"} & arguments.keys() and _ESTIMATED.search(mentions.text):
        arguments.pop("checkpoint_bytes", None)
    return arguments


_ESTIMATED = re.compile(r"~|约|大概|差不多|about|around|\?!|？！", re.I)

_ONE_MORE = re.compile(
    r"(?P<third>\bthird cop|第三份)|\b(?:an? )?(?:second|extra|additional) cop|\banother (?:copy|replica)|(?:再|另|多)(?:存|加|备|来|放)?(?:上)?一份|第二份|异地(?:再)?(?:存|备)(?:份)?一份",
    re.I,
)


def _more_copies(mentions: Mentions) -> Sequence[float]:
    """Copies that are counted on: "a second copy", "再存一份"."""
    match = _ONE_MORE.search(mentions.text)
    return [3.0 if match["third"] else 2.0] if match else []


FRAME = Frame(
    tool="estimate_storage",
    asks=re.compile(
        r"存储|对象存储|归档|副本|磁盘|硬盘|占(?:多少|盘)|多大(?:空间|的?盘)|ckpt|checkpoint|检查点|存(?:一|两|三|几|\d)份|每月|一个月多少|冷数据"
        r"|storage|\bcop(?:y|ies) of|\bstor(?:e|ing)\b|disk|archive|replica|bucket|snapshot|per month|monthly|keep (?:the )?last|\btier",
        re.I,
    ),
    amounts=(
        Amount("archive_price_per_gb_month", "money/GB/month", cues=_ARCHIVE, reach=8),
        Amount("archive_price_per_gb_month", "money", cues=_ARCHIVE, reach=8),
        Amount("archive_price_per_gb_month", "1", cues=_ARCHIVE, reach=8),
        Amount("price_per_gb_month", "money/GB/month", plain=True),
        Amount("price_per_gb_month", "money/GB", plain=True),
        Amount("archive_share", "fraction", cues=_ARCHIVE, kinds=("share",), plain=True),
        Amount("keep_last", "copy", cues=_KEEP, reach=10),
        Amount("copies", "copy", blocks=re.compile(r"^\s*(?:多大|多少|ckpt|检查点)|一$", re.I), plain=True),
        Amount(
            "months",
            "month",
            not_kinds=("interval",),
            cues=re.compile(r"项目|保存|存|放|for|keep|over|一共|总", re.I),
            blocks=re.compile(r"每个?$|/\s*$", re.I),
            plain=True,
            least=0.2,
            read=_months,
        ),
        Amount("checkpoint_bytes", "byte", cues=_CHECKPOINT, not_kinds=("gpu memory",), reach=16),
        Amount("volume_bytes", "byte", not_kinds=("gpu memory",), plain=True),
        common.PARAMETERS,
        Amount("bytes_per_parameter", "byte/parameter", plain=True),
        Amount("save_every_steps", "step", cues=_EVERY, kinds=("interval",)),
        Amount("steps", "step", not_kinds=("interval",), plain=True),
        Amount("save_every_seconds", "second", cues=_EVERY, kinds=("interval",)),
        Amount("write_seconds", "second", not_kinds=("interval",), cues=_WRITING, blocks=_RUNNING, reach=20),
        Amount("run_days", "day", not_kinds=("interval",), cues=re.compile(r"训练|跑|run|train", re.I), least=0.04),
        Amount("keep_last", "checkpoint", cues=_KEEP, reach=10),
        Amount("keep_last", "1", cues=_KEEP, reach=10),
        Amount("checkpoint_count", "checkpoint", plain=True),
        Amount("checkpoint_count", "1", cues=re.compile(r"共|一共|总共|in all|total", re.I), reach=4),
        Amount("write_bytes_per_second", "byte/s", plain=True),
        Amount("tokens", "tokens", plain=True),
        Amount("monthly_cost", "money/month", plain=True, exact=True),
        Amount("bytes_per_example", "byte", cues=re.compile(r"每个样本|每张图|per (?:image|sample|example)", re.I)),
    ),
    choices=(
        Choice(
            "weights_only",
            ((True, re.compile(r"只(?:存|保存|留)权重|不(?:存|保存)优化器|weights? only|without optimizer", re.I)),),
        ),
        Choice(
            "kind",
            (
                ("block", re.compile(r"块存储|云盘|ssd|nvme|block (?:storage|volume|device)|ebs", re.I)),
                ("object", re.compile(r"对象存储|oss|\bs3\b|object|bucket", re.I)),
            ),
        ),
        Choice("tier", (("archive", re.compile(r"全部归档|都归档|archive tier|glacier", re.I)),)),
    ),
    derived=(Derived("copies", _more_copies), common.MODEL, common.GPU_COUNT, common.CURRENCY, common.PROVIDER),
    needs=(
        ("volume_bytes",),
        ("write_seconds", "save_every_seconds"),
        ("parameters",),
        ("model",),
        ("checkpoint_bytes",),
        ("tokens",),
        ("monthly_cost",),
    ),
    excludes=(common.SIZE_OR_MODEL,),
    unless=_TRAFFIC,
    refine=_refine,
    follow_ups={
        "zh": ("一半转归档呢？", "只保留最近 3 个检查点呢？", "存三份呢？"),
        "en": ("With half of it archived?", "Keeping only the last 3 checkpoints?", "With three copies?"),
    },
)
