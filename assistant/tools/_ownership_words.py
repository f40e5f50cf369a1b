"""The words of `compare_cloud_onprem`: assumptions, warnings, verdict and table in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools._inputs import unit_price
from assistant.tools.base import Presentation

_PARTS: dict[str, dict[Language, str]] = {
    "depreciation": {"zh": "折旧", "en": "depreciation"},
    "maintenance": {"zh": "维保", "en": "maintenance"},
    "electricity": {"zh": "电费", "en": "electricity"},
    "staff": {"zh": "人力", "en": "staff"},
    "colocation": {"zh": "托管", "en": "colocation"},
    "other": {"zh": "其他", "en": "other"},
}
CLOSE = 0.1
"""Within this of the break-even neither side is clearly cheaper."""


def assumptions(inputs: Mapping[str, Any], result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """What was taken for granted."""
    zh = language == "zh"
    years, resale = show.significant(inputs["years"]), show.percent(inputs["resale_share"])
    said = [
        f"直线折旧 {years} 年，残值 {resale}；自建闲着也照样计成本，云上只按用的小时计。"
        if zh
        else f"Straight-line depreciation over {years} years with {resale} resale; owned hardware costs when idle "
        "too, the "
        "cloud only for hours used."
    ]
    if "electricity" in result["cost_parts_per_year"]:
        said.append(
            "电费按全年满功率计，偏保守。"
            if zh
            else "Electricity is counted at full power all year, which is on the safe side."
        )
    return tuple(said)


def warnings(inputs: Mapping[str, Any], result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """What is not in the sum although it costs."""
    zh = language == "zh"
    parts = result["cost_parts_per_year"]
    left_out = []
    if "electricity" not in parts:
        left_out.append("电费与制冷" if zh else "electricity and cooling")
    if not parts["staff"]:
        left_out.append("运维人力" if zh else "operations staff")
    if not parts["maintenance"]:
        left_out.append("维保" if zh else "maintenance")
    if not parts["colocation"]:
        left_out.append("机房或托管" if zh else "space or colocation")
    if not left_out:
        return ()
    if zh:
        return (f"自建成本还没算{'、'.join(left_out)}（没给数据），算进去盈亏平衡点会更高。",)
    return (f"Owning does not yet include {', '.join(left_out)} (not given): with them the break-even is higher.",)


def present(run: ToolRun, language: Language) -> Presentation:
    """Which is cheaper at the stated use, and the use from which owning pays."""
    result, zh = run.result, language == "zh"
    currency = result["currency"]
    if "break_even_utilization" not in result:
        return _own_alone(run, language)
    share = show.percent(result["break_even_utilization"])
    hours = show.number(result["break_even_gpu_hours_per_year"], language)
    own = show.money(result["onprem_cost_per_year"], currency, language)
    parts = [_verdict(result, language)] if "cheaper" in result else []
    if result["owning_can_pay"]:
        spent = (
            (f"（每年约 {hours}卡时）" if zh else f" ({hours} GPU-hours a year)") if result["gpu_count_stated"] else ""
        )
        parts.append(
            f"盈亏平衡利用率约 {share}{spent}：长期高于它自建划算，低于它上云划算。"
            if zh
            else f"Owning breaks even at about {share} utilisation{spent}: above that for years it is "
            "cheaper to own, below it to rent."
        )
    else:
        full = show.money(result["cloud_cost_full_year"], currency, language)
        parts.append(
            f"就算全年满载自建也不划算：自建每年 {own}，云上满载一年才 {full}（盈亏平衡要 {share}）。"
            if zh
            else f"Owning does not pay even at full load: {own} a year against {full} for a full year in the cloud "
            f"(break-even at {share})."
        )
    if "break_even_runs_per_year" in result:
        runs = show.significant(result["break_even_runs_per_year"])
        parts.append(f"折合每年约 {runs} 次这样的训练。" if zh else f"That is about {runs} such runs a year.")
    parts += [_payback(result, language), *run.warnings[:1]]
    headline = ("" if zh else " ").join(part for part in parts if part)
    drivers = (
        "利用率影响最大，其次是云上卡时价和硬件价、残值。"
        if zh
        else "Utilisation matters most, then the cloud's price of a GPU-hour, the hardware's price and its resale."
    )
    return Presentation(headline, _table(result, language), drivers)


def _own_alone(run: ToolRun, language: Language) -> Presentation:
    """What owning costs where no price of the cloud is known to hold against it."""
    result, zh = run.result, language == "zh"
    own = show.money(result["onprem_cost_per_year"], result["currency"], language)
    each = unit_price(result["onprem_cost_per_gpu_hour"], result["currency"], language)
    used = show.percent(result["utilization"])
    text = (
        f"自建每年约 {own}，按利用率 {used} 折合每卡时 {each}。给出云上的卡时价，就能算出利用率多少时自建划算。"
        if zh
        else f"Owning costs about {own} a year, which at {used} utilisation is {each} a GPU-hour. With the cloud's "
        "price of a GPU-hour the use from which owning pays can be told."
    )
    headline = ("" if zh else " ").join([text, *run.warnings[:1]])
    drivers = "利用率影响最大。" if zh else "Utilisation matters most."
    return Presentation(headline, _table(result, language), drivers)


def _verdict(result: Mapping[str, Any], language: Language) -> str:
    zh = language == "zh"
    currency = result["currency"]
    own, cloud, saved = (
        show.money(result[name], currency, language)
        for name in ("onprem_cost_per_year", "cloud_cost_per_year", "saving_per_year")
    )
    used, years = show.percent(result["utilization"]), show.significant(result["years"])
    total = show.money(result["saving"], currency, language)
    close = abs(result["utilization"] / result["break_even_utilization"] - 1) < CLOSE
    if close:
        return (
            f"两者差不多：利用率 {used} 时自建每年约 {own}，上云约 {cloud}。"
            if zh
            else f"About even: at {used} utilisation owning costs {own} a year, renting {cloud}."
        )
    if result["cheaper"] == "own":
        return (
            f"自建更划算：利用率 {used} 时自建每年约 {own}，上云约 {cloud}，每年省 {saved}，{years} 年省 {total}。"
            if zh
            else f"Owning is cheaper: at {used} utilisation it costs {own} a year against {cloud} in the cloud, "
            f"{saved} less a "
            f"year and {total} over {years} years."
        )
    return (
        f"上云更划算：利用率 {used} 时上云每年约 {cloud}，自建约 {own}，每年省 {saved}，{years} 年省 {total}。"
        if zh
        else f"Renting is cheaper: at {used} utilisation it costs {cloud} a year against {own} for owning, {saved} "
        "less a year "
        f"and {total} over {years} years."
    )


def _payback(result: Mapping[str, Any], language: Language) -> str:
    zh = language == "zh"
    text = ""
    if "onprem_cost_per_gpu_hour" in result and result["gpu_count_stated"]:
        own, cloud = (
            unit_price(result[name], result["currency"], language)
            for name in ("onprem_cost_per_gpu_hour", "cloud_price_per_gpu_hour")
        )
        text = (
            f"折到有效卡时，自建 {own}，云上 {cloud}。" if zh else f"A used GPU-hour costs {own} owned, {cloud} rented."
        )
    if "payback_years" in result and result["cheaper"] == "own":
        years = show.significant(result["payback_years"])
        text += f"约 {years} 年回本。" if zh else f" Payback takes about {years} years."
    return text


def _table(result: Mapping[str, Any], language: Language) -> tuple[tuple[str, ...], ...]:
    zh = language == "zh"
    currency = result["currency"]
    rows: list[tuple[str, ...]] = [("自建每年", "金额") if zh else ("owning, a year", "amount")]
    for name, label in _PARTS.items():
        value = result["cost_parts_per_year"].get(name, 0.0)
        if value:
            rows.append((label[language], show.money(value, currency, language)))
    rows.append(("合计" if zh else "in all", show.money(result["onprem_cost_per_year"], currency, language)))
    if "cloud_cost_per_year" in result:
        rows.append(
            (
                "上云（同样用量）" if zh else "renting, same use",
                show.money(result["cloud_cost_per_year"], currency, language),
            )
        )
    return tuple(rows)
