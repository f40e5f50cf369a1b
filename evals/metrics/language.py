"""Language: is the prose in the language of the question, quotations left out."""

from __future__ import annotations

from assistant.schema import Answer
from evals.metrics.base import Score
from evals.schema import Case
from evals.text import han_share

_BAR = 0.3
"""Share of Chinese that parts the two; technical Chinese holds many Latin words."""


class LanguageMetric:
    """1 when the language is that of the question."""

    name = "language"

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to questions in one language and to answers with prose."""
        share = han_share(answer.text)
        if case.language == "mixed" or share is None:
            return None
        right = share > _BAR if case.language == "zh" else share < _BAR
        return Score(1.0 if right else 0.0, "" if right else f"{share:.0%} Chinese")
