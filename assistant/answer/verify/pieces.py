"""Divides what a chat model writes, as it comes, into pieces that can be checked and released one by one.

A piece is a sentence with its marks, a heading, a table or a block of code. Half a mark is held back; a sentence is
handed out as soon as it has ended and carries a mark, so that no time is lost waiting for what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from assistant.answer.verify.marks import MAX_MARK, find_marks, mark_at, may_become_mark, without_code

Kind = Literal["sentence", "heading", "table", "code", "marks"]

_LEAD = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,2}[.)、]|>)(?:[ \t]+|(?<=、)))*")
_HALF_LEAD = re.compile(r"[ \t]*(?:[-*+•>]|\d{1,2}[.)、]?|[-*_]{2,})?[ \t]*$")
_RULE_LINE = re.compile(r"[ \t]*([-*_=])(?:[ \t]*\1){2,}[ \t]*$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_TERMINATOR = re.compile(r"[。！？]|[!?](?=\W|$)|\.(?=[\s\"'”’)*_\[【［]|$)|\n")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|etc|approx|no|fig|eq|dr|mr|ms|inc|ltd|cf|al|resp|max|min)|\b[A-Za-z]|(?:^|\n)\s*\d{1,2})$",
    re.I,
)
_CLOSERS = "”’\"'」』）)*_"
_THINKING = re.compile(r"<(think|thinking|reasoning)>", re.I)
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|reasoning)>", re.I)
_LONGEST_TAG = len("</reasoning>")


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that is checked and released as a whole."""

    kind: Kind
    text: str
    """As written, with its marks, without the line's marker."""
    line: int
    """Pieces of one line share it."""
    paragraph: int
    """Goes up with every blank line."""
    lead: str = ""
    """The line's list marker or quotation sign, with its indentation."""
    gap: str = ""
    """White space between this piece and the one before it in the line."""
    cut: bool = False
    """Whether the text broke off inside it."""


