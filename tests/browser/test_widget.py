"""The widget on a page of another origin, as a visitor meets it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from assistant.api.database import Database
from assistant.api.widget.tokens import Tokens
from assistant.conversations import Conversations
from tests.browser.conftest import OpenPage
from tests.browser.host import SECRET, Host
from tests.browser.server import STALL
from ui.widget import LIMIT_BYTES, compressed, script

QUESTIONS = {"zh": "抢占式实例什么时候会被回收？", "en": "Where should checkpoints be stored?"}
QUOTES = {"zh": "提前两分钟", "en": "object storage"}
BUBBLE = "advisor-widget .bubble"


def open_widget(page: Page) -> None:
    page.locator(BUBBLE).click()
    expect(page.locator("advisor-widget .panel")).to_be_visible()


def ask(page: Page, question: str) -> Locator:
    page.locator("advisor-widget textarea").fill(question)
    page.locator("advisor-widget textarea").press("Enter")
    turn = page.locator("advisor-widget .turn").last
    expect(turn.locator(".actions .icon").first).to_be_visible()
    return turn


def error(page: Page) -> Locator:
    page.locator("advisor-widget textarea").fill(QUESTIONS["en"])
    page.locator("advisor-widget textarea").press("Enter")
    return page.locator("advisor-widget .error").last


def minted(origin: str, seconds: int) -> str:
    """A token as the service makes it, of any age."""
    return Tokens(Database("sqlite://"), SECRET, timedelta(seconds=seconds)).issue("secret", "ada", origin, None)


def test_the_script_is_small() -> None:
    assert len(compressed()) < LIMIT_BYTES
    assert "innerHTML" not in script() and "eval(" not in script()


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("width", [1366, 375])
def test_an_answer_with_its_highlighted_span(
    visit: OpenPage, host: Host, server: str, language: str, width: int
) -> None:
    page = visit(f"{host.origin}/?lang={language}", width=width, ready=BUBBLE)
    open_widget(page)
    turn = ask(page, QUESTIONS[language])
    turn.locator(".mark.source").first.click()
    card = turn.locator(".card")
    expect(card.locator("mark")).to_contain_text(QUOTES[language])
    assert len(card.locator("blockquote").inner_text()) > len(card.locator("mark").inner_text()) + 20
    expect(card.locator("a[href^='https://example.com/']").first).to_be_visible()
    panel = page.locator("advisor-widget .panel").bounding_box()
    assert panel is not None and panel["x"] >= 0 and panel["x"] + panel["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator("advisor-widget .primary:visible")).to_have_text("发送" if language == "zh" else "Send")


def test_a_calculation_is_shown_with_its_formula(visit: OpenPage, host: Host, server: str) -> None:
    page = visit(host.origin, ready=BUBBLE)
    open_widget(page)
    turn = ask(page, "How long do 64 H100 take to train a 7B model on 2T tokens?")
    turn.locator(".mark.calculation").first.click()
    expect(turn.locator(".card")).to_contain_text("Formula:")
    expect(turn.locator(".card table")).to_be_visible()


def test_the_conversation_outlives_a_navigation(visit: OpenPage, host: Host, server: str) -> None:
    page = visit(host.origin, ready=BUBBLE)
    open_widget(page)
    ask(page, QUESTIONS["en"])
    page.locator("#next").click()
    page.wait_for_url("**/next**")
    expect(page.locator("advisor-widget .question")).to_have_text(QUESTIONS["en"])
    ask(page, "How many checkpoints should be kept?")
    expect(page.locator("advisor-widget .turn")).to_have_count(2)
    page.reload()
    expect(page.locator("advisor-widget .turn")).to_have_count(2)
    page.locator("advisor-widget header .icon").first.click()
    expect(page.locator("advisor-widget .turn")).to_have_count(0)
    page.reload()
    expect(page.locator("advisor-widget .greeting")).to_be_visible()


def test_a_page_that_is_not_named_is_refused(visit: OpenPage, host: Host, server: str) -> None:
    page = visit(host.foreign, ready=BUBBLE)
    open_widget(page)
    expect(error(page)).to_contain_text("can't be reached from this page")
    stolen = visit(f"{host.foreign}/?token={minted(host.origin, 900)}", ready=BUBBLE)
    open_widget(stolen)
    expect(error(stolen)).to_contain_text("can't be reached from this page")


def test_an_expired_token_is_replaced_or_said(visit: OpenPage, host: Host, server: str) -> None:
    page = visit(f"{host.origin}/?token={minted(host.origin, -60)}", ready=BUBBLE)
    open_widget(page)
    expect(error(page)).to_contain_text("Reload the page")
    host.stale.append(minted(host.origin, -60))
    fresh = visit(host.origin, ready=BUBBLE)
    open_widget(fresh)
    expect(ask(fresh, QUESTIONS["en"]).locator(".text")).to_contain_text("object storage")
    assert host.stale == []


def test_a_tampered_session_opens_nothing_of_others(visit: OpenPage, host: Host, server: str) -> None:
    victim = visit(host.origin, ready=BUBBLE)
    open_widget(victim)
    ask(victim, QUESTIONS["en"])
    kept = json.loads(victim.evaluate("sessionStorage.getItem('advisor-widget')"))
    assert kept["conversation"]
    thief = visit(host.origin, ready=BUBBLE)
    thief.evaluate("kept => sessionStorage.setItem('advisor-widget', kept)", json.dumps(kept))
    thief.reload()
    expect(thief.locator("advisor-widget .panel")).to_be_visible()
    turn = ask(thief, "How many checkpoints should be kept?")
    expect(turn.locator(".text")).to_contain_text("three")
    expect(thief.locator("advisor-widget .turn")).to_have_count(1)
    now = json.loads(thief.evaluate("sessionStorage.getItem('advisor-widget')"))
    assert now["conversation"] != kept["conversation"]
    head, _, tail = minted(host.origin, 900).rpartition(".")
    forged = visit(f"{host.origin}/?token={quote(head + '.' + tail[::-1])}", ready=BUBBLE)
    open_widget(forged)
    expect(error(forged)).to_contain_text("Reload the page")


def test_a_strict_policy_of_the_page_is_kept(visit: OpenPage, host: Host, server: str) -> None:
    page = visit(f"{host.origin}/?csp", ready=BUBBLE)
    page.evaluate(
        "() => { window.violations = []; document.addEventListener('securitypolicyviolation', "
        "event => window.violations.push(event.violatedDirective)); }"
    )
    open_widget(page)
    turn = ask(page, QUESTIONS["en"])
    turn.locator(".mark.source").first.click()
    expect(turn.locator(".card mark")).to_be_visible()
    turn.locator(".actions .icon").nth(1).click()
    expect(turn.locator(".reason input")).to_be_focused()
    width = page.locator("advisor-widget .panel").bounding_box()
    assert width is not None and width["width"] == 400  # the style is in force
    assert page.evaluate("window.violations") == []


@pytest.mark.parametrize(("theme", "system_dark"), [("dark", False), ("light", True), ("auto", True)])
def test_theme_follows_the_attribute_or_the_system(
    visit: OpenPage, host: Host, server: str, theme: str, system_dark: bool
) -> None:
    page = visit(f"{host.origin}/?theme={theme}&accent=%23aa3377", dark=system_dark, ready=BUBBLE)
    open_widget(page)
    ask(page, QUESTIONS["en"])
    back = page.locator("advisor-widget .panel").evaluate("panel => getComputedStyle(panel).backgroundColor")
    assert (back == "rgb(16, 22, 29)") is (theme != "light"), back
    bubble = page.locator(BUBBLE).evaluate("bubble => getComputedStyle(bubble).backgroundColor")
    assert bubble == "rgb(170, 51, 119)"


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_serious_fault_in_the_widget(visit: OpenPage, host: Host, server: str, dark: bool) -> None:
    page = visit(host.origin, dark=dark, ready=BUBBLE)
    open_widget(page)
    turn = ask(page, QUESTIONS["en"])
    turn.locator(".mark.source").first.click()
    found = Axe().run(page).response["violations"]
    assert {v["id"]: v["nodes"] for v in found if v["impact"] in ("serious", "critical")} == {}


def test_keyboard_alone_in_the_widget(visit: OpenPage, host: Host, server: str) -> None:
    page = visit(host.origin, ready=BUBBLE)
    focused = "() => document.activeElement.shadowRoot?.activeElement"

    def tab_to(selector: str) -> None:
        for _ in range(30):
            if page.evaluate(f"selector => ({focused})()?.matches(selector) ?? false", selector):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{selector} can't be reached with the keyboard")

    tab_to(".bubble")
    page.keyboard.press("Enter")
    tab_to("textarea")
    page.keyboard.type(QUESTIONS["en"])
    page.keyboard.press("Enter")
    expect(page.locator("advisor-widget .actions .icon").first).to_be_visible()
    page.locator("advisor-widget .log").focus()
    tab_to(".mark")
    page.keyboard.press("Enter")
    expect(page.locator("advisor-widget .card mark")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("advisor-widget .card")).to_be_hidden()
    tab_to(".mark")
    page.keyboard.press("Escape")
    expect(page.locator("advisor-widget .panel")).to_be_hidden()
    tab_to(".bubble")


def test_a_thumb_is_kept_with_its_reason(visit: OpenPage, host: Host, server: str, data_dir: Path) -> None:
    page = visit(host.origin, ready=BUBBLE)
    open_widget(page)
    turn = ask(page, QUESTIONS["en"])
    turn.locator("[aria-label='Not helpful']").click()
    turn.locator(".reason input").fill("Which bucket?")
    turn.locator(".reason input").press("Enter")
    expect(turn.locator(".actions .note")).to_have_text("Thank you.")
    kept = Conversations.in_folder(data_dir)
    try:
        assert "Which bucket?" in [one.reason for one in kept.feedback("down")]
    finally:
        kept.close()


def test_a_stream_can_be_stopped_in_the_widget(visit: OpenPage, host: Host, server: str) -> None:
    page = visit(host.origin, ready=BUBBLE)
    open_widget(page)
    page.locator("advisor-widget textarea").fill(f"stalling:{QUESTIONS['en']}")
    page.locator("advisor-widget textarea").press("Enter")
    expect(page.locator("advisor-widget .status")).to_contain_text("Searching")
    page.locator("advisor-widget .primary:visible").click()
    expect(page.locator("advisor-widget .status")).to_have_text("Stopped.")
    page.wait_for_timeout(1000 * STALL)
    expect(page.locator("advisor-widget .actions .icon")).to_have_count(0)
    ask(page, QUESTIONS["en"])


def test_hostile_content_is_text_in_the_widget(visit: OpenPage, host: Host, server: str) -> None:
    page = visit(host.origin, ready=BUBBLE)
    open_widget(page)
    turn = ask(page, "Which ports does the training cluster open?")
    expect(turn.locator(".text")).to_contain_text("<script>window.owned = 1</script>")
    turn.locator(".mark.source").first.click()
    expect(turn.locator(".card mark")).to_contain_text('<img src=x onerror="window.owned = 2">')
    assert page.evaluate("window.owned") is None
    assert page.locator("advisor-widget .log img, advisor-widget .log script").count() == 0
