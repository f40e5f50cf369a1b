"""`advisor eval`: list, run, compare, show, export, import, agreement."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assistant.settings import load_settings
from evals.errors import SuiteError, TargetError

if TYPE_CHECKING:
    from evals.runs import Run
    from evals.suites import Suite
    from evals.support import Support
    from evals.targets import Target

_new_file = click.Path(dir_okay=False, writable=True, path_type=Path)
_API_KEY = "ADVISOR_EVAL_API_KEY"


@click.group()
def evals() -> None:
    """Run suites of questions against reference answers, on this assistant or on any other.

    \b
    advisor eval run documents --html report.html
    advisor eval run suite.jsonl --target openai:http://127.0.0.1:8000/v1#some-model
    advisor eval compare 20260101 last
    """


@evals.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List the shipped suites and the stored runs."""
    from evals.runs import RunFolder, stored_runs
    from evals.suites import load_suite, shipped_suites
    from evals.summary import summarise

    suites = []
    for path in shipped_suites():
        suite = load_suite(str(path))
        languages = sorted({case.language for case in suite.cases})
        suites.append({"name": suite.name, "cases": len(suite.cases), "languages": languages, "hash": suite.hash})
    runs = []
    for path in stored_runs(_root()):
        run = RunFolder(path).read()
        passed = summarise(run).metric("pass")
        done = run.manifest.finished is not None
        runs.append({"id": run.manifest.id, "suite": run.manifest.suite, "pass": passed, "complete": done})
    if as_json:
        click.echo(json.dumps({"suites": suites, "runs": runs}, ensure_ascii=False, indent=1))
        return
    for suite_row in suites:
        click.echo(f"{suite_row['name']:16} {suite_row['cases']:>5} cases  {suite_row['hash']}")
    for run_row in runs:
        rate = "-" if run_row["pass"] is None else f"{run_row['pass']:.1%}"
        click.echo(f"{run_row['id']:48} {rate:>7} pass{'' if run_row['complete'] else '  (interrupted)'}")


@evals.command("run")
@click.argument("suite_name", metavar="SUITE")
@click.option(
    "--target",
    "target_spec",
    default="advisor",
    show_default=True,
    help="advisor, baseline, http://HOST, openai:URL#MODEL.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the assistant in process, as encoder=…"
)
@click.option(
    "--documents", multiple=True, type=click.Path(exists=True, path_type=Path), help="Answer from these files alone."
)
@click.option("--topic", multiple=True, help="Only these topics (globs).")
@click.option("--language", multiple=True, type=click.Choice(["zh", "en", "mixed"]))
@click.option("--id", "ids", multiple=True, help="Only these cases (globs).")
@click.option("--repeat", default=1, type=click.IntRange(1, 100), show_default=True)
@click.option("--jobs", default=2, type=click.IntRange(1, 64), show_default=True, help="Cases at a time.")
@click.option("--seed", default=0, show_default=True, help="Of the order and of the intervals.")
@click.option("--resume", metavar="RUN", help="Go on with an interrupted run.")
@click.option(
    "--support",
    "support_spec",
    default="offline",
    show_default=True,
    help="offline, cross-encoder:NAME, judge:URL#MODEL.",
)
@click.option("--html", "html_file", type=_new_file, help="Write a self-contained report.")
@click.option("--junit", "junit_file", type=_new_file, help="Write JUnit XML.")
@click.option("--markdown", "markdown_file", type=_new_file, help="Write a summary for a pull request.")
@click.option("--json", "as_json", is_flag=True, help="Print the run as JSON instead of the table.")
@click.option("--failures", is_flag=True, help="Print why each failed case failed.")
@click.option("--fail-under", multiple=True, metavar="METRIC=VALUE", help="Exit 1 when a metric is lower.")
def run(
    suite_name: str,
    target_spec: str,
    settings: Sequence[str],
    documents: Sequence[Path],
    topic: Sequence[str],
    language: Sequence[str],
    ids: Sequence[str],
    repeat: int,
    jobs: int,
    seed: int,
    resume: str | None,
    support_spec: str,
    html_file: Path | None,
    junit_file: Path | None,
    markdown_file: Path | None,
    as_json: bool,
    failures: bool,
    fail_under: Sequence[str],
) -> None:
    """Run SUITE (a file, or the name of a shipped suite) and store the answers with their scores."""
    from evals.suites import load_suite
    from evals.support import open_support
    from evals.targets import open_target

    bars = dict(_bar(text) for text in fail_under)
    suite = load_suite(suite_name).select(topics=topic, languages=language, ids=ids)
    key = os.environ.get(_API_KEY)
    overrides = dict(_assignment(text, "--set") for text in settings)
    target = open_target(target_spec, overrides=overrides, documents=list(documents) or None, key=key)
    support = open_support(support_spec, key)
    done = _run(suite, target, support, repeat=repeat, jobs=jobs, seed=seed, resume=resume)
    _report(done, html_file, junit_file, markdown_file, as_json, failures)
    if all(result.error for result in done.results):
        raise TargetError(f"The target answered no case; the first error: {done.results[0].error}")
    _check_bars(done, bars)


