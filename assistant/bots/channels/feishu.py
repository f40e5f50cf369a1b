"""Feishu and Lark, through `lark-oapi`: over a connection that this program opens, or over encrypted callbacks.

https://open.feishu.cn/document/server-docs/event-subscription-guide/overview,
https://open.feishu.cn/document/server-docs/im-v1/message/reply,
https://open.feishu.cn/document/server-docs/im-v1/message/events/receive,
https://open.feishu.cn/document/feishu-cards/card-json-v2-structure,
https://open.feishu.cn/document/server-docs/api-call-guide/frequency-control.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic_settings import SettingsConfigDict

from assistant.bots.base import Bot, ChannelSettings, Reply
from assistant.bots.errors import ChannelError, RateLimited, refused
from assistant.bots.markdown import Dialect, utf8_size
from assistant.bots.memory import Incoming
from assistant.bots.serving import serve
from assistant.bots.words import word

if TYPE_CHECKING:
    from fastapi import FastAPI

_SOURCES = 6_000
"""Bytes of a card, which may have 30 kB in all, that sources may take."""
_RATE_CODES = frozenset({99991400, 11232, 230020})
"""Of the gateway, of the message service, and of one chat."""
_ENTITIES = {ord(c): f"&#{ord(c)};" for c in "<>*_~`[]#!"}
"""The platform shows these as the characters, and takes them for no markup or mention."""


class FeishuSettings(ChannelSettings):
    """`ADVISOR_FEISHU_…`: the app's id and secret; with an encrypt key callbacks are served, without one a long
    connection is opened, which needs no public address.
    """

    model_config = SettingsConfigDict(env_prefix="ADVISOR_FEISHU_")

    app_id: str
    app_secret: str
    encrypt_key: str | None = None
    verification_token: str = ""
    domain: str = "https://open.feishu.cn"
    """`https://open.larksuite.com` for Lark."""


class FeishuBot(Bot):
    """Mentions in groups, answered in a thread, and all messages in direct messages."""

    name = "feishu"
    settings_type: ClassVar[type[ChannelSettings]] = FeishuSettings
    dialect = Dialect(
        escape=lambda text: text.translate(_ENTITIES),
        limit=18_000,
        size=utf8_size,
        item="{marker} {text}",
        table="pipes",
    )
    requires = ("lark_oapi",)
    settings: FeishuSettings

    @cached_property
    def client(self) -> Any:
        """The client of Feishu's interface."""
        import lark_oapi

        return (
            lark_oapi.Client.builder()
            .app_id(self.settings.app_id)
            .app_secret(self.settings.app_secret)
            .domain(self.settings.domain)
            .log_level(lark_oapi.LogLevel.ERROR)
            .build()
        )

    @cached_property
    def open_id(self) -> str:
        """The bot's own id, by which a mention of it is known.

        Raises:
            ChannelError: the app's id or secret is wrong, or it has no bot.
        """
        import lark_oapi
        from lark_oapi.core.exception import ObtainAccessTokenException

        request = lark_oapi.BaseRequest()
        request.http_method = lark_oapi.HttpMethod.GET
        request.uri = "/open-apis/bot/v3/info"
        request.token_types = {lark_oapi.AccessTokenType.TENANT}
        try:
            response = self.client.request(request)
        except ObtainAccessTokenException as error:
            raise ChannelError(
                f"Feishu doesn't accept ADVISOR_FEISHU_APP_ID and ADVISOR_FEISHU_APP_SECRET: {error}"
            ) from error
        if response.code != 0:
            raise ChannelError(f"Feishu knows no bot of this app ({response.code}): {response.msg}. Enable it there.")
        return str(json.loads(response.raw.content)["bot"]["open_id"])

    @cached_property
    def dispatcher(self) -> Any:
        """What decrypts, checks and hands on events."""
        import lark_oapi

        builder = lark_oapi.EventDispatcherHandler.builder(
            self.settings.encrypt_key or "", self.settings.verification_token
        )
        return (
            builder.register_p2_im_message_receive_v1(self._received)
            .register_p2_card_action_trigger(self._rated)
            .build()
        )

    def run(self, host: str, port: int) -> None:
        """Serve callbacks where there is an encrypt key, or else over a long connection."""
        _ = self.open_id
        self.resume()
        if self.settings.encrypt_key is not None:
            serve(self.web(), host, port)
            return
        import lark_oapi

        lark_oapi.ws.Client(
            self.settings.app_id,
            self.settings.app_secret,
            event_handler=self.dispatcher,
            domain=self.settings.domain,
            log_level=lark_oapi.LogLevel.ERROR,
        ).start()

    def web(self) -> FastAPI:
        """The application that Feishu's callbacks go to: `/feishu/events` for events and cards alike."""
        from fastapi import FastAPI, Request, Response
        from lark_oapi.core.model import RawRequest
        from starlette.concurrency import run_in_threadpool

        app = FastAPI(title="Feishu")

        async def receive(request: Request) -> Response:
            raw = RawRequest()
            raw.uri, raw.body, raw.headers = request.url.path, await request.body(), request.headers
            answered = await run_in_threadpool(self.dispatcher.do, raw)
            return Response(answered.content, answered.status_code, media_type="application/json")

        app.router.add_route("/feishu/events", receive, methods=["POST"])
        return app

    def send(self, message: Incoming, reply: Reply) -> None:
        """A card a part, the last with sources, follow-ups and thumbs."""
        for number, text in enumerate(reply.texts):
            card = _card(text, reply, last=number == len(reply.texts) - 1)
            self.patiently(lambda card=card, number=number: self._reply_with(message, card, number))  # type: ignore[misc]

    def _reply_with(self, message: Incoming, card: dict[str, Any], number: int) -> None:
        import requests
        from lark_oapi.api.im.v1 import ReplyMessageRequest, ReplyMessageRequestBody

        body = (
            ReplyMessageRequestBody.builder()
            .msg_type("interactive")
            .content(json.dumps(card, ensure_ascii=False))
            .reply_in_thread(message.threaded)
            # The platform takes one message of an id within an hour, whatever happens on the way.
            .uuid(hashlib.sha256(f"{message.id} {number}".encode()).hexdigest()[:32])
            .build()
        )
        request = ReplyMessageRequest.builder().message_id(message.place["message_id"]).request_body(body).build()
        try:
            response = self.client.im.v1.message.reply(request)
        except requests.RequestException as error:
            raise RateLimited(f"Feishu can't be reached: {error}") from error
        if response.success():
            return
        status = response.raw.status_code
        if status == 429 or status >= 500 or response.code in _RATE_CODES:
            reset = response.raw.headers.get("x-ogw-ratelimit-reset")
            raise RateLimited(f"Feishu answers {status}, code {response.code}", float(reset) if reset else None)
        raise refused("Feishu", f"{response.code} {response.msg}")

    def _received(self, data: Any) -> None:
        message, sender = data.event.message, data.event.sender
        if sender.sender_type != "user":
            return
        mentions = {mention.key: mention for mention in message.mentions or []}
        own = {key for key, mention in mentions.items() if mention.id.open_id == self.open_id}
        direct = message.chat_type == "p2p"
        if not (direct or own):
            return
        names = {key: "" if key in own else f"@{mention.name}" for key, mention in mentions.items()}
        text = readable(message.message_type, message.content, names)
        if text is None:
            return
        self.receive(
            Incoming(
                id=message.message_id,
                thread=message.chat_id if direct else f"{message.chat_id}:{message.root_id or message.message_id}",
                user=sender.sender_id.open_id,
                text=text,
                threaded=not direct,
                place={"message_id": message.message_id},
            )
        )

    def _rated(self, data: Any) -> Any:
        from lark_oapi.event.callback.model.p2_card_action_trigger import P2CardActionTriggerResponse

        value = data.event.action.value or {}
        rating = value.get("rating")
        if rating not in ("up", "down"):
            return P2CardActionTriggerResponse({})
        language = self.rate(str(value["conversation"]), str(value["answer"]), rating, data.event.operator.open_id)
        toast = {"type": "success" if language else "info", "content": word("thanks", language or "en")}
        return P2CardActionTriggerResponse({"toast": toast})


