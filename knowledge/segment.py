"""A part of the derived index: vectors and postings of a range of chunks, in memory or mapped from a folder."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.backends.base import Floats, Rows, Vectors
from knowledge.backends.clustered import ClusteredVectors
from knowledge.backends.flat import FlatVectors
from knowledge.collections import DEFAULT_NUMBER
from knowledge.errors import StoreError
from knowledge.records import Language

FORMAT = 4
"""Goes up whenever the files change; a segment of another format is built again."""
LANGUAGES: tuple[Language, ...] = ("zh", "en")
EXACT_ROWS = 10_000
"""Up to here every vector is compared: 1.5 ms, and nothing is missed. Above, only those of the nearest clusters."""
_MANIFEST = "manifest.json"
_LOAD: dict[str, Callable[[Path], Vectors]] = {
    "flat": FlatVectors.load,
    "clustered": ClusteredVectors.load,
}

Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Tables:
    """The arrays of a segment; n chunks, r vectors, t terms, p postings."""

    chunk_ids: Ints
    """(n,) int64, ascending."""
    row_starts: Ints
    """(n + 1,) int64: vectors of chunk i are rows row_starts[i]:row_starts[i + 1]."""
    row_kinds: Ints
    """(r,) uint8, VectorKind; a chunk's first row is its paragraph."""
    term_ids: Ints
    """(t,) uint32, ascending."""
    term_starts: Ints
    """(t + 1,) int64: postings of term i are term_starts[i]:term_starts[i + 1]."""
    posting_chunks: Ints
    """(p,) int32, places of chunks."""
    posting_counts: Ints
    """(p,) uint16."""
    lengths: Ints
    """(n,) int64: terms of each chunk."""


