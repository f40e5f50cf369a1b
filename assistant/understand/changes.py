"""Changes that a follow-up states relative to what was: "预算减半", "double the GPUs", "20% more tokens", a bare "64"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assistant.understand.frames.calculate import discounted
from assistant.understand.mentions import Mentions
from knowledge.quantities import Quantity, compatible

_HALF = re.compile(
    r"减半|砍半|折半|减(?:少|到)?一半|(?:少|降|砍|缩)(?:到|成|掉)?一半|只有一半|一半(?=的?(?:卡|预算|数据|token|时间|带宽|价))|\bhal(?:f|ve|ved|ving)\b",
    re.I,
)
_DOUBLE = re.compile(r"翻(?:一)?倍|翻番|翻一番|加倍|(?:两|二)倍|\bdoubl(?:e|ed|ing)\b|\btwice\b", re.I)
_MORE = re.compile(
    r"增加|多(?!少|久|大|长)|加(?!到|起来)|涨|提高|上调|\bmore\b|\bincreas|\bhigher\b|\bup by\b|\badd\b|\bextra\b", re.I
)
_LESS = re.compile(
    r"减少|少(?!了?多少)|降低|降|砍|下调|便宜|\bless\b|\bfewer\b|\breduc|\blower\b|\bcut\b|\bdown by\b", re.I
)
_OF: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"预算|budget|经费|\bmoney\b", re.I), ("budget", "remaining")),
    (re.compile(r"卡(?!时)|gpu(?![- ]?hour)|显卡|cards?\b", re.I), ("gpu_count", "gpu_hours")),
    (re.compile(r"节点|机器|台|nodes?\b|machines?|servers?", re.I), ("nodes", "servers", "gpu_count")),
    (
        re.compile(r"token|数据|语料|样本|data|corpus|volume|examples", re.I),
        ("tokens", "volume_bytes", "examples", "data_bytes"),
    ),
    (re.compile(r"带宽|网速|专线|线路|bandwidth|\bline\b|\blink\b", re.I), ("bandwidth_bits_per_second",)),
    (
        re.compile(r"天|时间|工期|期限|days?\b|time|deadline|hours?\b", re.I),
        ("days", "period_days", "hours", "gpu_hours"),
    ),
    (
        re.compile(r"单价|价格|价|price|rate\b", re.I),
        ("price_per_gpu_hour", "price_per_gb_month", "price_per_instance_hour", "on_demand_price_per_hour", "rate"),
    ),
    (re.compile(r"每天花|花销|烧钱|burn", re.I), ("burn_per_day",)),
    (re.compile(r"模型|参数|model|param", re.I), ("parameters",)),
    (re.compile(r"batch|批", re.I), ("batch",)),
)
_COUNTS = (
    "gpu_count", "nodes", "copies", "keep_last", "device_count", "servers", "batch", "accumulation", "checkpoint_count",
    "epochs", "lora_rank", "phase_count",
)  # fmt: skip
"""Arguments that a number without a unit may replace."""


def relative_changes(text: str, mentions: Mentions, values: Mapping[str, Any]) -> dict[str, Any]:
    """New values of arguments that the text changes by a factor; empty when it doesn't."""
    if (left := _left_of_price(mentions)) is not None and (changed := _cheaper(left, values)):
        return changed
    if added := _added(text, mentions, values):
        return added
    factor = _factor(text, mentions)
    if factor is None:
        return {}
    for words, names in _OF:
        if words.search(text) and (name := next((n for n in names if _is_number(values.get(n))), None)):
            return {name: _scaled(values[name], factor)}
    numbers = [name for name, value in values.items() if _is_number(value)]
    return {numbers[0]: _scaled(values[numbers[0]], factor)} if len(numbers) == 1 else {}


def bare_number(mentions: Mentions, values: Mapping[str, Any]) -> dict[str, Any]:
    """A number without a unit takes the place of the count that the last calculation had."""
    if len(mentions.quantities) != 1 or mentions.quantities[0].unit != "1":
        return {}
    number = mentions.quantities[0].value
    counted = [name for name in _COUNTS if _is_number(values.get(name))]
    if not counted or number < 1 or number != int(number):
        return {}
    return {counted[0]: _scaled(values[counted[0]], number / values[counted[0]])}


def without_change(mentions: Mentions) -> Mentions:
    """The mentions without the amounts that say by how much something changes."""
    return replace(
        mentions,
        quantities=tuple(
            q for q in mentions.quantities if q.unit not in ("fraction", "times") and not _step(mentions.text, q)
        ),
    )


