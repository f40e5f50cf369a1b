"""How people ask for plain arithmetic over amounts that they state: rates, bills, shares, whether bytes fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from assistant.understand.frames.arithmetic import solved
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Derived, Frame
from knowledge import quantities
from knowledge.quantities import Quantity, compatible

_TIMEOUT = re.compile(r"自动(?:关机|停|释放)|空闲超时|闲置超时|idle timeout|auto-?stop|auto-?shutdown|timeout", re.I)
_FITS = re.compile(r"放得?下|装得?下|放不下|够(?:放|装|不)|超(?:过|了)?吗|\bfits?\b|\bhold\b|enough room|fit in", re.I)
_NEEDS = re.compile(r"需要|要放|张量|占|need|tensor|requires?|job|to store|bytes of", re.I)
_HAS = re.compile(r"共|可用|总|显示|报|total|avail|says|card|has|capacity|显存", re.I)
_CHANGE = re.compile(r"从\s*$|from\s*\$?$|was\s*\$?$", re.I)
_CHANGED = re.compile(r"^\s*(?:元|块|美元)?\s*(?:涨|升|降|跌|变|增|减|to\b|now\b|→)", re.I)
_SHARE_OF = re.compile(r"的\s*$|^\s*(?:of|是)\b", re.I)
_TO_UNIT = re.compile(
    r"(?:是|等于|合|换(?:算)?成|转成|折合)\s*多少\s*(?:个)?\s*(?P<zh>[KMGTP]i?B(?:/s)?|[KMGT]bps|[KMGT]b/s|小时|天|分钟)"
    r"|(?:\bin(?:to)?|\bto|convert .{0,20}to|how many)\s+(?P<en>[KMGTP]i?B(?:/s)?|[KMGT]bps|hours|days|minutes)\b",
)
_BRACKETED = re.compile(r"[\d(（][\d.,eE+\-*/×xX÷^()（）\s]*[\d)）]")
_BRACKET = re.compile(r"[(（]\s*[\d(（]")
_SIGN = re.compile(r"[*/×xX÷]")
_TIMES = re.compile(r"\s*(?:[x×*✕]|乘(?:以)?|times)\s*", re.I)
_IDLE = re.compile(r"白烧|白花|空转|空闲|闲置|浪费|没用上|idle|wast|unused", re.I)
_BOUGHT = re.compile(r"抢占|竞价|预留|包年|包月|承诺|\bspot\b|preempt|reserv|commit", re.I)
_ALL_YEAR = re.compile(r"全年|一整年|all year|whole year|year[- ]round|24/7|7x24", re.I)
_A_KWH = re.compile(r"\s*(?:元|块)?\s*(?:[一每]|/)\s*度")
_MONEY_MARK = re.compile(r"^[$¥]|元/|块/")
_PUE = re.compile(r"pue", re.I)
_MONEY = re.compile(r"[A-Z]{3}$")


def _is_money(quantity: Quantity) -> bool:
    return bool(_MONEY.match(quantity.unit))


def _is_rate(quantity: Quantity) -> bool:
    return compatible(quantity.unit.partition("/")[0], "money") and "/" in quantity.unit


def _countable(quantity: Quantity) -> bool:
    return quantity.unit in (
        "second",
        "byte",
        "gpu-hour",
        "tokens",
        "kWh",
        "node",
        "gpu",
        "run",
        "file",
        "person",
    ) and (quantity.kind not in ("interval", "gpu memory"))


def _near(text: str, quantity: Quantity, words: re.Pattern[str], reach: int = 18) -> bool:
    return bool(words.search(text[max(0, quantity.start - reach) : quantity.end + reach]))


def _one(argument: str, pick: Callable[[Mentions], Quantity | None]) -> Derived:
    """An argument that is one amount, as it was written."""

    def picked(mentions: Mentions) -> Sequence[Quantity]:
        found = pick(mentions)
        return [found] if found else []

    return Derived(argument, lambda mentions: [q.text for q in picked(mentions)], accounts=picked)


def _bill(mentions: Mentions) -> Quantity | None:
    return next((q for q in mentions.quantities if _is_money(q)), None)


def _rate(mentions: Mentions) -> Quantity | None:
    """A price of one thing; what is paid for an amount and a time ("a GB and month") is for another calculator."""
    return next((q for q in mentions.quantities if _is_rate(q) and q.unit.count("/") == 1), None)


_DENOMINATORS = {"GB": "byte", "TB": "byte", "hour": "second", "day": "second", "month": "second", "year": "second"}


def _quantity(mentions: Mentions) -> Quantity | None:
    """What the rate is a rate of; without a rate any amount that can be counted."""
    if _FITS.search(mentions.text):
        return None
    avoided, rate = _avoided(mentions), _rate(mentions)
    counted = [q for q in mentions.quantities if _countable(q) and q is not avoided]
    if rate is not None:
        over = {_DENOMINATORS.get(name, name) for name in rate.unit.split("/")[1:]}
        counted = [q for q in counted if q.unit in over or q.unit.removesuffix("s") in over]
    return counted[0] if counted else None


def _avoided(mentions: Mentions) -> Quantity | None:
    if not _TIMEOUT.search(mentions.text):
        return None
    return next((q for q in mentions.quantities if q.unit == "second" and _near(mentions.text, q, _TIMEOUT)), None)


def _bytes(mentions: Mentions) -> list[Quantity]:
    return [q for q in mentions.quantities if q.unit == "byte"] if _FITS.search(mentions.text) else []


_HOLDS = re.compile(r"\bholds?\b|\btakes?\b|enough (?:room )?for|够(?:放|装|存)|能(?:放|装|存)|放得?下|装得?下", re.I)


def _needed(mentions: Mentions) -> Quantity | None:
    sizes = _bytes(mentions)
    if len(sizes) < 2:
        return None
    for before, after in pairwise(sizes):
        # "does 79 GiB hold 80e9 bytes": what is held stands behind the verb.
        if _HOLDS.search(mentions.text[before.end : after.start]):
            return after
    return next((q for q in reversed(sizes) if _near(mentions.text, q, _NEEDS)), sizes[0])


def _capacity(mentions: Mentions) -> Quantity | None:
    needed = _needed(mentions)
    others = [q for q in _bytes(mentions) if q is not needed]
    measured = [q for q in others if q.written.endswith("iB")]
    return next(iter(measured or others), None) if needed else None


def _before(mentions: Mentions) -> Quantity | None:
    return next(
        (
            q
            for q in mentions.quantities
            if _CHANGE.search(mentions.text[: q.start]) and _CHANGED.search(mentions.text[q.end :])
        ),
        None,
    )


def _after(mentions: Mentions) -> Quantity | None:
    before = _before(mentions)
    return next((q for q in mentions.quantities if before and q.start > before.end and _alike(before, q)), None)


def _alike(before: Quantity, after: Quantity) -> bool:
    """Of one unit; of two prices only the second may say what it is a price of."""
    return after.unit == before.unit or (_is_money(before) and after.unit.startswith(before.unit + "/"))


def _after_text(mentions: Mentions) -> Sequence[str]:
    before, after = _before(mentions), _after(mentions)
    if before is None or after is None:
        return []
    return [after.text if after.unit == before.unit else f"{after.value:g} {before.unit}"]


def _part(mentions: Mentions) -> Quantity | None:
    return next(
        (q for q in mentions.quantities if q.unit == "fraction" and _SHARE_OF.search(mentions.text[q.end :][:4])), None
    )


def _whole(mentions: Mentions) -> Quantity | None:
    part = _part(mentions)
    return next((q for q in mentions.quantities if part and q.start >= part.end and q.unit != "fraction"), None)


def _to_unit(mentions: Mentions) -> Sequence[str]:
    if two := _two_rates(mentions):
        return [two[1].unit]
    if _expression(mentions) and (found := solved(mentions)) and found[1] and not _product(mentions):
        return [found[1]]
    match = _TO_UNIT.search(mentions.text)
    return [match["zh"] or match["en"]] if match and mentions.quantities else []


_RATE_OVER_TIME = re.compile(r"[A-Z]{3}/(?:hour|day|month|year)$")


def _two_rates(mentions: Mentions) -> tuple[Quantity, Quantity] | None:
    """What is paid an hour beside what is said to be paid a month: the first is given as the second."""
    rates = [q for q in mentions.quantities if _RATE_OVER_TIME.match(q.unit)]
    if len(rates) != 2 or rates[0].unit == rates[1].unit or _bought(mentions):
        return None
    return (rates[0], rates[1]) if rates[0].unit[:3] == rates[1].unit[:3] else None


def _priced(quantity: Quantity) -> str:
    return quantity.text if _MONEY_MARK.search(quantity.text) else f"{quantity.value:.10g} {quantity.unit}"


def _power_bill(mentions: Mentions) -> Sequence[str]:
    """Watts, a price of a kWh and a time: what the electricity costs."""
    watts = next((q for q in mentions.quantities if q.unit == "W"), None)
    price = next((_priced(q) for q in mentions.quantities if q.unit.endswith("/kWh") and _is_rate(q)), None) or next(
        (
            f"{q.value:.10g} CNY/kWh"
            for q in mentions.quantities
            if q.unit in ("1", "CNY") and _A_KWH.match(mentions.text, q.end)
        ),
        None,
    )
    time = next((q for q in mentions.quantities if q.unit == "second" and q.kind != "interval"), None)
    hours = time.value / 3600 if time else 8760.0 if _ALL_YEAR.search(mentions.text) else None
    if watts is None or price is None or hours is None:
        return []
    pue = next((q for q in mentions.quantities if q.unit == "1" and _near(mentions.text, q, _PUE, 6)), None)
    factors = [watts.text, f"{hours:.10g} h", price]
    return [" x ".join([*factors, *([f"{pue.value:.10g}"] if pue else [])])]


def _expression(mentions: Mentions) -> Sequence[str]:
    if bill := _bracketed(mentions) or _power_bill(mentions) or _wasted(mentions) or _product(mentions):
        return bill
    found = None if _FITS.search(mentions.text) or _bought(mentions) else solved(mentions)
    return [found[0]] if found else []


_BUSY = re.compile(r"利用率|使用率|utili[sz]ation|busy", re.I)


def _wasted(mentions: Mentions) -> Sequence[str]:
    """What was paid for capacity that stood idle: amount x price x the share that was not used."""
    used = next((q for q in mentions.quantities if q.unit == "fraction" and _near(mentions.text, q, _BUSY, 10)), None)
    rate, quantity = _rate(mentions), _quantity(mentions)
    if used is None or rate is None or quantity is None or not _IDLE.search(mentions.text):
        return []
    return [f"{_priced(rate)} x {quantity.text} x {1 - used.value:.10g}"]


def _in_expression(mentions: Mentions) -> Sequence[Quantity]:
    """The amounts of the expression: a run of factors, or all, where brackets or arithmetic by units explain them."""
    return mentions.quantities if _bracketed(mentions) or not _product(mentions) else _run(mentions)


def _bracketed(mentions: Mentions) -> Sequence[str]:
    """An expression with brackets, as it is written: "(7e9*6*2e12)/(400e12*64)/86400"."""
    written = [match.group() for match in _BRACKETED.finditer(mentions.text)]
    return [one for one in written if _BRACKET.search(one) and one.count("(") == one.count(")") and _SIGN.search(one)][
        :1
    ]


def _bought(mentions: Mentions) -> bool:
    """Whether ways of buying are compared, which is another calculator's."""
    return bool(_BOUGHT.search(mentions.text))


