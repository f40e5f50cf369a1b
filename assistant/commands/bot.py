"""`bot`: answers in a chat platform."""

from __future__ import annotations

import inspect
import logging

import click

from assistant.commands.common import open_advisor


@click.command()
@click.argument("name", required=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where the platform's requests come in.")
@click.option("--port", default=7861, show_default=True, type=click.IntRange(0, 65535))
@click.option("--settings", "show_settings", is_flag=True, help="Show what can be set for NAME.")
def bot(name: str | None, host: str, port: int, show_settings: bool) -> None:
    """Answer questions in the chat platform NAME; without NAME, list the platforms."""
    from assistant.bots.registry import bot_type, names

    if name is None:
        click.echo("\n".join(names()))
        return
    kind = bot_type(name)
    if show_settings:
        click.echo(inspect.getdoc(kind.settings_type) or "")
        for field, info in kind.settings_type.model_fields.items():
            need = "required" if info.is_required() else f"default {info.default!r}"
            click.echo(f"{kind.settings_type.model_config['env_prefix']}{field.upper()} ({need})")
        return
    from assistant.settings import read_settings

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    settings = read_settings(kind.settings_type)
    running = kind(open_advisor(), settings)
    click.echo(f"Answering in {name}; Ctrl-C ends it.", err=True)
    try:
        running.run(host, port)
    finally:
        running.close()
