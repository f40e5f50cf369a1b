"""The derived index: a snapshot in files, and in memory what the store has gained and lost since.

The snapshot is immutable and named by a row of the store, so that rows and files always belong together. A reader adds
the chunks above the snapshot's last id and leaves out deleted ones; chunk ids are never used again. So one changed
document costs only that document, and a snapshot is built anew when much has changed.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
import uuid
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from knowledge.errors import StoreError
from knowledge.records import Language
from knowledge.segment import LANGUAGES, Ints, Segment, read_segments, segment_name, sync
from knowledge.statements import find_terms, generation, meta, set_meta

if TYPE_CHECKING:
    from knowledge.store import Store

SNAPSHOTS = "index"
REBUILD_CHUNKS = 500
"""A snapshot is built anew when at least this many chunks were added or deleted since,"""
REBUILD_SHARE = 0.02
"""and at least this share of the store. A reader reads the rest from SQLite in about 0.1 s."""
MAX_SEGMENTS = 12
"""A reader that has picked up this many small additions reads them again as one."""
EXPANSION_WEIGHT = 0.5
"""Of a concept's other forms, beside the question's own words."""
MAX_VIEWS = 64
"""Sets of collections whose indexes are kept; callers of the same groups share one."""
_BUILDING = "building-"
_ABANDONED_SECONDS = 3600
_SAMPLE = 1000
BM25_K1 = 1.2
BM25_B = 0.75
"""Robertson and Zaragoza, The Probabilistic Relevance Framework (2009): usual values."""

Floats = NDArray[np.float32]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class State:
    """What of the store an index holds."""

    generation: int
    encoder: str | None
    snapshot: str | None
    last_chunk: int
    """Highest chunk id that was read."""
    day: date
    """On which the documents were not expired."""
    snapshot_segments: int
    """How many of the segments are the snapshot's."""


