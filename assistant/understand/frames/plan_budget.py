"""How people ask whether a budget lasts, when alerts fall due, and how to divide it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from assistant.understand.frames import common
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Derived, Frame
from knowledge.quantities import Quantity

_SPENT = re.compile(r"已经?|花了|花掉|用了|用掉|烧了|spent|spend|used|so far|to date|gone", re.I)
_LEFT = re.compile(r"剩|余|还有|left|remaining|remain", re.I)
_DAILY = re.compile(r"每天|一天|日均|a day|per day|daily|/day", re.I)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_BUDGET = re.compile(r"预算|总共|总额|总价|budget|\bof\b|total|allocat|split", re.I)
_ALERT = re.compile(r"告警|报警|预警|阈值|提醒|设在|alert|threshold|warn|when will we (?:hit|reach)|hit", re.I)
_PHASES = re.compile(
    r"(?P<zh>[二两三四五六七八]|\d)个?(?:阶段|部分|期)|(?P<en>two|three|four|five|six|\d)[- ](?:phase|stage|part|team)s?",
    re.I,
)
_WORDS = {
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
}


_PERIODS = ((re.compile(r"季度|quarter", re.I), 91.0), (re.compile(r"(?:全|今|本|一)年|年度|\byear", re.I), 365.0),
            (re.compile(r"(?<![个\d一二两三四五六七八九十])月|[这本当]个月|\bmonth", re.I), 30.0))  # fmt: skip


def _period(mentions: Mentions) -> Sequence[float]:
    """The period that a word names where no length is given: "for the month", "月底"."""
    if not (_SPENT.search(mentions.text) or _DAILY.search(mentions.text)):
        return []
    return [days for words, days in _PERIODS if words.search(mentions.text)][:1]


def _left_share(mentions: Mentions) -> Sequence[Quantity]:
    """The share of the budget that is left: "还剩20%"."""
    shares = [q for q in mentions.quantities if q.unit == "fraction" and 0 < q.value < 1]
    return [
        q for q in shares if _LEFT.search(mentions.text[max(0, q.start - 6) : q.start] + mentions.text[q.end :][:6])
    ][:1]


def _spent_of_left(mentions: Mentions) -> Sequence[float]:
    return [round(1 - q.value, 10) for q in _left_share(mentions)]


def _phase_count(mentions: Mentions) -> Sequence[int]:
    match = _PHASES.search(mentions.text)
    word = (match["zh"] or match["en"]).lower() if match else ""
    return [_WORDS.get(word) or int(word)] if word else []


def _thresholds(mentions: Mentions) -> Sequence[tuple[float, ...]]:
    shares = [q.value for q in mentions.quantities if q.unit == "fraction" and 0 < q.value <= 1.5]
    return (
        [tuple(sorted(shares))] if shares and _ALERT.search(mentions.text) and not _SPENT.search(mentions.text) else []
    )


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    if "currency" not in arguments and _HAN.search(mentions.text):
        return arguments | {"currency": "CNY"}
    return arguments


FRAME = Frame(
    tool="plan_budget",
    asks=re.compile(
        r"预算(?!.{0,6}告警(?:会|能))|能撑|能烧|烧(?:多久|几天|多长)|还能(?:撑|用|烧|花|顶)|撑几天|烧钱|超支|会超|花完|花光|月底|告警(?:点|线|阈值)|burn|runway|budget|overshoot|overspend|run(?:s)? out|forecast|month end",
        re.I,
    ),
    amounts=(
        Amount("burn_per_day", "money/day", plain=True),
        Amount("burn_per_day", "money", cues=_DAILY, reach=8),
        Amount("burn_per_day", "1", cues=_DAILY, reach=6),
        Amount("remaining", "money", cues=_LEFT, reach=8),
        Amount("remaining", "1", cues=_LEFT, reach=6),
        Amount("spent", "money", cues=_SPENT, reach=10),
        Amount("budget", "money", cues=_BUDGET, plain=True),
        Amount("budget", "1", cues=_BUDGET, reach=8),
        Amount("spent_share", "fraction", cues=_SPENT, blocks=_ALERT, reach=8),
        Amount(
            "reserve_share",
            "fraction",
            cues=re.compile(r"备用|预备|机动|留|reserve|contingency|hold back", re.I),
            reach=8,
        ),
        Amount("elapsed_share", "fraction", cues=re.compile(r"时间|过了|工期|elapsed|time|through", re.I), reach=8),
        Amount(
            "days_elapsed", "day", cues=re.compile(r"已经?|过了|花了|用了|才|elapsed|so far|after|in\b", re.I), reach=8
        ),
        Amount("days_elapsed", "1", cues=re.compile(r"\bday\s*$", re.I), reach=5),
        Amount("period_days", "day", plain=True),
    ),
    derived=(
        Derived("period_days", _period),
        Derived("spent_share", _spent_of_left, accounts=_left_share),
        Derived("phase_count", _phase_count),
        Derived("thresholds", _thresholds, units=("fraction",)),
        common.CURRENCY,
    ),
    needs=(
        ("budget",),
        ("remaining",),
        ("burn_per_day",),
        ("spent",),
        ("spent_share", "elapsed_share"),
    ),
    refine=_refine,
    follow_ups={
        "zh": ("预算告警会自动停机吗？", "超支了先停什么？", "告警点怎么设？"),
        "en": ("Do budget alerts stop instances?", "What should be stopped first?", "Where should alerts be set?"),
    },
)
