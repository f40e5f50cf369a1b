"""Intervals and comparisons: bootstrap, exact sign test, Cohen's kappa. Deterministic for a seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95% percentile-bootstrap interval over n cases (Efron & Tibshirani 1993, chapter 13)."""

    mean: float
    low: float
    high: float
    n: int


def estimate(values: Sequence[float], seed: int = 0) -> Estimate | None:
    """The mean and its interval; None for no values.

    Equal values leave a bootstrap nothing to vary: for n equal rates of 0 or 1 the interval is the exact one-sided
    bound, 0.05 ** (1 / n) (the "rule of three").
    """
    if not values:
        return None
    data = np.asarray(values, dtype=np.float64)
    n = len(data)
    mean = float(data.mean())
    if (data == data[0]).all():
        bound = 0.05 ** (1 / n)
        if mean == 1.0:
            return Estimate(mean, bound, 1.0, n)
        return Estimate(mean, mean, 1 - bound if mean == 0.0 else mean, n)
    draws = np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))
    low, high = np.quantile(data[draws].mean(axis=1), [0.025, 0.975])
    return Estimate(mean, float(low), float(high), n)


@dataclass(frozen=True, slots=True)
class Difference:
    """Paired difference, second minus first."""

    mean: float
    low: float
    high: float
    better: int
    worse: int
    p: float
    """Two-sided, exact sign test on the cases that differ (McNemar's test for rates)."""

    @property
    def more_than_noise(self) -> bool:
        """At the 5% level; at least six cases must differ, whatever their share."""
        return self.p < 0.05


def paired_difference(first: Sequence[float], second: Sequence[float], seed: int = 0) -> Difference:
    """Compare case by case.

    Args:
        first, second: values of the same cases in the same order, larger is better.
    """
    gap = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    better, worse = int((gap > 1e-9).sum()), int((gap < -1e-9).sum())
    draws = np.random.default_rng(seed).integers(0, len(gap), (RESAMPLES, len(gap)))
    low, high = np.quantile(gap[draws].mean(axis=1), [0.025, 0.975])
    return Difference(float(gap.mean()), float(low), float(high), better, worse, sign_test(better, worse))


def sign_test(better: int, worse: int) -> float:
    """Probability, were both alike, of a split at least as uneven as this one. 1 when nothing differs."""
    n = better + worse
    if n == 0:
        return 1.0
    tail: float = sum(math.comb(n, k) for k in range(min(better, worse) + 1)) / 2**n
    return min(1.0, 2 * tail)


def kappa(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Cohen's kappa of two raters (Cohen 1960): agreement beyond chance; 1 is full, 0 is chance.

    1 when both always say the same one thing.
    """
    n = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    yes = sum(first) / n * sum(second) / n
    no = (1 - sum(first) / n) * (1 - sum(second) / n)
    return 1.0 if yes + no == 1.0 else (observed - yes - no) / (1 - yes - no)