class Index:
    """All searchable chunks at one generation. A chunk is known by its place, 0 to n - 1. Immutable."""

    def __init__(self, segments: Sequence[Segment], dead: Places, state: State) -> None:
        """`dead`: ids of deleted or expired chunks that may stand in the segments."""
        self.state = state
        self._dead = dead
        self._views: dict[frozenset[int], Index] = {}
        alive = [~np.isin(segment.tables.chunk_ids, dead) for segment in segments]
        living = [(segment, mask) for segment, mask in zip(segments, alive, strict=True) if mask.any()]
        self.segments = [segment for segment, _ in living]
        self._alive = [mask for _, mask in living]
        self._offsets = np.cumsum([0, *(len(segment) for segment in self.segments)])
        self._offset_list: list[int] = self._offsets.tolist()
        self._dead_rows = [
            int(np.diff(segment.tables.row_starts)[~mask].sum()) if not mask.all() else 0 for segment, mask in living
        ]
        self._living = int(sum(mask.sum() for mask in self._alive))
        self._all_alive = all(mask.all() for mask in self._alive)
        self._sample: tuple[Floats, NDArray[np.uint8]] | None = None

    def __len__(self) -> int:
        """Number of living chunks."""
        return self._living

    def restricted(self, collections: frozenset[int] | None) -> Index:
        """The index of these collections alone: it finds, counts and weighs words as if there were no others."""
        if collections is None or all(segment.collection in collections for segment in self.segments):
            return self
        present = collections & {segment.collection for segment in self.segments}
        if present not in self._views:
            if len(self._views) >= MAX_VIEWS:
                self._views.clear()
            kept = [segment for segment in self.segments if segment.collection in present]
            self._views[present] = Index(kept, self._dead, self.state)
        return self._views[present]

    @classmethod
    def read(
        cls, connection: sqlite3.Connection, folder: Path, previous: Index | None = None, today: date | None = None
    ) -> Index:
        """The index of the state that the connection's transaction sees.

        A snapshot that is missing or damaged is made up for from the store's rows.

        Args:
            connection: inside a transaction.
            folder: the store's.
            previous: an index of an earlier state, whose segments are used again where they still hold.
            today: documents that expired before are left out.
        """
        day = today or date.today()
        dimension = int(meta(connection, "dimension") or 1)
        snapshot = meta(connection, "snapshot")
        segments: list[Segment] = []
        last = of_snapshot = 0
        encoder = meta(connection, "encoder")
        if previous is not None and previous._continues(encoder, snapshot, day):
            segments, last = list(previous.segments), previous.state.last_chunk
            of_snapshot = previous.state.snapshot_segments
        elif snapshot is not None:
            try:
                segments = load_snapshot(connection, folder / SNAPSHOTS / snapshot)
                last = int(meta(connection, "snapshot_last_chunk") or 0)
                of_snapshot = len(segments)
            except StoreError:
                segments = []
        recent = read_segments(connection, last, dimension)
        last = max([last, *(segment.last_chunk for segment in recent)])
        segments += recent
        dead = np.array(list(_dead_chunks(connection, day)), np.int64)
        return cls(segments, dead, State(generation(connection), encoder, snapshot, last, day, of_snapshot))

    def _continues(self, encoder: str | None, snapshot: str | None, day: date) -> bool:
        same = (self.state.encoder, self.state.snapshot, self.state.day) == (encoder, snapshot, day)
        return same and len(self.segments) <= self.state.snapshot_segments + MAX_SEGMENTS

    def nearest(self, vector: Floats, k: int) -> Places:
        """Places of the chunks that own the k nearest vectors of each language."""
        found = [np.zeros(0, np.int64)]
        for language in LANGUAGES:
            values, owners = [np.zeros(0, np.float32)], [np.zeros(0, np.int64)]
            parts = [part for part in self._parts() if part[0].language == language]
            for segment, alive, dead_rows, offset in parts:
                scores, places = _nearest_living(segment, vector, k, alive, dead_rows, exact=len(parts) > 1)
                values.append(scores)
                owners.append(places + offset)
            best = np.argsort(-np.concatenate(values), kind="stable")[:k]
            found.append(np.concatenate(owners)[best])
        return np.unique(np.concatenate(found))

    def lexical(
        self, connection: sqlite3.Connection, terms: Sequence[str], expansions: Sequence[Sequence[Sequence[str]]] = ()
    ) -> LexicalScores:
        """BM25 of every chunk for the distinct terms of a question.

        Args:
            connection: to the store.
            terms: of the question.
            expansions: for each concept in the question, the terms of its other forms. What a chunk gets for a concept
                is `EXPANSION_WEIGHT` times the inverse document frequency of the best form that it holds whole.
        """
        own = self._bm25(connection, terms)
        if not expansions:
            return own
        scores = own.scores.copy()
        others = self._bm25(connection, list({term: None for forms in expansions for form in forms for term in form}))
        for forms in expansions:
            scores += np.float32(EXPANSION_WEIGHT) * others.best_form(forms)
        return LexicalScores(scores, own.idf, own.postings)

    def _bm25(self, connection: sqlite3.Connection, terms: Sequence[str]) -> LexicalScores:
        known = find_terms(connection, terms)
        scores = np.zeros(int(self._offsets[-1]), np.float32)
        idf: dict[str, float] = {}
        postings: dict[str, Places] = {}
        for term in terms:
            found = [_postings(segment, known.get(term)) for segment in self.segments]
            frequency = sum(len(chunks) for chunks, _ in found)
            weight = float(np.log(1 + (max(self._living - frequency, 0) + 0.5) / (frequency + 0.5)))
            places: list[Places] = []
            for (chunks, counts), alive, damping, offset in zip(
                found, self._alive, self._damping, self._offset_list, strict=False
            ):
                if not len(chunks):
                    continue
                if not self._all_alive:
                    living = alive[chunks]
                    chunks, counts = chunks[living], counts[living]
                part = damping[chunks]
                part += counts
                np.divide(counts, part, out=part)
                part *= np.float32(weight * (BM25_K1 + 1))
                places.append(chunks.astype(np.int64) + offset)
                scores[places[-1]] += part
            idf[term] = weight
            postings[term] = np.concatenate(places) if places else np.zeros(0, np.int64)
        return LexicalScores(scores, idf, postings)

    @cached_property
    def _damping(self) -> list[Floats]:
        """Of each segment (n,): what a chunk's length adds to a term's count in BM25's denominator."""
        average = max(sum(float(segment.tables.lengths.sum()) for segment in self.segments) / max(self._living, 1), 1.0)
        return [
            (BM25_K1 * (1 - BM25_B + BM25_B * segment.tables.lengths / average)).astype(np.float32)
            for segment in self.segments
        ]

    def cosines(self, vector: Floats, places: Places) -> tuple[Floats, Ints, Places]:
        """Similarity of every vector of the chunks: values, kinds, and starts; chunk i owns starts[i]:starts[i + 1].

        `places` must ascend.
        """
        values, kinds = [np.zeros(0, np.float32)], [np.zeros(0, np.uint8)]
        sizes = [np.zeros(1, np.int64)]
        owners = np.searchsorted(self._offsets, places, side="right") - 1
        for number, segment in enumerate(self.segments):
            at = places[owners == number] - self._offsets[number]
            starts = segment.tables.row_starts[at]
            counts = segment.tables.row_starts[at + 1] - starts
            rows = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
            values.append(segment.vectors(rows) @ vector if len(rows) else np.zeros(0, np.float32))
            kinds.append(segment.tables.row_kinds[rows])
            sizes.append(counts)
        return np.concatenate(values), np.concatenate(kinds), np.cumsum(np.concatenate(sizes))

    def chunk_ids(self, places: Places) -> list[int]:
        """Ids of the chunks in the store."""
        ids = np.zeros(len(places), np.int64)
        owners = np.searchsorted(self._offsets, places, side="right") - 1
        for number, segment in enumerate(self.segments):
            mine = owners == number
            ids[mine] = segment.tables.chunk_ids[places[mine] - self._offsets[number]]
        found: list[int] = ids.tolist()
        return found

    def paragraphs(self, places: Places) -> Floats:
        """(m, dimension): the first vector of each chunk, which stands for the whole passage."""
        return np.stack([self._paragraph(place) for place in places.tolist()])

    def in_language(self, places: Places, language: Language) -> NDArray[np.bool_]:
        """Whether each chunk is in the language."""
        same = np.array([segment.language == language for segment in self.segments], np.bool_)
        return same[np.searchsorted(self._offsets, places, side="right") - 1]

    def sample(self, vector: Floats, language: Language) -> tuple[Floats, NDArray[np.bool_]]:
        """Similarity of the paragraphs of about 1,000 evenly spaced chunks, and whether each is in the language."""
        if self._sample is None:
            self._sample = self._read_sample()
        paragraphs, languages = self._sample
        return paragraphs @ vector, languages == LANGUAGES.index(language)

    def _read_sample(self) -> tuple[Floats, NDArray[np.uint8]]:
        paragraphs: list[Floats] = []
        languages: list[NDArray[np.uint8]] = []
        step = max(1, int(self._offsets[-1]) // _SAMPLE)
        for segment, alive, _, _ in self._parts():
            places = np.flatnonzero(alive)[::step]
            places = places[segment.tables.row_starts[places] < segment.tables.row_starts[places + 1]]
            paragraphs.append(segment.vectors(segment.tables.row_starts[places]))
            languages.append(np.full(len(places), LANGUAGES.index(segment.language), np.uint8))
        return np.concatenate(paragraphs), np.concatenate(languages)

    def _parts(self) -> list[tuple[Segment, NDArray[np.bool_], int, int]]:
        return list(zip(self.segments, self._alive, self._dead_rows, self._offsets[:-1].tolist(), strict=True))

    def _paragraph(self, place: int) -> Floats:
        segment, at = self._find(place)
        vector: Floats = segment.vectors(segment.tables.row_starts[at : at + 1])[0]
        return vector

    def _find(self, place: int) -> tuple[Segment, int]:
        number = bisect_right(self._offset_list, place) - 1
        return self.segments[number], place - self._offset_list[number]


class LexicalScores:
    """BM25 of one question over all chunks."""

    def __init__(self, scores: Floats, idf: dict[str, float], postings: dict[str, Places]) -> None:
        self.scores = scores
        """(n,) by place; 0 where no term occurs."""
        self.idf = idf
        """Inverse document frequency of every term of the question, also of those that occur nowhere."""
        self.postings = postings
        """Places of the chunks that hold a term."""

    def best_form(self, forms: Sequence[Sequence[str]]) -> Floats:
        """(n,) for each chunk the highest inverse document frequency, by its rarest term, of a form that it holds."""
        best = np.zeros_like(self.scores)
        for form in forms:
            holding, *others = sorted((self.postings[term] for term in form), key=len)
            for places in others:
                holding = holding[_among(holding, places)]
            best[holding] = np.maximum(best[holding], max(self.idf[term] for term in form))
        return best

    def best(self, k: int) -> Places:
        """Places of the k best chunks that hold a term."""
        matching = np.flatnonzero(self.scores)
        if len(matching) > k:
            matching = matching[np.argpartition(-self.scores[matching], k)[:k]]
        return matching.astype(np.int64)


def _among(some: Places, ascending: Places) -> NDArray[np.bool_]:
    """Which of some places are among others."""
    at = np.searchsorted(ascending, some)
    found: NDArray[np.bool_] = ascending[np.minimum(at, len(ascending) - 1)] == some
    return found


def _nearest_living(
    segment: Segment, vector: Floats, k: int, alive: NDArray[np.bool_], dead_rows: int, *, exact: bool
) -> tuple[Floats, Places]:
    """Inner products and chunks of the nearest k rows of living chunks.

    Dead ones are as likely as others to be near, and few: as many as could be in the way are seldom asked for.

    Args:
        exact: whether the inner products are to be compared with those of other segments, where estimates of the
            best are too high.
    """
    wanted = k + min(dead_rows, k)
    while True:
        scores, rows = segment.nearest(vector, wanted)
        places = np.searchsorted(segment.tables.row_starts, rows, side="right") - 1
        living = alive[places]
        if living.sum() >= k or wanted >= k + dead_rows:
            rows, scores, places = rows[living][:k], scores[living][:k], places[living][:k]
            return segment.vectors(rows) @ vector if exact else scores, places
        wanted = min(4 * wanted, k + dead_rows)


def _postings(segment: Segment, term: int | None) -> tuple[Ints, Floats]:
    """Chunks that hold a term, ascending, and how often."""
    tables = segment.tables
    # In the table's own type, or numpy converts all of it first.
    wanted = tables.term_ids.dtype.type(term) if term is not None else None
    at = int(np.searchsorted(tables.term_ids, wanted)) if wanted is not None else len(tables.term_ids)
    if at == len(tables.term_ids) or tables.term_ids[at] != wanted:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    start, end = tables.term_starts[at : at + 2]
    return tables.posting_chunks[start:end], tables.posting_counts[start:end].astype(np.float32)


def refresh_snapshot(store: Store, *, share: float = REBUILD_SHARE, force: bool = False) -> bool:
    """Build the snapshot anew when much has changed since the last, or when it can't be read.

    Readers are not disturbed: they go on with the old files, and take the new ones with the next change.

    Args:
        store: open for writing.
        share: of the store's chunks that must have changed.
        force: build it in any case.

    Returns:
        Whether one was built.

    Raises:
        StoreError: the folder can't be written.
    """
    folder = store.folder / SNAPSHOTS
    name = f"snapshot-{uuid.uuid4().hex}"
    building = folder / f"{_BUILDING}{name}"
    try:
        with store.reading() as connection:
            if not force and not _outdated(connection, folder, share):
                return False
            building.mkdir(parents=True)
            at = generation(connection)
            dimension = int(meta(connection, "dimension") or 1)
            segments = read_segments(connection, 0, dimension, building)
        for segment in segments:
            segment.save(building / segment_name(segment.collection, segment.language))
        sync(building)
        _publish(store, building, folder / name, at, segments)
    except OSError as error:
        raise StoreError(
            f"can't write the index to {folder} ({error.strerror or error}): free some space or make it writable"
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return True


def _publish(store: Store, building: Path, final: Path, at: int, segments: Sequence[Segment]) -> None:
    with store.writing() as connection:
        if at <= int(meta(connection, "snapshot_generation") or -1):
            return  # another process built one from a later state
        building.rename(final)
        set_meta(connection, "snapshot", final.name)
        set_meta(connection, "snapshot_generation", str(at))
        set_meta(connection, "snapshot_last_chunk", str(max((segment.last_chunk for segment in segments), default=0)))
        names = [segment_name(segment.collection, segment.language) for segment in segments]
        set_meta(connection, "snapshot_segments", " ".join(names))
        # What was deleted after the rows were read still stands in these files.
        connection.execute("DELETE FROM tombstones WHERE generation <= ?", (at,))
    with store.writing() as connection:
        _clean(final.parent, meta(connection, "snapshot"))


def pending_changes(connection: sqlite3.Connection) -> tuple[int, int]:
    """Chunks added and deleted since the snapshot was built."""
    last = int(meta(connection, "snapshot_last_chunk") or 0)
    (added,) = connection.execute("SELECT count(*) FROM chunks WHERE id > ?", (last,)).fetchone()
    (deleted,) = connection.execute("SELECT count(*) FROM tombstones WHERE chunk <= ?", (last,)).fetchone()
    return added, deleted


def _outdated(connection: sqlite3.Connection, folder: Path, share: float) -> bool:
    (total,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
    name = meta(connection, "snapshot")
    if name is None:
        return bool(total >= REBUILD_CHUNKS)
    changed = sum(pending_changes(connection)) >= max(REBUILD_CHUNKS, share * total)
    return changed or not _readable(connection, folder / name)


def load_snapshot(connection: sqlite3.Connection, folder: Path) -> list[Segment]:
    """The segments of the snapshot that the store names, one for each language of each collection.

    Raises:
        StoreError: files are missing, cut short or of another format.
    """
    names = meta(connection, "snapshot_segments")
    return [Segment.load(folder / name) for name in (LANGUAGES if names is None else names.split())]


def _dead_chunks(connection: sqlite3.Connection, day: date) -> Iterator[int]:
    """Chunks that may stand in a segment but are not to be found: deleted, or of a document that has expired."""
    for (chunk,) in connection.execute(
        """SELECT chunk FROM tombstones UNION ALL
           SELECT c.id FROM documents d JOIN chunks c ON c.document = d.number WHERE d.expires < ?""",
        (day.isoformat(),),
    ):
        yield chunk


def _readable(connection: sqlite3.Connection, folder: Path) -> bool:
    try:
        load_snapshot(connection, folder)
    except StoreError:
        return False
    return True


def _clean(folder: Path, current: str | None) -> None:
    """Remove other snapshots, and builds that were broken off."""
    for path in folder.iterdir():
        if path.name.startswith(_BUILDING):
            abandoned = time.time() - path.stat().st_mtime > _ABANDONED_SECONDS
        else:
            abandoned = path.name != current
        if abandoned:
            shutil.rmtree(path, ignore_errors=True)
