"""What is the matter with a store: each check says how bad it is, what was found and what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from knowledge.database import latest_version
from knowledge.errors import StoreError
from knowledge.index import SNAPSHOTS, load_snapshot, pending_changes
from knowledge.rows import VectorKind
from knowledge.statements import meta
from knowledge.store import FILE_NAME, Store

Severity = Literal["ok", "warning", "error"]
OLDEST_SQLITE = (3, 35, 0)
"""The first with ON CONFLICT clauses that name no column."""
LEAST_FREE_BYTES = 500_000_000


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check."""

    name: str
    severity: Severity
    found: str
    remedy: str = ""
    """What to do; empty when all is well."""


def diagnose(folder: Path, encoder: str | None = None) -> list[Check]:
    """Check the store in a folder; never raises, never changes anything.

    Args:
        folder: of the store.
        encoder: identity of the encoder in use; without it that check is left out.
    """
    checks = [_sqlite(), _folder(folder)]
    if not folder.is_dir():
        return checks
    checks.append(_space(folder))
    try:
        store = Store.open(folder, create=False, read_only=True)
    except StoreError as error:
        return [*checks, Check("store", "error", str(error), "Follow the message; a backup can be put in its place.")]
    with store:
        checks += _each(store, encoder)
    return checks


def _each(store: Store, encoder: str | None) -> Iterator[Check]:
    checks: list[tuple[str, Callable[[sqlite3.Connection], Check]]] = [
        ("store", lambda _: Check("store", "ok", f"version {latest_version()}")),
        ("file", _file),
        ("rows", _rows),
        ("passages", _passages),
        ("encoder", lambda connection: _encoder(connection, encoder)),
        ("index", lambda connection: _index(connection, store.folder)),
    ]
    for name, check in checks:
        try:
            with store.reading() as connection:
                yield check(connection)
        except StoreError as error:
            yield Check(
                name, "error", str(error), "Restore a backup, or delete the file and index the documents again."
            )


def _sqlite() -> Check:
    found = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Check("sqlite", "error", found, "Use a Python that is built with SQLite 3.35 or newer.")
    return Check("sqlite", "ok", found)


def _folder(folder: Path) -> Check:
    if not folder.is_dir():
        return Check("folder", "error", f"{folder} does not exist", "Build the index: `advisor index --shipped`.")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Check("folder", "warning", f"{folder} can't be written", "Make it writable, or set ADVISOR_DATA_DIR.")
    return Check("folder", "ok", str(folder))


def _space(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    found = f"{free / 1e9:.1f} GB free, {used / 1e9:.2f} GB used"
    if free < max(LEAST_FREE_BYTES, used):
        return Check("disk space", "warning", found, "Free some space: building the index anew needs as much again.")
    return Check("disk space", "ok", found)


def _file(connection: sqlite3.Connection) -> Check:
    problems = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
    if problems != ["ok"]:
        return Check(
            "file", "error", f"{FILE_NAME} is damaged: {'; '.join(problems)}",
            "Restore a backup, or delete the file and index the documents again.",
        )  # fmt: skip
    return Check("file", "ok", f"{FILE_NAME} is whole")


def _rows(connection: sqlite3.Connection) -> Check:
    problems = {
        "rows without their owner": len(connection.execute("PRAGMA foreign_key_check").fetchall()),
        "documents without text, passages or name": _count(
            connection,
            """SELECT count(*) FROM documents WHERE number NOT IN (SELECT document FROM texts)
               OR number NOT IN (SELECT document FROM chunks) OR number NOT IN (SELECT document FROM names)""",
        ),
        "passages without a vector": _count(
            connection,
            f"""SELECT count(*) FROM chunks
                WHERE id NOT IN (SELECT chunk FROM vectors WHERE kind = {int(VectorKind.PARAGRAPH)})""",
        ),
    }
    found = ", ".join(f"{count} {what}" for what, count in problems.items() if count)
    if found:
        return Check("rows", "error", found, "Remove the documents (`advisor docs remove`) and index them again.")
    documents, chunks = (
        _count(connection, "SELECT count(*) FROM documents"),
        _count(connection, "SELECT count(*) FROM chunks"),
    )
    return Check("rows", "ok", f"{documents} documents, {chunks} passages")


def _passages(connection: sqlite3.Connection) -> Check:
    """Whether every passage is the text that stands at its place in its document."""
    wrong: list[str] = []
    for document_id, number, text in connection.execute(
        "SELECT d.id, d.number, t.text FROM documents d JOIN texts t ON t.document = d.number"
    ):
        rows = connection.execute('SELECT start, "end", text FROM chunks WHERE document = ?', (number,))
        if any(text[start:end] != passage for start, end, passage in rows):
            wrong.append(document_id)
    if wrong:
        return Check(
            "passages", "error", f"passages of {', '.join(wrong[:3])} are not at their place in the text",
            "Remove these documents (`advisor docs remove`) and index them again.",
        )  # fmt: skip
    return Check("passages", "ok", "every passage is at its place in its document")


def _encoder(connection: sqlite3.Connection, encoder: str | None) -> Check:
    stored = meta(connection, "encoder")
    if stored is None:
        return Check("encoder", "ok", "nothing is encoded yet")
    if encoder is not None and stored != encoder:
        return Check(
            "encoder", "error", f"the index was built with {stored}, the current encoder is {encoder}",
            "Set ADVISOR_ENCODER to the former, or make all vectors anew with `advisor index --reencode`.",
        )  # fmt: skip
    return Check("encoder", "ok", stored)


def _index(connection: sqlite3.Connection, folder: Path) -> Check:
    name = meta(connection, "snapshot")
    added, deleted = pending_changes(connection)
    if name is None:
        return Check("index", "ok", f"{added} passages, read from the store: too few for a snapshot")
    remedy = "It is built again at the next `advisor index` or search."
    try:
        segments = load_snapshot(connection, folder / SNAPSHOTS / name)
    except StoreError as error:
        return Check("index", "warning", str(error), remedy)
    last = int(meta(connection, "snapshot_last_chunk") or 0)
    expected = [
        chunk
        for (chunk,) in connection.execute(
            "SELECT id FROM chunks WHERE id <= ? UNION SELECT chunk FROM tombstones WHERE chunk <= ? ORDER BY 1",
            (last, last),
        )
    ]
    if sorted(chunk for segment in segments for chunk in segment.tables.chunk_ids.tolist()) != expected:
        return Check("index", "warning", f"{name} does not match the store", remedy)
    return Check(
        "index",
        "ok",
        f"{len(expected)} passages, {sum(segment.rows for segment in segments)} vectors; since +{added} -{deleted}",
    )


def _count(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