class Pieces:
    """Takes a text in parts, gives its pieces in order."""

    def __init__(self) -> None:
        self._thoughts = _Thoughts()
        self._rest = ""
        self._line = 0
        self._paragraph = 0
        self._lead: str | None = None
        self._begun = False
        """Whether the line has had a piece."""

    def feed(self, delta: str) -> list[Piece]:
        """The pieces that are complete now."""
        self._rest += self._thoughts.feed(delta.replace("\r\n", "\n").replace("\r", "\n"))
        return list(self._take(final=False))

    def finish(self) -> list[Piece]:
        """What is left when the text ends."""
        self._rest += self._thoughts.finish()
        return list(self._take(final=True))

    def _take(self, *, final: bool) -> Iterator[Piece]:
        while self._rest:
            before = self._rest
            piece = self._next(final)
            if piece is not None:
                yield piece
            elif self._rest == before:
                return

    def _next(self, final: bool) -> Piece | None:
        """The next piece; None with the rest shortened when a line ended, None with it unchanged to wait."""
        if self._lead is None:
            return self._line_start(final)
        if self._rest[0] == "\n":
            self._end_line()
            return None
        return self._sentence(final)

    def _line_start(self, final: bool) -> Piece | None:
        if blank := re.match(r"[ \t]*\n", self._rest):
            self._rest = self._rest[blank.end() :]
            self._paragraph += 1
            return None
        line, ended, _ = self._rest.partition("\n")
        complete = bool(ended) or final
        stripped = line.lstrip(" \t")
        if not stripped or (not complete and _HALF_LEAD.fullmatch(line)):
            if final:
                self._rest = ""
            return None
        if "`~".find(stripped[0]) >= 0 and len(stripped) < 3 and not complete:
            return None
        if fence := _FENCE.match(line):
            return self._block("code", self._code_end(fence[1], final))
        if stripped[0] == "|":
            return self._block("table", self._table_end(final))
        if (stripped[0] == "#" and re.match(r"#{1,6}(?:\s|$)", stripped)) or _RULE_LINE.match(line):
            if not complete:
                return None
            self._rest = self._rest[len(line) + len(ended) :]
            piece = None if _RULE_LINE.match(line) else Piece("heading", stripped.strip(), self._line, self._paragraph)
            self._line += 1
            return piece
        lead = _LEAD.match(self._rest)
        self._lead = lead.group() if lead else ""
        self._rest = self._rest[len(self._lead) :]
        self._begun = False
        return self._next(final) if self._rest else None

    def _block(self, kind: Kind, end: int | None) -> Piece | None:
        if end is None:
            return None
        text, self._rest = self._rest[:end], self._rest[end:]
        piece = Piece(kind, text.strip("\n"), self._line, self._paragraph)
        self._line += 1
        return piece

    def _code_end(self, fence: str, final: bool) -> int | None:
        closed = re.compile(rf"\n[ \t]*{re.escape(fence)}[`~]*[ \t]*(?:\n|$)").search(self._rest)
        if closed and (closed.group().endswith("\n") or final):
            return closed.end()
        return len(self._rest) if final else None

    def _table_end(self, final: bool) -> int | None:
        for newline in re.finditer(r"\n", self._rest):
            following = self._rest[newline.end() :].lstrip(" \t")
            if following and following[0] != "|":
                return newline.end()
        return len(self._rest) if final else None

    def _sentence(self, final: bool) -> Piece | None:
        gap = self._rest[: len(self._rest) - len(self._rest.lstrip(" \t"))]
        text = self._rest[len(gap) :]
        if not text:
            if final:
                self._rest = ""
            return None
        if text[0] == "\n":
            self._rest = text
            return None
        if (leading := self._leading_marks(text, final)) is not None:
            if leading:
                self._rest = text[leading:]
                return self._piece("marks", text[:leading], gap)
        elif not final:
            return None
        end, cut = self._end(text, final)
        if end is None:
            return None
        self._rest = text[end:]
        return self._piece("sentence", text[:end].rstrip(), gap, cut)

    def _leading_marks(self, text: str, final: bool) -> int | None:
        """Length of marks that stand alone or belong to the sentence before; 0 for none, None when it can't be told."""
        end = _marks_end(text, 0)
        if not end:
            return None if may_become_mark(text) and not final else 0
        rest = text[end:].lstrip(" \t")
        if self._begun:
            return end
        if not rest and not final:
            return None
        return end if not rest or rest[0] == "\n" else 0

    def _piece(self, kind: Kind, text: str, gap: str, cut: bool = False) -> Piece:
        lead = "" if self._begun else self._lead or ""
        piece = Piece(kind, text, self._line, self._paragraph, lead, gap if self._begun else "", cut)
        self._begun = True
        return piece

    def _end_line(self) -> None:
        self._rest = self._rest[1:]
        self._line += 1
        self._lead = None

    @staticmethod
    def _end(text: str, final: bool) -> tuple[int | None, bool]:
        """Where the first sentence of a text ends with its marks, and whether it broke off; None to wait."""
        hidden = without_code(text)
        for match in _TERMINATOR.finditer(hidden):
            sign, at = match.group(), match.start()
            if sign == "\n":
                return at, False
            if sign == "." and _ABBREVIATION.search(hidden[:at]):
                continue
            end = match.end()
            while end < len(text) and text[end] in _CLOSERS:
                end += 1
            marked = any(mark.end == at for mark in find_marks(text[:at]))
            after = _marks_end(text, end)
            if after > end or marked:
                return after, False
            following = text[end:].lstrip(" \t")
            if following[:1] == "\n" or (final and not may_become_mark(following)):
                return end, False
            if not following or may_become_mark(following):
                return (len(text), True) if final else (None, False)
            return end, False
        return (len(text), not _closed(text)) if final else (None, False)


def _marks_end(text: str, position: int) -> int:
    """The end of the marks that follow a position, with spaces between them; the position itself if there are none."""
    end = position
    while True:
        at = end
        while at < len(text) and text[at] in " \t":
            at += 1
        mark = mark_at(text, at)
        if mark is None:
            return end
        end = mark.end


def _closed(text: str) -> bool:
    """Whether a last line without a full stop is whole all the same: it ends with a mark or a closing sign."""
    marks = find_marks(text)
    return bool(marks and marks[-1].end == len(text.rstrip())) or text.rstrip()[-1:] in ":：;；)）」”*|"


class _Thoughts:
    """Leaves out what reasoning models write before their answer, in `<think>` tags."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def feed(self, delta: str) -> str:
        text, shown = self._held + delta, ""
        self._held = ""
        while text:
            pattern = _THOUGHT_ENDS if self._inside else _THINKING
            found = pattern.search(text)
            if found:
                shown += "" if self._inside else text[: found.start()]
                self._inside = not self._inside
                text = text[found.end() :]
                continue
            opened = text.rfind("<")
            if opened >= 0 and len(text) - opened < _LONGEST_TAG and ">" not in text[opened:]:
                text, self._held = text[:opened], text[opened:]
            return shown + ("" if self._inside else _THOUGHT_ENDS.sub("", text))
        return shown

    def finish(self) -> str:
        return "" if self._inside else self._held


__all__ = ["MAX_MARK", "Kind", "Piece", "Pieces"]
