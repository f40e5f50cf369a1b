"""An answer as plain Markdown for those who see nothing but its text: marks become footnotes, sources stand below."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assistant.schema import Answer, Citation, Reference, Source, ToolRun

_MARK = re.compile(r"\[(T?\d+)\](?![(:])")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|])")
MAX_SOURCES = 3
"""Primary sources and prices named in one footnote; the rest stand in the answer itself."""


def footnoted(text: str) -> str:
    """Text with its marks [1] and [T1] as Markdown footnotes [^1] and [^T1]."""
    return _MARK.sub(r"[^\1]", text)


def footnotes(answer: Answer) -> str:
    """The footnotes of an answer's marks, one a line; empty when it has none."""
    used = dict.fromkeys(_MARK.findall(answer.text))
    notes = {str(citation.n): _of_citation(citation) for citation in answer.citations}
    notes |= {run.n: _of_run(run) for run in answer.tool_runs}
    return "\n".join(f"[^{mark}]: {notes[mark]}" for mark in used if mark in notes)


def as_markdown(answer: Answer) -> str:
    """The whole answer with its footnotes."""
    notes = footnotes(answer)
    return footnoted(answer.text) + (f"\n\n{notes}" if notes else "")


def _of_citation(citation: Citation) -> str:
    page = f", p. {citation.page}" if citation.page else ""
    section = f" › {_plain(citation.section)}" if citation.section else ""
    place = f"{_plain(citation.title)}{section}{page} ({_address(citation.location)})"
    return "; ".join([place, *_named(citation.references)])


def _of_run(run: ToolRun) -> str:
    return "; ".join([f"{run.tool}: {_plain(run.formula)}", *_named(run.sources)])


def _named(sources: Iterable[Source | Reference]) -> list[str]:
    named = []
    for source in list(sources)[:MAX_SOURCES]:
        name = f"[{_plain(source.name)}]({source.url})" if source.url else _plain(source.name)
        named.append(f"{name} ({source.as_of})" if source.as_of else name)
    return named


def _address(location: str) -> str:
    return f"<{location}>" if location.startswith(("http://", "https://")) else f"`{location.replace('`', '')}`"


def _plain(text: str) -> str:
    """In one line, with nothing that Markdown would take for a sign."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
