"""The SQL of the store: rows of documents and chunks in and out, each function inside its caller's transaction."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import unicodedata
import uuid
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import PurePath

import numpy as np

from knowledge.collections import DEFAULT_NUMBER
from knowledge.rows import (
    DocumentRow,
    PreparedChunk,
    PreparedDocument,
    dump_references,
    load_references,
    pack_spans,
    pack_vectors,
)


def meta(connection: sqlite3.Connection, key: str) -> str | None:
    """A fact about the store."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Record a fact about the store."""
    connection.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key, value))


def generation(connection: sqlite3.Connection) -> int:
    """Number of committed changes."""
    return int(meta(connection, "generation") or 0)


def numbers(connection: sqlite3.Connection, query: str, *values: object) -> list[int]:
    """The first column of a query."""
    return [number for (number,) in connection.execute(query, values)]


def source_text(connection: sqlite3.Connection, number: int) -> str:
    """A document's text."""
    return str(connection.execute("SELECT text FROM texts WHERE document = ?", (number,)).fetchone()[0])


def document_rows(
    connection: sqlite3.Connection, number: int | None = None, collections: Collection[int] | None = None
) -> list[DocumentRow]:
    """One document, or all of some collections, in the order in which they were first indexed."""
    where, values = ("WHERE d.number = ?", (number,)) if number is not None else ("", ())
    names: dict[int, list[str]] = {}
    where_name = "WHERE document = ?" if number is not None else ""
    for document, location in connection.execute(
        f"SELECT document, location FROM names {where_name} ORDER BY document, position", values
    ):
        names.setdefault(document, []).append(location)
    rows = connection.execute(
        f"""SELECT d.number, id, title, language, media_type, encoding, pages, doc_references, metadata, indexed_at,
                   expires, c.number, c.name, (SELECT count(*) FROM chunks WHERE document = d.number)
            FROM documents d JOIN collections c ON c.number = d.collection {where} ORDER BY d.number""",
        values,
    )
    return [
        DocumentRow(
            document_id=document_id,
            title=title,
            location=names[key][0],
            names=tuple(names[key]),
            language=language,
            media_type=media_type,
            encoding=encoding,
            pages=pages,
            chunks=chunks,
            references=load_references(references),
            metadata=json.loads(metadata),
            indexed_at=indexed_at,
            collection=collection,
            expires=date.fromisoformat(expires) if expires else None,
        )
        for (
            key, document_id, title, language, media_type, encoding, pages, references, metadata, indexed_at,
            expires, collection_number, collection, chunks,
        ) in rows
        if collections is None or collection_number in collections
    ]  # fmt: skip


def insert_document(connection: sqlite3.Connection, document: PreparedDocument, collection: int) -> int:
    """A new row with an id of its own; `update_document` fills the rest."""
    cursor = connection.execute(
        """INSERT INTO documents (collection, id, content_hash, fingerprint, title, language, media_type,
                                  doc_references, metadata, indexed_at) VALUES (?, ?, ?, '', '', '', '', '', '', '')""",
        (collection, _new_id(connection, document, collection), document.content_hash),
    )
    number = cursor.lastrowid
    assert number is not None
    return number


def _new_id(connection: sqlite3.Connection, document: PreparedDocument, collection: int) -> str:
    """The file's stem, readable, and as much of a hash of the content as makes it unique.

    The hash is another one in each collection: an id must not tell that equal content lies in a collection that one
    can't read.
    """
    hashed = document.content_hash
    if collection != DEFAULT_NUMBER:
        hashed = hashlib.sha256(f"{collection} {hashed}".encode()).hexdigest()
    shortest = 6 if collection == DEFAULT_NUMBER else 16
    stem = PurePath(document.location.rstrip("/")).stem
    slug = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFKC", stem)).strip("-.")[:60] or "document"
    for length in range(shortest, len(hashed)):
        candidate = f"{slug}-{hashed[:length]}"
        if not numbers(connection, "SELECT number FROM documents WHERE id = ?", candidate):
            return candidate
    return f"{slug}-{uuid.uuid4().hex}"