class Segment:
    """Chunks of one collection, one language and one range of ids, with their vectors."""

    def __init__(
        self, language: Language, tables: Tables, vectors: Vectors | None, collection: int = DEFAULT_NUMBER
    ) -> None:
        """`vectors` are r rows, or None when there are none."""
        self.language = language
        self.collection = collection
        self.tables = tables
        self._vectors = vectors

    def __len__(self) -> int:
        return len(self.tables.chunk_ids)

    @property
    def last_chunk(self) -> int:
        """Highest chunk id, 0 when there is none."""
        return int(self.tables.chunk_ids[-1]) if len(self) else 0

    @property
    def rows(self) -> int:
        """Number of vectors."""
        return len(self.tables.row_kinds)

    def vectors(self, rows: Rows) -> Floats:
        """(len(rows), dimension) of the vectors in these rows."""
        return self._vectors.take(rows) if self._vectors is not None else np.zeros((0, 0), np.float32)

    def nearest(self, vector: Floats, k: int) -> tuple[Floats, Rows]:
        """Inner products and rows of the k nearest vectors, best first."""
        if self._vectors is None:
            return np.zeros(0, np.float32), np.zeros(0, np.int64)
        return self._vectors.nearest(vector, k)

    def save(self, folder: Path) -> None:
        """Write the files and make them durable; `folder` must not exist."""
        folder.mkdir(parents=True)
        for field in fields(Tables):
            np.save(folder / f"{field.name}.npy", getattr(self.tables, field.name))
        if self._vectors is not None:
            self._vectors.save(folder)
        sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
        manifest = {
            "format": FORMAT,
            "language": self.language,
            "collection": self.collection,
            "vectors": self._vectors.kind if self._vectors is not None else None,
            "sizes": sizes,
        }
        (folder / _MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
        for path in [*folder.iterdir(), folder]:
            sync(path)

    @classmethod
    def load(cls, folder: Path) -> Segment:
        """Map a saved segment into memory.

        Raises:
            StoreError: files are missing, cut short or of another format.
        """
        try:
            manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
            if manifest["format"] != FORMAT:
                raise ValueError(f"format {manifest['format']}")
            for name, size in manifest["sizes"].items():
                if (folder / name).stat().st_size != size:
                    raise ValueError(f"{name} is cut short")
            arrays = {
                # Plain arrays over the mapped files: slicing numpy's class for them takes several times as long.
                field.name: np.asarray(np.load(folder / f"{field.name}.npy", mmap_mode="r", allow_pickle=False))
                for field in fields(Tables)
            }
            kind = manifest["vectors"]
            vectors: Vectors | None = _LOAD[kind](folder) if kind is not None else None
            return cls(manifest["language"], Tables(**arrays), vectors, int(manifest["collection"]))
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise StoreError(
                f"the derived index in {folder} can't be read ({error}): it has to be built again"
            ) from error


def segment_name(collection: int, language: Language) -> str:
    """The folder of a segment in a snapshot."""
    return language if collection == DEFAULT_NUMBER else f"{language}-{collection}"


def read_segments(
    connection: sqlite3.Connection, after: int, dimension: int, workplace: Path | None = None
) -> list[Segment]:
    """Segments of all chunks with an id above `after`, from the store's rows; none is empty.

    Args:
        connection: inside a transaction.
        after: a chunk id.
        dimension: of the vectors.
        workplace: a folder for the vectors of segments that are too large to be compared one by one; None: all are
            kept in memory and compared one by one.
    """
    kinds = connection.execute(
        """SELECT DISTINCT d.collection, d.language FROM chunks c JOIN documents d ON d.number = c.document
           WHERE c.id > ? ORDER BY d.collection, d.language DESC""",
        (after,),
    ).fetchall()
    return [
        _read_segment(connection, language, collection, after, dimension, workplace) for collection, language in kinds
    ]


def _read_segment(
    connection: sqlite3.Connection,
    language: Language,
    collection: int,
    after: int,
    dimension: int,
    workplace: Path | None,
) -> Segment:
    ids: list[int] = []
    terms: list[bytes] = []
    counts: list[bytes] = []
    for chunk, term_ids, term_counts in connection.execute(
        """SELECT c.id, c.term_ids, c.term_counts FROM chunks c JOIN documents d ON d.number = c.document
           WHERE c.id > ? AND d.language = ? AND d.collection = ? ORDER BY c.id""",
        (after, language, collection),
    ):
        ids.append(chunk)
        terms.append(term_ids)
        counts.append(term_counts)
    chunk_ids = np.array(ids, np.int64)
    term_table, term_starts, posting_chunks, posting_counts, lengths = _invert(terms, counts)
    del terms, counts
    collected = _CollectedRows(dimension, workplace)
    row_chunks, row_kinds = _read_vectors(connection, language, collection, after, collected)
    tables = Tables(
        chunk_ids=chunk_ids,
        row_starts=np.searchsorted(row_chunks, np.append(chunk_ids, np.iinfo(np.int64).max)).astype(np.int64),
        row_kinds=row_kinds,
        term_ids=term_table,
        term_starts=term_starts,
        posting_chunks=posting_chunks,
        posting_counts=posting_counts,
        lengths=lengths,
    )
    return Segment(language, tables, collected.vectors(), collection)


class _CollectedRows:
    """Vectors as they are read: in memory while they are few, in a file when they are many."""

    def __init__(self, dimension: int, workplace: Path | None) -> None:
        self._dimension = dimension
        self._workplace = workplace
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._file: Path | None = None

    def add(self, values: bytes) -> int:
        """Take float16 rows; returns how many."""
        self._waiting.append(values)
        self._bytes += len(values)
        if self._workplace is not None and self._bytes > 2 * self._dimension * EXACT_ROWS:
            self._spill(self._workplace)
        return len(values) // (2 * self._dimension)

    def vectors(self) -> Vectors | None:
        """All of them, ready for search."""
        if self._file is not None and self._workplace is not None:
            self._spill(self._workplace)
            return ClusteredVectors.build(self._file, self._dimension)
        if not self._bytes:
            return None
        return FlatVectors.build(np.frombuffer(b"".join(self._waiting), "<f2").reshape(-1, self._dimension))

    def _spill(self, workplace: Path) -> None:
        if self._file is None:
            handle, name = tempfile.mkstemp(suffix=".f16", dir=workplace)
            os.close(handle)
            self._file = Path(name)
        with self._file.open("ab") as file:
            file.writelines(self._waiting)
        self._waiting.clear()
        self._bytes = 0


def _read_vectors(
    connection: sqlite3.Connection, language: Language, collection: int, after: int, collected: _CollectedRows
) -> tuple[Ints, Ints]:
    """Chunk and kind of each row."""
    chunks: list[int] = []
    kinds: list[int] = []
    counts: list[int] = []
    for chunk, kind, values in connection.execute(
        """SELECT v.chunk, v.kind, v."values" FROM vectors v JOIN chunks c ON c.id = v.chunk
           JOIN documents d ON d.number = c.document
           WHERE v.chunk > ? AND d.language = ? AND d.collection = ? ORDER BY v.chunk, v.kind""",
        (after, language, collection),
    ):
        chunks.append(chunk)
        kinds.append(kind)
        counts.append(collected.add(values))
    repeats = np.array(counts, np.int64)
    return np.repeat(np.array(chunks, np.int64), repeats), np.repeat(np.array(kinds, np.uint8), repeats)


def _invert(terms: list[bytes], counts: list[bytes]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Postings by term from each chunk's terms."""
    sizes = np.array([len(blob) // 4 for blob in terms], np.int64)
    flat_terms = np.frombuffer(b"".join(terms), "<u4")
    flat_counts = np.frombuffer(b"".join(counts), "<u2")
    owners = np.repeat(np.arange(len(terms), dtype=np.int32), sizes)
    lengths = np.bincount(owners, weights=flat_counts, minlength=len(terms)).astype(np.int64)
    order = np.argsort(flat_terms, kind="stable")
    table, starts = np.unique(flat_terms[order], return_index=True)
    return table, np.append(starts, len(order)).astype(np.int64), owners[order], flat_counts[order], lengths


def sync(path: Path) -> None:
    """Make a file, or the names in a folder, durable."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
