"""Questions: answered at once, or as a stream of events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from assistant.api.access import Caller, Note, audited, requires
from assistant.api.problems import PROBLEMS, of_error
from assistant.api.service import ServiceOf
from assistant.errors import AdvisorError
from assistant.events import Answered, Event, StageStarted, TextReleased
from assistant.schema import Answer

router = APIRouter(prefix="/v1", tags=["ask"], responses=PROBLEMS)
PLAIN = r"^[^\x00]*$"


class AskRequest(BaseModel):
    """A question, alone or as the next turn of a conversation."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"question": "How long do 64 H100s take to train 7B on 2T tokens, and what does it cost?"},
                {"question": "怎么防止云上训练的账单失控？"},
            ]
        },
    )

    question: str = Field(description="In Chinese or English.", pattern=PLAIN)
    conversation_id: str | None = Field(
        default=None, max_length=64, pattern=PLAIN, description="Go on with this conversation."
    )


@router.post("/ask", summary="Answer a question")
def ask(
    asked: AskRequest,
    service: ServiceOf,
    caller: Annotated[Caller, requires("ask")],
    note: Annotated[Note, audited("ask")],
) -> Answer:
    """The whole answer, with its citations and calculations."""
    note.object = asked.conversation_id or ""
    answer = service.advisor.ask(asked.question, asked.conversation_id, caller.owner, caller.groups)
    note.object = answer.conversation_id
    return answer


_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `stage`, `text`, and last `answer` (or `error`, a problem); `data` is one JSON object.",
        "content": {
            "text/event-stream": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "event": {"enum": ["stage", "text", "answer", "error"]},
                        "data": {"type": "string", "contentMediaType": "application/json"},
                    },
                    "required": ["event", "data"],
                },
                "example": 'event: stage\ndata: {"stage": "searching"}\n\nevent: text\ndata: {"text": "…"}\n\n'
                'event: answer\ndata: {"answer": {…}}\n\n',
            }
        },
    }
}


@router.post("/stream", summary="Answer a question as a stream", responses=_STREAM, response_class=StreamingResponse)
def stream(
    asked: AskRequest,
    request: Request,
    service: ServiceOf,
    caller: Annotated[Caller, requires("ask")],
    note: Annotated[Note, audited("ask")],
) -> StreamingResponse:
    """Server-sent events: the steps, the text as it is checked, and last the whole answer."""
    note.object = asked.conversation_id or ""
    events = service.advisor.stream(asked.question, asked.conversation_id, caller.owner, caller.groups)
    return StreamingResponse(_server_sent(events, request, note), media_type="text/event-stream")


class _Data(BaseModel):
    stage: str | None = None
    text: str | None = None
    answer: Answer | None = None


def _server_sent(events: Iterator[Event], request: Request, note: Note) -> Iterator[str]:
    try:
        for event in events:
            match event:
                case StageStarted(stage):
                    name, data = "stage", _Data(stage=stage)
                case TextReleased(text):
                    name, data = "text", _Data(text=text)
                case Answered(answer):
                    name, data = "answer", _Data(answer=answer)
                    note.object = answer.conversation_id
            yield f"event: {name}\ndata: {data.model_dump_json(exclude_none=True)}\n\n"
    except AdvisorError as error:
        problem = bytes(of_error(request.scope, error).body).decode("utf-8")
        yield f"event: error\ndata: {problem}\n\n"
