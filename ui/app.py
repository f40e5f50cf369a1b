"""The web chat: question, streamed answer, and beside it the sources with the quoted span in its surroundings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr
from fastapi import FastAPI

from assistant.advisor import Advisor
from assistant.errors import AdvisorError
from assistant.events import Answered, StageStarted, TextReleased
from ui.sources import sources_html

EXAMPLES = (
    "怎么防止云上训练的账单失控？",
    "64 张 H100 训 7B、2T token 要多久？",
    "Can the provider's staff read my training data?",
    "1 PB over a 10 Gbps line at 70%: how many days?",
)
STAGES = {
    "understanding": "… 理解问题 / understanding",
    "searching": "… 检索资料 / searching",
    "calculating": "… 计算 / calculating",
    "writing": "… 组织回答 / writing",
    "checking": "… 核对来源 / checking",
}
CONCURRENT_CHATS = 20
CSS = """
.sources mark { background: #ffe58f; color: #1a1a1a; padding: 0 2px; border-radius: 2px; }
.sources article { border-top: 1px solid var(--border-color-primary); padding: 10px 0; overflow-wrap: anywhere; }
.sources .place { color: var(--body-text-color-subdued); font-size: 0.85em; }
"""

Messages = list[dict[str, Any]]


def mount(app: FastAPI, advisor: Advisor) -> FastAPI:
    """The application with the web chat at its root."""
    return gr.mount_gradio_app(app, _blocks(advisor), path="/", css=CSS, footer_links=[], ssr_mode=False)


def _blocks(advisor: Advisor) -> gr.Blocks:
    with gr.Blocks(title="Cloud Training Advisor", analytics_enabled=False, fill_height=True) as blocks:
        conversation = gr.State(value=None)
        gr.Markdown("## Cloud Training Advisor · 云端训练顾问")
        with gr.Row(equal_height=False):
            with gr.Column(scale=3, min_width=320):
                chat = gr.Chatbot(label="对话 / Conversation", height=560, buttons=["copy"], allow_tags=False)
                question = gr.Textbox(
                    label="问题 / Question", placeholder="用中文或英文提问 / Ask in Chinese or English", submit_btn=True
                )
                gr.Examples([[example] for example in EXAMPLES], question, label="例子 / Examples")
            with gr.Column(scale=2, min_width=300):
                sources = gr.HTML(sources_html(None, advisor.store.source_text), label="来源 / Sources")

        def respond(text: str, history: Messages, conversation_id: str | None) -> Iterator[tuple[Any, ...]]:
            history = [*history, {"role": "user", "content": text}]
            shown = ""
            try:
                for event in advisor.stream(text, conversation_id):
                    match event:
                        case StageStarted(stage):
                            yield _turn(history, STAGES[stage]), gr.skip(), gr.skip(), ""
                        case TextReleased(piece):
                            shown += piece
                            yield _turn(history, shown), gr.skip(), gr.skip(), ""
                        case Answered(answer):
                            html = sources_html(answer, advisor.store.source_text)
                            yield _turn(history, answer.text), html, answer.conversation_id, ""
            except AdvisorError as error:
                yield _turn(history, str(error)), gr.skip(), gr.skip(), ""

        question.submit(
            respond,
            [question, chat, conversation],
            [chat, sources, conversation, question],
            concurrency_limit=CONCURRENT_CHATS,
        )
    return blocks


def _turn(history: Messages, text: str) -> Messages:
    return [*history, {"role": "assistant", "content": text}]
