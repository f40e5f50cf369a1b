"""`tools`, `catalog`: the calculators and the figures they use."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import click

from assistant.commands.common import json_option, print_json, settings


@click.group()
def tools() -> None:
    """The calculators."""


@tools.command("list")
@json_option
def tools_list(as_json: bool) -> None:
    """Show the calculators and what each is for."""
    from assistant.tools.registry import describe

    described = describe("en")
    if as_json:
        print_json([{"name": name, "description": text} for name, text in described.items()])
        return
    for name, text in described.items():
        click.echo(f"{name:26}{text}")


@tools.command("run")
@click.argument("name")
@click.argument("arguments", default="{}")
@click.option("--language", type=click.Choice(["zh", "en"]), default="en", show_default=True)
@json_option
def tools_run(name: str, arguments: str, language: Literal["zh", "en"], as_json: bool) -> None:
    """Run calculator NAME with ARGUMENTS, a JSON object; amounts may be written as people do ("7B", "10 Gbps")."""
    from assistant.answer.calculations import describe_run
    from assistant.answer.draft import render
    from assistant.tools.registry import get_tool

    try:
        values = json.loads(arguments)
    except ValueError as error:
        raise click.UsageError(f"ARGUMENTS is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise click.UsageError('ARGUMENTS must be a JSON object such as \'{"parameters": "7B"}\'.')
    settings()
    tool = get_tool(name)
    run = tool.run(values, language)
    if as_json:
        print_json(run.model_dump(mode="json"))
    else:
        click.echo(render(describe_run(run, tool.present(run, language), language)).text)


@tools.command("validate")
def tools_validate() -> None:
    """Compare the calculators with published training runs and memory figures."""
    from assistant.tools.validate import main

    main()


@click.group()
def catalog() -> None:
    """Models, accelerators, instances, prices and published runs, each with source and date."""


@catalog.command("list")
@click.argument("kind", required=False)
@json_option
def catalog_list(kind: str | None, as_json: bool) -> None:
    """List the rows of KIND, or the kinds."""
    from knowledge.catalog import KINDS, list_rows

    settings()
    if kind is None:
        print_json(list(KINDS)) if as_json else click.echo("\n".join(KINDS))
        return
    rows = list_rows(kind)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        shown = {name: value for name, value in row.items() if value not in (None, "")}
        click.echo("  ".join(f"{name}={value}" for name, value in shown.items() if name != "source_url"))


@catalog.command("show")
@click.argument("name")
@json_option
def catalog_show(name: str, as_json: bool) -> None:
    """Show an instance type, an accelerator or a model."""
    from knowledge.catalog import show

    settings()
    rows = show(name)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo("\n".join(f"{field}: {value}" for field, value in row.items() if value not in (None, "")) + "\n")


@catalog.command("check")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def catalog_check(paths: tuple[Path, ...], as_json: bool) -> None:
    """Check price files (CSV or XLSX): each bad row with line and reason; and the age of all prices."""
    from knowledge.catalog import check

    report = check(paths)
    if as_json:
        print_json(asdict(report))
    else:
        for problem in report.problems:
            click.secho(f"{problem.file}, line {problem.line}: {problem.reason}", fg="red")
        click.echo(
            f"{report.usable} usable offers, {len(report.problems)} bad rows, {len(report.old)} sources past their age."
        )
    if not report.ok:
        sys.exit(1)


@catalog.command("refresh")
@json_option
def catalog_refresh(as_json: bool) -> None:
    """Take current prices (through gpuhunt, over the network) into a dated file; offline nothing is changed."""
    from knowledge.catalog import refresh

    result = refresh(settings().data_dir / "prices")
    if as_json:
        print_json(asdict(result))
        return
    for change in result.changes:
        prices = " → ".join("none" if price is None else f"{price:,.4g}" for price in (change.before, change.after))
        click.echo(f"{change.provider} {change.instance} {change.region}: {prices} {change.currency}/hour")
    click.echo(f"{result.rows} offers in {result.path}, {len(result.changes)} changed")
