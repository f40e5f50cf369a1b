"""Refuses changes that another site's page makes a visitor's browser send."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.api.access.binding import is_loopback_address
from assistant.api.problems import Refused, of_error
from assistant.api.widget.origins import BROWSER_PATHS

_READING = frozenset({"GET", "HEAD", "OPTIONS"})


class SameSite:
    """ASGI middleware: a browser says which page a request is from, and only its own site's may change anything."""

    def __init__(self, app: ASGIApp, *, origins: Collection[str]) -> None:
        """`origins`: of the foreign pages that may."""
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        judged = scope["type"] == "http" and scope["method"] not in _READING and scope["path"] not in BROWSER_PATHS
        if judged and self._is_foreign(Headers(scope=scope)):
            detail = "Another site's page can't do this. ADVISOR_CORS_ORIGINS names the pages that may."
            await of_error(scope, Refused(403, "cross_site", detail))(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_foreign(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is None or origin in self._origins:
            return False
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site not in ("same-origin", "none")
        return urlsplit(origin).netloc != headers.get("host")


class OwnName:
    """ASGI middleware of a server for this machine alone: it is called by this machine's names.

    A page elsewhere can point a name of its own to 127.0.0.1 (DNS rebinding), and would then pass for the same site.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and not _is_own(Headers(scope=scope).get("host", "")):
            detail = "This server answers to localhost and 127.0.0.1 alone. Call it by one of these."
            await of_error(scope, Refused(421, "foreign_name", detail))(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_own(host: str) -> bool:
    name = urlsplit(f"//{host}").hostname or ""
    return name == "localhost" or is_loopback_address(name)
