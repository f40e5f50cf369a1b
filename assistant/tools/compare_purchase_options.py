"""Calculator: on-demand, reserved and spot for the same work, where each wins, and how often to save a checkpoint.

Optimal interval between checkpoints: sqrt(2 x write time x mean time between failures) (Young 1974); Daly 2006 refines
it. Time lost, first order: write time / interval + (interval / 2 + restart) / mean time between failures.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field

from assistant.errors import InvalidField
from assistant.schema import Language, Origin, ToolRun
from assistant.tools import _checks, _offers, _purchase_words
from assistant.tools._inputs import HOURS_PER_MONTH, Bound, MoneyInputs, ask, check
from assistant.tools.base import Calculation, Filled, Presentation, Tool
from knowledge import catalog
from knowledge.catalog.records import Provenance

_YOUNG = Provenance("Young 1974, A first order approximation to the optimum checkpoint interval", None)
_DALY = Provenance("Daly 2006, A higher order estimate of the optimum checkpoint interval", None)


LLAMA_GPU_HOURS_BETWEEN_FAILURES = 54 * 24 * 16_384 / 419
"""419 unexpected interruptions in 54 days on 16,384 H100 (Llama 3, arXiv 2407.21783)."""
_LLAMA = Provenance("The Llama 3 Herd of Models, arXiv 2407.21783", "https://arxiv.org/abs/2407.21783")


class PurchaseInputs(MoneyInputs):
    """What is used, for how long, at which prices or discounts, and how often spot capacity is taken away."""

    on_demand_price_per_hour: float | None = Field(None, json_schema_extra={"unit": "money/hour"})
    reserved_price_per_hour: float | None = Field(None, json_schema_extra={"unit": "money/hour"})
    reserved_price_per_month: float | None = Field(None, json_schema_extra={"unit": "money/month"})
    reserved_discount: float | None = Field(
        None, description="Taken off the on-demand price by a commitment", json_schema_extra={"unit": "fraction"}
    )
    spot_price_per_hour: float | None = Field(None, json_schema_extra={"unit": "money/hour"})
    spot_discount: float | None = Field(
        None, description="Taken off the on-demand price by spot", json_schema_extra={"unit": "fraction"}
    )
    commitment_years: Literal[1, 3] | None = None
    hours: float | None = Field(None, description="Hours of useful work of one job", json_schema_extra={"unit": "hour"})
    hours_per_day: float | None = Field(None, json_schema_extra={"unit": "hour"})
    hours_per_month: float | None = Field(None, json_schema_extra={"unit": "hour"})
    hours_per_year: float | None = Field(None, json_schema_extra={"unit": "hour"})
    utilization: float | None = Field(
        None, description="Share of all hours that are used", json_schema_extra={"unit": "fraction"}
    )
    gpu: str | None = None
    gpu_count: float = Field(1, json_schema_extra={"unit": "gpu"})
    provider: str | None = None
    region: str | None = None
    interruption_hours: float | None = Field(
        None, description="Mean time between interruptions or failures", json_schema_extra={"unit": "hour"}
    )
    checkpoint_seconds: float | None = Field(
        None, description="Time that writing a checkpoint takes", json_schema_extra={"unit": "second"}
    )
    checkpoint_interval_seconds: float | None = Field(
        None, description="Time between checkpoints; by default the optimal one", json_schema_extra={"unit": "second"}
    )
    restart_seconds: float | None = Field(
        None, description="Time until training runs again", json_schema_extra={"unit": "second"}
    )
    checkpointing: bool = Field(False, description="Whether only the best checkpoint interval is asked for")


BOUNDS = {
    "on_demand_price_per_hour": Bound("按需价", "The on-demand price", high=1e7),
    "reserved_price_per_hour": Bound("预留价", "The reserved price", high=1e7),
    "reserved_price_per_month": Bound("包月价", "The monthly price", high=1e10),
    "spot_price_per_hour": Bound("竞价", "The spot price", high=1e7),
    "reserved_discount": Bound("预留折扣", "The commitment's discount", high=0.99, above=False),
    "spot_discount": Bound("竞价折扣", "The spot discount", high=0.99, above=False),
    "hours": Bound("时长", "The number of hours", high=1e9),
    "hours_per_day": Bound("每天时长", "Hours a day", high=24),
    "hours_per_month": Bound("每月时长", "Hours a month", high=744),
    "hours_per_year": Bound("每年时长", "Hours a year", high=8784),
    "utilization": Bound("使用率", "The utilisation", high=1.0),
    "gpu_count": Bound("卡数", "The number of GPUs", low=1, high=1e6, above=False),
    "interruption_hours": Bound("平均中断间隔", "The mean time between interruptions", high=1e6),
    "checkpoint_seconds": Bound("写检查点用时", "The time to write a checkpoint", high=1e6),
    "checkpoint_interval_seconds": Bound("存档间隔", "The checkpoint interval", high=3.2e7),
    "restart_seconds": Bound("重启用时", "The restart time", high=1e6, above=False),
}


_CLUSTER = {"gpu_count", "currency"}
_FAILURES = {"interruption_hours", "restart_seconds", "checkpoint_interval_seconds"}


def young_seconds(write: float, between_failures: float) -> float:
    """The checkpoint interval that loses least time, seconds (Young 1974)."""
    return math.sqrt(2 * write * between_failures)


def daly_seconds(write: float, between_failures: float) -> float:
    """Daly's refinement of it (2006): the mean time between failures itself once writing takes half of that."""
    if write >= 2 * between_failures:
        return between_failures
    ratio = write / (2 * between_failures)
    return math.sqrt(2 * write * between_failures) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - write


