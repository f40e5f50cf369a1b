"""The words of `calculate`: what is missing, assumptions, warnings and the result in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools._inputs import exact_money, unit_price
from assistant.tools.base import Presentation
from knowledge.quantities.units import CURRENCIES

MISSING: Mapping[str, tuple[str, str]] = {
    "bill": ("总金额是多少", "what the bill is"),
    "quantity": (
        "用量是多少（连单位，如 400 小时、5 TB）",
        "how much was used (with its unit, such as 400 hours or 5 TB)",
    ),
    "rate": ("单价是多少（如 $0.045/GB）", "the price a unit (such as $0.045/GB)"),
    "needed": ("要放下多少（如 80e9 字节）", "how much must fit (such as 80e9 bytes)"),
    "capacity": ("容量是多少（如 79.33 GiB）", "the capacity (such as 79.33 GiB)"),
    "before": ("原来是多少", "what it was before"),
    "after": ("现在是多少", "what it is now"),
    "part": ("其中一部分是多少（或占比）", "the part (or its share)"),
    "whole": ("总数是多少", "the whole"),
    "values": ("要相加的各个数", "the amounts to add"),
    "to_unit": ("换算成什么单位", "the unit to convert to"),
    "expression": (
        "要算什么（把数量连单位写出来，如 $969 ÷ 400 小时）",
        "what is to be worked out (with amounts and units, such as $969 / 400 hours)",
    ),
}
TIGHT = 0.95


def assumptions(result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """What the arithmetic takes for granted."""
    if "needed_gib" in result:
        return (
            "1 GiB = 2^30 字节，1 GB = 10^9 字节。" if language == "zh" else "1 GiB is 2^30 bytes, 1 GB is 10^9 bytes.",
        )
    if "saved" in result and "still_paid" in result:
        return (
            "空闲超时前的那一段仍要付费。" if language == "zh" else "The time before the timeout is still paid for.",
        )
    return ()


def warnings(result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """That bytes of tensors are not all that a GPU must hold."""
    if "needed_gib" not in result or not result["fits"]:
        return ()
    if language == "zh":
        return ("这只是张量本身；CUDA context、显存碎片、激活和临时缓冲还要余量，实际能用的比标称少。",)
    return (
        "These are the tensors alone: the CUDA context, fragmentation, activations and workspace need headroom on top, "
        "so less than the nominal memory is usable.",
    )


def amount(value: float, unit: str | None, language: Language) -> str:
    """A value with its unit as a reader wants it."""
    zh = language == "zh"
    if unit is None or unit in ("1", "ratio"):
        return show.exact(float(f"{value:.10g}"))
    if unit == "fraction":
        return show.percent(value, 4)
    head, _, over = unit.partition("/")
    if head in CURRENCIES:
        if not over:
            return exact_money(value, head, language)
        price = unit_price(value, head, language)
        names = {"GB": "GB", "month": "月" if zh else "month", "hour": "小时" if zh else "hour"}
        names["1M tokens"] = "百万 token" if zh else "million tokens"
        return price + "".join(f"/{names.get(part, part)}" for part in over.split("/"))
    names_zh = {"second": "秒", "minute": "分钟", "hour": "小时", "day": "天", "tokens": "token", "byte": "字节"}
    names_en = {"second": "s", "minute": "minutes", "hour": "hours", "day": "days", "byte": "bytes"}
    name = (names_zh if zh else names_en).get(unit, unit)
    return f"{show.exact(float(f'{value:.7g}'))} {name}"


def _get(result: Mapping[str, Any], name: str, language: Language) -> str:
    return amount(result[name], result.get(f"{name}_unit"), language)


def present(run: ToolRun, language: Language) -> Presentation:
    """The result in a sentence; the steps as table when there are several."""
    result = run.result
    match result["operation"]:
        case "rate_from_bill":
            text = _rate(result, language)
        case "bill_from_rate":
            text = _bill(result, language)
        case "quantity_from_bill":
            text = _quantity(result, language)
        case "fits_in":
            text = _fits(run, language)
        case "difference" | "change":
            text = _change(result, language)
        case "share":
            text = _share(result, language)
        case "discount":
            text = _discount(result, language)
        case _:
            text = _value(run, language)
    steps = result["steps"]
    table: tuple[tuple[str, ...], ...] = ()
    if len(steps) > 1:
        table = (("计算过程" if language == "zh" else "working",), *((step,) for step in steps))
    return Presentation(text, table)


def _rate(result: Mapping[str, Any], language: Language) -> str:
    bill, quantity, rate = (_get(result, name, language) for name in ("bill", "quantity", "rate"))
    text = f"单价是 {rate}：{bill} ÷ {quantity}。" if language == "zh" else f"That is {rate}: {bill} over {quantity}."
    return text + _saved(result, language)


def _saved(result: Mapping[str, Any], language: Language) -> str:
    if "still_paid" not in result:
        return ""
    saved, still = (_get(result, name, language) for name in ("saved", "still_paid"))
    if language == "zh":
        return f"超时前仍要付 {still}，可省下 {saved}。"
    return f" It would have saved {saved}: only {still} is still paid before the timeout."


def _bill(result: Mapping[str, Any], language: Language) -> str:
    quantity, rate, bill = (_get(result, name, language) for name in ("quantity", "rate", "bill"))
    text = f"共 {bill}：{quantity} × {rate}。" if language == "zh" else f"The bill is {bill}: {quantity} x {rate}."
    return text + _saved(result, language)


def _quantity(result: Mapping[str, Any], language: Language) -> str:
    quantity, rate, bill = (_get(result, name, language) for name in ("quantity", "rate", "bill"))
    return f"{bill} 能用 {quantity}（单价 {rate}）。" if language == "zh" else f"{bill} buys {quantity} at {rate}."


def _fits(run: ToolRun, language: Language) -> str:
    result, zh = run.result, language == "zh"
    if "needed_gib" not in result:
        verdict = ("放得下" if zh else "It fits") if result["fits"] else ("放不下" if zh else "It does not fit")
        share = show.percent(result["share"])
        return f"{verdict}：占容量的 {share}。" if zh else f"{verdict}: it takes {share} of the capacity."
    needed, capacity, left = (
        show.gibibytes(result[f"{name}_gib"] * 2**30, 4) for name in ("needed", "capacity", "left")
    )
    need_gb, cap_gb = (show.gigabytes(result[f"{name}_gb"] * 1e9, 4) for name in ("needed", "capacity"))
    if not result["fits"]:
        over = show.gibibytes(-result["left_gib"] * 2**30, 4)
        return (
            f"放不下：需要 {need_gb}（{needed}），只有 {capacity}（{cap_gb}），差 {over}。"
            if zh
            else f"It does not fit: {need_gb} ({needed}) is needed, {capacity} ({cap_gb}) is there, {over} short."
        )
    tight = result["share"] > TIGHT
    text = (
        f"数字上放得下：{need_gb} 是 {needed}，小于 {capacity}（{cap_gb}），剩 {left}。"
        if zh
        else f"Numerically it fits: {need_gb} is {needed}, below {capacity} ({cap_gb}), with {left} left."
    )
    if tight:
        text += (
            "余量不到 5%，很可能还是会 OOM。"
            if zh
            else " That leaves under 5%, so it will likely still run out of memory."
        )
    return text + ("" if zh else " ") + run.warnings[0]


def _change(result: Mapping[str, Any], language: Language) -> str:
    zh = language == "zh"
    before, after, difference = (_get(result, name, language) for name in ("before", "after", "difference"))
    share = result.get("change")
    if share is None:
        return f"差 {difference}。" if zh else f"The difference is {difference}."
    shown = show.percent(abs(share))
    if share == 0:
        return "没有变化。" if zh else "Nothing changed."
    if zh:
        return f"{'涨' if share > 0 else '降'}了 {shown}：从 {before} 到 {after}，差 {difference}。"
    return f"{'Up' if share > 0 else 'Down'} {shown}: from {before} to {after}, a difference of {difference}."


def _share(result: Mapping[str, Any], language: Language) -> str:
    part, whole, rest = (_get(result, name, language) for name in ("part", "whole", "rest"))
    share = show.percent(result["share"])
    if language == "zh":
        return f"{whole} 的 {share} 是 {part}，其余 {rest}。"
    return f"{share} of {whole} is {part}; the rest is {rest}."


def _discount(result: Mapping[str, Any], language: Language) -> str:
    price, saved, whole = (_get(result, name, language) for name in ("price", "saved", "whole"))
    off = show.percent(result["discount"])
    if language == "zh":
        return f"优惠 {off} 后是 {price}，省 {saved}（原价 {whole}）。"
    return f"After {off} off it is {price}, {saved} less than {whole}."


def _value(run: ToolRun, language: Language) -> str:
    result = run.result
    value = _get(result, "value", language)
    if result["operation"] == "convert":
        quantity = run.inputs["quantity"].value
        return f"{quantity} 是 {value}。" if language == "zh" else f"{quantity} is {value}."
    if result["operation"] == "sum":
        return f"合计 {value}。" if language == "zh" else f"In all that is {value}."
    return f"结果是 {value}。" if language == "zh" else f"The result is {value}."
