"""The evaluations page: run a suite, see results by topic, open a case that failed, compare with an earlier run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Protocol

from assistant.schema import Language
from ui.layout import heading, html
from ui.markdown import answer_html
from ui.words import word

Record = Mapping[str, Any]
MAX_CASES = 500
DEFAULT_CASES = 30


class Evaluations(Protocol):
    """Suites and runs. The command line brings one; without it the page says so."""

    def suites(self) -> Sequence[Record]:
        """`name`, `cases`, `languages`."""

    def run(self, name: str, limit: int, on_progress: Callable[[int, int, int], None]) -> str:
        """Run a suite and return the run's id; progress is cases done, in all, passed."""

    def runs(self) -> Sequence[Record]:
        """`id`, `suite`, `started`, `cases`, `pass`, `strict`, `complete`, newest first."""

    def show(self, run_id: str) -> Record:
        """A run with `topics` and `failed`."""

    def case(self, run_id: str, case_id: str) -> Record:
        """A result with its `answer`."""

    def compare(self, first: str, second: str) -> Record:
        """`metrics`, `better` and `worse`."""


def build() -> None:
    """The page; its content is fetched by the page's script."""
    heading("nav_evaluations", "evaluations")
    html('<div class="page" data-load="/ui/evaluations"></div>', elem_id="evaluations")


def evaluations_html(evaluations: Evaluations, language: Language) -> str:
    """The page's content."""

    def say(key: str) -> str:
        return word(key, language)

    options = "".join(
        f'<option value="{escape(suite["name"])}">{escape(suite["name"])} · {suite["cases"]} {say("cases")} · '
        f"{escape(', '.join(suite['languages']))}</option>"
        for suite in evaluations.suites()
    )
    return (
        f'<h1>{say("evaluations")}</h1><p class="lead">{say("evaluations_lead")}</p>'
        f'<section><form class="row" data-job="/ui/evaluations/runs" data-into="#jobs"><label>{say("suite")}'
        f'<select name="suite">{options}</select></label><label>{say("limit")}<input type="number" name="limit" '
        f'value="{DEFAULT_CASES}" min="1" max="{MAX_CASES}"></label><button type="submit" class="primary">{say("run")}'
        f'</button></form><div id="jobs"></div></section><section><h2>{say("runs")}</h2>'
        f'<div id="runs">{runs_html(evaluations.runs(), language)}</div></section><section id="run"></section>'
        f'<section id="case"></section>'
    )


def runs_html(runs: Sequence[Record], language: Language) -> str:
    """Stored runs; each opens, and any two of a suite can be compared."""
    if not runs:
        return f'<p class="empty">{word("no_runs", language)}</p>'
    columns = ("run", "suite", "started", "cases", "pass_rate", "strict_rate")
    head = "".join(f'<th scope="col">{word(key, language)}</th>' for key in columns)
    rows = "".join(
        f'<tr><td><a href="#run" data-fragment="/ui/evaluations/runs/{escape(run["id"])}" data-into="#run">'
        f"{escape(run['id'])}</a></td><td>{escape(run['suite'])}</td><td>{run['started']:%Y-%m-%d %H:%M}</td>"
        f"<td>{run['cases']}</td><td>{_rate(run['pass'])}</td><td>{_rate(run['strict'])}</td></tr>"
        for run in runs
    )
    return _table(head, rows, word("runs", language))


