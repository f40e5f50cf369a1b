"""The records that pass between loading, chunking, storing and searching.

Every offset counts characters (code points) in the stored source text of one document, so that
`quote == source_text[start:end]` holds from the loader to the citation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Language = Literal["zh", "en"]
BlockKind = Literal["heading", "paragraph", "list_item", "table", "code", "quote"]
Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Reference:
    """A primary source behind a document or one of its figures."""

    name: str
    url: str
    as_of: date | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document's structure. Blocks are in reading order and do not overlap."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """Heading: 1 to 6. List item: nesting depth from 0. Otherwise 0."""
    page: int | None = None
    """1-based; only for paged formats (for slides and sheets: the slide's or sheet's number)."""


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """A file or URL as text with structure; `text` is what is stored, cited and exported."""

    text: str
    blocks: tuple[Block, ...]
    title: str
    language: Language
    media_type: str
    encoding: str | None = None
    """Character encoding that the bytes were decoded with; None for binary formats."""
    pages: int | None = None
    references: tuple[Reference, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    """From front matter or a sidecar file: owner, date, expires, topic, subject, summary, reviewed."""


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open character range in the source text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: what is encoded, found and cited from."""

    start: int
    end: int
    section: tuple[str, ...]
    """Heading path, outermost first, without the document's title."""
    page: int | None
    sentences: tuple[Span, ...]
    """The statements that may be quoted alone, in order, inside [start, end)."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A statement of a found passage with its cosine similarity to the question."""

    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found for a question."""

    chunk_id: int
    document_id: str
    title: str
    location: str
    language: Language
    section: str
    """Heading path joined with ' > '."""
    page: int | None
    start: int
    end: int
    text: str
    score: float
    """Fused, on standardised scores; comparable within one result only."""
    dense_score: float
    lexical_score: float
    sentences: tuple[Sentence, ...]
    references: tuple[Reference, ...] = ()
    date: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages for one question, best first."""

    query_vector: Vector
    hits: tuple[Hit, ...]
    coverage: float
    """Calibrated probability, 0 to 1, that the best passages answer the question."""
