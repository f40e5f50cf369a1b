"""The words of `estimate_storage`: formula, assumptions, advice, verdict and table in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools._inputs import exact_money, unit_price
from assistant.tools.base import Presentation

HEAVY_LOSS = 0.03
"""Share of the time that synchronous saving may take before it is worth changing."""


def formula(result: Mapping[str, Any]) -> str:
    """What was worked out, in terms of the arguments."""
    parts = []
    if "checkpoint_bytes" in result:
        parts.append("checkpoint = parameters x bytes a parameter")
    if "checkpoints_bytes" in result:
        parts.append("all = checkpoints x size")
    if "write_seconds" in result and "checkpoint_bytes" in result:
        parts.append("write time = size / write speed")
    if "lost_share" in result:
        parts.append("lost = write time / interval")
    if "monthly_cost" in result:
        parts.append("monthly cost = GB x copies x price a GB and month")
    if "read_bytes_per_second" in result:
        parts.append("throughput = GPUs x bytes a second and GPU")
    return "; ".join(parts)


def assumptions(inputs: Mapping[str, Any], result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """What was taken for granted."""
    zh = language == "zh"
    said = []
    if "weights_bytes" in result:
        said.append(
            "完整检查点按每参数 14 字节：bf16 权重 2，fp32 主权重和两个动量 12；不同框架在 12–16 字节之间。"
            if zh
            else "A full checkpoint is taken as 14 bytes a parameter: 2 of bf16 weights, 12 of fp32 weights and two "
            "moments; frameworks differ between 12 and 16."
        )
    elif inputs["weights_only"] and "checkpoint_bytes" in result and inputs["bytes_per_parameter"] is None:
        said.append(
            "只存权重，bf16 每参数 2 字节；不能从它恢复优化器状态。"
            if zh
            else "Weights only, 2 bytes a parameter in bf16; training can't resume its optimizer from that."
        )
    if "monthly_cost" in result:
        said.append(
            "容量按十进制 GB，只含存储费，不含请求、取回和流量。"
            if zh
            else "Decimal gigabytes; storage only, without requests, retrieval and traffic."
        )
    if "monthly_cost_range" in result:
        said.append(
            "没给单价，按几家云的标价取中位数。" if zh else "No price was given: the median of list prices is used."
        )
    if inputs["tokens"] is not None and "dataset_bytes" in result:
        said.append(
            "每个 token 按 4 字节整数存；词表小于 65,536 可用 2 字节，减半。"
            if zh
            else "A token is stored as a 4-byte integer; vocabularies below 65,536 fit in 2, half of it."
        )
    return tuple(said)


def warnings(inputs: Mapping[str, Any], result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """Advice that follows from the figures."""
    zh = language == "zh"
    said = []
    if result.get("lost_share", 0.0) > HEAVY_LOSS:
        said.append(
            "同步写代价太大：改异步存档（先拷到内存或本地盘再后台上传）、分片并行写、换更快的存储，或拉长间隔。"
            if zh
            else "Saving synchronously costs too much: save asynchronously (copy to host memory or a local disk, "
            "upload "
            "in the background), write sharded in parallel, use faster storage, or save less often."
        )
    if "archived_bytes" in result:
        said.append(
            "归档层有取回费和最短存放期，取回要等；还要训练的数据别放进去。"
            if zh
            else "Archive tiers charge for retrieval and early deletion and take time to read: keep what you still "
            "train on out."
        )
    return tuple(said)


def present(run: ToolRun, language: Language) -> Presentation:
    """Sizes, stall and cost, each in a sentence when it was worked out."""
    result = run.result
    parts = [
        text
        for text in (
            _checkpoints(result, language),
            _stall(result, language),
            _cost(run, language),
            _feed(result, language),
        )
        if text
    ]
    return Presentation(
        ("" if language == "zh" else " ").join(parts), _table(result, language), _drivers(result, language)
    )


def _checkpoints(result: Mapping[str, Any], language: Language) -> str:
    if "checkpoint_bytes" not in result:
        if "dataset_bytes" in result:
            size = show.data(result["dataset_bytes"])
            return f"token 化后的数据约 {size}。" if language == "zh" else f"The tokenized data takes about {size}."
        return ""
    zh = language == "zh"
    size = show.data(result["checkpoint_bytes"])
    text = f"一个检查点约 {size}" if zh else f"One checkpoint is about {size}"
    if "weights_bytes" in result:
        weights = show.data(result["weights_bytes"])
        text += (
            f"（其中权重 {weights}，其余是优化器状态）" if zh else f" ({weights} of weights, the rest optimizer state)"
        )
    if "checkpoints_bytes" in result:
        count, total = show.exact(result["checkpoint_count"]), show.data(result["checkpoints_bytes"])
        text += f"，{count} 个共 {total}" if zh else f"; {count} of them take {total}"
    if "kept_bytes" in result:
        kept, total = show.exact(result["keep_last"]), show.data(result["kept_bytes"])
        text += f"，只留最近 {kept} 个是 {total}" if zh else f"; keeping the last {kept} takes {total}"
        peak = show.data(result["peak_bytes"])
        text += f"（写新档时峰值 {peak}）" if zh else f" ({peak} while the next one is written)"
    if "bytes_per_day" in result and "write_seconds" not in result:
        many, daily = show.significant(result["checkpoints_per_day"]), show.data(result["bytes_per_day"])
        text += (
            f"；照这个间隔每天 {many} 个、约 {daily}，全留很快占满，只留最近几个就够恢复"
            if zh
            else f"; at that interval it is {many} a day, about {daily}: keep only the last few"
        )
    return text + ("。" if zh else ".")


def _stall(result: Mapping[str, Any], language: Language) -> str:
    if "write_seconds" not in result:
        return ""
    zh = language == "zh"
    seconds = result["write_seconds"]
    length = f"{show.significant(seconds)} 秒" if zh else f"{show.significant(seconds)} s"
    if seconds >= 120:
        minutes = show.duration(seconds, language, 2)
        length += f"（约 {minutes}）" if zh else f" (about {minutes})"
    text = f"同步写一次卡住约 {length}" if zh else f"Writing one synchronously stalls training for about {length}"
    if "lost_share" in result:
        lost, wall = show.percent(result["lost_share"]), show.percent(result["lost_share_of_wall_time"])
        text += (
            f"，每个间隔损失约 {lost} 的训练时间（占总时长 {wall}）"
            if zh
            else f", about {lost} of each interval ({wall} of the wall time)"
        )
    text += "。" if zh else "."
    if result.get("lost_share", 0.0) > HEAVY_LOSS:
        text += (
            "建议异步存档、分片并行写或换更快的存储。"
            if zh
            else " Save asynchronously, sharded over the nodes, or to faster storage."
        )
    return text


def _cost(run: ToolRun, language: Language) -> str:
    result, zh = run.result, language == "zh"
    if "monthly_cost" not in result:
        return ""
    currency = result["currency"]
    uncertain = "monthly_cost_range" in result
    in_words = show.money if uncertain else exact_money
    monthly = in_words(result["monthly_cost"], currency, language)
    price = unit_price(result["price_per_gb_month"], currency, language)
    if result.get("solved") == "volume_bytes":
        size = show.data(result["volume_bytes"])
        return (
            f"每月 {monthly} 能存约 {size}（每 GB 每月 {price}）。"
            if zh
            else (f"{monthly} a month keeps about {size} at {price} a GB and month.")
        )
    if result.get("solved") == "price_per_gb_month":
        return f"{monthly} 的月费折合每 GB 每月 {price}。" if zh else f"A bill of {monthly} is {price} a GB and month."
    stored = show.data(result["stored_bytes"])
    copies = result.get("copies", 1)
    each = ""
    if copies != 1:
        one = show.data(result["volume_bytes"])
        each = f"（{one} × {show.exact(copies)} 份）" if zh else f" ({one} x {show.exact(copies)} copies)"
    about = ("约 " if zh else "About ") if uncertain else (" " if zh else "")
    text = (
        f"每月{about}{monthly}：{stored}{each}，每 GB 每月 {price}"
        if zh
        else f"{about}{monthly} a month: {stored}{each} at {price} a GB and month"
    )
    if "monthly_cost_range" in result:
        low, high = result["monthly_cost_range"]
        spread = show.money_range(low, high, currency, language)
        text += f"（各云 {spread}）" if zh else f" ({spread} over the clouds)"
    if "archived_bytes" in result:
        hot, cold = show.data(result["hot_bytes"]), show.data(result["archived_bytes"])
        cold_price = unit_price(result["archive_price_per_gb_month"], currency, language)
        saved = in_words(result["monthly_saving"], currency, language)
        text += (
            f"，其中 {hot} 标准、{cold} 归档（{cold_price}），每月省 {saved}"
            if zh
            else f", {hot} of it standard and {cold} archived at {cold_price}, which saves {saved} a month"
        )
    if "cost" in result and result["months"] != 1:
        total = in_words(result["cost"], currency, language)
        months = show.significant(result["months"])
        text += f"；{months} 个月共 {total}" if zh else f"; {total} over {months} months"
    return text + ("。" if zh else ".")


def _feed(result: Mapping[str, Any], language: Language) -> str:
    if "read_bytes_per_second" not in result:
        return ""
    rate, each = (f"{show.data(result[name])}/s" for name in ("read_bytes_per_second", "read_bytes_per_second_per_gpu"))
    if language == "zh":
        return f"要喂饱这些卡，读吞吐至少 {rate}（每卡 {each}）。"
    return f"To keep the GPUs fed, read throughput must be at least {rate} ({each} a GPU)."


def _table(result: Mapping[str, Any], language: Language) -> tuple[tuple[str, ...], ...]:
    """Tiers of the data, when there are two."""
    if "archived_bytes" not in result:
        return ()
    zh = language == "zh"
    currency = result["currency"]

    def row(label: str, tier: str, size: str) -> tuple[str, ...]:
        price = result["price_per_gb_month" if tier == "hot" else "archive_price_per_gb_month"]
        cost = exact_money(result[f"{tier}_monthly_cost"], currency, language)
        return (label, show.data(result[size]), unit_price(price, currency, language), cost)

    return (
        ("层", "容量", "每 GB 每月", "每月") if zh else ("tier", "size", "a GB and month", "a month"),
        row("标准" if zh else "standard", "hot", "hot_bytes"),
        row("归档" if zh else "archive", "archive", "archived_bytes"),
    )


def _drivers(result: Mapping[str, Any], language: Language) -> str:
    if "checkpoint_bytes" in result:
        return (
            "保留几个检查点、是否带优化器状态影响最大：中间存档可只留权重（约七分之一）。"
            if language == "zh"
            else "How many checkpoints are kept, and whether with optimizer state, matters most: weights alone are "
            "a seventh."
        )
    if "monthly_cost" in result:
        return (
            "副本数和冷热分层影响最大，单价次之。"
            if language == "zh"
            else "The number of copies and what goes to a colder tier matter most, then the price."
        )
    return ""
