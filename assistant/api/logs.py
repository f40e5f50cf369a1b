"""Logs as JSON, one object a line, for whatever collects them; what people ask is not in them unless that is set."""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.api.watching import Watched
from assistant.schema import Answer

_FIELDS = "fields"
_LOG = logging.getLogger("advisor")
_QUIET = ("httpx", "httpcore", "mcp", "sse_starlette", "PIL", "fontTools")


class JsonFormatter(logging.Formatter):
    """A record as one JSON object.

    An exception is named by its type and its place: its message may hold what somebody asked or a document says.
    """

    def __init__(self, *, with_content: bool) -> None:
        super().__init__()
        self._with_content = with_content

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        written: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info and record.exc_info[1]:
            error = record.exc_info[1]
            frames = traceback.extract_tb(error.__traceback__)
            written["exception"] = type(error).__name__
            written["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]]
            if self._with_content:
                written["detail"] = str(error)
        return json.dumps(written, ensure_ascii=False, default=str)


def set_up(level: str, *, with_content: bool) -> None:
    """Send all logs of the process to standard error as JSON.

    Args:
        level: "debug", "info", "warning" or "error".
        with_content: whether questions and the words of errors may be written.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter(with_content=with_content))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def answer_logger(*, with_content: bool) -> Callable[[Answer], None]:
    """Writes a line about each answer; for `Advisor.observers`."""

    def log(answer: Answer) -> None:
        fields: dict[str, Any] = {
            "answer_id": answer.id,
            "status": answer.status,
            "language": answer.language,
            "citations": len(answer.citations),
            "tools": [run.tool for run in answer.tool_runs],
            "model": answer.model,
            "milliseconds": answer.timings_ms.total,
        }
        if with_content:
            fields["question"] = answer.question
        _LOG.info("answered", extra={_FIELDS: fields})

    return log


class AccessLog:
    """ASGI middleware that writes a line for each request: what, by whom, how long; no query, no body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not _LOG.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        watched = Watched(send)
        try:
            await self._app(scope, receive, watched)
        finally:
            fields = {
                "request_id": scope.get("state", {}).get("request_id", ""),
                "method": scope["method"],
                "path": scope["path"],
                "status": watched.status,
                "caller": getattr(scope.get("user"), "owner", ""),
                "milliseconds": round((time.perf_counter() - started) * 1000, 1),
            }
            _LOG.info("request", extra={_FIELDS: fields})