def lost_share(write: float, interval: float, between_failures: float, restart: float) -> float:
    """Time lost to saving, redoing and restarting, as a share of the useful time (first order)."""
    return write / interval + (interval / 2 + restart) / between_failures


def _calculate(inputs: PurchaseInputs, language: Language) -> Calculation:
    check(inputs, BOUNDS, language)
    result: dict[str, Any] = {}
    filled: dict[str, Filled] = {}
    used: list[Provenance] = []
    papers: list[Provenance] = []
    between = inputs.interruption_hours
    cluster = "gpu_count" in inputs.model_fields_set and inputs.gpu_count > 1
    if between is None and cluster and (inputs.checkpoint_seconds is not None or _only_a_cluster(inputs)):
        between = LLAMA_GPU_HOURS_BETWEEN_FAILURES / inputs.gpu_count
        filled["interruption_hours"] = Filled(between, "default", "hour")
        papers.append(_LLAMA)
    if between is not None:
        _interruptions(inputs, between * 3600, result, papers, language)
    _usage(inputs, result)
    if not _only_failures(inputs):
        _prices(inputs, result, filled, used, language)
    known = ("break_even_utilization", "spot_price", "lost_share")
    if not any(name in result for name in known) and not _only_a_cluster(inputs):
        _ask(inputs, result, language)
    _options(inputs, result)
    return Calculation(
        result=result,
        formula=_purchase_words.formula(result),
        filled=filled,
        assumptions=_purchase_words.assumptions(inputs.model_dump(), result, language),
        warnings=(
            *_purchase_words.warnings(inputs.model_dump(), result, language),
            *_checks.age_warnings(used, language),
        ),
        sources=_checks.sources([*used, *papers]),
    )


def _only_a_cluster(inputs: PurchaseInputs) -> bool:
    """Whether all that is known is how many GPUs run together: how often they fail can be told."""
    known = _FAILURES | {"checkpoint_seconds"}
    return _only_failures(inputs) and inputs.gpu_count > 1 and inputs.model_fields_set.isdisjoint(known)


def _only_failures(inputs: PurchaseInputs) -> bool:
    """Whether nothing is said of prices: GPUs alone, or named where only the checkpoint interval is asked for."""
    named = {"gpu", "provider", "region"} if inputs.checkpointing else set[str]()
    return inputs.model_fields_set <= {"checkpointing", "checkpoint_seconds", *_CLUSTER, *_FAILURES, *named}


def _ask(inputs: PurchaseInputs, result: dict[str, Any], language: Language) -> None:
    if inputs.checkpoint_seconds is not None:
        ask([("interruption_hours", "平均多久中断一次", "how often it is interrupted on average")], language)
    if inputs.interruption_hours is not None and inputs.model_fields_set <= _CLUSTER | _FAILURES:
        ask(
            [("checkpoint_seconds", "写一次检查点要多久（或抢占式打几折）", "how long writing a checkpoint takes")],
            language,
        )
    missing = []
    if inputs.checkpointing:
        ask(
            [
                (
                    "checkpoint_seconds",
                    "写一次检查点要多久（如 5 分钟）",
                    "how long one checkpoint takes to write (such as 5 minutes)",
                ),
                (
                    "interruption_hours",
                    "平均多久中断一次（如 12 小时）",
                    "how often it is interrupted on average (such as every 12 hours)",
                ),
            ],
            language,
        )
    if "on_demand_price" not in result:
        missing.append(
            (
                "on_demand_price_per_hour",
                "按需每小时多少钱（或哪款 GPU）",
                "the on-demand price an hour (or which GPU it is)",
            )
        )
    missing.append(
        (
            "reserved_discount",
            "要比的预留/包月或抢占式是什么价、打几折",
            "the price or discount of the commitment or spot capacity to compare with",
        )
    )
    ask(missing, language)


