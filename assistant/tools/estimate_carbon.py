"""Calculator: energy and carbon of GPU time, by region, and where it would be less.

Energy = GPU-hours x watts x PUE; carbon = energy x grid intensity (LLaMA, arXiv 2302.13971).
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from assistant.errors import InvalidField
from assistant.schema import Language, ToolRun
from assistant.tools import _carbon_words, _checks
from assistant.tools._inputs import Bound, MoneyInputs, ask, check
from assistant.tools.base import Calculation, Filled, Presentation, Tool
from knowledge import catalog
from knowledge.catalog.records import GridCarbon, Provenance

_LLAMA = Provenance("LLaMA, arXiv 2302.13971 (energy and carbon formula)", "https://arxiv.org/abs/2302.13971")
SHOWN_REGIONS = 5


class CarbonInputs(MoneyInputs):
    """How much GPU time, on what, where; of GPU-hours and energy the missing one is worked out."""

    gpu: str | None = None
    gpu_count: float | None = Field(None, json_schema_extra={"unit": "gpu"})
    days: float | None = Field(None, json_schema_extra={"unit": "day"})
    hours: float | None = Field(None, json_schema_extra={"unit": "hour"})
    gpu_hours: float | None = Field(None, json_schema_extra={"unit": "gpu-hour"})
    power_watts: float | None = Field(None, description="Power of one GPU", json_schema_extra={"unit": "W"})
    energy_kwh: float | None = Field(None, description="Energy that is known", json_schema_extra={"unit": "kWh"})
    pue: float | None = Field(None, json_schema_extra={"unit": "ratio"})
    grid_grams_per_kwh: float | None = Field(None, json_schema_extra={"unit": "g/kWh"})
    provider: str | None = None
    region: str | None = Field(None, description="Cloud region or place")
    compare_region: str | None = Field(None, description="A region to move to")
    rank_regions: bool = Field(False, description="Only say which regions have the cleanest grid")
    electricity_price: float | None = Field(None, json_schema_extra={"unit": "money/kWh"})


BOUNDS = {
    "gpu_count": Bound("卡数", "The number of GPUs", low=1, high=1e6, above=False),
    "days": Bound("天数", "The number of days", high=36_500),
    "hours": Bound("小时数", "The number of hours", high=1e6),
    "gpu_hours": Bound("卡时", "GPU-hours", high=1e12),
    "power_watts": Bound("单卡功率", "The power of a GPU", high=1e5),
    "energy_kwh": Bound("用电量", "The energy", high=1e13),
    "pue": Bound("PUE", "PUE", low=1.0, high=5.0, above=False),
    "grid_grams_per_kwh": Bound("电网碳强度", "The grid's intensity", high=2000, above=False),
    "electricity_price": Bound("电价", "The price of electricity", high=1e3, above=False),
}


def _calculate(inputs: CarbonInputs, language: Language) -> Calculation:
    check(inputs, BOUNDS, language)
    filled: dict[str, Filled] = {}
    used: list[Provenance] = [_LLAMA]
    provider = _provider(inputs)
    here = _grid(inputs, provider, inputs.region, "region", language)
    pue = _pue(inputs, provider or (here.provider if here is not None else None), filled, used)
    result: dict[str, Any] = {}
    if _about_regions_alone(inputs):
        return _regions_alone(inputs, provider, here, used, language)
    energy = _energy(inputs, pue, result, filled, used, language)
    result |= {"energy_kwh": energy, "pue": pue}
    grams, spread = _intensity(inputs, here, filled, used)
    result |= {"grid_grams_per_kwh": grams, "co2_kg": energy * grams / 1000, "co2_tonnes": energy * grams / 1e6}
    if here is not None:
        result |= {"region": here.region, "place": here.place}
    if spread is not None:
        result["co2_tonnes_range"] = [energy * bound / 1e6 for bound in spread]
    if result.get("gpu_hours"):
        result["co2_grams_per_gpu_hour"] = energy * grams / result["gpu_hours"]
    _greener(inputs, provider, energy, result, used, language)
    if inputs.electricity_price is not None:
        result |= {"electricity_cost": energy * inputs.electricity_price, "currency": inputs.currency or "USD"}
    return Calculation(
        result=result,
        formula="energy = GPU-hours x watts x PUE / 1,000; carbon = energy x grams a kWh",
        filled=filled,
        assumptions=_carbon_words.assumptions(inputs.model_dump(), result, language),
        warnings=(),
        sources=_checks.sources(used),
    )


_ABOUT_WORK = {"gpu", "gpu_count", "days", "hours", "gpu_hours", "power_watts", "energy_kwh"}


def _about_regions_alone(inputs: CarbonInputs) -> bool:
    """Whether grids are to be compared, whatever is trained on them."""
    no_work = not _ABOUT_WORK & inputs.model_fields_set
    return no_work and (inputs.rank_regions or inputs.region is not None or inputs.compare_region is not None)


def _regions_alone(
    inputs: CarbonInputs,
    provider: str | None,
    here: GridCarbon | None,
    used: list[Provenance],
    language: Language,
) -> Calculation:
    result: dict[str, Any] = {}
    if here is not None:
        used.append(here.source)
        result |= {"grid_grams_per_kwh": here.grams_per_kwh, "region": here.region, "place": here.place}
    other = _grid(inputs, None, inputs.compare_region, "compare_region", language)
    if other is not None:
        used.append(other.source)
        result |= {"compare_region": other.region, "compare_place": other.place}
        result["compare_grams_per_kwh"] = other.grams_per_kwh
        if here is not None:
            result["grid_ratio"] = max(here.grams_per_kwh, other.grams_per_kwh) / min(
                here.grams_per_kwh, other.grams_per_kwh
            )
    rows = _cleanest(provider)
    used += [row.source for row in rows[:1]]
    result["greener_regions"] = [
        {"provider": row.provider, "region": row.region, "place": row.place, "grams_per_kwh": row.grams_per_kwh}
        for row in rows[:SHOWN_REGIONS]
    ]
    return Calculation(
        result=result,
        formula="carbon = energy x grams a kWh of the region's grid",
        assumptions=_carbon_words.location_based(language),
        sources=_checks.sources(used),
    )


def _cleanest(provider: str | None) -> list[GridCarbon]:
    """Regions by the intensity of their grid, lowest first."""
    rows = [row for row in catalog.grid_carbon() if provider in (None, row.provider) and row.region != "world"]
    return sorted(rows, key=lambda row: row.grams_per_kwh)


def _provider(inputs: CarbonInputs) -> str | None:
    if inputs.provider is None:
        return None
    try:
        return catalog.find_provider(inputs.provider)
    except catalog.UnknownName as unknown:
        raise InvalidField("provider", str(unknown), nearest=unknown.nearest) from unknown


def _grid(
    inputs: CarbonInputs, provider: str | None, region: str | None, field: str, language: Language
) -> GridCarbon | None:
    """The grid of a region, by its name or its place.

    Raises:
        InvalidField: no row fits; the error names regions that do.
    """
    if region is None:
        return None
    wanted = region.casefold().strip()
    rows = [row for row in catalog.grid_carbon() if provider in (None, row.provider)]
    exact = next((row for row in rows if row.region.casefold() == wanted), None)
    inside = (row for row in rows if wanted in row.region.casefold() or wanted in row.place.casefold())
    found = exact or next(inside, None)
    if found is None and inputs.grid_grams_per_kwh is None:
        names = tuple(f"{row.region} ({row.place})" for row in rows[:5])
        listed = ", ".join(names)
        raise InvalidField(
            field,
            f"没有“{region}”的电网碳强度数据。可用的有 {listed} 等；也可以直接给碳强度（克/度）。"
            if language == "zh"
            else f"No grid intensity of '{region}' is known. There are {listed} and more; grams a kWh will do as well.",
            nearest=names,
        )
    return found


def _pue(inputs: CarbonInputs, provider: str | None, filled: dict[str, Filled], used: list[Provenance]) -> float:
    """Stated, else the provider's, else the mean of the clouds'."""
    if inputs.pue is not None:
        return inputs.pue
    if inputs.energy_kwh is not None and inputs.gpu_hours is None and inputs.gpu is None:
        # Metered energy is what it is.
        return 1.0
    rows = [row for row in catalog.power_usage() if row.provider != "on-premises"]
    rows = [row for row in rows if row.provider == provider] or rows
    value = sum(row.pue for row in rows) / len(rows)
    used += [row.source for row in rows]
    filled["pue"] = Filled(value, "catalog", "ratio")
    return value


def _energy(
    inputs: CarbonInputs,
    pue: float,
    result: dict[str, Any],
    filled: dict[str, Filled],
    used: list[Provenance],
    language: Language,
) -> float:
    """kWh at the meter."""
    hours = inputs.gpu_hours
    time = inputs.hours if inputs.hours is not None else (inputs.days * 24 if inputs.days is not None else None)
    if hours is None and time is not None:
        count = inputs.gpu_count
        if count is None and (inputs.gpu is not None or inputs.power_watts is not None):
            count = 1.0
            filled["gpu_count"] = Filled(1.0, "default", "gpu")
        hours = count * time if count is not None else None
    watts = inputs.power_watts
    if watts is None and inputs.gpu is not None:
        row = _checks.accelerator(inputs.gpu, language).row
        watts = row.power_w
        if watts is not None:
            used.append(row.source)
            filled["power_watts"] = Filled(watts, "catalog", "W")
            result["gpu"] = row.name
    if inputs.energy_kwh is not None:
        if hours is None and watts is not None:
            hours = inputs.energy_kwh * 1000 / (watts * pue)
            result["solved"] = "gpu_hours"
        if hours is not None:
            result["gpu_hours"] = hours
        return inputs.energy_kwh
    missing = []
    if hours is None:
        missing.append(
            ("gpu_hours", "多少卡时（或几张卡跑多久）", "how many GPU-hours (or how many GPUs for how long)")
        )
    if watts is None:
        missing.append(("gpu", "哪款 GPU（或单卡多少瓦）", "which GPU it is (or its watts)"))
    if hours is None or watts is None:
        ask(missing, language)
    result |= {"gpu_hours": hours, "power_watts": watts}
    return hours * watts * pue / 1000


def _intensity(
    inputs: CarbonInputs, here: GridCarbon | None, filled: dict[str, Filled], used: list[Provenance]
) -> tuple[float, tuple[float, float] | None]:
    """Grams a kWh: stated, of the region, or the world's with the regions as range."""
    if inputs.grid_grams_per_kwh is not None:
        return inputs.grid_grams_per_kwh, None
    if here is not None:
        used.append(here.source)
        filled["grid_grams_per_kwh"] = Filled(here.grams_per_kwh, "catalog", "g/kWh")
        return here.grams_per_kwh, None
    rows = catalog.grid_carbon()
    world = next((row for row in rows if row.provider == "world" or row.region == "world"), None)
    values = sorted(row.grams_per_kwh for row in rows)
    likely = world.grams_per_kwh if world is not None else values[len(values) // 2]
    used += [world.source] if world is not None else [rows[0].source]
    filled["grid_grams_per_kwh"] = Filled(likely, "catalog", "g/kWh")
    return likely, (values[0], values[-1])


def _greener(
    inputs: CarbonInputs,
    provider: str | None,
    energy: float,
    result: dict[str, Any],
    used: list[Provenance],
    language: Language,
) -> None:
    """The lowest regions, and the region to compare with."""
    rows = _cleanest(provider)
    used += [row.source for row in rows[:1]]
    result["greener_regions"] = [
        {
            "provider": row.provider,
            "region": row.region,
            "place": row.place,
            "grams_per_kwh": row.grams_per_kwh,
            "co2_tonnes": energy * row.grams_per_kwh / 1e6,
        }
        for row in rows[:SHOWN_REGIONS]
    ]
    other = _grid(inputs, None, inputs.compare_region, "compare_region", language)
    if other is not None:
        used.append(other.source)
        result |= {
            "compare_region": other.region,
            "compare_place": other.place,
            "compare_grams_per_kwh": other.grams_per_kwh,
            "compare_co2_tonnes": energy * other.grams_per_kwh / 1e6,
            "co2_tonnes_saved": energy * (result["grid_grams_per_kwh"] - other.grams_per_kwh) / 1e6,
        }


def _present(run: ToolRun, language: Language) -> Presentation:
    return _carbon_words.present(run, language)


TOOL = Tool(
    name="estimate_carbon",
    title={"zh": "能耗与碳排", "en": "Energy and carbon"},
    description={
        "zh": "训练用多少度电、排多少二氧化碳（GPU 功率 × PUE × 电网强度），哪些区域更低碳。",
        "en": "Energy and CO2 of training (GPU power x PUE x grid intensity), and which regions are greener.",
    },
    Inputs=CarbonInputs,
    calculate=_calculate,
    present=_present,
)
