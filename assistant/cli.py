"""The `advisor` command: the only composition root. Every command imports what it needs when it runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assistant import __version__
from knowledge.errors import AdvisorError

if TYPE_CHECKING:
    from assistant.advisor import Advisor
    from assistant.schema import Answer
    from assistant.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class _Commands(click.Group):
    """Shows an AdvisorError as one line; the evaluation commands are loaded when asked for."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AdvisorError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), "eval"])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name == "eval":
            from evals.cli import evals

            return evals
        return super().get_command(ctx, name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="advisor")
def main() -> None:
    """Answers in Chinese and English on training models in the cloud, with sources and calculations.

    \b
    advisor ask "64 张 H100 训 7B、2T token 要多久？"
    advisor serve
    """


@main.command()
@click.argument("question", required=False)
@click.option("--conversation", "conversation_id", metavar="ID", help="Go on with this conversation.")
@click.option("--turns", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A JSON list of questions.")
@click.option(
    "--batch", type=click.Path(exists=True, dir_okay=False, path_type=Path), help='JSON: {"id": [questions]}.'
)
@json_option
def ask(
    question: str | None, conversation_id: str | None, turns: Path | None, batch: Path | None, as_json: bool
) -> None:
    """Answer QUESTION ("-" reads it from standard input)."""
    if sum(given is not None for given in (question, turns, batch)) != 1:
        raise click.UsageError("Give one of QUESTION, --turns FILE and --batch FILE.")
    if batch:
        conversations = _read_json(batch, dict)
        advisor = _advisor()
        answers = {
            name: [_as_json(a) for a in advisor.ask_turns(_questions(batch, t))] for name, t in conversations.items()
        }
        click.echo(_dumps(answers))
    elif turns:
        answers_of_turns = _advisor().ask_turns(_questions(turns, _read_json(turns, list)))
        if as_json:
            click.echo(_dumps([_as_json(answer) for answer in answers_of_turns]))
        else:
            for answer in answers_of_turns:
                click.echo(f"> {answer.question}\n")
                _show(answer)
    else:
        text = sys.stdin.read() if question == "-" else question or ""
        if not text.strip():
            raise click.UsageError("The question is empty.")
        answer = _advisor().ask(text, conversation_id)
        if as_json:
            click.echo(_dumps(_as_json(answer)))
        else:
            _show(answer)


@main.command()
def chat() -> None:
    """Converse in the terminal; an empty line or Ctrl-D ends it."""
    advisor = _advisor()
    click.echo("Ask in Chinese or English. 用中文或英文提问。(empty line ends / 空行结束)")
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
        _show(answer)


@main.command()
@click.argument("query")
@click.option("-k", default=10, show_default=True, type=click.IntRange(1, 100), help="Passages.")
@json_option
def search(query: str, k: int, as_json: bool) -> None:
    """Show the passages found for QUERY, with their scores."""
    if not query.strip():
        raise click.UsageError("The query is empty.")
    found = _advisor().searcher.search(query, k)
    if as_json:
        fields = ("document_id", "title", "section", "start", "end", "text", "score", "dense_score", "lexical_score")
        click.echo(_dumps([{name: getattr(hit, name) for name in fields} for hit in found.hits]))
        return
    for hit in found.hits:
        click.secho(f"{hit.score:6.2f}  {hit.title} › {hit.section}", bold=True)
        click.echo(f"        {' '.join(hit.text.split())[:200]}")


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=7860, show_default=True, type=click.IntRange(0, 65535))
def serve(host: str, port: int) -> None:
    """Serve the web chat and the HTTP API."""
    advisor = _advisor()
    from assistant.api.app import create_app
    from ui.app import mount

    app = mount(create_app(advisor), advisor)
    import uvicorn

    click.echo(f"Web chat: http://{host}:{port}", err=True)
    uvicorn.run(app, host=host, port=port, log_level="warning")


@main.group()
def tools() -> None:
    """The calculators."""


@tools.command("list")
@json_option
def tools_list(as_json: bool) -> None:
    """Show the calculators and what each is for."""
    from assistant.tools.registry import describe

    rows = [{"name": name, "description": text} for name, text in describe("en").items()]
    if as_json:
        click.echo(_dumps(rows))
        return
    for row in rows:
        click.echo(f"{row['name']:26}{row['description']}")


@tools.command("run")
@click.argument("name")
@click.argument("arguments", default="{}")
@click.option("--language", type=click.Choice(["zh", "en"]), default="en", show_default=True)
@json_option
def tools_run(name: str, arguments: str, language: str, as_json: bool) -> None:
    """Run calculator NAME with ARGUMENTS, a JSON object; amounts may be written as people do ("7B", "10 Gbps")."""
    from assistant.tools.registry import get_tool

    try:
        values = json.loads(arguments)
    except ValueError as error:
        raise click.UsageError(f"ARGUMENTS is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise click.UsageError('ARGUMENTS must be a JSON object such as \'{"parameters": "7B"}\'.')
    tool = get_tool(name)
    run = tool.run(values, "zh" if language == "zh" else "en")
    if as_json or not sys.stdout.isatty():
        click.echo(_dumps(run.model_dump(mode="json")))
        return
    from assistant.answer.calculations import describe_run
    from assistant.answer.draft import render

    shown = tool.present(run, "zh" if language == "zh" else "en")
    click.echo(render(describe_run(run, shown, "zh" if language == "zh" else "en")).text)


def _settings() -> Settings:
    from assistant.settings import load_settings

    return load_settings()


def _advisor() -> Advisor:
    """The advisor over the data folder, which is filled with the shipped guidance if it doesn't exist yet."""
    from assistant.advisor import Advisor

    settings = _settings()
    if not settings.data_dir.exists():
        from knowledge.shipped import shipped_paths

        click.echo("First start: indexing the shipped guidance …", err=True)
        _ingest(settings, shipped_paths())
    return Advisor(settings)


def _ingest(settings: Settings, paths: Sequence[Path]) -> Any:
    from knowledge.ingest import ingest
    from knowledge.store import Store
    from tqdm import tqdm

    from knowledge.encoders import load_encoder

    with Store.open(settings.data_dir) as store, tqdm(unit=" passages", disable=None, leave=False) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return ingest(store, load_encoder(settings.encoder), paths, on_progress=progress)


def _read_json(path: Path, kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
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


def _as_json(answer: Answer) -> dict[str, Any]:
    return answer.model_dump(mode="json")


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _show(answer: Answer) -> None:
    click.echo(answer.text)
    if answer.citations:
        click.echo()
    for citation in answer.citations:
        page = f", p. {citation.page}" if citation.page else ""
        click.secho(f"[{citation.n}] {citation.title} › {citation.section}{page} ({citation.location})", dim=True)
    click.echo()