def _interruptions(
    inputs: PurchaseInputs, between: float, result: dict[str, Any], papers: list[Provenance], language: Language
) -> None:
    """Checkpoint interval and time lost; `between` is the mean time between interruptions in seconds."""
    write, restart = inputs.checkpoint_seconds, inputs.restart_seconds or 0.0
    result["interruption_seconds"] = between
    if write is not None:
        if write >= between:
            raise InvalidField(
                "checkpoint_seconds",
                "写一次检查点比平均中断间隔还长，训练无法推进：请缩短写入时间（异步、分片、更快的存储）。"
                if language == "zh"
                else "Writing a checkpoint takes longer than the mean time between interruptions, so training can't "
                "advance: make writing faster (asynchronous, sharded, faster storage).",
                accepted="checkpoint_seconds < interruption_hours x 3,600",
            )
        papers += [_YOUNG, _DALY]
        result["checkpoint_interval_seconds"] = young_seconds(write, between)
        result["daly_interval_seconds"] = daly_seconds(write, between)
    interval = inputs.checkpoint_interval_seconds or result.get("checkpoint_interval_seconds")
    if interval is None:
        if inputs.restart_seconds is not None:
            # Without the time that saving takes only the restarts can be counted.
            result["lost_share"] = restart / between
        return
    result["lost_share"] = lost_share(write or 0.0, interval, between, restart)
    if inputs.checkpoint_interval_seconds is not None and write is not None:
        result["stated_interval_seconds"] = interval
        result["least_lost_share"] = lost_share(write, result["checkpoint_interval_seconds"], between, restart)


def _usage(inputs: PurchaseInputs, result: dict[str, Any]) -> None:
    share = inputs.utilization
    if share is None and inputs.hours_per_day is not None:
        share = inputs.hours_per_day / 24
    if share is None and inputs.hours_per_month is not None:
        share = min(1.0, inputs.hours_per_month / HOURS_PER_MONTH)
    if share is None and inputs.hours_per_year is not None:
        share = min(1.0, inputs.hours_per_year / HOURS_PER_MONTH / 12)
        result["hours_per_year"] = inputs.hours_per_year
    if share is not None:
        result |= {"utilization": share, "hours_per_month": share * HOURS_PER_MONTH}
    if inputs.hours is not None:
        result["hours"] = inputs.hours


def _listed(inputs: PurchaseInputs, purchase: _offers.Purchase, language: Language) -> _offers.Price | None:
    """A listed price of all GPUs' hour in one currency."""
    if inputs.gpu is None:
        return None
    row = _checks.accelerator(inputs.gpu, language).row
    return _offers.gpu_hour(
        row.name, purchase=purchase, provider=_provider(inputs), region=inputs.region, currency=inputs.currency
    )


def _provider(inputs: PurchaseInputs) -> str | None:
    if inputs.provider is None:
        return None
    try:
        return catalog.find_provider(inputs.provider)
    except catalog.UnknownName as unknown:
        raise InvalidField("provider", str(unknown), nearest=unknown.nearest) from unknown


def _prices(
    inputs: PurchaseInputs,
    result: dict[str, Any],
    filled: dict[str, Filled],
    used: list[Provenance],
    language: Language,
) -> None:
    """On-demand, reserved and spot price an hour; without money, in shares of the on-demand price."""
    on_demand = inputs.on_demand_price_per_hour
    result["currency"] = inputs.currency or "USD"
    wants_catalog = inputs.gpu is not None and on_demand is None
    if wants_catalog and (price := _listed(inputs, "on_demand", language)) is not None:
        on_demand = price.likely * inputs.gpu_count
        result["currency"] = price.currency
        used += [row.source for row in price.rows]
        filled["on_demand_price_per_hour"] = Filled(on_demand, price.origin, f"{price.currency}/hour")
    base = on_demand if on_demand is not None else 1.0
    if on_demand is not None:
        result["on_demand_price"] = on_demand
    reserved = _reserved(inputs, base, on_demand is not None, result, filled, used, language)
    if reserved is not None:
        result["reserved_price"] = reserved
        if on_demand is not None or inputs.reserved_discount is not None or "reserved_discount" in filled:
            result["break_even_utilization"] = reserved / base
            result["break_even_hours_per_year"] = reserved / base * HOURS_PER_MONTH * 12
            result["break_even_hours_per_month"] = reserved / base * HOURS_PER_MONTH
            result["break_even_hours_per_day"] = reserved / base * 24
    spot = _spot(inputs, base, on_demand is not None, result, filled, used, language)
    if spot is not None:
        result["spot_price"] = spot
        result["spot_discount"] = 1 - spot / base
        result["break_even_lost_share"] = base / spot - 1


