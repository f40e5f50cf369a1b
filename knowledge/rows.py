"""What goes into the store and what comes out of it, as plain records and blobs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from knowledge.records import Chunk, Language, LoadedDocument, Reference, Span


class VectorKind(IntEnum):
    """What a vector of a chunk stands for."""

    PARAGRAPH = 1
    SENTENCE = 2
    QUESTION = 3


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk with everything that is derived from it."""

    chunk: Chunk
    questions: tuple[str, ...]
    vectors: Mapping[VectorKind, NDArray[np.float32]]
    """(n, dimension) each: 1 paragraph, as many sentences and question forms as the chunk has."""
    tokens: bytes
    """Packed token vectors; empty when the encoder gives none."""
    terms: Counter[str]


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be written in one transaction."""

    location: str
    content_hash: str
    fingerprint: str
    loaded: LoadedDocument
    chunks: Sequence[PreparedChunk]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A stored document without its text."""

    document_id: str
    title: str
    location: str
    """The first of `names`."""
    names: tuple[str, ...]
    """Paths and URLs that its content was read from."""
    language: Language
    media_type: str
    encoding: str | None
    pages: int | None
    chunks: int
    references: tuple[Reference, ...]
    metadata: Mapping[str, str]
    indexed_at: str
    """ISO 8601, UTC."""
    collection: str
    expires: date | None
    """The last day on which it is used."""


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A stored passage: `text == source_text[start:end]`."""

    chunk_id: int
    start: int
    end: int
    text: str
    section: tuple[str, ...]
    page: int | None
    sentences: tuple[Span, ...]
    questions: tuple[str, ...]


def pack_spans(spans: Sequence[Span]) -> bytes:
    """Spans as int32 pairs."""
    return np.array([(span.start, span.end) for span in spans], dtype="<i4").tobytes()


def unpack_spans(blob: bytes) -> tuple[Span, ...]:
    """The reverse of `pack_spans`."""
    return tuple(Span(start, end) for start, end in np.frombuffer(blob, "<i4").reshape(-1, 2).tolist())


def pack_vectors(vectors: NDArray[np.float32]) -> bytes:
    """Rows as float16: a cosine changes by less than 0.0005, the store is half as large."""
    return vectors.astype("<f2").tobytes()


def dump_references(references: Sequence[Reference]) -> str:
    """References as JSON."""
    return json.dumps([[r.name, r.url, r.as_of.isoformat() if r.as_of else None] for r in references])


def load_references(text: str) -> tuple[Reference, ...]:
    """The reverse of `dump_references`."""
    return tuple(
        Reference(name, url, date.fromisoformat(as_of) if as_of else None) for name, url, as_of in json.loads(text)
    )
