"""Marks: every mark has its citation or tool run, every citation its mark and a quote, every answer some mark."""

from __future__ import annotations

from assistant.schema import Answer
from evals.metrics.base import Score
from evals.schema import Case
from evals.text import marks


def mark_faults(answer: Answer) -> list[str]:
    """What is wrong between marks, citations and tool runs; empty when nothing is."""
    used = set(marks(answer.text))
    cited = {str(citation.n) for citation in answer.citations}
    runs = {run.n for run in answer.tool_runs}
    faults = [f"mark [{m}] without citation" for m in sorted(used - cited) if not m.startswith("T")]
    faults += [f"mark [{m}] without tool run" for m in sorted(used - runs) if m.startswith("T")]
    faults += [f"citation {n} unused" for n in sorted(cited - used)]
    faults += [f"citation {c.n} without quote" for c in answer.citations if not c.quote.strip()]
    if answer.status == "answered" and not used:
        faults.append("answer without any mark")
    return faults


class MarksMetric:
    """1 when nothing is wrong."""

    name = "marks"

    def score(self, case: Case, answer: Answer) -> Score:
        """Applies to every case."""
        faults = mark_faults(answer)
        return Score(0.0 if faults else 1.0, "; ".join(faults))
