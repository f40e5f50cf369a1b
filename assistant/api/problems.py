"""Errors as RFC 9457 problem details: every error of the API is `application/problem+json`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from assistant.api.openai_errors import openai_error, speaks_openai
from assistant.errors import AdvisorError, ConversationNotFound, InvalidField, InvalidInput, MissingInputs
from knowledge.errors import EncoderError, NotFound, StoreError

MEDIA_TYPE = "application/problem+json"
_LOG = logging.getLogger(__name__)


class Problem(BaseModel):
    """What went wrong, as RFC 9457 has it; some kinds of errors add members of their own."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "type": "about:blank",
                "title": "Not Found",
                "status": 404,
                "detail": "There is no conversation 7b0c here. Leave the id out to start a new one.",
                "code": "conversation_not_found",
                "request_id": "0f9b6c3e",
            }
        },
    )

    type: str = "about:blank"
    title: str = Field(description="The status in words.")
    status: int = Field(ge=400, le=599)
    detail: str = Field(description="What happened, to what, and what to do.")
    code: str = Field(description="The kind of error, for programs.")
    request_id: str = Field(description="Also in the header `X-Request-Id`, and in the server's log.")


class Refused(AdvisorError):
    """An error of the API itself, with its status."""

    def __init__(
        self, status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})
        self.members = members


def _described(status: int, description: str) -> dict[int | str, dict[str, Any]]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {status: {"description": description, "content": {MEDIA_TYPE: {"schema": schema}}}}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    **_described(400, "The request can't be understood."),
    **_described(401, "No key or token, or one that isn't valid any more."),
    **_described(403, "The caller may not do this."),
    **_described(404, "There is no such thing here for this caller."),
    **_described(405, "The method is not allowed here."),
    **_described(409, "A request with this Idempotency-Key is being worked on."),
    **_described(413, "The body is larger than allowed."),
    **_described(415, "The content is of a kind that can't be taken."),
    **_described(422, "A value is missing or can't be right."),
    **_described(429, "Too many requests; `Retry-After` says when to go on."),
    **_described(500, "A fault of the server."),
    **_described(503, "The service can't answer at present."),
}
"""For `responses=` of a router: what any route may answer besides its result."""


def problem(
    scope: Mapping[str, Any],
    status: int,
    code: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> JSONResponse:
    """A problem as a response; `scope` is the request's, which knows its id and whose protocol it speaks."""
    if speaks_openai(scope["path"]):
        return openai_error(status, code, detail, headers, members.get("field"))
    body = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        request_id=request_id(scope),
        **members,
    )
    return JSONResponse(body.model_dump(mode="json"), status, headers=headers, media_type=MEDIA_TYPE)


def request_id(scope: Mapping[str, Any]) -> str:
    """The id of the request, given by the client or made here."""
    return str(scope.get("state", {}).get("request_id", ""))


def of_error(scope: Mapping[str, Any], error: AdvisorError) -> JSONResponse:
    """The problem that an error of this program is."""
    match error:
        case Refused():
            return problem(scope, error.status, error.code, str(error), error.headers, **error.members)
        case ConversationNotFound():
            return problem(scope, 404, "conversation_not_found", str(error))
        case NotFound():
            return problem(scope, 404, "not_found", str(error))
        case InvalidField():
            return problem(
                scope, 422, "invalid_field", str(error),
                field=error.field, accepted=error.accepted, nearest=list(error.nearest),
            )  # fmt: skip
        case MissingInputs():
            return problem(scope, 422, "missing_inputs", str(error), fields=list(error.fields))
        case InvalidInput():
            return problem(scope, 422, "invalid_input", str(error))
        case StoreError() | EncoderError():
            _LOG.error("%s %s", request_id(scope), error)
            detail = "The index or the database can't be used at present; the server's log says why. Try again later."
            return problem(scope, 503, "unavailable", detail)
        case _:
            return problem(scope, 422, "invalid_input", str(error))


def _advisor_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AdvisorError)
    return of_error(request.scope, error)


def _validation(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = [
        {"pointer": "/".join(str(part) for part in fault["loc"]), "detail": fault["msg"]} for fault in error.errors()
    ]
    first = faults[0]
    detail = f"{first['pointer']}: {first['detail']}. Correct the request; the API's schema is at /openapi.json."
    return problem(request.scope, 422, "invalid_request", detail, errors=faults, field=first["pointer"])


def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    detail = error.detail if error.detail and error.detail != phrase else _WORDS.get(error.status_code, phrase)
    code = phrase.lower().replace(" ", "_").replace("-", "_")
    return problem(request.scope, error.status_code, code, detail, error.headers)


_WORDS = {
    400: "The body can't be read. Send it as the API's schema at /openapi.json says.",
    404: "There is nothing at this address. The API's schema is at /openapi.json.",
    405: "This address doesn't take this method. The header Allow says which it takes.",
}


def install(app: FastAPI) -> None:
    """Answer every error of the application's routes with a problem."""
    app.add_exception_handler(AdvisorError, _advisor_error)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http_error)