def run_html(run: Record, earlier: Sequence[Record], language: Language) -> str:
    """One run: rates by topic, cases that failed, and earlier runs of the suite to compare with."""

    def say(key: str) -> str:
        return word(key, language)

    head = "".join(f'<th scope="col">{say(key)}</th>' for key in ("topic", "cases", "pass_rate", "strict_rate"))
    topics = "".join(
        f'<tr><th scope="row">{escape(group["topic"])}</th><td>{group["cases"]}</td><td>{_bar(group["pass"])}</td>'
        f"<td>{_bar(group['strict'])}</td></tr>"
        for group in run["topics"]
    )
    others = "".join(
        f'<option value="{escape(other["id"])}">{escape(other["id"])} · {_rate(other["pass"])}</option>'
        for other in earlier
        if other["id"] != run["id"] and other["suite"] == run["suite"]
    )
    comparing = (
        f'<form class="row" data-get="/ui/evaluations/compare" data-into="#comparison">'
        f'<input type="hidden" name="second" value="{escape(run["id"])}"><label>{say("compare_with")}'
        f'<select name="first">{others}</select></label><button type="submit" class="primary">{say("compare")}</button>'
        f'</form><div id="comparison" aria-live="polite"></div>'
        if others
        else ""
    )
    failed = "".join(
        f'<tr><td><a href="#case" data-fragment="/ui/evaluations/runs/{escape(run["id"])}/{escape(case["id"])}" '
        f'data-into="#case">{escape(case["id"])}</a></td><td>{escape(case["question"])}</td>'
        f'<td class="note">{escape(case["reason"][:300])}</td></tr>'
        for case in run["failed"]
    )
    failed_head = "".join(f'<th scope="col">{say(key)}</th>' for key in ("case", "your_question", "reason"))
    return (
        f"<h2>{escape(run['id'])}</h2><p>{say('pass_rate')} {_rate(run['pass'])} · {say('strict_rate')} "
        f"{_rate(run['strict'])} · {run['cases']} {say('cases')}</p>{comparing}<h3>{say('by_topic')}</h3>"
        f"{_table(head, topics, say('by_topic'))}<h3>{say('failed_cases')} ({len(run['failed'])})</h3>"
        f"{_table(failed_head, failed, say('failed_cases')) if failed else say('all_passed')}"
    )


def case_html(case: Record, language: Language) -> str:
    """One answer of a run with what each metric said of it."""
    answer = case["answer"]
    questions = "".join(f'<div class="question"><p>{escape(turn)}</p></div>' for turn in case["turns"])
    said = (
        f'<div class="text">{answer_html(answer.text, (), language)}</div>'
        if answer is not None
        else f'<p class="error">{escape(case["error"])}</p>'
    )
    scores = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{value:.3g}</td>'
        f'<td class="note">{escape(case["reasons"].get(name, ""))}</td></tr>'
        for name, value in case["scores"].items()
    )
    return (
        f'<h2>{escape(case["id"])}</h2>{questions}<div class="answer">{said}</div>'
        f"{_table('', scores, word('score', language)) if scores else ''}"
    )


def comparison_html(comparison: Record, first: str, second: str, language: Language) -> str:
    """What changed from one run to the other."""
    head = "<td></td>" + "".join(
        f'<th scope="col">{word(key, language)}</th>' for key in ("before", "after", "changed")
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(change["metric"])}</th><td>{_rate(change["before"])}</td>'
        f'<td>{_rate(change["after"])}</td><td class="{_kind(change)}">{change["after"] - change["before"]:+.1%}'
        f"{' ≈' if change['noise'] else ''}</td></tr>"
        for change in comparison["metrics"]
    )
    cases = "".join(
        f'<li class="{kind}">{sign} <a href="#case" data-fragment="/ui/evaluations/runs/{escape(run)}/{escape(case)}" '
        f'data-into="#case">{escape(case)}</a></li>'
        for kind, sign, run, names in (
            ("pass", "▲", second, comparison["better"]),
            ("fail", "▼", second, comparison["worse"]),
        )
        for case in names
    )
    changed = f"<ul>{cases}</ul>" if cases else f"<p>{word('nothing_changed', language)}</p>"
    return (
        f'<p class="note">{escape(first)} → {escape(second)} · {comparison["cases"]} {word("cases", language)}</p>'
        f"{_table(head, rows, word('compare', language))}{changed}"
    )


def _kind(change: Record) -> str:
    if change["noise"]:
        return ""
    return "pass" if change["after"] > change["before"] else "fail"


def _rate(value: float | None) -> str:
    return "—" if value is None else f"{value:.1%}"


def _bar(value: float | None) -> str:
    width = 0 if value is None else round(value * 90)
    return f'<span class="bar" style="width:{width}px" aria-hidden="true"></span> {_rate(value)}'


def _table(head: str, rows: str, label: str) -> str:
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table>{top}'
        f"<tbody>{rows}</tbody></table></div>"
    )
