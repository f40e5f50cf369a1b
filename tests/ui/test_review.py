"""The review list and the dashboard as HTML."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from html import unescape

import pytest

from assistant.review.items import Item
from assistant.review.stats import Stats
from assistant.schema import Answer, Language
from ui.dashboard import page_html as dashboard_html
from ui.review import item_html, list_html, page_html

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def item(**changes: object) -> Item:
    values: dict[str, object] = {
        "id": "0a1b2c3d", "kind": "not_covered", "question": "Who <b>approves</b> it?", "turns": ["Who <b>approves</b> it?"],
        "language": "en", "topic": "quota", "before": "The documents don't answer this.", "reasons": [], "asked": 3,
        "first": NOW, "last": NOW, "surfaces": ["slack"], "state": "open", "ids": ["0a1b2c3d"],
    }  # fmt: skip
    return Item.model_validate(values | changes)


AFTER = Answer(
    id="a", conversation_id="c", question="q", language="en", status="answered", text="The board approves it. [1]"
)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_list_shows_a_state_and_counts_all(language: Language) -> None:
    items = [item(), item(id="1", ids=["1"], kind="down", state="done", reasons=["wrong"])]
    html = list_html(items, "open", language)
    assert html.count("<tr>") == 2 and "Who &lt;b&gt;approves&lt;/b&gt; it?" in html and "(2)" in html
    assert "Export" not in page_html(items, "en") and "Export" in page_html([item(after=AFTER, state="done")], "en")
    assert "Nothing here" in list_html([], "open", "en")


def test_an_item_shows_what_was_said_and_what_is_said_now() -> None:
    html = item_html(item(after=AFTER, file="review-0a.md", state="answered", reasons=["<i>old</i>"]), "en")
    assert "don't answer this" in unescape(html) and "The board approves it." in html and "review-0a.md" in html
    assert "&lt;i&gt;old&lt;/i&gt;" in html and 'data-review="/ui/review/items/0a1b2c3d/answer"' in html
    assert 'value="done"' in html
    assert 'value="answered"' in item_html(item(after=AFTER, state="done"), "en")
    assert "textarea" not in item_html(item(state="done"), "en")


def stats(questions: int) -> Stats:
    day = {
        "questions": questions, "answered": questions - 1, "not_covered": 1, "needs_input": 0, "refused": 0, "up": 1,
        "down": 1, "latency_median_ms": 80.0, "latency_p95_ms": 1500.0,
    }  # fmt: skip
    quiet = dict.fromkeys(day, 0) | {"latency_median_ms": None, "latency_p95_ms": None}
    return Stats.model_validate(
        {
            "first": "2026-11-29", "last": "2026-11-30", "questions": questions,
            "by_status": {"answered": questions - 1, "not_covered": 1} if questions else {},
            "by_language": {"en": questions}, "by_surface": {"slack": questions},
            "satisfaction": {"up": 1, "down": 1, "share": 0.5}, "latency_ms": {"median": 80.0, "p95": 1500.0},
            "days": [{"day": "2026-11-29"} | quiet, {"day": "2026-11-30"} | day],
            "topics": [{"topic": "estimate_memory", "questions": questions, "not_covered": 1, "down": 1}],
            "uncovered": [{"question": "Who <b>approves</b>?", "asked": 2, "last": NOW}],
        }
    )  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_dashboard_draws_days_topics_and_latency(language: Language) -> None:
    html = dashboard_html(stats(10), 30, language)
    figures = [json.loads(unescape(one)) for one in re.findall(r'data-figure="([^"]*)"', html)]
    questions, latency, topics = figures
    assert [trace["y"] for trace in questions["data"]] == [[0, 9], [0, 1]]
    assert [trace["x"] for trace in latency["data"]] == [trace["x"] for trace in questions["data"]]
    assert [[y for y in trace["y"] if y is not None] for trace in latency["data"]] == [[80.0], [1500.0]]
    assert topics["data"][0]["x"] == [9] and "estimate" not in topics["data"][0]["y"][0]
    assert "90%" in html and "80 ms" in html and "1.5 s" in html and "&lt;b&gt;" in html


def test_nothing_asked_yet() -> None:
    assert "data-figure" not in dashboard_html(stats(0), 7, "en") and "No questions" in dashboard_html(
        stats(0), 7, "en"
    )
