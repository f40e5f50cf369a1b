"""How people ask which way of buying pays, and how often to save on capacity that can be taken away."""

from __future__ import annotations

import re
from typing import Any

from assistant.understand.frames import common
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Choice, Derived, Frame

_SPOT = re.compile(r"抢占|竞价|可中断|\bspot\b|preempt", re.I)
_RESERVED = re.compile(
    r"预留|包年|包月|承诺|节省计划|签约|reserv|commit|savings plan|年期|monthly|per month|\d ?-?ye?a?rs?\b|[一三]年",
    re.I,
)
_ON_DEMAND = re.compile(r"按需|按量|on[- ]?demand|pay[- ]as|hourly", re.I)
_LOST = re.compile(
    r"中断|收(?:一次|回|走)|抢(?:占|一)|来一回|回收|故障|坏|挂|mtbf|interrupt|reclaim|preempt|fail|evict|taken away|killed|dies|dead|goes down|crash|掉|断",
    re.I,
)
_SAVING = re.compile(
    r"存(?:一次|档|盘)|保存|写|ckpt|checkpoint|检查点|\bsav(?:e|ing)\b(?!\s+(?:us|me|money|you))|writ", re.I
)
_RESTART = re.compile(r"重启|重新|恢复|拉起|restart|resume|recover|come back", re.I)
_PER_COMMITMENT = re.compile(r"^\s*[¥$]?\d|^\s*(?:is|年|年期|commit|reserv|预留)|^\s*\d+ ?%|年", re.I)
_INTERVAL = re.compile(
    r"(?:每|隔)[^，。,]{0,6}(?:存|保存|写)|(?:存|保存)[^，。,]{0,4}(?:间隔|一次)|sav(?:e|ing) every|checkpoint every",
    re.I,
)


def _left_of_price(mentions: Mentions, words: re.Pattern[str]) -> list[float]:
    """Discounts near these words: "三折" leaves 0.3 of the price, "便宜七成" and "30% off" take away."""
    found = []
    for quantity in mentions.quantities:
        if quantity.unit != "fraction" or not words.search(
            mentions.text[max(0, quantity.start - 24) : quantity.end + 16]
        ):
            continue
        if quantity.kind == "price left":
            found.append(1 - quantity.value)
        elif quantity.kind == "discount" or _CHEAPER.search(
            mentions.text[max(0, quantity.start - 10) : quantity.end + 10]
        ):
            found.append(quantity.value)
    return found[:1]


_HOURS_PER_YEAR = 8760.0
_ANY = re.compile("")
_CHEAPER = re.compile(r"便宜|省|优惠|折扣|降|减|低|off|cheaper|discount|sav(?:e|ing)|less|lower", re.I)


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    if "commitment_years" in arguments and arguments.get("hours", 1.0) % _HOURS_PER_YEAR == 0:
        arguments.pop("hours")  # the length of the commitment, not of a job
    if arguments.get("hours_per_year", 1.0) % _HOURS_PER_YEAR == 0:
        arguments.pop("hours_per_year")
    if not {"spot_discount", "reserved_discount"} & arguments.keys() and (left := _left_of_price(mentions, _ANY)):
        arguments["discount"] = left[0]
    spot = "spot_discount" in arguments and _SPOT.search(mentions.text)
    if spot and "reserved_discount" in arguments and not _RESERVED.search(mentions.text):
        arguments.pop("reserved_discount")
    return arguments


def _settle(arguments: dict[str, Any]) -> dict[str, Any]:
    """A discount without a word of what it is on is on what was discounted before, else on the commitment."""
    discount = arguments.pop("discount", None)
    if discount is not None:
        spot = "spot_discount" in arguments and "reserved_discount" not in arguments
        arguments["spot_discount" if spot else "reserved_discount"] = discount
    return arguments


