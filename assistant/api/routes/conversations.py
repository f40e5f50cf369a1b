"""Conversations: listed, read, renamed, deleted by whoever held them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from assistant.api.access import Caller, Note, audited, requires
from assistant.api.pages import Cursor, Limit, Page, decode_cursor, encode_cursor
from assistant.api.problems import PROBLEMS
from assistant.api.routes.ask import PLAIN
from assistant.api.service import ServiceOf
from assistant.conversations import ConversationSummary
from assistant.errors import InvalidInput
from assistant.schema import Answer

router = APIRouter(prefix="/v1/conversations", tags=["conversations"], responses=PROBLEMS)
ConversationId = Annotated[str, Path(max_length=64, pattern=PLAIN)]
Asking = Annotated[Caller, requires("ask")]


class ConversationEntry(BaseModel):
    """A line of the list."""

    id: str
    title: str
    created: datetime
    updated: datetime
    turns: int


class Conversation(ConversationEntry):
    """A whole conversation, oldest turn first."""

    answers: list[Answer]


class Rename(BaseModel):
    """A new title."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"title": "Training on 64 H100s"}]})

    title: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00]*[^\x00\s][^\x00]*$")


@router.get("", summary="List conversations")
def listed(service: ServiceOf, caller: Asking, limit: Limit = 50, cursor: Cursor = None) -> Page[ConversationEntry]:
    """The caller's conversations, the one that went on last first."""
    before = _position(cursor) if cursor is not None else None
    found = service.advisor.conversations.summaries(caller.owner, limit + 1, before)
    last = found[limit - 1] if len(found) > limit else None
    return Page(
        items=[_entry(summary) for summary in found[:limit]],
        next_cursor=encode_cursor(last.updated.isoformat(), last.id) if last is not None else None,
    )


@router.get("/{conversation_id}", summary="Read a conversation")
def read(conversation_id: ConversationId, service: ServiceOf, caller: Asking) -> Conversation:
    """All its turns, as they were answered."""
    conversations = service.advisor.conversations
    answers = conversations.answers(conversation_id, caller.owner)
    entry = _entry(conversations.summary(conversation_id, caller.owner))
    return Conversation(**entry.model_dump(), answers=answers)


@router.patch("/{conversation_id}", summary="Rename a conversation")
def rename(
    conversation_id: ConversationId,
    asked: Rename,
    service: ServiceOf,
    caller: Asking,
    note: Annotated[Note, audited("conversation.rename")],
) -> ConversationEntry:
    """Only the title changes."""
    note.object = conversation_id
    service.advisor.conversations.rename(conversation_id, asked.title, caller.owner)
    return _entry(service.advisor.conversations.summary(conversation_id, caller.owner))


@router.delete("/{conversation_id}", summary="Delete a conversation", status_code=204)
def delete(
    conversation_id: ConversationId,
    service: ServiceOf,
    caller: Asking,
    note: Annotated[Note, audited("conversation.delete")],
) -> Response:
    """With its turns, its attached files, and the answers that were kept for requests that are sent again."""
    note.object = conversation_id
    service.advisor.conversations.delete(conversation_id, caller.owner)
    service.advisor.attachments.delete(conversation_id)
    service.memory.forget_all_about(caller.owner, conversation_id)
    return Response(status_code=204)


def _entry(summary: ConversationSummary) -> ConversationEntry:
    return ConversationEntry(
        id=summary.id,
        title=summary.title,
        created=_utc(summary.created),
        updated=_utc(summary.updated),
        turns=summary.turns,
    )


def _utc(time: datetime) -> datetime:
    """SQLite gives times back without their zone."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _position(cursor: str) -> tuple[datetime, str]:
    updated, conversation_id = decode_cursor(cursor, 2)
    try:
        return datetime.fromisoformat(updated), conversation_id
    except ValueError as error:
        raise InvalidInput("The cursor is not one of this list. Leave it out to start from the beginning.") from error
