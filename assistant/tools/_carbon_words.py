"""The words of `estimate_carbon`: assumptions, verdict and table in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools.base import Presentation


def assumptions(inputs: Mapping[str, Any], result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """What was taken for granted."""
    zh = language == "zh"
    said = []
    if result.get("power_watts") is not None:
        said.append(
            "按每卡满功率计，只含 GPU 与机房制冷（PUE），不含 CPU、网络、存储和设备制造。"
            if zh
            else "GPUs at full power and cooling by PUE; without CPUs, network, storage and manufacture."
        )
    if inputs["pue"] is None and result.get("power_watts") is not None:
        value = show.significant(result["pue"])
        said.append(f"没给 PUE，按公开值 {value}。" if zh else f"No PUE was given: {value}, as published, is used.")
    if inputs["grid_grams_per_kwh"] is None and "region" not in result:
        grams = show.significant(result["grid_grams_per_kwh"])
        said.append(
            f"没给地区，按世界平均 {grams} 克/度；范围是最低到最高的云区域。"
            if zh
            else f"No region was given: the world average of {grams} g/kWh is used; the range is from the lowest to "
            "the "
            "highest cloud region."
        )
    elif "region" in result:
        said += location_based(language)
    return tuple(said)


def location_based(language: Language) -> tuple[str, ...]:
    """How grid intensity is counted."""
    if language == "zh":
        return ("电网强度是年平均，按所在地计；购买绿电证书不在内。",)
    return ("Grid intensity is the location's yearly average; green certificates are not counted.",)


def mass(tonnes: float, language: Language) -> str:
    """Carbon in the unit that reads best."""
    if abs(tonnes) < 1:
        return f"{show.significant(tonnes * 1000)} {'千克' if language == 'zh' else 'kg'}"
    unit = "吨" if language == "zh" else ("tonnes" if tonnes != 1 else "tonne")
    return f"{show.number(tonnes, language)} {unit}"


def energy(kwh: float, language: Language) -> str:
    """Energy in kWh, in 度 for Chinese readers."""
    if language == "zh":
        return f"{show.number(kwh, language)}度（kWh）"
    return f"{show.significant(kwh, 3)} kWh" if kwh < 1e6 else f"{show.significant(kwh / 1000)} MWh"


def present(run: ToolRun, language: Language) -> Presentation:
    """Energy and carbon, then the greener regions."""
    result, zh = run.result, language == "zh"
    if "energy_kwh" not in result:
        return _regions(result, language)
    used, carbon = energy(result["energy_kwh"], language), mass(result["co2_tonnes"], language)
    spread = ""
    if "co2_tonnes_range" in result:
        low, high = (mass(value, language) for value in result["co2_tonnes_range"])
        spread = f"（视地区 {low}–{high}）" if zh else f" ({low} to {high} by region)"
    grams = show.significant(result["grid_grams_per_kwh"])
    where = f"{result['place'] or result['region']}，" if zh and "region" in result else ""
    if not zh and "region" in result:
        where = f" in {result['place'] or result['region']}"
    basis = _basis(result, language)
    text = (
        f"约用电 {used}，排放约 {carbon} CO2e{spread}：{basis}{where}电网 {grams} 克/度。"
        if zh
        else f"About {used} and {carbon} of CO2e{spread}: {basis}grid{where} at {grams} g/kWh."
    )
    if result.get("solved") == "gpu_hours":
        hours = show.number(result["gpu_hours"], language)
        text += f"这些电约合 {hours}卡时。" if zh else f" That energy is about {hours} GPU-hours."
    text += _moved(result, language) or _greenest(result, language)
    if "electricity_cost" in result:
        cost = show.money(result["electricity_cost"], result["currency"], language)
        text += f"电费约 {cost}。" if zh else f" Electricity costs about {cost}."
    drivers = (
        "选哪个区域影响最大，可差一个数量级以上；其次是卡时。"
        if zh
        else "The region matters most, by more than a factor of ten; then the GPU-hours."
    )
    return Presentation(text, _table(result, language), drivers)


def _regions(result: Mapping[str, Any], language: Language) -> Presentation:
    """Grids against one another, without a training run."""
    zh = language == "zh"
    best = result["greener_regions"][0]
    grams = show.significant(best["grams_per_kwh"])
    name = f"{best['place'] or best['region']}（{best['provider']} {best['region']}）"
    text = (
        f"电网最低碳的区域是 {name}，约 {grams} 克/度。"
        if zh
        else f"The cleanest grid is that of {name.replace('（', ' (').replace('）', ')')}, about {grams} g/kWh."
    )
    if "grid_ratio" in result:
        here, there = (show.significant(result[key]) for key in ("grid_grams_per_kwh", "compare_grams_per_kwh"))
        ratio, one, other = show.significant(result["grid_ratio"]), result["region"], result["compare_region"]
        first = (
            f"{one} 约 {here} 克/度，{other} 约 {there} 克/度，相差 {ratio} 倍，同样的训练排放也差这么多。"
            if zh
            else f"{one} has about {here} g/kWh and {other} {there}, a factor of {ratio}, and so do the emissions "
            "of the "
            "same run. "
        )
        text = first + text
    elif "region" in result:
        here = show.significant(result["grid_grams_per_kwh"])
        text = (
            f"{result['region']} 约 {here} 克/度。" if zh else f"{result['region']} has about {here} g/kWh. "
        ) + text
    rows: list[tuple[str, ...]] = [("低碳区域", "克/度") if zh else ("greener region", "g/kWh")]
    for row in result["greener_regions"]:
        place = f" ({row['place']})" if row["place"] else ""
        rows.append((f"{row['provider']} {row['region']}{place}", show.significant(row["grams_per_kwh"])))
    return Presentation(text, tuple(rows))


def _basis(result: Mapping[str, Any], language: Language) -> str:
    if result.get("power_watts") is None:
        return ""
    hours, watts, pue = (
        show.number(result["gpu_hours"], language),
        show.significant(result["power_watts"]),
        show.significant(result["pue"]),
    )
    return (
        f"{hours}卡时 × {watts} W × PUE {pue}，" if language == "zh" else f"{hours} GPU-hours x {watts} W x PUE {pue}, "
    )


def _moved(result: Mapping[str, Any], language: Language) -> str:
    if "compare_region" not in result:
        return ""
    zh = language == "zh"
    place = result["compare_place"] or result["compare_region"]
    there, saved = mass(result["compare_co2_tonnes"], language), mass(abs(result["co2_tonnes_saved"]), language)
    if result["co2_tonnes_saved"] >= 0:
        return f"换到 {place} 约 {there}，少排 {saved}。" if zh else f" In {place} it would be {there}, {saved} less."
    return f"换到 {place} 约 {there}，反而多排 {saved}。" if zh else f" In {place} it would be {there}, {saved} more."


def _greenest(result: Mapping[str, Any], language: Language) -> str:
    if not result["greener_regions"]:
        return ""
    best = result["greener_regions"][0]
    if best["region"] == result.get("region"):
        return "这已是最低碳的区域。" if language == "zh" else " That is the greenest region already."
    place = best["place"] or best["region"]
    there = mass(best["co2_tonnes"], language)
    if language == "zh":
        return f"最低碳的区域是 {place}（{best['provider']} {best['region']}），同样的训练约 {there}。"
    return f" The greenest region is {place} ({best['provider']} {best['region']}): about {there} for the same run."


def _table(result: Mapping[str, Any], language: Language) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = [
        ("低碳区域", "克/度", "同样训练的排放") if language == "zh" else ("greener region", "g/kWh", "the same run")
    ]
    for row in result["greener_regions"]:
        name = f"{row['provider']} {row['region']}" + (f" ({row['place']})" if row["place"] else "")
        rows.append((name, show.significant(row["grams_per_kwh"]), mass(row["co2_tonnes"], language)))
    return tuple(rows)