def _run(
    suite: Suite, target: Target, support: Support, *, repeat: int, jobs: int, seed: int, resume: str | None
) -> Run:
    from tqdm import tqdm

    from evals.runner import complete_run, resume_run, start_run
    from evals.runs import Result, find_run

    if resume:
        folder = find_run(_root(), resume)
        manifest = resume_run(folder, suite, target)
    else:
        folder, manifest = start_run(suite, target, _root(), repeat=repeat, seed=seed)
    with tqdm(total=len(suite.cases) * manifest.repeat, unit="case", disable=None, file=sys.stderr) as bar:
        seen: list[Result] = []

        def progress(result: Result) -> None:
            seen.append(result)
            n = len(seen)
            bar.set_postfix_str(
                f"pass {sum(r.passed for r in seen) / n:.0%} strict {sum(r.strict for r in seen) / n:.0%} "
                f"errors {sum(bool(r.error) for r in seen)}",
                refresh=False,
            )
            bar.update()

        try:
            return complete_run(folder, manifest, suite, target, support, jobs=jobs, on_result=progress)
        except KeyboardInterrupt:
            bar.close()
            click.echo(f"Interrupted. Go on with: advisor eval run {suite.name} … --resume {manifest.id}", err=True)
            raise click.exceptions.Exit(130) from None


def _report(
    run: Run,
    html_file: Path | None,
    junit_file: Path | None,
    markdown_file: Path | None,
    as_json: bool,
    show_failures: bool,
) -> None:
    from evals.reports.html import html
    from evals.reports.junit import junit
    from evals.reports.markdown import markdown
    from evals.reports.terminal import failures, run_table
    from evals.summary import summarise

    summary = summarise(run)
    for path, text in (
        (html_file, html(run, summary) if html_file else ""),
        (junit_file, junit(run) if junit_file else ""),
        (markdown_file, markdown(run, summary) if markdown_file else ""),
    ):
        if path:
            path.write_text(text, encoding="utf-8")
    if as_json:
        click.echo(json.dumps(run_json(run), ensure_ascii=False))
        return
    click.echo(run_table(run, summary))
    if show_failures:
        click.echo(failures(run))


def run_json(run: Run) -> dict[str, Any]:
    """The manifest, the summary's means with intervals, and every result."""
    from dataclasses import asdict

    from evals.summary import summarise

    return {**run.model_dump(mode="json"), "summary": asdict(summarise(run))}


