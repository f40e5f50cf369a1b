"""Slack's side, on real sockets, as its public documentation describes it.

- https://docs.slack.dev/authentication/verifying-requests-from-slack: `v0=` HMAC-SHA256 over `v0:timestamp:body`.
- https://docs.slack.dev/apis/events-api: an event that gets no 2xx within 3 s comes again, with `X-Slack-Retry-Num`.
- https://docs.slack.dev/apis/events-api/using-socket-mode: `apps.connections.open`, envelopes with an id to be
  acknowledged, `disconnect` when another connection is wanted.
- https://docs.slack.dev/apis/web-api/rate-limits: 429 with `Retry-After`.
- https://docs.slack.dev/reference/block-kit/blocks: what a message may hold.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from websockets.sync.server import Server, ServerConnection, serve

from tests.assistant.bots.conftest import eventually, listening

BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = "xoxb-1", "xapp-1", "8f742231b10e8888abcd99yyyzzz85a5"
TEAM, BOT_USER = "T1", "UBOT"


class FakeSlack:
    """Keeps what was posted; `limits` are answers of 429 still to be given, with these seconds."""

    def __init__(self) -> None:
        self.posted: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.limits: list[float] = []
        self.refused_at: list[float] = []
        self.acknowledged: list[str] = []
        self.connections: list[ServerConnection] = []
        self.tickets: set[str] = set()
        self.url = ""
        self.socket_url = ""
        self._ids = itertools.count(1)

    @property
    def api_url(self) -> str:
        return f"{self.url}/api/"

    def application(self) -> FastAPI:
        app = FastAPI()
        app.router.add_route("/api/{method}", self._call, methods=["POST"])
        app.router.add_route("/response", self._respond, methods=["POST"])
        return app

    async def _call(self, request: Request) -> Response:
        method = request.path_params["method"]
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if method == "apps.connections.open":
            if token != APP_TOKEN:
                return JSONResponse({"ok": False, "error": "invalid_auth"})
            ticket = f"ticket-{next(self._ids)}"
            self.tickets.add(ticket)
            return JSONResponse({"ok": True, "url": f"{self.socket_url}/link/?ticket={ticket}&app_id=A1"})
        if token != BOT_TOKEN:
            return JSONResponse({"ok": False, "error": "invalid_auth"})
        if method == "auth.test":
            return JSONResponse({"ok": True, "team_id": TEAM, "user_id": BOT_USER, "bot_id": "B1", "user": "advisor"})
        assert method == "chat.postMessage", method
        if self.limits:
            self.refused_at.append(time.monotonic())
            body = {"ok": False, "error": "ratelimited"}
            return JSONResponse(body, 429, headers={"Retry-After": f"{self.limits.pop(0):g}"})
        message = await _body(request)
        error = fault_of(message)
        if error:
            return JSONResponse({"ok": False, "error": error})
        self.posted.append(message | {"at": time.monotonic()})
        return JSONResponse({"ok": True, "channel": message["channel"], "ts": f"{time.time():.6f}"})

    async def _respond(self, request: Request) -> Response:
        self.told.append(await request.json())
        return Response("ok")

    def event(self, **event: Any) -> dict[str, Any]:
        """An event as Slack wraps it."""
        return {
            "token": "unused", "team_id": TEAM, "api_app_id": "A1", "type": "event_callback", "event": event,
            "event_id": f"Ev{next(self._ids)}", "event_time": int(time.time()),
            "authorizations": [{"team_id": TEAM, "user_id": BOT_USER, "is_bot": True}],
        }  # fmt: skip

    def mention(self, text: str, ts: str, thread_ts: str | None = None, channel: str = "C1") -> dict[str, Any]:
        thread = {"thread_ts": thread_ts} if thread_ts else {}
        return self.event(type="app_mention", channel=channel, user="U1", ts=ts, text=f"<@{BOT_USER}> {text}", **thread)

    def direct(self, text: str, ts: str, **more: Any) -> dict[str, Any]:
        return self.event(type="message", channel_type="im", channel="D1", user="U1", ts=ts, text=text, **more)

    def click(self, action: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "block_actions", "team": {"id": TEAM}, "user": {"id": "U1", "team_id": TEAM}, "api_app_id": "A1",
            "channel": {"id": "C1"}, "actions": [action | {"block_id": "b", "action_ts": "1"}],
            "response_url": f"{self.url}/response", "container": {"type": "message"}, "trigger_id": "1",
        }  # fmt: skip

    def deliver(
        self, url: str, body: dict[str, Any], *, retry: int = 0, secret: str = SIGNING_SECRET, age: float = 0
    ) -> httpx.Response:
        """Send a signed request to the bot, as often as Slack would, until it is taken."""
        interactive = body.get("type") == "block_actions"
        text = f"payload={httpx.QueryParams({'p': json.dumps(body)})['p']}" if interactive else json.dumps(body)
        if interactive:
            text = str(httpx.QueryParams({"payload": json.dumps(body)}))
        stamp = str(int(time.time() - age))
        digest = hmac.new(secret.encode(), f"v0:{stamp}:{text}".encode(), hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/x-www-form-urlencoded" if interactive else "application/json",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": f"v0={digest}",
        }
        if retry:
            headers |= {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"}
        return httpx.post(url, content=text, headers=headers, timeout=3, trust_env=False)

    def push(self, kind: str, payload: dict[str, Any], retry: int = 0) -> str:
        """Send an envelope over the socket and wait until it is acknowledged."""
        envelope = f"envelope-{next(self._ids)}"
        body = {"envelope_id": envelope, "type": kind, "payload": payload, "accepts_response_payload": False}
        if kind == "events_api":
            body |= {"retry_attempt": retry, "retry_reason": "timeout" if retry else ""}
        eventually(lambda: self.connections)[-1].send(json.dumps(body))
        eventually(lambda: envelope in self.acknowledged)
        return envelope

    def disconnect(self) -> None:
        """Ask the bot to open another connection, as Slack does every few hours."""
        self.connections.pop().send(json.dumps({"type": "disconnect", "reason": "refresh_requested"}))

    def linked(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        ticket = httpx.URL(connection.request.path).params["ticket"]
        assert ticket in self.tickets
        self.tickets.remove(ticket)
        hello = {"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"}}
        connection.send(json.dumps(hello))
        self.connections.append(connection)
        for message in connection:
            self.acknowledged.append(json.loads(message)["envelope_id"])


async def _body(request: Request) -> dict[str, Any]:
    if request.headers["content-type"].startswith("application/json"):
        return dict(await request.json())
    form = dict(await request.form())
    return {name: json.loads(str(value)) if name == "blocks" else value for name, value in form.items()}


def fault_of(message: dict[str, Any]) -> str | None:
    """What Slack would refuse a message for."""
    blocks = message.get("blocks", [])
    if not message.get("text"):
        return "no_text"
    if len(blocks) > 50:
        return "invalid_blocks"
    for block in blocks:
        match block["type"]:
            case "section" if not 1 <= len(block["text"]["text"]) <= 3000:
                return "invalid_blocks"
            case "context" if not 1 <= len(block["elements"]) <= 10 or any(
                not 1 <= len(element["text"]) <= 3000 for element in block["elements"]
            ):
                return "invalid_blocks"
            case "actions" if len(block["elements"]) > 25 or any(
                len(button["text"]["text"]) > 75 or len(button["value"]) > 2000 for button in block["elements"]
            ):
                return "invalid_blocks"
            case "section" | "context" | "actions" | "divider":
                pass
            case _:
                return "invalid_blocks"
    return None


@contextmanager
def fake_slack() -> Iterator[FakeSlack]:
    """Slack, listening."""
    slack = FakeSlack()
    with listening(slack.application()) as url, serve(slack.linked, "127.0.0.1", 0) as sockets:
        slack.url = url
        slack.socket_url = f"ws://127.0.0.1:{_port(sockets)}"
        thread = threading.Thread(target=sockets.serve_forever, daemon=True)
        thread.start()
        yield slack
        sockets.shutdown()
        thread.join(10)


def _port(server: Server) -> int:
    return int(server.socket.getsockname()[1])
