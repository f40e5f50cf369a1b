"""Every request's first questions: is its address too busy, who is calling, are they too busy, may they come in."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from assistant.api.access.caller import ANYBODY, CHALLENGE, NO_KEY, Caller
from assistant.api.access.keys import Keys, is_key
from assistant.api.access.people import People
from assistant.api.access.rate import Rate
from assistant.api.problems import Refused, of_error
from assistant.api.settings import ServiceSettings
from assistant.api.widget.origins import BROWSER_PATHS

PUBLIC = frozenset({"/v1/health", "/v1/readiness", "/v1/version", "/openapi.json", "/widget.js"}) | BROWSER_PATHS
"""Paths that need no caller; those of the widget take its own tokens."""
_TRUSTED = "advisor.from_trusted_proxy"


class Forwarded:
    """Believes `X-Forwarded-For` and `-Proto` of trusted proxies, and remembers whether one sent the request."""

    def __init__(self, app: ASGIApp, *, proxies: Sequence[str]) -> None:
        self._networks = [ipaddress.ip_network(proxy, strict=False) for proxy in proxies]
        self._app = ProxyHeadersMiddleware(app, trusted_hosts=list(proxies))  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        scope[_TRUSTED] = scope["type"] in ("http", "websocket") and self._is_proxy(scope)
        await self._app(scope, receive, send)  # type: ignore[arg-type]

    def _is_proxy(self, scope: Scope) -> bool:
        try:
            address = ipaddress.ip_address(scope["client"][0])
        except (TypeError, ValueError):
            return False
        return any(address in network for network in self._networks)


class Gate:
    """ASGI middleware that puts the `Caller` into `scope["user"]`, and lets nobody else in while access is on."""

    def __init__(self, app: ASGIApp, *, settings: ServiceSettings, keys: Keys) -> None:
        self._app = app
        self._mode = settings.access
        self._keys = keys
        self._people = People(settings)
        self._by_address = Rate(settings.rate_limit_address)
        self._by_caller = Rate(settings.rate_limit_key)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            scope["user"] = await self._admit(scope)
        except Refused as error:
            if scope["type"] == "websocket":
                await receive()
                await send({"type": "websocket.close", "code": 1008})
            else:
                await of_error(scope, error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _admit(self, scope: Scope) -> Caller | None:
        address = scope["client"][0] if scope.get("client") else ""
        if self._mode == "off":
            if not _is_local(address):
                self._by_address.count(address)
            return ANYBODY
        self._by_address.count(address)
        public = scope["path"] in PUBLIC
        if public:
            return None
        caller = await self._caller(scope)
        if caller is None:
            raise Refused(401, "unauthenticated", NO_KEY, headers=CHALLENGE)
        self._by_caller.count(caller.owner)
        return caller

    async def _caller(self, scope: Scope) -> Caller | None:
        headers = Headers(scope=scope)
        scheme, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip() if scheme.lower() == "bearer" else ""
        if is_key(token):
            return await to_thread.run_sync(self._keys.caller, token)
        if token and self._mode == "oidc":
            return await to_thread.run_sync(self._people.of_token, token)
        if token and self._mode == "keys":
            return await to_thread.run_sync(self._keys.caller, token)
        if self._mode == "header" and scope.get(_TRUSTED):
            return self._people.of_headers(headers)
        return None


def _is_local(address: str) -> bool:
    """Whether a client is on this machine; one that came by a socket of the file system has no address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return True
