"""The panel beside the chat: an answer's sources with the quoted span in its surroundings, and its calculations."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import PurePath

from assistant.errors import InvalidInput
from assistant.schema import Answer, Citation, Language, Reference
from ui.calculations import run_html
from ui.words import word

SURROUNDINGS = 220
"""Characters of the document shown before and after a quote."""


def panel_html(answer: Answer, source_text: Callable[[str], str], language: Language) -> str:
    """All sources and calculations of an answer."""
    cards = [citation_html(citation, source_text, language) for citation in answer.citations]
    cards += [run_html(run, language) for run in answer.tool_runs]
    if not cards:
        return f'<p class="empty">{word("no_sources", language)}</p>'
    return "".join(cards)


def empty_panel(language: Language) -> str:
    """What stands in the panel before the first answer."""
    return f'<p class="empty">{word("panel_hint", language)}</p>'


def citation_html(citation: Citation, source_text: Callable[[str], str], language: Language) -> str:
    """One source. A document that was deleted since still shows the quote that was stored with the answer."""
    try:
        text = source_text(citation.document_id)
    except InvalidInput:
        text = ""
    intact = text[citation.start : citation.end] == citation.quote
    before, after = (surroundings(text, citation.start, citation.end)) if intact else ("", "")
    page = f" · {word('page', language).format(n=citation.page)}" if citation.page else ""
    opener = (
        f'<button type="button" class="link" data-document="{escape(citation.document_id)}" '
        f'data-start="{citation.start}" data-end="{citation.end}">{word("open_document", language)}</button>'
        if intact
        else f'<span class="note">{word("document_changed", language)}</span>'
    )
    return (
        f'<article class="card" id="mark-{citation.n}" tabindex="-1" aria-labelledby="mark-{citation.n}-title">'
        f'<h3 id="mark-{citation.n}-title"><span class="mark source">{citation.n}</span>{escape(citation.title)}</h3>'
        f'<p class="place">{escape(citation.section)}{page} · {escape(place_name(citation.location))}</p>'
        f"<blockquote>{escape(before)}<mark>{escape(citation.quote)}</mark>{escape(after)}</blockquote>"
        f'<p class="actions">{opener}</p>{references_html(citation.references, language)}</article>'
    )


def surroundings(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands before and after a span, with dots where more was left out."""
    first, last = max(0, start - SURROUNDINGS), min(len(text), end + SURROUNDINGS)
    before = ("…" if first else "") + text[first:start].lstrip()
    after = text[end:last].rstrip() + ("…" if last < len(text) else "")
    return before, after


def references_html(references: list[Reference], language: Language) -> str:
    """Primary sources with their dates. A web address can be followed; nothing is loaded before that."""
    if not references:
        return ""
    rows = "".join(
        f"<li>{link_html(r.name, r.url)}{f' <time>{r.as_of}</time>' if r.as_of else ''}</li>" for r in references
    )
    return f"<details><summary>{word('references', language)} ({len(references)})</summary><ul>{rows}</ul></details>"


def link_html(name: str, url: str | None) -> str:
    """A name that leads to its web address; only http(s) addresses become links."""
    if url is None or not url.startswith(("http://", "https://")):
        return escape(name)
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{escape(name)}</a>'


def place_name(location: str) -> str:
    """A location as people recognise it: a web address whole, of a path the file's name."""
    return location if location.startswith(("http://", "https://")) else PurePath(location).name


def document_html(title: str, location: str, text: str, start: int, end: int, language: Language) -> str:
    """A whole document as plain text with one span highlighted, for the dialog that opens over the page."""
    found = 0 <= start < end <= len(text)
    body = (
        f'{escape(text[:start])}<mark id="document-span" tabindex="-1">{escape(text[start:end])}</mark>'
        f"{escape(text[end:])}"
        if found
        else escape(text)
    )
    return (
        f'<header><h2>{escape(title)}</h2><p class="place">{escape(place_name(location))}</p></header>'
        f'<div class="document" tabindex="0" role="region" aria-label="{word("document", language)}">{body}</div>'
    )
