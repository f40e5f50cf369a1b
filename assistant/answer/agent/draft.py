"""The answer while the model writes it: pieces are checked in order and released once they have passed.

From the first piece that fails, everything is held, so that its correction can take its place; what passes after the
model was asked once more is released in order, and what fails again is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assistant import tracing
from assistant.answer.draft import CitedSpan, citation_of
from assistant.answer.verify.evidence import Evidence
from assistant.answer.verify.framing import is_framing
from assistant.answer.verify.marks import find_marks, without_marks
from assistant.answer.verify.pieces import Piece, Pieces
from assistant.answer.verify.statements import Checked, Checker, Problem, Segment, Source
from assistant.schema import Citation, Language, ToolRun

_NUMBERED = re.compile(r"^\s*(?:[-*]\s*)?\**(\d{1,2})\**\s*[:：.、)]\s*(.*)$")
_NOTHING = re.compile(r"^\W*$")
_SAME = 0.8


@dataclass(frozen=True, slots=True)
class Fault:
    """A piece that did not pass, as it is sent back."""

    number: int
    text: str
    problem: Problem


@dataclass(slots=True)
class _Entry:
    checked: Checked
    replaced: tuple[Checked, ...] | None = None
    """What the model wrote instead, when it was asked; empty for nothing."""


class Draft:
    """One answer in the making."""

    def __init__(self, checker: Checker, evidence: Evidence, language: Language, opening: str = "") -> None:
        self._checker = checker
        self._evidence = evidence
        self._language = language
        self._opening = opening
        self._pieces = Pieces()
        self._waiting: list[Piece] = []
        """Pieces whose mark may still come."""
        self._entries: list[_Entry] = []
        self._next = 0
        """The first entry that is neither released nor dropped."""
        self._last: Piece | None = None
        self._text = ""
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._runs: dict[str, str] = {}
        self.citations: list[Citation] = []
        self.left_out = 0

    @property
    def text(self) -> str:
        """What has been released, in full."""
        return self._text

    @property
    def has_statements(self) -> bool:
        """Whether anything with a source has been released."""
        return bool(self.citations or self._runs)

    @property
    def runs(self) -> list[ToolRun]:
        """The calculations that the released text cites, numbered as it numbers them."""
        return [self._evidence.runs[given].run.model_copy(update={"n": shown}) for given, shown in self._runs.items()]

    @property
    def cited_runs(self) -> list[str]:
        """The numbers under which the model knew them."""
        return list(self._runs)

    def feed(self, delta: str) -> Iterator[str]:
        """Take more of the model's text; gives what may be shown now, to be appended."""
        for piece in self._pieces.feed(delta):
            self._take(piece)
            yield from self._release()

    def end_message(self, *, goes_on: bool = False) -> Iterator[str]:
        """The model's message has ended; when it goes on after a tool call, what leads nowhere yet is dropped."""
        for piece in self._pieces.finish():
            self._take(piece)
        self._settle(())
        self._pieces = Pieces()
        yield from self._release()
        if goes_on:
            waiting = self._entries[self._next :]
            statements = any(not entry.checked.frames and entry.checked.problem is None for entry in waiting)
            self._entries[self._next :] = waiting if statements else []

    def abandon_message(self) -> None:
        """The message broke off and will be written anew: what is not released is forgotten."""
        self._pieces = Pieces()
        self._waiting = []
        del self._entries[self._next :]

    def faults(self) -> list[Fault]:
        """What did not pass, numbered from 1."""
        failed = [entry for entry in self._entries[self._next :] if entry.checked.problem is not None]
        return [
            Fault(number, entry.checked.piece.text, entry.checked.problem)
            for number, entry in enumerate(failed, 1)
            if entry.checked.problem is not None
        ]

    def correct(self, reply: str) -> None:
        """Put the model's corrections, one numbered line each, where the failed pieces were."""
        failed = [entry for entry in self._entries[self._next :] if entry.checked.problem is not None]
        lines = _numbered(reply)
        if not lines and failed:
            kept = [line for line in self._checked(reply, failed[0].checked.piece) if not self._known(line)]
            failed[0].replaced = tuple(kept)
        for number, entry in enumerate(failed, 1):
            if number in lines:
                entry.replaced = tuple(self._checked(lines[number], entry.checked.piece))

    def finish(self) -> Iterator[str]:
        """Release what has passed, in order, and leave out the rest."""
        entries = self._entries[self._next :]
        del self._entries[self._next :]
        for entry in entries:
            if entry.checked.problem is None:
                self._entries.append(entry)
                continue
            passed = [checked for checked in entry.replaced or () if checked.problem is None]
            declined = entry.replaced is not None and not entry.replaced
            self.left_out += int(not passed and not declined)
            kept = entry.checked
            if not passed and kept.segments:
                passed = [replace(kept, problem=None)]
            self._entries += [_Entry(checked) for checked in passed]
        yield from self._release(last=True)

    def drop(self) -> None:
        """Forget what is not released."""
        self._waiting = []
        self.left_out += len(self.faults())
        del self._entries[self._next :]

    def _take(self, piece: Piece) -> None:
        if piece.kind == "marks":
            self._later_marks(piece)
            return
        if self._waiting and piece.line != self._waiting[-1].line:
            self._settle(())
        if piece.kind == "table" and not find_marks(piece.text):
            self._waiting.append(piece)
            return
        names = _names(piece)
        if piece.kind != "sentence" or names:
            leading = find_marks(piece.text)[0].names if names else ()
            self._settle(leading)
            self._add(self._check(piece))
        elif is_framing(piece.text, self._language) and not self._waiting:
            self._add(self._check(piece))
        elif not self._waiting and not piece.cut and (given := self._checker.attribute(piece)):
            self._add(given)
        else:
            self._waiting.append(piece)

    def _later_marks(self, piece: Piece) -> None:
        """Marks after a sentence that was handed out, or alone in a line below what they stand for."""
        names = _names(piece)
        if self._waiting:
            self._settle(names)
            return
        before = next((entry for entry in reversed(self._entries) if entry.checked.piece.line == piece.line), None)
        if before is None or before is not self._entries[-1]:
            return
        text = without_marks(before.checked.piece.text)
        if before.checked.problem is not None:
            checked = self._check(before.checked.piece, names)
            if checked.problem is None:
                before.checked = checked
            return
        sources, problem = self._checker.judge(text, names)
        new = tuple(s for s in sources if all(s not in segment.sources for segment in before.checked.segments))
        if problem is not None or not new:
            return
        if self._entries.index(before) < self._next:
            self._entries.append(_Entry(Checked(replace(piece, text=""), (Segment("", new),))))
        else:
            before.checked = replace(before.checked, segments=(*before.checked.segments, Segment("", new)))

    def _settle(self, names: Sequence[str]) -> None:
        """Check what was waiting, under the marks that came after it or under none."""
        waiting, self._waiting = self._waiting, []
        for piece in waiting:
            checked = self._check(piece, names)
            if checked.problem is not None and names and piece.kind == "sentence":
                unmarked = self._check(piece)
                checked = unmarked if unmarked.problem is None else checked
            self._add(checked)

    def _check(self, piece: Piece, names: Sequence[str] = ()) -> Checked:
        with tracing.span("verify", operation="verify") as span:
            checked = self._checker.check(piece, names)
            span.set(passed=checked.problem is None)
            return checked

    def _add(self, checked: Checked) -> None:
        if checked.problem is None and not checked.frames and self._released_before(checked):
            return
        self._entries.append(_Entry(checked))

    def _released_before(self, checked: Checked) -> bool:
        """Whether a message that is written anew says what was shown already."""
        said = _folded(without_marks(checked.piece.text))
        return bool(said) and any(
            _folded(without_marks(entry.checked.piece.text)) == said for entry in self._entries[: self._next]
        )

    def _checked(self, text: str, place: Piece) -> list[Checked]:
        """Pieces of a correction, at the place of what they correct."""
        if _NOTHING.match(text):
            return []
        pieces = Pieces()
        found = [*pieces.feed(text), *pieces.finish()]
        checked: list[Checked] = []
        for piece in found:
            if piece.kind == "marks" and checked and checked[-1].problem is not None:
                checked[-1] = self._check(checked[-1].piece, _names(piece))
                continue
            moved = replace(piece, line=place.line, paragraph=place.paragraph, lead=place.lead, gap=place.gap)
            checked.append(self._check(moved))
        return [one for one in checked if not one.frames]

    def _known(self, checked: Checked) -> bool:
        passed = (entry.checked for entry in self._entries if entry.checked.problem is None)
        return any(_alike(checked, other) for other in passed)

    def _release(self, *, last: bool = False) -> Iterator[str]:
        """What can be shown of the entries in order: framing with the statement that it leads to."""
        while self._next < len(self._entries):
            place = self._next
            while place < len(self._entries) and self._entries[place].checked.frames:
                place += 1
            if place == len(self._entries):
                if last and self.has_statements:
                    yield from self._show(self._closing(self._entries[self._next :]))
                    self._next = len(self._entries)
                return
            if self._entries[place].checked.problem is not None:
                return
            group = self._entries[self._next : place + 1]
            self._next = place + 1
            yield from self._show(_led(group))

    def _closing(self, entries: Sequence[_Entry]) -> list[_Entry]:
        """Of framing at the end only what stands alone: questions and requests, no headings or lead-ins."""
        return [
            entry
            for entry in entries
            if entry.checked.piece.kind == "sentence"
            and not without_marks(entry.checked.piece.text).rstrip("*_ ").endswith((":", "："))
        ]

    def _show(self, entries: Sequence[_Entry]) -> Iterator[str]:
        for entry in entries:
            shown = self._separator(entry.checked.piece) + self._rendered(entry.checked)
            if not self._text and self._opening:
                shown = f"{self._opening}\n\n{shown.lstrip()}"
            self._text += shown
            yield shown

    def _separator(self, piece: Piece) -> str:
        last, self._last = self._last, piece
        if not self._text:
            return piece.lead
        if not piece.text and piece.kind == "marks":
            return " "
        if last is not None and last.line == piece.line and last.kind == piece.kind == "sentence":
            return piece.gap or ("" if self._text[-1:] in "。！？" else " ")
        block = piece.kind in ("table", "code", "heading") or (
            last is not None and last.kind in ("table", "code", "heading")
        )
        same = last is not None and last.paragraph == piece.paragraph and not block
        return ("\n" if same else "\n\n") + piece.lead

    def _rendered(self, checked: Checked) -> str:
        parts = []
        for segment in checked.segments:
            marks = "".join(f"[{self._number(source)}]" for source in segment.sources)
            if not marks:
                parts.append(segment.text)
            elif checked.piece.kind in ("table", "code"):
                parts.append(f"{segment.text}\n\n{marks}")
            else:
                parts.append(_with_marks(segment.text, marks))
        return "".join(parts)

    def _number(self, source: Source) -> str:
        if isinstance(source, CitedSpan):
            key = (source.hit.document_id, source.start, source.end)
            if key not in self._numbers:
                self._numbers[key] = len(self.citations) + 1
                self.citations.append(citation_of(self._numbers[key], source))
            return str(self._numbers[key])
        return self._runs.setdefault(source, f"T{len(self._runs) + 1}")


