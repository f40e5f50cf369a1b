"""Calculator: total cost of owning GPUs against renting them, and the use from which owning pays.

Own, a year: (purchase - resale) / years + maintenance + power x PUE x electricity price + staff + colocation. Rent:
used GPU-hours x price. The break-even is where the two are equal; idle owned hardware still costs.
"""

from __future__ import annotations

from typing import Any, NoReturn

from pydantic import Field

from assistant.schema import Language, ToolRun
from assistant.tools import _checks, _offers, _ownership_words
from assistant.tools._inputs import Bound, MoneyInputs, ask, check
from assistant.tools.base import Calculation, Filled, Presentation, Tool
from knowledge import catalog
from knowledge.catalog.records import Provenance

HOURS_PER_YEAR = 8760.0
DEFAULT_YEARS = 3.0
IDLE_POWER = 1.0
"""Power is taken as drawn all the time: the pessimistic end for a machine that is often idle."""


class OwnershipInputs(MoneyInputs):
    """What owning costs and what renting costs; of use, price and hardware the break-even is worked out."""

    hardware_cost: float | None = Field(None, description="Purchase in all", json_schema_extra={"unit": "money"})
    server_price: float | None = Field(None, description="Purchase of one server", json_schema_extra={"unit": "money"})
    price_per_gpu: float | None = Field(None, description="Purchase of one GPU", json_schema_extra={"unit": "money"})
    servers: float | None = Field(None, json_schema_extra={"unit": "node"})
    gpus_per_server: float = Field(8, json_schema_extra={"unit": "gpu"})
    gpu_count: float | None = Field(None, description="GPUs in all", json_schema_extra={"unit": "gpu"})
    gpu: str | None = None
    years: float = Field(DEFAULT_YEARS, description="Years of use", json_schema_extra={"unit": "year"})
    resale_share: float = Field(0, description="Resale value", json_schema_extra={"unit": "fraction"})
    maintenance_share: float = Field(
        0, description="Maintenance a year, as a share of the purchase", json_schema_extra={"unit": "fraction"}
    )
    power_watts: float | None = Field(None, description="Power of one server", json_schema_extra={"unit": "W"})
    electricity_price: float | None = Field(None, json_schema_extra={"unit": "money/kWh"})
    pue: float | None = Field(None, json_schema_extra={"unit": "ratio"})
    staff: float = Field(0, description="Full-time staff", json_schema_extra={"unit": "person"})
    salary_per_year: float | None = Field(
        None, description="What one of the staff costs", json_schema_extra={"unit": "money/year"}
    )
    colocation_per_month: float = Field(0, json_schema_extra={"unit": "money/month"})
    other_per_year: float = Field(0, json_schema_extra={"unit": "money/year"})
    cloud_price_per_gpu_hour: float | None = Field(None, json_schema_extra={"unit": "money/gpu-hour"})
    cloud_price_per_hour: float | None = Field(
        None, description="Rent of the same capacity", json_schema_extra={"unit": "money/hour"}
    )
    cloud_cost_per_month: float | None = Field(
        None, description="A cloud bill that owning would replace", json_schema_extra={"unit": "money/month"}
    )
    utilization: float | None = Field(
        None, description="Share of all hours used", json_schema_extra={"unit": "fraction"}
    )
    hours_per_year: float | None = Field(None, json_schema_extra={"unit": "hour"})
    hours_per_day: float | None = Field(None, json_schema_extra={"unit": "hour"})
    gpu_hours_per_year: float | None = Field(None, json_schema_extra={"unit": "gpu-hour"})
    runs_per_year: float | None = Field(None, json_schema_extra={"unit": "run"})
    hours_per_run: float | None = Field(None, json_schema_extra={"unit": "hour"})
    gpu_hours_per_run: float | None = Field(None, json_schema_extra={"unit": "gpu-hour"})
    provider: str | None = None


