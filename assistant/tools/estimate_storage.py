"""Calculator: what data and checkpoints occupy and cost, and how long writing a checkpoint stalls training.

A checkpoint that training can resume from holds 14 bytes a parameter with mixed-precision Adam: 2 of bf16 weights and
12 of fp32 weights and two moments (ZeRO, arXiv 1910.02054, without the gradients); the weights alone 2.
"""

from __future__ import annotations

import math
from statistics import median
from typing import Any, Literal, NoReturn

from pydantic import Field

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools import _checks, _shape, _storage_words
from assistant.tools._inputs import GB, Bound, MoneyInputs, ask, check
from assistant.tools.base import Calculation, Filled, Presentation, Tool
from knowledge import catalog
from knowledge.catalog.records import Provenance, StoragePrice

FULL_CHECKPOINT_BYTES = 14.0
WEIGHT_BYTES = 2.0
TOKEN_BYTES = 4.0
"""A token identifier as 32-bit integer; vocabularies below 65,536 fit in 2."""
_ZERO = Provenance("ZeRO, arXiv 1910.02054", "https://arxiv.org/abs/1910.02054")


class StorageInputs(MoneyInputs):
    """Data, checkpoints, or both; of volume, price and monthly cost the missing one is worked out."""

    volume_bytes: float | None = Field(None, description="Data to keep", json_schema_extra={"unit": "byte"})
    tokens: float | None = Field(None, description="A tokenized dataset", json_schema_extra={"unit": "tokens"})
    copies: float = Field(1, description="Copies of the data", json_schema_extra={"unit": "copy"})
    price_per_gb_month: float | None = Field(None, json_schema_extra={"unit": "money/GB/month"})
    archive_share: float | None = Field(
        None, description="Share of the data that goes to the archive tier", json_schema_extra={"unit": "fraction"}
    )
    archive_price_per_gb_month: float | None = Field(None, json_schema_extra={"unit": "money/GB/month"})
    months: float | None = Field(None, description="How long it is kept", json_schema_extra={"unit": "month"})
    monthly_cost: float | None = Field(
        None, description="A monthly bill that is known", json_schema_extra={"unit": "money"}
    )
    provider: str | None = None
    tier: Literal["hot", "cool", "archive"] = "hot"
    kind: Literal["object", "block"] = "object"
    model: str | None = Field(None, description="Model name, for its checkpoints")
    parameters: float | None = Field(None, json_schema_extra={"unit": "parameters"})
    bytes_per_parameter: float | None = Field(None, json_schema_extra={"unit": "byte/parameter"})
    weights_only: bool = Field(False, description="Keep the weights without the optimizer's state")
    checkpoint_bytes: float | None = Field(
        None, description="Size of one checkpoint", json_schema_extra={"unit": "byte"}
    )
    checkpoint_count: float | None = Field(
        None, description="Checkpoints written", json_schema_extra={"unit": "checkpoint"}
    )
    steps: float | None = Field(None, description="Steps of the run", json_schema_extra={"unit": "step"})
    save_every_steps: float | None = Field(None, json_schema_extra={"unit": "step"})
    save_every_seconds: float | None = Field(None, json_schema_extra={"unit": "second"})
    run_days: float | None = Field(None, description="Length of the run", json_schema_extra={"unit": "day"})
    keep_last: float | None = Field(
        None, description="Only this many checkpoints are kept", json_schema_extra={"unit": "checkpoint"}
    )
    write_bytes_per_second: float | None = Field(
        None, description="Write speed of the storage", json_schema_extra={"unit": "byte/s"}
    )
    write_seconds: float | None = Field(
        None, description="Time that writing one checkpoint takes", json_schema_extra={"unit": "second"}
    )
    gpu_count: float | None = Field(None, description="GPUs that read the data", json_schema_extra={"unit": "gpu"})
    examples_per_second_per_gpu: float | None = Field(None, json_schema_extra={"unit": "example/s"})
    bytes_per_example: float | None = Field(None, json_schema_extra={"unit": "byte"})
    tokens_per_second_per_gpu: float | None = Field(None, json_schema_extra={"unit": "tokens/second"})


