"""Working off the review list in the browser, and the dashboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.actions import ask
from tests.browser.conftest import OpenPage

QUESTION = "Which badge opens the door of the Kranich server room?"
DOCUMENT = "The door of the Kranich server room opens with the blue badge."


def test_a_question_without_an_answer_is_answered_with_a_document(visit: OpenPage) -> None:
    page = visit()
    turn = ask(page, QUESTION)
    turn.locator(".icon.down").click()
    page.locator("dialog .primary").click()
    expect(turn.locator(".icon.down")).to_have_attribute("aria-pressed", "true")
    page.goto("/review")
    page.locator("#review-list a", has_text="Kranich").click()
    expect(page.locator("#review-item .question")).to_contain_text("Kranich")
    page.locator("#review-item textarea").fill(DOCUMENT)
    page.locator("#review-item .primary").click()
    expect(page.locator("#review-item")).to_contain_text("blue badge")
    expect(page.locator("#review-list a", has_text="Kranich")).to_have_count(0)
    page.locator("#review-item [data-review$=state] button").click()
    page.locator("#review-list .tabs a", has_text="Done").click()
    expect(page.locator("#review-list td.title")).to_contain_text(["Kranich"])
    with page.expect_download() as download:
        page.goto("/review")
        page.locator("a[href='/ui/review/suite.jsonl']").click()
    assert "Kranich" in download.value.path().read_text("utf-8")
    page.goto("/")
    expect(ask(page, QUESTION).locator(".text")).to_contain_text("blue badge")


@pytest.mark.parametrize(("language", "dark", "width"), [("en", False, 1366), ("zh", True, 375)])
def test_the_dashboard_shows_what_was_asked(visit: OpenPage, language: str, dark: bool, width: int) -> None:
    page = visit(language=language, dark=dark, width=width)
    ask(page, "Where should checkpoints be stored?")
    page.goto("/dashboard")
    expect(page.locator(".tiles dd").first).not_to_have_text("0")
    expect(page.locator("[data-figure] .plot-container").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".tabs a").nth(0).click()
    expect(page.locator(".tabs a").nth(0)).to_have_attribute("aria-current", "true")
