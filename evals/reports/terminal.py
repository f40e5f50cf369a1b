"""A run, or two, as a plain table."""

from __future__ import annotations

from evals.compare import Comparison
from evals.runs import Run
from evals.statistics import Estimate
from evals.summary import RATES, Summary

_HEADS = {
    "status": "status",
    "key_points": "keypts",
    "must_not": "clean",
    "numbers": "numbers",
    "tools": "tools",
    "sources": "sources",
    "marks": "marks",
    "language": "lang",
    "citation_recall": "cit.R",
    "citation_precision": "cit.P",
    "injection": "inject",
}


def with_interval(value: Estimate | None) -> str:
    """`83.3% [74.1, 91.2]`, or `-`."""
    return "-" if value is None else f"{value.mean:.1%} [{100 * value.low:.1f}, {100 * value.high:.1f}]"


def run_table(run: Run, summary: Summary) -> str:
    """All, topics and languages by metric; then what concerns the whole run."""
    metrics = [m for m in RATES if m in summary.total.metrics]
    groups = [*summary.topics, None, *summary.languages, None, summary.total]
    width = max(12, *(len(g.name) for g in groups if g))
    lines = [f"{'':{width}} {'cases':>6}" + "".join(f"{_HEADS.get(m, m):>10}" for m in metrics)]
    for group in groups:
        if group is None:
            lines.append("")
            continue
        cells = [f"{group.metrics[m].mean:>10.1%}" if m in group.metrics else f"{'-':>10}" for m in metrics]
        lines.append(f"{group.name:{width}} {group.cases:>6}" + "".join(cells))
    lines.append("")
    for verdict in ("pass", "strict", "sound"):
        lines.append(f"{verdict:<10} {with_interval(summary.total.metrics.get(verdict))} (95%)")
    refusal = summary.refusal
    if refusal.expected:
        shown = [f"{n} {v:.1%}" for n in ("precision", "recall", "f1") if (v := getattr(refusal, n)) is not None]
        lines.append(f"refusal    {', '.join(shown)} ({refusal.expected} cases to decline)")
    if summary.consistency:
        lines.append(f"consistency {summary.metric('consistency'):.1%} over {len(summary.consistency)} groups")
    figures = [f"{name} {summary.median[name]:,.4g} (p95 {summary.p95[name]:,.4g})" for name in summary.median]
    lines.append("median     " + ", ".join(figures))
    if summary.total.errors:
        lines.append(f"errors     {summary.total.errors}")
    lines.append(f"run        {run.manifest.id}")
    return "\n".join(lines)


def failures(run: Run) -> str:
    """Why each failed case failed, one line a reason."""
    cases = run.cases()
    lines = []
    for result in run.results:
        if result.passed:
            continue
        lines.append(f"{result.case_id}  {cases[result.case_id].question}")
        if result.error:
            lines.append(f"    error: {result.error}")
        for name in ("status", "key_points", "must_not", "numbers"):
            if name in result.reasons:
                lines.append(f"    {name}: {result.reasons[name]}")
    return "\n".join(lines)


def comparison_table(comparison: Comparison) -> str:
    """Metric by metric: both means, the difference with its interval, how many cases moved, and the verdict."""
    lines = [
        f"{comparison.first} -> {comparison.second}, {comparison.cases} cases in both",
        f"{'':20}{'first':>8}{'second':>8}{'diff':>8}  {'95% interval':<18}{'better':>7}{'worse':>7}{'p':>8}",
    ]
    for change in comparison.changes:
        d = change.difference
        verdict = (
            ("better" if d.mean > 0 else "WORSE") if d.more_than_noise else "noise" if d.better + d.worse else "same"
        )
        interval = f"[{100 * d.low:+.1f}, {100 * d.high:+.1f}]"
        lines.append(
            f"{change.metric:20}{change.first:>8.1%}{change.second:>8.1%}{100 * d.mean:>+8.1f}  {interval:<18}"
            f"{d.better:>7}{d.worse:>7}{d.p:>8.3f}  {verdict}"
        )
    for change in comparison.changes[:3]:
        for word, ids in (("better", change.better), ("worse", change.worse)):
            if ids:
                lines.append(f"{change.metric}, {word}: {', '.join(ids)}")
    if comparison.changed_cases:
        lines.append(f"left out, since they were rewritten: {', '.join(comparison.changed_cases)}")
    return "\n".join(lines)