_ABOUT_CHECKPOINTS = {
    "write_bytes_per_second", "write_seconds", "keep_last", "steps", "save_every_steps", "save_every_seconds",
    "checkpoint_count", "weights_only", "run_days",
}  # fmt: skip
BOUNDS = {
    "volume_bytes": Bound("数据量", "The volume", high=1e21),
    "tokens": Bound("token 数", "The number of tokens", high=1e17),
    "copies": Bound("副本数", "The number of copies", low=1, high=100, above=False),
    "price_per_gb_month": Bound("存储单价", "The price a GB and month", high=1e4),
    "archive_price_per_gb_month": Bound("归档单价", "The archive price a GB and month", high=1e4, above=False),
    "archive_share": Bound("归档占比", "The archived share", high=1.0, above=False),
    "months": Bound("月数", "The number of months", high=1200),
    "monthly_cost": Bound("月费", "The monthly cost", high=1e12),
    "bytes_per_parameter": Bound("每参数字节数", "Bytes a parameter", high=64),
    "checkpoint_bytes": Bound("检查点大小", "The size of a checkpoint", high=1e18),
    "checkpoint_count": Bound("检查点个数", "The number of checkpoints", low=1, high=1e9, above=False),
    "steps": Bound("总步数", "The number of steps", low=1, high=1e12, above=False),
    "save_every_steps": Bound("存档间隔步数", "Steps between saves", low=1, high=1e12, above=False),
    "save_every_seconds": Bound("存档间隔", "The time between saves", high=3.2e7),
    "run_days": Bound("训练天数", "The length of the run", high=3650),
    "keep_last": Bound("保留个数", "The number of checkpoints kept", low=1, high=1e6, above=False),
    "write_bytes_per_second": Bound("写入速度", "The write speed", high=1e14),
    "write_seconds": Bound("写检查点用时", "The time to write a checkpoint", high=1e6),
    "gpu_count": Bound("卡数", "The number of GPUs", low=1, high=1e6, above=False),
    "examples_per_second_per_gpu": Bound("每卡每秒样本数", "Examples a second and GPU", high=1e8),
    "bytes_per_example": Bound("样本大小", "The size of an example", high=1e12),
    "tokens_per_second_per_gpu": Bound("每卡每秒 token 数", "Tokens a second and GPU", high=1e9),
}


def _calculate(inputs: StorageInputs, language: Language) -> Calculation:
    check(inputs, BOUNDS, language)
    _checks.parameters("parameters", inputs.parameters, language)
    result: dict[str, Any] = {}
    filled: dict[str, Filled] = {}
    used: list[Provenance] = []
    _feed(inputs, result)
    _checkpoints(inputs, result, filled, used, language)
    volume = _volume(inputs, result, filled)
    prices: list[StoragePrice] = []
    if volume is not None or inputs.monthly_cost is not None:
        prices = _money(inputs, volume, result, filled, language)
    if not result:
        _ask(inputs, language)
    used += [row.source for row in prices]
    return Calculation(
        result=result,
        formula=_storage_words.formula(result),
        filled=filled,
        assumptions=_storage_words.assumptions(inputs.model_dump(), result, language),
        warnings=(
            *_storage_words.warnings(inputs.model_dump(), result, language),
            *_checks.age_warnings([row.source for row in prices], language),
        ),
        sources=_checks.sources(used),
    )


def _ask(inputs: StorageInputs, language: Language) -> NoReturn:
    """Ask for what the given arguments lack.

    Raises:
        MissingInputs: always.
    """
    if inputs.gpu_count is not None:
        question = (
            "每张卡每秒读多少（token 数，或样本数和样本大小）",
            "what each GPU reads a second (tokens, or examples and their size)",
        )
        ask([("tokens_per_second_per_gpu", *question)], language)
    question = (
        "要存多少数据，或者是哪个模型（多少参数）的检查点",
        "how much data is kept, or which model (how many parameters) the checkpoints are of",
    )
    ask([("volume_bytes", *question)], language)


def _feed(inputs: StorageInputs, result: dict[str, Any]) -> None:
    """Read throughput that keeps the GPUs busy."""
    if inputs.gpu_count is None:
        return
    each = None
    if inputs.examples_per_second_per_gpu is not None and inputs.bytes_per_example is not None:
        each = inputs.examples_per_second_per_gpu * inputs.bytes_per_example
    elif inputs.tokens_per_second_per_gpu is not None:
        each = inputs.tokens_per_second_per_gpu * TOKEN_BYTES
    if each is not None:
        result["read_bytes_per_second"] = inputs.gpu_count * each
        result["read_bytes_per_second_per_gpu"] = each


