"""Pictures of every page in both themes and languages: `python -m tests.browser.screenshots [FOLDER]`."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from knowledge.shipped import CORPUS
from tests.browser.actions import ask, choose_preset
from tests.browser.conftest import CHROMIUM, FLAGS, running

OUT = Path(__file__).parents[2] / "docs" / "screenshots"
SUBJECTS = ("budgets-and-alerts", "purchase-options", "checkpoint-strategy", "encryption")
GUIDANCE = {
    "zh": "怎么防止云上训练的账单失控？",
    "en": "How do I notice early that a training budget will be overspent?",
}
NUMBERS = {
    "zh": "64 张 H100 训 7B、2T token 要多久？大概多少钱？",
    "en": "How long do 64 H100s take to train 7B on 2T tokens, and what does it cost?",
}
UNANSWERED = {
    "zh": "我们训练集群周末的门禁卡找谁领？",
    "en": "Who hands out badges for our training cluster at weekends?",
}
COLOURS = 128
"""Enough for flat surfaces; keeps a picture below 100 kB."""


def shipped_subjects() -> list[Path]:
    """A few subjects of the shipped guidance, which are indexed in seconds."""
    return [CORPUS / language / f"{name}.md" for name in SUBJECTS for language in ("zh", "en")]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=30_000)
    with (
        tempfile.TemporaryDirectory() as temporary,
        running(Path(temporary) / "store", *shipped_subjects()) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for language in ("zh", "en"):
            for theme in ("light", "dark"):
                _take(browser, url, language, theme, folder)
        browser.close()


def _take(browser: Browser, url: str, language: str, theme: str, folder: Path) -> None:
    def save(page: Page, name: str, *, whole: bool = False) -> None:
        page.wait_for_timeout(500)
        picture = Image.open(io.BytesIO(page.screenshot(full_page=whole, animations="disabled")))
        if whole:
            picture = picture.crop((0, 0, picture.width, min(picture.height, 1800)))
        picture.convert("RGB").quantize(COLOURS).save(folder / f"{name}-{language}-{theme}.png", optimize=True)

    def visit(path: str, width: int = 1280, height: int = 800) -> Page:
        context = browser.new_context(
            base_url=url,
            locale="zh-CN" if language == "zh" else "en-US",
            viewport={"width": width, "height": height},
            color_scheme="dark" if theme == "dark" else "light",
        )
        page = context.new_page()
        page.goto(path)
        page.wait_for_load_state("networkidle")
        return page

    page = visit("/", 1440)
    save(page, "welcome")
    ask(page, NUMBERS[language])
    turn = ask(page, GUIDANCE[language])
    turn.locator(".mark.source").first.click()
    save(page, "chat")
    page.locator(".mark.calculation").first.click()
    expect(page.locator(".card.open .plot-container")).to_be_visible()
    save(page, "calculation")
    page.context.close()

    page = visit("/", 375, 740)
    ask(page, GUIDANCE[language])
    save(page, "phone")
    page.context.close()

    page = visit("/calculators?tool=compare_purchase_options")
    choose_preset(page, 1)
    expect(page.locator(".plot-container")).to_be_visible()
    page.locator(".export .keep").click()
    expect(page.locator(".scenarios table")).to_be_visible()
    save(page, "calculators", whole=True)
    page.context.close()

    page = visit("/")
    turn = ask(page, UNANSWERED[language])
    turn.locator(".icon.down").click()
    page.locator("dialog .primary").click()
    page.goto("/review")
    page.locator("#review-list td.title a", has_text=UNANSWERED[language]).click()
    expect(page.locator("#review-item textarea")).to_be_visible()
    save(page, "review", whole=True)
    page.goto("/dashboard")
    expect(page.locator("[data-figure] .plot-container").first).to_be_visible()
    save(page, "dashboard", whole=True)
    page.context.close()

    page = visit("/library")
    page.locator("[name=q]").fill(GUIDANCE[language])
    page.locator("[name=q]").press("Enter")
    expect(page.locator("#found table")).to_be_visible()
    save(page, "library", whole=True)
    page.context.close()

    page = visit("/evaluations")
    page.locator("[name=suite]").select_option("guidance")
    page.locator("[name=limit]").fill("12")
    page.locator("form[data-job] button").click()
    expect(page.locator("#run h2")).to_be_visible(timeout=120_000)
    save(page, "evaluations", whole=True)
    page.context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
