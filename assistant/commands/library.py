"""`index`, `docs`, `doctor`: what is indexed, and whether it is sound."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assistant.commands.common import ingest_paths, json_option, print_json, reencode_all, settings
from knowledge.errors import StoreError

if TYPE_CHECKING:
    from knowledge.ingest import FileStatus, IngestReport
    from knowledge.rows import DocumentRow
    from knowledge.store import Store

_STATUSES: tuple[FileStatus, ...] = ("added", "updated", "unchanged", "duplicate", "failed")


@click.command()
@click.argument("sources", nargs=-1, metavar="[PATH|URL]...")
@click.option("--shipped", is_flag=True, help="Index the shipped guidance too.")
@click.option("--collection", default="default", show_default=True, metavar="NAME", help="Where they go.")
@click.option("--group", "groups", multiple=True, help="Lets this group read the collection; `*` is everybody.")
@click.option("--reencode", "anew", is_flag=True, help="Make all vectors anew with the encoder that is set now.")
@click.option(
    "--ray", is_flag=False, flag_value="local", metavar="[ADDRESS]", help="Read and encode on Ray; alone: a local one."
)
@json_option
def index(
    sources: tuple[str, ...],
    shipped: bool,
    collection: str,
    groups: tuple[str, ...],
    anew: bool,
    ray: str | None,
    as_json: bool,
) -> None:
    """Index files, folders and web pages; what is unchanged is skipped, so a rerun continues.

    A collection other than `default` is made when it isn't there, and on a server with access control nobody reads it
    before a group is let in.
    """
    from knowledge.shipped import shipped_paths

    if anew:
        reencode_all(settings())
        if not (sources or shipped):
            return
    urls = [source for source in sources if source.startswith(("http://", "https://"))]
    paths = [*(Path(s) for s in sources if s not in urls), *(shipped_paths() if shipped else [])]
    if not (paths or urls):
        raise click.UsageError("Name files or folders to index, or give --shipped.")
    if groups:
        _share(collection, groups, make=True)
    report = ingest_paths(settings(), paths, urls, collection, ray)
    if as_json:
        print_json(_report_json(report))
    else:
        _show_report(report)
    if report.count("failed"):
        sys.exit(1)


def _report_json(report: IngestReport) -> dict[str, Any]:
    return {"files": [asdict(file) for file in report.files]} | {status: report.count(status) for status in _STATUSES}


def _show_report(report: IngestReport) -> None:
    for file in report.files:
        if file.status == "failed":
            click.secho(f"failed     {file.path}: {file.reason}", fg="red")
        else:
            click.echo(f"{file.status:10} {file.path} ({file.chunks} passages)")
    counts = [f"{count} {status}" for status in _STATUSES if (count := report.count(status))]
    click.echo(", ".join(counts) or "No documents found.")


@click.group()
def docs() -> None:
    """The indexed documents."""


@docs.command("list")
@json_option
def docs_list(as_json: bool) -> None:
    """List the documents."""
    with _store() as store:
        rows = [_row_json(row) for row in store.documents()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(f"{row['document_id']:44} {row['language']}  {row['chunks']:4} passages  {row['title']}")


@docs.command("show")
@click.argument("document_id")
@click.option("--text", "only_text", is_flag=True, help="Print the text as the assistant sees it, nothing else.")
@json_option
def docs_show(document_id: str, only_text: bool, as_json: bool) -> None:
    """Show one document: its text and its passages."""
    with _store() as store:
        row = store.document(document_id)
        text = store.source_text(document_id)
        chunks = store.chunks(document_id)
    if as_json:
        fields = ("start", "end", "text", "page")
        passages = [{n: getattr(c, n) for n in fields} | {"section": " > ".join(c.section)} for c in chunks]
        print_json(_row_json(row) | {"text": text, "chunks": passages})
    elif only_text:
        click.echo(text)
    else:
        for name, value in _row_json(row).items():
            click.echo(f"{name}: {value}")
        for chunk in chunks:
            click.secho(f"\n[{chunk.start}:{chunk.end}] {' > '.join(chunk.section)}", bold=True)
            click.echo(chunk.text)


@docs.command("remove")
@click.argument("document_ids", nargs=-1, required=True)
def docs_remove(document_ids: tuple[str, ...]) -> None:
    """Remove documents with all that was made of them."""
    from knowledge.index import refresh_snapshot

    with _store() as store:
        for document_id in document_ids:
            store.document(document_id)
        for document_id in document_ids:
            store.remove(document_id)
            click.echo(f"removed {document_id}")
        refresh_snapshot(store)


@docs.command("collections")
@json_option
def docs_collections(as_json: bool) -> None:
    """List the collections, and whose groups may read each on a server with access control."""
    with _store() as store:
        found = store.collections()
    if as_json:
        print_json([asdict(collection) for collection in found])
        return
    for collection in found:
        readers = ", ".join(collection.groups) or "nobody"
        click.echo(f"{collection.name:32} {collection.documents:6} documents  {readers}")


@docs.command("share")
@click.argument("collection")
@click.option("--group", "groups", multiple=True, help="May read it; `*` is everybody. None: nobody may.")
def docs_share(collection: str, groups: tuple[str, ...]) -> None:
    """Let these groups read COLLECTION, and nobody else."""
    _share(collection, groups, make=False)
    click.echo(f"{collection}: {', '.join(groups) or 'nobody'}")


def _share(collection: str, groups: tuple[str, ...], *, make: bool) -> None:
    from knowledge.store import Store

    with Store.open(settings().data_dir) if make else _store() as store:
        if not make:
            store.check_collection(collection)
        store.set_groups(collection, groups)


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check the installation and the store: what was found, how bad it is, what to do."""
    from knowledge.doctor import Check, diagnose
    from knowledge.encoders import load_encoder
    from knowledge.errors import EncoderError

    values = settings()
    checks = []
    identity = None
    try:
        identity = load_encoder(values.encoder).identity
        checks.append(Check("encoder files", "ok", identity))
    except EncoderError as error:
        checks.append(Check("encoder files", "error", str(error), "Follow the message."))
    checks += diagnose(values.data_dir, identity)
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        colours = {"ok": "green", "warning": "yellow", "error": "red"}
        for check in checks:
            click.secho(f"{check.severity:8}", fg=colours[check.severity], nl=False)
            click.echo(f"{check.name}: {check.found}{f' → {check.remedy}' if check.remedy else ''}")
    if any(check.severity == "error" for check in checks):
        sys.exit(1)


def _store() -> Store:
    from knowledge.store import Store

    values = settings()
    try:
        return Store.open(values.data_dir, create=False)
    except StoreError as error:
        raise StoreError(f"{error} `advisor index --shipped` fills the folder.") from error


def _row_json(row: DocumentRow) -> dict[str, Any]:
    return {
        "document_id": row.document_id,
        "title": row.title,
        "location": row.location,
        "names": list(row.names),
        "language": row.language,
        "chunks": row.chunks,
        "encoding": row.encoding,
        "pages": row.pages,
        "references": [{"name": r.name, "url": r.url, "as_of": r.as_of} for r in row.references],
        "metadata": dict(row.metadata),
        "indexed_at": row.indexed_at,
        "collection": row.collection,
        "expires": row.expires,
    }
