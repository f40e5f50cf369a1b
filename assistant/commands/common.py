"""What the subcommands share: opening the advisor, filling an empty data folder, printing."""

from __future__ import annotations

import atexit
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from assistant.advisor import Advisor
    from assistant.schema import Answer
    from assistant.settings import Settings
    from knowledge.ingest import IngestReport

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def settings() -> Settings:
    """The settings; a company's own prices and refreshed ones come into force."""
    from assistant.settings import load_settings

    values = load_settings()
    prices = values.data_dir / "prices"
    if values.price_file or prices.is_dir() or "max_price_age_days" in values.model_fields_set:
        from knowledge import catalog

        files = [values.price_file] if values.price_file else []
        offers = catalog.load_offers(files, folder=prices, max_age_days=values.max_price_age_days)
        for problem in offers.problems:
            click.echo(f"{problem.file}, line {problem.line}: {problem.reason}", err=True)
        catalog.use(offers)
    return values


def open_advisor() -> Advisor:
    """The advisor over the data folder, which is filled with the shipped guidance if it doesn't exist yet."""
    from assistant.advisor import Advisor
    from knowledge.store import FILE_NAME

    values = settings()
    if not (values.data_dir / FILE_NAME).exists():
        from knowledge.shipped import shipped_paths

        click.echo("First start: indexing the shipped guidance (about a minute) …", err=True)
        ingest_paths(values, shipped_paths())
    if values.tracing_endpoint:
        from assistant import tracing

        tracing.start(values.tracing_endpoint)
        atexit.register(tracing.stop)
    return Advisor(values)


def ingest_paths(
    values: Settings,
    paths: Sequence[Path],
    urls: Sequence[str] = (),
    collection: str = "default",
    ray: str | None = None,
) -> IngestReport:
    """Index files, folders and web pages into a collection, with a progress bar on a terminal.

    Args:
        values: where the store lies, and with which encoder.
        paths: of files and folders.
        urls: of web pages.
        collection: that all go to.
        ray: address of a Ray cluster that reads and encodes the files. None: this process does.
    """
    from tqdm import tqdm

    from assistant.understand.intent import load_intents
    from knowledge.encoders import load_encoder
    from knowledge.ingest import ingest, ingest_url
    from knowledge.store import Store

    encoder = load_encoder(values.encoder)
    with Store.open(values.data_dir) as store, tqdm(unit="B", unit_scale=True, disable=None, leave=False) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        if ray is not None:
            from knowledge.ray_ingest import ingest_on_ray

            load = partial(load_encoder, values.encoder)
            report = ingest_on_ray(store, load, paths, address=ray, limits=values.limits, collection=collection)
        else:
            report = ingest(store, encoder, paths, on_progress=progress, limits=values.limits, collection=collection)
        for url in urls:
            report.files.append(
                ingest_url(
                    store,
                    encoder,
                    url,
                    limits=values.limits,
                    allow_private=values.allow_private_urls,
                    collection=collection,
                )
            )
    load_intents(encoder, values.data_dir)
    return report


def reencode_all(values: Settings) -> None:
    """Make every vector of the store anew, with a progress bar on a terminal."""
    from tqdm import tqdm

    from assistant.understand.intent import load_intents
    from knowledge.encoders import load_encoder
    from knowledge.reencode import reencode
    from knowledge.store import Store

    encoder = load_encoder(values.encoder)
    with Store.open(values.data_dir, create=False) as store, tqdm(unit=" passages", disable=None, leave=False) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        count = reencode(store, encoder, on_progress=progress)
    load_intents(encoder, values.data_dir)
    click.echo(f"{count} passages encoded with {encoder.identity}")


def answer_json(answer: Answer) -> dict[str, Any]:
    """The contract's JSON object."""
    return answer.model_dump(mode="json")


def print_json(value: Any) -> None:
    """JSON as people and programs read it."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_answer(answer: Answer) -> None:
    """The answer, and below it where its citations are from."""
    click.echo(answer.text)
    if answer.citations:
        click.echo()
    for citation in answer.citations:
        page = f", p. {citation.page}" if citation.page else ""
        click.secho(f"[{citation.n}] {citation.title} › {citation.section}{page} ({citation.location})", dim=True)
    for question in answer.follow_ups:
        click.secho(f"→ {question}", dim=True)
    click.echo()
