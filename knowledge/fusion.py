"""How the evidence for a passage becomes one score: each kind standardised over the candidates, then a weighted sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SENTENCE_SHARE = 0.5
"""Share of the best sentence or question form in the dense score; the rest is the whole passage's."""
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
    scaled: Floats = (values - values.mean()) / np.float32(max(float(values.std()), least_spread))
    return scaled


def fuse(evidence: Evidence) -> Floats:
    """(n,) scores from everything but late interaction.

    A passage in another language can't share words with the question: its lexical score is neutral, as good as its
    dense score says, rather than 0.
    """
    paragraph = standardised(evidence.paragraph, COSINE_SPREAD)
    best = standardised(evidence.best, COSINE_SPREAD)
    dense = paragraph + SENTENCE_SHARE * (best - paragraph)
    return dense + LEXICAL_WEIGHT * lexical_part(evidence, dense)


def lexical_part(evidence: Evidence, dense: Floats) -> Floats:
    """(n,) standardised BM25; for passages in the other language the better of that and half the dense score."""
    expected = evidence.same_language
    reference = evidence.lexical[expected] if expected.any() else evidence.lexical
    spread = max(float(reference.std()), LEXICAL_SPREAD)
    lexical: Floats = (evidence.lexical - reference.mean()) / np.float32(spread)
    return np.where(expected, lexical, np.maximum(lexical, dense / 2))
