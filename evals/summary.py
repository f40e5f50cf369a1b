"""A run in figures: every metric with its interval, over all and by topic and language; refusal and consistency."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evals.metrics.consistency import Consistency, consistency
from evals.metrics.refusal import Refusal, refusal
from evals.runs import Result, Run, by_case
from evals.schema import Case
from evals.statistics import Estimate, estimate

VERDICTS = ("pass", "strict", "sound")
RATES = (
    *VERDICTS,
    "status",
    "key_points",
    "must_not",
    "numbers",
    "tools",
    "sources",
    "marks",
    "language",
    "citation_recall",
    "citation_precision",
    "injection",
    "hit@4",
    "recall@10",
    "mrr@10",
    "ndcg@10",
)
"""Metrics from 0 to 1, in the order of the reports."""
FIGURES = ("characters", "latency_ms", "seconds", "cost")
NAMED = (*RATES, *FIGURES, "refusal_precision", "refusal_recall", "refusal_f1", "consistency")
"""Every name that `Summary.metric` knows."""


@dataclass(frozen=True, slots=True)
class Group:
    """The metrics of some of the cases; a metric that applies to none of them is missing."""

    name: str
    cases: int
    errors: int
    metrics: dict[str, Estimate]


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole run."""

    total: Group
    topics: tuple[Group, ...]
    languages: tuple[Group, ...]
    refusal: Refusal
    consistency: tuple[Consistency, ...]
    median: dict[str, float]
    """Medians of `FIGURES`."""
    p95: dict[str, float]

    def metric(self, name: str) -> float | None:
        """A figure by name, also `refusal_f1`, `refusal_precision`, `refusal_recall` and `consistency`."""
        if name.startswith("refusal_"):
            value: float | None = getattr(self.refusal, name.removeprefix("refusal_"), None)
            return value
        if name == "consistency":
            return sum(c.agreement for c in self.consistency) / len(self.consistency) if self.consistency else None
        if name in self.median:
            return self.median[name]
        found = self.total.metrics.get(name)
        return found.mean if found else None


def value_of(result: Result, metric: str) -> float | None:
    """One metric of one result. An error is worth 0 in the verdicts and the status, and nothing elsewhere."""
    match metric:
        case "pass":
            return float(result.passed)
        case "strict":
            return float(result.strict)
        case "sound":
            return float(result.sound)
        case "seconds":
            return result.seconds
        case "status" if result.error:
            return 0.0
    return result.scores.get(metric)


def case_means(results: Iterable[Result], metric: str) -> dict[str, float]:
    """The metric of each case, mean over its repeats; cases that it doesn't apply to are missing."""
    means = {}
    for case_id, repeats in by_case(results).items():
        values = [value for result in repeats if (value := value_of(result, metric)) is not None]
        if values:
            means[case_id] = sum(values) / len(values)
    return means


def summarise(run: Run) -> Summary:
    """All figures of a run. Intervals are over cases, with repeats averaged first, seeded by the run's seed."""
    cases = run.cases()
    results = [result for result in run.results if result.case_id in cases]
    first = {result.case_id: result for result in results if result.repeat == 0}

    def grouped(key: Callable[[Case], str]) -> tuple[Group, ...]:
        names = sorted({key(cases[result.case_id]) for result in results})
        return tuple(
            _group(name, [r for r in results if key(cases[r.case_id]) == name], run.manifest.seed) for name in names
        )

    sorted_figures = {name: sorted(v for r in results if (v := value_of(r, name)) is not None) for name in FIGURES}
    filled = {name: values for name, values in sorted_figures.items() if values}
    return Summary(
        total=_group("all", results, run.manifest.seed),
        topics=grouped(lambda case: case.topic),
        languages=grouped(lambda case: case.language),
        refusal=refusal((cases[r.case_id], r.answer.status if r.answer else None) for r in results),
        consistency=tuple(consistency((cases[i], r.answer) for i, r in first.items())),
        median={name: values[len(values) // 2] for name, values in filled.items()},
        p95={name: values[min(len(values) - 1, int(0.95 * len(values)))] for name, values in filled.items()},
    )


def _group(name: str, results: list[Result], seed: int) -> Group:
    found = {metric: estimate(list(case_means(results, metric).values()), seed) for metric in (*RATES, *FIGURES)}
    return Group(
        name,
        cases=len({result.case_id for result in results}),
        errors=sum(bool(result.error) for result in results),
        metrics={metric: value for metric, value in found.items() if value is not None},
    )
