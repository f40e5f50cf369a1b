"""`Idempotency-Key`: a write that is sent again, because its answer got lost, is done once and answered alike.

As the IETF draft "The Idempotency-Key HTTP Header Field" has it: the same key with another request is an error, and a
key whose request is being worked on is a conflict. Streams are not kept, so they are done again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.access.caller import Caller
from assistant.api.database import Database
from assistant.api.problems import Refused, of_error

HEADER = "idempotency-key"
REPLAYED = "idempotent-replayed"
KEPT = timedelta(hours=24)
ABANDONED = timedelta(minutes=15)
"""A request that has been worked on for so long was broken off."""
SWEPT = timedelta(minutes=1)
_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_MAX_BODY = 2_000_000


class Memory:
    """Answers to writes, by caller and key."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._swept = datetime.min.replace(tzinfo=UTC)

    def begin(self, owner: str, key: str, fingerprint: str) -> Response | None:
        """Start a request, or the answer that it had before.

        Raises:
            Refused: 409 while it is being worked on, 422 for a key that was used for another request.
        """
        now = datetime.now(UTC)
        self._sweep(now)
        row = {"owner": owner, "idempotency_key": key, "fingerprint": fingerprint, "created": now.isoformat()}
        if self._database.insert("idempotency", **row):
            return None
        found = self._database.rows(
            "SELECT * FROM idempotency WHERE owner = :owner AND idempotency_key = :key", owner=owner, key=key
        )
        if found and found[0]["fingerprint"] != fingerprint:
            raise Refused(422, "idempotency_key_reused", "This Idempotency-Key was used for another request.")
        if not found or found[0]["status"] is None:
            detail = "A request with this Idempotency-Key is being worked on. Wait for it, or ask again in a second."
            raise Refused(409, "in_progress", detail, headers={"retry-after": "1"})
        headers: dict[str, str] = json.loads(found[0]["headers"])
        return Response(found[0]["body"], found[0]["status"], {**headers, REPLAYED: "true"})

    def _sweep(self, now: datetime) -> None:
        if now - self._swept < SWEPT:
            return
        self._swept = now
        self._database.change(
            (
                "DELETE FROM idempotency WHERE created < :old OR (status IS NULL AND created < :abandoned)",
                {"old": (now - KEPT).isoformat(), "abandoned": (now - ABANDONED).isoformat()},
            )
        )

    def finish(self, owner: str, key: str, status: int, headers: Mapping[str, str], body: str) -> None:
        """Keep the answer."""
        self._database.change(
            (
                "UPDATE idempotency SET status = :status, headers = :headers, body = :body "
                "WHERE owner = :owner AND idempotency_key = :key",
                {"status": status, "headers": json.dumps(dict(headers)), "body": body, "owner": owner, "key": key},
            )
        )

    def forget(self, owner: str, key: str) -> None:
        """As if the request had not been sent: it failed, or its answer can't be kept."""
        self._database.change(
            (
                "DELETE FROM idempotency WHERE owner = :owner AND idempotency_key = :key",
                {"owner": owner, "key": key},
            )
        )

    def forget_all_about(self, owner: str, text: str) -> None:
        """Drop kept answers that speak of what is deleted now."""
        self._database.change(
            (
                "DELETE FROM idempotency WHERE owner = :owner AND body LIKE :pattern",
                {"owner": owner, "pattern": f"%{text}%"},
            )
        )


class Idempotency:
    """ASGI middleware over the writes of the API."""

    def __init__(self, app: ASGIApp, *, memory: Memory) -> None:
        self._app = app
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        caller = scope.get("user")
        applies = scope["type"] == "http" and scope["method"] in _METHODS and scope["path"].startswith("/v1/")
        key = Headers(scope=scope).get(HEADER) if applies else None
        if key is None or not isinstance(caller, Caller):
            await self._app(scope, receive, send)
            return
        try:
            if not _KEY.fullmatch(key):
                raise Refused(422, "invalid_idempotency_key", "An Idempotency-Key has 1 to 200 visible characters.")
            fingerprint, receive = await _fingerprint(scope, receive)
            kept = await to_thread.run_sync(self._memory.begin, caller.owner, key, fingerprint)
        except Refused as error:
            kept = of_error(scope, error)
        if kept is not None:
            await kept(scope, receive, send)
            return

        async def keep(answer: _Answer) -> None:
            done = (caller.owner, key, answer.status, answer.headers, answer.body.decode("utf-8"))
            await to_thread.run_sync(self._memory.finish, *done)

        answer = _Answer(send, keep)
        try:
            await self._app(scope, receive, answer.send)
        finally:
            if not answer.is_kept:
                await to_thread.run_sync(self._memory.forget, caller.owner, key)


class _Answer:
    """What was sent, as far as it can be kept; kept before its end is out, since who has it may send again."""

    def __init__(self, send: Send, keep: Callable[[_Answer], Awaitable[None]]) -> None:
        self._send = send
        self._keep = keep
        self.is_kept = False
        self._too_long = False
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""

    @property
    def _can_be_kept(self) -> bool:
        media = self.headers.get("content-type", "")
        return not self._too_long and self.status < 500 and "json" in (media or "json")

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            sent = MutableHeaders(scope=message)
            self.headers = {name: sent[name] for name in ("content-type", "location") if name in sent}
        elif message["type"] == "http.response.body":
            self._too_long = self._too_long or len(self.body) + len(message.get("body", b"")) > _MAX_BODY
            if not self._too_long:
                self.body += message.get("body", b"")
            if not message.get("more_body", False) and not self.is_kept and self._can_be_kept:
                await self._keep(self)
                self.is_kept = True
        await self._send(message)


async def _fingerprint(scope: Scope, receive: Receive) -> tuple[str, Receive]:
    """What tells requests apart. Of an upload only its address: a client that sends it again parts it differently."""
    hashed = hashlib.sha256(f"{scope['method']} {scope['path']}?".encode() + scope.get("query_string", b""))
    if "json" not in Headers(scope=scope).get("content-type", ""):
        return hashed.hexdigest(), receive
    messages: list[Message] = []
    while True:
        message: dict[str, Any] = dict(await receive())
        messages.append(message)
        hashed.update(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            break

    async def again() -> Message:
        return messages.pop(0) if messages else await receive()

    return hashed.hexdigest(), again
