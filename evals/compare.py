"""Two runs of one suite, paired case by case: what got better and worse, and whether it is more than noise."""

from __future__ import annotations

from dataclasses import dataclass

from evals.errors import RunError
from evals.runs import Run
from evals.statistics import Difference, paired_difference
from evals.summary import RATES, case_means


@dataclass(frozen=True, slots=True)
class Change:
    """One metric over the cases that both runs have."""

    metric: str
    first: float
    second: float
    difference: Difference
    better: tuple[str, ...]
    """Ids of the cases."""
    worse: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Second run against first."""

    first: str
    second: str
    cases: int
    only_in_one: int
    changed_cases: tuple[str, ...]
    """Ids whose question or expectation differs between the runs; they are left out."""
    changes: tuple[Change, ...]


def compare_runs(first: Run, second: Run) -> Comparison:
    """Pair the runs on equal cases.

    Raises:
        RunError: they share no case.
    """
    ours, theirs = first.cases(), second.cases()
    shared = [case_id for case_id in ours if case_id in theirs]
    changed = tuple(i for i in shared if (ours[i].turns, ours[i].expect) != (theirs[i].turns, theirs[i].expect))
    paired = [case_id for case_id in shared if case_id not in changed]
    if not paired:
        raise RunError(f"{first.manifest.id} and {second.manifest.id} share no case; compare runs of one suite.")
    changes = []
    for metric in RATES:
        before, after = case_means(first.results, metric), case_means(second.results, metric)
        ids = [i for i in paired if i in before and i in after]
        if not ids:
            continue
        a, b = [before[i] for i in ids], [after[i] for i in ids]
        changes.append(
            Change(
                metric,
                sum(a) / len(a),
                sum(b) / len(b),
                paired_difference(a, b),
                tuple(i for i in ids if after[i] > before[i] + 1e-9),
                tuple(i for i in ids if after[i] < before[i] - 1e-9),
            )
        )
    return Comparison(
        first.manifest.id,
        second.manifest.id,
        len(paired),
        len(ours) + len(theirs) - 2 * len(shared),
        changed,
        tuple(changes),
    )
