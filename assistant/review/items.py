"""The review list: questions that ended without an answer, or with a thumbs down."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import delete, insert, select

from assistant.conversations import Conversations
from assistant.errors import AdvisorError, ConversationNotFound
from assistant.review.journal import ENTRIES, REVIEWS, TABLES, UNANSWERED, aware
from assistant.review.privacy import Keep, kept
from assistant.schema import Answer, Language

Kind = Literal["not_covered", "needs_input", "down"]
State = Literal["open", "answered", "done"]
Row = Mapping[str, Any]
"""A line of the journal."""
_NEVER = datetime.min.replace(tzinfo=UTC)


class ItemNotFound(AdvisorError):
    """Nothing on the review list has this id."""


class Item(BaseModel):
    """A question to be looked at. The same question, asked again, is one item."""

    id: str
    """Of its last answer."""
    kind: Kind
    question: str
    turns: list[str]
    """The conversation's questions up to this one."""
    language: Language
    topic: str
    before: str
    """What was said."""
    reasons: list[str]
    """What was written beside thumbs down."""
    asked: int
    """How often."""
    first: datetime
    last: datetime
    surfaces: list[str]
    state: State
    file: str | None = None
    """Name of the document that was written for it."""
    after: Answer | None = None
    """What is said with the document."""
    key_points: list[list[str]] = []
    ids: list[str] = []
    """Of all its answers."""


class Reviews:
    """Reads the list and keeps what became of each item. Safe to share between threads."""

    def __init__(self, conversations: Conversations, keep: Keep) -> None:
        self._conversations = conversations
        self._keep = keep

    def items(self, states: Collection[State] = ("open", "answered", "done")) -> list[Item]:
        """The list, most asked first, newest among equals."""
        groups: dict[str, Item] = {}
        for item in sorted(self._single(), key=lambda item: item.last):
            key = folded("\n".join(item.turns))
            groups[key] = _joined(groups[key], item) if key in groups else item
        chosen = [item for item in groups.values() if item.state in states]
        return sorted(chosen, key=lambda item: (item.asked, item.last), reverse=True)

    def find(self, item_id: str) -> Item:
        """An item by its id or the start of it.

        Raises:
            ItemNotFound: there is none, or more than one.
        """
        found = [item for item in self.items() if any(one.startswith(item_id) for one in item.ids)]
        if not item_id or len(found) != 1:
            what = "Several items begin" if len(found) > 1 else "Nothing on the review list begins"
            raise ItemNotFound(f"{what} with '{item_id}'. `advisor review list` shows their ids.")
        return found[0]

    def set_state(self, item: Item, state: State) -> None:
        """Move an item, with all times that it was asked."""
        self._save(item.model_copy(update={"state": state}))

    def set_answered(self, item: Item, file: str, after: Answer, key_points: list[list[str]], state: State) -> Item:
        """Keep the document that was written for an item and what is said with it."""
        changed = item.model_copy(update={"file": file, "after": after, "key_points": key_points, "state": state})
        self._save(changed)
        return changed

    def _save(self, item: Item) -> None:
        row = {
            "state": item.state,
            "file": item.file,
            "after": item.after.model_dump_json() if item.after else None,
            "key_points": json.dumps(item.key_points, ensure_ascii=False),
            "updated": datetime.now(UTC),
        }
        with self._conversations.begin(TABLES) as connection:
            connection.execute(delete(REVIEWS).where(REVIEWS.c.answer_id.in_(item.ids)))
            connection.execute(insert(REVIEWS), [{**row, "answer_id": one} for one in item.ids])

    def _single(self) -> list[Item]:
        """Each bad answer by itself."""
        with self._conversations.begin(TABLES) as connection:
            rows = [aware(dict(row._mapping)) for row in connection.execute(select(ENTRIES))]
            reviews = {str(row.answer_id): dict(row._mapping) for row in connection.execute(select(REVIEWS))}
        items = self._unanswered(rows)
        for item in self._disliked({str(row["answer_id"]): row for row in rows}):
            known = items.get(item.id)
            items[item.id] = known.model_copy(update={"reasons": item.reasons}) if known else item
        return [_reviewed(item, reviews.get(item.id)) for item in items.values()]

    def _unanswered(self, rows: Sequence[Row]) -> dict[str, Item]:
        """Without an answer; what was asked for and then given is answered later in its conversation."""
        later = _last_answered(rows)
        items: dict[str, Item] = {}
        for row in rows:
            if row["status"] not in UNANSWERED or row["question"] is None:
                continue
            if row["status"] == "needs_input" and later.get(row["conversation_id"], _NEVER) > row["created"]:
                continue
            turns = self._turns(row["conversation_id"], row["answer_id"], row["question"])
            items[row["answer_id"]] = _item(row, row["status"], turns, row["answer"] or "")
        return items

    def _disliked(self, rows: Mapping[str, Row]) -> list[Item]:
        """With a thumb down; several people's thumbs on one answer are one item."""
        items: dict[str, Item] = {}
        for rated in self._conversations.feedback("down"):
            answer = rated.answer
            if not answer.question:
                continue  # nothing of it may be kept
            if answer.id not in items:
                unknown: Row = {"topic": "", "surface": "", "created": rated.created}
                about = dict(rows.get(answer.id, unknown))
                row = aware(about | {"answer_id": answer.id, "language": answer.language})
                turns = self._turns(answer.conversation_id, answer.id, answer.question)
                items[answer.id] = _item(row, "down", turns, answer.text)
            if rated.reason:
                items[answer.id].reasons.append(rated.reason)
        return list(items.values())

    def _turns(self, conversation_id: str, answer_id: str, question: str) -> list[str]:
        """The questions up to an answer; only the last where the conversation was deleted since."""
        try:
            answers = self._conversations.answers(conversation_id)
        except ConversationNotFound:
            answers = []
        for number, answer in enumerate(answers):
            if answer.id == answer_id:
                return [*(kept(earlier.question, self._keep) or "" for earlier in answers[:number]), question]
        return [question]


