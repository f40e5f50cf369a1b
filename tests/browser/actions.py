"""What a person does on the pages, in words."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect


def ask(page: Page, question: str) -> Locator:
    """Type a question, send it, and wait for the whole answer."""
    page.locator("#question").fill(question)
    page.locator("#question").press("Enter")
    return answered(page, question)


def answered(page: Page, question: str) -> Locator:
    """The finished turn of a question."""
    turn = page.locator(".turn[data-answer]", has=page.locator(".question p", has_text=question)).last
    expect(turn).to_be_visible()
    expect(page.locator("#send")).to_be_visible()
    return turn


def choose_preset(page: Page, number: int = 0) -> Locator:
    """Fill a calculator's form with a preset and wait for its result."""
    page.locator(".preset").nth(number).click()
    headline = page.locator(".calculator .headline")
    expect(headline).to_be_visible()
    return headline
