"""Plain text: the source stays as it is; headings, lists and paragraphs are told from how the lines are laid out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.documents.builder import TextBuilder
from knowledge.documents.characters import clean
from knowledge.documents.draft import Draft
from knowledge.documents.frontmatter import split_front_matter
from knowledge.limits import Limits, check

BULLET = re.compile(r"[ \t\u3000]*(?:[-*+•●○▪■◆►‣·–—][ \t\u3000]+|[•●○▪■◆►‣][ \t\u3000]*)(?=\S)")
NUMBER = re.compile(
    r"[ \t\u3000]*(?:\(?\d{1,3}[.)][ \t\u3000]+|\d{1,3}、|[（(]\d{1,3}[）)][ \t\u3000]*|[①-⑳][ \t\u3000]*"
    r"|\(?[a-zA-Z][.)][ \t\u3000]+)(?=\S)"
)
_OUTLINE = re.compile(
    r"[ \t\u3000]*(?:第[一二三四五六七八九十百\d]{1,4}[章节部篇]|[一二三四五六七八九十]{1,3}、"
    r"|[（(][一二三四五六七八九十]{1,3}[）)])"
)
_SECTION_NUMBER = re.compile(r"[ \t]*(\d{1,2}(?:\.\d{1,2})*)\.?[ \t\u3000]+\S")
_TERMINAL = re.compile(r"[.。!！;；,，:：、…~～]['\"”’」』）)\]]*$")
_QUESTION = re.compile(r"[?？]$")
_UNDERLINE = re.compile(r"[ \t]*(?:={3,}|-{3,}|~{3,})[ \t]*$")
_HAN = re.compile("[\u3400-\u9fff]")
_CLOSING = re.compile(
    r"总结|小结|结语|结论|附录|参考(?:文献|资料)|常见问题|(?:in )?(?:conclusions?|summary|closing)|references|appendix"
    r"|faq",
    re.I,
)
_DEEPEST = 3
"""Headings that may follow on each other without text between; more are a list."""
_WRAP = 60
"""A line at least this wide may have been broken by a margin."""


def read_plain(text: str, limits: Limits) -> Draft:
    """Read plain text with an optional front matter."""
    description, body = split_front_matter(clean(text))
    check(limits, "max_lines", body.count("\n") + 1, "Lines:")
    pieces = _levelled(list(_pieces(body)), body)
    builder = TextBuilder(limits)
    at = 0
    title = description.metadata.get("title", "")
    for number, piece in enumerate(pieces):
        builder.raw(body[at : piece.start])
        content = body[piece.start : piece.end]
        if piece.kind == "heading":
            builder.block("heading", content, piece.level)
            if number == 0 and not title:
                title = content
        elif piece.kind == "item":
            builder.block("list_item", content, piece.level)
        else:
            builder.block("paragraph", content)
        at = piece.end
    builder.raw(body[at:])
    content, blocks = builder.finish()
    return Draft(content, blocks, title=title, metadata=description.metadata, references=description.references)


@dataclass(slots=True)
class _Piece:
    kind: str
    start: int
    end: int
    level: int = 0
    apart: bool = False
    """A blank line stands before it."""


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str


def _lines(body: str) -> Iterator[_Line]:
    at = 0
    for line in body.split("\n"):
        yield _Line(at, at + len(line), line)
        at += len(line) + 1


def _pieces(body: str) -> Iterator[_Piece]:
    """Groups of lines without a blank line between them, taken apart into items, headings and paragraphs."""
    group: list[_Line] = []
    for line in [*_lines(body), _Line(len(body), len(body), "")]:
        if line.text.strip():
            group.append(line)
        elif group:
            first = True
            for piece in _taken_apart(group):
                piece.apart = first
                first = False
                yield piece
            group = []


def _taken_apart(group: list[_Line]) -> Iterator[_Piece]:
    wrapped = _is_wrapped(group)
    current: _Piece | None = None
    for i, line in enumerate(group):
        marker = BULLET.match(line.text) or NUMBER.match(line.text)
        underlined = i + 1 < len(group) and _UNDERLINE.fullmatch(group[i + 1].text) and _heading_like(line.text)
        if _UNDERLINE.fullmatch(line.text):
            if current:
                yield current
            current = None
        elif underlined:
            if current:
                yield current
            current = None
            yield _Piece("heading", line.start, line.end, 1 if "=" in group[i + 1].text else 2)
        elif marker and not (len(group) == 1 and _heading_like(line.text)):
            if current:
                yield current
            indent = len(line.text) - len(line.text.lstrip(" \t\u3000"))
            current = _Piece("item", line.start + marker.end(), line.end, indent // 2)
        elif current and (wrapped or (current.kind == "item" and line.text[:1] in " \t\u3000")):
            current.end = line.end
        else:
            if current:
                yield current
            lead = len(line.text) - len(line.text.lstrip())
            current = _Piece("text", line.start + lead, line.end)
    if current:
        yield current


def _is_wrapped(group: list[_Line]) -> bool:
    """Whether the lines were broken by a margin rather than ended by their writer."""
    inner = group[:-1]
    if not inner or all("\t" in line.text.strip() for line in group):
        return False
    widths = [_width(line.text) for line in group]
    ended = sum(1 for line in inner if re.search(r"[.。!！?？;；:：…]['\"”’」』）)\]]*\s*$", line.text))
    return max(widths) <= 130 and (max(widths) >= _WRAP or ended == 0) and ended <= len(inner) * 0.5


def _width(text: str) -> int:
    return len(text) + len(_HAN.findall(text))


def _heading_like(text: str) -> bool:
    line = text.strip()
    if not line or _TERMINAL.search(line) or _width(line) > 90:
        return False
    return any(c.isalpha() for c in line) and len(re.findall(r"[.。!！?？]\s", line)) <= 1


def _levelled(pieces: list[_Piece], body: str) -> list[_Piece]:
    """Decide which short pieces are headings, and how they nest.

    Levels are 1 for a title on top, 2, and 3 below a heading that directly precedes another, or whose only paragraph
    leads in to the next; an outline's own numbering wins.
    """
    headings = [_is_heading(pieces, i, body) for i in range(len(pieces))]
    nested = False
    for i, piece in enumerate(pieces):
        if piece.kind == "heading":
            nested = False
        elif headings[i]:
            piece.kind = "heading"
            content = body[piece.start : piece.end]
            numbered = _outline_level(content)
            opens = _opens_group(pieces, headings, i, body)
            if numbered:
                piece.level, nested = numbered, False
            elif i == 0:
                piece.level = 1
            else:
                nested = nested and not opens and not _CLOSING.fullmatch(content.strip())
                piece.level = 3 if nested else 2
                nested = nested or opens
    return pieces


def _opens_group(pieces: list[_Piece], headings: list[bool], i: int, body: str) -> bool:
    if i + 1 < len(headings) and headings[i + 1]:
        return True
    leads_in = i + 2 < len(headings) and headings[i + 2] and pieces[i + 1].kind == "text"
    return leads_in and body[pieces[i + 1].start : pieces[i + 1].end].endswith(("：", ":"))


def _outline_level(content: str) -> int:
    """The level that a heading's own number says, or 0."""
    if found := _OUTLINE.match(content):
        return 3 if found[0].strip()[0] in "（(" else 2
    if found := _SECTION_NUMBER.match(content):
        return min(2 + found[1].count("."), 6)
    return 0