FRAME = Frame(
    tool="compare_purchase_options",
    asks=re.compile(
        r"抢占|竞价|预留|包年|包月|按量|按需|节省计划|存(?:档|一次).{0,24}(?:多久|间隔|划算)|多久存|间隔(?:多|该|怎)|多久坏"
        r"|\bspot\b|preempt|reserv|on[- ]?demand|commit|savings plan|how often .{0,30}(?:checkpoint|save)|checkpoint interval|mtbf|break-?even",
        re.I,
    ),
    amounts=(
        Amount("spot_price_per_hour", "money/hour", cues=_SPOT, reach=10),
        Amount("reserved_price_per_hour", "money/hour", cues=_RESERVED, reach=10),
        Amount("on_demand_price_per_hour", "money/hour", cues=_ON_DEMAND, reach=10, plain=True),
        Amount("on_demand_price_per_hour", "money/gpu-hour", plain=True),
        Amount("spot_price_per_hour", "money", cues=_SPOT, reach=10),
        Amount("reserved_price_per_hour", "money", cues=re.compile(r"\breserved\b|\bcommitted\b", re.I), reach=8),
        Amount("on_demand_price_per_hour", "money", cues=_ON_DEMAND, reach=10),
        Amount(
            "hours_per_year",
            "hour",
            cues=re.compile(r"一年|每年|全年|a year|per year|yearly", re.I),
            least=1.0,
            reach=6,
        ),
        Amount("on_demand_price_per_hour", "1", cues=re.compile(r"hourly|每(?:个)?小时|一(?:个)?小时", re.I), reach=4),
        Amount("reserved_price_per_month", "money/month", cues=_RESERVED, reach=12, exact=True),
        Amount("reserved_price_per_month", "money", cues=re.compile(r"包月|每月|monthly|per month|commit", re.I)),
        Amount("reserved_price_per_month", "1", cues=re.compile(r"包月|monthly", re.I), reach=14),
        Amount(
            "utilization",
            "fraction",
            not_kinds=("discount", "price left"),
            cues=re.compile(r"利用|使用率|utili|usage", re.I),
            reach=8,
        ),
        Amount("checkpoint_interval_seconds", "second", cues=_INTERVAL, reach=10),
        Amount("checkpoint_seconds", "second", not_kinds=("interval",), cues=_SAVING),
        Amount("restart_seconds", "second", not_kinds=("interval",), cues=_RESTART),
        Amount("interruption_hours", "hour", cues=_LOST, reach=16),
        Amount(
            "hours_per_day", "hour", not_kinds=("interval",), cues=re.compile(r"每天|一天|a day|per day|daily", re.I)
        ),
        Amount(
            "hours_per_month",
            "hour",
            not_kinds=("interval",),
            cues=re.compile(r"每月|每个月|一个月|a month|per month|monthly", re.I),
        ),
        Amount("hours", "hour", not_kinds=("interval",), blocks=_PER_COMMITMENT, plain=True),
    ),
    words=re.compile(
        f"{_SPOT.pattern}|预留|包年|包月|承诺|节省计划|年期|reserv|commit|savings plan|存.{{0,8}}(?:多久|间隔)|ckpt|checkpoint|interrupt|break-?even",
        re.I,
    ),
    needs=(
        ("hours_per_day",),
        ("discount",),
        ("spot_discount",),
        ("reserved_discount",),
        ("spot_price_per_hour",),
        ("reserved_price_per_hour",),
        ("reserved_price_per_month",),
        ("checkpoint_seconds",),
        ("interruption_hours",),
    ),
    choices=(
        Choice(
            "utilization",
            (
                (
                    1.0,
                    re.compile(r"全年(?:开|满|不停|都)|一直开|7x24|24x7|24/7|round the clock|always on|all year", re.I),
                ),
            ),
        ),
        Choice(
            "checkpointing",
            (
                (
                    True,
                    re.compile(
                        r"(?:存档?|检查点|ckpt|checkpoint).{0,12}(?:间隔|多久|频率|interval|often)|(?:多久|interval|how often).{0,24}"
                        r"(?:存|ckpt|checkpoint|save)",
                        re.I,
                    ),
                ),
            ),
        ),
        Choice(
            "commitment_years",
            (
                (3, re.compile(r"(?:三|3)\s*年|(?:three|3)[- ]?(?:year|yr)", re.I)),
                (1, re.compile(r"(?:一|1)\s*年|(?:one|1|a)[- ]?(?:year|yr)", re.I)),
            ),
        ),
    ),
    derived=(
        Derived("spot_discount", lambda mentions: _left_of_price(mentions, _SPOT)),
        Derived("reserved_discount", lambda mentions: _left_of_price(mentions, _RESERVED)),
        common.GPU,
        common.GPU_COUNT,
        common.CURRENCY,
        common.PROVIDER,
        common.REGION,
    ),
    refine=_refine,
    settle=_settle,
    follow_ups={
        "zh": ("利用率多少时包年更划算？", "存一次检查点 5 分钟，多久存一次？", "抢占式有什么前提和风险？"),
        "en": (
            "At which utilisation does a commitment win?",
            "How often should I checkpoint?",
            "What are the risks of spot?",
        ),
    },
)