def _last_answered(rows: Iterable[Row]) -> dict[str, datetime]:
    """When something was last answered in each conversation."""
    last: dict[str, datetime] = {}
    for row in rows:
        if row["status"] == "answered":
            last[row["conversation_id"]] = max(last.get(row["conversation_id"], _NEVER), row["created"])
    return last


def _item(row: Row, kind: str, turns: list[str], before: str) -> Item:
    return Item.model_validate(
        {
            "id": row["answer_id"], "kind": kind, "question": turns[-1], "turns": turns, "language": row["language"],
            "topic": row["topic"], "before": before, "reasons": [], "asked": 1, "first": row["created"],
            "last": row["created"], "surfaces": [row["surface"]] if row["surface"] else [], "state": "open",
            "ids": [row["answer_id"]],
        }
    )  # fmt: skip


def _reviewed(item: Item, row: Mapping[str, Any] | None) -> Item:
    if row is None:
        return item
    return item.model_copy(
        update={
            "state": row["state"],
            "file": row["file"],
            "after": Answer.model_validate_json(row["after"]) if row["after"] else None,
            "key_points": json.loads(row["key_points"] or "[]"),
        }
    )


def _joined(earlier: Item, item: Item) -> Item:
    """One question, asked once more: its state is the last one's, so that it is open again when it failed again."""
    known = item if item.file or not earlier.file else item.model_copy(
        update={"file": earlier.file, "after": earlier.after, "key_points": earlier.key_points}
    )  # fmt: skip
    return known.model_copy(
        update={
            "asked": earlier.asked + item.asked,
            "first": min(earlier.first, item.first),
            "reasons": [*earlier.reasons, *item.reasons],
            "surfaces": sorted({*earlier.surfaces, *item.surfaces}),
            "ids": [*earlier.ids, *item.ids],
        }
    )


def folded(text: str) -> str:
    """A text by which the same question is known: without case, width, punctuation and spaces."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())
