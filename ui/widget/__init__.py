"""The embeddable widget: one script, put together from its parts, that any page can load.

`python -m ui.widget` prints its size and fails when it is larger than `LIMIT_BYTES`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path

from fastapi import Request
from fastapi.responses import Response

LIMIT_BYTES = 30_000
"""Of the script, compressed."""
_HERE = Path(__file__).parent
_PARTS = ("words", "elements", "markdown", "service", "turn", "panel", "main")
_CACHE_SECONDS = 3600


@cache
def script() -> str:
    """The whole script; its parts share one scope, and leave nothing in the page's."""
    style = json.dumps((_HERE / "style.css").read_text("utf-8"))
    parts = [(_HERE / f"{name}.js").read_text("utf-8") for name in _PARTS]
    return "\n".join(['(() => {\n"use strict";', f"const STYLE = {style};", *parts, "})();", ""])


def compressed() -> bytes:
    """As it travels."""
    return gzip.compress(script().encode("utf-8"), 9, mtime=0)


def serve(request: Request) -> Response:
    """The script for pages of any origin: what may be asked is decided by tokens and origins, not by who has it."""
    body = compressed()
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = {
        "cache-control": f"public, max-age={_CACHE_SECONDS}",
        "cross-origin-resource-policy": "cross-origin",
        "access-control-allow-origin": "*",  # for pages that check the script's integrity
        "etag": tag,
        "vary": "accept-encoding",
    }
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(body, headers=headers | {"content-encoding": "gzip"}, media_type="text/javascript")
    return Response(script(), headers=headers, media_type="text/javascript")
