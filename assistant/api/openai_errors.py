"""Errors in the shape that OpenAI's clients read, on the routes that speak OpenAI's protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

_PREFIXES = ("/v1/chat/", "/v1/models")


class Fault(BaseModel):
    """What went wrong."""

    message: str = Field(description="What happened, to what, and what to do.")
    type: str
    param: str | None = Field(default=None, description="The field that is at fault.")
    code: str | None = None


class ErrorBody(BaseModel):
    """OpenAI's error object."""

    error: Fault


_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
OPENAI_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": description}
    for status, description in {
        400: "A value is missing or can't be right.",
        401: "No key, or one that isn't valid any more.",
        403: "The caller may not do this.",
        404: "There is no such model.",
        405: "The method is not allowed here.",
        409: "A request with this Idempotency-Key is being worked on.",
        413: "The body is larger than allowed.",
        429: "Too many requests; `Retry-After` says when to go on.",
        500: "A fault of the server.",
        503: "The service can't answer at present.",
    }.items()
}
"""For `responses=` of a router."""


def speaks_openai(path: str) -> bool:
    """Whether a path belongs to OpenAI's protocol."""
    return path.startswith(_PREFIXES)


def openai_error(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None, param: str | None = None
) -> JSONResponse:
    """An error as a response. A value that can't be right is 400 in this protocol, not 422."""
    status = 400 if status == 422 else status
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    body = ErrorBody(error=Fault(message=message, type=kind, param=param, code=code))
    return JSONResponse(body.model_dump(mode="json"), status, headers=dict(headers or {}))
