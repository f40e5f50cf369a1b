"""How people ask how long data takes to move, over a line or on devices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from assistant.understand.frames import common
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Choice, Derived, Frame
from knowledge import quantities
from knowledge.quantities import Quantity, compatible

_COPYING = re.compile(r"拷|导入|导出|写盘|单台|每台|设备|copy|copies|import|fill|device|appliance", re.I)
_COMPRESSED_BY = re.compile(
    r"压(?:缩)?(?:掉|去|了)|compress\w*(?: it| them| the data)? by|shrinks? by|reduc\w+ .{0,12}by|smaller", re.I
)
_COMPRESSION = re.compile(r"压缩|压到|压成|压掉|compress|zip|shrink|dedup|去重", re.I)
_REACH = 12


def _rates(mentions: Mentions) -> list[Quantity]:
    return [
        q for q in mentions.quantities if any(compatible(u, "bit/s") for u in (q.unit, *(r.unit for r in q.readings)))
    ]


def _of_a_device(quantity: Quantity, mentions: Mentions) -> bool:
    return (
        compatible(quantity.unit, "byte/s")
        and bool(_COPYING.search(mentions.text[max(0, quantity.start - _REACH) : quantity.start]))
        and any(other.unit == "device" for other in mentions.quantities)
    )


_LINES = re.compile(
    r"(?P<zh>[两二三四五六八])条\s*$|(?P<n>\d)\s*(?:条|x|×|\*|lines of|links? of)\s*$|(?P<en>two|three|four)\s*$|(?P<dual>dual|双)\s*$",
    re.I,
)
_COUNTED = {"两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "八": 8, "two": 2, "three": 3, "four": 4}


def _lines(before: str) -> int:
    """How many lines of that rate there are ("两条10G专线")."""
    match = _LINES.search(before)
    if match is None:
        return 1
    word = (match["zh"] or match["en"] or "").lower()
    return 2 if match["dual"] else _COUNTED.get(word) or int(match["n"])


def _line_rates(mentions: Mentions) -> Sequence[float]:
    reached = _reached_amounts(mentions)
    stated = [
        quantity.to("bit/s") * _lines(mentions.text[: quantity.start])
        for quantity in _rates(mentions)
        if not _of_a_device(quantity, mentions) and not any(quantity is q for q in reached[1:])
    ]
    return stated or ([0.0] if _NOTHING.search(mentions.text) else [])


_REALLY = re.compile(
    r"实际|实测|真正|只有|只能|really|actual(?:ly)?|effective(?:ly)?|real(?:istic)?|only (?:get|see)|measured", re.I
)


def _reached_amounts(mentions: Mentions) -> Sequence[Quantity]:
    """The line's rate and what is really reached of it ("2 Gbps, 实际跑 1.5"): two rates, or a bare number after the first."""
    rates = [q for q in _rates(mentions) if not _of_a_device(q, mentions)]
    if not rates:
        return []
    nominal = rates[0]
    for quantity in mentions.quantities:
        if quantity.start < nominal.end or not (quantity.unit == "1" or quantity in rates[1:]):
            continue
        if _REALLY.search(mentions.text[nominal.end : quantity.start]) and quantity.start - nominal.end <= _REACH:
            return [nominal, quantity]
    return []


def _reached(mentions: Mentions) -> Sequence[float]:
    amounts = _reached_amounts(mentions)
    if not amounts:
        return []
    nominal, real = amounts
    reached = real.to("bit/s") if real.unit != "1" else quantities.convert(real.value, nominal.written, "bit/s")
    share = reached / nominal.to("bit/s") if nominal.value else 0.0
    return [share] if 0 < share <= 1 else []


_NOTHING = re.compile(
    r"(?:带宽|网速|bandwidth|speed|line|link)\s*(?:是|为|=|of|is|:|：)?\s*(?:0(?![\d.])|零|zero)|(?<![\d.])0\s*(?:[KMGT]?bps|[KMG]b/s)",
    re.I,
)