def _product(mentions: Mentions) -> Sequence[str]:
    """The longest run of amounts with only a multiplication sign between them."""
    run = _run(mentions)
    return [" x ".join(q.text for q in run)] if len(run) > 1 else []


def _run(mentions: Mentions) -> Sequence[Quantity]:
    runs: list[list[Quantity]] = []
    for quantity in mentions.quantities:
        if runs and _TIMES.fullmatch(re.sub("每小时|每", "", mentions.text[runs[-1][-1].end : quantity.start])):
            runs[-1].append(quantity)
        else:
            runs.append([quantity])
    longest = max(runs, key=len, default=[])
    share = [q for q in mentions.quantities if q.unit == "fraction" and _near(mentions.text, q, _IDLE)]
    return [*longest, *share[:1]] if len(longest) > 1 else longest


def discounted(rate: str, quantity: str, left: float) -> str:
    """A bill of which only a share is paid, as an expression."""
    factors = [quantities.find(text)[0] for text in (rate, quantity)]
    return " x ".join([*(f"{factor.value:.12g} {factor.unit}" for factor in factors), f"{left:.10g}"])


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    """The most telling question wins: a change, then a discounted bill; the rest would only confuse the calculator."""
    if two := _two_rates(mentions):
        return {"quantity": _priced(two[0]), "to_unit": two[1].unit}
    if {"before", "after"} <= arguments.keys():
        return {name: arguments[name] for name in ("before", "after")}
    if _BOUGHT.search(mentions.text) and "expression" not in arguments:
        return {} if any(q.kind in ("discount", "price left") for q in mentions.quantities) else arguments
    left = [q for q in mentions.quantities if q.kind in ("discount", "price left")]
    if left and {"rate", "quantity"} <= arguments.keys():
        share = left[0].value if left[0].kind == "price left" else 1 - left[0].value
        return {"expression": discounted(arguments["rate"], arguments["quantity"], share)}
    return arguments


