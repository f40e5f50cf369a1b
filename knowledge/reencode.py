"""Makes all vectors of a store anew with another encoder, from the stored text; the documents' files are not needed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from knowledge.background import ensure_background
from knowledge.encoders.base import Encoder
from knowledge.index import refresh_snapshot
from knowledge.ingest import ENCODED_CHUNKS, prepare
from knowledge.records import Chunk, LoadedDocument
from knowledge.rows import unpack_spans
from knowledge.statements import document_rows, insert_vectors, numbers, set_meta, source_text
from knowledge.store import Store


def reencode(store: Store, encoder: Encoder, *, on_progress: Callable[[int, int], None] | None = None) -> int:
    """Replace the vectors of every document, in one transaction: searches see the old encoder's or the new one's.

    Other writers wait meanwhile.

    Args:
        store: open for writing.
        encoder: the new one.
        on_progress: called with passages done and in all.

    Returns:
        Number of passages.

    Raises:
        StoreError: the store can't be written.
    """
    done = 0
    with store.writing() as connection:
        (total,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
        for table in ("vectors", "token_vectors"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("DELETE FROM meta WHERE key IN ('snapshot', 'snapshot_last_chunk', 'snapshot_generation')")
        connection.execute("DELETE FROM tombstones")
        set_meta(connection, "encoder", encoder.identity)
        set_meta(connection, "dimension", str(encoder.dimension))
        for number in numbers(connection, "SELECT number FROM documents ORDER BY number"):
            done += _document(connection, encoder, number)
            if on_progress is not None:
                on_progress(done, total)
    ensure_background(store, encoder)
    refresh_snapshot(store)
    return done


def _document(connection: sqlite3.Connection, encoder: Encoder, number: int) -> int:
    (row,) = document_rows(connection, number)
    loaded = LoadedDocument(source_text(connection, number), (), row.title, row.language, row.media_type)
    rows = connection.execute(
        'SELECT id, start, "end", section, page, sentences, questions FROM chunks WHERE document = ? ORDER BY id',
        (number,),
    ).fetchall()
    for first in range(0, len(rows), ENCODED_CHUNKS):
        part = rows[first : first + ENCODED_CHUNKS]
        chunks = [
            Chunk(start, end, tuple(json.loads(section)), page, unpack_spans(sentences))
            for _, start, end, section, page, sentences, _ in part
        ]
        questions = [tuple(json.loads(stored)) for *_, stored in part]
        for (chunk_id, *_), prepared in zip(part, prepare(encoder, loaded, chunks, questions), strict=True):
            insert_vectors(connection, chunk_id, prepared)
    return len(rows)
