"""Writes a cleaned HTML tree as blocks; used for web pages, EPUB chapters and HTML inside Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from knowledge.documents.builder import TextBuilder
from knowledge.documents.characters import words
from knowledge.documents.tables import Merged, Row

Element = Any
"""An lxml element; lxml ships no types."""

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
BLOCKS = words(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup p pre section"
    " summary table tbody td tfoot th thead tr ul"
)
_SPACE = re.compile(r"[ \t\n\r\f]+")
_LINE_IN_HAN = re.compile(
    "(?<=[\u3000-\u303f\u3400-\u9fff\uff00-\uffef])[ \t]*\n\\s*(?=[\u3000-\u303f\u3400-\u9fff\uff00-\uffef])"
)
_MAX_SPAN = 200
_MAX_HEADER_ROWS = 3
_MAX_CELLS = 2_000_000


def tag_of(element: Element) -> str:
    """The element's tag without namespace, in lower case; empty for comments and processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def write_html(root: Element, builder: TextBuilder, page: int | None = None, shift: int = 0) -> None:
    """Write everything in `root` to the builder; headings go down by `shift` levels."""
    writer = _Writer(builder, page, shift)
    writer.walk(root)
    writer.flush()


def inline_text(element: Element) -> str:
    """The text of an element on one line, as a browser shows it."""
    return _collapse("".join(_inline(element))).replace("\n", " ").strip()


def _collapse(text: str) -> str:
    lines = text.split("\x00")
    return "\n".join(_SPACE.sub(" ", _LINE_IN_HAN.sub("", line)).strip() for line in lines).strip("\n")


def _inline(element: Element) -> Iterator[str]:
    """Pieces of an element's text; a line break is NUL, so that it survives collapsing."""
    tag = tag_of(element)
    if tag == "br":
        yield "\x00"
    elif tag in ("sup", "sub"):
        yield _script(element, tag)
    elif tag:
        block = tag in BLOCKS
        if block:
            yield " "
        yield element.text or ""
        for child in element:
            yield from _inline(child)
            yield child.tail or ""
        if block:
            yield " "


def _script(element: Element, tag: str) -> str:
    """Superscripts must not run into the number before them; a mark of a footnote is written as one."""
    text = "".join(element.itertext()).strip()
    if (
        tag == "sup"
        and re.fullmatch(r"[\d*†‡\[\]a-z,]{1,5}", text)
        and element.xpath("descendant::*[local-name()='a']")
    ):
        return f"[^{text.strip('[]')}]"
    return ("^" if tag == "sup" and re.fullmatch(r"[-−+]?\w{1,4}", text) else "") + text


class _Writer:
    def __init__(self, builder: TextBuilder, page: int | None, shift: int) -> None:
        self._builder = builder
        self._page = page
        self._shift = shift
        self._pending: list[str] = []
        self._lists: list[list[Any]] = []
        self._item_open = False
        self._quoted = 0

    def walk(self, element: Element) -> None:
        tag = tag_of(element)
        if not tag:
            return
        if tag in _HEADINGS:
            self.flush()
            self._builder.heading(inline_text(element), _HEADINGS[tag] + self._shift, self._page)
        elif tag == "pre":
            self.flush()
            self._builder.code("".join(_preformatted(element)), self._page)
        elif tag == "table":
            self.flush()
            self._table(element)
        elif tag == "dl":
            self.flush()
            self._definitions(element)
        elif tag in ("ul", "ol", "menu"):
            self.flush()
            self._lists.append([tag == "ol", _start(element)])
            self._children(element)
            self.flush()
            self._lists.pop()
        elif tag == "li":
            self.flush()
            self._item_open = True
            self._children(element)
            self.flush()
            if self._lists:
                self._lists[-1][1] += 1
            self._item_open = False
        elif tag == "blockquote":
            self.flush()
            self._quoted += 1
            self._children(element)
            self.flush()
            self._quoted -= 1
        elif tag in BLOCKS:
            self.flush()
            self._children(element)
            self.flush()
        elif any(tag_of(inner) in BLOCKS for inner in element.iterdescendants()):
            self._children(element)
        else:
            self._pending.extend(_inline(element))

    def flush(self) -> None:
        text = _collapse("".join(self._pending))
        self._pending.clear()
        if not text:
            return
        if self._lists and self._item_open:
            ordered, number = self._lists[-1]
            self._builder.list_item(text, len(self._lists) - 1, f"{number}." if ordered else "-", self._page)
        else:
            self._builder.paragraph(text, self._page, "quote" if self._quoted else "paragraph")

    def _children(self, element: Element) -> None:
        self._pending.append(element.text or "")
        for child in element:
            self.walk(child)
            self._pending.append(child.tail or "")

    def _definitions(self, element: Element) -> None:
        terms: list[str] = []
        for child in element.iter():
            if tag_of(child) == "dt":
                terms.append(inline_text(child))
            elif tag_of(child) == "dd":
                self._builder.list_item(": ".join([*terms, inline_text(child)]), page=self._page)
                terms = []
        for term in terms:
            self._builder.list_item(term, page=self._page)

    def _table(self, element: Element) -> None:
        if element.get("role") == "presentation" or element.xpath("descendant::*[local-name()='table']"):
            self._children(element)
            self.flush()
            return
        for caption in element.xpath("*[local-name()='caption']"):
            self._builder.paragraph(inline_text(caption), self._page)
        rows = table_rows(element)
        if max((sum(1 for cell in row if cell) for row in rows), default=0) <= 1:
            self._children(element)
            self.flush()
            return
        self._builder.table(rows, self._page, _header_rows(element))


def table_rows(table: Element) -> list[Row]:
    """The cells of a table: a cell merged across is said once, one merged down continues as Merged."""
    rows: list[Row] = []
    open_cells: dict[int, tuple[int, str, bool]] = {}
    cells = 0
    for line in table.xpath("descendant::*[local-name()='tr']"):
        row: list[str | Merged] = []

        def fill(row: list[str | Merged] = row) -> None:
            while len(row) in open_cells:
                column = len(row)
                left, text, first = open_cells.pop(column)
                row.append(Merged(text) if first else "")
                if left > 1:
                    open_cells[column] = (left - 1, text, first)

        for cell in line.xpath("*[local-name()='td' or local-name()='th']"):
            fill()
            text = inline_text(cell)
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for i in range(across):
                if down > 1:
                    open_cells[len(row)] = (down - 1, text, i == 0)
                row.append(text if i == 0 else "")
        fill()
        cells += len(row)
        if cells > _MAX_CELLS:
            break
        rows.append(row)
    return rows


def _header_rows(table: Element) -> int:
    """Rows in the head of a table, or rows on top that hold header cells only."""
    rows = len(table.xpath("*[local-name()='thead']/*[local-name()='tr']"))
    if rows:
        return min(rows, _MAX_HEADER_ROWS)
    for line in table.xpath("descendant::*[local-name()='tr']")[:_MAX_HEADER_ROWS]:
        if not line.xpath("*[local-name()='th']") or line.xpath("*[local-name()='td']"):
            break
        rows += 1
    return max(rows, 1)


def _span(cell: Element, name: str) -> int:
    value = cell.get(name) or "1"
    return min(max(int(value), 1), _MAX_SPAN) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _start(element: Element) -> int:
    value = element.get("start") or "1"
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _preformatted(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if tag_of(child) == "br":
            yield "\n"
        elif tag_of(child):
            yield from _preformatted(child)
        yield child.tail or ""
