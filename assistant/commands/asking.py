"""`ask`, `chat`, `search`: questions in the terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from assistant.commands.common import answer_json, json_option, open_advisor, print_answer, print_json
from knowledge.errors import AdvisorError

_json_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("question", required=False)
@click.option("--conversation", "conversation_id", metavar="ID", help="Go on with this conversation.")
@click.option("--turns", type=_json_file, help="A JSON list of questions, asked in turn.")
@click.option("--batch", type=_json_file, help='Many conversations: {"id": [questions], …}.')
@json_option
def ask(
    question: str | None, conversation_id: str | None, turns: Path | None, batch: Path | None, as_json: bool
) -> None:
    """Answer QUESTION ("-" reads it from standard input)."""
    if sum(given is not None for given in (question, turns, batch)) != 1:
        raise click.UsageError("Give one of QUESTION, --turns FILE and --batch FILE.")
    if batch:
        conversations = {name: _questions(batch, asked) for name, asked in _read(batch, dict).items()}
        advisor = open_advisor()
        print_json({name: [answer_json(a) for a in advisor.ask_turns(asked)] for name, asked in conversations.items()})
        return
    if turns:
        asked = _questions(turns, _read(turns, list))
        answers = open_advisor().ask_turns(asked)
        if as_json:
            print_json([answer_json(answer) for answer in answers])
            return
        for answer in answers:
            click.echo(f"> {answer.question}\n")
            print_answer(answer)
        return
    text = sys.stdin.read() if question == "-" else question or ""
    if not text.strip():
        raise click.UsageError("The question is empty.")
    answer = open_advisor().ask(text, conversation_id)
    if as_json:
        print_json(answer_json(answer))
    else:
        print_answer(answer)


@click.command()
def chat() -> None:
    """Converse in the terminal; an empty line or Ctrl-D ends it."""
    advisor = open_advisor()
    click.echo("Ask in Chinese or English; an empty line ends. 用中文或英文提问，空行结束。")
    conversation_id = None
    while True:
        try:
            question = input("\n› ").strip()
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return
        if not question:
            return
        try:
            answer = advisor.ask(question, conversation_id)
        except AdvisorError as error:
            click.echo(str(error), err=True)
            continue
        conversation_id = answer.conversation_id
        click.echo()
        print_answer(answer)


@click.command()
@click.argument("query")
@click.option("-k", default=10, show_default=True, type=click.IntRange(1, 100), help="Passages.")
@json_option
def search(query: str, k: int, as_json: bool) -> None:
    """Show the passages found for QUERY, with their scores."""
    if not query.strip():
        raise click.UsageError("The query is empty.")
    found = open_advisor().searcher.search(query, k)
    if as_json:
        fields = ("document_id", "title", "section", "start", "end", "text", "score", "dense_score", "lexical_score")
        print_json([{name: getattr(hit, name) for name in fields} for hit in found.hits])
        return
    for hit in found.hits:
        click.secho(f"{hit.score:6.2f}  {hit.title} › {hit.section}", bold=True)
        click.echo(f"        {' '.join(hit.text.split())[:200]}")
    click.secho(f"Probability that these answer: {found.coverage:.0%}", dim=True)


def _read(path: Path, kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
    try:
        value = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise click.UsageError(f"{path} is not JSON: {error}.") from error
    if not isinstance(value, kind):
        raise click.UsageError(f"{path} must hold a JSON {'list' if kind is list else 'object'}.")
    return value


def _questions(path: Path, value: Any) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise click.UsageError(f"{path}: turns must be a list of questions, at least one.")
    return value
