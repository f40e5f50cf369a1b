"""Markdown: the source stays as it is; comments and hidden HTML go, a long table is split with its header repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from knowledge.documents.builder import TextBuilder
from knowledge.documents.characters import clean, is_chinese
from knowledge.documents.draft import Draft
from knowledge.documents.frontmatter import split_front_matter
from knowledge.documents.html import parse_html
from knowledge.documents.html_blocks import write_html
from knowledge.documents.html_visible import remove_hidden
from knowledge.documents.markdown_inline import hidden_after, without_html
from knowledge.documents.tables import PART_CHARACTERS, Row
from knowledge.limits import Limits, check
from knowledge.records import BlockKind

if TYPE_CHECKING:
    from markdown_it.token import Token

_NOTE_MARK = re.compile(r"\[\^[^\]\s]{1,40}\]:\s+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SEGMENT = 50_000
_LONGEST_SEGMENT = 200_000
_LONGEST_TABLE = 1_000_000
_UNTOLD = 64
"""Lines of a table that say which language it is in."""


def read_markdown(text: str, limits: Limits) -> Draft:
    """Read Markdown with an optional front matter.

    Raises:
        DocumentError: the front matter isn't valid.
    """
    description, body = split_front_matter(clean(text))
    check(limits, "max_lines", body.count("\n") + 1, "Lines:")
    builder = TextBuilder(limits)
    hidden: tuple[str, int] | None = None
    for segment in _segments(body):
        hidden = _Copier(segment, builder, hidden).copy()
    content, blocks = builder.finish()
    title = description.metadata.get("title", "")
    if not title:
        title = next((content[b.start : b.end] for b in blocks if b.kind == "heading" and b.level == 1), "")
    return Draft(content, blocks, title=title, metadata=description.metadata, references=description.references)


def _segments(body: str) -> Iterator[str]:
    """Parts that are parsed one by one, so that memory is bounded: cut at blank lines outside fences and comments."""
    start = at = 0
    fence = ""
    in_comment = False
    blank = False
    for line in body.splitlines(keepends=True):
        size = at - start
        if size > _SEGMENT and not fence and not in_comment and _may_cut(line, blank, size):
            yield body[start:at]
            start = at
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        elif mark:
            fence = mark[1]
        else:
            opened, closed = line.rfind("<!--"), line.rfind("-->")
            in_comment = opened > closed or (in_comment and closed < 0)
        blank = not line.strip()
        at += len(line)
    yield body[start:]


def _may_cut(line: str, after_blank: bool, size: int) -> bool:
    if after_blank and not line[:1].isspace():
        return True
    return size > (_LONGEST_TABLE if line.lstrip().startswith("|") else _LONGEST_SEGMENT)


class _Copier:
    """Copies the source line by line and records what the parser found in it."""

    def __init__(self, source: str, builder: TextBuilder, hidden: tuple[str, int] | None) -> None:
        self._source = source
        self._hidden = hidden
        """The HTML element that hides what follows, left open in an earlier block."""
        self._builder = builder
        self._lines = source.split("\n")
        self._line = 0

    def copy(self) -> tuple[str, int] | None:
        """Copy all of the source; returns the element that still hides what follows it."""
        from markdown_it import MarkdownIt

        parser = MarkdownIt("commonmark").enable("table").disable("inline")
        tokens = parser.parse(self._source)
        items: list[tuple[str, int]] = []
        heading = 0
        i = 0
        while i < len(tokens):
            token = tokens[i]
            if self._hidden and token.type != "html_block":
                i += 1
                self._line = max(self._line, token.map[1] if token.map else 0)
                continue
            if token.type == "heading_open":
                heading = int(token.tag[1])
            elif token.type in ("list_item_open", "blockquote_open"):
                items.append((token.type, token.level))
            elif token.type in ("list_item_close", "blockquote_close"):
                items.pop()
            elif token.type == "table_open":
                i = self._table(tokens, i)
            elif token.type == "inline":
                self._text(token, heading, items)
                heading = 0
            elif token.type in ("fence", "code_block"):
                self._code(token)
            elif token.type == "html_block":
                self._html(token)
            i += 1
        self._gap(len(self._lines) - (self._lines[-1] == ""))
        return self._hidden

    def _gap(self, line: int) -> None:
        """Copy the lines before `line` that belong to no block."""
        if line > self._line:
            self._builder.raw("\n".join(self._lines[self._line : line]) + "\n")
            self._line = line

    def _text(self, token: Token, heading: int, items: list[tuple[str, int]]) -> None:
        assert token.map is not None
        first, after = token.map
        self._gap(first)
        content = token.content
        at = self._lines[first].find(content.split("\n", 1)[0])
        prefix = self._lines[first][: max(at, 0)]
        if note := _NOTE_MARK.match(content):
            prefix, content = prefix + note[0], content[note.end() :]
        content = without_html(content)
        depth = sum(1 for kind, _ in items if kind == "list_item_open")
        kind: BlockKind = "heading" if heading else "list_item" if depth else "quote" if items else "paragraph"
        if heading and not content.strip():
            prefix = ""
        self._builder.raw(prefix)
        if heading:
            self._builder.heading_text(content, heading)
        else:
            self._builder.block(kind, content, depth - 1 if depth else 0)
        self._builder.raw("\n")
        self._line = after

    def _code(self, token: Token) -> None:
        assert token.map is not None
        first, after = token.map
        fenced = token.type == "fence"
        self._gap(first + 1 if fenced else first)
        last = self._lines[after - 1].strip().strip(">").strip() if after - 1 > first else ""
        closed = fenced and last.startswith(token.markup) and not last.strip(token.markup[0])
        self._builder.block("code", token.content.rstrip("\n"))
        self._builder.raw("\n")
        self._line = after - 1 if closed else after

    def _html(self, token: Token) -> None:
        assert token.map is not None
        self._gap(token.map[0])
        self._line = token.map[1]
        was_hidden = self._hidden
        self._hidden = hidden_after(token.content, was_hidden)
        root = parse_html(token.content)
        if root is not None and not was_hidden:
            remove_hidden(root)
            write_html(root, self._builder)
            self._builder.raw("\n")

    def _table(self, tokens: list[Token], start: int) -> int:
        """Copy a table; return the index of its closing token."""
        opening = tokens[start]
        assert opening.map is not None
        first, after = opening.map
        self._gap(first)
        self._line = after
        end = start
        rows: list[Row] = []
        row: list[str] = []
        while tokens[end].type != "table_close":
            if tokens[end].type == "tr_open":
                row = []
                rows.append(row)
            elif tokens[end].type == "inline":
                row.append(without_html(tokens[end].content))
            end += 1
        source = "\n".join(self._lines[first:after])
        sample = "\n".join(self._lines[first : min(after, first + _UNTOLD)])
        if (
            opening.level == 0
            and "<" not in source
            and len(source) <= PART_CHARACTERS["zh" if is_chinese(sample) else "en"]
        ):
            self._builder.block("table", source)
        else:
            self._builder.table(rows)
        self._builder.raw("\n")
        return end
