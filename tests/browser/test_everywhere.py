"""Everywhere: narrow screens, keyboard, screen readers, hostile content, no foreign request, many at once."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.actions import ask, choose_preset
from tests.browser.conftest import OpenPage
from tests.browser.outside import Outside

PAGES = ("/", "/calculators", "/library", "/evaluations")
CLIENTS = 20
OF_CHROMIUM = "content-autofill.googleapis.com"
"""Asked by Chromium's own autofill for any page with a form."""
OF_GRADIO: frozenset[str] = frozenset()
"""Rules of axe that Gradio's own markup breaks."""


@pytest.mark.parametrize("language", ["zh", "en"])
def test_nothing_is_wider_than_a_phone(visit: OpenPage, language: str) -> None:
    for path in PAGES:
        page = visit(path, language=language, width=375, height=740)
        page.wait_for_load_state("networkidle")
        if path == "/":
            ask(page, "64 张 H100 训 7B、2T token 要多久？")
        if path == "/calculators":
            choose_preset(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, path
        page.context.close()


def test_phone_reaches_history_and_sources(visit: OpenPage) -> None:
    page = visit(width=375, height=740)
    ask(page, "Where should checkpoints be stored?")
    page.locator("#open-panel").click()
    expect(page.locator("#panel-column .card").first).to_be_visible()
    page.locator("#close-panel").click()
    expect(page.locator("#panel-side")).to_be_hidden()
    page.locator("#open-history").click()
    expect(page.locator("#history-list li")).to_be_visible()


def test_keyboard_alone(visit: OpenPage) -> None:
    page = visit()
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("Where should checkpoints be stored?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn[data-answer]")).to_be_visible()
    _tab_to(page, ".mark.source")
    page.keyboard.press("Enter")
    expect(page.locator(".card.open")).to_be_focused()
    _tab_to(page, ".card.open [data-document]")
    page.keyboard.press("Enter")
    expect(page.locator("#document-span")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    _tab_to(page, "#top nav a[href='/calculators']")
    page.keyboard.press("Enter")
    expect(page.locator(".preset").first).to_be_visible()
    _tab_to(page, ".preset")
    page.keyboard.press("Enter")
    expect(page.locator(".headline")).to_be_visible()


def _tab_to(page: Page, selector: str, limit: int = 120) -> None:
    for _ in range(limit):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} can't be reached with the keyboard")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_no_serious_fault(visit: OpenPage, path: str, dark: bool) -> None:
    page = visit(path, dark=dark)
    page.wait_for_load_state("networkidle")
    if path == "/":
        ask(page, "64 张 H100 训 7B、2T token 要多久？")
        ask(page, "Where should checkpoints be stored?")
    if path == "/calculators":
        choose_preset(page)
        page.locator(".export .keep").click()
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    serious = {v["id"]: [n["html"][:160] for n in v["nodes"]] for v in found if v["impact"] in ("serious", "critical")}
    assert {name: nodes for name, nodes in serious.items() if name not in OF_GRADIO} == {}


def test_hostile_document_is_shown_as_text(visit: OpenPage) -> None:
    page = visit()
    turn = ask(page, "Which ports does the training cluster open?")
    expect(turn.locator(".text")).to_contain_text("<script>window.owned = 1</script>")
    turn.locator(".mark.source").first.click()
    card = page.locator(".card.open")
    expect(card.locator("mark")).to_contain_text('<img src=x onerror="window.owned = 2">')
    expect(card.locator("h3")).to_contain_text("<b>notes</b> {{value}} ${document.title='owned'}")
    card.locator("[data-document]").click()
    expect(page.locator("dialog .document")).to_contain_text("<style>body { display: none }</style>")
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".turn .text")).to_contain_text("${window.owned = 3}")
    page.goto("/library")
    expect(page.locator("#documents")).to_contain_text("<b>notes</b>")
    page.goto("/?q=" + "%3Cimg%20src%3Dx%20onerror%3D%22window.owned%3D4%22%3E%20%60%24%7Bwindow.owned%3D5%7D%60")
    page.locator("#send").click()
    expect(page.locator(".question p")).to_contain_text("<img src=x")
    expect(page.locator("#send")).to_be_visible()
    assert page.evaluate("window.owned") is None
    assert page.locator("#live img, #past img, .card img").count() == 0


def test_change_from_another_site_is_refused(server: str) -> None:
    with httpx.Client(base_url=server, trust_env=False) as client:
        assert client.delete("/ui/conversations").status_code == 403
        assert client.post("/ui/library/url", json={"url": "https://example.com"}).status_code == 403
        assert client.post("/ui/library/files", files={"files": ("a.md", b"# a")}).status_code == 403


def test_nothing_is_fetched_from_elsewhere(
    visit: OpenPage, outside: Outside, outside_browser: Outside, server: str
) -> None:
    asked: list[str] = []
    for path in PAGES:
        page = visit(path)
        page.on("request", lambda request: asked.append(request.url))
        page.reload()
        page.wait_for_load_state("networkidle")
        if path == "/":
            ask(page, "Which ports does the training cluster open?")
            page.locator(".mark.source").first.click()
        if path == "/calculators":
            choose_preset(page)
            expect(page.locator(".chart .plot-container")).to_be_visible()
    assert len(asked) > 40
    assert [url for url in asked if not url.startswith((f"{server}/", "data:", "blob:"))] == []
    # In all tests so far neither the server nor any page wanted to leave the machine.
    assert outside.wanted == []
    assert [line for line in outside_browser.wanted if OF_CHROMIUM not in line] == []


def test_twenty_chat_at_once(visit: OpenPage, server: str) -> None:
    with httpx.Client(base_url=server, trust_env=False) as client:
        config = client.get("/config").json()
        asking = next(d["id"] for d in config["dependencies"] if any(t[1] == "ask" for t in d["targets"]))

    def chat(number: int) -> None:
        with httpx.Client(base_url=server, trust_env=False, timeout=300) as client:
            client.get("/")
            session = f"client{number}"
            question = {"text": "slowly:Where should checkpoints be stored?", "conversation": "", "replace": None}
            client.post(
                "/gradio_api/queue/join",
                json={"data": [], "event_data": question, "fn_index": asking, "session_hash": session},
            ).raise_for_status()
            with client.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as stream:
                for line in stream.iter_lines():
                    message = json.loads(line.removeprefix("data: ")) if line else {}
                    if message.get("msg") == "process_generating":
                        begun.setdefault(number, time.perf_counter())
                        if "object storage" in line:
                            ended[number] = time.perf_counter()
                    if message.get("msg") == "process_completed":
                        assert message["success"]
                        return

    begun: dict[int, float] = {}
    ended: dict[int, float] = {}
    threads = [threading.Thread(target=chat, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    page = visit()
    ask(page, "How many checkpoints should be kept?")  # a browser among them isn't kept waiting
    for thread in threads:
        thread.join()
    assert len(ended) == CLIENTS
    at_once = max(sum(begun[n] <= moment < ended[n] for n in ended) for moment in begun.values())
    assert at_once > CLIENTS / 2  # one after the other, each would begin when the last one has ended
