"""Slack, through Bolt: over a socket that this program opens, or over requests that Slack signs.

https://docs.slack.dev/apis/events-api, https://docs.slack.dev/apis/events-api/using-socket-mode,
https://docs.slack.dev/authentication/verifying-requests-from-slack, https://docs.slack.dev/apis/web-api/rate-limits,
https://docs.slack.dev/reference/block-kit/blocks, https://docs.slack.dev/messaging/formatting-message-text.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import model_validator
from pydantic_settings import SettingsConfigDict

from assistant.bots.base import Bot, ChannelSettings, Reply
from assistant.bots.errors import ChannelError, RateLimited, refused
from assistant.bots.markdown import Dialect
from assistant.bots.memory import Incoming
from assistant.bots.serving import serve
from assistant.bots.words import word

if TYPE_CHECKING:
    from fastapi import FastAPI
    from slack_bolt import App
    from slack_sdk import WebClient

_SECTION = 3000
"""Characters that a section or context text may hold, as it is sent."""
_CONTEXT_ELEMENTS = 10
_REFERENCE = re.compile(r"<([@#!]?)([^|>]*)(?:\|([^>]*))?>")


class SlackSettings(ChannelSettings):
    """`ADVISOR_SLACK_…`: the bot token, and either an app-level token (socket) or the signing secret (requests)."""

    model_config = SettingsConfigDict(env_prefix="ADVISOR_SLACK_")

    bot_token: str
    app_token: str | None = None
    signing_secret: str | None = None
    api_url: str = "https://slack.com/api/"
    """Another one for GovSlack."""

    @model_validator(mode="after")
    def _one_way_in(self) -> SlackSettings:
        if not (self.app_token or self.signing_secret):
            raise ValueError("set ADVISOR_SLACK_APP_TOKEN (socket mode) or ADVISOR_SLACK_SIGNING_SECRET (requests)")
        return self


def _escape(text: str) -> str:
    """Slack's three control characters as entities; its markup characters can't be escaped, so they are set apart."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"(?<![\w*_~`])([*_~`])(?=\S)", "\\1\u200b", text)


