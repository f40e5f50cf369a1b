"""Passages that look like real ones, in any number: lengths, words, vectors and tokens of the shipped guidance, mixed.

A synthetic passage stands between two real ones that are near each other, with noise that varies as the differences of
real vectors do, so that its neighbourhood is as crowded as a real passage's. Uniformly random vectors have no
neighbourhoods, and every approximate index looks bad on them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge import documents, lexical
from knowledge.chunking import chunk
from knowledge.encoders import Encoder
from knowledge.encoders.base import normalised
from knowledge.encoders.tokens import pack, unpack
from knowledge.ingest import passage_text, prepare
from knowledge.questions import attach, is_question_file, parse_questions, read_question_file
from knowledge.records import Chunk, LoadedDocument, Span
from knowledge.rows import PreparedChunk, PreparedDocument, VectorKind
from knowledge.segment import LANGUAGES
from knowledge.shipped import shipped_paths

NEIGHBOURS = 20
"""Real passages near enough to be mixed with one."""
NOISE = 0.5
"""Of the difference of two real vectors."""
REPLACED = 0.5
"""Share of a passage's words that are drawn anew from all real words, as often as each occurs."""
_WORD = re.compile(r"[A-Za-z][A-Za-z-]*|\d+(?:\.\d+)?|[\u4e00-\u9fff]{1,2}")

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Material:
    """The shipped guidance, ready to be mixed."""

    real: list[PreparedDocument]
    near: dict[tuple[int, int], list[tuple[int, int]]]
    """For each passage, by document and place in it, those of the same language that are nearest."""
    rows: dict[tuple[str, VectorKind], Floats]
    """All vectors of a language and kind."""
    words: dict[str, NDArray[np.str_]]
    """All words of a language in order, so that a draw meets each as often as it occurs."""
    tokens: dict[tuple[int, int], Floats]

    @classmethod
    def of(cls, encoder: Encoder) -> Material:
        """Encode the shipped guidance: about a minute."""
        real = [_prepared(encoder, path) for path in documents.walk(shipped_paths()) if not is_question_file(path)]
        rows: dict[tuple[str, VectorKind], Floats] = {}
        words: dict[str, NDArray[np.str_]] = {}
        near: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for language in LANGUAGES:
            places = [
                (i, j)
                for i, document in enumerate(real)
                if document.loaded.language == language
                for j in range(len(document.chunks))
            ]
            chunks = [real[i].chunks[j] for i, j in places]
            for kind in VectorKind:
                rows[language, kind] = np.concatenate([one.vectors[kind] for one in chunks])
            paragraphs = rows[language, VectorKind.PARAGRAPH]
            order = np.argsort(-(paragraphs @ paragraphs.T), axis=1)[:, 1 : NEIGHBOURS + 1]
            near |= {place: [places[at] for at in nearest] for place, nearest in zip(places, order, strict=True)}
            texts = [document.loaded.text for document in real if document.loaded.language == language]
            words[language] = np.array(_WORD.findall("\n".join(texts)))
        tokens = {
            (i, j): unpack(part.tokens) for i, document in enumerate(real) for j, part in enumerate(document.chunks)
        }
        return cls(real, near, rows, words, tokens)

    def synthetic(self, start: int = 0) -> Iterator[PreparedDocument]:
        """Documents from number `start` on, without end; a number always gives the same document."""
        return map(self._document, itertools.count(start))

    def _document(self, number: int) -> PreparedDocument:
        random = np.random.default_rng([17, number])
        at = number % len(self.real)
        model = self.real[at]
        language = model.loaded.language
        title = self._reworded(model.loaded.title, language, random)
        text = f"{title}\n\n"
        chunks: list[PreparedChunk] = []
        for place, part in enumerate(model.chunks):
            section = tuple(self._reworded(heading, language, random) for heading in part.chunk.section)
            sentences: list[Span] = []
            start = len(text)
            for sentence in part.chunk.sentences or [Span(part.chunk.start, part.chunk.end)]:
                words = self._reworded(model.loaded.text[sentence.start : sentence.end], language, random)
                sentences.append(Span(len(text), len(text) + len(words)))
                text += f"{words}\n"
            spans = tuple(sentences) if part.chunk.sentences else ()
            passage = Chunk(start, sentences[-1].end, section, None, spans)
            chunks.append(self._chunk(passage, title, text[start:].rstrip("\n"), part, (at, place), language, random))
        loaded = replace(model.loaded, text=text, title=title, blocks=(), references=(), metadata={})
        name = f"synthetic/{number:07}.md"
        return PreparedDocument(f"/{name}", f"{name} of 1", name, loaded, chunks)

    def _chunk(
        self,
        passage: Chunk,
        title: str,
        text: str,
        model: PreparedChunk,
        place: tuple[int, int],
        language: str,
        random: np.random.Generator,
    ) -> PreparedChunk:
        other = self.near[place][random.integers(len(self.near[place]))]
        beside = self.real[other[0]].chunks[other[1]]
        share = random.uniform(0.2, 0.8)
        vectors = {
            kind: self._mixed(model.vectors[kind], beside.vectors[kind], share, self.rows[language, kind], random)
            for kind in VectorKind
        }
        own, others = self.tokens[place], self.tokens[other]
        tokens = np.concatenate([own[: len(own) // 2], others[len(others) // 2 :]])
        return PreparedChunk(
            chunk=passage,
            questions=model.questions,
            vectors=vectors,
            tokens=pack(tokens),
            terms=lexical.term_counts(passage_text(title, passage.section, text)),
        )

    def _mixed(
        self, own: Floats, others: Floats, share: float, all_rows: Floats, random: np.random.Generator
    ) -> Floats:
        count = len(own)
        if not count:
            return own
        beside = others[random.integers(len(others), size=count)] if len(others) else own
        one, two = (all_rows[random.integers(len(all_rows), size=count)] for _ in range(2))
        return normalised(share * own + (1 - share) * beside + NOISE * (one - two))

    def _reworded(self, text: str, language: str, random: np.random.Generator) -> str:
        found = list(_WORD.finditer(text))
        chosen = np.flatnonzero(random.random(len(found)) < REPLACED)
        drawn = self.words[language][random.integers(len(self.words[language]), size=len(chosen))].tolist()
        pieces: list[str] = []
        end = 0
        for at, word in zip(chosen.tolist(), drawn, strict=True):
            pieces += (text[end : found[at].start()], word)
            end = found[at].end()
        return " ".join(("".join(pieces) + text[end:]).split())


def count_passages(prepared: Sequence[PreparedDocument]) -> tuple[int, int]:
    """Passages and vectors."""
    chunks = [part for document in prepared for part in document.chunks]
    return len(chunks), sum(len(rows) for part in chunks for rows in part.vectors.values())


def _prepared(encoder: Encoder, path: Path) -> PreparedDocument:
    loaded: LoadedDocument = documents.load(path)
    chunks = chunk(loaded)
    questions = attach(parse_questions(read_question_file(path)), chunks)
    return PreparedDocument(str(path), str(path), str(path), loaded, prepare(encoder, loaded, chunks, questions))
