"""WeCom's side, on real sockets, as its public documentation describes it.

- https://developer.work.weixin.qq.com/document/path/101033 and /90968: verification of the address with `echostr`, and
  the encryption, here once more and by itself, so that a mistake of the channel's can't hide.
- https://developer.work.weixin.qq.com/document/path/100719: messages; while a reply isn't finished WeCom asks for it.
- https://developer.work.weixin.qq.com/document/path/101027: feedback and card events.
- https://developer.work.weixin.qq.com/document/path/101031 and /101032: replies, of 20,480 bytes at most, and cards.
- https://developer.work.weixin.qq.com/document/path/101138: the `response_url`, good for one reply.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from tests.assistant.bots.conftest import listening

TOKEN, AES_KEY = "QDG6eK", "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"


class FakeWeCom:
    """Keeps what was pushed; `limits` are refusals still to be given."""

    def __init__(self) -> None:
        self.pushed: list[dict[str, Any]] = []
        self.limits: list[Response] = []
        self.refused_at: list[float] = []
        self.used: set[str] = set()
        self.url = ""
        self._ids = itertools.count(1)

    def application(self) -> FastAPI:
        app = FastAPI()
        app.router.add_route("/cgi-bin/aibot/response", self._response, methods=["POST"])
        return app

    async def _response(self, request: Request) -> Response:
        if self.limits:
            self.refused_at.append(time.monotonic())
            return self.limits.pop(0)
        code = request.query_params["response_code"]
        if code in self.used:
            return JSONResponse({"errcode": 60140, "errmsg": "response_code used"})
        self.used.add(code)
        body = await request.json()
        assert body["msgtype"] == "markdown" and len(body["markdown"]["content"].encode()) <= 20_480
        self.pushed.append(body | {"at": time.monotonic()})
        return JSONResponse({"errcode": 0, "errmsg": "ok"})

    def message(self, text: str, message_id: str, *, direct: bool = False, user: str = "u1") -> dict[str, Any]:
        place = {"chattype": "single"} if direct else {"chattype": "group", "chatid": "g1"}
        said = text if direct else f"@Advisor {text}"
        return self._from(user, message_id) | place | {"msgtype": "text", "text": {"content": said}}

    def refresh(self, stream_id: str, user: str = "u1") -> dict[str, Any]:
        return self._from(user, f"r{next(self._ids)}") | {"msgtype": "stream", "stream": {"id": stream_id}}

    def event(self, kind: str, body: dict[str, Any], user: str = "u1") -> dict[str, Any]:
        return self._from(user, f"e{next(self._ids)}") | {
            "create_time": 1, "chattype": "single", "msgtype": "event", "event": {"eventtype": kind, kind: body},
        }  # fmt: skip

    def _from(self, user: str, message_id: str) -> dict[str, Any]:
        url = f"{self.url}/cgi-bin/aibot/response?response_code=code-{message_id}"
        return {"msgid": message_id, "aibotid": "b", "from": {"userid": user}, "response_url": url}

    def deliver(
        self, url: str, message: dict[str, Any], *, token: str = TOKEN, key: str = AES_KEY
    ) -> dict[str, Any] | None:
        """Send a callback; returns the reply, checked and decrypted. None: an empty one."""
        response = self.post(url, message, token=token, key=key)
        assert response.status_code == 200
        if not response.content:
            return None
        sealed = response.json()
        assert sealed["nonce"] == httpx.URL(str(response.request.url)).params["nonce"]
        assert sealed["msgsignature"] == signature(token, str(sealed["timestamp"]), sealed["nonce"], sealed["encrypt"])
        reply: dict[str, Any] = json.loads(decrypted(sealed["encrypt"], key))
        assert fault_of(reply) is None, fault_of(reply)
        return reply

    def post(self, url: str, message: dict[str, Any], *, token: str = TOKEN, key: str = AES_KEY) -> httpx.Response:
        sealed = encrypted(json.dumps(message), key)
        return httpx.post(f"{url}?{query(token, sealed)}", json={"encrypt": sealed}, timeout=5, trust_env=False)

    def complete(self, url: str, reply: dict[str, Any] | None) -> dict[str, Any]:
        """Ask for a reply, as WeCom does, until it is finished."""
        deadline = time.monotonic() + 60
        while reply is not None and not reply["stream"]["finish"]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
            reply = self.deliver(url, self.refresh(reply["stream"]["id"]))
        assert reply is not None
        return reply


def query(token: str, sealed: str) -> httpx.QueryParams:
    stamp, nonce = str(int(time.time())), os.urandom(4).hex()
    return httpx.QueryParams(msg_signature=signature(token, stamp, nonce, sealed), timestamp=stamp, nonce=nonce)


def signature(*parts: str) -> str:
    return hashlib.sha1("".join(sorted(parts)).encode()).hexdigest()


def encrypted(text: str, key: str, receiver: str = "") -> str:
    secret = base64.b64decode(key + "=")
    padder = PKCS7(256).padder()
    plain = os.urandom(16) + struct.pack("!I", len(text.encode())) + text.encode() + receiver.encode()
    cipher = Cipher(algorithms.AES(secret), modes.CBC(secret[:16])).encryptor()
    return base64.b64encode(cipher.update(padder.update(plain) + padder.finalize()) + cipher.finalize()).decode()


def decrypted(sealed: str, key: str) -> str:
    secret = base64.b64decode(key + "=")
    unpadder = PKCS7(256).unpadder()
    cipher = Cipher(algorithms.AES(secret), modes.CBC(secret[:16])).decryptor()
    plain = unpadder.update(cipher.update(base64.b64decode(sealed)) + cipher.finalize()) + unpadder.finalize()
    (length,) = struct.unpack("!I", plain[16:20])
    return plain[20 : 20 + length].decode()


def fault_of(reply: dict[str, Any]) -> str | None:
    """What WeCom would refuse a reply for."""
    if "stream" in reply:
        if len(reply["stream"]["content"].encode()) > 20_480 or len(reply["stream"]["feedback"]["id"]) > 256:
            return "stream too long"
        if reply["msgtype"] not in ("stream", "stream_with_template_card"):
            return "msgtype"
    card = reply.get("template_card")
    if card is None:
        return None
    if not re.fullmatch(r"[\w@-]{1,128}", card["task_id"]) or not 1 <= len(card["button_list"]) <= 6:
        return "card"
    rows = card["horizontal_content_list"]
    return "rows" if len(rows) > 6 or any(row.get("type") == 1 and not row["url"] for row in rows) else None


@contextmanager
def fake_wecom() -> Iterator[FakeWeCom]:
    """WeCom, listening."""
    wecom = FakeWeCom()
    with listening(wecom.application()) as url:
        wecom.url = url
        yield wecom