BOUNDS = {
    "hardware_cost": Bound("硬件总价", "The purchase", high=1e13),
    "server_price": Bound("单台价格", "The price of a server", high=1e10),
    "price_per_gpu": Bound("单卡价格", "The price of a GPU", high=1e8),
    "servers": Bound("台数", "The number of servers", low=1, high=1e6, above=False),
    "gpus_per_server": Bound("每台卡数", "GPUs a server", low=1, high=72, above=False),
    "gpu_count": Bound("卡数", "The number of GPUs", low=1, high=1e6, above=False),
    "years": Bound("年限", "The number of years", high=20),
    "resale_share": Bound("残值率", "The resale share", high=1.0, above=False),
    "maintenance_share": Bound("年维保比例", "The maintenance share", high=1.0, above=False),
    "power_watts": Bound("单台功率", "The power of a server", high=1e6),
    "electricity_price": Bound("电价", "The price of electricity", high=1e3, above=False),
    "pue": Bound("PUE", "PUE", low=1.0, high=5.0, above=False),
    "staff": Bound("人数", "The number of staff", high=1e5, above=False),
    "salary_per_year": Bound("人力年成本", "The yearly cost of staff", high=1e9, above=False),
    "colocation_per_month": Bound("托管月费", "The colocation fee", high=1e10, above=False),
    "other_per_year": Bound("其他年费", "Other yearly costs", high=1e12, above=False),
    "cloud_price_per_gpu_hour": Bound("云上卡时价", "The cloud price of a GPU-hour", high=1e5),
    "cloud_price_per_hour": Bound("云上每小时价", "The cloud price an hour", high=1e8),
    "cloud_cost_per_month": Bound("云上月费", "The cloud bill a month", high=1e12),
    "utilization": Bound("利用率", "The utilisation", high=1.0, above=False),
    "hours_per_year": Bound("每年小时数", "Hours a year", high=8784, above=False),
    "hours_per_day": Bound("每天小时数", "Hours a day", high=24, above=False),
    "gpu_hours_per_year": Bound("每年卡时", "GPU-hours a year", high=1e11, above=False),
    "runs_per_year": Bound("每年次数", "Runs a year", high=1e6, above=False),
    "hours_per_run": Bound("每次时长", "Hours a run", high=8784),
    "gpu_hours_per_run": Bound("每次卡时", "GPU-hours a run", high=1e10),
}


def yearly_ownership(
    purchase: float, years: float, resale: float, maintenance: float, running: float
) -> tuple[float, float]:
    """(a year, over all years) of owning; `running` is the yearly cost beside the purchase."""
    total = purchase * (1 - resale) + years * (purchase * maintenance + running)
    return total / years, total


def _calculate(inputs: OwnershipInputs, language: Language) -> Calculation:
    check(inputs, BOUNDS, language)
    filled: dict[str, Filled] = {"years": Filled(inputs.years, "default", "year")}
    used: list[Provenance] = []
    prices: list[Provenance] = []
    servers = inputs.servers or (inputs.gpu_count / inputs.gpus_per_server if inputs.gpu_count is not None else 1.0)
    gpus = inputs.gpu_count or servers * inputs.gpus_per_server
    purchase = _purchase(inputs, servers, gpus)
    rent = _rent(inputs, gpus, filled, prices, language)
    if purchase is None:
        _ask_for_prices(rent, language)
    running, parts = _running(inputs, servers, gpus, filled, used)
    yearly, total = yearly_ownership(purchase, inputs.years, inputs.resale_share, inputs.maintenance_share, running)
    currency = inputs.currency or ("USD" if not prices else _listed_currency(filled))
    result: dict[str, Any] = {
        "currency": currency,
        "gpu_count": gpus,
        "gpu_count_stated": bool({"gpu_count", "servers", "gpus_per_server", "server_price"} & inputs.model_fields_set),
        "years": inputs.years,
        "hardware_cost": purchase,
        "onprem_cost_per_year": yearly,
        "onprem_cost": total,
        "cost_parts_per_year": {
            "depreciation": purchase * (1 - inputs.resale_share) / inputs.years,
            "maintenance": purchase * inputs.maintenance_share,
            **parts,
        },
    }
    formula = "own a year = (purchase - resale) / years + maintenance + electricity x PUE + staff + colocation"
    if rent is None:
        share = _stated_share(inputs, gpus) or 1.0
        result |= {"utilization": share, "onprem_cost_per_gpu_hour": yearly / (share * HOURS_PER_YEAR * gpus)}
        formula += "; a GPU-hour = own a year / (GPUs x used hours)"
    else:
        _against_cloud(inputs, rent, gpus, result)
        formula += "; rent a year = used hours x price; break-even utilisation = own a year / (8,760 x price)"
    return Calculation(
        result=result,
        formula=formula,
        filled=filled,
        assumptions=_ownership_words.assumptions(inputs.model_dump(), result, language),
        warnings=(
            *_ownership_words.warnings(inputs.model_dump(), result, language),
            *_checks.age_warnings(prices, language),
        ),
        sources=_checks.sources([*prices, *used]),
    )


