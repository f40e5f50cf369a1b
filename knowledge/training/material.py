"""What the encoder is trained on: passages with the questions that each answers, and texts that it must not forget."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge.background import TEXTS
from knowledge.chunking import chunk
from knowledge.documents import load, walk
from knowledge.ingest import passage_text
from knowledge.questions import (
    attach,
    heading_key,
    is_question_file,
    parse_questions,
    read_question_file,
    typed_questions,
)
from knowledge.records import Chunk, Language, LoadedDocument


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage and what it answers."""

    subject: str
    """The document's stem; documents of one subject in two languages answer the same questions."""
    language: Language
    heading: str
    text: str
    under_headings: str
    """The text under its title and heading path, as it is encoded at ingest."""
    sentences: tuple[str, ...]
    questions: tuple[str, ...]


def read_passages(paths: Sequence[Path]) -> list[Passage]:
    """The passages of documents, cut as they are indexed, with the questions that each answers.

    Where a document has no question forms beside it, its headings and sentences stand in for them (the inverse cloze
    task, Lee et al. 2019, arXiv:1906.00300).

    Raises:
        DocumentError: a document or its question forms can't be read.
    """
    extra = _typed_questions()
    passages: list[Passage] = []
    for path in sorted(file for file in walk(paths) if not is_question_file(file)):
        loaded = load(path)
        parts = chunk(loaded)
        forms = attach(parse_questions(read_question_file(path)), parts)
        written = any(forms)
        passages += [
            _passage(path.stem, loaded, part, (*own, *extra[path.stem, heading_key(_heading(part, loaded))]), written)
            for part, own in zip(parts, forms, strict=True)
        ]
    return [passage for passage in passages if passage.questions]


def read_general_texts() -> list[str]:
    """Questions and passages on other subjects, both languages."""
    with TEXTS.open(encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def _passage(subject: str, loaded: LoadedDocument, part: Chunk, questions: tuple[str, ...], written: bool) -> Passage:
    text = loaded.text[part.start : part.end]
    sentences = tuple(loaded.text[span.start : span.end] for span in part.sentences)
    return Passage(
        subject=subject,
        language=loaded.language,
        heading=_heading(part, loaded),
        text=text,
        under_headings=passage_text(loaded.title, part.section, text),
        sentences=sentences,
        questions=questions if written or questions else (*part.section, *sentences),
    )


def _heading(part: Chunk, loaded: LoadedDocument) -> str:
    return part.section[-1] if part.section else loaded.title


def _typed_questions() -> dict[tuple[str, str], tuple[str, ...]]:
    """By subject and heading."""
    found: defaultdict[tuple[str, str], tuple[str, ...]] = defaultdict(tuple)
    for question in typed_questions():
        found[question.subject, heading_key(question.section)] += (question.text,)
    return found
