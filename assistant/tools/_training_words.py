"""What a training-cost estimate says to its reader: what was asked first, then how it follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools.base import Presentation


def present(run: ToolRun, language: Language) -> Presentation:
    """The estimate in words and a table."""
    zh = language == "zh"
    result = run.result
    if "flops" not in result and "tokens" in result:
        return Presentation(_measured(result, language))
    if "flops" not in result:
        return Presentation(_bought(run, language))
    if result.get("solved") == "mfu":
        parts = [_utilisation(run, language)]
    elif result.get("solved") == "tokens":
        parts = [_tokens(run, language)]
    else:
        parts = [_time(run, language)]
    about_money = {"cost", "budget", "price_per_gpu_hour", "price_per_instance_hour", "provider", "purchase"}
    asked = any(run.inputs[name].origin in ("question", "earlier turn") for name in about_money & run.inputs.keys())
    if asked or result.get("solved") != "mfu":
        parts.append(_cost(run, language))
    headline = ("" if zh else " ").join(part for part in parts if part)
    for warning in run.warnings[:2]:
        if len(parts) > 1 or result.get("solved") != "mfu":
            headline += warning if zh else f" {warning}"
    drivers = (
        "MFU（实测吞吐）和卡时价：各差一成，结果就差一成。"
        if zh
        else "MFU (measured throughput) and the price of a GPU-hour, each in proportion."
    )
    return Presentation(headline, tuple(_table(run, language)), drivers)


def _measured(result: Mapping[str, Any], language: Language) -> str:
    """Time and cost at a measured speed."""
    zh = language == "zh"
    tokens, hours = (show.number(result[name], language) for name in ("tokens", "gpu_hours"))
    speed = show.number(result["tokens_per_second_per_gpu"], language)
    text = (
        f"{tokens} token 以每卡每秒 {speed} token 需 {hours}卡时"
        if zh
        else f"{tokens} tokens at {speed} tokens/s a GPU take {hours} GPU-hours"
    )
    if "days" in result:
        count, days = show.exact(result["gpu_count"]), show.days(result["days"], language)
        text += f"，{count} 张卡约 {days}" if zh else f", about {days} on {count} GPUs"
    if "cost" in result:
        cost = show.money(result["cost"], result["currency"], language)
        text += f"，费用约 {cost}" if zh else f", and cost about {cost}"
    return text + ("。" if zh else ".")


def _bought(run: ToolRun, language: Language) -> str:
    """What was asked first: the price of a GPU-hour, the cost, or what the money buys."""
    result, zh = run.result, language == "zh"
    price = show.money(result["price_per_gpu_hour"], result["currency"], language, is_exact=True)
    cost = show.money(result["cost"], result["currency"], language)
    hours = show.number(result["gpu_hours"], language)
    stated = {name for name, given in run.inputs.items() if given.origin in ("question", "earlier turn")}
    days = ""
    if "days" in result:
        count, length = show.exact(result["gpu_count"]), show.days(result["days"], language)
        days = f"，{count} 张卡能跑约 {length}" if zh else f", about {length} on {count} GPUs"
    if (
        not stated & {"price_per_gpu_hour", "price_per_instance_hour"}
        and stated & {"cost", "budget"}
        and ("gpu_hours" in stated or "days" in stated)
    ):
        return (
            f"折合每卡时 {price}（{cost} ÷ {hours}卡时）。"
            if zh
            else f"That is {price} a GPU-hour ({cost} over {hours} GPU-hours)."
        )
    if stated & {"cost", "budget"}:
        text = (
            f"{cost} 按每卡时 {price} 能买约 {hours}卡时"
            if zh
            else f"{cost} at {price} a GPU-hour buys about {hours} GPU-hours"
        )
        return text + days + ("。" if zh else ".")
    return f"共约 {cost}：{hours}卡时 × {price}。" if zh else f"About {cost}: {hours} GPU-hours at {price}."


def _job(run: ToolRun, language: Language) -> str:
    """Model and tokens, as in "130B, 400B tokens"."""
    tokens = show.number(run.result["tokens"], language)
    if language == "zh":
        return f"{run.result['model']} 训练 {tokens} token"
    return f"{run.result['model']} on {tokens} tokens"


def _cards(result: Mapping[str, Any], language: Language) -> str:
    count = show.exact(result["gpu_count"])
    name = result.get("gpu") or ("GPU" if language == "zh" else "GPUs")
    return f"{count} 张 {name}" if language == "zh" else f"{count} x {name}"


def _range(result: Mapping[str, Any], name: str, language: Language) -> str:
    """ "(18–26)" when the figure is uncertain."""
    low, high = result.get(f"{name}_range", (None, None))
    if low is None:
        return ""
    if name in ("mfu", "expected_mfu"):
        text = f"{show.significant(low * 100, 2)}–{show.percent(high, 2)}"
    elif name == "cost":
        text = show.money_range(low, high, result["currency"], language)
    elif name in ("days", "gpu_count"):
        text = f"{show.significant(low)}–{show.significant(high)}"
    else:
        text = f"{show.number(low, language)}–{show.number(high, language)}"
    return f"（{text}）" if language == "zh" else f" ({text})"


def _utilisation(run: ToolRun, language: Language) -> str:
    result = run.result
    mfu, flops = show.percent(result["mfu"]), show.power(result["flops"])
    peak, hours = show.significant(result["peak_tflops"]), show.number(result["gpu_hours"], language)
    expected = result.get("expected_mfu")
    low, high = result.get("expected_mfu_range", (0, 1))
    if language == "zh":
        text = (
            f"算力利用率（MFU）约 {mfu}：{_job(run, language)} 按 6ND 共 {flops} FLOP，用了 {hours}卡时，"
            f"以 {result['gpu']} 稠密峰值 {peak} TFLOPS 为分母（未计激活重算）。"
        )
        if expected is not None and result["mfu"] < low:
            usual = f"{show.percent(low, 2)}–{show.percent(high, 2)}"
            text += f"同类公开训练一般在 {usual}，偏低，先查网络通信、数据加载和重启损耗。"
        elif expected is not None and result["mfu"] > high:
            needed = show.number(result["expected_gpu_hours"], language)
            text += f"高于一般能达到的 {show.percent(high, 2)}：这点时间大概率不够，通常要约 {needed}卡时。"
        elif expected is not None:
            text += f"在同类公开训练的常见范围（{show.percent(low, 2)}–{show.percent(high, 2)}）内。"
        return text
    text = (
        f"MFU is about {mfu}: {_job(run, language)} is {flops} FLOPs by 6ND, done in {hours} GPU-hours, against the "
        f"dense peak of {peak} TFLOPS of {result['gpu']} (no recomputation counted)."
    )
    if expected is not None and result["mfu"] < low:
        text += (
            f" Comparable published runs reach {show.percent(low, 2)}–{show.percent(high, 2)}, so this is low: look at "
            "communication, data loading and restarts first."
        )
    elif expected is not None and result["mfu"] > high:
        needed = show.number(result["expected_gpu_hours"], language)
        text += (
            f" That is above the {show.percent(high, 2)} usually reached: it will likely take about {needed} GPU-hours."
        )
    elif expected is not None:
        text += (
            f" That is within what comparable published runs reach ({show.percent(low, 2)}–{show.percent(high, 2)})."
        )
    return text


def _tokens(run: ToolRun, language: Language) -> str:
    result = run.result
    tokens, spread = show.number(result["tokens"], language), _range(result, "tokens", language)
    hours = show.number(result["gpu_hours"], language)
    if language == "zh":
        return f"大约能训 {tokens} token{spread}：{result['model']}，{hours}卡时，{result['gpu'] or '所给 GPU'}。"
    on = result["gpu"] or "these GPUs"
    lead = "That buys" if "budget" in result else "That time trains"
    return f"{lead} about {tokens} tokens{spread}: {result['model']}, {hours} GPU-hours on {on}."


def _time(run: ToolRun, language: Language) -> str:
    """Days, GPUs and GPU-hours, with the verdict on a deadline."""
    zh = language == "zh"
    result = run.result
    hours = show.number(result["gpu_hours"], language) + _range(result, "gpu_hours", language)
    mfu = show.percent(result["mfu"], 3 if "mfu_range" not in result else 2) if "mfu" in result else ""
    speed = (f"，MFU 约 {mfu}" if zh else f", at an MFU of about {mfu}") if mfu else ""
    job = _job(run, language)
    if result.get("solved") == "parameters":
        size = show.parameters(result["parameters"])
        return (
            f"大约能按算力最优（每参数 20 token）预训练一个 {size} 的模型：{job}，{hours}卡时{speed}。"
            if zh
            else f"That trains a model of about {size} compute-optimally (20 tokens a parameter): "
            f"{job}, {hours} GPU-hours{speed}."
        )
    if "days" not in result:
        return (
            f"{job} 约需 {hours}卡时{speed}（{result['gpu']}）。"
            if zh
            else (f"{job} takes about {hours} GPU-hours of {result['gpu']}{speed}.")
        )
    brief = result["days"] < 1
    length = show.duration(result["days"] * 86400, language) if brief else show.days(result["days"], language)
    days = length + ("" if brief else _range(result, "days", language))
    cards, verb = _cards(result, language), "takes" if result["gpu_count"] == 1 else "take"
    if result.get("solved") == "gpu_count":
        count = _range(result, "gpu_count", language)
        return (
            f"要 {cards}{count}：{job} 约需 {hours}卡时，这些卡跑 {days}{speed}。"
            if zh
            else (f"It takes {cards}{count}: {job} is about {hours} GPU-hours, {days} on that many{speed}.")
        )
    text = (
        f"{cards} 约需 {days}，共 {hours}卡时：{job}{speed}。"
        if zh
        else (f"{cards} {verb} about {days}, {hours} GPU-hours: {job}{speed}.")
    )
    if "meets_deadline" in result:
        deadline, needed = show.days(result["deadline_days"], language), show.exact(result["gpu_count_for_deadline"])
        if result["meets_deadline"]:
            text = (f"赶得上 {deadline}：" if zh else f"Yes, within {deadline}: ") + text
        else:
            text = (
                f"{deadline}赶不上，要约 {needed} 张："
                if zh
                else f"Not within {deadline}, that takes about {needed} GPUs: "
            ) + text
    return text


def _cost(run: ToolRun, language: Language) -> str:
    zh = language == "zh"
    result = run.result
    if "cost" not in result:
        if "affordable_price_per_gpu_hour" in result:
            price = show.money(result["affordable_price_per_gpu_hour"], result["currency"], language, is_exact=True)
            return f"要守住预算，卡时价不能高于 {price}。" if zh else f"The budget holds up to {price} a GPU-hour."
        return ""
    price = show.money(result["price_per_gpu_hour"], result["currency"], language, is_exact=True)
    if "cost" in run.inputs:
        bill = show.money(result["cost"], result["currency"], language)
        return f"{bill} 的账单折合每卡时 {price}。" if zh else f"A bill of {bill} implies {price} per GPU-hour."
    cost = show.money(result["cost"], result["currency"], language) + _range(result, "cost", language)
    source = run.inputs.get("price_per_gpu_hour")
    listed = source is not None and source.origin in ("catalog", "price file")
    basis = (f"按每卡时 {price}" if zh else f"at {price} a GPU-hour") + (
        ("（各云挂牌价中位数）" if zh else " (median of list prices)") if listed else ""
    )
    text = f"算力费约 {cost}，{basis}。" if zh else f"Compute costs about {cost}, {basis}."
    if "total_cost" in result:
        total = show.money(result["total_cost"], result["currency"], language)
        text += f"连同存储与传输约 {total}。" if zh else f" With storage and transfer about {total}."
    if "within_budget" in result and result.get("solved") not in ("tokens", "parameters"):
        budget = show.money(result["budget"], result["currency"], language)
        if result["within_budget"]:
            text += f"在 {budget} 预算之内。" if zh else f" That is within the budget of {budget}."
        else:
            tokens = show.number(result["affordable_tokens"], language)
            text += (
                f"超出 {budget} 预算，这笔钱约够训 {tokens} token。"
                if zh
                else (f" That is over the budget of {budget}, which buys about {tokens} tokens.")
            )
    return text


def _table(run: ToolRun, language: Language) -> list[tuple[str, ...]]:
    zh = language == "zh"
    result = run.result
    rows: list[tuple[str, ...]]
    if result.get("offers"):
        rows = [
            ("云", "实例", "地域", "每卡时", "总价")
            if zh
            else ("provider", "instance", "region", "a GPU-hour", "total")
        ]
        for offer in result["offers"][:8]:
            price = offer["price_per_gpu_hour"]
            rows.append(
                (
                    offer["provider"],
                    offer["instance"],
                    offer["region"],
                    show.money(price, result["currency"], language, is_exact=True),
                    show.money(offer["cost"], result["currency"], language),
                )
            )
        return rows
    labels = {
        "flops": ("总计算量", "FLOPs"),
        "tokens": ("token 数", "tokens"),
        "gpu_hours": ("卡时", "GPU-hours"),
        "days": ("天数", "days"),
        "gpu_count": ("卡数", "GPUs"),
        "mfu": ("MFU", "MFU"),
        "tokens_per_second_per_gpu": ("每卡速度（token/s）", "tokens/s a GPU"),
        "cost": ("费用", "cost"),
        "price_per_gpu_hour": ("卡时价", "price a GPU-hour"),
    }
    rows = [("项目", "数值", "范围") if zh else ("figure", "value", "range")]
    for name, label in labels.items():
        if name in result:
            rows.append(
                (label[0 if zh else 1], _value(result, name, language), _range(result, name, language).strip("（） ()"))
            )
    return rows


def _value(result: Mapping[str, Any], name: str, language: Language) -> str:
    value = result[name]
    if name == "flops":
        return show.power(value)
    if name == "mfu":
        return show.percent(value)
    if name in ("cost", "price_per_gpu_hour"):
        return show.money(value, result["currency"], language, is_exact=name != "cost")
    return show.significant(value) if name == "days" else show.number(value, language)