def _device_rates(mentions: Mentions) -> Sequence[float]:
    return [quantity.to("byte/s") for quantity in _rates(mentions) if _of_a_device(quantity, mentions)]


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    if "compressed_to" in arguments and _COMPRESSED_BY.search(mentions.text):
        arguments["compressed_to"] = 1 - arguments["compressed_to"]
    if "compressed_to" not in arguments and re.search(
        r"压缩?(?:到|成|掉)?一半|compress\w* (?:to|by) half|halve", mentions.text, re.I
    ):
        arguments["compressed_to"] = 0.5
    return arguments


FRAME = Frame(
    tool="plan_data_transfer",
    asks=re.compile(
        r"传(?!统)|上传|下载|迁移|搬|拷|寄|专线|带宽|网速|闪电立方|离线(?:设备|迁移)|几天(?:能|可以)?(?:传|到)"
        r"|upload|download|transfer|migrat|\bmove\b|\bmoving\b|\bship|\bcopy|snowball|data box|appliance|\bsend\b|over (?:a|the|\d)|\bline\b|\bsync\b|egress|\bMbps|\bGbps|eta",
        re.I,
    ),
    amounts=(
        Amount(
            "device_capacity_bytes",
            "byte",
            cues=re.compile(r"单台|每台|每个|设备|each|per device|capacity|appliances? of", re.I),
            kinds=("each",),
            reach=8,
        ),
        Amount("volume_bytes", "byte", not_kinds=("gpu memory", "each"), plain=True),
        Amount("device_count", "device", plain=True),
        Amount("compressed_to", "fraction", cues=_COMPRESSION),
        Amount(
            "utilization",
            "fraction",
            cues=re.compile(r"利用|可用|有效|实际|跑满|usable|utili|efficien|effective", re.I),
            blocks=_COMPRESSION,
            plain=True,
        ),
        Amount(
            "shipping_days",
            "day",
            cues=re.compile(
                r"路上|在途|运输|物流|快递|往返|on the road|in transit|shipping|courier|each way|delivery", re.I
            ),
        ),
        Amount(
            "days",
            "day",
            not_kinds=("interval",),
            cues=re.compile(r"内|之前|期限|截止|within|deadline|by\b|\bin\b", re.I),
            blocks=re.compile(r"路上|在途|同事|说要|on the road|in transit", re.I),
            plain=True,
        ),
        Amount("device_price", "money", cues=re.compile(r"设备|每台|租|device|appliance", re.I)),
        Amount("price_per_gb", "money/GB", plain=True),
        Amount("line_price_per_month", "money/month", plain=True),
    ),
    choices=(
        Choice(
            "direction",
            (
                (
                    "inter-region",
                    re.compile(r"跨区域|跨地域|区域间|地域间|between regions|inter-?region|cross-?region", re.I),
                ),
                ("out", re.compile(r"下载|传出|出云|流出|出网|出口流量|搬出|egress|out of|download|leav", re.I)),
            ),
        ),
    ),
    derived=(
        Derived("utilization", _reached, accounts=_reached_amounts),
        Derived("bandwidth_bits_per_second", lambda mentions: _line_rates(mentions)[:1], units=("bit/s", "byte/s")),
        Derived("compare_bandwidth_bits_per_second", lambda mentions: _line_rates(mentions)[1:2]),
        Derived("device_copy_bytes_per_second", lambda mentions: _device_rates(mentions)[:1]),
        Derived("device_import_bytes_per_second", lambda mentions: _device_rates(mentions)[1:2]),
        common.PROVIDER,
        common.CURRENCY,
    ),
    needs=(("volume_bytes",), ("bandwidth_bits_per_second",), ("device_count",)),
    excludes=(frozenset({"bandwidth_bits_per_second", "compare_bandwidth_bits_per_second"}),),
    refine=_refine,
    follow_ups={
        "zh": ("先压缩到 60% 呢？", "寄离线设备会不会更快？", "一周内传完要多大带宽？"),
        "en": (
            "If it is compressed to 60% first?",
            "Would shipping a device be faster?",
            "What line would do it in a week?",
        ),
    },
)
