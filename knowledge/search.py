"""Search: the passages of the store that answer a question, and how likely it is that they do."""

from __future__ import annotations

import itertools
import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.encoders.base import Encoded, Encoder
from knowledge.encoders.tokens import maxsim, pack
from knowledge.fusion import COSINE_SPREAD, LATE_WEIGHT, Evidence, fuse, standardised
from knowledge.index import Index, LexicalScores, refresh_snapshot
from knowledge.lexical import terms
from knowledge.records import Hit, SearchResult, Sentence
from knowledge.rows import VectorKind, load_references, unpack_spans
from knowledge.segment import LANGUAGES, Ints
from knowledge.store import Store, generation

DENSE_ROWS = 300
"""Nearest vectors whose passages are candidates; a passage has several."""
LEXICAL_CANDIDATES = 100
RERANKED = 30
"""Candidates that late interaction looks at."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """n passages, best first, with what speaks for them."""

    places: NDArray[np.int64]
    chunk_ids: list[int]
    scores: NDArray[np.float32]
    evidence: Evidence
    late: NDArray[np.float32]
    """(n,) MaxSim; for those that were not reranked the lowest of the others, 0 without token vectors."""
    sentences: Sequence[NDArray[np.float32]]
    """Cosine of each sentence of each passage."""


EMPTY = pack(np.zeros((0, 1), np.float32))


class Searcher:
    """Searches a store. Safe to share between threads; sees every committed change of any process."""

    def __init__(self, store: Store, encoder: Encoder) -> None:
        """Take the index of the store's present state.

        Raises:
            EncoderMismatch: the store was built with another encoder.
        """
        store.check_encoder(encoder.identity)
        self._store = store
        self._encoder = encoder
        self._lock = threading.Lock()
        self._index: Index | None = None
        if not store.read_only:
            refresh_snapshot(store)

    def search(self, question: str, k: int = 10) -> SearchResult:
        """The k best passages.

        Raises:
            EncoderMismatch: the store was rebuilt with another encoder meanwhile.
            StoreError: the store can't be read.
        """
        query = self._encoder.query(question)
        self._store.check_encoder(self._encoder.identity)
        with self._store.reading() as connection:
            index = self._current(connection)
            lexical = index.lexical(connection, list(dict.fromkeys(terms(question))))
            found = find_candidates(connection, index, query, lexical, question_language(question))
            hits = _hits(connection, found, k)
        return SearchResult(query_vector=query.vector, hits=hits, coverage=1.0 if hits else 0.0)

    def _current(self, connection: sqlite3.Connection) -> Index:
        with self._lock:
            if self._index is None or self._index.state.generation != generation(connection):
                self._index = Index.read(connection, self._store.folder, self._index)
            return self._index


def question_language(question: str) -> str:
    """zh when the question holds a Chinese character, since English words stand in Chinese questions too."""
    return "zh" if any("\u3400" <= character <= "\u9fff" for character in question) else "en"


def find_candidates(
    connection: sqlite3.Connection, index: Index, query: Encoded, lexical: LexicalScores, language: str
) -> Candidates:
    """The union of what is near by meaning and by words, ranked."""
    places = np.union1d(index.nearest(query.vector, DENSE_ROWS), lexical.best(LEXICAL_CANDIDATES))
    paragraph, best, sentences = _by_kind(*index.cosines(query.vector, places))
    same_language = index.languages(places) == LANGUAGES.index(language)
    evidence = Evidence(paragraph, best, lexical.scores[places], same_language)
    scores = fuse(evidence)
    chunk_ids = index.chunk_ids(places)
    late = _late_interaction(connection, query, chunk_ids, np.argsort(-scores, kind="stable")[:RERANKED])
    scores = scores + LATE_WEIGHT * standardised(late, COSINE_SPREAD)
    order = np.argsort(-scores, kind="stable")
    return Candidates(
        places=places[order],
        chunk_ids=[chunk_ids[i] for i in order],
        scores=scores[order],
        evidence=Evidence(paragraph[order], best[order], evidence.lexical[order], same_language[order]),
        late=late[order],
        sentences=[sentences[i] for i in order],
    )


def _by_kind(
    cosines: NDArray[np.float32], kinds: Ints, starts: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32], list[NDArray[np.float32]]]:
    """Of each chunk: the paragraph's cosine, the best of sentences and question forms, and each sentence's."""
    paragraph, best, sentences = [], [], []
    for start, end in itertools.pairwise(starts.tolist()):
        values, which = cosines[start:end], kinds[start:end]
        whole = float(values[which == VectorKind.PARAGRAPH].max(initial=-1.0))
        paragraph.append(whole)
        best.append(float(values[which != VectorKind.PARAGRAPH].max(initial=-1.0)) if end - start > 1 else whole)
        sentences.append(values[which == VectorKind.SENTENCE])
    return np.array(paragraph, np.float32), np.array(best, np.float32), sentences


def _late_interaction(
    connection: sqlite3.Connection, query: Encoded, chunk_ids: Sequence[int], reranked: NDArray[np.int64]
) -> NDArray[np.float32]:
    late = np.zeros(len(chunk_ids), np.float32)
    if not len(query.tokens) or not len(reranked):
        return late
    wanted = [chunk_ids[i] for i in reranked]
    marks = ",".join("?" * len(wanted))
    packed = dict(connection.execute(f"SELECT chunk, packed FROM token_vectors WHERE chunk IN ({marks})", wanted))
    values = maxsim(query.tokens, [packed.get(chunk, EMPTY) for chunk in wanted])
    late[:] = values.min()
    late[reranked] = values
    return late


def _hits(connection: sqlite3.Connection, found: Candidates, k: int) -> tuple[Hit, ...]:
    wanted = found.chunk_ids[:k]
    marks = ",".join("?" * len(wanted))
    rows = {
        row[0]: row[1:]
        for row in connection.execute(
            f"""SELECT c.id, d.id, d.title, d.language, d.doc_references, d.metadata, c.section, c.page,
                       c.start, c."end", c.sentences, c.text,
                       (SELECT location FROM names WHERE document = d.number ORDER BY position LIMIT 1)
                FROM chunks c JOIN documents d ON d.number = c.document
                WHERE c.id IN ({marks})""",
            wanted,
        )
    }
    return tuple(_hit(found, at, rows[chunk]) for at, chunk in enumerate(wanted))


def _hit(found: Candidates, at: int, row: Sequence[Any]) -> Hit:
    document_id, title, language, references, metadata, section, page, start, end, sentences, text, location = row
    facts: Mapping[str, str] = json.loads(metadata)
    scores = found.sentences[at]
    spans = unpack_spans(sentences)
    return Hit(
        chunk_id=found.chunk_ids[at],
        document_id=document_id,
        title=title,
        location=location,
        language=language,
        section=" > ".join(json.loads(section)),
        page=page,
        start=start,
        end=end,
        text=text,
        score=float(found.scores[at]),
        dense_score=float(max(found.evidence.paragraph[at], found.evidence.best[at])),
        lexical_score=float(found.evidence.lexical[at]),
        sentences=tuple(
            Sentence(span.start, span.end, text[span.start - start : span.end - start], float(score))
            for span, score in zip(spans, scores, strict=True)
        ),
        references=load_references(references),
        date=facts.get("date") or facts.get("reviewed"),
    )
