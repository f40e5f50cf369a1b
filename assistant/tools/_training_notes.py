"""What stands beside a training-cost estimate: questions, formula, what was taken for granted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from assistant.errors import MissingInputs
from assistant.schema import Language
from assistant.tools import formatting as show
from assistant.tools._shape import Shape

_QUESTIONS = {
    "model": ("训练哪个模型、多少参数（如 7B）", "which model or how many parameters (such as 7B)"),
    "parameters": ("模型有多少参数", "how many parameters the model has"),
    "tokens": (
        "训练多少 token（如 1000 亿；或多少条样本、每条多长、几轮）",
        "how many tokens (such as 100B; or examples, their length and epochs)",
    ),
    "price_per_gpu_hour": ("每卡时多少钱", "what a GPU-hour costs you"),
    "gpu": ("用什么卡、几张（如 64 张 H100）", "which GPU and how many of them (such as 64 H100)"),
    "gpu_count": ("用多少张卡", "how many GPUs there are"),
}


def ask(
    fields: Sequence[str], language: Language, *, shape: Shape | None = None, optimal: float = 0, model: str = ""
) -> NoReturn:
    """Ask for what is missing, all at once; `model` asks for the model in other words.

    Raises:
        MissingInputs: always.
    """
    zh = language == "zh"
    clauses = [model if model and field == "model" else _QUESTIONS[field][0 if zh else 1] for field in fields]
    question = f"请先说明{'、'.join(clauses)}。" if zh else f"Please say {'; '.join(clauses)}."
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


def formula(factor: float, attention: bool, result: Mapping[str, Any], language: Language) -> str:
    """The calculation, as it could be done by hand."""
    zh = language == "zh"
    solved = result.get("solved")
    flops = f"总 FLOP = {factor:g} × 参数 × token" if zh else f"FLOPs = {factor:g} x parameters x tokens"
    if attention:
        flops += (
            " × (1 + 12 × 层数 × 隐藏维 × 序列长度 ÷ (6 × 参数))"
            if zh
            else " x (1 + 12 x layers x hidden size x sequence length / (6 x parameters))"
        )
    if solved == "mfu":
        return (
            f"{flops}；MFU = 总 FLOP ÷ (卡数 × 天数 × 86400 秒 × 峰值)"
            if zh
            else (f"{flops}; MFU = FLOPs / (GPUs x days x 86400 s x peak FLOP/s)")
        )
    if solved == "tokens":
        return (
            f"{flops}；token = 卡时 × 3600 × 峰值 × MFU ÷ 每 token 的 FLOP"
            if zh
            else (f"{flops}; tokens = GPU-hours x 3600 x peak FLOP/s x MFU / FLOPs a token")
        )
    parts = [flops]
    if solved == "parameters":
        parts = [
            f"参数 = √(卡时 × 3600 × 峰值 × MFU ÷ ({factor:g} × 20))，token = 20 × 参数"
            if zh
            else f"parameters = sqrt(GPU-hours x 3600 x peak FLOP/s x MFU / ({factor:g} x 20)), tokens = 20 x "
            "parameters"
        ]
    parts.append("卡时 = 总 FLOP ÷ (峰值 × MFU) ÷ 3600" if zh else "GPU-hours = FLOPs / (peak FLOP/s x MFU) / 3600")
    if "gpu_count" in result:
        parts.append("天数 = 卡时 ÷ (24 × 卡数)" if zh else "days = GPU-hours / (24 x GPUs)")
    if "price_per_gpu_hour" in result:
        parts.append("费用 = 卡时 × 卡时价" if zh else "cost = GPU-hours x price")
    return ("；" if zh else "; ").join(parts)


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
