"""Around every request: its id, security headers, the last resort for errors, and how large a body may be."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.problems import Refused, of_error, problem

REQUEST_ID = "x-request-id"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_EVERYWHERE = {"x-content-type-options": "nosniff", "referrer-policy": "same-origin"}
_API = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_LOG = logging.getLogger(__name__)


def is_api(path: str) -> bool:
    """Whether a path is the API's, not the web app's."""
    return path in ("/openapi.json", "/metrics", "/mcp") or path.startswith("/v1/")


class Frame:
    """Gives a request its id, and its response the headers that every response has."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; an error that nobody caught becomes a problem without details, and is logged."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        identity = given if _ID.fullmatch(given) else uuid.uuid4().hex
        scope["state"] = {**scope.get("state", {}), "request_id": identity}
        started = False

        async def framed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in _headers(scope).items():
                    headers.setdefault(name, value)
                headers[REQUEST_ID] = identity
            await send(message)

        try:
            await self._app(scope, receive, framed)
        except Exception:
            _LOG.exception("Request %s failed", identity)
            if started or scope["type"] != "http":
                raise
            detail = f"The server failed. Report the request id {identity}; the server's log has the details."
            await problem(scope, 500, "server_error", detail)(scope, receive, framed)


def _headers(scope: Scope) -> Mapping[str, str]:
    headers = _EVERYWHERE | (_API if is_api(scope["path"]) else {})
    return headers | ({"strict-transport-security": "max-age=31536000"} if scope.get("scheme") == "https" else {})


class BodyLimit:
    """Refuses a body that is larger than its route takes, by its stated and by its real size."""

    def __init__(self, app: ASGIApp, *, request_bytes: int, upload_bytes: int) -> None:
        self._app = app
        self._request_bytes = request_bytes
        self._upload_bytes = upload_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit(scope)
        too_large = Refused(413, "too_large", f"The body is larger than {limit:,} bytes. Send less at once.")
        stated = Headers(scope=scope).get("content-length", "")
        if stated.isdigit() and int(stated) > limit:
            await of_error(scope, too_large)(scope, receive, send)
            return
        seen, over, answered = 0, False, False

        async def counted() -> Message:
            nonlocal seen, over
            message = await receive()
            seen += len(message.get("body", b""))
            over = over or seen > limit
            # What is cut off can't be read as anything; whatever is made of it, the answer below stands.
            return {"type": "http.request", "body": b"", "more_body": False} if over else message

        async def answer(message: Message) -> None:
            nonlocal answered
            if not over:
                await send(message)
            elif not answered:
                answered = True
                await of_error(scope, too_large)(scope, receive, send)

        await self._app(scope, counted, answer)

    def _limit(self, scope: Scope) -> int:
        uploads = not is_api(scope["path"]) or scope["path"].rstrip("/") == "/v1/documents"
        return self._upload_bytes if uploads else self._request_bytes
