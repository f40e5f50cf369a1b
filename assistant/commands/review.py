"""`review`: questions that were not answered well, worked off with documents; and how the assistant does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assistant.commands.common import json_option, open_advisor, print_json

if TYPE_CHECKING:
    from assistant.review.answering import Outcome
    from assistant.review.items import Item

_STATES = click.Choice(["open", "answered", "done", "all"])


@click.group()
def review() -> None:
    """Questions that ended without an answer or with a thumbs down."""


@review.command("list")
@click.option("--state", type=_STATES, default="open", show_default=True)
@json_option
def review_list(state: str, as_json: bool) -> None:
    """List the questions, most asked first."""
    items = _items(state)
    if as_json:
        print_json([_item_json(item) for item in items])
        return
    for item in items:
        click.echo(f"{item.id[:8]}  {item.state:8}  {item.kind:11}  {item.asked:3}×  {' '.join(item.question.split())}")
    if not items:
        click.echo("Nothing here.")


@review.command("show")
@click.argument("item_id")
@json_option
def review_show(item_id: str, as_json: bool) -> None:
    """Show a question with what was said, and what is said with its document."""
    item = open_advisor().reviews.find(item_id)
    if as_json:
        print_json(_item_json(item))
        return
    click.secho(
        f"{item.id}  {item.state}  {item.kind}  asked {item.asked}×, last {item.last:%Y-%m-%d %H:%M}", bold=True
    )
    for turn in item.turns:
        click.echo(f"> {turn}")
    click.echo(f"\n{item.before}")
    for reason in item.reasons:
        click.secho(f"👎 {reason}", fg="yellow")
    if item.after:
        click.secho(f"\nwith {item.file}:", bold=True)
        click.echo(item.after.text)


@review.command("answer")
@click.argument("item_id")
@click.option("--text", help="The answer, in Markdown; `-` reads it from standard input.")
@click.option("--file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A document that says it.")
@click.option("--title", default="", help="Of the document; otherwise the question.")
@click.option("--collection", default="default", show_default=True, help="Where the document goes.")
@json_option
def review_answer(
    item_id: str, text: str | None, file: Path | None, title: str, collection: str, as_json: bool
) -> None:
    """Answer a question with a new document and see the answer change; without --text or --file an editor opens."""
    from assistant.review.answering import answer_item

    advisor = open_advisor()
    item = advisor.reviews.find(item_id)
    if text == "-":
        text = sys.stdin.read()
    elif text is None and file is None:
        text = click.edit(extension=".md") or ""
        if not text.strip():
            raise click.UsageError("Nothing was written, so nothing is changed.")
    outcome = answer_item(advisor, item, text=text or "", file=file, title=title, collection=collection)
    if as_json:
        print_json(_item_json(outcome.item) | {"changed": outcome.changed, "document_id": outcome.report.document_id})
    else:
        _show_outcome(outcome)
    if not outcome.changed:
        sys.exit(1)


@review.command("done")
@click.argument("item_ids", nargs=-1, required=True)
@click.option("--undo", is_flag=True, help="Take items back.")
def review_done(item_ids: tuple[str, ...], undo: bool) -> None:
    """Mark questions as done, answered or not."""
    reviews = open_advisor().reviews
    for item in [reviews.find(item_id) for item_id in item_ids]:
        state = "done" if not undo else "answered" if item.after and item.after.status == "answered" else "open"
        reviews.set_state(item, state)  # type: ignore[arg-type]
        click.echo(f"{item.id[:8]}  {state}")


@review.command("export")
@click.argument("file", type=click.Path(dir_okay=False, writable=True, path_type=Path))
def review_export(file: Path) -> None:
    """Write the answered questions to FILE (.jsonl), a suite for `advisor eval run`."""
    from assistant.review.suite import suite

    text = suite(_items("all"))
    file.write_text(text, "utf-8")
    click.echo(f"{file}: {text.count(chr(10))} cases. Look through their key points before you trust a score.")


@review.command("stats")
@click.option("--days", default=30, show_default=True, type=click.IntRange(1, 3660))
@click.option("--csv", "csv_file", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="A line a day.")
@json_option
def review_stats(days: int, csv_file: Path | None, as_json: bool) -> None:
    """Questions, topics, what wasn't covered, satisfaction and latency of the last days."""
    from assistant.review.stats import as_csv, statistics

    stats = statistics(open_advisor().conversations, days)
    if csv_file:
        csv_file.write_text(as_csv(stats), "utf-8")
    if as_json:
        print_json(stats.model_dump(mode="json"))
        return
    share = stats.satisfaction.share
    click.echo(f"{stats.questions} questions from {stats.first} to {stats.last}")
    click.echo(", ".join(f"{status} {count}" for status, count in stats.by_status.items()) or "none")
    click.echo(f"satisfied: {'unknown' if share is None else f'{share:.0%}'}")
    if stats.latency_ms:
        click.echo(f"latency: median {stats.latency_ms.median:.0f} ms, 95% under {stats.latency_ms.p95:.0f} ms")
    for topic in stats.topics:
        click.echo(
            f"{topic.questions:5}  {topic.topic or '(other)'}  ({topic.not_covered} not covered, {topic.down} 👎)"
        )
    for one in stats.uncovered:
        click.secho(f"{one.asked:5}× not covered: {one.question}", fg="yellow")


def _items(state: str) -> Sequence[Item]:
    reviews = open_advisor().reviews
    return reviews.items() if state == "all" else reviews.items([state])  # type: ignore[list-item]


def _item_json(item: Item) -> dict[str, Any]:
    return item.model_dump(mode="json", exclude={"ids"})


def _show_outcome(outcome: Outcome) -> None:
    click.secho("before", bold=True)
    click.echo(outcome.item.before)
    click.secho(f"\nwith {outcome.item.file}", bold=True)
    click.echo(outcome.after.text)
    if not outcome.changed:
        click.secho(
            "\nThe document is indexed, but the answer doesn't cite it. Say it in a sentence that answers it.",
            fg="yellow",
        )
