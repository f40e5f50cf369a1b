"""DingTalk's side, on real sockets, as its public documentation describes it.

- https://open.dingtalk.com/document/direction/stream-mode-protocol-access-description: `gateway/connections/open` gives
  an endpoint and a ticket; messages with `specVersion`, `type`, `headers`, `data`, each to be acknowledged with its
  `messageId` and code 200, or else it comes again; `SYSTEM` messages `ping` and `disconnect`.
- https://open.dingtalk.com/document/orgapp/receive-message: fields of a message, `sessionWebhook`.
- https://open.dingtalk.com/document/orgapp/robot-message-type: `markdown` and `actionCard`.
- https://open.dingtalk.com/document/orgapp/custom-robots-send-group-messages: 20 messages a minute, errcode 130101.
"""

from __future__ import annotations

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
from websockets.sync.server import ServerConnection, serve

from tests.assistant.bots.conftest import eventually, listening

CLIENT_ID, CLIENT_SECRET, TOPIC = "ding-1", "ding-secret", "/v1.0/im/bot/messages/get"


class FakeDingTalk:
    """Keeps what was sent; `limits` are refusals still to be given."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.limits: list[Response] = []
        self.refused_at: list[float] = []
        self.connections: list[ServerConnection] = []
        self.acknowledged: dict[str, int] = {}
        self.tickets: set[str] = set()
        self.url = ""
        self.socket_url = ""
        self._ids = itertools.count(1)

    def application(self) -> FastAPI:
        app = FastAPI()
        app.router.add_route("/v1.0/gateway/connections/open", self._open, methods=["POST"])
        app.router.add_route("/v1.0/oauth2/accessToken", self._token, methods=["POST"])
        app.router.add_route("/robot/sendBySession", self._send, methods=["POST"])
        return app

    async def _open(self, request: Request) -> Response:
        body = await request.json()
        if (body["clientId"], body["clientSecret"]) != (CLIENT_ID, CLIENT_SECRET):
            return JSONResponse({"code": "authFailed", "message": "auth failed"}, 401)
        assert {"type": "CALLBACK", "topic": TOPIC} in body["subscriptions"]
        ticket = f"ticket-{next(self._ids)}"
        self.tickets.add(ticket)
        return JSONResponse({"endpoint": f"{self.socket_url}/connect", "ticket": ticket})

    async def _token(self, request: Request) -> Response:
        body = await request.json()
        if (body["appKey"], body["appSecret"]) != (CLIENT_ID, CLIENT_SECRET):
            return JSONResponse({"code": "invalidClientIdOrSecret", "message": "invalid"}, 400)
        return JSONResponse({"accessToken": "token", "expireIn": 7200})

    async def _send(self, request: Request) -> Response:
        assert request.query_params["session"] == "s1"
        if self.limits:
            self.refused_at.append(time.monotonic())
            return self.limits.pop(0)
        body = await request.json()
        match body["msgtype"]:
            case "markdown":
                assert body["markdown"]["title"] and body["markdown"]["text"]
            case "actionCard":
                card = body["actionCard"]
                assert card["title"] and card["text"] and all(b["title"] and b["actionURL"] for b in card["btns"])
            case kind:
                return JSONResponse({"errcode": 400105, "errmsg": f"unsupported msgtype {kind}"})
        self.sent.append(body | {"at_time": time.monotonic()})
        return JSONResponse({"errcode": 0, "errmsg": "ok"})

    def message(
        self, text: str, message_id: str, *, direct: bool = False, user: str = "u1", kind: str = "text"
    ) -> dict[str, Any]:
        content: dict[str, Any] = {"text": {"content": f" {text}"}}
        if kind == "richText":
            content = {"content": {"richText": [{"text": text}, {"downloadCode": "x", "type": "picture"}]}}
        if kind == "picture":
            content = {"content": {"downloadCode": "x"}}
        return content | {
            "msgId": message_id, "msgtype": kind, "conversationId": "cid2" if direct else "cid1",
            "conversationType": "1" if direct else "2", "senderId": f"$:{user}", "senderStaffId": user,
            "senderNick": "Li", "chatbotUserId": "bot", "isInAtList": True, "robotCode": "r", "createAt": 1,
            "sessionWebhook": f"{self.url}/robot/sendBySession?session=s1",
            "sessionWebhookExpiredTime": int(time.time() * 1000) + 5_400_000,
        }  # fmt: skip

    def push(self, message: dict[str, Any]) -> None:
        """Send a message over the stream and wait until it is acknowledged."""
        identity = f"m{next(self._ids)}"
        headers = {
            "appId": "a", "connectionId": "c", "contentType": "application/json", "messageId": identity,
            "time": str(int(time.time() * 1000)), "topic": TOPIC,
        }  # fmt: skip
        body = {"specVersion": "1.0", "type": "CALLBACK", "headers": headers, "data": json.dumps(message)}
        eventually(lambda: self.connections)[-1].send(json.dumps(body))
        eventually(lambda: self.acknowledged.get(identity) == 200)

    def linked(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        ticket = httpx.URL(connection.request.path).params["ticket"]
        assert ticket in self.tickets
        self.tickets.remove(ticket)
        self.connections.append(connection)
        for message in connection:
            acknowledged = json.loads(message)
            self.acknowledged[acknowledged["headers"]["messageId"]] = acknowledged["code"]


@contextmanager
def fake_dingtalk() -> Iterator[FakeDingTalk]:
    """DingTalk, listening."""
    dingtalk = FakeDingTalk()
    with listening(dingtalk.application()) as url, serve(dingtalk.linked, "127.0.0.1", 0) as sockets:
        dingtalk.url = url
        dingtalk.socket_url = f"ws://127.0.0.1:{sockets.socket.getsockname()[1]}"
        thread = threading.Thread(target=sockets.serve_forever, daemon=True)
        thread.start()
        yield dingtalk
        sockets.shutdown()
        thread.join(10)