def _against_cloud(inputs: OwnershipInputs, rent: float, gpus: float, result: dict[str, Any]) -> None:
    """The use from which owning costs less than a rent of `rent` an hour, and the verdict at the stated use."""
    share = result["onprem_cost_per_year"] / (rent * HOURS_PER_YEAR)
    result |= {
        "cloud_price_per_hour": rent,
        "cloud_price_per_gpu_hour": rent / gpus,
        "cloud_cost_full_year": rent * HOURS_PER_YEAR,
        "break_even_utilization": share,
        "break_even_hours_per_year": share * HOURS_PER_YEAR,
        "break_even_gpu_hours_per_year": share * HOURS_PER_YEAR * gpus,
        "break_even_gpu_hours": share * HOURS_PER_YEAR * gpus * inputs.years,
        "owning_can_pay": share <= 1,
    }
    if inputs.gpu_hours_per_run or inputs.hours_per_run:
        each = inputs.gpu_hours_per_run or (inputs.hours_per_run or 0.0) * gpus
        result["break_even_runs_per_year"] = result["break_even_gpu_hours_per_year"] / each
    _use(inputs, result)


def _purchase(inputs: OwnershipInputs, servers: float, gpus: float) -> float | None:
    if inputs.hardware_cost is not None:
        return inputs.hardware_cost
    if inputs.server_price is not None:
        return inputs.server_price * max(1.0, servers)
    return None if inputs.price_per_gpu is None else inputs.price_per_gpu * gpus


def _rent(
    inputs: OwnershipInputs, gpus: float, filled: dict[str, Filled], prices: list[Provenance], language: Language
) -> float | None:
    """Rent of the same capacity, an hour."""
    if inputs.cloud_price_per_hour is not None:
        return inputs.cloud_price_per_hour
    if inputs.cloud_price_per_gpu_hour is not None:
        return inputs.cloud_price_per_gpu_hour * gpus
    share = _stated_share(inputs, gpus)
    if inputs.cloud_cost_per_month is not None:
        return inputs.cloud_cost_per_month * 12 / HOURS_PER_YEAR / (share or 1.0)
    if inputs.gpu is None:
        return None
    row = _checks.accelerator(inputs.gpu, language).row
    provider = catalog.find_provider(inputs.provider) if inputs.provider else None
    price = _offers.gpu_hour(row.name, provider=provider, currency=inputs.currency)
    if price is None:
        return None
    prices += [offer.source for offer in price.rows]
    filled["cloud_price_per_gpu_hour"] = Filled(price.likely, price.origin, f"{price.currency}/gpu-hour")
    return price.likely * gpus


def _listed_currency(filled: dict[str, Filled]) -> str:
    unit = filled["cloud_price_per_gpu_hour"].unit or "USD"
    return unit.split("/")[0]


