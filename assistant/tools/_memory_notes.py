"""What stands beside a memory estimate: its formula, what was taken for granted, what must not be overlooked."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.schema import Language
from assistant.tools import formatting as show
from assistant.tools._memory import Plan
from assistant.tools._shape import Shape
from knowledge.catalog.records import Accelerator


def assumptions(
    plan: Plan, shape: Shape, asked: str | None, card: str, others: Sequence[str], language: Language
) -> tuple[str, ...]:
    """What was taken for granted, in words."""
    zh = language == "zh"
    said = []
    length = show.number(plan.sequence_length, language)
    if plan.method == "inference":
        said.append(
            f"上下文 {length} token、同时 {plan.micro_batch:g} 个请求；权重均分到各卡；可用显存按 90% 计（vLLM 默认）。"
            if zh
            else f"{length} tokens of context, {plan.micro_batch:g} request(s) at once; weights split evenly (tensor "
            "parallel); 90% of the card is usable (vLLM's default)."
        )
    else:
        said.append(
            f"序列 {length} token、每卡 batch {plan.micro_batch:g}、激活检查点 {plan.recompute}、FlashAttention；"
            "可用显存 = 标称 × 95% − 1 GB（CUDA 上下文与碎片）。"
            if zh
            else f"Sequences of {length} tokens, batch {plan.micro_batch:g} a GPU, activation checkpointing "
            f"'{plan.recompute}', FlashAttention; usable memory = nominal x 95% - 1 GB (CUDA context, fragmentation)."
        )
    said.append(
        "GB 按十进制计；很多卡标的 80 GB 实际约 80 GiB（85.9 GB），这里取偏保守的一边。"
        if zh
        else "GB are decimal; a card sold as 80 GB often has about 80 GiB (85.9 GB), so this errs on the safe side."
    )
    if shape.source is None:
        said.append(
            f"没有指明模型：按 {shape.name} 的常见比例算（约 {shape.layers:.0f} 层、隐藏维 {shape.hidden_size:.0f}）。"
            if zh
            else f"No model was named: layers and width follow from {shape.name} by the usual ratio (about "
            f"{shape.layers:.0f} layers, hidden size {shape.hidden_size:.0f})."
        )
        if plan.method == "inference":
            said.append(
                "KV 缓存按多头注意力计，是上限：用 GQA 的模型可小到约 1/8。"
                if zh
                else "The KV cache is that of multi-head attention, an upper bound: with GQA it can be about 1/8 of it."
            )
    if shape.others and asked:
        others = "、".join(shape.others) if zh else ", ".join(shape.others)
        said.append(
            f"“{asked}”按 {shape.name} 计（也可能是 {others}，大小相近）。"
            if zh
            else (f"'{asked}' was taken as {shape.name} (it could also be {others}, of about the same size).")
        )
    if others:
        also = ("、" if zh else ", ").join(others)
        said.append(
            f"GPU 按 {card} 计（同名的还有 {also}）。" if zh else f"The GPU was taken as {card} (there is also {also})."
        )
    return tuple(said)


def formula(plan: Plan, language: Language) -> str:
    """The calculation, as it could be done by hand."""
    zh = language == "zh"
    if plan.method == "inference":
        return (
            "(参数 × 字节 + 2 × 层数 × KV 头数 × 头维 × 字节 × token) ÷ 卡数"
            if zh
            else "(parameters x bytes + 2 x layers x KV heads x head size x bytes x tokens) / GPUs"
        )
    if plan.method == "full":
        weight, gradient, optimizer = plan.weight_bytes, plan.gradient_bytes, plan.optimizer_bytes
        total = weight + gradient + optimizer
        return (
            f"模型状态 = 参数 × {total:g} 字节（权重 {weight:g} + 梯度 {gradient:g} + 优化器 {optimizer:g}）；"
            "ZeRO-1 均分优化器，2 再均分梯度，3 全部均分；激活 = 每层 2 × 序列 × batch × 隐藏维（重算）+ 一层 + logits"
            if zh
            else f"states = parameters x {total:g} bytes (weights {weight:g} + gradients {gradient:g} + optimizer "
            f"{optimizer:g}); ZeRO-1 divides the optimizer by the GPUs, 2 also the gradients, 3 all; activations = "
            "2 x sequence x batch x hidden size a layer (recomputed) + one layer + logits"
        )
    each = "0.5" if plan.method == "qlora" else f"{plan.weight_bytes:g}"
    return (
        f"底座 = 参数 × {each} 字节，不切分时每卡一份；适配器 = rank × 层数 × 21.5 × 隐藏维，每个 16 字节；再加激活"
        if zh
        else f"base = parameters x {each} bytes, whole on every GPU unless sharded; adapters = rank x layers x 21.5 x "
        "hidden size, 16 bytes each; plus activations"
    )


def warnings(
    plan: Plan, shape: Shape, row: Accelerator | None, precision: str | None, language: Language
) -> tuple[str, ...]:
    """What a reader must not overlook."""
    zh = language == "zh"
    said = []
    if row is not None and row.bf16_tflops is None and row.fp16_tflops is not None and precision in (None, "bf16"):
        said.append(
            f"{row.family} 没有 bf16：用 fp16 加损失缩放。"
            if zh
            else f"{row.family} has no bf16: use fp16 with loss scaling."
        )
    if shape.is_mixture_of_experts:
        said.append(
            "混合专家模型：显存跟着全部参数走，只有算力跟着激活参数走。"
            if zh
            else "A mixture of experts: memory follows all parameters, only compute follows the active ones."
        )
    if plan.method in ("lora", "qlora") and plan.gpus > 1 and plan.stage < 3:
        said.append(
            "数据并行（DDP、ZeRO-1/2）时每张卡都放一份完整的底座，多张卡的显存不会合成一个池子。"
            if zh
            else "Under data parallelism (DDP, ZeRO-1/2) every GPU holds a full copy of the base: memory is not pooled."
        )
    return tuple(said)
