"""A site of another origin that shows the widget, with a back end that fetches tokens for its visitors."""

from __future__ import annotations

import json
import secrets
import threading
from html import escape
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import httpx

SECRET = secrets.token_hex(32)
STRICT = (
    "default-src 'none'; script-src {server}; connect-src 'self' {server}; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'"
)


class Host:
    """`origin` is the one that the service allows; `foreign` is the same site under a name that it doesn't know."""

    def __init__(self) -> None:
        self.server = ""
        """Of the service; known once it runs."""
        self.stale: list[str] = []
        """Tokens to hand out before real ones."""
        handler = type("Handler", (_Handler,), {"host": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        port = self._http.server_address[1]
        self.origin, self.foreign = f"http://localhost:{port}", f"http://127.0.0.1:{port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def token(self, visitor: str, origin: str) -> str | None:
        """As a company's back end would do it."""
        if self.stale:
            return self.stale.pop()
        answer = httpx.post(
            f"{self.server}/v1/widget/tokens",
            json={"visitor": visitor, "origin": origin},
            headers={"authorization": f"Bearer {SECRET}"},
            trust_env=False,
            timeout=60,
        )
        return str(answer.json()["token"]) if answer.status_code == 200 else None


class _Handler(BaseHTTPRequestHandler):
    host: Host

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        asked = dict(parse_qsl(address.query, keep_blank_values=True))
        lang = asked.pop("lang", "en")
        strict = asked.pop("csp", None) is not None
        if "token" not in asked:
            asked["token-url"] = "/token"
        attributes = " ".join(f'data-{name}="{escape(value)}"' for name, value in asked.items())
        page = (
            f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>Wiki</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<script src="{self.host.server}/widget.js" {attributes}></script></head>'
            f'<body><main><h1>Wiki</h1><p><a id="next" href="/next?{escape(address.query)}">Next page</a></p></main>'
            "</body></html>"
        )
        self._send("text/html; charset=utf-8", page, STRICT.format(server=self.host.server) if strict else None)

    def do_POST(self) -> None:
        cookie = SimpleCookie(self.headers.get("cookie", "")).get("wiki_visitor")
        visitor = cookie.value if cookie else secrets.token_hex(8)
        token = self.host.token(visitor, f"http://{self.headers['host']}")
        self._send("application/json", json.dumps({"token": token}), cookie=f"wiki_visitor={visitor}; HttpOnly")

    def _send(self, kind: str, text: str, policy: str | None = None, cookie: str | None = None) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if policy:
            self.send_header("content-security-policy", policy)
        if cookie:
            self.send_header("set-cookie", cookie)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_unused: object) -> None:
        pass
