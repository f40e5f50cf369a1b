"""How the evidence for a passage becomes one score: each kind standardised over the candidates, then a weighted sum.

The weights were chosen on questions that are never reported on (`evals/data/retrieval/choosing`), the gap between
languages on those of `evals/data/coverage_dev.jsonl` over the shipped guidance; `docs/retrieval.md` shows what each
kind of evidence brings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SENTENCE_SHARE = 0.4
"""Share of the best sentence or question form in the dense score; the rest is the whole passage's."""
LEXICAL_WEIGHT = 0.25
LATE_WEIGHT = 1.5
LANGUAGE_GAP = 0.72
"""Share of the encoder's gap between languages, as the background shows it, that is made up for. Made up for wholly, a
passage in the other language often comes before its twin in the reader's own."""
COSINE_SPREAD = 0.01
"""Least standard deviation of cosines that counts; below it candidates are as good as equal."""
LEXICAL_SPREAD = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each of n candidates."""

    paragraph: Floats
    """(n,) cosine of the whole passage, with the gap between languages made up for."""
    best: Floats
    """(n,) best cosine of its sentences and question forms, likewise."""
    lexical: Floats
    """(n,) BM25."""
    same_language: NDArray[np.bool_]
    """(n,) whether the passage is in the question's language, so that shared terms can be expected."""


def bridged(values: Floats, same_language: NDArray[np.bool_], gap: float) -> Floats:
    """Similarities with the gap between languages made up for, so that passages of both languages compare.

    Args:
        values: (n,) cosines or MaxSim.
        same_language: (n,) whether the passage is in the question's language.
        gap: similarity to texts of the other language less that to texts of the same, negative as a rule.
    """
    return np.where(same_language, values, values - np.float32(LANGUAGE_GAP * gap)).astype(np.float32)


def standardised(values: Floats, least_spread: float) -> Floats:
    """Z-scores; differences below `least_spread` are not blown up."""
    if not len(values):
        return values
    scaled: Floats = (values - values.mean()) / np.float32(max(float(values.std()), least_spread))
    return scaled


def fuse(evidence: Evidence) -> Floats:
    """(n,) scores from everything but late interaction."""
    paragraph = standardised(evidence.paragraph, COSINE_SPREAD)
    best = standardised(evidence.best, COSINE_SPREAD)
    dense: Floats = np.float32(1 - SENTENCE_SHARE) * paragraph + np.float32(SENTENCE_SHARE) * best
    fused: Floats = dense + np.float32(LEXICAL_WEIGHT) * _lexical(evidence, dense)
    return fused


def _lexical(evidence: Evidence, dense: Floats) -> Floats:
    """(n,) standardised BM25.

    A passage in another language can't share words with the question, so its score says nothing: it is taken to be at
    least half as good as the dense score.
    """
    expected = evidence.same_language
    reference = evidence.lexical[expected] if expected.any() else evidence.lexical
    spread = max(float(reference.std()) if len(reference) else 0.0, LEXICAL_SPREAD)
    mean = float(reference.mean()) if len(reference) else 0.0
    lexical: Floats = (evidence.lexical - np.float32(mean)) / np.float32(spread)
    return np.where(expected, lexical, np.maximum(lexical, dense / 2))
