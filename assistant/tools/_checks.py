"""Bounds and names that several calculators check, with errors in the reader's language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, Source
from assistant.tools import formatting as show
from knowledge import catalog
from knowledge.catalog.records import Accelerator, Provenance

MIN_PARAMETERS, MAX_PARAMETERS = 1e5, 1e14
MAX_TOKENS = 1e17
MAX_GPUS = 1_000_000


def within(
    field: str,
    value: float | None,
    low: float,
    high: float,
    language: Language,
    *,
    name_zh: str,
    name_en: str,
    above: bool = False,
) -> None:
    """Check a bound; `above` means that the lower end itself is excluded.

    Raises:
        InvalidField: the value is outside.
    """
    if value is None or ((low < value if above else low <= value) and value <= high):
        return
    small, large = show.number(low, language), show.number(high, language)
    least_zh, least_en = (f"大于 {small}", f"more than {small}") if above else (f"至少 {small}", f"at least {small}")
    given = show.number(value, language)
    message = (
        f"{name_zh}为 {given}，超出合理范围：应{least_zh}、不超过 {large}。"
        if language == "zh"
        else f"{name_en} of {given} is out of range: it must be {least_en} and at most {large}."
    )
    raise InvalidField(field, message, accepted=f"{small} – {large}")


def parameters(field: str, value: float | None, language: Language) -> None:
    """A model's parameter count.

    Raises:
        InvalidField: no model of that size is possible.
    """
    if value is None or MIN_PARAMETERS <= value <= MAX_PARAMETERS:
        return
    given = show.power(value) if abs(value) >= 1e16 else show.number(value, language)
    message = (
        f"参数量 {given} 不现实，超出任何已知模型：可计算的范围是 10 万到 100 万亿（100T）。请给出实际的参数量。"
        if language == "zh"
        else f"{given} parameters is unrealistic, beyond any known model: the valid range is 100 thousand to "
        "100 trillion (100T). What is the real size?"
    )
    raise InvalidField(field, message, accepted="1e5 – 1e14")


def fraction(
    field: str, value: float | None, language: Language, *, name_zh: str, name_en: str, high: float = 1.0
) -> None:
    """A share above 0 and up to `high`.

    Raises:
        InvalidField: it is not.
    """
    if value is None or 0 < value <= high:
        return
    limit = show.percent(high)
    message = (
        f"{name_zh} {show.percent(value)} 不可能：应大于 0，且不超过 {limit}。"
        if language == "zh"
        else f"{name_en} of {show.percent(value)} is impossible: it must be more than 0 and at most {limit}."
    )
    raise InvalidField(field, message, accepted=f"0 – {limit}")


def accelerator(text: str, language: Language, field: str = "gpu") -> catalog.Match[Accelerator]:
    """The accelerator that a name means.

    Raises:
        InvalidField: there is none; the error carries the nearest names.
    """
    try:
        return catalog.find_accelerator(text)
    except catalog.UnknownName as unknown:
        names = ", ".join(unknown.nearest)
        message = (
            f"没有找到名为“{text}”的 GPU。最接近的是：{names}。"
            if language == "zh"
            else f"No GPU '{text}' is known. Nearest names: {names}."
        )
        raise InvalidField(field, message, nearest=unknown.nearest) from unknown


def peak_flops(row: Accelerator, language: Language) -> float:
    """Dense 16-bit peak, FLOP/s.

    Raises:
        MissingInputs: no sourced figure is known.
    """
    if row.peak_tflops is None:
        question = (
            f"没有查到 {row.name} 有出处的稠密 16 位算力。请给出它的实测速度（token/s/卡），或换一张卡来算。"
            if language == "zh"
            else f"No sourced dense 16-bit rate of {row.name} is known. What speed do you measure (tokens/s/GPU), "
            "or which other GPU should it be?"
        )
        raise MissingInputs(["tokens_per_second_per_gpu"], question)
    return row.peak_tflops * 1e12


def sources(rows: Iterable[Provenance]) -> tuple[Source, ...]:
    """The sources of catalog rows, each once, in order."""
    return tuple(Source(name=row.name, url=row.url, as_of=row.as_of) for row in dict.fromkeys(rows))


def age_warnings(rows: Sequence[Provenance], language: Language) -> tuple[str, ...]:
    """A sentence when prices that were used are older than allowed or undated; empty otherwise."""
    old = catalog.stale(rows, max_age_days=catalog.current().max_age_days)
    if not old:
        return ()
    dated = [row.as_of for row in old if row.as_of is not None]
    if language == "zh":
        since = f"最早为 {min(dated).isoformat()}" if dated else "来源没有注明日期"
        return (f"用到的价格已超过 {catalog.current().max_age_days} 天（{since}），请以官网或书面报价为准。",)
    since = f"as old as {min(dated).isoformat()}" if dated else "undated"
    return (
        f"Prices used here are older than {catalog.current().max_age_days} days ({since}); "
        "confirm with a current quote.",
    )
