"""Status: is it answered, refused, or asked back, as the case wants. Exact match against the accepted values."""

from __future__ import annotations

from assistant.schema import Answer
from evals.metrics.base import Score
from evals.schema import Case


class StatusMetric:
    """1 when the status is one of those that the case accepts."""

    name = "status"

    def score(self, case: Case, answer: Answer) -> Score:
        """Applies to every case."""
        if answer.status in case.expect.status:
            return Score(1.0)
        return Score(0.0, f"{answer.status}, expected {' or '.join(case.expect.status)}")
