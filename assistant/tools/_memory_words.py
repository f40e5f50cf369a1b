"""What a memory estimate says to its reader: verdict first, then the figures and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import _memory
from assistant.tools import formatting as show
from assistant.tools._memory import Plan
from assistant.tools._shape import Shape
from assistant.tools.base import Presentation
from knowledge import catalog

_METHOD = {
    "zh": {"full": "全参训练", "lora": "LoRA", "qlora": "QLoRA（4-bit）", "inference": "推理"},
    "en": {"full": "full training", "lora": "LoRA", "qlora": "QLoRA (4-bit)", "inference": "inference"},
}
_CARDS = (24, 48, 80)


def usual_cases(shape: Shape, language: Language) -> tuple[str, list[tuple[str, ...]]]:
    """A note and a table of the usual methods for a model, when nobody said which."""
    zh = language == "zh"
    header = (
        ("方式", "模型状态", *(f"{size} GB 卡" for size in _CARDS))
        if zh
        else ("method", "model states", *(f"{size} GB cards" for size in _CARDS))
    )
    rows: list[tuple[str, ...]] = [header]
    methods: tuple[_memory.Method, ...] = ("full", "lora", "qlora", "inference")
    for method in methods:
        plan = Plan(shape, method, 1, stage=3, sequence_length=4096 if method == "inference" else 2048)
        states = _memory.need(plan).states
        counts = (_memory.smallest_count(plan, size * 1e9) for size in _CARDS)
        rows.append((_METHOD[language][method], show.gigabytes(states), *(_count(count, language) for count in counts)))
    note = (
        f"各方式差别很大（{shape.name}，切分后每卡放得下的最少张数）："
        if zh
        else f"The methods differ widely (fewest cards for {shape.name}, sharded):"
    )
    return note, rows


def candidates(several: catalog.AmbiguousName, language: Language) -> tuple[str, list[tuple[str, ...]]]:
    """A note and a table of the models that a name can mean."""
    rows: list[tuple[str, ...]] = [
        ("模型", "全参训练", "QLoRA") if language == "zh" else ("model", "full training", "QLoRA")
    ]
    for name in several.candidates:
        parameters = catalog.find_model(name).row.parameters
        rows.append((name, show.gigabytes(16 * parameters), show.gigabytes(0.5 * parameters)))
    note = (
        "不同版本的模型状态（QLoRA 为 4-bit 底座）："
        if language == "zh"
        else "Model states (for QLoRA the 4-bit base):"
    )
    return note, rows


def _count(count: int | None, language: Language) -> str:
    if count is None:
        return "放不下" if language == "zh" else "does not fit"
    return f"{count} 张" if language == "zh" else str(count)


def _card_name(result: dict[str, Any], language: Language) -> str:
    size = show.gigabytes(result["card_bytes"])
    name = str(result.get("gpu", ""))
    if name:
        return f"{name}（{size}）" if language == "zh" else f"{name} ({size})"
    return f"{size} 的卡" if language == "zh" else f"a {size} card"


def _what(result: dict[str, Any], language: Language) -> str:
    """The part of the answer that does not depend on a card: states, base, cache."""
    zh = language == "zh"
    model, method = result["model"], result["method"]
    nominal = show.gigabytes(result["nominal_weights_bytes"])
    if method == "full":
        states = show.gigabytes(result["model_state_bytes"])
        return (
            f"{model} 全参训练的模型状态（权重、梯度、优化器）约 {states}"
            if zh
            else f"full training of {model} has {states} of model states (weights, gradients, optimizer)"
        )
    if method == "inference":
        cache = show.gigabytes(result["kv_cache_bytes"])
        return (
            f"{model} 推理：权重约 {nominal}，KV 缓存约 {cache}"
            if zh
            else (f"serving {model} takes {nominal} of weights and {cache} of KV cache")
        )
    kind = ("4-bit 底座" if zh else "4-bit base") if method == "qlora" else ("16 位底座" if zh else "16-bit base")
    return (
        f"{model} {'QLoRA' if method == 'qlora' else 'LoRA'} 的 {kind}约 {nominal}"
        if zh
        else (f"the {kind} of {model} for {'QLoRA' if method == 'qlora' else 'LoRA'} is {nominal}")
    )


def _ways_out(result: dict[str, Any], language: Language) -> str:
    """What would make it fit, best first."""
    zh = language == "zh"
    said = []
    seen = set()
    for option in result.get("options", []):
        kind = option["option"]
        if option["fits"] != "fits" or kind in seen:
            continue
        seen.add(kind)
        per = show.gigabytes(option["total_bytes_per_gpu"])
        count = option["gpu_count"]
        card, host = f"{option['card_bytes'] / 1e9:.0f} GB", show.gigabytes(option["host_bytes"])
        words = {
            "count": (f"加到 {count} 张（每卡约 {per}）", f"go to {count} GPUs (about {per} each)"),
            "shard": (
                f"用 ZeRO-3/FSDP 切分底座（每卡约 {per}）",
                f"shard the base with FSDP or ZeRO-3 (about {per} each)",
            ),
            "offload": (
                f"把优化器卸载到主机内存（每卡约 {per}，主机共约 {host}，会变慢）",
                f"offload the optimizer to host memory (about {per} a GPU and {host} on the host, slower)",
            ),
            "qlora": (f"改用 4-bit 量化的 QLoRA（每卡约 {per}）", f"use 4-bit QLoRA (about {per} each)"),
            "card": (f"换一张 {card} 的卡（约 {per}）", f"use one {card} card (about {per})"),
            "int8": (f"量化到 int8（每卡约 {per}）", f"quantise to int8 (about {per} each)"),
            "int4": (f"量化到 int4（每卡约 {per}）", f"quantise to int4 (about {per} each)"),
        }[kind]
        said.append(words[0] if zh else words[1])
        if len(said) == 3:
            break
    smallest = result.get("smallest_gpu_count")
    if not said and smallest:
        said.append(f"至少 {smallest} 张" if zh else f"take at least {smallest} GPUs")
    if not said:
        return ""
    return ("可选：" + "；".join(said) + "。") if zh else f"What works: {'; '.join(said)}."


def _asked_count(run: ToolRun, language: Language) -> str:
    """The verdict on the cards that were asked about."""
    zh = language == "zh"
    result = run.result
    card, count, verdict = _card_name(result, language), result["gpu_count"], result["fits"]
    states, total = show.gigabytes(result["model_state_bytes_per_gpu"]), show.gigabytes(result["total_bytes_per_gpu"])
    method, stage = result["method"], result["zero_stage"]
    what = _what(result, language)
    if method in ("lora", "qlora") and stage < 3:
        share = (
            (
                f"每张卡各放一份完整底座（不切分时），加适配器与激活每卡约 {total}"
                if count > 1
                else f"加适配器与激活共约 {total}"
            )
            if zh
            else (
                f"every GPU holds a full copy, so with adapters and activations each needs about {total}"
                if count > 1
                else f"with adapters and activations it needs about {total}"
            )
        )
    elif count == 1:
        share = f"加激活共约 {total}" if zh else f"with activations it needs about {total}"
    else:
        rest = (" KV 缓存" if zh else "the KV cache") if method == "inference" else ("激活等" if zh else "activations")
        how = "均分" if method == "inference" else f"按 ZeRO-{stage} 切分"
        how_en = "split evenly" if method == "inference" else f"under ZeRO-{stage}"
        share = (
            f"{how}到 {count} 张后每张 {states}，加{rest}约 {total}"
            if zh
            else f"{how_en} over {count} GPUs that is {states} each, about {total} with {rest}"
        )
    if zh:
        lead = {"fits": "可以，放得下", "tight": "勉强放下，非常紧", "no": "放不下"}[verdict]
        tail = {
            "fits": f"以上按{_setting(run, language)}，更长的序列或更大的 batch 要另留余量。",
            "tight": "几乎没有余量：只能 batch 1 加激活检查点、缩短序列，或卸载优化器。",
            "no": "",
        }[verdict]
        return f"{lead}：{what}，{share}，{card}可用约 {show.gigabytes(result['usable_bytes'])}。{tail}"
    lead = {"fits": "Yes, it fits", "tight": "Only just, very tight", "no": "No"}[verdict]
    tail = {
        "fits": f" That is at {_setting(run, language)}; longer sequences or larger batches need more headroom.",
        "tight": " There is hardly any headroom: batch 1 with activation checkpointing, shorter sequences or offload.",
        "no": "",
    }[verdict]
    usable = show.gigabytes(result["usable_bytes"])
    return f"{lead}: {what}; {share}, and {card} has about {usable} usable.{tail}"


def _setting(run: ToolRun, language: Language) -> str:
    """Sequence length and batch that the figures hold for."""
    length = show.number(run.inputs["sequence_length"].value, language)
    batch = run.inputs["batch"].value
    return f"序列 {length}、batch {batch}" if language == "zh" else f"sequence length {length}, batch {batch}"


def _neighbours(result: dict[str, Any], language: Language) -> str:
    """How the next larger counts fare, for a full training that does not fit."""
    rows = [option for option in result.get("options", []) if option["option"] == "count"]
    if not rows:
        return ""
    first = rows[0]
    per, count = show.gigabytes(first["model_state_bytes_per_gpu"]), first["gpu_count"]
    words = {
        "zh": {"fits": "放得下", "tight": "非常紧，只能 batch 1 加激活检查点或卸载优化器", "no": "仍放不下"},
        "en": {
            "fits": "fits",
            "tight": "very tight: batch 1 with checkpointing, or offload",
            "no": "still does not fit",
        },
    }[language][first["fits"]]
    return f"{count} 张时每张 {per}，{words}。" if language == "zh" else f"On {count} it is {per} each: {words}."


def _no_card(result: dict[str, Any], language: Language) -> str:
    zh = language == "zh"
    what = _what(result, language)
    total = show.gigabytes(result["total_bytes_per_gpu"])
    by_size = {round(row["card_bytes"] / 1e9): row["gpu_count"] for row in result["counts"]}
    states = result["model_state_bytes"]
    least = -(-states // 80e9)
    if zh:
        cards = "，".join(f"{size} GB 卡 {_count(by_size[size], language)}" for size in (24, 48, 80))
        bare = (
            f"（80 GB 卡光放模型状态就要 {least:.0f} 张，没有余量）" if result["method"] == "full" and least > 1 else ""
        )
        single = f"，连同激活单卡约 {total}" if result["method"] != "full" else ""
        return f"{what}{single}；留出余量最少需要：{cards}{bare}。"
    cards = ", ".join(f"{_count(by_size[size], language)} of {size} GB" for size in (24, 48, 80))
    bare = (
        f" ({least:.0f} cards of 80 GB hold the states alone, with no headroom)"
        if result["method"] == "full" and least > 1
        else ""
    )
    single = f", about {total} on one card with activations" if result["method"] != "full" else ""
    return f"{what[0].upper()}{what[1:]}{single}; with headroom that takes at least: {cards}{bare}."


def _split(result: dict[str, Any], language: Language) -> str:
    """What each of a stated number of GPUs holds, whatever card it is."""
    count, stage = result["gpu_count"], result["zero_stage"]
    states, total = show.gigabytes(result["model_state_bytes_per_gpu"]), show.gigabytes(result["total_bytes_per_gpu"])
    if language == "zh":
        how = f"按 ZeRO-{stage} " if result["method"] == "full" else ""
        return f"{how}分到 {count} 张后每张 {states}，连同激活约 {total}。"
    how = f"Under ZeRO-{stage}" if result["method"] == "full" else "Spread"
    return f"{how} over {count} GPUs that is {states} each, about {total} with activations."


def present(run: ToolRun, language: Language) -> Presentation:
    """The estimate in words and a table."""
    result = run.result
    zh = language == "zh"
    asked = "gpu_count" in run.inputs
    if "card_bytes" not in result:
        headline = _no_card(result, language)
        if asked and result["gpu_count"] > 1:
            headline += _space(language) + _split(result, language)
    elif asked or result.get("gpu_count") == 1 or result.get("smallest_gpu_count") is None:
        headline = _asked_count(run, language) if "gpu_count" in result else _never(result, language)
        if result.get("fits") in ("no", "tight"):
            if result["method"] == "full" and result.get("fits") == "no":
                headline += _space(language) + _neighbours(result, language)
            way_out = _ways_out(result, language)
            headline += _space(language) + way_out if way_out else ""
    else:
        headline = _solved(result, language)
    if "largest_parameters" in result:
        largest = show.parameters(result["largest_parameters"])
        headline = (
            f"最大约 {largest} 参数的稠密模型（留有余量）。{headline}"
            if zh
            else f"At most a dense model of about {largest} parameters, with headroom. {headline}"
        )
    for warning in run.warnings:
        if "bf16" in warning:
            headline += _space(language) + warning
    drivers = (
        "序列长度和 batch：激活随之线性增长，是最不确定的一项。"
        if zh
        else "sequence length and batch: activations grow with both, and are the least certain part."
    )
    return Presentation(headline.strip(), tuple(_table(run, language)), drivers)


def _space(language: Language) -> str:
    return "" if language == "zh" else " "


def _never(result: dict[str, Any], language: Language) -> str:
    card = _card_name(result, language)
    return (
        f"放不下：{_what(result, language)}，{card}再多也放不下。"
        if language == "zh"
        else (f"No: {_what(result, language)}, and no number of {card} holds it this way.")
    )


def _solved(result: dict[str, Any], language: Language) -> str:
    count, card = result["gpu_count"], _card_name(result, language)
    total, states = show.gigabytes(result["total_bytes_per_gpu"]), show.gigabytes(result["model_state_bytes_per_gpu"])
    least = result["minimum_gpu_count"]
    what = _what(result, language)
    bare = ""
    if result["method"] == "full" and least < count:
        bare = (
            f"（光放模型状态也要 {least} 张，没有余量）"
            if language == "zh"
            else f" ({least} hold the states alone, with no headroom)"
        )
    serving = result["method"] == "inference"
    if language == "zh":
        rest = " KV 缓存" if serving else "激活等"
        alone = "一张放得下；" if count == 1 else "一张放不下，"
        return f"{alone}最少 {count} 张 {card}{bare}：{what}，切分后每张 {states}，加{rest}约 {total}。"
    rest = "the KV cache" if serving else "activations"
    alone = "One is enough" if count == 1 else "One is not enough"
    return f"{alone}: at least {count} x {card}{bare}: {what}; split, {states} each, about {total} with {rest}."


def _table(run: ToolRun, language: Language) -> Sequence[tuple[str, ...]]:
    zh = language == "zh"
    result = run.result
    if "counts" in result:
        head = ("显存", "最少张数") if zh else ("card", "fewest cards")
        return [
            head,
            *((show.gigabytes(row["card_bytes"]), _count(row["gpu_count"], language)) for row in result["counts"]),
        ]
    parts = [
        ("权重" if zh else "weights", result["weights_bytes_per_gpu"]),
        (
            "梯度与优化器" if zh else "gradients and optimizer",
            result["trained_state_bytes_per_gpu"],
        ),
        ("激活" if zh else "activations", result["activation_bytes_per_gpu"]),
        ("KV 缓存" if zh else "KV cache", result["kv_cache_bytes_per_gpu"]),
        ("合计" if zh else "total", result["total_bytes_per_gpu"]),
        ("主机内存（每台）" if zh else "host memory (a node)", result.get("host_bytes_per_node", 0)),
    ]
    columns = ("每张卡", "十进制", "二进制") if zh else ("on each GPU", "decimal", "binary")
    return [columns, *((name, show.gigabytes(value), show.gibibytes(value)) for name, value in parts if value > 0)]
