"""Suites and stored runs as plain records, for a user interface that runs, shows and compares them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evals.compare import compare_runs
from evals.errors import SuiteError
from evals.runner import complete_run, start_run
from evals.runs import Result, Run, find_run, runs_root, stored_runs
from evals.suites import Suite, load_suite, shipped_suites
from evals.summary import Group, summarise
from evals.support import open_support
from evals.targets import open_target

Record = dict[str, Any]
Progress = Callable[[int, int, int], None]
"""Cases done, cases in all, cases passed."""


class Workbench:
    """Runs this assistant over one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._root = runs_root(data_dir)

    def suites(self) -> list[Record]:
        """The shipped suites: `name`, `cases`, `languages`."""
        suites = [load_suite(str(path)) for path in shipped_suites()]
        return [
            {
                "name": suite.name,
                "cases": len(suite.cases),
                "languages": sorted({case.language for case in suite.cases}),
            }
            for suite in suites
        ]

    def run(self, name: str, limit: int, on_progress: Progress) -> str:
        """Run a suite, at most `limit` of its cases spread evenly over it, and return the run's id.

        Raises:
            SuiteError, TargetError, RunError: it can't be run.
        """
        suite = load_suite(name)
        step = max(1, -(-len(suite.cases) // limit))
        suite = Suite(suite.name, suite.folder, suite.cases[::step])
        target = open_target("advisor", overrides={"data_dir": str(self._data_dir)})
        folder, manifest = start_run(suite, target, self._root)
        results: list[Result] = []

        def progress(result: Result) -> None:
            results.append(result)
            on_progress(len(results), len(suite.cases), sum(one.passed for one in results))

        on_progress(0, len(suite.cases), 0)
        complete_run(folder, manifest, suite, target, open_support("offline", None), on_result=progress)
        return manifest.id

    def runs(self) -> list[Record]:
        """Stored runs, newest first: `id`, `suite`, `started`, `cases`, `pass`, `strict`, `complete`."""
        rows = []
        for path in stored_runs(self._root):
            run = find_run(self._root, path.name).read()
            total = summarise(run).total
            rows.append(
                {
                    "id": run.manifest.id,
                    "suite": run.manifest.suite,
                    "started": run.manifest.started,
                    "complete": run.manifest.finished is not None,
                    **_rates(total),
                }
            )
        return sorted(rows, key=lambda row: row["started"], reverse=True)

    def show(self, run_id: str) -> Record:
        """One run: `id`, `suite`, the rates in all, `topics` with theirs, and `failed` cases with reasons.

        Raises:
            RunError: there is no such run.
        """
        run = self._read(run_id)
        summary, cases = summarise(run), run.cases()
        return {
            "id": run.manifest.id,
            "suite": run.manifest.suite,
            **_rates(summary.total),
            "topics": [{"topic": group.name, **_rates(group)} for group in summary.topics],
            "failed": [
                {
                    "id": result.case_id,
                    "question": cases[result.case_id].turns[-1],
                    "reason": result.error or "; ".join(result.reasons.values()),
                }
                for result in run.results
                if not result.passed
            ],
        }

    def case(self, run_id: str, case_id: str) -> Record:
        """One result: `turns`, `answer` (None after an error), `error`, `scores`, `reasons`.

        Raises:
            RunError: there is no such run.
            SuiteError: it has no such case.
        """
        run = self._read(run_id)
        for result in run.results:
            if result.case_id == case_id:
                return {
                    "id": case_id,
                    "turns": list(run.cases()[case_id].turns),
                    "answer": result.answer,
                    "error": result.error,
                    "passed": result.passed,
                    "scores": result.scores,
                    "reasons": result.reasons,
                }
        raise SuiteError(f"Run {run_id} has no result for case {case_id!r}.")

    def compare(self, first: str, second: str) -> Record:
        """What changed from the first run to the second: `metrics` (`before`, `after`, more than `noise`) and the
        cases that got `better` and `worse`.

        Raises:
            RunError: a run is unknown, or they share no case.
        """
        comparison = compare_runs(self._read(first), self._read(second))
        passing = next((change for change in comparison.changes if change.metric == "pass"), None)
        return {
            "cases": comparison.cases,
            "metrics": [
                {
                    "metric": change.metric,
                    "before": change.first,
                    "after": change.second,
                    "noise": not change.difference.more_than_noise,
                }
                for change in comparison.changes
            ],
            "better": list(passing.better) if passing else [],
            "worse": list(passing.worse) if passing else [],
        }

    def _read(self, run_id: str) -> Run:
        return find_run(self._root, run_id).read()


def _rates(group: Group) -> Record:
    rates = {name: group.metrics[name].mean if name in group.metrics else None for name in ("pass", "strict")}
    return {"cases": group.cases, "errors": group.errors, **rates}
