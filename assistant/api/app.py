"""The FastAPI application: ask, stream, health. The web chat is mounted on it by the command line."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from assistant import __version__
from assistant.advisor import Advisor
from assistant.errors import AdvisorError, ConversationNotFound, InvalidInput
from assistant.events import Answered, Event, StageStarted, TextReleased
from assistant.schema import Answer


class AskRequest(BaseModel):
    """A question, alone or as the next turn of a conversation."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="In Chinese or English.")
    conversation_id: str | None = Field(default=None, description="Go on with this conversation.")


def create_app(advisor: Advisor) -> FastAPI:
    """The application over one advisor."""
    app = FastAPI(title="Cloud Training Advisor", version=__version__)

    @app.exception_handler(AdvisorError)
    def problem(_request: Request, error: Exception) -> JSONResponse:
        status = 404 if isinstance(error, ConversationNotFound) else 422 if isinstance(error, InvalidInput) else 503
        body = {"type": "about:blank", "title": type(error).__name__, "status": status, "detail": str(error)}
        return JSONResponse(body, status, media_type="application/problem+json")

    @app.post("/v1/ask")
    def ask(request: AskRequest) -> Answer:
        return advisor.ask(request.question, request.conversation_id)

    @app.post("/v1/stream")
    def stream(request: AskRequest) -> StreamingResponse:
        events = advisor.stream(request.question, request.conversation_id)
        return StreamingResponse(_server_sent(events), media_type="text/event-stream")

    @app.get("/v1/health")
    def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    return app


class _Data(BaseModel):
    stage: str | None = None
    text: str | None = None
    answer: Answer | None = None


def _server_sent(events: Iterator[Event]) -> Iterator[str]:
    for event in events:
        match event:
            case StageStarted(stage):
                name, data = "stage", _Data(stage=stage)
            case TextReleased(text):
                name, data = "text", _Data(text=text)
            case Answered(answer):
                name, data = "answer", _Data(answer=answer)
        yield f"event: {name}\ndata: {data.model_dump_json(exclude_none=True)}\n\n"
