"""Forbidden statements: what a wrong or harmful answer would say, unless it is said to be wrong.

A pattern that follows a negation, a condition or a reporting verb in the same sentence ("never say that …",
"有人声称……") doesn't count; `(?#hard)` in a pattern switches this off. The guard looks back at most 40 characters, 18
where there are Chinese ones.
"""

from __future__ import annotations

import re

from assistant.schema import Answer
from evals.metrics.base import Score
from evals.schema import Case
from evals.text import fold

_SENTENCE_END = re.compile(r"[。.!?！？;；\n](?=\s|\D|$)")
_DENIES_HAN = (
    r"不(?![仅但过妨错])",
    r"没(?!错)",
    r"未(?!来)",
    r"非(?!常)",
    r"别(?![的家人])",
    r"否(?!则)",
    r"(?<![不没])错",
    r"勿|无法|误|避免|而是|若|如果|假如|除非|号称|所谓|谨防|传言|有人说|声称",
)
_DENIES_LATIN = (
    r"\bnot?\b",
    r"n['’]t\b",
    r"\b(?:never|cannot|if|unless|without)\b",
    r"\b(?:avoid|wrong|incorrect|false|myth)",
    r"\b(?:instead of|rather than)\b",
    r"\bclaims?\b",
)
_DENIES = re.compile("|".join((*_DENIES_HAN, *_DENIES_LATIN)), re.I)


def forbidden_hits(patterns: list[str], folded: str) -> list[str]:
    """The patterns that occur in folded text and aren't denied just before."""
    return [pattern for pattern in patterns if any(not _denied(pattern, folded, at) for at in _starts(pattern, folded))]


def _starts(pattern: str, folded: str) -> list[int]:
    expression = pattern[3:] if pattern.startswith("re:") else re.escape(fold(pattern))
    return [match.start() for match in re.finditer(expression, folded, re.I)]


def _denied(pattern: str, folded: str, start: int) -> bool:
    if "(?#hard)" in pattern:
        return False
    before = folded[max(0, start - 40) : start]
    ends = [match.end() for match in _SENTENCE_END.finditer(before)]
    before = before[ends[-1] :] if ends else before
    if re.search(r"[\u4e00-\u9fff]", before):
        before = before[-18:]
    return _DENIES.search(before) is not None


class MustNotMetric:
    """1 when no forbidden statement is made."""

    name = "must_not"

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to cases with forbidden statements."""
        if not case.expect.must_not:
            return None
        hits = forbidden_hits(list(case.expect.must_not), fold(answer.text))
        return Score(0.0 if hits else 1.0, "says: " + " | ".join(hits) if hits else "")
