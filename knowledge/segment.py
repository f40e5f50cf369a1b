"""A part of the derived index: vectors and postings of a range of chunks, in memory or mapped from a folder."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.collections import DEFAULT_NUMBER
from knowledge.errors import StoreError
from knowledge.records import Language

FORMAT = 2
"""Goes up whenever the files change; a segment of another format is built again."""
LANGUAGES: tuple[Language, ...] = ("zh", "en")
_VECTORS = "vectors.faiss"
_MANIFEST = "manifest.json"
_BATCH_ROWS = 16384

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
    """Chunks of one collection, one language and one range of ids, with a FAISS index over their vectors."""

    def __init__(
        self, language: Language, tables: Tables, vectors: Any, dimension: int, collection: int = DEFAULT_NUMBER
    ) -> None:
        """`vectors` is a faiss.IndexFlatIP of r rows, or None when there are none."""
        self.language = language
        self.collection = collection
        self.tables = tables
        self._faiss = vectors
        self._dimension = dimension

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

    @property
    def matrix(self) -> NDArray[np.float32]:
        """The vectors (r, dimension), without a copy."""
        import faiss

        if self._faiss is None:
            return np.zeros((0, self._dimension), np.float32)
        flat: NDArray[np.float32] = faiss.rev_swig_ptr(self._faiss.get_xb(), self.rows * self._dimension)
        return flat.reshape(self.rows, self._dimension)

    def nearest(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Inner products and rows of the k nearest vectors, best first."""
        if self._faiss is None:
            return np.zeros(0, np.float32), np.zeros(0, np.int64)
        scores, rows = self._faiss.search(vector.reshape(1, -1), min(k, self.rows))
        return scores[0], rows[0]

    def save(self, folder: Path) -> None:
        """Write the files and make them durable; `folder` must not exist."""
        import faiss

        folder.mkdir(parents=True)
        for field in fields(Tables):
            np.save(folder / f"{field.name}.npy", getattr(self.tables, field.name))
        if self._faiss is not None:
            faiss.write_index(self._faiss, str(folder / _VECTORS))
        sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
        manifest = {
            "format": FORMAT,
            "language": self.language,
            "collection": self.collection,
            "dimension": self._dimension,
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
        import faiss

        try:
            manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
            if manifest["format"] != FORMAT:
                raise ValueError(f"format {manifest['format']}")
            for name, size in manifest["sizes"].items():
                if (folder / name).stat().st_size != size:
                    raise ValueError(f"{name} is cut short")
            arrays = {
                field.name: np.load(folder / f"{field.name}.npy", mmap_mode="r", allow_pickle=False)
                for field in fields(Tables)
            }
            path = folder / _VECTORS
            vectors = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC) if path.name in manifest["sizes"] else None
            collection = int(manifest.get("collection", DEFAULT_NUMBER))
            return cls(manifest["language"], Tables(**arrays), vectors, manifest["dimension"], collection)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise StoreError(
                f"the derived index in {folder} can't be read ({error}): it has to be built again"
            ) from error


def segment_name(collection: int, language: Language) -> str:
    """The folder of a segment in a snapshot."""
    return language if collection == DEFAULT_NUMBER else f"{language}-{collection}"


def read_segments(connection: sqlite3.Connection, after: int, dimension: int) -> list[Segment]:
    """Segments of all chunks with an id above `after`, from the store's rows; none is empty."""
    kinds = connection.execute(
        """SELECT DISTINCT d.collection, d.language FROM chunks c JOIN documents d ON d.number = c.document
           WHERE c.id > ? ORDER BY d.collection, d.language DESC""",
        (after,),
    ).fetchall()
    return [_read_segment(connection, language, collection, after, dimension) for collection, language in kinds]


def _read_segment(
    connection: sqlite3.Connection, language: Language, collection: int, after: int, dimension: int
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
    vectors, row_chunks, row_kinds = _read_vectors(connection, language, collection, after, dimension)
    term_table, term_starts, posting_chunks, posting_counts, lengths = _invert(terms, counts)
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
    return Segment(language, tables, vectors, dimension, collection)


def _read_vectors(
    connection: sqlite3.Connection, language: Language, collection: int, after: int, dimension: int
) -> tuple[Any, Ints, Ints]:
    import faiss

    index = faiss.IndexFlatIP(dimension)
    chunks: list[int] = []
    kinds: list[int] = []
    lengths: list[int] = []
    waiting: list[bytes] = []

    def flush() -> None:
        if waiting:
            rows = np.frombuffer(b"".join(waiting), "<f2").reshape(-1, dimension)
            index.add(rows.astype(np.float32))
            waiting.clear()

    for chunk, kind, values in connection.execute(
        """SELECT v.chunk, v.kind, v."values" FROM vectors v JOIN chunks c ON c.id = v.chunk
           JOIN documents d ON d.number = c.document
           WHERE v.chunk > ? AND d.language = ? AND d.collection = ? ORDER BY v.chunk, v.kind""",
        (after, language, collection),
    ):
        chunks.append(chunk)
        kinds.append(kind)
        lengths.append(len(values) // (2 * dimension))
        waiting.append(values)
        if len(waiting) >= _BATCH_ROWS:
            flush()
    flush()
    repeats = np.array(lengths, np.int64)
    row_chunks = np.repeat(np.array(chunks, np.int64), repeats)
    row_kinds = np.repeat(np.array(kinds, np.uint8), repeats)
    return (index if index.ntotal else None), row_chunks, row_kinds


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
