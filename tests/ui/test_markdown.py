"""What documents and questions hold is text, whatever it looks like."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from ui.markdown import answer_html

ALLOWED = {
    "p", "br", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "button", "div",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
PIECES = st.sampled_from(
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![a](http://x.example/a.png)", "[a](javascript:b)",
        "[1]", "[T1]", "[9]", "[1]: http://x.example", "\n", "\n\n", "| a | b |\n|---|---|\n| [1] | <b> |", "`", "```", "**",
        "&lt;script&gt;", "<http://x.example>", '" onmouseover="alert(1)', "> ", "- ", "# ", "${x}", "{{x}}", "http://x.example",
    ]
)  # fmt: skip


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements(html: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Elements()
    parser.feed(html)
    return parser.found


@given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join))
def test_only_known_markup_comes_out(text: str) -> None:
    for tag, attributes in elements(answer_html(text, {"1", "T1"}, "en")):
        assert tag in ALLOWED
        assert not any(name.startswith("on") or name in ("src", "href") for name in attributes)
        if tag == "button":
            assert attributes["data-mark"] in ("1", "T1")


def test_marks_become_buttons_also_in_tables() -> None:
    html = answer_html("It is so. [1][T1]\n\n| a |\n|---|\n| 5 [1] |\n\n[2] stays.", {"1", "T1"}, "zh")
    assert [a["data-mark"] for tag, a in elements(html) if tag == "button"] == ["1", "T1", "1"]
    assert 'aria-label="来源 1"' in html and 'aria-label="计算 T1"' in html
    assert "[2] stays." in html


def test_text_is_kept_word_by_word() -> None:
    html = answer_html("Open <b>22</b> & ![x](http://a.example/b.png)", (), "en")
    assert re.sub("<[^>]+>", "", html).strip() == ("Open &lt;b&gt;22&lt;/b&gt; &amp; ![x](http://a.example/b.png)")
