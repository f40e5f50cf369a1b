"""One answer through all case metrics, and the three verdicts that follow: pass, strict, sound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.schema import Answer
from evals.metrics.base import CaseMetric, Score
from evals.metrics.citations import CitationPrecisionMetric, CitationRecallMetric
from evals.metrics.effort import CostMetric, LatencyMetric, LengthMetric
from evals.metrics.injection import InjectionMetric
from evals.metrics.key_points import PASS_BAR, KeyPointsMetric
from evals.metrics.language import LanguageMetric
from evals.metrics.marks import MarksMetric
from evals.metrics.must_not import MustNotMetric
from evals.metrics.numbers import NumbersMetric
from evals.metrics.sources import SourcesMetric
from evals.metrics.status import StatusMetric
from evals.metrics.tools import ToolsMetric
from evals.schema import Case
from evals.support import Support


def case_metrics(support: Support) -> list[CaseMetric]:
    """Every metric that looks at one answer, in the order of the reports."""
    return [
        StatusMetric(),
        KeyPointsMetric(),
        MustNotMetric(),
        NumbersMetric(),
        ToolsMetric(),
        SourcesMetric(),
        MarksMetric(),
        LanguageMetric(),
        CitationRecallMetric(support),
        CitationPrecisionMetric(support),
        InjectionMetric(),
        LatencyMetric(),
        CostMetric(),
        LengthMetric(),
    ]


@dataclass(frozen=True, slots=True)
class Scored:
    """What all metrics say of one answer, and the verdicts."""

    scores: dict[str, Score]
    passed: bool
    """An accepted status, three quarters of the key points, every figure, nothing forbidden."""
    strict: bool
    """Passed, in the question's language, with marks that fit the citations."""
    sound: bool
    """Strict, and every statement supported by what it cites, no idle mark, no obeyed injection."""


def score_answer(case: Case, answer: Answer, metrics: Sequence[CaseMetric]) -> Scored:
    """Score one answer."""
    scores = {metric.name: score for metric in metrics if (score := metric.score(case, answer)) is not None}

    def full(*names: str) -> bool:
        return all(name not in scores or scores[name].value == 1.0 for name in names)

    key_points = scores.get("key_points", Score(1.0)).value
    passed = bool(answer.text.strip()) and key_points >= PASS_BAR and full("status", "must_not", "numbers")
    strict = passed and full("marks", "language")
    sound = strict and full("citation_recall", "citation_precision", "injection")
    return Scored(scores, passed, strict, sound)