def _checkpoint_size(
    inputs: StorageInputs, filled: dict[str, Filled], used: list[Provenance], language: Language
) -> float | None:
    if inputs.checkpoint_bytes is not None:
        return inputs.checkpoint_bytes
    shape = _shape.resolve(inputs.model, inputs.parameters, None, language)
    if isinstance(shape, catalog.AmbiguousName):
        clause = _shape.which_model(shape, inputs.model or "", language)
        raise MissingInputs(["model"], f"请先说明{clause}。" if language == "zh" else f"Please say {clause}.")
    if shape is None:
        return None
    each = inputs.bytes_per_parameter
    if each is None:
        each = WEIGHT_BYTES if inputs.weights_only else FULL_CHECKPOINT_BYTES
        filled["bytes_per_parameter"] = Filled(each, "default", "byte/parameter")
        used.append(_ZERO)
    if shape.source is not None:
        used.append(shape.source)
    if inputs.parameters is None:
        filled["parameters"] = Filled(shape.parameters, "catalog", "parameters")
    return shape.parameters * each


def _checkpoints(
    inputs: StorageInputs,
    result: dict[str, Any],
    filled: dict[str, Filled],
    used: list[Provenance],
    language: Language,
) -> None:
    size = _checkpoint_size(inputs, filled, used, language)
    if inputs.write_seconds is not None:
        _stall(inputs, inputs.write_seconds, result)
    if size is None and "lost_share" in result:
        return
    if size is None:
        if _ABOUT_CHECKPOINTS & inputs.model_fields_set and inputs.volume_bytes is None:
            question = (
                "模型有多少参数，或一个检查点多大",
                "how many parameters the model has, or the size of a checkpoint",
            )
            ask([("parameters", *question)], language)
        return
    result["checkpoint_bytes"] = size
    if inputs.checkpoint_bytes is None and not inputs.weights_only and inputs.bytes_per_parameter is None:
        result["weights_bytes"] = size * WEIGHT_BYTES / FULL_CHECKPOINT_BYTES
    count = inputs.checkpoint_count
    if count is None and inputs.steps is not None and inputs.save_every_steps is not None:
        count = float(math.floor(inputs.steps / inputs.save_every_steps + 1e-9))
    elif count is None and inputs.run_days is not None and inputs.save_every_seconds is not None:
        count = float(math.floor(inputs.run_days * 86400 / inputs.save_every_seconds + 1e-9))
    if count is not None:
        result |= {"checkpoint_count": int(count), "checkpoints_bytes": count * size}
    if count is None and inputs.save_every_seconds is not None and inputs.keep_last is None:
        result["checkpoints_per_day"] = 86400 / inputs.save_every_seconds
        result["bytes_per_day"] = result["checkpoints_per_day"] * size
    if inputs.keep_last is not None:
        # While the next one is written the oldest still exists.
        result |= {"keep_last": int(inputs.keep_last), "kept_bytes": inputs.keep_last * size}
        result["peak_bytes"] = (inputs.keep_last + 1) * size
    if inputs.write_bytes_per_second is not None and inputs.write_seconds is None:
        _stall(inputs, size / inputs.write_bytes_per_second, result)


def _stall(inputs: StorageInputs, seconds: float, result: dict[str, Any]) -> None:
    """What saving synchronously costs in time."""
    result["write_seconds"] = seconds
    if inputs.save_every_seconds is not None:
        result["lost_share"] = seconds / inputs.save_every_seconds
        result["lost_share_of_wall_time"] = seconds / (inputs.save_every_seconds + seconds)


def _volume(inputs: StorageInputs, result: dict[str, Any], filled: dict[str, Filled]) -> float | None:
    """Bytes that are paid for, all copies together; checkpoints that are kept are added to stated data."""
    volume = inputs.volume_bytes
    if volume is None and inputs.tokens is not None:
        volume = inputs.tokens * TOKEN_BYTES
        result["dataset_bytes"] = volume
    kept = result.get("kept_bytes", result.get("checkpoints_bytes"))
    if volume is None and kept is None:
        return None
    priced = inputs.price_per_gb_month is not None or inputs.provider is not None
    if volume is None:
        return kept if priced else None
    result["volume_bytes"] = volume
    filled["copies"] = Filled(inputs.copies, "default", "copy")
    stored = volume * inputs.copies + (kept or 0.0)
    result |= {"copies": inputs.copies, "stored_bytes": stored}
    return stored


def _listed(inputs: StorageInputs, language: Language) -> list[StoragePrice]:
    """Catalog prices that fit, of one provider or of all."""
    rows = [row for row in catalog.storage_prices() if row.kind == inputs.kind]
    if inputs.provider is not None:
        try:
            provider = catalog.find_provider(inputs.provider)
        except catalog.UnknownName as unknown:
            raise InvalidField("provider", str(unknown), nearest=unknown.nearest) from unknown
        rows = [row for row in rows if row.provider == provider]
        if not rows:
            ask(
                [("price_per_gb_month", f"{inputs.provider} 的存储单价（每 GB 每月，库里没有有出处的价格）",
                  f"the price of {inputs.provider} a GB and month (no sourced one is known)")], language,
            )  # fmt: skip
    if inputs.currency is not None:
        rows = [row for row in rows if row.currency == inputs.currency]
    return rows


