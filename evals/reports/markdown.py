"""A run as Markdown: the summary for a pull request."""

from __future__ import annotations

from evals.reports.terminal import with_interval
from evals.runs import Run
from evals.summary import Group, Summary

_SHOWN = ("pass", "strict", "sound", "sources", "citation_recall", "citation_precision")


def markdown(run: Run, summary: Summary, *, failing: int = 20) -> str:
    """Title, verdicts with intervals, a table by topic and language, and the first failing cases."""
    manifest = run.manifest
    target = ", ".join(f"{k} {v}" for k, v in manifest.target.items() if isinstance(v, str | int))
    lines = [
        f"### {cell(manifest.suite)}: {with_interval(summary.total.metrics.get('pass'))} pass, "
        f"{with_interval(summary.total.metrics.get('strict'))} strict",
        "",
        f"{summary.total.cases} cases, suite `{manifest.suite_hash}`, {cell(target)}. "
        "Brackets: 95% bootstrap interval.",
        "",
        *group_table([summary.total, *summary.topics, *summary.languages]),
        "",
    ]
    cases = run.cases()
    failed = [r for r in run.results if not r.passed]
    if failed:
        lines += [
            f"<details><summary>{len(failed)} failing</summary>",
            "",
            "| case | question | why |",
            "|---|---|---|",
        ]
        for result in failed[:failing]:
            why = result.error or "; ".join(f"{k}: {v}" for k, v in result.reasons.items())
            question = cases[result.case_id].question
            lines.append(f"| {cell(result.case_id)} | {cell(question[:120])} | {cell(why[:200])} |")
        if len(failed) > failing:
            lines.append(f"| … | {len(failed) - failing} more | |")
        lines += ["", "</details>", ""]
    return "\n".join(lines)


def group_table(groups: list[Group]) -> list[str]:
    """A Markdown table of groups by the metrics that matter most, with intervals."""
    lines = ["| | cases | " + " | ".join(_SHOWN) + " |", "|---|--:|" + "---|" * len(_SHOWN)]
    for group in groups:
        values = " | ".join(with_interval(group.metrics.get(metric)) for metric in _SHOWN)
        lines.append(f"| {cell(group.name)} | {group.cases} | {values} |")
    return lines


def cell(text: str) -> str:
    """Text that can't break out of a table cell or start markup."""
    flat = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`").replace("[", "\\[").replace("*", "\\*")
