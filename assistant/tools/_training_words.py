"""What a training-cost estimate says to its reader: what was asked first, then how it follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from assistant.errors import MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools._shape import Shape
from assistant.tools.base import Presentation

_QUESTIONS = {
    "model": ("训练哪个模型、多少参数", "which model (or how many parameters)"),
    "parameters": ("模型有多少参数", "how many parameters the model has"),
    "tokens": (
        "训练多少 token（或多少条样本、每条多长、几轮）",
        "how many tokens (or examples, their length and epochs)",
    ),
    "price_per_gpu_hour": ("每卡时多少钱", "what a GPU-hour costs you"),
    "gpu_count": ("用多少张卡", "how many GPUs there are"),
}


def ask(fields: Sequence[str], language: Language, *, shape: Shape | None = None, optimal: float = 0) -> NoReturn:
    """Ask for what is missing, all at once.

    Raises:
        MissingInputs: always.
    """
    zh = language == "zh"
    clauses = [_QUESTIONS[field][0 if zh else 1] for field in fields]
    question = f"请先说明{'、'.join(clauses)}。" if zh else f"Please say {' and '.join(clauses)}."
    note = ""
    if shape is not None and optimal:
        size = show.number(optimal, language)
        note = (
            f"若按算力最优（每参数约 20 token）预训练，{shape.name} 约需 {size} token。"
            if zh
            else f"Compute-optimal pre-training of {shape.name} (about 20 tokens a parameter) would take {size} tokens."
        )
    raise MissingInputs(fields, question, note=note)


def ask_rate(stated: str, listed: str, gpu: str, language: Language) -> NoReturn:
    """Ask for an exchange rate, or for a price in the stated currency.

    Raises:
        MissingInputs: always.
    """
    question = (
        f"预算是 {stated}，而有出处的 {gpu} 价格是 {listed}：按什么汇率换算，或者你的卡时价是多少？"
        if language == "zh"
        else f"The budget is in {stated}, but sourced prices of {gpu} are in {listed}: at which rate should it be "
        "converted, or what do you pay a GPU-hour?"
    )
    raise MissingInputs(["exchange_rate", "price_per_gpu_hour"], question)


def no_price(gpu: str, provider: str | None, language: Language) -> str:
    """Why there is no cost."""
    if language == "zh":
        where = f"{provider} 的" if provider else ""
        return f"目录里没有{where} {gpu} 有出处的价格，请给出你的报价（每卡时），我再算钱。"
    where = f" of {provider}" if provider else ""
    return f"No sourced price of {gpu}{where} is listed: give your quote for a GPU-hour to have the cost."


def not_measured(gpu: str, stand_ins: Sequence[str], language: Language) -> str:
    """That the utilisation is borrowed."""
    names = ("、" if language == "zh" else " and ").join(stand_ins)
    if language == "zh":
        return f"没有 {gpu} 的公开利用率实测，MFU 借用 {names} 的实测，范围因此放宽。"
    return f"No utilisation of {gpu} was published; that of {names} stands in, so the range is wide."


def formula(factor: float, attention: bool, result: Mapping[str, Any]) -> str:
    """The calculation, as it could be done by hand."""
    flops = f"FLOPs = {factor:g} x parameters x tokens"
    if attention:
        flops += " x (1 + 12 x layers x hidden size x sequence length / (6 x parameters))"
    if result.get("solved") == "mfu":
        return f"{flops}; MFU = FLOPs / (GPUs x days x 86400 s x peak FLOP/s)"
    if result.get("solved") == "parameters":
        flops = f"parameters = sqrt(GPU-hours x 3600 x peak FLOP/s x MFU / ({factor:g} x 20)), tokens = 20 x parameters"
    hours = "GPU-hours = FLOPs / (peak FLOP/s x MFU) / 3600"
    if result.get("solved") == "tokens":
        return f"{flops}; tokens = GPU-hours x 3600 x peak FLOP/s x MFU / FLOPs a token"
    tail = "; days = GPU-hours / (24 x GPUs)" if "days" in result or "gpu_count" in result else ""
    money = "; cost = GPU-hours x price" if "price_per_gpu_hour" in result else ""
    return f"{flops}; {hours}{tail}{money}"


def assumptions(
    inputs: Mapping[str, Any],
    shape: Shape,
    default_gpu: str,
    others: Sequence[str],
    stated_speed: bool,
    language: Language,
) -> list[str]:
    """What was taken for granted, in words."""
    zh = language == "zh"
    said = []
    frozen = inputs["method"] in ("lora", "qlora")
    if frozen:
        said.append(
            "底座冻结，按 4ND 计（不算底座权重的梯度）。"
            if zh
            else "The base is frozen: 4ND, without gradients of its weights."
        )
    else:
        said.append(
            "按 6ND 近似（前向 2、反向 4），未计激活重算；MFU 以稠密 16 位峰值为分母。"
            if zh
            else "6ND (2 forward, 4 backward), without activation recomputation; MFU is against the dense 16-bit peak."
        )
    if shape.is_mixture_of_experts:
        active = show.parameters(shape.active_parameters)
        said.append(
            f"混合专家模型：算力按激活参数 {active} 计。"
            if zh
            else f"A mixture of experts: compute follows its {active} active parameters."
        )
    if not stated_speed:
        said.append(
            "MFU 由公开实测按 GPU、规模、序列长度回归得到，并按 90% 的有效训练时间折算（重启、存档、评测）。"
            if zh
            else "MFU is regressed from published measurements by GPU, size and sequence length, times 90% of useful "
            "time (restarts, checkpoints, evaluation)."
        )
    elif inputs["goodput"] is None:
        said.append(
            "速度按给出的计；重启、存档和评测可能再多占约 10%。"
            if zh
            else "The speed is as stated; restarts, checkpoints and evaluation may add about 10%."
        )
    if inputs["epochs"] != 1:
        said.append(
            f"token 数已乘以 {inputs['epochs']:g} 轮。"
            if zh
            else f"Tokens are multiplied by {inputs['epochs']:g} epochs."
        )
    if inputs["data_bytes"] is not None and inputs["tokens"] is None:
        said.append("文本按每 token 约 4 字节折算。" if zh else "Text was taken as about 4 bytes a token.")
    if default_gpu:
        said.append(f"没有指明 GPU，按 {default_gpu} 计。" if zh else f"No GPU was named: {default_gpu} is assumed.")
    if others:
        also = ("、" if zh else ", ").join(others)
        said.append(f"同名的卡还有 {also}。" if zh else f"There is also {also} by that name.")
    if inputs["storage_bytes"] is None and inputs["transfer_bytes"] is None:
        said.append("只含算力，不含存储与传输。" if zh else "Compute only: storage and transfer are not included.")
    return said


def present(run: ToolRun, language: Language) -> Presentation:
    """The estimate in words and a table."""
    zh = language == "zh"
    result = run.result
    if "flops" not in result:
        return Presentation(_only_price(result, language))
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
        "最敏感的是 MFU（实测吞吐）和卡时价：各差一成，结果就差一成。"
        if zh
        else "What moves this most is MFU (measured throughput) and the price of a GPU-hour, each in proportion."
    )
    return Presentation(headline, tuple(_table(run, language)), drivers)


def _only_price(result: Mapping[str, Any], language: Language) -> str:
    price = show.money(result["price_per_gpu_hour"], result["currency"], language, is_exact=True)
    hours = show.number(result["gpu_hours"], language)
    if language == "zh":
        return f"折合每卡时 {price}（账单 ÷ {hours}卡时）。"
    return f"That is {price} a GPU-hour (the bill over {hours} GPU-hours)."


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
    return f"That buys about {tokens} tokens{spread}: {result['model']}, {hours} GPU-hours on {on}."


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
    cards = _cards(result, language)
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
        else (f"{cards} take about {days}, {hours} GPU-hours: {job}{speed}.")
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
    if "within_budget" in result and result.get("solved") != "tokens":
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