def _led(group: Sequence[_Entry]) -> list[_Entry]:
    """A statement with the framing before it; of several headings in a row only those that still lead to it."""
    kept = [group[-1]]
    for entry in reversed(group[:-1]):
        piece, after = entry.checked.piece, kept[0].checked.piece
        level = len(piece.text) - len(piece.text.lstrip("#"))
        if (
            piece.kind == "heading"
            and after.kind == "heading"
            and level >= len(after.text) - len(after.text.lstrip("#"))
        ):
            continue
        kept.insert(0, entry)
    return kept


def _with_marks(text: str, marks: str) -> str:
    """Marks after the words they stand for: before the comma that ends a clause, after the full stop of a sentence."""
    stripped = text.rstrip(" ")
    if not stripped:
        return marks
    if stripped[-1] in ",，;；、:：":
        return f"{stripped[:-1]} {marks}{stripped[-1]}{text[len(stripped) :]}"
    return f"{stripped} {marks}"


def _names(piece: Piece) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for mark in find_marks(piece.text) for name in mark.names))


def _numbered(reply: str) -> dict[int, str]:
    """Line number -> text, of a reply that keeps to the form; lines without a number go on with the one before."""
    lines: dict[int, str] = {}
    current = 0
    for line in reply.splitlines():
        if (match := _NUMBERED.match(line)) and int(match[1]) > current:
            current = int(match[1])
            lines[current] = match[2]
        elif current and line.strip():
            lines[current] += "\n" + line
    return lines


def _folded(text: str) -> str:
    return re.sub(r"\W+", "", text.casefold())


def _alike(one: Checked, other: Checked) -> bool:
    first, second = _grams(one.piece.text), _grams(other.piece.text)
    return len(first & second) >= _SAME * min(len(first), len(second))


def _grams(text: str) -> set[str]:
    folded = _folded(without_marks(text))
    return {folded[i : i + 4] for i in range(max(1, len(folded) - 3))}
