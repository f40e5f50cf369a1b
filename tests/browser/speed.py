"""Milliseconds from send to first visible text, seen in the browser: `python -m tests.browser.speed`."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.actions import ask
from tests.browser.conftest import CHROMIUM, FLAGS, running
from tests.browser.screenshots import GUIDANCE, NUMBERS, shipped_subjects

ROUNDS = 10


def measure(url: str) -> list[float]:
    """One figure a question, in a new conversation each round."""
    figures: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for _ in range(ROUNDS):
            page = browser.new_page(base_url=url)
            page.goto("/")
            page.wait_for_selector(".example")
            for question in (*GUIDANCE.values(), *NUMBERS.values()):
                ask(page, question)
                figures.append(page.evaluate("advisor.firstTextMs"))
                if page.locator("[data-figure]").count():  # nobody asks on while the first chart is being drawn
                    page.wait_for_selector("[data-drawn]", state="attached")
            page.close()
        browser.close()
    return figures


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary, running(Path(temporary) / "store", *shipped_subjects()) as url:
        figures = sorted(measure(url))
    print(
        json.dumps(
            {
                "first_text_ms_median": round(statistics.median(figures)),
                "first_text_ms_p95": round(figures[int(0.95 * len(figures))]),
                "questions": len(figures),
            }
        )
    )


if __name__ == "__main__":
    main()
