"""Cuts a document into passages along its headings, lists, tables and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge.records import Block, Chunk, Language, LoadedDocument, Span
from knowledge.sentences import split_sentences, trimmed, weight

MAX_CHARACTERS: dict[Language, int] = {"zh": 600, "en": 1_400}
"""Longest chunk; within what the default encoder reads (512 tokens)."""
_TARGET = 0.6
"""Share of the longest from which on a chunk isn't filled further."""
_PARAGRAPHS = 0.4
"""Share of the longest up to which paragraphs are merged; a longer one is likely a topic of its own."""
_WHOLE_ITEM: dict[Language, int] = {"zh": 160, "en": 360}
"""A list item up to this length is one statement; a longer one is split at its sentences."""
_CLAUSE_ENDS = ("；", ";", "……", "，", ",", "、", "：", "\n", " ")
_LONGEST_NAME = 200
"""Characters of a heading that are kept in the section path."""
_EMPHASIS = ("***", "**", "__", "*", "_")


def chunk(document: LoadedDocument, *, max_characters: int | None = None) -> list[Chunk]:
    """Passages of the document, in order, each at most `max_characters` long (default: by language).

    A chunk never reaches over a heading; short neighbours of one section are merged, a lead-in stays with what it leads
    in, a part of a table is a chunk with its header. Headings with nothing under them become chunks of their own.
    """
    limit = max_characters or MAX_CHARACTERS[document.language]
    return list(_Chunker(document, limit).chunks())


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not cut: a block or a part of one, with its statements."""

    start: int
    end: int
    kind: str
    page: int | None
    sentences: tuple[Span, ...]
    leads_in: bool = False


class _Chunker:
    def __init__(self, document: LoadedDocument, limit: int) -> None:
        self._text = document.text
        self._blocks = document.blocks
        tops = [block for block in document.blocks if block.kind == "heading" and block.level == 1]
        self._title = document.title if len(tops) == 1 else None
        self._language = document.language
        self._limit = limit

    def chunks(self) -> Iterator[Chunk]:
        path: list[tuple[int, str]] = []
        body: list[Block] = []
        heading: Block | None = None
        for block in self._blocks:
            if block.kind != "heading":
                body.append(block)
                continue
            if body:
                yield from self._section(body, path)
                body = []
            elif heading and heading.level >= block.level:
                yield from self._bare(heading, path[:-1])
            name = " ".join(self._text[block.start : block.end].split())
            path = [*((level, text) for level, text in path if level < block.level), (block.level, _unmarked(name))]
            heading = block
        if body:
            yield from self._section(body, path)
        elif heading:
            yield from self._bare(heading, path[:-1])

    def _path(self, path: Sequence[tuple[int, str]]) -> tuple[str, ...]:
        return tuple(name for i, (_, name) in enumerate(path) if i or name != self._title)

    def _bare(self, heading: Block, path: Sequence[tuple[int, str]]) -> Iterator[Chunk]:
        for start, end in self._cut(heading.start, heading.end):
            yield Chunk(start, end, self._path(path), heading.page, (Span(start, end),))

    def _section(self, body: Sequence[Block], path: Sequence[tuple[int, str]]) -> Iterator[Chunk]:
        section = self._path(path)
        units = [unit for i, block in enumerate(body) for unit in self._units(block, body[i + 1 : i + 2])]
        for group in self._groups(units):
            sentences = tuple(span for unit in group for span in unit.sentences)
            yield Chunk(group[0].start, group[-1].end, section, group[0].page, sentences)

    def _groups(self, units: Sequence[_Unit]) -> Iterator[list[_Unit]]:
        """Merge neighbours up to the limit, a lead-in with what it leads in."""
        group: list[_Unit] = []
        for unit in units:
            if group and not self._joins(group, unit):
                tail = [group.pop()] if len(group) > 1 and group[-1].leads_in else []
                if tail and unit.end - tail[0].start > self._limit:
                    group, tail = [*group, *tail], []
                yield group
                group = tail
            group.append(unit)
        if group:
            yield group

    def _joins(self, group: Sequence[_Unit], unit: _Unit) -> bool:
        start = group[0].start
        if unit.end - start > self._limit:
            return False
        if group[-1].leads_in:
            return True
        if unit.leads_in or "table" in (unit.kind, group[-1].kind):
            return False
        if unit.kind == group[-1].kind == "paragraph":
            return unit.end - start < self._limit * _PARAGRAPHS
        return group[-1].end - start < self._limit * _TARGET

    def _units(self, block: Block, following: Sequence[Block]) -> Iterator[_Unit]:
        start, end = block.start, block.end
        if block.kind == "table":
            yield from self._table(block)
            return
        if block.kind == "code":
            for first, last in self._cut(start, end):
                yield _Unit(first, last, "code", block.page, (Span(first, last),))
            return
        text = self._text[start:end]
        followed = bool(following) and following[0].kind in ("list_item", "table", "code", "quote")
        leads_in = text.rstrip("*_ ").endswith((":", "：")) or (followed and len(text) <= self._limit // 3)
        whole = block.kind == "list_item" and len(text) <= min(_WHOLE_ITEM[self._language], self._limit)
        spans = [trimmed(self._text, start, end)] if whole else split_sentences(self._text, start, end)
        pieces = [Span(*cut) for span in spans for cut in self._cut(span.start, span.end)]
        introduces = leads_in and followed and bool(pieces) and self._only_leads_in(pieces[-1])
        sentences = pieces[:-1] if introduces else pieces
        if end - start <= self._limit:
            yield _Unit(
                start, end, block.kind, block.page, self._shown(sentences), leads_in and len(text) <= self._limit // 2
            )
            return
        part: list[Span] = []
        for piece in pieces:
            if part and piece.end - part[0].start > self._limit:
                yield _Unit(part[0].start, part[-1].end, block.kind, block.page, self._shown(part))
                part = []
            part.append(piece)
        if part:
            yield _Unit(part[0].start, part[-1].end, block.kind, block.page, self._shown(part))

    def _only_leads_in(self, span: Span) -> bool:
        text = self._text[span.start : span.end]
        return text.rstrip("*_ ").endswith((":", "：")) and weight(text) < 25

    def _table(self, block: Block) -> Iterator[_Unit]:
        """A part of a table is one unit; its rows below the header are the statements."""
        lines: list[Span] = []
        at = block.start
        for line in self._text[block.start : block.end].split("\n"):
            lines.append(Span(at, at + len(line)))
            at += len(line) + 1
        rows = [span for line in lines[2:] if (span := _row(self._text, line)).end > span.start]
        if not rows and lines:
            rows = [_row(self._text, lines[0])]
        if block.end - block.start <= self._limit:
            yield _Unit(block.start, block.end, "table", block.page, tuple(rows))
            return
        for row in rows:
            for first, last in self._cut(row.start, row.end):
                yield _Unit(first, last, "row", block.page, (Span(first, last),))

    def _cut(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Cut what is longer than the limit at the last clause end that fits, else between words."""
        while end - start > self._limit:
            cut = self._clause_end(start, start + self._limit)
            span = trimmed(self._text, start, cut)
            if span.end > span.start:
                yield span.start, span.end
            start = cut
        span = trimmed(self._text, start, end)
        if span.end > span.start:
            yield span.start, span.end

    def _clause_end(self, start: int, end: int) -> int:
        least = start + (end - start) // 3
        for mark in _CLAUSE_ENDS:
            at = self._text.rfind(mark, least, end)
            if at >= 0 and not (mark in ",:" and self._text[at + 1 : at + 2].isdigit()):
                return at + len(mark)
        return end

    def _shown(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        return tuple(shown for span in spans if (shown := _without_marks(self._text, span)).end > shown.start)


def _row(text: str, line: Span) -> Span:
    """A table's row without its outer pipes."""
    start, end = line.start, line.end
    while start < end and text[start] in " |\t":
        start += 1
    while end > start and text[end - 1] in " |\t" and text[end - 2 : end] != "\\|":
        end -= 1
    return Span(start, end)


def _without_marks(text: str, span: Span) -> Span:
    """The span without emphasis marks that only one edge has, or that enclose all of it."""
    start, end = span.start, span.end
    for mark in _EMPHASIS:
        inner = text.count(mark, start, end)
        if (
            inner == 2
            and text.startswith(mark, start)
            and text.endswith(mark, start, end)
            and end - start > 2 * len(mark)
        ):
            return trimmed(text, start + len(mark), end - len(mark))
        if inner % 2 and text.startswith(mark, start):
            return trimmed(text, start + len(mark), end)
        if inner % 2 and text.endswith(mark, start, end):
            return trimmed(text, start, end - len(mark))
    return trimmed(text, start, end)


def _unmarked(heading: str) -> str:
    """A heading's text without emphasis and code marks, and links as their text."""
    text = re.sub(r"!?\[([^\[\]]{0,200})\]\([^()\[]{0,500}\)", r"\1", heading[:_LONGEST_NAME])
    return re.sub(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)", "", text).strip()
