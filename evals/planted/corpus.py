"""The shipped guidance as passages with their statements, without an index: what planted answers are made from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge.chunking import chunk
from knowledge.documents import load
from knowledge.lexical import terms
from knowledge.records import Hit, Sentence
from knowledge.shipped import shipped_paths

_REFERENCE_MARK = re.compile(r"\s*\[ref: [^\]]*\]")
_DEPENDENT = re.compile(r"(?:this|these|those|it|they|such|that|he|she)\b|(?:这|此|该|其|它|因此|所以|但|同时)", re.I)
_LEAST = {"zh": 16, "en": 40}
_MOST = {"zh": 110, "en": 240}


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the guidance that can stand alone, and the passage that holds it."""

    text: str
    hit: Hit

    @property
    def subject(self) -> str:
        """Name of the document, which the two languages share."""
        return Path(self.hit.location).stem

    @property
    def held_out(self) -> bool:
        """Whether its document belongs to the half on which nothing was tuned."""
        return hashlib.sha256(self.subject.encode()).digest()[0] % 2 == 1


def load_corpus() -> list[Hit]:
    """All passages of the shipped guidance."""
    hits: list[Hit] = []
    folders = shipped_paths()
    files = sorted(file for folder in folders for file in ([folder] if folder.is_file() else folder.rglob("*.md")))
    for file in files:
        document = load(file)
        for part in chunk(document):
            text = document.text[part.start : part.end]
            hits.append(
                Hit(
                    chunk_id=len(hits) + 1,
                    document_id=f"{file.parent.name}-{file.stem}",
                    title=document.title,
                    location=f"{file.parent.name}/{file.name}",
                    language=document.language,
                    section=" > ".join(part.section),
                    page=None,
                    start=part.start,
                    end=part.end,
                    text=text,
                    score=1.0,
                    dense_score=0.9,
                    lexical_score=1.0,
                    sentences=tuple(
                        Sentence(span.start, span.end, document.text[span.start : span.end], 0.5)
                        for span in part.sentences
                    ),
                    references=document.references,
                    date=document.metadata.get("date"),
                )
            )
    return hits


def statements(hits: Sequence[Hit]) -> list[Statement]:
    """The sentences that say something alone: no rows of tables, no questions, none that leans on the one before."""
    found = []
    for hit in hits:
        for sentence in hit.sentences:
            text = " ".join(_REFERENCE_MARK.sub("", sentence.text).split())
            size = len(text)
            alone = " | " not in text and not _DEPENDENT.match(text) and not text.endswith(("?", "？", ":", "："))
            if alone and _LEAST[hit.language] <= size <= _MOST[hit.language]:
                found.append(Statement(text, hit))
    return found


class Neighbours:
    """Passages that share the most words with one: what a search would have brought beside it."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._hits = hits
        self._terms = [set(terms(f"{hit.section} {hit.text}")) for hit in hits]

    def of(self, hit: Hit, count: int) -> list[Hit]:
        """In the same language, from other documents, nearest first."""
        own = set(terms(f"{hit.section} {hit.text}"))
        subject = Path(hit.location).stem
        others = [
            (len(own & held) / (1 + len(held)) ** 0.5, -number, other)
            for number, (other, held) in enumerate(zip(self._hits, self._terms, strict=True))
            if other.language == hit.language and Path(other.location).stem != subject
        ]
        return [other for _, _, other in sorted(others, key=lambda row: row[:2], reverse=True)[:count]]
