"""Running, storing, interrupting, going on, summarising and comparing, with a target whose answers are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.schema import Answer
from evals.compare import compare_runs
from evals.errors import RunError, TargetError
from evals.gate import _compare
from evals.runner import complete_run, resume_run, start_run
from evals.runs import Result, Run, RunFolder, find_run
from evals.suites import Suite
from evals.summary import summarise

from .conftest import AllSupported, FakeTarget, make_answer, make_case

CASES = tuple(
    make_case(f"c{i:02d}", turns=[f"question {i}"], language="en" if i % 2 else "zh", topic="cost" if i < 4 else "data")
    for i in range(10)
)
SUITE = Suite("small", Path(), CASES)


def _reply(turns: Sequence[str]) -> Answer | Exception:
    number = int(turns[-1].split()[-1])
    if number == 9:
        return TargetError("it is switched off")
    return make_answer("Spot. [1]" if number != 8 else "Nothing useful. [1]")


def _run(root: Path, target: FakeTarget | None = None, jobs: int = 1, repeat: int = 1) -> Run:
    target = target or FakeTarget(_reply)
    folder, manifest = start_run(SUITE, target, root, repeat=repeat)
    return complete_run(folder, manifest, SUITE, target, AllSupported(), jobs=jobs)


@pytest.mark.parametrize("jobs", [1, 4])
def test_every_case_is_asked_once_and_stored(tmp_path: Path, jobs: int) -> None:
    target = FakeTarget(_reply)
    run = _run(tmp_path, target, jobs)
    assert sorted(target.asked) == sorted(case.question for case in CASES)
    assert sorted(result.case_id for result in run.results) == [case.id for case in CASES]
    stored = find_run(tmp_path, run.manifest.id).read()
    assert stored == run
    assert run.manifest.finished is not None


def test_an_error_of_the_target_is_a_result(tmp_path: Path) -> None:
    run = _run(tmp_path, FakeTarget(lambda turns: ValueError("bug") if turns[-1].endswith("0") else make_answer()))
    failed = [result for result in run.results if result.error]
    assert [(result.case_id, result.error) for result in failed] == [("c00", "ValueError: bug")]
    assert not failed[0].passed


def test_summary(tmp_path: Path) -> None:
    summary = summarise(_run(tmp_path))
    assert summary.total.cases == 10
    assert summary.total.errors == 1
    assert summary.metric("pass") == 0.8
    assert summary.metric("status") == 0.9
    assert summary.metric("language") == pytest.approx(4 / 9)
    assert summary.metric("sources") == 1
    assert summary.metric("hit@4") == 1
    assert [(group.name, group.cases) for group in summary.topics] == [("cost", 4), ("data", 6)]
    assert summary.metric("characters") == 9
    assert summary.metric("refusal_f1") is None
    assert summary.metric("tools") is None


def test_repeats_are_averaged_before_the_interval(tmp_path: Path) -> None:
    counts: dict[str, int] = {}

    def flaky(turns: Sequence[str]) -> Answer:
        counts[turns[-1]] = counts.get(turns[-1], 0) + 1
        return make_answer("Spot. [1]" if counts[turns[-1]] % 2 else "No. [1]")

    run = _run(tmp_path, FakeTarget(flaky), repeat=2)
    estimate = summarise(run).total.metrics["pass"]
    assert len(run.results) == 20
    assert (estimate.mean, estimate.n) == (0.5, 10)


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    target = FakeTarget(_reply)
    folder, manifest = start_run(SUITE, target, tmp_path)
    seen: list[Result] = []

    def interrupt(result: Result) -> None:
        seen.append(result)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        complete_run(folder, manifest, SUITE, target, AllSupported(), on_result=interrupt)
    kept = {result.case_id for result in folder.read().results}
    assert folder.read().manifest.finished is None
    assert 4 <= len(kept) < 10
    with (folder.path / "results.jsonl").open("a") as file:
        file.write('{"case_id": "cut o')
    target.asked.clear()
    again = resume_run(folder, SUITE, target)
    run = complete_run(folder, again, SUITE, target, AllSupported())
    assert len(target.asked) == 10 - len(kept)
    assert sorted(result.case_id for result in run.results) == [case.id for case in CASES]
    with pytest.raises(RunError, match="complete"):
        resume_run(folder, SUITE, target)


def test_a_run_goes_on_only_with_what_it_was_started_with(tmp_path: Path) -> None:
    folder, _ = start_run(SUITE, FakeTarget(_reply), tmp_path)
    with pytest.raises(RunError, match="another version of small"):
        resume_run(folder, Suite("small", Path(), CASES[:5]), FakeTarget(_reply))
    with pytest.raises(RunError, match="another target"):
        resume_run(folder, SUITE, FakeTarget(_reply, version="2"))


def test_runs_are_found_by_name(tmp_path: Path) -> None:
    run = _run(tmp_path)
    assert find_run(tmp_path, run.manifest.id[:10]).path.name == run.manifest.id
    assert find_run(tmp_path, "last").path.name == run.manifest.id
    assert find_run(tmp_path, str(tmp_path / run.manifest.id)).path.name == run.manifest.id
    with pytest.raises(RunError, match="No run is called 'nothing'"):
        find_run(tmp_path, "nothing")
    _run(tmp_path)
    with pytest.raises(RunError, match="Several runs start with '2'"):
        find_run(tmp_path, "2")


def test_a_newer_format_and_a_damaged_run_are_refused(tmp_path: Path) -> None:
    run = _run(tmp_path)
    file = tmp_path / run.manifest.id / "run.json"
    record = json.loads(file.read_text())
    file.write_text(json.dumps({**record, "format": 99}))
    with pytest.raises(RunError, match="newer version"):
        RunFolder(file.parent).read()
    file.write_text("{}")
    with pytest.raises(RunError, match="not a stored run"):
        RunFolder(file.parent).read()


def test_compare_pairs_cases_and_tells_noise(tmp_path: Path) -> None:
    first = _run(tmp_path)
    bad = {"question 1", "question 2"}
    second = _run(tmp_path, FakeTarget(lambda turns: make_answer("No. [1]" if turns[-1] in bad else "Spot. [1]")))
    change = next(c for c in compare_runs(first, second).changes if c.metric == "pass")
    assert change.better == ("c08", "c09")
    assert change.worse == ("c01", "c02")
    assert not change.difference.more_than_noise
    nothing = _run(tmp_path, FakeTarget(lambda turns: make_answer("No. [1]")))
    fall = next(c for c in compare_runs(first, nothing).changes if c.metric == "pass")
    assert len(fall.worse) == 8
    assert fall.difference.more_than_noise


def test_compare_leaves_rewritten_cases_out(tmp_path: Path) -> None:
    first = _run(tmp_path)
    rewritten = make_case("c00", turns=["question 0"], expect={"key_points": [["other"]]})
    target = FakeTarget(_reply)
    suite = Suite("small", Path(), (rewritten, *CASES[1:5]))
    folder, manifest = start_run(suite, target, tmp_path)
    second = complete_run(folder, manifest, suite, target, AllSupported())
    comparison = compare_runs(first, second)
    assert comparison.changed_cases == ("c00",)
    assert comparison.cases == 4
    other = Suite("other", Path(), (make_case("zz", turns=["question 1"]),))
    folder, manifest = start_run(other, target, tmp_path)
    with pytest.raises(RunError, match="share no case"):
        compare_runs(first, complete_run(folder, manifest, other, target, AllSupported()))


def test_the_gate_lets_noise_through_and_stops_a_fall() -> None:
    before = {f"c{i}": 1.0 for i in range(20)}
    noise = {**before, "c1": 0.0, "c2": 0.0}
    fall = {**before, **{f"c{i}": 0.0 for i in range(7)}}
    stored = dict.fromkeys(("pass", "strict", "sound"), before)
    assert _compare("s", stored, dict.fromkeys(stored, noise)) == []
    worse = _compare("s", stored, {**stored, "pass": fall})
    assert len(worse) == 1
    assert "fallen: c0, c1" in worse[0]
