"""Citation recall and precision in the manner of ALCE (Gao et al. 2023, arXiv:2305.14627, section 3).

Recall: the share of statements that their citations, taken together, support. Precision: the share of marks that
point to a span which supports its statement alone, or which the others can't do without. ALCE asks an NLI model; here
`evals.support` decides offline, or a cross-encoder or a judge given in its place. A calculation [Tn] supports a
statement whose figures are among its inputs and results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.schema import Answer
from evals.calculations import run_figures
from evals.contradiction import same_figure
from evals.metrics.base import Score
from evals.numbers import read_figures
from evals.schema import Case
from evals.support import Support
from evals.text import Statement, statements


@dataclass(frozen=True, slots=True)
class Checked:
    """One statement with what its marks do for it."""

    statement: Statement
    supported: bool
    objection: str
    idle: tuple[str, ...]
    """Marks that support nothing."""


def check_statements(answer: Answer, support: Support) -> list[Checked]:
    """Every statement of an answer, checked against what it cites."""
    return [_check(statement, answer, support) for statement in statements(answer.text)]


def _check(statement: Statement, answer: Answer, support: Support) -> Checked:
    cited = [c for c in answer.citations if str(c.n) in statement.marks]
    quotes = {str(c.n): c.quote for c in cited}
    context = "\n".join([answer.question, *(f"{c.title} > {c.section}" for c in cited)])
    runs = [run for run in answer.tool_runs if run.n in statement.marks]
    if not quotes and not runs:
        return Checked(statement, False, "no source", ())
    if runs:
        return _check_calculation(statement, answer, list(quotes.values()))
    together = support.judge(statement.text, list(quotes.values()), context)
    if not together.supported:
        return Checked(statement, False, together.objection, tuple(m for m in quotes if m not in statement.earlier))
    idle = []
    if len(quotes) > 1:
        for mark, quote in quotes.items():
            if mark in statement.earlier:
                continue
            others = [other for key, other in quotes.items() if key != mark]
            if (
                not support.judge(statement.text, [quote], context).supported
                and support.judge(statement.text, others, context).supported
            ):
                idle.append(mark)
    return Checked(statement, True, "", tuple(idle))


def _check_calculation(statement: Statement, answer: Answer, quotes: Sequence[str]) -> Checked:
    given = [f for run in answer.tool_runs if run.n in statement.marks for f in run_figures(run)]
    given += [f for text in (*quotes, answer.question) for f in read_figures(text)]
    figures = [f for f in read_figures(statement.text) if not any(same_figure(f, other) for other in given)]
    objection = "figures not in the calculation: " + ", ".join(f.text for f in figures) if figures else ""
    return Checked(statement, not figures, objection, statement.marks if figures else ())


class CitationRecallMetric:
    """Share of statements that are supported; the reason quotes those that are not."""

    name = "citation_recall"

    def __init__(self, support: Support) -> None:
        self._support = support

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to answered questions."""
        if answer.status != "answered":
            return None
        checked = check_statements(answer, self._support)
        if not checked:
            return None
        bad = [c for c in checked if not c.supported]
        reasons = [f"{c.statement.text[:60]!r}: {c.objection}" for c in bad]
        return Score(1 - len(bad) / len(checked), " | ".join(reasons))


class CitationPrecisionMetric:
    """Share of marks that do something for their statement."""

    name = "citation_precision"

    def __init__(self, support: Support) -> None:
        self._support = support

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to answers with marks."""
        checked = check_statements(answer, self._support)
        marks = [
            (c, mark) for c in checked for mark in dict.fromkeys(c.statement.marks) if mark not in c.statement.earlier
        ]
        if not marks:
            return None
        idle = [f"[{mark}] at {c.statement.text[:40]!r}" for c, mark in marks if mark in c.idle]
        return Score(1 - len(idle) / len(marks), " | ".join(idle))
