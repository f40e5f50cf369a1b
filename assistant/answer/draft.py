"""A drafted answer: statements that know what they rest on, rendered to Markdown with numbered marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.schema import Citation, Reference
from knowledge.records import Hit

Place = Literal["opening", "paragraph", "item", "table"]


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """Characters [start, end) of the document in which `hit` was found."""

    hit: Hit
    start: int
    end: int

    @property
    def quote(self) -> str:
        """The source's own text."""
        return self.hit.text[self.start - self.hit.start : self.end - self.hit.start]


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing said. Without spans and runs it may only frame the answer (a greeting, a refusal, a question)."""

    text: str
    spans: tuple[CitedSpan, ...] = ()
    runs: tuple[str, ...] = ()
    place: Place = "paragraph"


@dataclass(frozen=True, slots=True)
class Rendered:
    """Markdown with marks in order of first use, and what the marks name."""

    text: str
    citations: list[Citation]
    owners: tuple[int, ...]
    """For each line of the text the index of the statement it came from; -1 for a blank between two."""


def render(statements: Sequence[Statement]) -> Rendered:
    """Write the statements out."""
    citations: list[Citation] = []
    numbers: dict[tuple[str, int, int], int] = {}
    lines: list[str] = []
    owners: list[int] = []
    previous: Place | None = None
    for index, statement in enumerate(statements):
        marks = ""
        for span in statement.spans:
            key = (span.hit.document_id, span.start, span.end)
            if key not in numbers:
                numbers[key] = len(citations) + 1
                citations.append(citation_of(numbers[key], span))
            marks += f"[{numbers[key]}]"
        marks += "".join(f"[{run}]" for run in statement.runs)
        if previous is not None and not (previous == statement.place == "item"):
            lines.append("")
            owners.append(-1)
        written = _with_marks(statement, marks).split("\n")
        lines += written
        owners += [index] * len(written)
        previous = statement.place
    return Rendered("\n".join(lines), citations, tuple(owners))


def _with_marks(statement: Statement, marks: str) -> str:
    if statement.place == "table":
        return f"{statement.text}\n\n{marks}" if marks else statement.text
    text = f"{statement.text} {marks}" if marks else statement.text
    return f"- {text}" if statement.place == "item" else text


def citation_of(n: int, span: CitedSpan) -> Citation:
    """The citation of a span under a number."""
    hit = span.hit
    return Citation(
        n=n,
        document_id=hit.document_id,
        title=hit.title,
        section=hit.section,
        location=hit.location,
        page=hit.page,
        quote=span.quote,
        start=span.start,
        end=span.end,
        score=round(hit.score, 4),
        references=[Reference(name=r.name, url=r.url, as_of=r.as_of) for r in hit.references],
    )