def _assignment(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise click.UsageError(f"{option} takes NAME=VALUE, not {text!r}.")
    return name.strip(), value.strip()


def _bar(text: str) -> tuple[str, float]:
    from evals.summary import NAMED

    name, value = _assignment(text, "--fail-under")
    if name not in NAMED:
        raise click.UsageError(f"--fail-under knows no metric {name!r}; one of: {', '.join(NAMED)}.")
    try:
        number = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        raise click.UsageError(f"--fail-under {name}={value!r} is not a number.") from None
    return name, number


def _check_bars(run: Run, bars: dict[str, float]) -> None:
    from evals.summary import summarise

    summary = summarise(run)
    low = []
    for name, bar in bars.items():
        value = summary.metric(name)
        if value is None:
            low.append(f"{name} applies to no case of this run")
        elif value < bar:
            low.append(f"{name} is {value:.4g}, below {bar:g}")
    if low:
        raise click.ClickException("; ".join(low) + ".")


@evals.command()
@click.argument("first")
@click.argument("second")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(first: str, second: str, as_json: bool) -> None:
    """Compare run SECOND with run FIRST, case by case. A run is an id, the start of one, a path, or `last`."""
    from dataclasses import asdict

    from evals.compare import compare_runs
    from evals.reports.terminal import comparison_table
    from evals.runs import find_run

    comparison = compare_runs(find_run(_root(), first).read(), find_run(_root(), second).read())
    if as_json:
        record = asdict(comparison)
        for change, row in zip(comparison.changes, record["changes"], strict=True):
            row["more_than_noise"] = change.difference.more_than_noise
        click.echo(json.dumps(record, ensure_ascii=False))
    else:
        click.echo(comparison_table(comparison))


@evals.command()
@click.argument("run_name", metavar="RUN")
@click.argument("case_id", required=False, metavar="[CASE]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--failures", is_flag=True, help="Print why each failed case failed.")
def show(run_name: str, case_id: str | None, as_json: bool, failures: bool) -> None:
    """Show a stored RUN, or one CASE of it with its answer."""
    from evals.runs import find_run

    run = find_run(_root(), run_name).read()
    if case_id is None:
        _report(run, None, None, None, as_json, failures)
        return
    results = [result for result in run.results if result.case_id == case_id]
    if not results:
        raise SuiteError(f"Run {run.manifest.id} has no result for case {case_id!r}.")
    if as_json:
        click.echo(json.dumps([r.model_dump(mode="json") for r in results], ensure_ascii=False))
        return
    case = run.cases()[case_id]
    for result in results:
        click.echo(f"{case_id}  {case.question}\n")
        click.echo(result.answer.text if result.answer else f"error: {result.error}")
        verdict = "sound" if result.sound else "strict" if result.strict else "pass" if result.passed else "fail"
        click.echo(f"\n{verdict}")
        for name, value in result.scores.items():
            reason = result.reasons.get(name, "")
            click.echo(f"  {name:20}{value:>10.4g}  {reason}")


@evals.command()
@click.argument("name", metavar="RUN_OR_SUITE")
@click.argument("file", type=_new_file)
def export(name: str, file: Path) -> None:
    """Write a stored run (.json, .html, .md, .xml) or a suite (.csv, .jsonl) to FILE."""
    from evals.reports.html import html
    from evals.reports.junit import junit
    from evals.reports.markdown import markdown
    from evals.runs import find_run
    from evals.suites import export_csv, load_suite, write_suite
    from evals.summary import summarise

    match file.suffix:
        case ".csv":
            export_csv(load_suite(name).cases, file)
        case ".jsonl":
            write_suite(load_suite(name).cases, file)
        case ".json" | ".html" | ".md" | ".xml" as suffix:
            run = find_run(_root(), name).read()
            if suffix == ".json":
                text = json.dumps(run_json(run), ensure_ascii=False, indent=1)
            elif suffix == ".xml":
                text = junit(run)
            else:
                text = html(run, summarise(run)) if suffix == ".html" else markdown(run, summarise(run))
            file.write_text(text, encoding="utf-8")
        case _:
            raise click.UsageError("FILE must end in .json, .html, .md, .xml (a run), .csv or .jsonl (a suite).")
    click.echo(f"{file} written.")


@evals.command("import")
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("suite", type=_new_file)
def import_(table: Path, suite: Path) -> None:
    """Make a SUITE (.jsonl) of a TABLE (.csv) of questions and answers, such as an old FAQ."""
    from evals.suites import import_csv, write_suite

    cases = import_csv(table)
    write_suite(cases, suite)
    click.echo(f"{suite}: {len(cases)} cases. Look through their key points before you trust a score.")


@evals.command()
@click.option(
    "--support",
    "support_spec",
    default="offline",
    show_default=True,
    help="offline, cross-encoder:NAME, judge:URL#MODEL.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def agreement(support_spec: str, as_json: bool) -> None:
    """Score the labelled right and corrupted answers: what each metric says, and its agreement (kappa)."""
    from evals.labelled import agreement_table, load_labelled, score_labelled
    from evals.support import open_support

    rows = score_labelled(load_labelled(), open_support(support_spec, os.environ.get(_API_KEY)))
    if as_json:
        click.echo(json.dumps([row.record() for row in rows], ensure_ascii=False))
    else:
        click.echo(agreement_table(rows))


def _root() -> Path:
    from evals.runs import runs_root

    return runs_root(load_settings().data_dir)
