"""The chat page: streams answers with their stages into the page, and lets the visitor stop, retry and edit."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from typing import Any

import gradio as gr

from assistant.advisor import Advisor
from assistant.api.access.audit import record
from assistant.errors import AdvisorError, ConversationNotFound
from assistant.events import Answered, Stage, StageStarted, TextReleased
from assistant.schema import Answer, Language
from ui.batches import batched
from ui.conversation import conversation_html, failed_html, turn_html, working_html
from ui.layout import CHAT_TOOLS, COMPOSER, HISTORY, PANEL_HEADING, heading, html
from ui.prices import Prices
from ui.sources import empty_panel, panel_html
from ui.visitor import caller, language, owner
from ui.words import word

CONCURRENT_CHATS = 64
"""Answers that are worked on at once; the others wait their turn."""
_LISTEN = """
advisor.chat = element;
element.addEventListener('advisor:ask', event => trigger('ask', event.detail));
element.addEventListener('advisor:stop', () => trigger('halt'));
"""

_LOG = logging.getLogger(__name__)

Update = tuple[str, str, Any]


def build(advisor: Advisor, prices: Prices) -> None:
    """The page's components and events; called inside the Blocks of the page."""
    heading("nav_chat", "question")
    with gr.Row(elem_id="chat"):
        html(HISTORY, elem_id="history-column")
        with gr.Column(elem_id="chat-column"):
            html(CHAT_TOOLS)
            past = html('<div data-load="/ui/conversation"></div>', elem_id="past", script=_LISTEN)
            live = html("", elem_id="live", script="advisor.live = element;")
            html(COMPOSER, elem_id="composer-column")
        with gr.Column(elem_id="panel-side"):
            html(PANEL_HEADING)
            panel = html('<div data-load="/ui/panel"></div>', elem_id="panel-column", script="advisor.panel = element;")

    def respond(event: gr.EventData, request: gr.Request) -> Iterator[Update]:
        asked = event._data if isinstance(event._data, dict) else {}
        who, groups = owner(request), caller(request).groups
        if request.request is not None:
            record(request.request, "ask", str(asked.get("conversation") or ""))
        yield from _turns(advisor, prices, asked, who, groups, language(request))

    asking = past.ask(
        respond, None, [past, live, panel], concurrency_limit=CONCURRENT_CHATS, show_progress="hidden", api_name=False
    )
    past.halt(None, None, None, cancels=[asking], api_name=False)


def _turns(
    advisor: Advisor, prices: Prices, asked: dict[str, Any], who: str, groups: frozenset[str] | None, spoken: Language
) -> Iterator[Update]:
    """One question, asked as the next turn or in place of turn `replace` and what followed it."""
    question = str(asked.get("text") or "")
    conversation_id = str(asked["conversation"]) if asked.get("conversation") else None
    keep = gr.skip()
    try:
        earlier = advisor.conversations.answers(conversation_id, who) if conversation_id else []
    except ConversationNotFound:
        # It was deleted in another tab, so the question starts a new one; or so far it only has attached files.
        earlier = []
        if not (conversation_id and advisor.attachments.exists(conversation_id, who)):
            conversation_id = None
    replace = asked.get("replace")
    if conversation_id and isinstance(replace, int) and 0 < replace <= len(earlier):
        earlier = earlier[: replace - 1]
        if not advisor.conversations.truncate(conversation_id, replace - 1, who):
            conversation_id = None
    # The comment makes the value new: the page's script may have shown something else in this place since.
    shown = f"{conversation_html(earlier, spoken)}<!--{uuid.uuid4()}-->"
    yield shown, working_html(question, "", "understanding", spoken), keep
    stage: Stage = "understanding"
    text = ""
    try:
        for batch in batched(prices.during(who, advisor.stream(question, conversation_id, who, groups))):
            done: Answer | None = None
            for event in batch:
                match event:
                    case StageStarted(stage):
                        pass
                    case TextReleased(piece):
                        text += piece
                    case Answered(done):
                        pass
            if done is None:
                yield keep, working_html(question, text, stage, spoken), keep
            else:
                yield keep, turn_html(done, len(earlier) + 1, spoken, last=True), _panel(advisor, done, groups, spoken)
    except AdvisorError as error:
        yield keep, failed_html(question, str(error), spoken), empty_panel(spoken)
    except Exception:  # whatever happens, the visitor must be able to go on
        _LOG.exception("An answer failed")
        yield keep, failed_html(question, word("error", spoken), spoken), empty_panel(spoken)


def _panel(advisor: Advisor, answer: Answer, groups: frozenset[str] | None, spoken: Language) -> str:
    shown = panel_html(answer, advisor.source_text(answer.conversation_id, groups), spoken)
    return f'<div data-answer="{answer.id}">{shown}</div>'
