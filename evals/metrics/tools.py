"""Tools: the share of the expected calculations that ran, with at least the expected arguments.

Exact match on the name; an argument matches within 1e-6 for numbers and without case for text, on its plain value.
"""

from __future__ import annotations

from typing import Any

from assistant.schema import Answer, ToolRun
from evals.metrics.base import Score
from evals.numbers import close
from evals.schema import Case, ExpectedTool


class ToolsMetric:
    """Share of expected calculations that ran."""

    name = "tools"

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to cases that expect calculations."""
        expected = case.expect.tools
        if not expected:
            return None
        missed = [tool for tool in expected if not any(_matches(tool, run) for run in answer.tool_runs)]
        reason = "not run as expected: " + " | ".join(tool.name for tool in missed) if missed else ""
        return Score(1 - len(missed) / len(expected), reason)


def _matches(tool: ExpectedTool, run: ToolRun) -> bool:
    return run.tool == tool.name and all(
        name in run.inputs and _same(run.inputs[name].value, wanted) for name, wanted in tool.arguments.items()
    )


def _same(got: Any, wanted: Any) -> bool:
    numeric = [isinstance(v, int | float) and not isinstance(v, bool) for v in (got, wanted)]
    if all(numeric):
        return close(float(got), float(wanted), 1e-6)
    if isinstance(got, str) and isinstance(wanted, str):
        return got.casefold() == wanted.casefold()
    return bool(got == wanted)
