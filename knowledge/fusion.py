"""How the evidence for a passage becomes one score: each kind standardised over the candidates, then a weighted sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

PARAGRAPH_WEIGHT = 1.0
SENTENCE_WEIGHT = 1.0
LEXICAL_WEIGHT = 0.5
LATE_WEIGHT = 1.0
COSINE_SPREAD = 0.01
"""Least standard deviation of cosines that counts; below it candidates are as good as equal."""
LEXICAL_SPREAD = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each of n candidates."""

    paragraph: Floats
    """(n,) cosine of the whole passage."""
    best: Floats
    """(n,) best cosine of its sentences and question forms."""
    lexical: Floats
    """(n,) BM25."""
    same_language: NDArray[np.bool_]
    """(n,) whether the passage is in the question's language, so that shared terms can be expected."""


def standardised(values: Floats, least_spread: float) -> Floats:
    """Z-scores; differences below `least_spread` are not blown up."""
    if not len(values):
        return values
    return ((values - values.mean()) / max(float(values.std()), least_spread)).astype(np.float32)


def fuse(evidence: Evidence) -> Floats:
    """(n,) scores from everything but late interaction.

    A passage in another language can't share words with the question: its lexical score is neutral, as good as its
    dense score says, rather than 0.
    """
    dense = (
        PARAGRAPH_WEIGHT * standardised(evidence.paragraph, COSINE_SPREAD)
        + SENTENCE_WEIGHT * standardised(evidence.best, COSINE_SPREAD)
    ) / (PARAGRAPH_WEIGHT + SENTENCE_WEIGHT)
    return dense + LEXICAL_WEIGHT * lexical_part(evidence, dense)


def lexical_part(evidence: Evidence, dense: Floats) -> Floats:
    """(n,) standardised BM25; for passages in the other language the better of that and half the dense score."""
    expected = evidence.same_language
    reference = evidence.lexical[expected] if expected.any() else evidence.lexical
    spread = max(float(reference.std()), LEXICAL_SPREAD)
    lexical = ((evidence.lexical - reference.mean()) / spread).astype(np.float32)
    return np.where(expected, lexical, np.maximum(lexical, dense / 2)).astype(np.float32)
