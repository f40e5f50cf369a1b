"""WeCom's smart robot (智能机器人): encrypted callbacks, each reply a stream that WeCom asks for until it is finished.

https://developer.work.weixin.qq.com/document/path/100719 (messages), /101027 (events), /101031 (replies),
/101032 (cards), /101033 and /90968 (encryption), /101138 (replies over the `response_url`).
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from assistant.bots.base import Bot, ChannelSettings, Reply, address_of
from assistant.bots.markdown import Dialect, set_apart, utf8_size
from assistant.bots.memory import Incoming
from assistant.bots.posting import post
from assistant.bots.serving import serve
from assistant.bots.wecom_crypto import Envelope, InvalidEnvelope
from assistant.bots.words import word
from assistant.conversations import Rating

if TYPE_CHECKING:
    from fastapi import FastAPI

_CONTENT = 20_480
"""Bytes that one message may hold."""
_SOURCES = 4_000
_CARD_SOURCES = 6
_TOO_FAST = frozenset({45009, 45033})
"""Too many calls, too many at once."""
_FEEDBACK: dict[int, Rating] = {1: "up", 2: "down"}


class WeComSettings(ChannelSettings):
    """`ADVISOR_WECOM_…`: the robot's token and EncodingAESKey, from its page in WeCom's administration."""

    model_config = SettingsConfigDict(env_prefix="ADVISOR_WECOM_")

    token: str
    encoding_aes_key: str = Field(pattern=r"^[A-Za-z0-9]{43}$")
    receive_id: str = ""
    """Empty for a company's own robot."""


class WeComBot(Bot):
    """Mentions in groups and all messages in direct messages. There are no threads: a conversation is one person's."""

    name = "wecom"
    settings_type: ClassVar[type[ChannelSettings]] = WeComSettings
    dialect = Dialect(
        escape=set_apart, limit=_CONTENT - _SOURCES, size=utf8_size, heading="### {}", item="- {text}", table="pipes"
    )
    requires = ("cryptography",)
    settings: WeComSettings

    @cached_property
    def envelope(self) -> Envelope:
        """Signature and encryption of all that goes either way."""
        return Envelope(self.settings.token, self.settings.encoding_aes_key, self.settings.receive_id)

    def run(self, host: str, port: int) -> None:
        """Serve callbacks."""
        self.resume()
        serve(self.web(), host, port)

    def web(self) -> FastAPI:
        """The application that WeCom's callbacks go to: `/wecom/events`."""
        from fastapi import FastAPI, Request, Response
        from starlette.concurrency import run_in_threadpool

        app = FastAPI(title="WeCom")

        async def receive(request: Request) -> Response:
            query = request.query_params
            signed = (query.get("msg_signature", ""), query.get("timestamp", ""), query.get("nonce", ""))
            try:
                if request.method == "GET":
                    return Response(self.envelope.open(query.get("echostr", ""), *signed), media_type="text/plain")
                body = json.loads(await request.body())
                message = json.loads(self.envelope.open(str(body.get("encrypt", "")), *signed))
            except (InvalidEnvelope, ValueError, AttributeError):
                return Response(status_code=403)
            answer = await run_in_threadpool(self.answer, message)
            if answer is None:
                return Response()
            sealed = self.envelope.seal(json.dumps(answer, ensure_ascii=False), int(time.time()), signed[2])
            return Response(json.dumps(sealed), media_type="application/json")

        app.router.add_route("/wecom/events", receive, methods=["GET", "POST"])
        return app

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """What is replied to a callback at once; None for an empty reply."""
        kind = message.get("msgtype")
        if kind == "stream":
            return self._stream(str(message["stream"]["id"]))
        if kind == "event":
            return self._event(message["event"], str(message["from"]["userid"]))
        text = readable(message)
        if text is None:
            return None
        group, who, identity = message.get("chatid"), str(message["from"]["userid"]), _stream_id(message["msgid"])
        self.receive(
            Incoming(
                id=identity,
                thread=f"{group}:{who}" if group else who,
                user=who,
                text=text,
                threaded=False,
                place={"response_url": str(message.get("response_url") or "")},
            )
        )
        return self._stream(identity)

    def send(self, message: Incoming, reply: Reply) -> None:
        """WeCom fetches an answer itself; only what its one message can't hold is sent, as the one further reply."""
        rest = reply.texts[1:]
        if not rest or not message.place["response_url"]:
            return
        text = rest[0] if len(rest) == 1 else f"{rest[0]}\n\n{word('shortened', reply.language)}"
        self.patiently(lambda: self._post(message.place["response_url"], text))

    def _post(self, url: str, text: str) -> None:
        post("WeCom", url, {"msgtype": "markdown", "markdown": {"content": text}}, too_fast=_TOO_FAST)

    def _stream(self, identity: str) -> dict[str, Any]:
        """The reply to a message as far as it has come. `feedback` is set from the first on, so that thumbs come in."""
        reply = self.reply_to(identity)
        stream: dict[str, Any] = {"id": identity, "finish": reply is not None, "feedback": {"id": identity}}
        if reply is None:
            return {"msgtype": "stream", "stream": stream | {"content": word("working", "zh")}}
        text = reply.texts[0]
        if reply.sources:
            lines = [f"**{word('sources', reply.language)}**", *(f"- {line}" for line in reply.sources)]
            while utf8_size("\n".join(lines)) > _SOURCES - 100:
                lines.pop()
            text += "\n\n" + "\n".join(lines)
        stream["content"] = text
        if reply.answer is None:
            return {"msgtype": "stream", "stream": stream}
        card = _card(identity, reply)
        return {"msgtype": "stream_with_template_card", "stream": stream, "template_card": card}

    def _event(self, event: dict[str, Any], user: str) -> dict[str, Any] | None:
        """Thumbs, of the robot's own kind and from the card's buttons."""
        kind = event.get("eventtype")
        body = event.get(str(kind)) or {}
        if kind == "feedback_event":
            rating = _FEEDBACK.get(body.get("type", 0))
            if rating is not None:
                self._rate(str(body["id"]), rating, user)
            return None
        if kind == "template_card_event" and body.get("event_key") in ("up", "down"):
            identity = str(body["task_id"])
            language = self._rate(identity, "up" if body["event_key"] == "up" else "down", user)
            reply = self.reply_to(identity)
            if language is not None and reply is not None:
                card = _card(identity, reply) | {"sub_title_text": word("thanks", language)}
                return {"response_type": "update_template_card", "userids": [user], "template_card": card}
        return None

    def _rate(self, identity: str, rating: Rating, user: str) -> Any:
        given = self.memory.given(identity)
        if given is None or given.conversation_id is None or given.answer_id is None:
            return None
        return self.rate(given.conversation_id, given.answer_id, rating, user)


