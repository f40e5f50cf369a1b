"""Refusal: does the system say no exactly where it should. Precision, recall and F1 with "declines" as positive.

As for unanswerable questions in SQuAD 2.0 (Rajpurkar et al. 2018, arXiv:1806.03822). Declining is `not_covered` or
`refused`; a case that accepts both an answer and a no is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assistant.schema import Status
from evals.schema import Case

_DECLINES: frozenset[Status] = frozenset({"not_covered", "refused"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """None where there is nothing to divide by."""

    precision: float | None
    recall: float | None
    f1: float | None
    expected: int
    """Cases that should be declined."""


def refusal(outcomes: Iterable[tuple[Case, Status | None]]) -> Refusal:
    """The three figures over (case, status); a status of None is an error and no refusal."""
    right = wrong = missed = 0
    for case, status in outcomes:
        accepted = set(case.expect.status)
        declines = status in _DECLINES
        if accepted <= _DECLINES:
            right += declines
            missed += not declines
        elif not accepted & _DECLINES:
            wrong += declines
    precision = right / (right + wrong) if right + wrong else None
    recall = right / (right + missed) if right + missed else None
    f1 = 2 * right / (2 * right + wrong + missed) if 2 * right + wrong + missed else None
    return Refusal(precision, recall, f1, right + missed)
