"""The `advisor` command: the only composition root. Every command imports what it needs when it runs."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from assistant import __version__
from assistant.commands import asking, bot, library, numbers
from assistant.commands.common import open_advisor
from knowledge.errors import AdvisorError

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Before numpy is imported: the products here are small, and threads that wait for each other make them slow."""


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
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=7860, show_default=True, type=click.IntRange(0, 65535))
def serve(host: str, port: int) -> None:
    """Serve the web chat and the HTTP API."""
    advisor = open_advisor()
    import uvicorn

    from assistant.api.app import create_app
    from evals.workbench import Workbench
    from ui.app import mount

    app = mount(create_app(advisor), advisor, Workbench(advisor.settings.data_dir))
    click.echo(f"Web chat: http://{host}:{port}", err=True)
    uvicorn.run(app, host=host, port=port, log_level="warning")


for command in (
    asking.ask,
    asking.chat,
    asking.search,
    bot.bot,
    library.index,
    library.docs,
    library.doctor,
    numbers.tools,
    numbers.catalog,
):
    main.add_command(command)
