"""Search: the passages of the store that answer a question, and how likely it is that they do."""

from __future__ import annotations

import itertools
import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from knowledge.background import Background, Similarity
from knowledge.collections import Groups, readable
from knowledge.coverage import TOP, Found, probability
from knowledge.encoders.base import Encoded, Encoder
from knowledge.encoders.tokens import maxsim, pack
from knowledge.fusion import COSINE_SPREAD, LATE_WEIGHT, Evidence, bridged, fuse, standardised
from knowledge.glossary import Glossary, load_glossary
from knowledge.index import Floats, Index, LexicalScores, Places, refresh_snapshot
from knowledge.lexical import terms
from knowledge.records import Hit, Language, SearchResult, Sentence
from knowledge.rows import VectorKind, load_references, unpack_spans
from knowledge.segment import Ints
from knowledge.statements import generation, meta
from knowledge.store import Store

DENSE_ROWS = 150
"""Nearest vectors of each language whose passages are candidates; a passage has several."""
LEXICAL_CANDIDATES = 100
STATES = 3
"""Generations that are kept: while one is being written, searches that began before it still need the last."""
RERANKED = 30
"""Candidates that late interaction looks at."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """n passages, best first, with what speaks for them."""

    places: Places
    chunk_ids: list[int]
    scores: Floats
    evidence: Evidence
    dense: Floats
    """(n,) best cosine of any of the passage's vectors."""
    late: Floats
    """(n,) MaxSim; for those that were not reranked the lowest of the others, 0 without token vectors."""
    sentences: Sequence[Floats]
    """Cosine of each sentence of each passage."""


@dataclass(frozen=True, slots=True)
class _State:
    """What is searched at one generation."""

    index: Index
    background: Background
    version: str | None
    """Of the background."""


_NO_TOKENS = pack(np.zeros((0, 1), np.float32))


class Searcher:
    """Searches a store. Safe to share between threads; sees every committed change of any process."""

    def __init__(self, store: Store, encoder: Encoder, glossary: Glossary | None = None) -> None:
        """Take the index of the store's present state.

        Args:
            store: to search.
            encoder: that the store was built with.
            glossary: other words for what a question names; default: the shipped one.

        Raises:
            EncoderMismatch: the store was built with another encoder.
        """
        store.check_encoder(encoder.identity)
        self._store = store
        self._encoder = encoder
        self._glossary = glossary or load_glossary()
        self._lock = threading.Lock()
        self._states: dict[tuple[int, date], _State] = {}
        if not store.read_only:
            refresh_snapshot(store)

    def search(
        self,
        question: str,
        k: int = 10,
        query: Encoded | None = None,
        groups: Groups = None,
        store: Store | None = None,
    ) -> SearchResult:
        """The k best passages.

        Args:
            question: in either language.
            k: how many passages.
            query: the question as the encoder gave it, where it has been encoded already.
            groups: only what these may read is searched, counted and weighed. None: everything.
            store: this one pinned, for several reads of one state; None: its present state.

        Raises:
            EncoderMismatch: the store was rebuilt with another encoder meanwhile.
            StoreError: the store can't be read.
        """
        query = query or self._encoder.query(question)
        language = question_language(question)
        with (store or self._store).reading() as connection:
            self._store.check_encoder_in(connection, self._encoder.identity)
            index, background = self._current(connection)
            index = index.restricted(readable(connection, groups))
            if not len(index):
                return SearchResult(query.vector, (), 0.0)
            similar = background.similarity(query, language)
            candidates, found = _search(connection, index, self._glossary, query, question, language, similar)
            hits = _hits(connection, candidates, k)
        coverage = probability(found, background, similar, language)
        return SearchResult(query.vector, hits, coverage)

    def evidence(self, question: str) -> tuple[Found | None, Similarity]:
        """What the coverage of a question is judged by; nothing found in an empty store."""
        query = self._encoder.query(question)
        language = question_language(question)
        with self._store.reading() as connection:
            index, background = self._current(connection)
            similar = background.similarity(query, language)
            found = (
                _search(connection, index, self._glossary, query, question, language, similar)[1]
                if len(index)
                else None
            )
        return found, similar

    def language_means(self) -> dict[Language, Floats]:
        """The mean vector of a language's background passages: what all its texts share; empty in an empty store."""
        with self._store.reading() as connection:
            _, background = self._current(connection)
        return {language: rows.mean(axis=0) for language, rows in background.passages.items() if len(rows)}

    def candidates(self, question: str) -> Candidates:
        """All candidates with what speaks for them, for measuring each kind of evidence by itself."""
        query = self._encoder.query(question)
        language = question_language(question)
        with self._store.reading() as connection:
            index, background = self._current(connection)
            similar = background.similarity(query, language)
            return _search(connection, index, self._glossary, query, question, language, similar)[0]

    def _current(self, connection: sqlite3.Connection) -> tuple[Index, Background]:
        today = date.today()
        key = generation(connection), today
        with self._lock:
            kept = self._states.get(key)
            if kept is None:
                # Only from an earlier state: a later one holds passages that this transaction doesn't see.
                earlier = max((known for known in self._states if known < key), default=None)
                kept = self._read(connection, today, self._states[earlier] if earlier else None)
                self._states[key] = kept
                for known in sorted(self._states)[:-STATES]:
                    del self._states[known]
            return kept.index, kept.background

    def _read(self, connection: sqlite3.Connection, today: date, earlier: _State | None) -> _State:
        index = Index.read(connection, self._store.folder, earlier.index if earlier else None, today)
        version = meta(connection, "background")
        if earlier is not None and earlier.version == version:
            return _State(index, earlier.background, version)
        return _State(index, Background.read(connection), version)