def _ask_for_prices(rent: float | None, language: Language) -> NoReturn:
    missing = [
        (
            "server_price",
            "一台服务器（或整套硬件）买来多少钱",
            "the purchase price of a server (or of all the hardware)",
        )
    ]
    if rent is None:
        missing.append(
            (
                "cloud_price_per_gpu_hour",
                "云上每卡时多少钱（或哪款 GPU）",
                "the price of a GPU-hour in the cloud (or which GPU it is)",
            )
        )
    ask(missing, language)


def _running(
    inputs: OwnershipInputs, servers: float, gpus: float, filled: dict[str, Filled], used: list[Provenance]
) -> tuple[float, dict[str, float]]:
    """Yearly costs beside the purchase, in all and by part."""
    parts = {
        "staff": inputs.staff * (inputs.salary_per_year or 0.0),
        "colocation": inputs.colocation_per_month * 12,
        "other": inputs.other_per_year,
    }
    watts = inputs.power_watts * max(1.0, servers) if inputs.power_watts is not None else None
    if watts is None and inputs.gpu is not None:
        row = catalog.find_accelerator(inputs.gpu).row
        if row.power_w is not None:
            watts = row.power_w * gpus
            used.append(row.source)
            filled["power_watts"] = Filled(watts / max(1.0, servers), "catalog", "W")
    if watts is not None and inputs.electricity_price is not None:
        pue = inputs.pue
        if pue is None:
            usual = next(row for row in catalog.power_usage() if row.provider == "on-premises")
            pue = usual.pue
            used.append(usual.source)
            filled["pue"] = Filled(pue, "catalog", "ratio")
        parts["electricity"] = watts / 1000 * HOURS_PER_YEAR * IDLE_POWER * pue * inputs.electricity_price
    return sum(parts.values()), parts


def _stated_share(inputs: OwnershipInputs, gpus: float) -> float | None:
    """Share of all hours that is used, from whichever figure was stated."""
    hours = inputs.hours_per_year
    if inputs.utilization is not None:
        return inputs.utilization
    if hours is None and inputs.hours_per_day is not None:
        hours = inputs.hours_per_day * 365
    if hours is None and inputs.gpu_hours_per_year is not None:
        hours = inputs.gpu_hours_per_year / gpus
    if hours is None and inputs.runs_per_year is not None:
        each = inputs.hours_per_run or (inputs.gpu_hours_per_run or 0.0) / gpus
        hours = inputs.runs_per_year * each if each else None
    return None if hours is None else hours / HOURS_PER_YEAR


def _use(inputs: OwnershipInputs, result: dict[str, Any]) -> None:
    """The verdict at the stated use."""
    share = _stated_share(inputs, result["gpu_count"])
    if share is None and inputs.cloud_cost_per_month is not None:
        share = 1.0
    if share is None:
        return
    cloud = share * result["cloud_cost_full_year"]
    own = result["onprem_cost_per_year"]
    result |= {
        "utilization": share,
        "cloud_cost_per_year": cloud,
        "cloud_cost": cloud * inputs.years,
        "cheaper": "own" if own < cloud else "rent",
        "saving_per_year": abs(cloud - own),
        "saving": abs(cloud - own) * inputs.years,
    }
    used = share * HOURS_PER_YEAR * result["gpu_count"]
    if used:
        result["onprem_cost_per_gpu_hour"] = own / used
    parts = result["cost_parts_per_year"]
    running = own - parts["depreciation"]
    if cloud > running:
        result["payback_years"] = result["hardware_cost"] / (cloud - running)


def _present(run: ToolRun, language: Language) -> Presentation:
    return _ownership_words.present(run, language)


TOOL = Tool(
    name="compare_cloud_onprem",
    title={"zh": "自建与上云", "en": "Own or rent"},
    description={
        "zh": "自建（买卡）与上云的总拥有成本对比：折旧、电费、人力、残值，盈亏平衡利用率、卡时和回本时间。",
        "en": "Total cost of owning GPUs against renting: depreciation, power, staff, resale; break-even utilisation, "
        "hours and payback.",
    },
    Inputs=OwnershipInputs,
    calculate=_calculate,
    present=_present,
)
