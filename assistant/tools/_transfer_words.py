"""The words of `plan_data_transfer`: formula, assumptions, verdict and table in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools._inputs import exact_money
from assistant.tools.base import Presentation


def formula(result: Mapping[str, Any]) -> str:
    """What was worked out, in terms of the arguments."""
    parts = []
    match result.get("solved"):
        case "days":
            parts.append("days = volume x 8 / (bandwidth x usable share) / 86,400")
        case "bandwidth_bits_per_second":
            parts.append("bandwidth = volume x 8 / (days x 86,400 x usable share)")
        case "volume_bytes":
            parts.append("volume = bandwidth x usable share x days x 86,400 / 8")
    if "device_days" in result:
        parts.append("devices: volume / count / copy speed + road + volume / count / import speed")
    elif "device_count" in result:
        parts.append("devices = volume / capacity, rounded up")
    return "; ".join(parts)


def assumptions(inputs: Mapping[str, Any], result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """What was taken for granted."""
    zh = language == "zh"
    said = ["1 字节 = 8 比特；TB、PB 按十进制。" if zh else "A byte is 8 bits; TB and PB are decimal."]
    if inputs["utilization"] is None and not inputs["measured"] and "bandwidth_bits_per_second" in result:
        said.append(
            "没给利用率，按给出的速度跑满计；上限按只用得上 70% 计。"
            if zh
            else "No usable share was given: the stated rate is taken as reached; the far end of the range is 70% "
            "of it."
        )
    if inputs["compressed_to"] is not None:
        share = show.percent(inputs["compressed_to"])
        said.append(
            f"压缩到 {share} 后再传，未计压缩本身的时间。"
            if zh
            else f"Compressed to {share} first; the time that compressing takes is not included."
        )
    if "device_days" in result:
        said.append(
            "各台设备并行拷贝和导入，数据平均分。"
            if zh
            else "Devices are filled and read out in parallel, each with an equal share."
        )
    return tuple(said)


def present(run: ToolRun, language: Language) -> Presentation:
    """The verdict first, then the table of the ways."""
    result = run.result
    parts = [text for text in (_verdict(run, language), _line(run, language), _devices(result, language)) if text]
    parts += [text for text in (_compared(result, language), _money(result, language)) if text]
    headline = ("" if language == "zh" else " ").join([*parts, *run.warnings[:1]])
    drivers = (
        "实际有效带宽（利用率）和数据量影响最大，先压缩、去重再传最省时间。"
        if language == "zh"
        else "The bandwidth that is really usable and the volume matter most: compress and deduplicate first."
    )
    return Presentation(headline, _table(result, language), drivers)


def _rate(bits: float) -> str:
    """A line's rate in bits, and in bytes where the difference matters."""
    return f"{show.bandwidth(bits)}"


def _verdict(run: ToolRun, language: Language) -> str:
    """Which way is faster, or whether the deadline holds."""
    result, zh = run.result, language == "zh"
    if "faster" in result:
        saved, line, offline = (show.days(result[name], language, 4) for name in ("days_saved", "days", "device_days"))
        if result["faster"] == "devices":
            text = (
                f"寄设备更快：约 {offline}，线路要 {line}，快约 {saved}。"
                if zh
                else f"Shipping devices is faster: about {offline} against {line} over the line, {saved} sooner."
            )
        else:
            text = (
                f"走线路更快：约 {line}，寄设备要 {offline}，快约 {saved}。"
                if zh
                else f"The line is faster: about {line} against {offline} on devices, {saved} sooner."
            )
        if "break_even_bytes" in result:
            flips = show.data(result["break_even_bytes"])
            text += (
                f"数据量超过约 {flips} 时寄设备才划算，低于它走线路。"
                if zh
                else f" Devices win from about {flips} upwards; below that the line does."
            )
        return text
    if "meets_deadline" in result:
        deadline, needed = show.days(result["deadline_days"], language), _rate(result["bandwidth_for_deadline"])
        if result["meets_deadline"]:
            return f"{deadline}内传得完。" if zh else f"Yes, it is done within {deadline}."
        return (
            f"{deadline}内传不完，至少要 {needed} 的带宽。"
            if zh
            else f"Not within {deadline}: that needs at least {needed}."
        )
    return ""


def _line(run: ToolRun, language: Language) -> str:
    result, zh = run.result, language == "zh"
    if "bandwidth_bits_per_second" not in result:
        return ""
    rate, share = result["bandwidth_bits_per_second"], result["utilization"]
    volume, moved = show.data(result["volume_bytes"]), show.data(result["transferred_bytes"])
    sized = (
        moved if moved == volume else (f"{volume} 压缩后的 {moved}" if zh else f"{moved} (compressed from {volume})")
    )
    at = "" if share == 1 else (f"、利用率 {show.percent(share)}" if zh else f" at {show.percent(share)}")
    match result.get("solved"):
        case "days":
            spread = _spread(result, "days", language)
            length = _length(result["days"], language)
            as_bytes = f"{show.data(result['effective_bytes_per_second'])}/s"
            return (
                f"{sized} 走 {_rate(rate)}{at}（有效 {as_bytes}）约需 {length}{spread}。"
                if zh
                else f"{sized} over {_rate(rate)}{at} ({as_bytes} effective) takes about {length}{spread}."
            )
        case "bandwidth_bits_per_second":
            days, spread = show.days(result["days"], language), _spread(result, "bandwidth_bits_per_second", language)
            return (
                f"{sized} 要在 {days}内传完，需要约 {_rate(rate)}{at}{spread}。"
                if zh
                else f"Moving {sized} within {days} needs about {_rate(rate)}{at}{spread}."
            )
        case _:
            days, spread = show.days(result["days"], language), _spread(result, "volume_bytes", language)
            return (
                f"{_rate(rate)}{at} 跑 {days}能传约 {volume}{spread}。"
                if zh
                else f"{_rate(rate)}{at} moves about {volume} in {days}{spread}."
            )


