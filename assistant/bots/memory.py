"""What a channel has to remember over a restart: which messages came in already, and which conversation a thread is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel
from sqlalchemy import Column, DateTime, MetaData, String, Table, Text, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from assistant.conversations import Conversations

_TABLES = MetaData()
_MESSAGES = Table(
    "bot_messages",
    _TABLES,
    Column("channel", String(40), primary_key=True),
    Column("id", String(200), primary_key=True),
    Column("received", DateTime(timezone=True), nullable=False, index=True),
    Column("message", Text, nullable=True),
    Column("conversation_id", String(36), nullable=True),
    Column("answer_id", String(36), nullable=True),
    Column("problem", Text, nullable=True),
)
_THREADS = Table(
    "bot_threads",
    _TABLES,
    Column("channel", String(40), primary_key=True),
    Column("thread", String(300), primary_key=True),
    Column("conversation_id", String(36), nullable=False),
    Column("answer_id", String(36), nullable=False),
    Column("updated", DateTime(timezone=True), nullable=False),
)
REMEMBERED = timedelta(days=7)
"""No platform sends a message again after so long."""
RESUMED = timedelta(hours=1)
"""After a crash older questions aren't answered any more: nobody waits for them."""


class Incoming(BaseModel):
    """A message to the bot, of whichever platform."""

    id: str
    """The same when the platform sends it again."""
    thread: str
    """Messages of one thread are one conversation."""
    user: str
    text: str
    threaded: bool = True
    """False where the platform has no threads, so that a long silence ends the conversation."""
    place: dict[str, str] = {}
    """What the platform needs to answer there."""


@dataclass(frozen=True, slots=True)
class Given:
    """What became of a message: `answer_id` of `conversation_id`, or a `problem` in words, or so far neither."""

    conversation_id: str | None
    answer_id: str | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Thread:
    """The conversation of a thread and its last answer."""

    conversation_id: str
    answer_id: str
    updated: datetime


class Memory:
    """One channel's part of the conversation database. Safe to share between threads and processes."""

    def __init__(self, channel: str, conversations: Conversations) -> None:
        self._channel = channel
        self._database = conversations

    def claim(self, message: Incoming) -> bool:
        """Keep a message that hasn't come in before; False when it has."""
        now = datetime.now(UTC)
        row = {"channel": self._channel, "id": message.id, "received": now, "message": message.model_dump_json()}
        with self._database.begin(_TABLES) as connection:
            connection.execute(delete(_MESSAGES).where(_MESSAGES.c.received < now - REMEMBERED))
            try:
                with connection.begin_nested():
                    connection.execute(insert(_MESSAGES).values(row))
            except IntegrityError:
                return False
        return True

    def unanswered(self) -> list[Incoming]:
        """Messages that were kept, but not answered when the process ended; oldest first."""
        query = (
            select(_MESSAGES.c.message)
            .where(
                _MESSAGES.c.channel == self._channel,
                _MESSAGES.c.message.is_not(None),
                _MESSAGES.c.received > datetime.now(UTC) - RESUMED,
            )
            .order_by(_MESSAGES.c.received)
        )
        with self._database.begin(_TABLES) as connection:
            return [Incoming.model_validate_json(text) for text in connection.scalars(query)]

    def settle(self, message: Incoming, given: Given) -> bool:
        """Say what a message gets, right before it is sent, and forget its text; False when somebody else did."""
        with self._database.begin(_TABLES) as connection:
            settled = connection.execute(
                update(_MESSAGES)
                .where(
                    _MESSAGES.c.channel == self._channel, _MESSAGES.c.id == message.id, _MESSAGES.c.message.is_not(None)
                )
                .values(
                    message=None,
                    conversation_id=given.conversation_id,
                    answer_id=given.answer_id,
                    problem=given.problem,
                )
            )
            return bool(settled.rowcount)

    def given(self, message_id: str) -> Given | None:
        """What became of a message; None when it never came in."""
        query = select(_MESSAGES.c.conversation_id, _MESSAGES.c.answer_id, _MESSAGES.c.problem).where(
            _MESSAGES.c.channel == self._channel, _MESSAGES.c.id == message_id
        )
        with self._database.begin(_TABLES) as connection:
            row = connection.execute(query).first()
        return Given(*row) if row else None

    def thread(self, thread: str) -> Thread | None:
        """The conversation of a thread; None where nothing was asked yet."""
        query = select(_THREADS.c.conversation_id, _THREADS.c.answer_id, _THREADS.c.updated).where(
            _THREADS.c.channel == self._channel, _THREADS.c.thread == thread
        )
        with self._database.begin(_TABLES) as connection:
            row = connection.execute(query).first()
        if row is None:
            return None
        updated = row.updated if row.updated.tzinfo else row.updated.replace(tzinfo=UTC)
        return Thread(row.conversation_id, row.answer_id, updated)

    def continue_thread(self, thread: str, conversation_id: str, answer_id: str) -> None:
        """Keep which conversation a thread is, and its last answer."""
        values = {"conversation_id": conversation_id, "answer_id": answer_id, "updated": datetime.now(UTC)}
        own = (_THREADS.c.channel == self._channel, _THREADS.c.thread == thread)
        with self._database.begin(_TABLES) as connection:
            if connection.execute(update(_THREADS).where(*own).values(values)).rowcount == 0:
                connection.execute(insert(_THREADS).values(channel=self._channel, thread=thread, **values))
