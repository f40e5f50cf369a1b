"""Citations and calculations of an answer as HTML; whatever documents contain is shown as text."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from assistant.schema import Answer, Citation, ToolRun

SURROUNDINGS = 160
"""Characters of the document shown before and after a quote."""


def sources_html(answer: Answer | None, source_text: Callable[[str], str]) -> str:
    """The panel beside the chat."""
    parts = [_citation(citation, source_text(citation.document_id)) for citation in answer.citations] if answer else []
    parts += [_run(run) for run in answer.tool_runs] if answer else []
    body = "".join(parts) or "<p class='place'>来源和计算显示在这里 / Sources and calculations appear here</p>"
    return f"<section class='sources' aria-label='Sources'>{body}</section>"


def _citation(citation: Citation, text: str) -> str:
    before = text[max(0, citation.start - SURROUNDINGS) : citation.start]
    after = text[citation.end : citation.end + SURROUNDINGS]
    page = f", p. {citation.page}" if citation.page else ""
    references = "".join(
        f"<li>{escape(r.name)} — {escape(r.url)}{f' ({r.as_of})' if r.as_of else ''}</li>" for r in citation.references
    )
    return (
        f"<article><b>[{citation.n}] {escape(citation.title)}</b>"
        f"<div class='place'>{escape(citation.section)}{page} · {escape(citation.location)}</div>"
        f"<p>…{escape(before)}<mark>{escape(citation.quote)}</mark>{escape(after)}…</p>"
        f"{f'<ul>{references}</ul>' if references else ''}</article>"
    )


def _run(run: ToolRun) -> str:
    inputs = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(str(given.value))} {escape(given.unit or '')}</td>"
        f"<td class='place'>{given.origin}</td></tr>"
        for name, given in run.inputs.items()
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in (*run.assumptions, *run.warnings))
    sources = "".join(f"<li>{escape(s.name)}{f' ({s.as_of})' if s.as_of else ''}</li>" for s in run.sources)
    return (
        f"<article><b>[{run.n}] {escape(run.tool)}</b><p>{escape(run.formula)}</p><table>{inputs}</table>"
        f"<ul>{notes}{sources}</ul></article>"
    )