def question_language(question: str) -> Language:
    """zh when the question holds a Chinese character, since English words stand in Chinese questions too."""
    return "zh" if any("\u3400" <= character <= "\u9fff" for character in question) else "en"


def _search(
    connection: sqlite3.Connection,
    index: Index,
    glossary: Glossary,
    query: Encoded,
    question: str,
    language: Language,
    similar: Similarity,
) -> tuple[Candidates, Found]:
    lexical = index.lexical(connection, list(dict.fromkeys(terms(question))), glossary.expansions(question))
    candidates = find_candidates(connection, index, query, lexical, language, similar)
    return candidates, _found(index, candidates, query, lexical, language, similar)


def find_candidates(
    connection: sqlite3.Connection,
    index: Index,
    query: Encoded,
    lexical: LexicalScores,
    language: Language,
    similar: Similarity,
) -> Candidates:
    """The union of what is near by meaning, in each language, and by words, ranked."""
    places = np.union1d(index.nearest(query.vector, DENSE_ROWS), lexical.best(LEXICAL_CANDIDATES))
    paragraph, best, sentences = _by_kind(*index.cosines(query.vector, places))
    same = index.in_language(places, language)
    evidence = Evidence(
        bridged(paragraph, same, similar.gap), bridged(best, same, similar.gap), lexical.scores[places], same
    )
    scores = fuse(evidence)
    chunk_ids = index.chunk_ids(places)
    reranked = np.argsort(-scores, kind="stable")[:RERANKED]
    late = _late_interaction(connection, query, [chunk_ids[i] for i in reranked])
    late = bridged(late, same[reranked], similar.late_gap if len(query.tokens) else 0.0)
    everywhere = np.full(len(places), late.min(initial=np.inf), np.float32)
    everywhere[reranked] = late
    scores = scores + np.float32(LATE_WEIGHT) * standardised(everywhere, COSINE_SPREAD)
    order = np.argsort(-scores, kind="stable")
    return Candidates(
        places=places[order],
        chunk_ids=[chunk_ids[i] for i in order],
        scores=scores[order],
        evidence=Evidence(evidence.paragraph[order], evidence.best[order], evidence.lexical[order], same[order]),
        dense=np.maximum(paragraph, best)[order],
        late=everywhere[order],
        sentences=[sentences[i] for i in order],
    )


def _by_kind(cosines: Floats, kinds: Ints, starts: Places) -> tuple[Floats, Floats, list[Floats]]:
    """Of each chunk: the paragraph's cosine, the best of sentences and question forms, and each sentence's."""
    first = starts[:-1]
    if not len(first):
        return np.zeros(0, np.float32), np.zeros(0, np.float32), []
    whole = kinds == VectorKind.PARAGRAPH.value
    paragraph = np.maximum.reduceat(np.where(whole, cosines, np.float32(-1)), first)
    best = np.maximum.reduceat(np.where(whole, np.float32(-1), cosines), first)
    best = np.where(np.diff(starts) > 1, best, paragraph)
    is_sentence = kinds == VectorKind.SENTENCE.value
    bounds = itertools.pairwise(starts.tolist())
    return paragraph, best, [cosines[start:end][is_sentence[start:end]] for start, end in bounds]


def _late_interaction(connection: sqlite3.Connection, query: Encoded, chunk_ids: Sequence[int]) -> Floats:
    """MaxSim of each chunk; 0 where there are no token vectors."""
    if not len(query.tokens) or not chunk_ids:
        return np.zeros(len(chunk_ids), np.float32)
    marks = ",".join("?" * len(chunk_ids))
    packed = dict(connection.execute(f"SELECT chunk, packed FROM token_vectors WHERE chunk IN ({marks})", chunk_ids))
    return maxsim(query.tokens, [packed.get(chunk, _NO_TOKENS) for chunk in chunk_ids])


def _found(
    index: Index,
    candidates: Candidates,
    query: Encoded,
    lexical: LexicalScores,
    language: Language,
    similar: Similarity,
) -> Found:
    top = candidates.places[:TOP]
    total = sum(lexical.idf.values()) or 1.0
    held = [sum(lexical.idf[term] for term, places in lexical.postings.items() if place in places) for place in top]
    sample, same = index.sample(query.vector, language)
    return Found(
        scores=candidates.scores,
        evidence=candidates.evidence,
        late=candidates.late,
        reranked=min(RERANKED, len(candidates.scores)),
        overlap=np.array(held, np.float32) / np.float32(total),
        known=sum(lexical.idf[term] for term, places in lexical.postings.items() if len(places)) / total,
        sample=bridged(sample, same, similar.gap),
        query=query.vector,
        paragraphs=index.paragraphs(top),
        passages=len(index),
    )


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
        dense_score=float(found.dense[at]),
        lexical_score=float(found.evidence.lexical[at]),
        sentences=tuple(
            Sentence(span.start, span.end, text[span.start - start : span.end - start], float(score))
            for span, score in zip(spans, scores, strict=True)
        ),
        references=load_references(references),
        date=facts.get("date") or facts.get("reviewed"),
    )
