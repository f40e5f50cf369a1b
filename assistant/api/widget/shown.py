"""An answer as the widget shows it: no paths, no slots, each quote in its surroundings, each calculation in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from pydantic import BaseModel

from assistant.errors import InvalidInput
from assistant.schema import Answer, Citation, Language, Reference, Source, Status, ToolRun
from assistant.tools.registry import get_tool

SURROUNDINGS = 200
"""Characters of the document before and after a quote."""


class ShownReference(BaseModel):
    """A primary source; `url` is None where there is no web address."""

    name: str
    url: str | None
    as_of: date | None


class ShownSource(BaseModel):
    """One citation: the quote between what stands before and after it."""

    mark: str
    title: str
    section: str
    page: int | None
    url: str | None
    before: str
    quote: str
    after: str
    references: list[ShownReference]


class ShownCalculation(BaseModel):
    """One calculation in words, with a table (its first row is the header)."""

    mark: str
    title: str
    headline: str
    table: Sequence[Sequence[str]]
    formula: str
    assumptions: list[str]
    references: list[ShownReference]


class ShownAnswer(BaseModel):
    """One turn."""

    id: str
    conversation: str
    question: str
    language: Language
    status: Status
    text: str
    sources: list[ShownSource]
    calculations: list[ShownCalculation]
    follow_ups: list[str]


def shown(answer: Answer, source_text: Callable[[str], str]) -> ShownAnswer:
    """What of an answer leaves for a page of another origin."""
    return ShownAnswer(
        id=answer.id,
        conversation=answer.conversation_id,
        question=answer.question,
        language=answer.language,
        status=answer.status,
        text=answer.text,
        sources=[_source(citation, source_text) for citation in answer.citations],
        calculations=[_calculation(run, answer.language) for run in answer.tool_runs],
        follow_ups=answer.follow_ups,
    )


def _source(citation: Citation, source_text: Callable[[str], str]) -> ShownSource:
    try:
        text = source_text(citation.document_id)
    except InvalidInput:
        text = ""  # it was deleted since
    intact = text[citation.start : citation.end] == citation.quote
    return ShownSource(
        mark=str(citation.n),
        title=citation.title,
        section=citation.section,
        page=citation.page,
        url=_web(citation.location),
        before=text[max(0, citation.start - SURROUNDINGS) : citation.start] if intact else "",
        quote=citation.quote,
        after=text[citation.end : citation.end + SURROUNDINGS] if intact else "",
        references=[_reference(reference) for reference in citation.references],
    )


def _calculation(run: ToolRun, language: Language) -> ShownCalculation:
    tool: Any = get_tool(run.tool)
    said = tool.present(run, language)
    return ShownCalculation(
        mark=run.n,
        title=tool.title[language],
        headline=said.headline,
        table=said.table,
        formula=run.formula,
        assumptions=run.assumptions,
        references=[_reference(source) for source in run.sources],
    )


def _reference(source: Reference | Source) -> ShownReference:
    return ShownReference(name=source.name, url=_web(source.url), as_of=source.as_of)


def _web(location: str | None) -> str | None:
    """A web address; where a document lies on this machine is nobody's business."""
    return location if location is not None and location.startswith(("http://", "https://")) else None
