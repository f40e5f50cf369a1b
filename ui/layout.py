"""What every page shares: the heading with the pages, language and theme; and the chat page's fixed parts.

Texts here are in both languages; the style sheet shows the one of the page, so that the frame needs no request.
"""

from __future__ import annotations

import gradio as gr

from ui.icons import icon
from ui.words import word

PAGES = {
    "nav_chat": "/",
    "nav_calculators": "/calculators",
    "nav_library": "/library",
    "nav_evaluations": "/evaluations",
    "nav_review": "/review",
    "nav_dashboard": "/dashboard",
}


def both(key: str) -> str:
    """A text in both languages."""
    return f'<span class="en">{word(key, "en")}</span><span class="zh" lang="zh-CN">{word(key, "zh")}</span>'


def labelled(key: str) -> str:
    """A label for screen readers, which the page's script puts into the page's language."""
    return f'aria-label="{word(key, "en")}" data-label-en="{word(key, "en")}" data-label-zh="{word(key, "zh")}"'


def html(value: str, *, elem_id: str | None = None, script: str | None = None) -> gr.HTML:
    """Markup of our own, without Gradio's style for texts. `script` runs when it is shown, with `element`."""
    return gr.HTML(value, elem_id=elem_id, js_on_load=script, apply_default_css=False)


def heading(current: str, content: str) -> None:
    """The bar at the top of a page, and the way past it to the element with the id `content`."""
    links = "".join(
        f'<a href="{path}"{" aria-current=page" if key == current else ""}>{both(key)}</a>'
        for key, path in PAGES.items()
    )
    html(
        f'<a class="skip" href="#{content}">{both("skip")}</a><header id="top"><a class="brand" href="/">'
        f"<b>{both('product')}</b></a><nav {labelled('nav_chat')}>{links}</nav>"
        f'<button type="button" id="language" class="link">{both("language")}</button>'
        f'<button type="button" id="theme" class="icon" {labelled("theme")}>{icon("theme")}</button></header>',
        elem_id="heading",
    )


HISTORY = f"""
<aside id="history" {labelled("history")}>
<a class="button primary" id="new-chat" href="/">{both("new_chat")}</a>
<details open><summary>{both("history")}</summary><div data-load="/ui/history" id="history-list"></div></details>
<p class="tools"><a class="link" id="export" download>{both("export")}</a>
<button type="button" class="link" id="print">{both("print")}</button></p>
</aside>
"""

COMPOSER = f"""
<form id="composer"><div id="attachments" data-load="/ui/attachments"></div>
<label for="question" class="hidden">{both("your_question")}</label>
<textarea id="question" rows="1" maxlength="8000" {labelled("your_question")}
data-placeholder-en="{word("ask_here", "en")}" data-placeholder-zh="{word("ask_here", "zh")}"></textarea>
<div class="buttons"><label class="icon attach" {labelled("attach")}>
{icon("attach")}
<input type="file" id="attach" class="hidden" multiple {labelled("attach")}></label>
<button type="button" id="stop" hidden>{both("stop")}</button>
<button type="submit" id="send" class="primary">{both("send")}</button></div></form>
"""

CHAT_TOOLS = f"""
<div id="chat-tools"><button type="button" id="open-history" class="link">{both("history")}</button>
<button type="button" class="link" id="open-panel">{both("sources")}</button></div>
"""

PANEL_HEADING = f"""
<div class="panel-heading" role="heading" aria-level="2">{both("sources")}
<button type="button" id="close-panel" class="icon" {labelled("close")}>×</button></div>
"""
