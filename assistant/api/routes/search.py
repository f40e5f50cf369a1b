"""Search: the passages that an answer would be made from."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from assistant.api.access import Caller, Note, audited, requires
from assistant.api.problems import PROBLEMS
from assistant.api.routes.ask import PLAIN
from assistant.api.service import ServiceOf
from assistant.errors import InvalidInput
from assistant.schema import Reference

router = APIRouter(prefix="/v1/search", tags=["search"], responses=PROBLEMS)


class SearchRequest(BaseModel):
    """What to look for."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"query": "显存 out of memory", "k": 5}]})

    query: str = Field(description="In Chinese or English.", pattern=PLAIN)
    k: int = Field(default=10, ge=1, le=100, description="Passages at most.")


class Passage(BaseModel):
    """A passage: `text` is the document's text from `start` to `end`."""

    document_id: str
    title: str
    location: str
    language: str
    section: str
    page: int | None
    start: int
    end: int
    text: str
    score: float = Field(description="Comparable within one result only.")
    dense_score: float
    lexical_score: float
    references: list[Reference]
    date: str | None


class Found(BaseModel):
    """Passages, best first."""

    coverage: float = Field(description="Probability that these passages answer the query.")
    hits: list[Passage]


@router.post("", summary="Search the documents")
def search(
    asked: SearchRequest,
    service: ServiceOf,
    caller: Annotated[Caller, requires("search")],
    _note: Annotated[Note, audited("search")],
) -> Found:
    """The best passages of the collections that the caller may read."""
    limit = service.advisor.settings.max_question_characters
    if not asked.query.strip() or len(asked.query) > limit:
        raise InvalidInput(f"A query has 1 to {limit} characters; this one has {len(asked.query.strip())}.")
    found = service.advisor.searcher.search(asked.query, asked.k, groups=caller.groups)
    return Found(
        coverage=found.coverage,
        hits=[
            Passage(
                document_id=hit.document_id,
                title=hit.title,
                location=hit.location,
                language=hit.language,
                section=hit.section,
                page=hit.page,
                start=hit.start,
                end=hit.end,
                text=hit.text,
                score=hit.score,
                dense_score=hit.dense_score,
                lexical_score=hit.lexical_score,
                references=[Reference(name=r.name, url=r.url, as_of=r.as_of) for r in hit.references],
                date=hit.date,
            )
            for hit in found.hits
        ],
    )
