"""Answers a question of the review list with a document, which goes through the normal ingest, and asks it again."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import yaml

from assistant.advisor import Advisor
from assistant.errors import InvalidInput
from assistant.events import Answered
from assistant.review.items import Item
from assistant.schema import Answer
from assistant.understand.state import DialogueState
from knowledge.ingest import FileReport, ingest

FOLDER = "review"
"""Of the documents written here, in the data folder."""
_MAX_POINTS = 4
_FIGURE = re.compile(
    r"\b[A-Za-z][A-Za-z0-9-]*-\w+|\b[A-Za-z]*[A-Z][A-Za-z0-9]*[A-Z0-9]\w*"
    r"|\d+(?:[.,:]\d+)*\s*(?:%|[A-Za-z]{1,5}\b|[\u4e00-\u9fff](?![\u4e00-\u9fff]))?"
)
_CLAUSE = re.compile(r"[，。；！？：\n]|[,.;:!?](?!\d)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item."""

    item: Item
    report: FileReport
    after: Answer
    changed: bool
    """Whether the question is answered now, citing the document."""


def answer_item(
    advisor: Advisor,
    item: Item,
    *,
    text: str = "",
    file: Path | None = None,
    title: str = "",
    collection: str = "default",
) -> Outcome:
    """Write or take a document, index it and ask the question again; the item is answered when the document is cited.

    Args:
        text: Markdown; the question becomes its heading. Or else `file`, of any kind that can be indexed.

    Raises:
        InvalidInput: neither or both are given, or the document can't be indexed; says why.
    """
    if bool(text.strip()) == (file is not None):
        raise InvalidInput("Give either the answer's text or a file that holds it.")
    folder = advisor.settings.data_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    name = f"review-{item.id[:8]}"
    if file is not None:
        path = folder / f"{name}-{file.name}"
        shutil.copyfile(file, path)
    else:
        path = folder / f"{name}.md"
        path.write_text(document(item, text, title), "utf-8")
    settings = advisor.settings
    report = ingest(advisor.store, advisor.encoder, [path], limits=settings.limits, collection=collection).files[0]
    if report.status == "failed" or report.document_id is None:
        path.unlink()
        raise InvalidInput(f"The document can't be indexed: {report.reason}")
    after = ask_again(advisor, item.turns)
    cited = [citation.quote for citation in after.citations if citation.document_id == report.document_id]
    changed = after.status == "answered" and bool(cited)
    points = key_points(cited, after.text) if changed else []
    item = advisor.reviews.set_answered(item, path.name, after, points, "answered" if changed else "open")
    return Outcome(item, report, after, changed)


def ask_again(advisor: Advisor, turns: Sequence[str]) -> Answer:
    """What is said to the last of these turns now; nothing of it is kept."""
    state = DialogueState()
    answer: Answer | None = None
    for turn in turns:
        for event in advisor.reply(turn, state):
            if isinstance(event, Answered):
                answer = event.answer
        assert answer is not None
        state = DialogueState.model_validate(answer.state)
    assert answer is not None
    return answer


def document(item: Item, text: str, title: str) -> str:
    """The document: front matter, the question as a heading, and the answer."""
    heading = " ".join(item.question.split())
    matter = {"title": title.strip() or heading, "date": date.today().isoformat(), "review": item.id}
    if item.topic:
        matter["topic"] = item.topic
    written = yaml.safe_dump(matter, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{written}---\n\n# {matter['title']}\n\n## {heading}\n\n{text.strip()}\n"


def key_points(quotes: Sequence[str], text: str) -> list[list[str]]:
    """What the answer must say from now on: figures and names of what it cites, or else its clauses.

    A draft: whoever reviews may put better ones in its place.
    """
    said = _squeezed(text)
    figures = [match.group().strip() for quote in quotes for match in _FIGURE.finditer(quote)]
    clauses = sorted((c.strip() for quote in quotes for c in _CLAUSE.split(quote)), key=len, reverse=True)
    stated = [figure for figure in dict.fromkeys(figures) if len(figure) > 1 and _squeezed(figure) in said]
    points = stated[:_MAX_POINTS]
    points += [clause for clause in clauses if len(clause) > 1 and _squeezed(clause) in said][:2]
    return [[point] for point in points]


def _squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
