"""`mcp`: the advisor as a tool of other assistants."""

from __future__ import annotations

import click

from assistant.commands.common import open_advisor


@click.command()
def mcp() -> None:
    """Serve the Model Context Protocol on standard input and output; `advisor serve` has it at /mcp."""
    advisor = open_advisor()
    from assistant.api.mcp import serve_stdio

    serve_stdio(advisor)