def readable(kind: str, content: str, names: dict[str, str]) -> str | None:
    """What somebody wrote, of a text or a post; None of what isn't text. `names` replace the keys of mentions."""
    body = json.loads(content)
    if kind == "text":
        text = str(body.get("text", ""))
        for key in sorted(names, key=len, reverse=True):  # "@_user_1" begins "@_user_10"
            text = text.replace(key, names[key])
    elif kind == "post":
        lines = [body.get("title", "")]
        for paragraph in body.get("content", []):
            lines.append("".join(_element(element, names) for element in paragraph))
        text = "\n".join(line for line in lines if line)
    else:
        return None
    return re.sub(r"[ \t]+", " ", text).strip()


def _element(element: dict[str, Any], names: dict[str, str]) -> str:
    if element.get("tag") == "at":
        return names.get(str(element.get("user_id")), f"@{element.get('user_name', '')}")
    return str(element.get("text", ""))


def _card(text: str, reply: Reply, *, last: bool) -> dict[str, Any]:
    """One part of an answer; sources, follow-ups and thumbs stand below the last."""
    elements: list[dict[str, Any]] = [{"tag": "markdown", "content": text}]
    if last:
        elements += _closing(reply)
    summary = {"content": word("answer", reply.language)}
    return {"schema": "2.0", "config": {"summary": summary}, "body": {"elements": elements}}


def _closing(reply: Reply) -> list[dict[str, Any]]:
    language = reply.language
    elements: list[dict[str, Any]] = []
    if reply.sources:
        lines = [f"**{word('sources', language)}**", *reply.sources]
        while utf8_size("\n".join(lines)) > _SOURCES:
            lines.pop()
        elements += [{"tag": "hr"}, _small("\n".join(lines))]
    if reply.follow_ups:
        asked = " · ".join(question.translate(_ENTITIES) for question in reply.follow_ups)
        elements.append(_small(f"{word('follow_ups', language)}: {asked}"))
    if reply.answer is not None:
        elements.append({"tag": "column_set", "columns": [_button(rating, reply) for rating in ("up", "down")]})
    return elements


def _small(text: str) -> dict[str, Any]:
    return {"tag": "markdown", "content": text, "text_size": "notation"}


def _button(rating: str, reply: Reply) -> dict[str, Any]:
    assert reply.answer is not None
    value = {"rating": rating, "conversation": reply.answer.conversation_id, "answer": reply.answer.id}
    thumb = "👍" if rating == "up" else "👎"
    button = {
        "tag": "button",
        "size": "small",
        "text": {"tag": "plain_text", "content": f"{thumb} {word(rating, reply.language)}"},
        "behaviors": [{"type": "callback", "value": value}],
    }
    return {"tag": "column", "width": "auto", "elements": [button]}
