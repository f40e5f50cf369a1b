"""What calculators over stated money, volumes and times share: bounds, one question for all that is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic import Field, model_validator

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language
from assistant.tools import formatting as show
from assistant.tools.base import ToolInputs
from knowledge import quantities

HOURS_PER_MONTH = 730.0
"""What clouds bill a month of hours as: 8,760 / 12."""
DAYS_PER_YEAR = 365.0
GB = 1e9


@dataclass(frozen=True, slots=True)
class Bound:
    """The accepted range of an argument, with its name in both languages."""

    zh: str
    en: str
    low: float = 0.0
    high: float = 1e18
    above: bool = True
    """Whether `low` itself is excluded."""
    hint_zh: str = ""
    hint_en: str = ""
    """What to do instead."""


class MoneyInputs(ToolInputs):
    """Arguments with money; the currency is taken from a written amount when no `currency` is given."""

    currency: str | None = Field(None, pattern=r"^[A-Z]{3}$", description="ISO code of all amounts of money")

    @model_validator(mode="before")
    @classmethod
    def _read_currency(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or data.get("currency"):
            return data
        written = {
            code
            for name, value in data.items()
            if isinstance(value, str) and name in cls.model_fields and (cls.unit_of(name) or "").startswith("money")
            if (code := quantities.currency_of(value)) is not None
        }
        if len(written) > 1:
            raise ValueError(
                f"amounts in {' and '.join(sorted(written))} are mixed; give all in one currency, converted at your "
                "rate"
            )
        return {**data, "currency": written.pop()} if written else data


def check(inputs: ToolInputs, bounds: Mapping[str, Bound], language: Language) -> None:
    """Check every argument that is given against its bound.

    Raises:
        InvalidField: one is outside; the message names it, the accepted range and what to do instead.
    """
    for name, bound in bounds.items():
        value = getattr(inputs, name)
        if value is None or ((bound.low < value if bound.above else bound.low <= value) and value <= bound.high):
            continue
        unit = inputs.unit_of(name)
        low, high, given = (written(number, unit, language) for number in (bound.low, bound.high, value))
        open_ended = bound.high >= 1e18
        if language == "zh":
            least = f"大于 {_zero(low)}" if bound.above else f"不小于 {_zero(low)}"
            most = "" if open_ended else f"、不超过 {high}"
            said = f"{bound.zh}必须{least}{most}（给的是 {_zero(given)}）。{bound.hint_zh}"
        else:
            least = f"greater than {_zero(low)}" if bound.above else f"at least {_zero(low)}"
            most = "" if open_ended else f" and at most {high}"
            said = f"{bound.en} must be {least}{most}, not {_zero(given)}."
            said += f" {bound.hint_en}" if bound.hint_en else ""
        accepted = f"{'>' if bound.above else '>='} {_zero(low)}" + ("" if open_ended else f", <= {high}")
        raise InvalidField(name, said, accepted=accepted)


def _zero(text: str) -> str:
    return "0" if text.split(" ")[0] in ("0", "0%") else text


def written(value: float, unit: str | None, language: Language) -> str:
    """A value of an argument as a reader wants it."""
    match unit:
        case "byte":
            return show.data(value)
        case "bit/s":
            return show.bandwidth(value)
        case "byte/s":
            return f"{show.data(value)}/s"
        case "fraction":
            return show.percent(value)
        case "second" | "hour" | "day" | "month" | "year":
            return show.duration(quantities.convert(value, unit, "second"), language)
        case _:
            return show.number(value, language)


def ask(missing: Sequence[tuple[str, str, str]], language: Language) -> NoReturn:
    """Ask once for all that is missing, each given as (argument, Chinese, English).

    Raises:
        MissingInputs: always.
    """
    fields = [name for name, _, _ in missing]
    if language == "zh":
        raise MissingInputs(fields, f"还差一点信息才能算：{'；'.join(zh for _, zh, _ in missing)}？")
    listed = "; ".join(en for _, _, en in missing)
    raise MissingInputs(fields, f"To work this out I need to know: {listed}?")


def years(days: float) -> float:
    """Days as years."""
    return days / DAYS_PER_YEAR


def exact_money(value: float, currency: str, language: Language) -> str:
    """An amount that follows from stated figures, to the cent; whole amounts without decimals."""
    return show.money(value, currency, language, is_exact=True).removesuffix(".00")


def unit_price(value: float, currency: str, language: Language) -> str:
    """A price of one unit: exact when six digits say it, else to four."""
    symbol = show.money(1, currency, language).partition("1")[0]
    short = float(f"{value:.6g}")
    digits = show.exact(short if abs(short - value) <= 1e-9 * abs(value) else float(f"{value:.4g}"))
    return f"{symbol}{digits}" if symbol else f"{digits} {currency}"
