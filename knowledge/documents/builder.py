"""Assembles a document's stored text and its blocks, so that offsets are right by construction."""

from __future__ import annotations

import time
from collections.abc import Iterable

from knowledge.documents.characters import clean
from knowledge.documents.tables import Row, render_table
from knowledge.limits import Limits, check
from knowledge.records import Block, BlockKind


class TextBuilder:
    """Collects blocks in reading order. Text other than verbatim source is written as plain Markdown."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0
        self._started = time.monotonic()

    def raw(self, text: str) -> None:
        """Append text that belongs to no block: markers, blank lines."""
        self._parts.append(text)
        self._length += len(text)
        check(self._limits, "max_characters", self._length, "Extracted text in characters:")
        check(self._limits, "max_seconds", int(time.monotonic() - self._started), "Seconds spent on reading it:")

    def block(self, kind: BlockKind, text: str, level: int = 0, page: int | None = None) -> None:
        """Append text as it is and record it as a block; blank text is ignored."""
        if not text.strip():
            return
        start = self._length
        self.raw(text)
        lead = len(text) - len(text.lstrip())
        end = start + len(text.rstrip())
        self._blocks.append(Block(kind, start + lead, end, level, page))

    def heading(self, text: str, level: int, page: int | None = None) -> None:
        """Append a heading of level 1 to 6."""
        line = " ".join(clean(text).split())
        if line:
            self._apart()
            level = min(max(level, 1), 6)
            self.raw("#" * level + " ")
            self.block("heading", line, level, page)

    def heading_text(self, text: str, level: int) -> None:
        """Append the text of a heading whose marker is already there."""
        self.block("heading", " ".join(text.split()), level)

    def paragraph(self, text: str, page: int | None = None, kind: BlockKind = "paragraph") -> None:
        """Append a paragraph (or a block quote)."""
        text = clean(text).strip()
        if text:
            self._apart()
            self.block(kind, text, 0, page)

    def list_item(self, text: str, depth: int = 0, marker: str = "-", page: int | None = None) -> None:
        """Append a list item; `depth` counts from 0."""
        text = clean(text).strip()
        if text:
            follows = (
                bool(self._blocks) and self._blocks[-1].kind == "list_item" and self._blocks[-1].end == self._length
            )
            self.raw("\n") if follows else self._apart()
            self.raw("  " * depth + marker + " ")
            self.block("list_item", text, depth, page)

    def code(self, text: str, page: int | None = None) -> None:
        """Append a block of code."""
        text = clean(text).strip("\n").rstrip()
        if text.strip():
            self._apart()
            fence = "```"
            while fence in text:
                fence += "`"
            self.raw(fence + "\n")
            self.block("code", text, 0, page)
            self.raw("\n" + fence)

    def table(self, rows: Iterable[Row], page: int | None = None, header_rows: int = 1) -> None:
        """Append a table, in parts that each repeat the header."""
        for kind, text in render_table(rows, header_rows):
            if kind == "table":
                self._apart()
                self.block("table", text, 0, page)
            else:
                self.paragraph(text, page)

    def finish(self) -> tuple[str, tuple[Block, ...]]:
        """The stored text and its blocks."""
        return "".join(self._parts), tuple(self._blocks)

    def _apart(self) -> None:
        if self._length:
            tail = "".join(self._parts[-2:])
            self.raw("\n" * (2 - min(2, len(tail) - len(tail.rstrip("\n")))))
