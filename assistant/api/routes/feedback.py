"""Feedback: what somebody thinks of an answer of theirs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from assistant.api.access import Caller, Note, audited, requires
from assistant.api.problems import PROBLEMS
from assistant.api.routes.ask import PLAIN
from assistant.api.service import ServiceOf
from assistant.conversations import Rating

router = APIRouter(prefix="/v1/feedback", tags=["conversations"], responses=PROBLEMS)


class Rated(BaseModel):
    """A thumb, and why."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "conversation_id": "5b1f0c52-0f7e-4a57-9d9a-0d5f6f1c2b3a",
                    "answer_id": "c0a8c9f4-4d57-4a3c-9f0e-7c1d2e3f4a5b",
                    "rating": "down",
                    "reason": "The price is out of date.",
                }
            ]
        },
    )

    conversation_id: str = Field(max_length=64, pattern=PLAIN)
    answer_id: str = Field(max_length=64, pattern=PLAIN)
    rating: Rating
    reason: str = Field(default="", max_length=2000, pattern=PLAIN)


@router.post("", summary="Rate an answer", status_code=204)
def rate(
    rated: Rated,
    service: ServiceOf,
    caller: Annotated[Caller, requires("ask")],
    note: Annotated[Note, audited("feedback")],
) -> Response:
    """In place of what the caller thought of it before."""
    note.object = rated.answer_id
    answer = service.advisor.conversations.answer(rated.conversation_id, rated.answer_id, caller.owner)
    service.advisor.rate(answer, rated.rating, rated.reason, caller.owner)
    return Response(status_code=204)
