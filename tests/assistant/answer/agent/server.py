"""A scripted server of the OpenAI chat API: real sockets, real server-sent events, good and bad manners.

A script is called with every request and its number (from 1) and says what the server does.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the server answers with."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    """(tool, arguments as JSON text)."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    """Instead of a completion."""
    piece: int = 12
    """Characters of one event."""
    pause: float = 0.0
    """Seconds between events."""
    drop_after: int | None = None
    """Events after which the connection is cut."""
    stall_after: int | None = None
    """Events after which nothing more comes, while the connection stays open."""
    keep_alive: bool = False
    """Send comments instead while it stalls."""
    finish: str | None = None
    usage: tuple[int, int] | None = (100, 20)
    raw: Sequence[str] = ()
    """Lines to send in the stream as they are, before the text."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the first delta."""
    done: bool = True
    """Whether the stream ends as it should, with [DONE]."""
    call_ids: bool = True
    chunked: bool = True
    """Whether the length of the stream is told in chunks; otherwise a cut connection looks like its end."""


Script = Callable[[dict[str, Any], int], Reply]


class ScriptedServer:
    """Serves one script on a free port of this machine."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.sent: list[tuple[float, str]] = []
        """Time and text of every event with content."""
        self._stopping = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                request = json.loads(self.rfile.read(length))
                outer.requests.append(request)
                outer.headers.append(dict(self.headers.items()))
                with suppress(BrokenPipeError, ConnectionResetError):
                    outer._answer(self, request, outer.script(request, len(outer.requests)))
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler, request: dict[str, Any], reply: Reply) -> None:
        if reply.status != 200 or reply.body is not None:
            body = (reply.body if reply.body is not None else json.dumps({"error": {"message": "scripted"}})).encode()
            handler.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        if reply.chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()

        def send(text: str) -> None:
            data = text.encode()
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if reply.chunked else data)
            handler.wfile.flush()

        for number, (event, content) in enumerate(_events(request, reply)):
            if reply.drop_after is not None and number >= reply.drop_after:
                handler.connection.shutdown(socket.SHUT_RDWR)
                return
            if reply.stall_after is not None and number >= reply.stall_after:
                while not self._stopping.wait(0.05):
                    if reply.keep_alive:
                        send(": keep-alive\n\n")
                return
            if reply.pause:
                time.sleep(reply.pause)
            if content:
                self.sent.append((time.perf_counter(), content))
            send(event)
        if reply.chunked:
            handler.wfile.write(b"0\r\n\r\n")


def _events(request: dict[str, Any], reply: Reply) -> Iterator[tuple[str, str]]:
    """Server-sent events with the text that each adds."""

    def chunk(delta: dict[str, Any], finish: str | None = None, usage: dict[str, int] | None = None) -> str:
        body = {
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request.get("model", "m"),
            "choices": [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}],
        }  # fmt: skip
        return f"data: {json.dumps(body | ({'usage': usage} if usage else {}), ensure_ascii=False)}\n\n"

    yield chunk({"role": "assistant", "content": "", **reply.extra}), ""
    for line in reply.raw:
        yield line, ""
    for at in range(0, len(reply.text), reply.piece):
        part = reply.text[at : at + reply.piece]
        yield chunk({"content": part}), part
    for index, (name, arguments) in enumerate(reply.calls):
        call: dict[str, Any] = {"index": index, "type": "function", "function": {"name": name, "arguments": ""}}
        if reply.call_ids:
            call["id"] = f"call_{index}_{len(request['messages'])}"
        yield chunk({"tool_calls": [call]}), ""
        half = max(1, len(arguments) // 2)
        for part in (arguments[:half], arguments[half:]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]}), ""
    yield chunk({}, reply.finish or ("tool_calls" if reply.calls else "stop")), ""
    if reply.usage:
        read, written = reply.usage
        yield chunk({}, usage={"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}), ""
    if reply.done:
        yield "data: [DONE]\n\n", ""


@contextmanager
def serving(*replies: Reply | Script) -> Iterator[ScriptedServer]:
    """A server that gives these replies in turn, the last one for ever; a script may stand for all of them."""
    if len(replies) == 1 and callable(replies[0]):
        script: Script = replies[0]
    else:

        def script(request: dict[str, Any], number: int) -> Reply:
            reply = replies[min(number, len(replies)) - 1]
            return reply(request, number) if callable(reply) else reply

    with ScriptedServer(script) as server:
        yield server
