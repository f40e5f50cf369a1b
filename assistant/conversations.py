"""Conversations, kept so that a later turn or another process can go on with them.

SQLite in the data folder, or any database that SQLAlchemy reaches by URL. Importing this module loads SQLAlchemy, so
it is imported only where a conversation is read or written.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import (
    Column,
    Connection,
    DateTime,
    ForeignKey,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy import delete as sql_delete
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from assistant.engines import create_tables, open_engine
from assistant.errors import ConversationNotFound
from assistant.schema import Answer
from knowledge.errors import StoreError

_METADATA = MetaData()
_CONVERSATIONS = Table(
    "conversations",
    _METADATA,
    Column("id", String(36), primary_key=True),
    Column("title", Text, nullable=False),
    Column("owner", Text, nullable=False, index=True),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("updated", DateTime(timezone=True), nullable=False, index=True),
)
_TURNS = Table(
    "turns",
    _METADATA,
    Column("conversation_id", ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("created", DateTime(timezone=True), nullable=False),
)
_FEEDBACK = Table(
    "feedback",
    _METADATA,
    Column("answer_id", String(36), primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("rating", String(4), nullable=False),
    Column("reason", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("versions", Text, nullable=False),
    Column("created", DateTime(timezone=True), nullable=False, index=True),
)
_SUMMARY = select(_CONVERSATIONS, func.count(_TURNS.c.turn).label("turns")).join(_TURNS).group_by(_CONVERSATIONS.c.id)
_TITLE_CHARACTERS = 60

Rating = Literal["up", "down"]


class ConversationSummary(BaseModel):
    """A line of the list of conversations."""

    id: str
    title: str
    created: datetime
    updated: datetime
    turns: int


class Feedback(BaseModel):
    """What somebody thought of one answer, with all that is needed to look into it later."""

    rating: Rating
    reason: str
    answer: Answer
    """As it was shown, with its sources and calculations."""
    versions: dict[str, str]
    """Of the program, the encoder and the store at the time."""
    created: datetime


def new_conversation_id() -> str:
    """An id that nobody can guess."""
    return str(uuid.uuid4())


class Conversations:
    """Reads and writes whole turns: a turn is stored with its answer, or not at all."""

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        self._created: set[MetaData] = set()
        with self.begin():
            pass  # the folder is tried at once

    @classmethod
    def in_folder(cls, folder: Path) -> Conversations:
        """The conversations of a data folder."""
        return cls(f"sqlite:///{folder / 'conversations.sqlite3'}")

    def add(self, answer: Answer, owner: str = "") -> None:
        """Store one turn, with its conversation if it is the first."""
        now = datetime.now(UTC)
        question = answer.question.replace("\0", "")  # which PostgreSQL's text can't hold

        def write(connection: Connection) -> None:
            touched = connection.execute(
                update(_CONVERSATIONS).where(_CONVERSATIONS.c.id == answer.conversation_id).values(updated=now)
            )
            if touched.rowcount == 0:
                connection.execute(
                    insert(_CONVERSATIONS).values(
                        id=answer.conversation_id,
                        title=" ".join(question.split())[:_TITLE_CHARACTERS],
                        owner=owner,
                        created=now,
                        updated=now,
                    )
                )
            last = connection.scalar(
                select(func.max(_TURNS.c.turn)).where(_TURNS.c.conversation_id == answer.conversation_id)
            )
            connection.execute(
                insert(_TURNS).values(
                    conversation_id=answer.conversation_id,
                    turn=(last or 0) + 1,
                    question=question,
                    answer=answer.model_dump_json(),
                    created=now,
                )
            )

        self._write(write)

    def answers(self, conversation_id: str, owner: str | None = None) -> list[Answer]:
        """All turns of a conversation, oldest first.

        Raises:
            ConversationNotFound: there is none with this id (or it belongs to somebody else).
        """
        return [Answer.model_validate_json(text) for text in self._turns(conversation_id, owner)]

    def last(self, conversation_id: str, owner: str | None = None) -> Answer:
        """The newest turn of a conversation, which holds its state.

        Raises:
            ConversationNotFound: there is none with this id (or it belongs to somebody else).
        """
        return Answer.model_validate_json(self._turns(conversation_id, owner)[-1])

    def summary(self, conversation_id: str, owner: str) -> ConversationSummary:
        """One of the owner's conversations.

        Raises:
            ConversationNotFound: there is none with this id (or it belongs to somebody else).
        """
        found = self._summaries(_SUMMARY.where(_CONVERSATIONS.c.owner == owner, _CONVERSATIONS.c.id == conversation_id))
        if not found:
            raise ConversationNotFound(f"There is no conversation {conversation_id} here.")
        return found[0]

    def summaries(
        self, owner: str = "", limit: int = 100, before: tuple[datetime, str] | None = None
    ) -> list[ConversationSummary]:
        """The owner's conversations, newest first; those after the one of this `updated` and `id`."""
        last = tuple_(_CONVERSATIONS.c.updated, _CONVERSATIONS.c.id)
        query = _SUMMARY.where(_CONVERSATIONS.c.owner == owner)
        if before is not None:
            query = query.where(last < before)
        return self._summaries(query.order_by(_CONVERSATIONS.c.updated.desc(), _CONVERSATIONS.c.id.desc()).limit(limit))

    def _summaries(self, query: Select[Any]) -> list[ConversationSummary]:
        with self.begin() as connection:
            return [
                ConversationSummary(id=r.id, title=r.title, created=r.created, updated=r.updated, turns=r.turns)
                for r in connection.execute(query)
            ]

    def exists(self, conversation_id: str) -> bool:
        """Whether a conversation with this id is stored, whoever it belongs to."""
        query = select(func.count()).select_from(_CONVERSATIONS).where(_CONVERSATIONS.c.id == conversation_id)
        with self.begin() as connection:
            return bool(connection.scalar(query))

    def answer(self, conversation_id: str, answer_id: str, owner: str | None = None) -> Answer:
        """One answer of a conversation.

        Raises:
            ConversationNotFound: there is no such answer (or it belongs to somebody else).
        """
        for answer in self.answers(conversation_id, owner):
            if answer.id == answer_id:
                return answer
        raise ConversationNotFound(f"There is no answer {answer_id} in conversation {conversation_id}.")

    def rename(self, conversation_id: str, title: str, owner: str | None = None) -> None:
        """Give a conversation another title.

        Raises:
            ConversationNotFound: there is none with this id (or it belongs to somebody else).
        """
        self._turns(conversation_id, owner)
        with self.begin() as connection:
            connection.execute(
                update(_CONVERSATIONS)
                .where(_CONVERSATIONS.c.id == conversation_id)
                .values(title=" ".join(title.split())[:_TITLE_CHARACTERS])
            )

    def truncate(self, conversation_id: str, turns: int, owner: str | None = None) -> bool:
        """Keep only the first turns, so that a later one is asked anew; False when none is left.

        Raises:
            ConversationNotFound: there is none with this id (or it belongs to somebody else).
        """
        if turns <= 0:
            self.delete(conversation_id, owner)
            return False
        self._turns(conversation_id, owner)
        with self.begin() as connection:
            connection.execute(
                sql_delete(_TURNS).where(_TURNS.c.conversation_id == conversation_id, _TURNS.c.turn > turns)
            )
        return True

    def rate(self, answer: Answer, rating: Rating, reason: str, versions: dict[str, str], owner: str = "") -> None:
        """Store what the owner thinks of an answer, in place of what they thought before."""

        def write(connection: Connection) -> None:
            values = {
                "rating": rating,
                "reason": reason,
                "answer": answer.model_dump_json(),
                "versions": json.dumps(versions),
                "created": datetime.now(UTC),
            }
            own = (_FEEDBACK.c.answer_id == answer.id, _FEEDBACK.c.owner == owner)
            if connection.execute(update(_FEEDBACK).where(*own).values(values)).rowcount == 0:
                connection.execute(insert(_FEEDBACK).values(answer_id=answer.id, owner=owner, **values))

        self._write(write)

    def feedback(self, rating: Rating | None = None) -> list[Feedback]:
        """What was thought of answers, newest first."""
        query = select(_FEEDBACK).order_by(_FEEDBACK.c.created.desc())
        if rating is not None:
            query = query.where(_FEEDBACK.c.rating == rating)
        with self.begin() as connection:
            return [
                Feedback(
                    rating=row.rating,
                    reason=row.reason,
                    answer=Answer.model_validate_json(row.answer),
                    versions=json.loads(row.versions),
                    created=row.created,
                )
                for row in connection.execute(query)
            ]

    def delete_all(self, owner: str = "") -> int:
        """Delete all conversations of an owner; returns how many there were."""
        with self.begin() as connection:
            own = select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.owner == owner)
            connection.execute(sql_delete(_TURNS).where(_TURNS.c.conversation_id.in_(own)))
            return connection.execute(sql_delete(_CONVERSATIONS).where(_CONVERSATIONS.c.owner == owner)).rowcount

    def delete(self, conversation_id: str, owner: str | None = None) -> None:
        """Delete a conversation and all its turns.

        Raises:
            ConversationNotFound: there is none with this id (or it belongs to somebody else).
        """
        self._turns(conversation_id, owner)
        with self.begin() as connection:
            connection.execute(sql_delete(_TURNS).where(_TURNS.c.conversation_id == conversation_id))
            connection.execute(sql_delete(_CONVERSATIONS).where(_CONVERSATIONS.c.id == conversation_id))

    def close(self) -> None:
        """Release the connections."""
        self._engine.dispose()

    def _turns(self, conversation_id: str, owner: str | None) -> list[str]:
        query = (
            select(_TURNS.c.answer)
            .join(_CONVERSATIONS)
            .where(_TURNS.c.conversation_id == conversation_id)
            .order_by(_TURNS.c.turn)
        )
        if owner is not None:
            query = query.where(_CONVERSATIONS.c.owner == owner)
        with self.begin() as connection:
            texts = list(connection.scalars(query))
        if not texts:
            raise ConversationNotFound(
                f"There is no conversation {conversation_id} here. Leave the id out to start a new one."
            )
        return texts

    def _write(self, write: Callable[[Connection], None]) -> None:
        """A transaction, once more when another process wrote the same row first."""
        with self._errors():
            try:
                with self._engine.begin() as connection:
                    write(connection)
            except IntegrityError:
                with self._engine.begin() as connection:
                    write(connection)

    @contextmanager
    def begin(self, tables: MetaData = _METADATA) -> Iterator[Connection]:
        """A transaction, for those too who keep tables of their own beside the conversations."""
        if tables not in self._created:
            with self._errors():
                create_tables(self._engine, tables)
            self._created.add(tables)
        with self._errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            where = self._engine.url.render_as_string(hide_password=True)
            raise StoreError(
                f"Conversations can't be kept in {where}: {reason}. Check that it can be written."
            ) from error
