"""The widget's routes: a token for a host's page; and with it questions, the conversation so far, and thumbs."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from assistant.advisor import Advisor
from assistant.api.access import Caller, Note, audited, requires
from assistant.api.access.caller import CHALLENGE
from assistant.api.problems import PROBLEMS, Refused, of_error
from assistant.api.routes.ask import PLAIN
from assistant.api.service import Service, ServiceOf
from assistant.api.widget.limits import Limits
from assistant.api.widget.settings import WidgetSettings
from assistant.api.widget.shown import ShownAnswer, shown
from assistant.api.widget.tokens import Tokens, Visitor
from assistant.errors import AdvisorError
from assistant.events import Answered, Event, StageStarted, TextReleased
from assistant.schema import Answer

router = APIRouter(prefix="/v1/widget", tags=["widget"], responses=PROBLEMS)
RESTORED = 20
"""Turns of a conversation that come back after a navigation."""


class Widget:
    """What the widget's routes share, one an application."""

    def __init__(self, service: Service, settings: WidgetSettings) -> None:
        self.settings = settings
        self.tokens = Tokens(service.database, settings.secret, timedelta(seconds=settings.token_seconds))
        self.limits = Limits(service.database, settings)


def _widget(request: Request) -> Widget:
    widget: Widget = request.app.state.widget
    return widget


WidgetOf = Annotated[Widget, Depends(_widget)]


def _visitor(request: Request, widget: WidgetOf) -> Visitor:
    token = _bearer(request)
    if not token:
        detail = "No token was sent. The host's back end fetches one at /v1/widget/tokens."
        raise Refused(401, "no_token", detail, headers=CHALLENGE)
    return widget.tokens.read(token, request.headers["origin"].lower())


VisitorOf = Annotated[Visitor, Depends(_visitor)]


class TokenRequest(BaseModel):
    """For whom a host's back end wants a token."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"visitor": "user-4711", "origin": "https://wiki.example.com"}},
    )

    visitor: str = Field(
        min_length=1,
        max_length=200,
        description="What the host calls its visitor, the same at each visit: a user's id, or a random id in a cookie "
        "of the host's. Only a hash of it is kept.",
    )
    origin: str = Field(max_length=300, description="Of the page that shows the widget, as `https://HOST`.")


class Token(BaseModel):
    """Goes to the page; holds for its visitor and origin alone."""

    token: str
    expires_in: int = Field(description="Seconds.")


@router.post("/tokens", summary="Exchange an API key for a visitor's token")
def exchange(
    asked: TokenRequest,
    request: Request,
    widget: WidgetOf,
    caller: Annotated[Caller, requires("ask")],
    note: Annotated[Note, audited("widget.token")],
) -> Token:
    """Called by the host's back end, so that no page ever sees its key."""
    host = _host(request, caller, widget.settings)
    origin = asked.origin.rstrip("/").lower()
    if origin not in widget.settings.allowed:
        raise Refused(403, "origin_refused", f"{origin} isn't among ADVISOR_WIDGET_ORIGINS.")
    note.object = origin
    token = widget.tokens.issue(host, asked.visitor, origin, caller.groups)
    return Token(token=token, expires_in=widget.settings.token_seconds)


class WidgetQuestion(BaseModel):
    """A question, alone or as the next turn of the visitor's conversation."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(pattern=PLAIN)
    conversation: str | None = Field(default=None, max_length=64, pattern=PLAIN)


@router.post("/stream", summary="Answer a visitor's question as a stream", response_class=StreamingResponse)
def stream(
    asked: WidgetQuestion, request: Request, service: ServiceOf, widget: WidgetOf, visitor: VisitorOf
) -> StreamingResponse:
    """Server-sent events `stage`, `text`, and last `answer` (or `error`, a problem)."""
    widget.limits.count(visitor, request.client.host if request.client else "")
    events = service.advisor.stream(asked.question, asked.conversation, visitor.owner, visitor.groups)
    return StreamingResponse(_server_sent(service.advisor, events, request), media_type="text/event-stream")


@router.get("/conversation", summary="The visitor's conversation so far")
def conversation(
    service: ServiceOf, visitor: VisitorOf, conversation: Annotated[str, Query(max_length=64, pattern=PLAIN)]
) -> list[ShownAnswer]:
    """Its last turns, for the page that the visitor went to."""
    answers = service.advisor.conversations.answers(conversation, visitor.owner)[-RESTORED:]
    return [_shown(service.advisor, answer) for answer in answers]


class Thumb(BaseModel):
    """What a visitor thinks of an answer."""

    model_config = ConfigDict(extra="forbid")

    conversation: str = Field(max_length=64, pattern=PLAIN)
    answer: str = Field(max_length=64, pattern=PLAIN)
    rating: Literal["up", "down"]
    reason: str = Field(default="", max_length=2_000, pattern=PLAIN)


@router.post("/feedback", summary="A visitor's thumb", status_code=204)
def feedback(thumb: Thumb, service: ServiceOf, visitor: VisitorOf) -> None:
    """Kept with the answer, in place of what the visitor thought before."""
    answer = service.advisor.conversations.answer(thumb.conversation, thumb.answer, visitor.owner)
    service.advisor.rate(answer, thumb.rating, thumb.reason, visitor.owner)


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _host(request: Request, caller: Caller, settings: WidgetSettings) -> str:
    """Who exchanges: the key; or, while access is off, whoever knows the secret."""
    if caller.is_authenticated:
        if not caller.owner.startswith("key:"):
            raise Refused(
                403, "forbidden", "Tokens are for hosts' back ends. `advisor keys create` makes a key for one."
            )
        return caller.owner
    if settings.secret and hmac.compare_digest(_bearer(request).encode(), settings.secret.encode()):
        return "secret"
    detail = "Send `Authorization: Bearer SECRET`, with the value of ADVISOR_WIDGET_SECRET of the service."
    raise Refused(401, "unauthenticated", detail, headers=CHALLENGE)


def _shown(advisor: Advisor, answer: Answer) -> ShownAnswer:
    return shown(answer, advisor.source_text(answer.conversation_id))


def _server_sent(advisor: Advisor, events: Iterator[Event], request: Request) -> Iterator[str]:
    try:
        for event in events:
            match event:
                case StageStarted(stage):
                    yield _event("stage", _Data(stage=stage))
                case TextReleased(text):
                    yield _event("text", _Data(text=text))
                case Answered(answer):
                    yield _event("answer", _shown(advisor, answer))
    except AdvisorError as error:
        problem = bytes(of_error(request.scope, error).body).decode("utf-8")
        yield f"event: error\ndata: {problem}\n\n"


class _Data(BaseModel):
    stage: str | None = None
    text: str | None = None


def _event(name: str, data: BaseModel) -> str:
    return f"event: {name}\ndata: {data.model_dump_json(exclude_none=True)}\n\n"
