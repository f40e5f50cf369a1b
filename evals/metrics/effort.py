"""Latency, cost and length: plain figures of one answer. A chat model's cost is what the answer reports."""

from __future__ import annotations

from assistant.schema import Answer
from evals.metrics.base import Score
from evals.schema import Case


class LengthMetric:
    """Characters of the text."""

    name = "characters"

    def score(self, case: Case, answer: Answer) -> Score:
        """Applies to every case."""
        return Score(float(len(answer.text)))


class CostMetric:
    """What the chat model cost, in its price list's currency."""

    name = "cost"

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to answers that report a cost."""
        if answer.usage is None or answer.usage.cost is None:
            return None
        return Score(answer.usage.cost)


class LatencyMetric:
    """The answer's own total time, milliseconds. The runner stores the time seen from outside beside it."""

    name = "latency_ms"

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to answers that report it."""
        return Score(answer.timings_ms.total) if answer.timings_ms.total else None
