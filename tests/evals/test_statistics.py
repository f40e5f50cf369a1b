from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.statistics import estimate, kappa, paired_difference, sign_test


def test_estimate() -> None:
    found = estimate([1.0] * 30 + [0.0] * 10)
    assert found is not None
    assert found.mean == 0.75
    assert 0.55 < found.low < 0.68
    assert 0.82 < found.high < 0.95
    assert found == estimate([1.0] * 30 + [0.0] * 10)
    assert estimate([]) is None


def test_equal_values_are_no_certainty() -> None:
    certain = estimate([1.0] * 20)
    assert certain is not None
    assert certain.low == pytest.approx(0.861, abs=1e-3)
    none = estimate([0.0] * 20)
    assert none is not None
    assert none.high == pytest.approx(0.139, abs=1e-3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_the_interval_holds_the_mean(values: list[float]) -> None:
    found = estimate(values)
    assert found is not None
    assert found.low - 1e-9 <= found.mean <= found.high + 1e-9


def test_sign_test_is_exact() -> None:
    assert sign_test(0, 5) == pytest.approx(2 / 32)
    assert sign_test(0, 6) == pytest.approx(2 / 64)
    assert sign_test(3, 3) == 1
    assert sign_test(0, 0) == 1


def test_paired_difference() -> None:
    first = [1.0] * 20
    fallen = paired_difference(first, [0.0] * 6 + [1.0] * 14)
    assert (fallen.better, fallen.worse) == (0, 6)
    assert fallen.mean == pytest.approx(-0.3)
    assert fallen.more_than_noise
    assert fallen.high < 0
    noise = paired_difference(first, [0.0] * 3 + [1.0] * 17)
    assert not noise.more_than_noise


def test_kappa() -> None:
    assert kappa([True, True, False, False], [True, True, False, False]) == 1
    assert kappa([True, True, False, False], [True, False, True, False]) == 0
    assert kappa([True, True], [True, True]) == 1
    assert kappa([True, False], [False, True]) == -1
