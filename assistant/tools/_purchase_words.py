"""The words of `compare_purchase_options`: formula, assumptions, advice, verdict and table in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools._inputs import HOURS_PER_MONTH, exact_money, unit_price
from assistant.tools.base import Presentation

_NAMES: dict[str, dict[Language, str]] = {
    "on_demand": {"zh": "按需", "en": "on-demand"},
    "reserved": {"zh": "预留/包月", "en": "commitment"},
    "spot": {"zh": "抢占式", "en": "spot"},
}
MUCH_LOST = 0.3
"""Share of lost time from which the first-order formula is too kind."""


def formula(result: Mapping[str, Any]) -> str:
    """What was worked out, in terms of the arguments."""
    parts = []
    if "checkpoint_interval_seconds" in result:
        parts.append("interval = sqrt(2 x write time x mean time between failures)")
    if "lost_share" in result:
        parts.append("lost = write / interval + (interval / 2 + restart) / mean time between failures")
    if "break_even_utilization" in result:
        parts.append("break-even utilisation = committed price / on-demand price")
    if "spot_price" in result:
        parts.append("spot a useful hour = spot price x (1 + lost)")
    return "; ".join(parts)


def assumptions(inputs: Mapping[str, Any], result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """What was taken for granted."""
    zh = language == "zh"
    said = []
    if "checkpoint_interval_seconds" in result:
        said.append(
            "Young 公式的前提：中断随机、写检查点时训练停下（同步）、写入远短于中断间隔。"
            if zh
            else "Young's formula takes interruptions as random, saving as synchronous, and writing as much shorter "
            "than "
            "the time between interruptions."
        )
    if inputs["interruption_hours"] is None and "interruption_seconds" in result:
        between = show.duration(result["interruption_seconds"], language)
        said.append(
            f"没给中断频率，按 Llama 3 在 16,384 张 H100 上 54 天 419 次意外中断折算，平均每 {between} 一次。"
            if zh
            else "No interruption rate was given: scaled from Llama 3's 419 unexpected interruptions in 54 days on "
            "16,384 "
            f"H100, one every {between}."
        )
    if "break_even_utilization" in result:
        said.append(
            f"一个月按 {HOURS_PER_MONTH:.0f} 小时；预留不用也付费。"
            if zh
            else f"A month has {HOURS_PER_MONTH:.0f} hours; a commitment is paid whether used or not."
        )
    if "reserved_discount_range" in result:
        low, high = (show.percent(value) for value in result["reserved_discount_range"])
        said.append(
            f"没给预留价，按公开的承诺折扣 {low}–{high}（CPU 机型平均，GPU 机型常有出入）。"
            if zh
            else f"No committed price was given: published discounts of {low}–{high} are used (averages of CPU "
            "families; "
            "GPU families often differ)."
        )
    if "spot_price" in result and "lost_share" not in result:
        said.append(
            "没给中断频率，未计中断重做和重启的损失。"
            if zh
            else "No interruption rate was given, so time lost to redoing work and restarts is not included."
        )
    elif "lost_share" in result and inputs["restart_seconds"] is None:
        said.append("未计重启用时。" if zh else "Restart time is not included.")
    return tuple(said)


def warnings(inputs: Mapping[str, Any], result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """Where the figures mislead."""
    zh = language == "zh"
    said = []
    if result.get("lost_share", 0.0) > MUCH_LOST:
        said.append(
            "中断太频繁，损失已超三成，一阶公式会低估；先把写检查点变快或换不易中断的机型。"
            if zh
            else "Interruptions are so frequent that over 30% is lost and a first-order formula understates it: make "
            "saving faster or choose capacity that is interrupted less."
        )
    if result.get("best") == "spot" and "lost_share" not in result:
        said.append(
            "抢占式会被随时收回，必须有自动存档和续训。"
            if zh
            else "Spot capacity can be taken away at any time: it needs automatic checkpoints and resuming."
        )
    return tuple(said)


def present(run: ToolRun, language: Language) -> Presentation:
    """The verdict, the break-even, and the checkpoint interval."""
    result = run.result
    parts = [
        text
        for text in (
            _best(result, language),
            _break_even(result, language),
            _spot_limit(result, language),
            _interval(result, language),
        )
        if text
    ]
    return Presentation(
        ("" if language == "zh" else " ").join(parts), _table(result, language), _drivers(result, language)
    )


def _best(result: Mapping[str, Any], language: Language) -> str:
    if "best" not in result:
        return ""
    zh = language == "zh"
    name = _NAMES[result["best"]][language]
    saved = show.percent(result["saving_share"])
    if result["best"] == "on_demand":
        others = [item for item in result["options"] if item["option"] != "on_demand"]
        other = min(others, key=lambda item: float(item["relative"]))
        more = show.percent(other["relative"] - 1)
        rival = _NAMES[other["option"]][language]
        text = (
            f"按需更划算：{rival}折到有效时间要贵 {more}"
            if zh
            else (f"On-demand is cheaper: {rival} costs {more} more for a useful hour")
        )
    else:
        text = (
            f"{name}更划算，比按需省 {saved}" if zh else f"{name.capitalize()} is cheaper, {saved} less than on-demand"
        )
    if "cost" in result:
        period = ("每月", "a month")
        if "hours" in result or "hours_per_year" in result:
            period = ("这次任务", "for the job") if "hours" in result else ("每年", "a year")
        cost = exact_money(result["cost"], result["currency"], language)
        full = exact_money(result["options"][0]["cost"], result["currency"], language)
        text += f"：{period[0]} {cost}" if zh else f": {cost} {period[1]}"
        if result["best"] != "on_demand":
            less = exact_money(result["saving"], result["currency"], language)
            text += f"，按需要 {full}，省 {less}" if zh else f" against {full}, {less} less"
    return text + ("。" if zh else ".")


def _break_even(result: Mapping[str, Any], language: Language) -> str:
    if "break_even_utilization" not in result:
        return ""
    zh = language == "zh"
    share = show.percent(result["break_even_utilization"])
    yearly, hours, daily = (
        show.significant(result[f"break_even_hours_per_{period}"]) for period in ("year", "month", "day")
    )
    spread = ""
    if "break_even_utilization_range" in result:
        low, high = (show.percent(value) for value in result["break_even_utilization_range"])
        spread = f"（{low}–{high}）" if zh else f" ({low}–{high})"
    text = (
        f"预留/包月的盈亏平衡点是使用率 {share}{spread}，即每年约 {yearly} 小时、每月约 {hours} 小时、"
        f"每天约 {daily} 小时：用得比这多选预留，少选按需"
        if zh
        else f"A commitment breaks even at {share} utilisation{spread}, about {yearly} hours a year, {hours} a "
        f"month or {daily} a day: "
        "above that commit, below stay on demand"
    )
    if "utilization" in result:
        used = show.percent(result["utilization"])
        text += f"；你的使用率约 {used}" if zh else f"; you use about {used}"
    return text + ("。" if zh else ".")


def _spot_limit(result: Mapping[str, Any], language: Language) -> str:
    if "break_even_lost_share" not in result:
        return ""
    zh = language == "zh"
    limit = show.percent(result["break_even_lost_share"])
    off = show.percent(result["spot_discount"])
    if "lost_share" not in result:
        return (
            f"抢占式便宜 {off}，只要中断造成的额外时间不超过 {limit} 就划算。"
            if zh
            else f"Spot is {off} cheaper and pays as long as interruptions add less than {limit} to the time."
        )
    lost = show.percent(result["lost_share"])
    return (
        f"抢占式便宜 {off}，中断、重做和存档约多花 {lost} 的时间（超过 {limit} 才不划算）。"
        if zh
        else f"Spot is {off} cheaper; interruptions, redone work and saving add about {lost} to the time (it stops "
        f"paying at {limit})."
    )


def _interval(result: Mapping[str, Any], language: Language) -> str:
    zh = language == "zh"
    if "lost_share" not in result:
        if "interruption_seconds" not in result:
            return ""
        between = show.duration(result["interruption_seconds"], language)
        return (
            f"平均约每 {between}中断一次；再给出写一次检查点的时间，就能算多久存一次。"
            if zh
            else f"About one interruption every {between} is to be expected; with the time that writing a "
            "checkpoint takes, "
            "the best interval can be told."
        )
    lost = show.percent(result["lost_share"], 2)
    if "checkpoint_interval_seconds" not in result:
        if "break_even_lost_share" in result:
            return ""
        return f"中断约多花 {lost} 的时间。" if zh else f"Interruptions add about {lost} to the time."
    seconds = result["checkpoint_interval_seconds"]
    interval = _minutes(seconds, language)
    daly = _minutes(result["daly_interval_seconds"], language)
    exact = show.exact(round(seconds))
    if "stated_interval_seconds" in result:
        least = show.percent(result["least_lost_share"], 2)
        stated = _minutes(result["stated_interval_seconds"], language)
        return (
            f"每 {stated}存一次约损失 {lost}；最划算是约 {interval}存一次（Young 公式），损失降到 {least}。"
            if zh
            else f"Saving every {stated} loses about {lost}; the best is about every {interval} (Young), which "
            f"loses {least}."
        )
    return (
        f"约 {interval}存一次检查点最划算（Young 公式 √(2×写入时间×平均中断间隔) = {exact} 秒；Daly 修正为 {daly}），"
        f"此时存档加重做约损失 {lost} 的时间。"
        if zh
        else f"Saving about every {interval} is best (Young: sqrt(2 x write time x mean time between interruptions) = "
        f"{exact} s; Daly's refinement gives {daly}); saving and redoing work then cost about {lost} of the time."
    )


def _minutes(seconds: float, language: Language) -> str:
    if not 60 <= seconds < 4 * 3600:
        return show.duration(seconds, language)
    return f"{show.significant(seconds / 60)} {'分钟' if language == 'zh' else 'minutes'}"


def _table(result: Mapping[str, Any], language: Language) -> tuple[tuple[str, ...], ...]:
    if "options" not in result:
        return ()
    zh = language == "zh"
    priced = "on_demand_price" in result
    costed = any("cost" in item for item in result["options"])
    header = [
        ("方式", "option"),
        ("标价（每小时）", "price an hour"),
        ("折到有效小时", "a useful hour"),
        ("相对按需", "against on-demand"),
    ]
    if costed:
        header.append(("总价", "cost"))
    rows = [tuple(cell[0 if zh else 1] for cell in header)]
    for item in result["options"]:
        money = [unit_price(item[name], result["currency"], language) for name in ("price_per_hour", "per_used_hour")]
        if not priced:
            money = [show.percent(item[name]) for name in ("price_per_hour", "per_used_hour")]
        row = [_NAMES[item["option"]][language], *money, show.percent(item["relative"])]
        if costed:
            row.append(exact_money(item["cost"], result["currency"], language) if "cost" in item else "—")
        rows.append(tuple(row))
    return tuple(rows)


def _drivers(result: Mapping[str, Any], language: Language) -> str:
    zh = language == "zh"
    if "break_even_utilization" in result:
        return (
            "真实使用率影响最大：预留不用也计费。"
            if zh
            else "Real utilisation matters most: a commitment is paid even when idle."
        )
    if "lost_share" in result:
        return (
            "写一次检查点的时间和中断频率影响最大。"
            if zh
            else "The time to write a checkpoint and the interruption rate matter most."
        )
    return ""
