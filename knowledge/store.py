"""The store: one SQLite file that is the truth about documents, chunks, vectors and terms."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection as AnyOf
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple

from knowledge import statements
from knowledge.collections import (
    DEFAULT,
    Collection,
    Groups,
    collection_rows,
    ensure_collection,
    find_collection,
    readable,
    set_groups,
)
from knowledge.database import Database, Pinned
from knowledge.errors import EncoderMismatch, NotFound
from knowledge.rows import ChunkRow, DocumentRow, PreparedDocument, unpack_spans
from knowledge.statements import (
    delete_content,
    delete_document,
    document_rows,
    generation,
    insert_content,
    insert_document,
    meta,
    numbers,
    set_meta,
    update_document,
)

FILE_NAME = "knowledge.sqlite3"
_WITH_CONTENT = "SELECT number FROM documents WHERE collection = ? AND content_hash = ?"
_NAMED = "SELECT document FROM names WHERE collection = ? AND location = ?"

Status = Literal["added", "updated", "unchanged", "duplicate"]


class Written(NamedTuple):
    """What became of a document that was given to the store."""

    document_id: str
    status: Status


class Known(NamedTuple):
    """What the store holds for a location."""

    document_id: str
    content_hash: str
    fingerprint: str
    primary: bool
    """Whether the location is the document's first name."""
    encoding: str | None
    chunks: int


class Sizes(NamedTuple):
    """How much a store holds."""

    documents: int
    passages: int
    generation: int


