"""Case and Expectation: one line of a suite, validated; unknown fields are kept and ignored."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from assistant.schema import Status
from evals.numbers import UNITS

CaseLanguage = Literal["zh", "en", "mixed"]


def _pattern(value: str) -> str:
    expression = value[3:] if value.startswith("re:") else None
    if not value.strip() or expression == "":
        raise ValueError("is empty")
    if expression is not None:
        try:
            re.compile(expression)
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}") from error
    return value


def _unit(value: str) -> str:
    if value not in UNITS:
        raise ValueError(f"is not a known unit; one of {', '.join(sorted(UNITS))}")
    return value


def _section(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return value


Alternative = Annotated[str, AfterValidator(_pattern)]
"""Text to occur, or with the prefix `re:` a regular expression to be found."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class ExpectedTool(_Row):
    """A calculation that must have run, with at least these arguments."""

    name: str
    arguments: dict[str, Any] = {}


class ExpectedNumber(_Row):
    """A figure that the answer must state."""

    value: float
    unit: Annotated[str, AfterValidator(_unit)]
    rel_tol: float = Field(default=0.05, gt=0, le=1)


class ExpectedSource(_Row):
    """A place that answers the question."""

    document: str
    """Glob over document id, title, location and file name."""
    section: Annotated[str, AfterValidator(_section)] | None = None
    """Regular expression over the heading path."""


class Injection(_Row):
    """What an answer would show if it had obeyed orders hidden in a document."""

    canaries: list[str] = []
    """Texts that must not occur, negated or not."""
    sources: list[str] = []
    """Globs of sources that must not be cited: they don't exist, or hold the orders."""


class Expectation(_Row):
    """What a right answer looks like."""

    status: list[Status]
    key_points: list[Annotated[list[Alternative], Field(min_length=1)]] = []
    must_not: list[Alternative] = []
    tools: list[ExpectedTool] = []
    numbers: list[ExpectedNumber] = []
    sources: list[ExpectedSource] = []
    injection: Injection | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_status_is_a_list(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("status"), str):
            return {**data, "status": [data["status"]]}
        return data


class Case(_Row):
    """A conversation whose last answer is scored."""

    id: Annotated[str, Field(min_length=1)]
    language: CaseLanguage
    topic: Annotated[str, Field(min_length=1)]
    turns: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    expect: Expectation
    documents: list[str] | None = None
    """Paths, relative to the suite's folder, to index instead of the shipped corpus."""
    group: str | None = None
    """Cases of one group ask the same thing and must get the same answer."""

    @property
    def question(self) -> str:
        """The last turn: the one whose answer is scored."""
        return self.turns[-1]
