"""DingTalk, through `dingtalk-stream`: over a connection that this program opens.

https://open.dingtalk.com/document/orgapp/the-streaming-mode-is-connected-to-the-robot-receiving-message,
https://open.dingtalk.com/document/orgapp/robot-reply-and-send-messages,
https://open.dingtalk.com/document/orgapp/robot-message-type (markdown, actionCard),
https://open.dingtalk.com/document/orgapp/custom-robots-send-group-messages (20 messages a minute).
"""

from __future__ import annotations

import asyncio
import logging
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from pydantic_settings import SettingsConfigDict

from assistant.bots.base import Bot, ChannelSettings, Reply
from assistant.bots.errors import ChannelError
from assistant.bots.markdown import Dialect, set_apart, utf8_size
from assistant.bots.memory import Incoming
from assistant.bots.posting import post
from assistant.bots.words import word

if TYPE_CHECKING:
    from dingtalk_stream import DingTalkStreamClient

_TOO_FAST = frozenset({130101})


class DingTalkSettings(ChannelSettings):
    """`ADVISOR_DINGTALK_…`: the app's client id and secret."""

    model_config = SettingsConfigDict(env_prefix="ADVISOR_DINGTALK_")

    client_id: str
    client_secret: str


class DingTalkBot(Bot):
    """Mentions in groups and all messages in direct messages. There are no threads: a conversation is one person's."""

    name = "dingtalk"
    settings_type: ClassVar[type[ChannelSettings]] = DingTalkSettings
    dialect = Dialect(escape=set_apart, limit=6_000, size=utf8_size, heading="### {}", item="- {text}", table="list")
    requires = ("dingtalk_stream",)
    settings: DingTalkSettings

    def client(self) -> DingTalkStreamClient:
        """A client of the stream whose messages come here."""
        from dingtalk_stream import AckMessage, CallbackHandler, ChatbotMessage, Credential
        from dingtalk_stream import DingTalkStreamClient as Client

        bot = self

        class Handler(CallbackHandler):  # type: ignore[misc]
            async def process(self, message: Any) -> tuple[int, str]:
                await asyncio.to_thread(bot.take, message.data)
                return AckMessage.STATUS_OK, "OK"

        client = Client(
            Credential(self.settings.client_id, self.settings.client_secret), logging.getLogger("dingtalk_stream")
        )
        client.register_callback_handler(ChatbotMessage.TOPIC, Handler())
        return client

    def run(self, host: str, port: int) -> None:
        """Serve over the stream."""
        client = self.client()
        if client.get_access_token() is None:
            raise ChannelError("DingTalk doesn't accept ADVISOR_DINGTALK_CLIENT_ID and ADVISOR_DINGTALK_CLIENT_SECRET.")
        self.resume()
        # The client's own loop goes on after Ctrl-C, so it runs beside the thread that takes it.
        Thread(target=client.start_forever, daemon=True).start()
        Event().wait()

    def take(self, data: dict[str, Any]) -> None:
        """One message as the stream delivers it; without an acknowledgement it comes again."""
        from dingtalk_stream import ChatbotMessage

        message = ChatbotMessage.from_dict(data)
        texts = message.get_text_list()
        if texts is None:
            return
        who = message.sender_staff_id or message.sender_id
        direct = message.conversation_type == "1"
        self.receive(
            Incoming(
                id=message.message_id,
                thread=message.conversation_id if direct else f"{message.conversation_id}:{who}",
                user=who,
                text=" ".join("\n".join(texts).split()),
                threaded=False,
                place={"webhook": message.session_webhook} | ({} if direct else {"user": who}),
            )
        )

    def send(self, message: Incoming, reply: Reply) -> None:
        """A Markdown message a part; an answer's last is a card with sources, follow-ups and thumbs."""
        title = reply.texts[0].lstrip("#*- ").split("\n")[0][:40] or word("answer", reply.language)
        for number, text in enumerate(reply.texts):
            last = number == len(reply.texts) - 1
            body = _card(title, text, reply) if last and reply.answer else _markdown(title, text, message.place)
            self.patiently(lambda body=body: self._post(message.place["webhook"], body))  # type: ignore[misc]

    def _post(self, webhook: str, body: dict[str, Any]) -> None:
        post("DingTalk", webhook, body, too_fast=_TOO_FAST)


def _markdown(title: str, text: str, place: dict[str, str]) -> dict[str, Any]:
    body: dict[str, Any] = {"msgtype": "markdown", "markdown": {"title": title, "text": text}}
    if "user" in place:
        body["at"] = {"atUserIds": [place["user"]], "isAtAll": False}
    return body


def _card(title: str, text: str, reply: Reply) -> dict[str, Any]:
    """An action card; its buttons say a thumb in the chat, where it counts for the last answer."""
    language = reply.language
    lines = [text]
    if reply.sources:
        lines += [f"**{word('sources', language)}**", "\n".join(f"- {line}" for line in reply.sources)]
    if reply.follow_ups:
        asked = [f"- [{set_apart(question)}]({_said(question)})" for question in reply.follow_ups]
        lines += [f"**{word('follow_ups', language)}**", "\n".join(asked)]
    buttons = [
        {"title": f"{thumb} {word(rating, language)}", "actionURL": _said(thumb)}
        for rating, thumb in (("up", "👍"), ("down", "👎"))
    ]
    card = {"title": title, "text": "\n\n".join(lines), "btnOrientation": "1", "btns": buttons}
    return {"msgtype": "actionCard", "actionCard": card}


def _said(text: str) -> str:
    """A link that says a text in the chat, in the name of who follows it."""
    return f"dtmd://dingtalkclient/sendMessage?content={quote(text)}"
