"""Question forms: the questions that each section of a document answers, in a file beside it.

Beside `SUBJECT.md` lies `SUBJECT.questions.txt`. A line `## Heading` names a section, each other line is a question.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge.errors import DocumentError
from knowledge.records import Chunk

SUFFIX = ".questions.txt"
TYPED = Path(__file__).with_name("training") / "questions.jsonl"


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """A question on the shipped guidance as somebody types it, which the question forms lack."""

    text: str
    subject: str
    """Stem of the document."""
    section: str
    """Heading in the document of either language."""


def typed_questions() -> list[TypedQuestion]:
    """All of them, in a fixed order."""
    rows = [json.loads(line) for line in TYPED.read_text(encoding="utf-8").splitlines()]
    return [TypedQuestion(row["question"], row["subject"], row["section"]) for row in rows]


def is_question_file(path: Path) -> bool:
    """Whether the file holds question forms rather than a document."""
    return path.name.lower().endswith(SUFFIX)


def read_question_file(document: Path) -> str:
    """The text of the question forms beside a document; empty when there are none.

    Raises:
        DocumentError: the file is not UTF-8 text.
    """
    path = document.with_name(document.stem + SUFFIX)
    if not path.is_file():
        return ""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(f"The question forms in {path.name} are not UTF-8 text. Save them as UTF-8.") from error


def parse_questions(text: str) -> dict[str, tuple[str, ...]]:
    """Questions by heading, in order; those before the first heading stand under the empty one."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in text.splitlines():
        stripped = line.strip("\ufeff \t")
        if stripped.startswith("#"):
            heading = stripped.lstrip("#").strip()
        elif stripped:
            found.setdefault(heading, []).append(stripped)
    return {name: tuple(dict.fromkeys(questions)) for name, questions in found.items()}


def attach(questions: Mapping[str, Sequence[str]], chunks: Sequence[Chunk]) -> list[tuple[str, ...]]:
    """The questions of each chunk: those of its section or of a section around it."""
    by_heading = {heading_key(heading): tuple(forms) for heading, forms in questions.items() if heading}
    return [
        tuple(dict.fromkeys(form for heading in chunk.section for form in by_heading.get(heading_key(heading), ())))
        for chunk in chunks
    ]


def heading_key(heading: str) -> str:
    """The heading as it is compared: width, case and spaces don't count."""
    return "".join(unicodedata.normalize("NFKC", heading).casefold().split())