def update_document(connection: sqlite3.Connection, number: int, document: PreparedDocument) -> None:
    """Write what is known of a document, without its text and chunks."""
    loaded = document.loaded
    connection.execute(
        """UPDATE documents SET content_hash = ?, fingerprint = ?, title = ?, language = ?, media_type = ?,
                  encoding = ?, pages = ?, doc_references = ?, metadata = ?, expires = ?, indexed_at = ?
           WHERE number = ?""",
        (
            document.content_hash,
            document.fingerprint,
            loaded.title,
            loaded.language,
            loaded.media_type,
            loaded.encoding,
            loaded.pages,
            dump_references(loaded.references),
            json.dumps(dict(loaded.metadata), ensure_ascii=False),
            loaded.metadata.get("expires"),
            datetime.now(UTC).isoformat(timespec="seconds"),
            number,
        ),
    )


def insert_content(connection: sqlite3.Connection, number: int, document: PreparedDocument) -> None:
    """Write the text, chunks, vectors and terms."""
    connection.execute("INSERT INTO texts VALUES (?, ?)", (number, document.loaded.text))
    term_ids = _term_ids(connection, (term for chunk in document.chunks for term in chunk.terms))
    for prepared in document.chunks:
        chunk = _insert_chunk(connection, number, document.loaded.text, prepared, term_ids)
        insert_vectors(connection, chunk, prepared)


def insert_vectors(connection: sqlite3.Connection, chunk: int, prepared: PreparedChunk) -> None:
    """Write what the encoder made of a chunk."""
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?)",
        [(chunk, int(kind), pack_vectors(rows)) for kind, rows in prepared.vectors.items() if len(rows)],
    )
    if prepared.tokens:
        connection.execute("INSERT INTO token_vectors VALUES (?, ?)", (chunk, prepared.tokens))


def _insert_chunk(
    connection: sqlite3.Connection, number: int, source: str, prepared: PreparedChunk, term_ids: dict[str, int]
) -> int:
    chunk = prepared.chunk
    counts = sorted((term_ids[term], count) for term, count in prepared.terms.items())
    cursor = connection.execute(
        """INSERT INTO chunks (document, start, "end", text, section, page, sentences, questions, term_ids, term_counts)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            number,
            chunk.start,
            chunk.end,
            source[chunk.start : chunk.end],
            json.dumps(chunk.section, ensure_ascii=False),
            chunk.page,
            pack_spans(chunk.sentences),
            json.dumps(prepared.questions, ensure_ascii=False),
            np.array([term for term, _ in counts], "<u4").tobytes(),
            np.array([min(count, 65535) for _, count in counts], "<u2").tobytes(),
        ),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _term_ids(connection: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    wanted = sorted(set(terms))
    connection.executemany("INSERT INTO terms (term) VALUES (?) ON CONFLICT DO NOTHING", [(term,) for term in wanted])
    return find_terms(connection, wanted)


def find_terms(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    """Ids of the terms that occur in the store."""
    found: dict[str, int] = {}
    for start in range(0, len(terms), 500):
        part = terms[start : start + 500]
        marks = ",".join("?" * len(part))
        found.update(connection.execute(f"SELECT term, id FROM terms WHERE term IN ({marks})", part).fetchall())
    return found


def delete_content(connection: sqlite3.Connection, number: int) -> None:
    """Delete what `insert_content` wrote, and note it for the derived index."""
    now = generation(connection) + 1
    connection.execute("INSERT OR REPLACE INTO tombstones SELECT id, ? FROM chunks WHERE document = ?", (now, number))
    connection.execute("DELETE FROM chunks WHERE document = ?", (number,))
    connection.execute("DELETE FROM texts WHERE document = ?", (number,))


def delete_document(connection: sqlite3.Connection, number: int) -> None:
    """Delete a document with everything derived from it."""
    delete_content(connection, number)
    connection.execute("DELETE FROM documents WHERE number = ?", (number,))
