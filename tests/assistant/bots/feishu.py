"""Feishu's side, on real sockets, as its public documentation describes it.

- https://open.feishu.cn/document/server-docs/event-subscription-guide/event-subscription-configure-/encrypt-key-encryption-configuration-case:
  AES-256-CBC with the SHA-256 of the key; `X-Lark-Signature` is SHA-256 of timestamp, nonce, key and body.
- https://open.feishu.cn/document/server-docs/event-subscription-guide/overview: an event that isn't answered with 200
  within 3 s comes again.
- https://open.feishu.cn/document/server-docs/im-v1/message/reply and .../message/events/receive.
- https://open.feishu.cn/document/server-docs/api-call-guide/frequency-control: 429, `x-ogw-ratelimit-reset`, 99991400.
- https://open.feishu.cn/document/feishu-cards/card-json-v2-structure.
- https://open.feishu.cn/document/server-docs/event-subscription-guide/event-subscription-configure-/request-url-configuration-case:
  the long connection; its frames are those of the platform's own library.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from websockets.sync.server import ServerConnection, serve

from tests.assistant.bots.conftest import eventually, listening

SECRET, ENCRYPT_KEY, TOKEN, BOT = "app-secret", "encrypt-key", "verification-token", "ou_bot"


class FakeFeishu:
    """Keeps what was sent; `limits` are refusals still to be given, with these seconds."""

    def __init__(self) -> None:
        self.app_id = f"cli_{os.urandom(6).hex()}"
        self.sent: list[dict[str, Any]] = []
        self.limits: list[tuple[int, int, float]] = []
        self.refused_at: list[float] = []
        self.connections: list[ServerConnection] = []
        self.acknowledged: dict[str, dict[str, Any]] = {}
        self.url = ""
        self.socket_url = ""
        self._uuids: set[str] = set()
        self._ids = itertools.count(1)

    def application(self) -> FastAPI:
        app = FastAPI()
        route = app.router.add_route
        route("/open-apis/auth/v3/tenant_access_token/internal", self._token, methods=["POST"])
        route("/open-apis/bot/v3/info", self._info, methods=["GET"])
        route("/open-apis/im/v1/messages/{message_id}/reply", self._reply, methods=["POST"])
        route("/callback/ws/endpoint", self._endpoint, methods=["POST"])
        return app

    async def _token(self, request: Request) -> Response:
        body = await request.json()
        if (body["app_id"], body["app_secret"]) != (self.app_id, SECRET):
            return JSONResponse({"code": 10014, "msg": "app secret invalid"})
        return JSONResponse({"code": 0, "msg": "ok", "tenant_access_token": f"t-{self.app_id}", "expire": 7200})

    async def _info(self, request: Request) -> Response:
        assert request.headers["authorization"] == f"Bearer t-{self.app_id}"
        return JSONResponse({"code": 0, "msg": "ok", "bot": {"activate_status": 2, "open_id": BOT}})

    async def _reply(self, request: Request) -> Response:
        assert request.headers["authorization"] == f"Bearer t-{self.app_id}"
        if self.limits:
            status, code, reset = self.limits.pop(0)
            self.refused_at.append(time.monotonic())
            headers = {"x-ogw-ratelimit-limit": "100", "x-ogw-ratelimit-reset": f"{reset:g}"}
            return JSONResponse({"code": code, "msg": "request trigger frequency limit"}, status, headers=headers)
        body = await request.json()
        fault = fault_of(body)
        if fault:
            return JSONResponse({"code": 230099, "msg": fault}, 400)
        if body["uuid"] not in self._uuids:
            self._uuids.add(body["uuid"])
            card = json.loads(body["content"])
            self.sent.append({"to": request.path_params["message_id"], "card": card, "at": time.monotonic()} | body)
        return JSONResponse({"code": 0, "msg": "success", "data": {"message_id": f"om_{next(self._ids)}"}})

    async def _endpoint(self, request: Request) -> Response:
        body = await request.json()
        if (body["AppID"], body["AppSecret"]) != (self.app_id, SECRET):
            return JSONResponse({"code": 1000040344, "msg": "app secret invalid"})
        url = f"{self.socket_url}/ws/v2?device_id=d1&service_id=7&ticket=x"
        config = {"ReconnectCount": -1, "ReconnectInterval": 1, "ReconnectNonce": 0, "PingInterval": 120}
        return JSONResponse({"code": 0, "msg": "ok", "data": {"URL": url, "ClientConfig": config}})

    def message(
        self, text: str, message_id: str, *, root_id: str | None = None, chat: str = "oc_1", direct: bool = False,
        kind: str = "text", content: Any = None, mentions: tuple[str, ...] = (BOT,),
    ) -> dict[str, Any]:  # fmt: skip
        keys = [] if direct else [f"@_user_{n}" for n, _ in enumerate(mentions, 1)]
        body = content if content is not None else {"text": " ".join([*keys, text])}
        names = [
            {"key": key, "id": {"open_id": who}, "name": who.removeprefix("ou_"), "tenant_key": "t"}
            for key, who in zip(keys, mentions, strict=False)
        ]
        message = {
            "message_id": message_id, "chat_id": chat, "chat_type": "p2p" if direct else "group",
            "message_type": kind, "content": json.dumps(body), "create_time": "1", "mentions": names,
        } | ({"root_id": root_id, "parent_id": root_id} if root_id else {})  # fmt: skip
        sender = {"sender_id": {"open_id": "ou_1"}, "sender_type": "user", "tenant_key": "t"}
        return self._event("im.message.receive_v1", {"sender": sender, "message": message})

    def click(self, value: dict[str, Any]) -> dict[str, Any]:
        event = {"operator": {"open_id": "ou_1"}, "token": "c", "action": {"value": value, "tag": "button"}}
        return self._event("card.action.trigger", event | {"host": "im_message", "context": {"open_chat_id": "oc_1"}})

    def _event(self, kind: str, event: dict[str, Any]) -> dict[str, Any]:
        header = {
            "event_id": f"ev{next(self._ids)}", "event_type": kind, "token": TOKEN, "app_id": self.app_id,
            "tenant_key": "t", "create_time": "1",
        }  # fmt: skip
        return {"schema": "2.0", "header": header, "event": event}

    def deliver(self, url: str, body: dict[str, Any], *, key: str = ENCRYPT_KEY, signed: bool = True) -> httpx.Response:
        """Encrypt, sign and send a callback."""
        text = json.dumps({"encrypt": encrypted(json.dumps(body), key)})
        stamp, nonce = str(int(time.time())), os.urandom(4).hex()
        signature = hashlib.sha256(f"{stamp}{nonce}{key if signed else 'x'}{text}".encode()).hexdigest()
        headers = {
            "Content-Type": "application/json", "X-Lark-Request-Timestamp": stamp, "X-Lark-Request-Nonce": nonce,
            "X-Lark-Signature": signature,
        }  # fmt: skip
        return httpx.post(url, content=text, headers=headers, timeout=10, trust_env=False)

    def push(self, event: dict[str, Any], pieces: int = 1) -> dict[str, Any]:
        """Send an event over the long connection, in one frame or several; returns what it was acknowledged with."""
        from lark_oapi.ws.pb.pbbp2_pb2 import Frame

        identity, payload = f"m{next(self._ids)}", json.dumps(event).encode()
        size = -(-len(payload) // pieces)
        for number in range(pieces):
            frame = Frame(SeqID=1, LogID=1, service=7, method=1, payload=payload[number * size : (number + 1) * size])
            for key, value in (
                ("type", "event"), ("message_id", identity), ("trace_id", "t"), ("sum", pieces), ("seq", number),
            ):  # fmt: skip
                header = frame.headers.add()
                header.key, header.value = key, str(value)
            eventually(lambda: self.connections)[-1].send(frame.SerializeToString())
        return eventually(lambda: self.acknowledged.get(identity))  # type: ignore[return-value]

    def linked(self, connection: ServerConnection) -> None:
        from lark_oapi.ws.pb.pbbp2_pb2 import Frame

        self.connections.append(connection)
        for message in connection:
            frame = Frame()
            frame.ParseFromString(message)
            headers = {header.key: header.value for header in frame.headers}
            if headers["type"] == "event":
                self.acknowledged[headers["message_id"]] = json.loads(frame.payload)


def encrypted(text: str, key: str) -> str:
    initial = os.urandom(16)
    pad = 16 - len(text.encode()) % 16
    cipher = Cipher(algorithms.AES(hashlib.sha256(key.encode()).digest()), modes.CBC(initial)).encryptor()
    return base64.b64encode(initial + cipher.update(text.encode() + bytes([pad]) * pad) + cipher.finalize()).decode()


def fault_of(body: dict[str, Any]) -> str | None:
    """What Feishu would refuse a card for."""
    if body["msg_type"] != "interactive" or len(body["content"].encode()) > 30_000:
        return "content too large"
    card = json.loads(body["content"])
    known = {"markdown": "content", "hr": None, "column_set": "columns"}
    if card["schema"] != "2.0" or any(element["tag"] not in known for element in card["body"]["elements"]):
        return "failed to create card content"
    return None if len(body["uuid"]) <= 50 else "uuid too long"


@contextmanager
def fake_feishu() -> Iterator[FakeFeishu]:
    """Feishu, listening."""
    feishu = FakeFeishu()
    with listening(feishu.application()) as url, serve(feishu.linked, "127.0.0.1", 0) as sockets:
        feishu.url = url
        feishu.socket_url = f"ws://127.0.0.1:{sockets.socket.getsockname()[1]}"
        thread = threading.Thread(target=sockets.serve_forever, daemon=True)
        thread.start()
        yield feishu
        sockets.shutdown()
        thread.join(10)