def readable(message: dict[str, Any]) -> str | None:
    """What somebody wrote or said, without the mention of the robot; None of what isn't text."""
    match message.get("msgtype"):
        case "text" | "voice" as kind:
            text = str(message[kind]["content"])
        case "mixed":
            items = message["mixed"]["msg_item"]
            text = "\n".join(str(item["text"]["content"]) for item in items if item["msgtype"] == "text")
        case _:
            return None
    if message.get("chattype") == "group":
        text = re.sub(r"^\s*@\S+\s*", "", text)  # a group's messages come with the robot's name before them
    return text.strip()


def _stream_id(message_id: str) -> str:
    """An id of the characters that cards take, the same for the same message."""
    return hashlib.sha256(message_id.encode()).hexdigest()[:32]


def _card(identity: str, reply: Reply) -> dict[str, Any]:
    """Sources that can be opened, and thumbs."""
    assert reply.answer is not None
    language = reply.language
    sources = []
    for citation in reply.answer.citations[:_CARD_SOURCES]:
        url = address_of(citation)
        row: dict[str, Any] = {"keyname": f"[{citation.n}]", "value": citation.title[:26]}
        sources.append(row | ({"type": 1, "url": url} if url else {}))
    return {
        "card_type": "button_interaction",
        "main_title": {"title": word("sources" if sources else "answer", language)},
        "horizontal_content_list": sources,
        "button_list": [
            {"text": f"{thumb} {word(rating, language)}", "style": 4, "key": rating}
            for rating, thumb in (("up", "👍"), ("down", "👎"))
        ],
        "task_id": identity,
    }
