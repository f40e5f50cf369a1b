"""`python -m evals.quality` writes docs/quality.md: the shipped default beside plain LangChain retrieval."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from tqdm import tqdm

from evals.compare import compare_runs
from evals.reports.markdown import group_table
from evals.reports.terminal import with_interval
from evals.runner import complete_run, start_run
from evals.runs import Run
from evals.suites import SHIPPED, Suite, load_suite
from evals.summary import Summary, summarise
from evals.support import open_support
from evals.targets import Target, open_target
from knowledge.shipped import shipped_paths

SEED_SUITE = "seeds"
"""Needs the two seed articles, which aren't part of the project: it runs when they are given."""


@click.command()
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), default=Path("docs/quality.md"), show_default=True
)
@click.option("--suite", "names", multiple=True, help="Only these suites; default: all shipped ones.")
@click.option(
    "--seed-articles",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="ADVISOR_SEED_ARTICLES",
    help="Folder of the two seed articles, for the suite `seeds`.",
)
@click.option("--jobs", default=2, show_default=True)
def main(out: Path, names: Sequence[str], seed_articles: Path | None, jobs: int) -> None:
    """Write the scores of the shipped default, with intervals, by topic and language, beside the baseline's."""
    chosen = list(names) or [path.stem for path in sorted(SHIPPED.glob("*.jsonl"))]
    if seed_articles is None and SEED_SUITE in chosen:
        chosen.remove(SEED_SUITE)
        click.echo("Suite `seeds` is left out: give --seed-articles FOLDER.", err=True)
    shipped = (open_target("advisor", documents=shipped_paths()), open_target("baseline"))
    sections = []
    for name in chosen:
        suite = load_suite(name)
        ours, theirs = shipped
        if seed_articles and name == SEED_SUITE:
            articles = sorted(seed_articles.iterdir())
            ours, theirs = (open_target(kind, documents=articles) for kind in ("advisor", "baseline"))
        sections.append(_section(suite, _measure(suite, ours, jobs), _measure(suite, theirs, jobs)))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(_page(sections), encoding="utf-8")
    click.echo(f"{out} written.")


def _measure(suite: Suite, target: Target, jobs: int) -> Run:
    with tempfile.TemporaryDirectory(prefix="advisor-quality-") as folder, tqdm(disable=None, unit="case") as bar:
        stored, manifest = start_run(suite, target, Path(folder))
        bar.total = len(suite.cases)
        bar.set_description(f"{suite.name}, {manifest.target['kind']}")
        return complete_run(
            stored, manifest, suite, target, open_support("offline"), jobs=jobs, on_result=lambda _: bar.update()
        )


def _page(sections: Sequence[str]) -> str:
    return (
        "# Quality\n\n"
        "Scores of the shipped default (no chat model, default encoder) and, beside them, of plain LangChain "
        "retrieval: the same encoder, `RecursiveCharacterTextSplitter` with 500 characters, an exact vector index, "
        "the four best passages as the answer. Brackets hold 95% bootstrap intervals over cases; what each score means "
        "stands in [evaluation.md](evaluation.md).\n\n"
        f"Written by `make quality` on {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, "
        f"{platform.machine()}.\n\n" + "\n".join(sections)
    )


def _section(suite: Suite, ours: Run, theirs: Run) -> str:
    mine, other = summarise(ours), summarise(theirs)
    target = ours.manifest.target
    lines = [
        f"## {suite.name}",
        "",
        f"{len(suite.cases)} cases, suite `{suite.hash}`; version {target['version']}, encoder `{target['encoder']}`, "
        f"index `{target['index']}` of {target['documents']} documents.",
        "",
        "| | default | LangChain retrieval |",
        "|---|---|---|",
        *(_row(name, mine, other) for name in mine.total.metrics if name not in ("seconds", "latency_ms", "cost")),
        *_whole_run_rows(mine, other),
        "",
        *_verdicts(theirs, ours),
        "",
        *group_table([*mine.topics, *mine.languages]),
        "",
    ]
    return "\n".join(lines)


def _row(name: str, mine: Summary, other: Summary) -> str:
    if name == "characters":
        return f"| median characters | {mine.median[name]:,.0f} | {other.median[name]:,.0f} |"
    return f"| {name} | {with_interval(mine.total.metrics[name])} | {with_interval(other.total.metrics.get(name))} |"


def _whole_run_rows(mine: Summary, other: Summary) -> list[str]:
    rows = []
    for name in ("refusal_f1", "consistency"):
        values = [summary.metric(name) for summary in (mine, other)]
        if values[0] is not None:
            shown = " | ".join("-" if value is None else f"{value:.1%}" for value in values)
            rows.append(f"| {name} | {shown} |")
    return rows


def _verdicts(baseline: Run, ours: Run) -> list[str]:
    lines = []
    for change in compare_runs(baseline, ours).changes:
        if change.metric in ("pass", "strict"):
            d = change.difference
            lines.append(
                f"`{change.metric}`: {100 * d.mean:+.1f} points [{100 * d.low:+.1f}, {100 * d.high:+.1f}] over the "
                f"baseline; {d.better} cases better, {d.worse} worse, p = {d.p:.2g}.  "
            )
    return lines


if __name__ == "__main__":
    main()
