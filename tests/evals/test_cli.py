from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from evals.cli import evals
from evals.errors import TargetError

from .conftest import FakeTarget, make_answer, make_case


@pytest.fixture
def suite(tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cases = [make_case(f"c{i}", turns=[f"question {i}"], topic="even" if i % 2 == 0 else "odd") for i in range(6)]
    path = tmp_path / "small.jsonl"
    path.write_text("\n".join(case.model_dump_json(exclude_none=True) for case in cases), encoding="utf-8")
    target = FakeTarget(lambda turns: make_answer("Spot. [1]" if turns[-1] != "question 5" else "No. [1]"))
    monkeypatch.setattr("evals.targets.open_target", lambda spec, **options: target)
    return path


def _call(*arguments: object) -> Result:
    return CliRunner().invoke(evals, [str(argument) for argument in arguments])


def _ok(*arguments: object) -> str:
    result = _call(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_run_shows_stores_and_writes_reports(suite: Path, tmp_path: Path) -> None:
    files = {option: tmp_path / f"report.{option}" for option in ("html", "junit", "markdown")}
    options = [part for option, path in files.items() for part in (f"--{option}", path)]
    shown = _ok("run", suite, *options, "--failures")
    assert "pass       83.3% [" in shown
    assert "c5  question 5" in shown
    assert all(path.stat().st_size > 100 for path in files.values())
    listed = json.loads(_ok("list", "--json"))
    assert [run["pass"] for run in listed["runs"]] == [pytest.approx(5 / 6)]
    assert {"documents", "paraphrase", "seeds"} <= {row["name"] for row in listed["suites"]}


def test_json_output_is_json_alone(suite: Path) -> None:
    record: dict[str, Any] = json.loads(_ok("run", suite, "--json", "--topic", "odd"))
    assert [result["case_id"] for result in sorted(record["results"], key=lambda r: r["case_id"])] == ["c1", "c3", "c5"]
    assert record["summary"]["total"]["metrics"]["pass"]["mean"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("bar", "code"),
    [("pass=0.8", 0), ("pass=80%", 0), ("pass=0.9", 1), ("tools=0.1", 1), ("taste=1", 2), ("pass=high", 2), ("x", 2)],
)
def test_fail_under(suite: Path, bar: str, code: int) -> None:
    result = _call("run", suite, "--fail-under", bar)
    assert result.exit_code == code
    if code == 1:
        assert "below" in result.stderr or "applies to no case" in result.stderr


def test_compare_and_show(suite: Path) -> None:
    _ok("run", suite)
    first = json.loads(_ok("list", "--json"))["runs"][0]["id"]
    _ok("run", suite)
    assert "same" in _ok("compare", first, "last")
    compared = json.loads(_ok("compare", first, "last", "--json"))
    assert compared["changes"][0]["more_than_noise"] is False
    assert "Spot. [1]" in _ok("show", "last", "c1")
    assert json.loads(_ok("show", "last", "c1", "--json"))[0]["passed"] is True
    assert "83.3%" in _ok("show", "last")
    assert "no result for case" in str(_call("show", "last", "c99").exception)


def test_export_and_import(suite: Path, tmp_path: Path) -> None:
    _ok("run", suite)
    for ending in ("json", "html", "md", "xml"):
        _ok("export", "last", tmp_path / f"out.{ending}")
        assert (tmp_path / f"out.{ending}").stat().st_size > 100
    _ok("export", suite, tmp_path / "suite.csv")
    assert "6 cases" in _ok("import", tmp_path / "suite.csv", tmp_path / "again.jsonl")
    assert "83.3%" in _ok("run", tmp_path / "again.jsonl")
    assert _call("export", "last", tmp_path / "out.pdf").exit_code == 2


def test_resume_of_a_finished_run_is_refused(suite: Path) -> None:
    _ok("run", suite)
    result = _call("run", suite, "--resume", "last")
    assert "is complete" in str(result.exception)


def test_a_target_that_never_answers_is_a_failure(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = FakeTarget(lambda turns: TargetError("no route"))
    monkeypatch.setattr("evals.targets.open_target", lambda spec, **options: silent)
    result = _call("run", suite)
    assert "answered no case; the first error: no route" in str(result.exception)


def test_agreement_prints_a_table_and_kappa() -> None:
    shown = _ok("agreement")
    assert "wrong_unit" in shown
    assert "kappa of sound with the labels: 1.000" in shown
