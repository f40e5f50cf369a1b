"""The audit log: who asked, uploaded, deleted or changed what, and when; never what was asked."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from anyio import to_thread
from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.api.access.caller import Caller
from assistant.api.database import Database, now
from assistant.api.problems import request_id
from assistant.api.watching import Watched

_NOTE = "audit_note"
_LOG = "advisor.audit_log"


@dataclass(slots=True)
class Note:
    """What a request does; the route fills in what it does it to."""

    action: str
    object: str = ""


class AuditEntry(BaseModel):
    """One line of the audit log."""

    id: str
    at: datetime
    who: str
    """`key:ID` or `user:NAME`."""
    action: str
    object: str
    status: int
    """HTTP status of the answer: refusals are on record too."""
    address: str
    request_id: str


class AuditLog:
    """Written by the service, read by admins."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, caller: Caller, note: Note, status: int, address: str, request: str) -> None:
        """Add a line; nobody's while access is off."""
        if not caller.is_authenticated:
            return
        at = now()
        self._database.insert(
            "audit",
            id=f"{at}-{secrets.token_hex(4)}",
            at=at,
            who=caller.owner,
            action=note.action,
            object=note.object,
            status=status,
            address=address,
            request_id=request,
        )

    def page(self, limit: int, before: str | None = None) -> list[AuditEntry]:
        """Lines, newest first, that are older than the line `before`."""
        where = "WHERE id < :before" if before is not None else ""
        rows = self._database.rows(
            f"SELECT * FROM audit {where} ORDER BY id DESC LIMIT :limit", limit=limit, before=before
        )
        return [AuditEntry.model_validate(row) for row in rows]


def audited(action: str) -> Any:
    """A dependency that puts the request on record, and gives the `Note` to say what it was done to."""

    def note(request: Request) -> Note:
        return put_on_record(request, action)

    return Depends(note)


def put_on_record(request: Request, action: str) -> Note:
    """Put a request on record where there is no dependency to do it."""
    made = Note(action, ", ".join(str(value) for value in request.path_params.values()))
    request.scope["state"][_NOTE] = made
    return made


def record(connection: HTTPConnection, action: str, object_: str) -> None:
    """Put on record what is done apart from a request, by whoever opened the connection."""
    log, caller = connection.scope.get(_LOG), connection.scope.get("user")
    if isinstance(log, AuditLog) and isinstance(caller, Caller):
        log.write(caller, Note(action, object_), 200, _address(connection.scope), request_id(connection.scope))


class Audit:
    """ASGI middleware that writes the note of a request once its answer is out."""

    def __init__(self, app: ASGIApp, *, log: AuditLog) -> None:
        self._app = app
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        caller = scope.get("user")
        if scope["type"] != "http" or not isinstance(caller, Caller) or not caller.is_authenticated:
            await self._app(scope, receive, send)
            return
        watched = Watched(send)
        try:
            scope[_LOG] = self._log
            await self._app(scope, receive, watched)
        finally:
            note = scope["state"].get(_NOTE)
            if note is not None:
                await to_thread.run_sync(
                    self._log.write, caller, note, watched.status, _address(scope), request_id(scope)
                )


def _address(scope: Scope) -> str:
    return str(scope["client"][0]) if scope.get("client") else ""
