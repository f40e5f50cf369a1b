"""Question, Answer, Citation, ToolRun: the contract of the whole system.

`Answer.model_dump(mode="json")` is what `advisor ask --json`, the HTTP API and the evaluations exchange.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Language = Literal["zh", "en"]
Status = Literal["answered", "not_covered", "needs_input", "refused"]
Origin = Literal["question", "earlier turn", "default", "catalog", "price file"]


class Contract(BaseModel):
    """Unknown fields are an error: the contract does not drift unseen."""

    model_config = ConfigDict(extra="forbid")


class Reference(Contract):
    """A primary source behind a document."""

    name: str
    url: str
    as_of: date | None = None


class Citation(Contract):
    """An exact span of an indexed document: `quote == source_text[start:end]`."""

    n: int = Field(ge=1)
    document_id: str
    title: str
    section: str
    location: str
    """Path or URL."""
    page: int | None = None
    quote: str
    start: int
    end: int
    score: float
    references: list[Reference] = []


class ToolInput(Contract):
    """One argument of a calculation and where it came from."""

    value: Any
    unit: str | None = None
    origin: Origin


class Source(Contract):
    """What a figure used in a calculation was taken from. `url` is None for a user's own file."""

    name: str
    url: str | None = None
    as_of: date | None = None


class ToolRun(Contract):
    """One calculation, complete enough to be repeated by hand."""

    n: str = Field(default="T1", pattern=r"^T[1-9]\d*$")
    tool: str
    inputs: dict[str, ToolInput]
    result: dict[str, Any]
    """Plain likely values; `NAME_range: [low, high]` beside each that is uncertain."""
    formula: str
    assumptions: list[str] = []
    warnings: list[str] = []
    sources: list[Source] = []


class Usage(Contract):
    """What a chat model took for this answer."""

    input_tokens: int
    output_tokens: int
    cost: float | None = None


class Timings(Contract):
    """Wall time by phase, milliseconds."""

    understand: float = 0.0
    encode: float = 0.0
    search: float = 0.0
    tools: float = 0.0
    answer: float = 0.0
    total: float = 0.0


class Answer(Contract):
    """A checked answer. `text` is Markdown with marks [1] and [T1]; every mark has its citation or tool run."""

    id: str
    conversation_id: str
    question: str
    language: Language
    status: Status
    text: str
    citations: list[Citation] = []
    tool_runs: list[ToolRun] = []
    missing: list[str] = []
    follow_ups: list[str] = []
    warnings: list[str] = []
    state: dict[str, Any] = {}
    model: str = "grounded"
    usage: Usage | None = None
    timings_ms: Timings = Timings()
