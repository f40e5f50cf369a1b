"""Every page's frame: headers that forbid foreign requests, the visitor's cookie, and the project's own head."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.visitor import VISITOR_COOKIE, language, new_key, visitor_key
from ui.words import script_words, word

STATIC = Path(__file__).parent / "static"
SCRIPTS = sorted(file.name for file in (STATIC / "js").glob("*.js"))
"""Modules of the page's script; named in the head, they are fetched side by side."""
POLICY = "; ".join(
    (
        "default-src 'self'",
        # Gradio's front end has inline scripts and compiles templates.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "media-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "form-action 'self'",
        "base-uri 'self'",
    )
)
"""Nothing leaves the host, whatever a page, a library or a document asks for."""
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}
_YEAR = 365 * 24 * 3600
_FOREIGN_META = re.compile(r"\s*<meta[^>]+?(?:og:|twitter:)[^>]*?/>", re.DOTALL)


class Static(StaticFiles):
    """The page's own files; browsers ask each time whether theirs is still the newest."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """A file, or that it hasn't changed."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


class PageFrame:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; only whole HTML pages are held back until they are complete."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        start: Message | None = None
        body = b""

        async def framed(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if headers.get("content-type", "").startswith("text/html") and not headers.get("content-encoding"):
                    start = message
                    return
            elif start is not None and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if message.get("more_body", False):
                    return
                page = _with_head(body, request)
                headers = MutableHeaders(scope=start)
                headers["content-length"] = str(len(page))
                if visitor_key(request.cookies) is None:
                    secure = "; Secure" if scope["scheme"] == "https" else ""
                    headers.append(
                        "set-cookie",
                        f"{VISITOR_COOKIE}={new_key()}; Path=/; Max-Age={_YEAR}; HttpOnly; SameSite=Lax{secure}",
                    )
                await send(start)
                start = None
                message = {"type": "http.response.body", "body": page}
            await send(message)

        await self._app(scope, receive, framed)


def _with_head(body: bytes, request: Request) -> bytes:
    """A Gradio page in the visitor's language with the project's script and style; other pages as they are."""
    text = body.decode("utf-8")
    if "<gradio-app" not in text:
        return body
    chosen = language(request)
    tag = "zh-CN" if chosen == "zh" else "en"
    settings = json.dumps({"language": chosen, "words": script_words(chosen)}, ensure_ascii=False).replace(
        "<", "\\u003c"
    )
    scripts = "".join(f'<link rel="modulepreload" href="/ui/static/js/{name}">' for name in SCRIPTS)
    head = (
        f"<script>window.advisor={settings};"
        # Gradio's own texts follow the browser; this makes them follow the chosen language.
        f'for(const [k,v] of [["language","{tag}"],["languages",["{tag}"]]])'
        "Object.defineProperty(navigator,k,{get:()=>v,configurable:true});</script>"
        f'<meta name="description" content="{word("tagline", chosen)}">'
        f'<link rel="stylesheet" href="/ui/static/app.css">{scripts}'
        '<script type="module" src="/ui/static/js/main.js"></script>'
    )
    text = _FOREIGN_META.sub("", text)
    text = re.sub(r'lang="en"', f'lang="{tag}"', text, count=1)
    return text.replace("<head>", f"<head>{head}", 1).encode("utf-8")
