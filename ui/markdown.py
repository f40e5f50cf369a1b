"""An answer's Markdown as HTML: marks become buttons; markup, links and images that documents contain stay text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from assistant.schema import Language
from ui.words import word

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_MARK = re.compile(r"\[(T?\d{1,4})\]")


def answer_html(text: str, marks: Collection[str], language: Language) -> str:
    """Safe HTML of an answer.

    Args:
        text: Markdown with marks [1] and [T1].
        marks: those that have a citation or a tool run; others stay text.
        language: of the buttons' labels.
    """
    rendered: str = _parser().render(text, {"marks": frozenset(marks), "language": language})
    return rendered


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    # What documents hold is shown, never followed or loaded.
    parser.disable(["image", "link", "autolink", "reference", "html_block", "html_inline"])
    parser.add_render_rule("text", _text)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _text(_renderer: Any, tokens: Sequence[Any], index: int, _options: Any, env: Any) -> str:
    marks, language = env["marks"], env["language"]

    def button(match: re.Match[str]) -> str:
        mark = match[1]
        if mark not in marks:
            return match[0]
        kind = "calculation" if mark.startswith("T") else "source"
        label = f"{word(kind, language)} {mark}"
        return f'<button type="button" class="mark {kind}" data-mark="{mark}" aria-label="{label}">{mark}</button>'

    return _MARK.sub(button, escape(tokens[index].content))


def _table_open(_renderer: Any, _tokens: Sequence[Any], _index: int, _options: Any, env: Any) -> str:
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{word("table", env["language"])}"><table>'


def _table_close(*_unused: Any) -> str:
    return "</table></div>"