def _length(days: float, language: Language) -> str:
    return show.days(days, language, 4) if days >= 1 else show.duration(days * 86400, language)


def _spread(result: Mapping[str, Any], name: str, language: Language) -> str:
    if f"{name}_range" not in result:
        return ""
    low, high = result[f"{name}_range"]
    if name == "days":
        text = _length(high, language)
        return f"，若只能用上七成则约 {text}" if language == "zh" else f", or about {text} if only 70% of it is usable"
    if name == "volume_bytes":
        text = show.data(low)
        return f"（只用上七成则约 {text}）" if language == "zh" else f" ({text} if only 70% is usable)"
    text = _rate(high)
    return (
        f"；线路一般只能用上七成，按 {text} 采购更稳"
        if language == "zh"
        else f"; as usually only 70% is usable, plan for {text}"
    )


def _devices(result: Mapping[str, Any], language: Language) -> str:
    if "device_count" not in result:
        return ""
    zh = language == "zh"
    count = show.count(result["device_count"], "台设备", "devices", language)
    trips = result["device_trips"]
    again = "" if trips == 1 else (f"、每台往返 {trips} 趟" if zh else f", {trips} trips each")
    if "device_days" not in result:
        return (
            f"离线寄送要 {count}{again}；再给出拷贝速度和路上天数就能算总时间。"
            if zh
            else f"Offline it takes {count}{again}; with the copy speed and the days on the road the time can be told."
        )
    copy, road, read = (
        show.days(result[name], language) for name in ("device_copy_days", "shipping_days", "device_import_days")
    )
    total = show.days(result["device_days"], language, 4)
    return (
        f"{count}并行{again}：拷贝 {copy} + 路上 {road} + 导入 {read} = {total}。"
        if zh
        else f"{count} in parallel{again}: copy {copy} + road {road} + import {read} = {total}."
    )


def _compared(result: Mapping[str, Any], language: Language) -> str:
    if "compare_days" not in result:
        return ""
    zh = language == "zh"
    other, days = _rate(result["compare_bandwidth_bits_per_second"]), _length(result["compare_days"], language)
    text = (f"按 {other} 算则是 {days}。") if zh else f"At {other} it is {days}."
    ratio = result["bandwidth_ratio"]
    if abs(ratio - 8) < 0.05:
        text += (
            "两者正好差 8 倍：MB/s 是字节，Mb/s 是比特，1 字节 = 8 比特；运营商说的“百兆”通常指 100 Mb/s，先确认单位。"
            if zh
            else " The two differ by exactly 8x: MB/s counts bytes, Mb/s bits, and a byte is 8 bits; carriers quote "
            "bits, so check which one is meant."
        )
    else:
        text += f"相差 {show.significant(ratio)} 倍。" if zh else f" That is a factor of {show.significant(ratio)}."
    return text


def _money(result: Mapping[str, Any], language: Language) -> str:
    zh = language == "zh"
    names = {
        "traffic_cost": ("流量费", "traffic"),
        "line_cost": ("线路费", "the line"),
        "device_cost": ("设备费", "devices"),
    }
    parts = [
        f"{label[0 if zh else 1]} {exact_money(result[name], result['currency'], language)}"
        for name, label in names.items()
        if name in result
    ]
    if not parts:
        return ""
    if "traffic_cost_range" in result:
        low, high = result["traffic_cost_range"]
        spread = show.money_range(low, high, result["currency"], language)
        parts.append(f"各云 {spread}" if zh else f"{spread} over the clouds")
    return f"费用：{'、'.join(parts)}。" if zh else f"It costs: {', '.join(parts)}."


def _table(result: Mapping[str, Any], language: Language) -> tuple[tuple[str, ...], ...]:
    """Line and devices side by side, or the clouds' fees; empty when there is only one."""
    if len(result.get("traffic_costs", ())) > 1:
        header = ("云", "流量费") if language == "zh" else ("cloud", "traffic")
        fees = (
            (row["provider"], exact_money(row["cost"], result["currency"], language)) for row in result["traffic_costs"]
        )
        return (header, *fees)
    if "device_days" not in result or result.get("solved") != "days":
        return ()
    zh = language == "zh"
    line, offline = (show.days(result[name], language, 4) for name in ("days", "device_days"))
    rows: list[tuple[str, ...]] = [
        ("方式", "时间", "组成") if zh else ("way", "time", "made of"),
        (
            "线路" if zh else "line",
            line,
            f"{_rate(result['bandwidth_bits_per_second'])} × {show.percent(result['utilization'])}",
        ),
        (
            "离线设备" if zh else "devices",
            offline,
            " + ".join(
                show.days(result[name], language)
                for name in ("device_copy_days", "shipping_days", "device_import_days")
            ),
        ),
    ]
    return tuple(rows)
