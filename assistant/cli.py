"""The `advisor` command: the only composition root. Every command imports what it needs when it runs."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from assistant import __version__
from assistant.commands import asking, backup, bot, keys, library, mcp, numbers, review, training
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
@click.option("--no-access-control", "open_to_all", is_flag=True, help="Let everybody in, from other machines too.")
def serve(host: str, port: int, open_to_all: bool) -> None:
    """Serve the web chat and the HTTP API."""
    from assistant.api.access.binding import check_binding
    from assistant.api.settings import load_service_settings

    service_settings = load_service_settings()
    check_binding(host, service_settings, forced=open_to_all)
    advisor = open_advisor()
    from assistant.api.app import create_app
    from assistant.api.crosssite import OwnName
    from assistant.api.serving import run
    from evals.workbench import Workbench
    from ui.app import mount

    app = mount(create_app(advisor, service_settings), advisor, Workbench(advisor.settings.data_dir))
    if service_settings.access == "off" and not open_to_all:
        app.add_middleware(OwnName)
    click.echo(f"Web chat: http://{host}:{port}", err=True)
    run(app, advisor, service_settings, host, port)


for command in (
    asking.ask,
    asking.chat,
    asking.search,
    backup.backup,
    backup.restore,
    bot.bot,
    library.index,
    library.docs,
    library.doctor,
    mcp.mcp,
    keys.keys,
    numbers.tools,
    numbers.catalog,
    review.review,
    training.train_encoder,
):
    main.add_command(command)