def _is_heading(pieces: list[_Piece], i: int, body: str) -> bool:
    """A short line without a full stop, before something longer that it can be the heading of."""
    piece = pieces[i]
    content = body[piece.start : piece.end]
    if piece.kind != "text" or len(content) > 90 or "\n" in content:
        return False
    if not _heading_like(content):
        return False
    follower = i + 1
    while follower < len(pieces) and follower - i <= _DEEPEST and _could_be_heading(pieces[follower], body):
        follower += 1
    if follower >= len(pieces) or follower - i > _DEEPEST:
        return False
    below = pieces[follower]
    text = body[below.start : below.end]
    question = bool(_QUESTION.search(content))
    if not piece.apart or not pieces[i + 1].apart:
        before_ends = i == 0 or bool(_TERMINAL.search(body[pieces[i - 1].start : pieces[i - 1].end]))
        return (
            before_ends
            and below.kind == "text"
            and _width(text) >= 2 * _width(content)
            and bool(_TERMINAL.search(text))
        )
    if below.kind == "item":
        return not question
    return _width(text) > _width(content) and (bool(_TERMINAL.search(text)) or _width(text) > 90)


def _could_be_heading(piece: _Piece, body: str) -> bool:
    content = body[piece.start : min(piece.end, piece.start + 100)]
    return piece.kind == "heading" or (piece.kind == "text" and _heading_like(content))