FRAME = Frame(
    tool="calculate",
    asks=re.compile(
        r"折合|每卡|电费|electricity (?:cost|bill)|一共|合(?:多少|计)|每小时(?:多少|合)|一小时(?:多少|合)|单价|账单|多少钱|等于多少|是多少\s*[KMGT]|换算|涨了|百分之|打.折|放得下|浪费"
        r"|\bbill\b|hourly rate|per (?:gpu|card)[- ]?hour|per month|a month|吞吐|每秒|throughput|is it normal|really pay|rate per|how much (?:is|do|did|would)|convert|percent|\bfits?\b|\btotal\b|what does .{0,30}cost|average cost|per hour\?|split|damage",
        re.I,
    ),
    derived=(
        Derived("expression", _expression, accounts=_in_expression),
        _one("bill", _bill),
        _one("rate", _rate),
        _one("quantity", _quantity),
        _one("avoided", _avoided),
        _one("needed", _needed),
        _one("capacity", _capacity),
        _one("before", _before),
        Derived("after", _after_text, accounts=lambda mentions: [q for q in [_after(mentions)] if q]),
        _one("part", _part),
        _one("whole", _whole),
        Derived("to_unit", _to_unit, accounts=lambda mentions: mentions.quantities if _two_rates(mentions) else ()),
    ),
    needs=(
        ("bill", "quantity"),
        ("rate", "quantity"),
        ("needed", "capacity"),
        ("before", "after"),
        ("part", "whole"),
        ("quantity", "to_unit"),
        ("expression",),
    ),
    excludes=tuple(frozenset({"expression", name}) for name in ("rate", "quantity", "bill")),
    refine=_refine,
)
