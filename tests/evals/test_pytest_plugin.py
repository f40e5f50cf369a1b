from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import make_case

pytest_plugins = ["pytester"]


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Path:
    pytester.makeconftest(
        """
        import evals.targets
        from tests.evals.conftest import FakeTarget, make_answer

        def reply(turns):
            return make_answer("Spot. [1]" if "good" in turns[-1] else "No. [1]")

        evals.targets.open_target = lambda spec, **options: FakeTarget(reply)
        """
    )
    pytester.makepyfile(test_other="def test_other(): pass")
    cases = [make_case("first", turns=["good"]), make_case("second", turns=["poor"])]
    path = pytester.path / "small.jsonl"
    path.write_text("\n".join(case.model_dump_json(exclude_none=True) for case in cases), encoding="utf-8")
    return path


def test_a_test_a_case(pytester: pytest.Pytester, suite: Path) -> None:
    result = pytester.runpytest_inprocess("--advisor-suite", str(suite), "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*small.jsonl::first PASSED*", "*not pass: poor*", "*key_points: missed: spot*"])


def test_beside_other_tests(pytester: pytest.Pytester, suite: Path) -> None:
    result = pytester.runpytest_inprocess("test_other.py", "--advisor-suite", str(suite))
    result.assert_outcomes(passed=2, failed=1)


def test_nothing_without_the_option(pytester: pytest.Pytester, suite: Path) -> None:
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_a_bad_suite_is_a_collection_error(pytester: pytest.Pytester) -> None:
    path = pytester.path / "bad.jsonl"
    path.write_text("{", encoding="utf-8")
    result = pytester.runpytest_inprocess("--advisor-suite", str(path))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*line 1: not JSON*"])
