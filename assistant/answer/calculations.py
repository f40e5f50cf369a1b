"""Calculations in words: the result first, then its table, assumptions, formula, sources and what would change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assistant.answer.draft import Statement
from assistant.errors import MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.base import Presentation

_LABELS: dict[str, dict[Language, str]] = {
    "formula": {"zh": "计算式：", "en": "Formula: "},
    "assumed": {"zh": "假设：", "en": "Assumed: "},
    "sources": {"zh": "依据：", "en": "Based on: "},
    "mind": {"zh": "注意：", "en": "Mind: "},
    "drivers": {"zh": "影响最大的是：", "en": "What changes it most: "},
}
_SEPARATOR: Mapping[Language, str] = {"zh": "；", "en": "; "}
MAX_SOURCES = 3


def describe_run(run: ToolRun, shown: Presentation, language: Language) -> list[Statement]:
    """Statements for one calculation, each marked with it."""
    mark = (run.n,)
    statements = [Statement(shown.headline, runs=mark)]
    if shown.table:
        statements.append(Statement(markdown_table(shown.table), runs=mark, place="table"))
    details = [
        ("mind", [warning for warning in run.warnings if warning.rstrip("。.") not in shown.headline]),
        ("assumed", run.assumptions),
        ("formula", [run.formula] if run.formula else []),
        ("sources", [_source(source.name, source.as_of) for source in run.sources[:MAX_SOURCES]]),
        ("drivers", [shown.drivers] if shown.drivers else []),
    ]
    for name, parts in details:
        if parts:
            text = _LABELS[name][language] + _SEPARATOR[language].join(part.rstrip("。.；; ") for part in parts)
            statements.append(Statement(text + ("。" if language == "zh" else "."), runs=mark, place="item"))
    return statements


def describe_missing(missing: MissingInputs) -> list[Statement]:
    """The question that names all that is missing, and what can be said already."""
    statements = [Statement(missing.question)]
    if missing.note:
        statements.append(Statement(missing.note))
    if missing.table:
        statements.append(Statement(markdown_table(missing.table), place="table"))
    return statements


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """A pipe table; the first row is the header."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _source(name: str, as_of: object) -> str:
    return f"{name} ({as_of})" if as_of else name
