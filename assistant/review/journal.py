"""One line for every answer: when, how it ended, on what, how fast. The question only where nobody could answer it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Column, DateTime, Float, MetaData, String, Table, Text, insert, select

from assistant.conversations import Conversations
from assistant.review.privacy import Keep, kept
from assistant.schema import Answer, Language, Status

TABLES = MetaData()
ENTRIES = Table(
    "journal",
    TABLES,
    Column("answer_id", String(36), primary_key=True),
    Column("conversation_id", String(36), nullable=False, index=True),
    Column("created", DateTime(timezone=True), nullable=False, index=True),
    Column("language", String(2), nullable=False),
    Column("status", String(16), nullable=False, index=True),
    Column("topic", Text, nullable=False),
    Column("surface", String(40), nullable=False),
    Column("model", Text, nullable=False),
    Column("milliseconds", Float, nullable=False),
    Column("question", Text, nullable=True),
    Column("answer", Text, nullable=True),
)
REVIEWS = Table(
    "reviews",
    TABLES,
    Column("answer_id", String(36), primary_key=True),
    Column("state", String(16), nullable=False),
    Column("file", Text, nullable=True),
    Column("after", Text, nullable=True),
    Column("key_points", Text, nullable=True),
    Column("updated", DateTime(timezone=True), nullable=False),
)
UNANSWERED: frozenset[Status] = frozenset({"not_covered", "needs_input"})


class Entry(BaseModel):
    """A line of the journal."""

    answer_id: str
    conversation_id: str
    created: datetime
    language: Language
    status: Status
    topic: str
    """Of the documents cited or near, or the calculator's name; empty where neither says."""
    surface: str
    """Where it was asked: `visitor` and `user` on the web, `key` over HTTP, or the chat platform."""
    model: str
    milliseconds: float
    question: str | None
    """Kept, as far as the setting allows, of questions without an answer."""


class Journal:
    """Writes and reads the lines, in the conversation database."""

    def __init__(self, conversations: Conversations, keep: Keep) -> None:
        self._database = conversations
        self._keep = keep

    def record(self, answer: Answer, topic: str, owner: str) -> None:
        """Add the line of one answer."""
        unanswered = answer.status in UNANSWERED
        row = {
            "answer_id": answer.id,
            "conversation_id": answer.conversation_id,
            "created": datetime.now(UTC),
            "language": answer.language,
            "status": answer.status,
            "topic": topic,
            "surface": owner.partition(":")[0] or "terminal",
            "model": answer.model,
            "milliseconds": answer.timings_ms.total,
            "question": kept(answer.question, self._keep) if unanswered else None,
            "answer": answer.text if unanswered and self._keep != "none" else None,
        }
        with self._database.begin(TABLES) as connection:
            connection.execute(insert(ENTRIES).values(row))

    def entries(self, since: datetime | None = None) -> list[Entry]:
        """The lines, oldest first."""
        columns = [ENTRIES.c[name] for name in Entry.model_fields]
        query = select(*columns).order_by(ENTRIES.c.created)
        if since is not None:
            query = query.where(ENTRIES.c.created >= since)
        with self._database.begin(TABLES) as connection:
            return [Entry.model_validate(aware(dict(row._mapping))) for row in connection.execute(query)]


def aware(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose times have their zone, which SQLite forgets."""
    return {
        name: value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value
        for name, value in row.items()
    }
