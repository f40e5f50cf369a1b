"""OpenAI's chat completions over the advisor, so that any client of theirs can ask.

The messages are the conversation: it needs no id and is not stored. Errors come in OpenAI's shape (`openai_errors`).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from assistant.answer.footnotes import as_markdown, footnoted, footnotes
from assistant.api.access import Caller, Note, audited, requires
from assistant.api.openai_errors import OPENAI_ERRORS
from assistant.api.openai_schema import (
    MODEL,
    ChatRequest,
    Choice,
    Chunk,
    ChunkChoice,
    Completion,
    Delta,
    Extension,
    Message,
    ModelCard,
    ModelList,
    Usage,
    UserMessage,
)
from assistant.api.problems import Refused, of_error
from assistant.api.service import Service, ServiceOf
from assistant.errors import AdvisorError
from assistant.events import Answered, Event, TextReleased
from assistant.schema import Answer
from assistant.understand.state import DialogueState

router = APIRouter(prefix="/v1", tags=["openai"], responses=OPENAI_ERRORS)

_STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Completion,
        "description": "The answer; with `stream` its chunks as server-sent events, then `[DONE]`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get("/models", summary="The models")
def models(_caller: Annotated[Caller, requires("ask")]) -> ModelList:
    """The one model that there is."""
    return ModelList(data=[ModelCard()])


@router.get("/models/{model}", summary="A model")
def model(model: str, _caller: Annotated[Caller, requires("ask")]) -> ModelCard:
    """The model of that name."""
    _check(model)
    return ModelCard()


@router.post("/chat/completions", summary="Answer a conversation", responses=_STREAMED, response_model=Completion)
def chat_completions(
    asked: ChatRequest,
    request: Request,
    service: ServiceOf,
    caller: Annotated[Caller, requires("ask")],
    note: Annotated[Note, audited("ask")],
) -> Completion | StreamingResponse:
    """The answer to the last message; the earlier ones say what it is about."""
    _check(asked.model)
    reply = _Reply(service, _questions(asked), caller.groups)
    note.object = reply.id
    if not asked.stream:
        return reply.completion()
    with_usage = bool(asked.stream_options and asked.stream_options.include_usage)
    return StreamingResponse(_server_sent(reply.chunks(with_usage), request), media_type="text/event-stream")


def _check(model: str) -> None:
    if model != MODEL:
        raise Refused(404, "model_not_found", f"There is no model {model!r} here. There is: {MODEL}.")


def _questions(asked: ChatRequest) -> list[str]:
    """What the user said, oldest first."""
    if not isinstance(asked.messages[-1], UserMessage):
        raise Refused(400, "invalid_value", "The last message must be the user's question.", field="messages")
    return [message.text for message in asked.messages if isinstance(message, UserMessage)]


class _Reply:
    """One answer on its way out."""

    def __init__(self, service: Service, questions: Sequence[str], groups: frozenset[str] | None) -> None:
        """Find what the conversation has fixed.

        Raises:
            InvalidInput: a question is empty or too long.
        """
        self.id = f"chatcmpl-{uuid.uuid4().hex}"
        self._created = int(time.time())
        self._dialogues = service.dialogues
        self._questions = questions
        self._groups = groups
        earlier = self._dialogues.state_after(questions[:-1], groups)
        self._events = service.advisor.reply(questions[-1], earlier, groups)

    def completion(self) -> Completion:
        """The whole answer at once."""
        answer = next(event.answer for event in self._watched() if isinstance(event, Answered))
        choice = Choice(message=Message(content=as_markdown(answer)))
        return Completion(
            id=self.id,
            created=self._created,
            choices=[choice],
            usage=Usage.of(answer),
            advisor=Extension.of(answer),
        )

    def chunks(self, with_usage: bool) -> Iterator[Chunk]:
        """Text as it is checked, then its footnotes, then all that stands behind it."""
        yield self._chunk(Delta(role="assistant", content=""))
        for event in self._watched():
            match event:
                case TextReleased(text):
                    yield self._chunk(Delta(content=footnoted(text)))
                case Answered(answer):
                    yield from self._closing(answer, with_usage)

    def _closing(self, answer: Answer, with_usage: bool) -> Iterator[Chunk]:
        if notes := footnotes(answer):
            yield self._chunk(Delta(content=f"\n\n{notes}"))
        last = self._chunk(Delta(), finished=True)
        last.advisor = Extension.of(answer)
        yield last
        if with_usage:
            yield Chunk(id=self.id, created=self._created, choices=[], usage=Usage.of(answer))

    def _chunk(self, delta: Delta, *, finished: bool = False) -> Chunk:
        choice = ChunkChoice(delta=delta, finish_reason="stop" if finished else None)
        return Chunk(id=self.id, created=self._created, choices=[choice])

    def _watched(self) -> Iterator[Event]:
        for event in self._events:
            if isinstance(event, Answered):
                state = DialogueState.model_validate(event.answer.state)
                self._dialogues.remember(self._questions, self._groups, state)
            yield event


def _server_sent(chunks: Iterator[Chunk], request: Request) -> Iterator[str]:
    try:
        for chunk in chunks:
            absent = {name for name in ("usage", "advisor") if getattr(chunk, name) is None}
            yield f"data: {chunk.model_dump_json(exclude=absent)}\n\n"
    except AdvisorError as error:
        yield f"data: {bytes(of_error(request.scope, error).body).decode('utf-8')}\n\n"
    yield "data: [DONE]\n\n"
