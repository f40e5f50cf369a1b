"""Numbers: the share of the expected figures that the answer states, with unit, within tolerance.

Read by `evals.numbers`, which shares nothing with the assistant's own parser; its docstring tells how ambiguous
writing is read.
"""

from __future__ import annotations

from assistant.schema import Answer
from evals.metrics.base import Score
from evals.numbers import read_figures, states
from evals.schema import Case


class NumbersMetric:
    """Share of expected figures stated; a case passes only with all of them."""

    name = "numbers"

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to cases with expected figures."""
        expected = case.expect.numbers
        if not expected:
            return None
        figures = read_figures(answer.text)
        missed = [n for n in expected if not any(states(f, n.value, n.unit, n.rel_tol) for f in figures)]
        reason = "missed: " + " | ".join(f"{n.value:g} {n.unit}" for n in missed) if missed else ""
        return Score(1 - len(missed) / len(expected), reason)