class SlackBot(Bot):
    """Mentions in channels, and all messages in direct messages."""

    name = "slack"
    settings_type: ClassVar[type[ChannelSettings]] = SlackSettings
    dialect = Dialect(
        escape=_escape,
        limit=_SECTION,
        bold="*{}*",
        italic="_{}_",
        link="<{href}|{text}>",
        heading="*{}*",
        table="aligned",
    )
    requires = ("slack_bolt",)
    settings: SlackSettings

    @cached_property
    def bolt(self) -> App:
        """The Bolt app with its listeners; making it checks the token.

        Raises:
            ChannelError: Slack doesn't know the token.
        """
        from slack_bolt import App
        from slack_bolt.error import BoltError
        from slack_sdk import WebClient

        client = WebClient(self.settings.bot_token, base_url=self.settings.api_url)
        try:
            app = App(
                client=client,
                signing_secret=self.settings.signing_secret or "",
                request_verification_enabled=self.settings.app_token is None,
            )
        except BoltError as error:
            reason = str(error).splitlines()[0]
            raise ChannelError(f"Slack doesn't accept ADVISOR_SLACK_BOT_TOKEN: {reason}") from error
        app.event("app_mention")(self._mentioned)
        app.event("message")(self._written)
        app.action(re.compile(r"^advisor_(up|down)$"))(self._rated)
        return app

    def run(self, host: str, port: int) -> None:
        """Serve over the socket where there is an app-level token, or else over signed requests."""
        bolt = self.bolt
        self.resume()
        if self.settings.app_token is None:
            serve(self.web(), host, port)
            return
        from slack_bolt.adapter.socket_mode import SocketModeHandler

        SocketModeHandler(bolt, self.settings.app_token).start()  # type: ignore[no-untyped-call]

    def web(self) -> FastAPI:
        """The application that Slack's requests go to: `/slack/events` for events and interactions alike."""
        from fastapi import FastAPI, Request, Response
        from slack_bolt.adapter.fastapi import SlackRequestHandler

        app = FastAPI(title="Slack")
        handler = SlackRequestHandler(self.bolt)

        async def receive(request: Request) -> Response:
            return await handler.handle(request)

        # A route given as a function keeps its annotations, which are strings, out of FastAPI's sight.
        app.router.add_route("/slack/events", receive, methods=["POST"])
        return app

    def send(self, message: Incoming, reply: Reply) -> None:
        """A message a part, the last with sources, follow-ups and thumbs."""
        for number, text in enumerate(reply.texts):
            last = number == len(reply.texts) - 1
            blocks = [_section(text), *(_closing(reply) if last else [])]
            self.patiently(lambda text=text, blocks=blocks: self._post(message.place, text, blocks))  # type: ignore[misc]

    def _post(self, place: dict[str, str], text: str, blocks: list[dict[str, Any]]) -> None:
        from urllib.error import URLError

        from slack_sdk.errors import SlackApiError

        client: WebClient = self.bolt.client
        try:
            client.chat_postMessage(
                channel=place["channel"],
                thread_ts=place.get("thread_ts"),
                text=text,
                blocks=blocks,
                unfurl_links=False,
                unfurl_media=False,
            )
        except SlackApiError as error:
            response = error.response
            if response.status_code == 429 or response.status_code >= 500:
                after = response.headers.get("Retry-After") or response.headers.get("retry-after")
                reason = f"Slack answers {response.status_code} to chat.postMessage"
                raise RateLimited(reason, float(after) if after else None) from error
            raise refused("Slack", str(response.get("error"))) from error
        except URLError as error:
            raise RateLimited(f"Slack can't be reached: {error.reason}") from error

    def _mentioned(self, event: dict[str, Any], context: dict[str, Any]) -> None:
        self._take(event, context)

    def _written(self, event: dict[str, Any], context: dict[str, Any]) -> None:
        """Direct messages; in channels only mentions are answered, which come as events of their own."""
        if event.get("channel_type") == "im" and event.get("subtype") in (None, "file_share"):
            self._take(event, context)

    def _take(self, event: dict[str, Any], context: dict[str, Any]) -> None:
        if event.get("bot_id") or "user" not in event:
            return
        channel, ts = event["channel"], event["ts"]
        # In a direct message people write one line after the other, unless they open a thread themselves.
        thread_ts = event.get("thread_ts") or (None if event.get("channel_type") == "im" else ts)
        place = {"channel": channel} | ({"thread_ts": thread_ts} if thread_ts else {})
        team = context.get("team_id") or ""
        self.receive(
            Incoming(
                id=f"{channel}:{ts}",  # of the message: a mention can come as two events
                thread=":".join(part for part in (team, channel, thread_ts) if part),
                user=event["user"],
                text=readable(event.get("text") or "", context.get("bot_user_id") or ""),
                threaded=thread_ts is not None,
                place=place,
            )
        )

    def _rated(self, ack: Any, action: dict[str, Any], body: dict[str, Any], respond: Any) -> None:
        ack()
        conversation_id, _, answer_id = str(action["value"]).partition(" ")
        rating = "up" if action["action_id"] == "advisor_up" else "down"
        language = self.rate(conversation_id, answer_id, rating, body["user"]["id"])  # type: ignore[arg-type]
        if language is not None:
            respond(text=word("thanks", language), response_type="ephemeral", replace_original=False)


def readable(text: str, bot_user: str) -> str:
    """What somebody wrote, without the mention of the bot and without Slack's markup of links and names."""

    def name(match: re.Match[str]) -> str:
        kind, target, label = match.groups()
        if kind == "@":
            return "" if target == bot_user else f"@{label or target}"
        if kind == "!":
            return f"@{label or target}".replace("@@", "@")
        return f"#{label or target}" if kind == "#" else (label or target.removeprefix("mailto:"))

    text = _REFERENCE.sub(name, text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, "expand": True}


def _closing(reply: Reply) -> list[dict[str, Any]]:
    """Sources, follow-ups and thumbs, below the answer."""
    blocks: list[dict[str, Any]] = []
    language = reply.language
    if reply.sources:
        lines = [f"*{word('sources', language)}*", *reply.sources][:_CONTEXT_ELEMENTS]
        if len(reply.sources) >= _CONTEXT_ELEMENTS:  # the last element takes what has no place of its own
            lines[-1] = "\n".join(reply.sources[_CONTEXT_ELEMENTS - 2 :])
        blocks += [
            {"type": "divider"},
            {"type": "context", "elements": [{"type": "mrkdwn", "text": line[:_SECTION]} for line in lines]},
        ]
    if reply.follow_ups:
        asked = f"{word('follow_ups', language)}: " + " · ".join(_escape(text) for text in reply.follow_ups)
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": asked[:_SECTION]}]})
    if reply.answer is not None:
        value = f"{reply.answer.conversation_id} {reply.answer.id}"
        blocks.append(
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "action_id": f"advisor_{rating}",
                        "text": {"type": "plain_text", "text": f"{thumb} {word(rating, language)}", "emoji": True},
                        "value": value,
                    }
                    for rating, thumb in (("up", "👍"), ("down", "👎"))
                ],
            }
        )
    return blocks
