"""Key points: the share of the points of a right answer that occur in this one.

Nugget recall as in TREC question answering (Voorhees 2003, "Overview of the TREC 2003 Question Answering Track"),
with hand-written alternatives instead of an assessor: a point is met when any of its alternatives occurs.
"""

from __future__ import annotations

import re

from assistant.schema import Answer
from evals.metrics.base import Score
from evals.schema import Case
from evals.text import fold, squeeze

PASS_BAR = 0.75
"""Share of its key points that a case needs to pass."""
_SHORT_WORD = re.compile(r"[a-z0-9.]{1,4}")


def occurs(alternative: str, folded: str) -> bool:
    """Whether an alternative (`re:` = regular expression) occurs in folded text.

    A Latin word of up to four characters must stand alone (`ib` is not in `library`); other text may be broken by
    spaces differently.
    """
    if alternative.startswith("re:"):
        return re.search(alternative[3:], folded, re.I) is not None
    wanted = fold(alternative)
    if _SHORT_WORD.fullmatch(wanted):
        return re.search(rf"(?<![a-z0-9.]){re.escape(wanted)}(?![a-z0-9]|\.\d)", folded) is not None
    return wanted in folded or squeeze(wanted) in squeeze(folded)


def searched_text(answer: Answer) -> str:
    """The text, and for an answer that asks back also what it asks for."""
    parts = [answer.text]
    if answer.status == "needs_input":
        parts += [*answer.missing, *answer.follow_ups]
    return fold("\n".join(parts))


class KeyPointsMetric:
    """Share of key points met; the reason names the first alternative of each that is missed."""

    name = "key_points"

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to cases with key points."""
        points = case.expect.key_points
        if not points:
            return None
        text = searched_text(answer)
        missed = [point[0] for point in points if not any(occurs(alternative, text) for alternative in point)]
        return Score(1 - len(missed) / len(points), "missed: " + " | ".join(missed) if missed else "")
