"""The check after the answer is written, whoever wrote it.

Every mark has its citation or calculation and every citation its mark; every quote is the source's own text; every
number stands in what its statement cites.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.answer.figures import unsupported, values_of_run, values_of_text
from assistant.errors import InvalidInput
from assistant.schema import Citation, ToolRun

MARK = re.compile(r"\[(T?\d+)\]")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an answer, in a line of its text (from 0) or with one of its citations."""

    kind: Literal["mark without source", "unused citation", "inexact quote", "number without source"]
    detail: str
    line: int | None = None
    citation: int | None = None


def verify(
    text: str,
    citations: Sequence[Citation],
    tool_runs: Sequence[ToolRun],
    *,
    question: str,
    source_text: Callable[[str], str],
    presented: Mapping[str, str] | None = None,
    dates: Mapping[str, str] | None = None,
) -> list[Fault]:
    """All faults of an answer's text; none means that it may be shown.

    Args:
        question: its own numbers may be repeated without a mark.
        source_text: document id -> stored source text; raises InvalidInput for an unknown document.
        dates: document id -> its date, which may be named beside its title.
        presented: number of a tool run -> what the calculator itself says of its result in words.
    """
    faults = _marks(text, citations, tool_runs)
    faults += [
        Fault(
            "inexact quote",
            f"[{citation.n}] is not the text of {citation.document_id} at {citation.start}",
            citation=citation.n,
        )
        for citation in citations
        if not _exact(citation, source_text)
    ]
    return faults + _numbers(text, citations, tool_runs, question, presented or {}, dates or {})


def _marks(text: str, citations: Sequence[Citation], runs: Sequence[ToolRun]) -> list[Fault]:
    known = {str(citation.n) for citation in citations} | {run.n for run in runs}
    faults = []
    used: set[str] = set()
    for number, line in enumerate(text.split("\n")):
        for mark in MARK.findall(line):
            used.add(mark)
            if mark not in known:
                faults.append(Fault("mark without source", f"[{mark}] names nothing", number))
    return faults + [
        Fault("unused citation", f"[{citation.n}] is never used")
        for citation in citations
        if str(citation.n) not in used
    ]


def _exact(citation: Citation, source_text: Callable[[str], str]) -> bool:
    try:
        source = source_text(citation.document_id)
    except InvalidInput:
        return False
    return bool(citation.quote.strip()) and source[citation.start : citation.end] == citation.quote


def _numbers(
    text: str,
    citations: Sequence[Citation],
    runs: Sequence[ToolRun],
    question: str,
    presented: Mapping[str, str],
    dates: Mapping[str, str],
) -> list[Fault]:
    said: dict[str, list[float]] = {
        str(c.n): list(values_of_text(f"{c.quote} {c.section} {c.title} {dates.get(c.document_id, '')}"))
        for c in citations
    }
    said |= {run.n: [*values_of_run(run), *values_of_text(presented.get(run.n, ""))] for run in runs}
    asked = list(values_of_text(question))
    faults = []
    for number, line in _lines_with_marks(text):
        support = asked + [value for mark in MARK.findall(line) for value in said.get(mark, ())]
        if not MARK.search(line):
            support += [value for run in runs for value in said[run.n]]
        faults += [
            Fault("number without source", f"{figure} is in nothing that the statement cites", number)
            for figure in unsupported(line, support)
        ]
    return faults


def _lines_with_marks(text: str) -> list[tuple[int, str]]:
    """Lines with their number; the rows of a table and the lines of a block of code stand on the marks below it."""
    lines = text.split("\n")
    below = ""
    numbered = []
    code = False
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        fence = line.startswith("```")
        code = code != fence
        if line.startswith("|") or code or fence:
            line += " " + below
        elif line.strip():
            below = " ".join(f"[{mark}]" for mark in MARK.findall(line))
        numbered.append((number, line))
    return numbered[::-1]
