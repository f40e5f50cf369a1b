"""`python -m evals.gate`: a fast subset in CI; fails when it scores below what is stored by more than noise."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from evals.runner import complete_run, start_run
from evals.runs import Run
from evals.statistics import paired_difference
from evals.suites import Suite, load_suite
from evals.summary import case_means
from evals.support import open_support
from evals.targets import Target, open_target
from knowledge.shipped import shipped_paths

STORED = Path(__file__).with_name("stored_scores.json")
SUITES = {"documents": 1, "paraphrase": 3}
"""Suite and the stride through it: every case, every third."""
METRICS = ("pass", "strict", "sound")


@click.command()
@click.option("--update", is_flag=True, help="Store the scores of now as what must be held.")
@click.option("--jobs", default=2, show_default=True)
def main(update: bool, jobs: int) -> None:
    """Run the subset and compare case by case with the stored scores (exact sign test, 5%)."""
    stored = {} if update else json.loads(STORED.read_text(encoding="utf-8"))
    target = open_target("advisor", documents=shipped_paths())
    scores = {}
    worse = []
    for name, stride in SUITES.items():
        suite = load_suite(name)
        subset = Suite(suite.name, suite.folder, suite.cases[::stride])
        run = _run(subset, target, jobs)
        scores[name] = {metric: case_means(run.results, metric) for metric in METRICS}
        if not update:
            worse += _compare(name, stored.get(name, {}), scores[name])
    if update:
        STORED.write_text(json.dumps(scores, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        click.echo(f"{STORED.name} written.")
    if worse:
        raise click.ClickException("Below the stored scores by more than noise:\n" + "\n".join(worse))


def _run(suite: Suite, target: Target, jobs: int) -> Run:
    with tempfile.TemporaryDirectory(prefix="advisor-gate-") as folder:
        stored, manifest = start_run(suite, target, Path(folder))
        return complete_run(stored, manifest, suite, target, open_support("offline"), jobs=jobs)


def _compare(name: str, stored: Mapping[str, Mapping[str, float]], now: Mapping[str, Any]) -> list[str]:
    worse = []
    for metric in METRICS:
        before = stored.get(metric, {})
        ids = sorted(before.keys() & now[metric].keys())
        if not ids:
            click.echo(f"{name} {metric}: nothing stored; run `python -m evals.gate --update`.")
            continue
        first, second = [before[i] for i in ids], [now[metric][i] for i in ids]
        change = paired_difference(first, second)
        fallen = [i for i, a, b in zip(ids, first, second, strict=True) if b < a]
        line = (
            f"{name} {metric}: {sum(second) / len(ids):.1%}, stored {sum(first) / len(ids):.1%}, "
            f"{change.better} better, {change.worse} worse, p = {change.p:.3f}"
        )
        click.echo(line)
        if change.mean < 0 and change.more_than_noise:
            worse.append(f"{line}; fallen: {', '.join(fallen)}")
    return worse


if __name__ == "__main__":
    main()
