"""PDF with a text layer, by PDFium: columns one after the other, lines joined to paragraphs, headings told by size."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.documents.builder import TextBuilder
from knowledge.documents.characters import is_blank
from knowledge.documents.draft import Draft
from knowledge.documents.pdf_layout import Flow, Line, Table, reading_order
from knowledge.documents.pdf_page import PageText, read_page
from knowledge.documents.pdf_paragraphs import LARGER, body_size, write_flows
from knowledge.documents.plausibility import is_gibberish
from knowledge.errors import DocumentError
from knowledge.limits import Limits, check

_GARBAGE = (
    "The PDF's text layer is garbage: its fonts don't say which letters they show."
    " Run text recognition (OCR) on it and try again."
)
_LOCK = threading.Lock()
"""PDFium is not thread-safe."""
_UNMAPPED = 0.2
"""Share of characters without a known code from which a text layer is useless."""
_MARGIN = 0.12
"""Share of the page's height, at top and bottom, where running headers and page numbers stand."""
_REPEATED = 0.5
"""Share of the pages that a running header is on."""
_PAGE_NUMBER = re.compile(
    r"[-–—|·\s]*(?:page|p\.|第)?\s*(?:\d{1,5}|[ivxlc]{1,6})\s*(?:页|頁)?(?:\s*(?:/|of|共)\s*\d{1,5}\s*(?:页|頁)?)?[-–—|·\s]*",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Page:
    number: int
    flows: list[Flow]
    height: float


def read_pdf(data: bytes, limits: Limits) -> Draft:
    """Read a PDF; running headers, page numbers and text that can't be seen are left out.

    Raises:
        DocumentError: it is damaged, locked, a scan, or its text layer is garbage.
    """
    import pypdfium2

    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            if "assword" in str(error):
                raise DocumentError("The PDF is protected by a password. Save it without one.") from error
            raise DocumentError(
                "The PDF is damaged or cut off and can't be opened. Save or download it again."
            ) from error
        try:
            return _read(document, pypdfium2, limits)
        finally:
            document.close()


def _read(document: Any, pdfium: Any, limits: Limits) -> Draft:
    count = len(document)
    check(limits, "max_pages", count, "Pages:")
    pages, without_text = _pages(document, pdfium, limits)
    if not pages:
        raise DocumentError("The PDF has no text layer (it is a scan). Run text recognition (OCR) on it and try again.")
    builder = TextBuilder(limits)
    furniture = _furniture(pages)
    flows = [
        (page.number, [item for item in flow if not _is_furniture(item, page, furniture)])
        for page in pages
        for flow in page.flows
    ]
    title = write_flows(flows, builder)
    content, blocks = builder.finish()
    if is_gibberish(content):
        raise DocumentError(_GARBAGE)
    metadata = {"pages_without_text": ", ".join(map(str, without_text))} if without_text else {}
    return Draft(content, blocks, title=title or _stated_title(document), pages=count, metadata=metadata)


def _pages(document: Any, pdfium: Any, limits: Limits) -> tuple[list[_Page], list[int]]:
    """Pages with text, and the numbers of those without."""
    started = time.monotonic()
    pages: list[_Page] = []
    without_text: list[int] = []
    characters = unmapped = 0
    for index in range(len(document)):
        check(limits, "max_seconds", int(time.monotonic() - started), "Seconds spent on reading it:")
        page = document[index]
        try:
            text: PageText = read_page(page, pdfium, limits.max_characters - characters)
        finally:
            page.close()
        characters += text.characters
        unmapped += text.unmapped
        check(limits, "max_characters", characters, "Characters:")
        if text.runs:
            pages.append(_Page(index + 1, reading_order(text.runs, text.rules), text.height))
        else:
            without_text.append(index + 1)
    if unmapped > _UNMAPPED * max(characters, 1):
        raise DocumentError(_GARBAGE)
    return pages, without_text


def _stated_title(document: Any) -> str:
    title = str(document.get_metadata_value("Title") or "").strip()
    return (
        ""
        if is_blank(title) or re.search(r"untitled|microsoft|anonymous|\.(?:docx?|pptx?|indd|tex)$", title, re.I)
        else title
    )


def _keys(line: Line, page: _Page) -> tuple[str, str]:
    """A line as it is, and with its numbers counted from the page's own: equal on all pages for running headers."""
    text = " ".join(line.text.split())
    return text, re.sub(r"\d{1,5}", lambda found: f"#{int(found[0]) - page.number}", text)


def _furniture(pages: Sequence[_Page]) -> set[str]:
    """Lines of usual size that stand at the top or bottom of most pages."""
    if len(pages) < 3:
        return set()
    lines = [(item, page) for page in pages for flow in page.flows for item in flow if isinstance(item, Line)]
    body = body_size([line for line, _ in lines])
    seen: Counter[str] = Counter()
    for line, page in lines:
        if _in_margin(line, page) and line.size < LARGER * body:
            seen.update(set(_keys(line, page)))
    return {key for key, count in seen.items() if count >= max(3, _REPEATED * len(pages))}


def _in_margin(line: Line, page: _Page) -> bool:
    return line.y0 > page.height * (1 - _MARGIN) or line.y1 < page.height * _MARGIN


def _is_furniture(item: Line | Table, page: _Page, furniture: set[str]) -> bool:
    if isinstance(item, Table) or not _in_margin(item, page):
        return False
    return not furniture.isdisjoint(_keys(item, page)) or _PAGE_NUMBER.fullmatch(item.text) is not None
