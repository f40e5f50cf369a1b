"""`pytest --advisor-suite SUITE`: a test a case, against any target. Every pytest run imports it: it stays light."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evals.metrics.base import CaseMetric
    from evals.schema import Case
    from evals.targets import Target


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("advisor", "suites of questions with reference answers")
    group.addoption("--advisor-suite", action="append", default=[], metavar="SUITE", help="a file or a shipped suite")
    group.addoption("--advisor-target", default="advisor", metavar="TARGET", help="as of `advisor eval run --target`")
    group.addoption("--advisor-verdict", default="pass", choices=["pass", "strict", "sound"], help="what a case needs")


def pytest_configure(config: pytest.Config) -> None:
    """Collect the suites' files: beside the paths given, or instead of the project's test folder."""
    suites = config.getoption("--advisor-suite")
    if not suites:
        return
    paths = [str(_suite_path(name)) for name in suites]
    given = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
    config.args = [*given, *paths]


def _suite_path(name: str) -> Path:
    from evals.suites import SHIPPED

    shipped = SHIPPED / f"{name}.jsonl"
    path = Path(name)
    return (shipped if not path.exists() and shipped.exists() else path).resolve()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """A suite that was asked for."""
    asked = parent.config.getoption("--advisor-suite")
    if file_path.suffix == ".jsonl" and file_path in {_suite_path(name) for name in asked}:
        return SuiteFile.from_parent(parent, path=file_path)
    return None


class SuiteFile(pytest.File):
    """One suite."""

    def collect(self) -> Iterator[CaseItem]:
        """Its cases."""
        from evals.errors import SuiteError
        from evals.suites import load_suite

        try:
            suite = load_suite(str(self.path))
        except SuiteError as error:
            raise self.CollectError(str(error)) from error
        for case in suite.cases:
            yield CaseItem.from_parent(self, name=case.id, case=case)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.case = case

    def runtest(self) -> None:
        """Ask and score; fails with the reasons."""
        from evals.runner import run_case

        target, metrics = _tools(self.config)
        result = run_case(self.case, 0, self.path.parent, target, metrics)
        wanted = self.config.getoption("--advisor-verdict")
        self.add_report_section("call", "answer", result.answer.text if result.answer else "")
        if not {"pass": result.passed, "strict": result.strict, "sound": result.sound}[wanted]:
            reasons = [result.error] if result.error else [f"{k}: {v}" for k, v in result.reasons.items()]
            pytest.fail(f"not {wanted}: {self.case.question}\n  " + "\n  ".join(reasons), pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Suite and case."""
        return self.path, None, f"{self.path.stem}::{self.case.id}"


_opened = pytest.StashKey[tuple["Target", "list[CaseMetric]"]]()


def _tools(config: pytest.Config) -> tuple[Target, list[CaseMetric]]:
    """Target and metrics, opened once a process."""
    if _opened not in config.stash:
        from evals.scoring import case_metrics
        from evals.support import open_support
        from evals.targets import open_target

        target = open_target(config.getoption("--advisor-target"))
        config.stash[_opened] = (target, case_metrics(open_support("offline")))
    return config.stash[_opened]