def _money(
    inputs: StorageInputs,
    stored: float | None,
    result: dict[str, Any],
    filled: dict[str, Filled],
    language: Language,
) -> list[StoragePrice]:
    """Monthly cost, or the volume or price that a known bill implies; returns the price rows used."""
    if inputs.monthly_cost is not None and stored is not None and inputs.price_per_gb_month is None:
        result |= {"solved": "price_per_gb_month", "monthly_cost": inputs.monthly_cost}
        result |= {"price_per_gb_month": inputs.monthly_cost / (stored / GB), "currency": inputs.currency or "USD"}
        return []
    used: list[StoragePrice] = []
    hot, bounds = inputs.price_per_gb_month, None
    rows = _listed(inputs, language) if hot is None else []
    if hot is None:
        tier = [row for row in rows if row.tier == inputs.tier]
        if not tier:
            if "checkpoint_bytes" in result:
                return []
            ask(
                [("price_per_gb_month", "存储单价是多少（每 GB 每月）", "the price of storage a GB and month")],
                language,
            )
        used += tier
        hot = median(row.price for row in tier)
        bounds = (min(row.price for row in tier), max(row.price for row in tier))
        filled["price_per_gb_month"] = Filled(hot, "catalog", f"{tier[0].currency}/GB/month")
        result["currency"] = tier[0].currency
    result.setdefault("currency", inputs.currency or "USD")
    result["price_per_gb_month"] = hot
    if stored is None:
        volume = (inputs.monthly_cost or 0.0) / hot * GB
        result |= {"solved": "volume_bytes", "monthly_cost": inputs.monthly_cost, "volume_bytes": volume}
        return used
    share = inputs.archive_share or 0.0
    archived = inputs.archive_price_per_gb_month or 0.0
    if share and inputs.archive_price_per_gb_month is None:
        archived, listed = _archive_price(inputs, rows or _listed(inputs, language), language)
        used += listed
        filled["archive_price_per_gb_month"] = Filled(archived, "catalog", f"{listed[0].currency}/GB/month")
    size = stored / GB
    monthly = size * ((1 - share) * hot + share * archived)
    result |= {"stored_bytes": stored, "monthly_cost": monthly}
    if bounds is not None and bounds[0] < bounds[1]:
        result["monthly_cost_range"] = [size * ((1 - share) * bound + share * archived) for bound in bounds]
    if share:
        result |= {"hot_bytes": stored * (1 - share), "archived_bytes": stored * share, "archive_share": share}
        result |= {"archive_price_per_gb_month": archived, "monthly_cost_without_archive": size * hot}
        result["monthly_saving"] = size * hot - monthly
        result |= {"hot_monthly_cost": size * (1 - share) * hot, "archive_monthly_cost": size * share * archived}
    if inputs.months is not None:
        result |= {"months": inputs.months, "cost": monthly * inputs.months}
    return used


def _archive_price(
    inputs: StorageInputs, rows: list[StoragePrice], language: Language
) -> tuple[float, list[StoragePrice]]:
    """The listed archive price, and its rows.

    Raises:
        MissingInputs: the standard price was stated in a currency that no archive price is listed in.
    """
    archive = [row for row in rows if row.tier == "archive"]
    if not archive or (inputs.price_per_gb_month is not None and inputs.currency not in (None, archive[0].currency)):
        question = ("归档单价是多少（每 GB 每月）", "the archive price a GB and month")
        ask([("archive_price_per_gb_month", *question)], language)
    return median(row.price for row in archive), archive


def _present(run: ToolRun, language: Language) -> Presentation:
    return _storage_words.present(run, language)


TOOL = Tool(
    name="estimate_storage",
    title={"zh": "存储与检查点", "en": "Storage and checkpoints"},
    description={
        "zh": "数据和检查点占多少空间、每月多少钱、分层归档能省多少；写一次检查点卡多久、损失多少；喂饱 GPU "
        "要多大吞吐。",
        "en": "Space and monthly cost of data and checkpoints, what archiving saves, how long writing a checkpoint "
        "stalls "
        "training, and the throughput that feeds the GPUs.",
    },
    Inputs=StorageInputs,
    calculate=_calculate,
    present=_present,
)
