"""Lets the pages that the operator names call the widget's routes from their own origin, and no other page."""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.problems import Refused, of_error

BROWSER_PATHS = frozenset({"/v1/widget/stream", "/v1/widget/conversation", "/v1/widget/feedback"})
"""Called by visitors' browsers, with a token; nothing else of the API takes one."""
_ALLOW = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "authorization, content-type",
    "access-control-max-age": "600",
}


class WidgetOrigins:
    """ASGI middleware, outside of all that judges origins otherwise."""

    def __init__(self, app: ASGIApp, *, origins: Collection[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] not in BROWSER_PATHS:
            await self._app(scope, receive, send)
            return
        origin = Headers(scope=scope).get("origin", "").lower()
        if origin not in self._origins:
            detail = "The widget isn't allowed on this page. ADVISOR_WIDGET_ORIGINS names the pages that may show it."
            await of_error(scope, Refused(403, "origin_refused", detail))(scope, receive, send)
            return
        allowed = {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": "retry-after",
            "vary": "Origin",
        }
        if scope["method"] == "OPTIONS":
            await Response(status_code=204, headers=allowed | _ALLOW)(scope, receive, send)
            return

        async def shared(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in allowed.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, shared)