def _reserved(
    inputs: PurchaseInputs,
    base: float,
    priced: bool,
    result: dict[str, Any],
    filled: dict[str, Filled],
    used: list[Provenance],
    language: Language,
) -> float | None:
    if inputs.reserved_price_per_hour is not None:
        return inputs.reserved_price_per_hour if priced else None
    if inputs.reserved_price_per_month is not None:
        return inputs.reserved_price_per_month / HOURS_PER_MONTH if priced else None
    if inputs.reserved_discount is not None:
        return base * (1 - inputs.reserved_discount)
    if inputs.spot_price_per_hour is not None or inputs.spot_discount is not None:
        return None
    if "lost_share" in result and not priced and inputs.gpu is None:
        return None
    if priced and inputs.commitment_years is None and (price := _listed(inputs, "reserved", language)) is not None:
        used += [row.source for row in price.rows]
        filled["reserved_price_per_hour"] = Filled(
            price.likely * inputs.gpu_count, price.origin, f"{price.currency}/hour"
        )
        return price.likely * inputs.gpu_count
    years, provider = inputs.commitment_years or 1, _provider(inputs)
    if not priced and "utilization" not in result and inputs.commitment_years is None:
        return None
    rows = [row for row in catalog.commitments() if row.years == years and provider in (None, row.provider)]
    if not rows:
        return None
    discounts = sorted(row.discount for row in rows)
    likely = discounts[len(discounts) // 2]
    used += [row.source for row in rows]
    filled["reserved_discount"] = Filled(likely, "catalog", "fraction")
    filled["commitment_years"] = Filled(years, "default", "year")
    result["reserved_discount"] = likely
    result["reserved_discount_range"] = [discounts[0], discounts[-1]]
    result["break_even_utilization_range"] = [1 - discounts[-1], 1 - discounts[0]]
    return base * (1 - likely)


def _spot(
    inputs: PurchaseInputs,
    base: float,
    priced: bool,
    result: dict[str, Any],
    filled: dict[str, Filled],
    used: list[Provenance],
    language: Language,
) -> float | None:
    if inputs.spot_price_per_hour is not None:
        return inputs.spot_price_per_hour if priced else None
    if inputs.spot_discount is not None:
        return base * (1 - inputs.spot_discount)
    price = _listed(inputs, "spot", language) if priced else None
    if price is None or price.currency != result["currency"]:
        return None
    used += [row.source for row in price.rows]
    origin: Origin = price.origin
    filled["spot_price_per_hour"] = Filled(price.likely * inputs.gpu_count, origin, f"{price.currency}/hour")
    result["spot_price_range"] = [price.low * inputs.gpu_count, price.high * inputs.gpu_count]
    return price.likely * inputs.gpu_count


def _options(inputs: PurchaseInputs, result: dict[str, Any]) -> None:
    """What each way costs for the job, or a month of the stated use; without prices as shares of on-demand."""
    hours = inputs.hours or inputs.hours_per_year or result.get("hours_per_month")
    base = result.get("on_demand_price", 1.0)
    lost = result.get("lost_share", 0.0)
    options: list[dict[str, Any]] = [{"option": "on_demand", "price_per_hour": base, "per_used_hour": base}]
    if "reserved_price" in result:
        share = result.get("utilization", 1.0)
        price = result["reserved_price"]
        options.append({"option": "reserved", "price_per_hour": price, "per_used_hour": price / share})
    if "spot_price" in result:
        options.append(
            {
                "option": "spot",
                "price_per_hour": result["spot_price"],
                "per_used_hour": result["spot_price"] * (1 + lost),
            }
        )
    if len(options) == 1:
        return
    for option in options:
        option["relative"] = option["per_used_hour"] / base
        option["against_on_demand"] = option["relative"] - 1
        sure = option["option"] != "reserved" or "utilization" in result
        if hours is not None and sure and "on_demand_price" in result:
            option["cost"] = option["per_used_hour"] * hours
    result["options"] = options
    # A commitment can only be compared when it is known how much of it is used.
    known = [item for item in options if item["option"] != "reserved" or "utilization" in result]
    if len(known) > 1:
        best = min(known, key=lambda item: float(item["per_used_hour"]))
        result |= {"best": best["option"], "saving_share": 1 - best["relative"]}
        if "cost" in best:
            result |= {"cost": best["cost"], "saving": options[0]["cost"] - best["cost"]}
    if hours is not None and "spot_price" in result:
        result["spot_hours"] = hours * (1 + lost)


def _present(run: ToolRun, language: Language) -> Presentation:
    return _purchase_words.present(run, language)


TOOL = Tool(
    name="compare_purchase_options",
    title={"zh": "购买方式对比", "en": "Purchase options"},
    description={
        "zh": "按需、预留/包月、抢占式哪个划算，用到多少才值；抢占式的中断与存档开销，检查点多久存一次最省。",
        "en": "On-demand, commitment or spot: which is cheaper, from which use on; what interruptions and checkpoints "
        "cost, and the best checkpoint interval.",
    },
    Inputs=PurchaseInputs,
    calculate=_calculate,
    present=_present,
)
