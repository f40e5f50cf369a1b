"""`backup`, `restore`: all that is kept, in one file."""

from __future__ import annotations

from pathlib import Path

import click

from assistant.commands.common import settings

_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("path", type=_file)
def backup(path: Path) -> None:
    """Write documents, conversations, feedback, keys and prices into the file PATH; the server may run meanwhile."""
    from assistant.backup import create

    manifest = create(settings(), path)
    click.echo(f"{len(manifest.files)} files, {path.stat().st_size / 1e6:,.1f} MB in {path}")


@click.command()
@click.argument("path", type=_file)
@click.option("--replace", is_flag=True, help="Delete what is there; a running server goes on with what is restored.")
def restore(path: Path, replace: bool) -> None:
    """Put back what `advisor backup` wrote into the file PATH."""
    from assistant.backup import restore as put_back

    values = settings()
    manifest = put_back(values, path, replace=replace)
    click.echo(f"Restored {values.data_dir} as it was at {manifest.created:%Y-%m-%d %H:%M} UTC")