class Store:
    """Documents and what is derived from them. Safe to share between threads; other processes may read and write."""

    def __init__(self, database: Database | Pinned) -> None:
        self._database = database
        self.folder = database.path.parent

    @classmethod
    def open(cls, folder: Path, *, create: bool = True, read_only: bool = False) -> Store:
        """Open the store in a folder.

        Args:
            folder: of the store; made when it is missing and `create` is true.
            create: whether to start an empty store where there is none.
            read_only: never write, not even the derived index.

        Raises:
            StoreError: it is missing, damaged, newer than this program, or can't be written.
        """
        store = cls(Database(folder / FILE_NAME, create=create, read_only=read_only))
        store.read_only = read_only
        return store

    read_only = False

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """One consistent state for several reads."""
        return self._database.reading()

    @contextmanager
    def pinned(self) -> Iterator[Store]:
        """The store as it is at one moment, whatever is written meanwhile; for one reader at a time."""
        with self._database.reading() as connection:
            pinned = Store(Pinned(self._database.path, connection))
            pinned.read_only = True
            yield pinned

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that counts as one change: `generation` goes up when it is committed."""
        with self._database.writing() as connection:
            yield connection
            set_meta(connection, "generation", str(generation(connection) + 1))

    @property
    def generation(self) -> int:
        """Goes up with every committed change."""
        with self.reading() as connection:
            return generation(connection)

    @property
    def encoder(self) -> str | None:
        """Identity of the encoder that the vectors were made with; None while there are none."""
        with self.reading() as connection:
            return meta(connection, "encoder")

    def sizes(self) -> Sizes:
        """How much the store holds."""
        with self.reading() as connection:
            (documents,) = connection.execute("SELECT count(*) FROM documents").fetchone()
            (passages,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
            return Sizes(documents, passages, generation(connection))

    def check_encoder(self, identity: str) -> None:
        """Refuse an encoder that the vectors were not made with.

        Raises:
            EncoderMismatch: the store holds vectors of another encoder.
        """
        with self.reading() as connection:
            self.check_encoder_in(connection, identity)

    def documents(self, groups: Groups = None) -> list[DocumentRow]:
        """The documents that these groups may read, in the order in which they were first indexed."""
        with self.reading() as connection:
            return document_rows(connection, collections=readable(connection, groups))

    def document(self, document_id: str, groups: Groups = None) -> DocumentRow:
        """One document.

        Raises:
            NotFound: there is no such document that these groups may read.
        """
        with self.reading() as connection:
            number = self._number(connection, document_id, groups)
            return document_rows(connection, number)[0]

    def source_text(self, document_id: str, groups: Groups = None) -> str:
        """The text that citations of the document quote.

        Raises:
            NotFound: there is no such document that these groups may read.
        """
        with self.reading() as connection:
            return statements.source_text(connection, self._number(connection, document_id, groups))

    def collections(self, groups: Groups = None) -> list[Collection]:
        """The collections that these groups may read."""
        with self.reading() as connection:
            return collection_rows(connection, groups)

    def check_collection(self, name: str, groups: Groups = None) -> None:
        """Refuse a collection that isn't there for these groups.

        Raises:
            NotFound: there is none of this name that they may read.
        """
        with self.reading() as connection:
            find_collection(connection, name, groups)

    def set_groups(self, name: str, readers: AnyOf[str]) -> None:
        """Let these groups read a collection, and nobody else; one that isn't there is made.

        Raises:
            InvalidInput: the collection or a group can't have this name.
        """
        with self.writing() as connection:
            set_groups(connection, ensure_collection(connection, name), readers)

    def chunks(self, document_id: str, groups: Groups = None) -> list[ChunkRow]:
        """The document's passages in reading order.

        Raises:
            NotFound: there is no such document that these groups may read.
        """
        with self.reading() as connection:
            number = self._number(connection, document_id, groups)
            rows = connection.execute(
                'SELECT id, start, "end", text, section, page, sentences, questions FROM chunks '
                "WHERE document = ? ORDER BY id",
                (number,),
            )
            return [
                ChunkRow(
                    chunk_id=chunk,
                    start=start,
                    end=end,
                    text=text,
                    section=tuple(json.loads(section)),
                    page=page,
                    sentences=unpack_spans(sentences),
                    questions=tuple(json.loads(questions)),
                )
                for chunk, start, end, text, section, page, sentences, questions in rows
            ]

    def known(self, location: str, collection: str = DEFAULT) -> Known | None:
        """What a collection holds for a location."""
        with self.reading() as connection:
            row = connection.execute(
                """SELECT d.id, d.content_hash, d.fingerprint,
                          n.position = (SELECT min(position) FROM names WHERE document = d.number),
                          d.encoding, (SELECT count(*) FROM chunks WHERE document = d.number)
                   FROM collections c JOIN names n ON n.collection = c.number JOIN documents d ON d.number = n.document
                   WHERE c.name = ? AND n.location = ?""",
                (collection, location),
            ).fetchone()
        return Known(row[0], row[1], row[2], bool(row[3]), row[4], row[5]) if row else None

    def holds(self, content_hash: str, collection: str = DEFAULT) -> bool:
        """Whether a document of the collection has these bytes."""
        with self.reading() as connection:
            row = connection.execute(
                """SELECT 1 FROM collections c JOIN documents d ON d.collection = c.number
                   WHERE c.name = ? AND d.content_hash = ?""",
                (collection, content_hash),
            ).fetchone()
        return row is not None

    def adopt(self, location: str, content_hash: str, collection: str = DEFAULT) -> Known | None:
        """Make `location` one more name of the collection's document with these bytes; None when there is none."""
        with self.writing() as connection:
            where = ensure_collection(connection, collection)
            same = numbers(connection, _WITH_CONTENT, where, content_hash)
            if not same:
                return None
            self._name(connection, location, same[0], where)
        return self.known(location, collection)

    def write(self, document: PreparedDocument, encoder: str, dimension: int, collection: str = DEFAULT) -> Written:
        """Write a document with all that is derived from it, in one transaction.

        A location whose content changed keeps its document's id, unless the old content has other names too. Equal
        bytes are stored once in a collection, which is made when it isn't there.

        Raises:
            EncoderMismatch: the store holds vectors of another encoder.
            InvalidInput: the collection can't have this name.
            StoreError: the store can't be written.
        """
        with self.writing() as connection:
            self.check_encoder_in(connection, encoder)
            set_meta(connection, "encoder", encoder)
            set_meta(connection, "dimension", str(dimension))
            where = ensure_collection(connection, collection)
            same = numbers(connection, _WITH_CONTENT, where, document.content_hash)
            named = numbers(connection, _NAMED, where, document.location)
            status: Status = "updated" if named else "added"
            if same:
                number, status = same[0], "updated" if same == named else "duplicate"
                if status == "updated" and numbers(
                    connection,
                    "SELECT 1 FROM documents WHERE number = ? AND fingerprint = ?",
                    number,
                    document.fingerprint,
                ):
                    status = "unchanged"  # another process was faster
            elif named and len(numbers(connection, "SELECT document FROM names WHERE document = ?", named[0])) == 1:
                number = named[0]
            else:
                number = insert_document(connection, document, where)
            if status in ("added", "updated"):
                delete_content(connection, number)
                update_document(connection, number, document)
                insert_content(connection, number, document)
            self._name(connection, document.location, number, where)
            (document_id,) = connection.execute("SELECT id FROM documents WHERE number = ?", (number,)).fetchone()
        return Written(document_id, status)

    def remove(self, document_id: str) -> bool:
        """Delete a document and everything derived from it; False when there is none of this id."""
        with self.writing() as connection:
            found = numbers(connection, "SELECT number FROM documents WHERE id = ?", document_id)
            for number in found:
                delete_document(connection, number)
        return bool(found)

    def _name(self, connection: sqlite3.Connection, location: str, number: int, collection: int) -> None:
        """Point a location to a document. A document that loses its last name is deleted."""
        before = numbers(connection, _NAMED, collection, location)
        if before == [number]:
            return
        connection.execute("DELETE FROM names WHERE collection = ? AND location = ?", (collection, location))
        (position,) = connection.execute(
            "SELECT coalesce(max(position) + 1, 0) FROM names WHERE document = ?", (number,)
        ).fetchone()
        connection.execute("INSERT INTO names VALUES (?, ?, ?, ?)", (collection, location, number, position))
        for old in before:
            if not numbers(connection, "SELECT document FROM names WHERE document = ?", old):
                delete_document(connection, old)

    def check_encoder_in(self, connection: sqlite3.Connection, identity: str) -> None:
        """`check_encoder` inside a transaction."""
        stored = meta(connection, "encoder")
        if stored is None or stored == identity:
            return
        if connection.execute("SELECT 1 FROM chunks LIMIT 1").fetchone() is None:
            return
        raise EncoderMismatch(
            f"the index in {self.folder} was built with the encoder {stored}, and the current one is {identity}: set "
            "ADVISOR_ENCODER to the former, or make all vectors anew with `advisor index --reencode`"
        )

    def _number(self, connection: sqlite3.Connection, document_id: str, groups: Groups) -> int:
        row = connection.execute("SELECT number, collection FROM documents WHERE id = ?", (document_id,)).fetchone()
        allowed = readable(connection, groups)
        if row is None or (allowed is not None and row[1] not in allowed):
            raise NotFound(f"there is no document {document_id!r}: `advisor docs list` shows those that are there")
        return int(row[0])