def _step(text: str, quantity: Quantity) -> int:
    """1 for an amount that comes on top ("又批了30万", "20 more GPUs"), -1 for one taken away, else 0."""
    before = text[max(0, quantity.start - 10) : quantity.start]
    after = text[quantity.end : quantity.end + 14]
    if _ON_TOP.search(before) or _ON_TOP_AFTER.match(after):
        return 1
    return -1 if _TAKEN.search(before) or _TAKEN_AFTER.match(after) else 0


def _added(text: str, mentions: Mentions, values: Mapping[str, Any]) -> dict[str, Any]:
    """Earlier arguments that an amount is added to or taken from."""
    changed: dict[str, Any] = {}
    for quantity in mentions.quantities:
        step = _step(text, quantity) if quantity.unit not in ("fraction", "times") else 0
        for name, unit in _ADDABLE if step else ():
            named = quantity.unit == "1" and _names(text[quantity.end : quantity.end + 24], name)
            if _is_number(values.get(name)) and (named or compatible_with(quantity, unit)):
                new = values[name] + step * (quantity.value if named else quantity.to(unit))
                if new > 0:
                    changed[name] = round(new) if isinstance(values[name], int) else new
                break
    return changed


def _names(text: str, name: str) -> bool:
    """Whether the words behind a bare number name an argument ("8 fewer GPUs")."""
    return any(words.search(text) for words, names in _OF if name in names)


def compatible_with(quantity: Quantity, unit: str) -> bool:
    """Whether an amount, in any of its readings, can be given in a unit."""
    return any(compatible(own, unit) for own in (quantity.unit, *(reading.unit for reading in quantity.readings)))


_ON_TOP = re.compile(
    r"(?:又|再|追加|额外|另外)(?:批|给|加|来|多|要|添|补|拨|买|租)?(?:了|上)?\s*$|(?:加上?|增加|多(?:给|批|加|了)|添)(?:了)?\s*$"
    r"|\b(?:another|an? (?:additional|extra)|additional|extra|plus|add(?:ing|ed)?)\s*\$?$",
    re.I,
)
_ON_TOP_AFTER = re.compile(r"\s*(?:more|extra|additional|on top)\b", re.I)
_TAKEN = re.compile(
    r"(?:减(?:去|掉)?|少(?:了|给)?|砍掉?|扣掉?|去掉|退掉?)(?:了)?\s*$|\b(?:minus|remov(?:e|ing)|drop(?:ping)?|lose|losing|without)\s*$",
    re.I,
)
_TAKEN_AFTER = re.compile(r"\s*(?:fewer|less)\b", re.I)
_ADDABLE = (
    ("budget", "money"), ("remaining", "money"), ("gpu_count", "gpu"), ("nodes", "node"), ("servers", "node"),
    ("volume_bytes", "byte"), ("tokens", "tokens"), ("days", "day"), ("period_days", "day"), ("hours", "hour"),
    ("device_count", "device"), ("examples", "example"), ("copies", "copy"),
)  # fmt: skip
"""Arguments that more of something can be added to, and their units."""


_PRICES = ("price_per_gpu_hour", "price_per_instance_hour", "price_per_gb_month", "price_per_gb")


def _left_of_price(mentions: Mentions) -> float | None:
    for quantity in mentions.quantities:
        if quantity.kind in ("discount", "price left"):
            return quantity.value if quantity.kind == "price left" else 1 - quantity.value
    return None


def _cheaper(left: float, values: Mapping[str, Any]) -> dict[str, Any]:
    if {"rate", "quantity"} <= values.keys():
        return {"expression": discounted(values["rate"], values["quantity"], left)}
    return {name: values[name] * left for name in _PRICES if _is_number(values.get(name))}


def _factor(text: str, mentions: Mentions) -> float | None:
    if _HALF.search(text):
        return 0.5
    if _DOUBLE.search(text):
        return 2.0
    for quantity in mentions.quantities:
        around = text[max(0, quantity.start - 12) : quantity.end + 8]
        if quantity.unit == "times" and quantity.value > 0:
            return quantity.value
        if quantity.unit == "fraction" and quantity.kind not in ("discount", "price left"):
            if _MORE.search(around):
                return 1 + quantity.value
            if _LESS.search(around) and quantity.value < 1:
                return 1 - quantity.value
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _scaled(value: float, factor: float) -> float:
    scaled = value * factor
    return max(1, round(scaled)) if isinstance(value, int) else scaled
