"""What every calculator is: typed inputs, a pure function, a result that explains itself.

A calculator is a module with one `Tool` object. `Tool.run` reads amounts that people wrote, checks bounds,
calls the pure function and returns a `ToolRun` in which every input has its origin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from assistant.errors import InvalidField
from assistant.schema import Language, Origin, Source, ToolInput, ToolRun
from assistant.tools import _formulas
from knowledge import quantities

I = TypeVar("I", bound="ToolInputs")  # noqa: E741 - the inputs of one tool


def _amount(text: str, unit: str) -> float:
    """Read a written amount; a price may leave out what it is for ("$2.5", "$2.5/h"), which its argument says.

    Raises:
        ValueError: the text is not an amount of that kind.
    """
    try:
        return quantities.amount(text, unit)
    except ValueError:
        if not unit.startswith("money/"):
            raise
        for shorter in ("money", "money/hour") if unit.endswith("hour") else ("money",):
            try:
                return quantities.amount(text, shorter)
            except ValueError:
                continue
        raise


class ToolInputs(BaseModel):
    """Arguments of a calculator. A field's unit stands in `json_schema_extra={"unit": ...}`.

    Number fields with a unit also take amounts as people write them ("7B", "10 Gbps", "50万元").
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _read_amount(cls, value: Any, info: ValidationInfo) -> Any:
        unit = cls.unit_of(info.field_name or "")
        return _amount(value, unit) if isinstance(value, str) and unit is not None else value

    @classmethod
    def unit_of(cls, name: str) -> str | None:
        """The unit of an argument; None for a plain number or a name."""
        extra = cls.model_fields[name].json_schema_extra
        unit = extra.get("unit") if isinstance(extra, dict) else None
        return str(unit) if unit is not None else None


@dataclass(frozen=True)
class Filled:
    """A value that the calculator took because the user gave none."""

    value: Any
    origin: Origin
    unit: str | None = None


@dataclass(frozen=True)
class Calculation:
    """What a calculator's pure function returns."""

    result: Mapping[str, Any]
    """Plain values by name; `NAME_range: [low, high]` beside each that is uncertain."""
    formula: str
    filled: Mapping[str, Filled] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Presentation:
    """A tool run in a reader's language, without marks; numbers are formatted, never more precise than known."""

    headline: str
    """The result in one or two sentences; it answers what was asked and says the verdict (fits or not, which is
    faster) and what to do about it."""
    table: tuple[tuple[str, ...], ...] = ()
    """First row is the header; empty when the headline says all."""
    drivers: str = ""
    """One sentence: what would change the result most."""


@dataclass(frozen=True)
class Tool(Generic[I]):
    """One calculator. `calculate` and `present` are pure; `present` works from a ToolRun alone."""

    name: str
    title: Mapping[Language, str]
    description: Mapping[Language, str]
    Inputs: type[I]
    calculate: Callable[[I, Language], Calculation]
    """Raises MissingInputs (with one question, in the language, that names all that is missing) and InvalidField."""
    present: Callable[[ToolRun, Language], Presentation]

    def run(
        self,
        arguments: Mapping[str, Any],
        language: Language = "en",
        origins: Mapping[str, Origin] | None = None,
        n: str = "T1",
    ) -> ToolRun:
        """Calculate.

        Raises:
            InvalidField: an argument is unknown, unreadable or out of its range.
            MissingInputs: too little was given to say a number.
        """
        given = {name: value for name, value in arguments.items() if value is not None and value != ""}
        try:
            inputs = self.Inputs.model_validate(given)
        except ValidationError as error:
            raise self._invalid_field(error, language) from error
        calculation = self.calculate(inputs, language)
        shown = {
            name: ToolInput(
                value=getattr(inputs, name),
                unit=self.Inputs.unit_of(name),
                origin=(origins or {}).get(name, "question"),
            )
            for name in given
        }
        for name, value in calculation.filled.items():
            unit = (
                value.unit
                if value.unit is not None or name not in self.Inputs.model_fields
                else self.Inputs.unit_of(name)
            )
            shown.setdefault(name, ToolInput(value=value.value, unit=unit, origin=value.origin))
        return ToolRun(
            n=n,
            tool=self.name,
            inputs=shown,
            result=dict(calculation.result),
            formula=_formulas.in_language(calculation.formula, language),
            assumptions=list(calculation.assumptions),
            warnings=list(calculation.warnings),
            sources=list(calculation.sources),
        )

    def _invalid_field(self, error: ValidationError, language: Language) -> InvalidField:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or self.name
        if first["type"] == "extra_forbidden":
            known = ", ".join(self.Inputs.model_fields)
            return InvalidField(name, f"{self.name} has no argument '{name}'. It takes: {known}.", accepted=known)
        context = {key: value for key, value in (first.get("ctx") or {}).items() if key != "error"}
        accepted = ", ".join(f"{key} {value}" for key, value in context.items())
        if bound := next((key for key in ("gt", "ge", "lt", "le") if key in context), None):
            return InvalidField(
                name, _out_of_range(name, first["input"], bound, context[bound], language), accepted=accepted
            )
        message = first["msg"].removeprefix("Value error, ")
        return InvalidField(name, f"{self.name}: {name} = {first['input']!r}: {message}.", accepted=accepted or None)


_NAMES_ZH = {
    "gpu_count": "卡数", "nodes": "机器数", "gpus_per_node": "每台卡数", "tokens": "token 数", "examples": "样本数",
    "tokens_per_example": "每条 token 数", "epochs": "轮数", "gpu_hours": "卡时", "days": "天数", "budget": "预算",
    "price_per_gpu_hour": "卡时单价", "price_per_instance_hour": "每台每小时单价", "batch": "batch",
    "sequence_length": "序列长度", "tokens_per_second_per_gpu": "每卡速度", "gpu_memory_bytes": "显存",
    "min_gpu_memory_bytes": "显存", "lora_rank": "LoRA 秩", "accumulation": "累积步数", "phase_count": "阶段数",
}  # fmt: skip
_BOUNDS_ZH = {"gt": "必须大于 {}", "ge": "至少是 {}", "lt": "必须小于 {}", "le": "最多是 {}"}
_BOUNDS_EN = {
    "gt": "it must be greater than {}",
    "ge": "it must be at least {}",
    "lt": "it must be less than {}",
    "le": "it must be at most {}",
}


def _out_of_range(name: str, given: Any, bound: str, limit: Any, language: Language) -> str:
    """An impossible amount in the reader's language, with the bound and a request to check it."""
    shown = f"{float(given):,.6g}" if isinstance(given, int | float) else str(given)
    end = f"{float(limit):,.12g}"
    if language == "zh":
        subject = _NAMES_ZH.get(name, name)
        return f"{subject} {shown} 超出合理范围，不现实：{_BOUNDS_ZH[bound].format(end)}。请核对数量和单位。"
    subject = name.replace("_", " ").replace("gpu", "GPU")
    return (
        f"{subject} of {shown} is out of range: {_BOUNDS_EN[bound].format(end)}. Please check the amount and its unit."
    )
