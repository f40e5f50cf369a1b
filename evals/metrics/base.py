"""The shape of a metric: a case and an answer in, a value with its reason out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from assistant.schema import Answer
from evals.schema import Case


@dataclass(frozen=True, slots=True)
class Score:
    """What one metric says of one answer."""

    value: float
    """From 0 (worst) to 1 (best); for latency, cost and length the plain figure."""
    reason: str = ""
    """What was missed or found wrong; empty when nothing was."""


class CaseMetric(Protocol):
    """Scores one answer. Deterministic, offline and cheap unless its file says otherwise."""

    name: str

    def score(self, case: Case, answer: Answer) -> Score | None:
        """The score, or None where the metric doesn't apply to this case."""
        ...
