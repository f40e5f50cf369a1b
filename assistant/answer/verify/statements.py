"""Decides of each piece that a chat model wrote whether it may be shown, and what exactly it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assistant.answer.draft import CitedSpan
from assistant.answer.verify.amounts import near_numbers, strange_amounts, support_of
from assistant.answer.verify.closeness import Closeness, language_of, shared_words
from assistant.answer.verify.evidence import Evidence, Unit, find_links
from assistant.answer.verify.framing import MAX_HEADING, is_framing
from assistant.answer.verify.marks import find_marks, without_code, without_marks
from assistant.answer.verify.pieces import Piece
from assistant.answer.verify.wording import objections, strange_names
from assistant.schema import Language, ToolRun
from knowledge.lexical import terms

Reason = Literal[
    "no mark", "unknown mark", "not covered", "not supported", "number", "link", "objection", "language", "markup",
    "code", "cut off",
]  # fmt: skip
Source = CitedSpan | str
"""A span of a passage, or the number of a calculation."""

WORDS_BAR = 0.8
"""Share of a statement's words that its sentences must hold to support it without the encoder."""
ATTRIBUTION_BAR = 0.86
"""The same for a statement without a mark: it has to be nearly a quotation to be given one."""
ROW_BAR = 0.4
CODE_BAR = 0.8
_SAME_CHARACTERS = 4
_TAG = re.compile(r"<(?!\d|=|\s|-)/?[A-Za-z!][^<>\n]*>?")
_IMAGE = re.compile(r"!\[[^\]]*\]\s*[(\[]")
_TITLED_LINK = re.compile(r"\[([^\]\n]{0,200})\]\(([^)\n]{0,400})\)")
_QUOTED = re.compile(r"「[^」]*」|“[^”]*”|\"[^\"]*\"|`[^`]*`")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a piece may not be shown."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a piece with what it rests on, in the order of the marks."""

    text: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """A piece after the check."""

    piece: Piece
    segments: tuple[Segment, ...]
    problem: Problem | None = None

    @property
    def frames(self) -> bool:
        """Whether it is allowed and states nothing."""
        return self.problem is None and not any(segment.sources for segment in self.segments)


class Checker:
    """Checks the pieces of one answer against what the model was given."""

    def __init__(self, evidence: Evidence, closeness: Closeness, question: str, language: Language) -> None:
        self._evidence = evidence
        self._closeness = closeness
        self._question = question
        self._language = language

    def check(self, piece: Piece, marks: Sequence[str] = ()) -> Checked:
        """Check one piece; `marks` are those of a later piece that stand for this one too."""
        if problem := self._form(piece):
            return Checked(piece, (), problem)
        if piece.kind == "table":
            return self._table(piece, marks)
        if piece.kind == "code":
            return self._code(piece)
        if piece.kind == "heading":
            return self._heading(piece)
        segments = _segments(piece.text, marks)
        if not any(names for _, names in segments):
            return self._unmarked(piece)
        if piece.cut and not find_marks(piece.text):
            return Checked(piece, (), Problem("cut off"))
        return self._sentence(piece, segments)

    def _form(self, piece: Piece) -> Problem | None:
        """Faults that can be seen without looking at the sources."""
        text = piece.text if piece.kind != "code" else ""
        if _IMAGE.search(text):
            return Problem("link", "images are not allowed")
        if tag := _TAG.search(without_code(text)):
            return Problem("markup", tag.group())
        if piece.kind in ("sentence", "heading") and not self._in_language(text):
            return Problem("language")
        return None

    def _in_language(self, text: str) -> bool:
        prose = _QUOTED.sub(" ", without_marks(text))
        han, words = len(re.findall(r"[\u4e00-\u9fff]", prose)), len(re.findall(r"[A-Za-z]{2,}", prose))
        if self._language == "zh":
            return han > 0 or words < 6
        return han <= 2 * words

    def _sentence(self, piece: Piece, segments: Sequence[tuple[str, tuple[str, ...]]]) -> Checked:
        done: list[Segment] = []
        before: tuple[str, ...] = ()
        for text, names in segments:
            sources, problem = self.judge(text, names)
            if problem is not None and before and problem.reason != "unknown mark":
                sources, problem = self.judge(text, tuple(dict.fromkeys((*names, *before))))
                sources = tuple(s for s in sources if _mark_of(s, self._evidence) in names) or sources
            if problem is not None:
                return Checked(piece, (), problem)
            done.append(Segment(text, sources))
            before += names
        return Checked(piece, tuple(done))

    def judge(self, text: str, marks: Sequence[str]) -> tuple[tuple[Source, ...], Problem | None]:
        """What of the marked sources supports a statement, or why nothing does."""
        statement = _statement(text)
        known = [mark for mark in marks if self._evidence.units(mark)]
        if not known:
            return (), Problem("unknown mark", ", ".join(marks))
        passages = self._evidence.passages
        if uncovered := [mark for mark in known if mark in passages and not passages[mark].covered]:
            if len(uncovered) == len(known):
                return (), Problem("not covered", ", ".join(uncovered))
            known = [mark for mark in known if mark not in uncovered]
        allowed = {link for mark in known for link in self._evidence.links(mark)}
        if link := next((link for link in find_links(text) if not _allowed(link, allowed)), None):
            return (), Problem("link", link)
        units = [unit for mark in known for unit in self._evidence.units(mark)]
        runs = [self._evidence.runs[mark].run for mark in known if mark in self._evidence.runs]
        aligned, near = self._aligned(statement, units, with_runs=bool(runs))
        context = "\n".join(self._evidence.context(mark) for mark in known)
        around = f"{self._question}\n{context}"
        strange = self._strange(statement, aligned, context, runs)
        if strange and (further := _holding(statement, units, aligned)):
            aligned = [*aligned, *further]
            strange = self._strange(statement, aligned, context, runs)
        if strange:
            return (), Problem("number", ", ".join(strange))
        if not near:
            return (), Problem("not supported")
        source = "\n".join(unit.text for unit in aligned)
        whole = "\n".join([around, *(unit.text for unit in units)])
        same = language_of(statement) == language_of(source)
        objection = next(objections(statement, source, whole, same_language=same), None)
        if objection:
            return (), Problem("objection", objection)
        return _sources(aligned, known), None

    def _strange(self, statement: str, aligned: Sequence[Unit], context: str, runs: Sequence[ToolRun]) -> list[str]:
        """Numbers that neither the sentences taken up nor the question have, nor a heading beside the same word."""
        support = support_of([*(unit.text for unit in aligned), self._question], runs)
        return near_numbers(strange_amounts(statement, support), statement, context)

    def _aligned(self, statement: str, units: Sequence[Unit], *, with_runs: bool) -> tuple[list[Unit], bool]:
        """The units that a statement takes up, and whether they support it."""
        texts = [unit.text for unit in units]
        places, share = shared_words(statement, texts)
        if share >= WORDS_BAR or (with_runs and share >= ROW_BAR):
            return [units[place] for place in places], True
        match = self._closeness.match(statement, texts)
        if match.strength >= 1.0:
            together = match.places if share < ROW_BAR else tuple(dict.fromkeys((*match.places, *places)))
            return [units[place] for place in together], True
        numbers = with_runs and bool(re.search(r"\d", statement))
        return [units[place] for place in (match.places or places)], numbers

    def _unmarked(self, piece: Piece) -> Checked:
        text = piece.text
        if is_framing(text, self._language) and self._harmless(text):
            return Checked(piece, (Segment(text),))
        if piece.cut:
            return Checked(piece, (), Problem("cut off"))
        return self.attribute(piece) or Checked(piece, (), Problem("no mark"))

    def attribute(self, piece: Piece) -> Checked | None:
        """A statement without a mark that nearly quotes something given gets the mark; None for any other."""
        statement = _statement(piece.text)
        if len(terms(statement)) < _SAME_CHARACTERS:
            return None
        marks = [*self._evidence.passages, *self._evidence.runs]
        shares = {
            mark: shared_words(statement, [unit.text for unit in self._evidence.units(mark)])[1] for mark in marks
        }
        best = max(shares, key=lambda mark: shares[mark], default=None)
        if best is None or shares[best] < ATTRIBUTION_BAR:
            return None
        sources, problem = self.judge(piece.text, [best])
        return None if problem else Checked(piece, (Segment(piece.text, sources),))

    def _harmless(self, text: str) -> bool:
        """Whether a framing sentence names and numbers only what the question or the sources have."""
        marks = [*self._evidence.passages, *self._evidence.runs]
        given = [self._question]
        for mark in marks:
            given += [self._evidence.context(mark), *(unit.text for unit in self._evidence.units(mark))]
        if find_links(text):
            return False
        runs = [given_run.run for given_run in self._evidence.runs.values()]
        known = "\n".join(given)
        return not strange_amounts(text, support_of(given, runs)) and not strange_names(text, known, known)

    def _heading(self, piece: Piece) -> Checked:
        text = without_marks(piece.text)
        if len(text) > MAX_HEADING or not self._harmless(text):
            return Checked(piece, (), Problem("no mark"))
        return Checked(replace(piece, text=text), (Segment(text),))

    def _table(self, piece: Piece, marks: Sequence[str]) -> Checked:
        """Rows are checked one by one; those that fail are left out, and a table without rows fails."""
        lines = [line.strip() for line in piece.text.split("\n") if line.strip()]
        header, rows = _table_rows(lines)
        labels = _cells(without_marks(header))
        everything = tuple(dict.fromkeys(name for line in lines for mark in find_marks(line) for name in mark.names))
        kept, sources, problem = [without_marks(header)], list[Source](), None
        for row in rows:
            if re.fullmatch(r"[|\s:-]+", row):
                kept.append(row)
                continue
            names = tuple(name for mark in find_marks(row) for name in mark.names) or tuple(marks) or everything
            found, fault = self._row(labels, _cells(without_marks(row)), names)
            if fault is None:
                kept.append(without_marks(row))
                sources += [source for source in found if source not in sources]
            else:
                problem = problem or fault
        shown = replace(piece, text="\n".join(kept))
        if not sources:
            return Checked(piece, (), problem or Problem("no mark"))
        return Checked(shown, (Segment(shown.text, tuple(sources)),), problem)

    def _row(
        self, labels: Sequence[str], cells: Sequence[str], names: Sequence[str]
    ) -> tuple[tuple[Source, ...], Problem | None]:
        if not names:
            return (), Problem("no mark")
        said = "; ".join(f"{label} {cell}" for label, cell in zip(labels, cells, strict=False) if cell) or " ".join(
            cells
        )
        known = [name for name in names if self._evidence.units(name)]
        if not known:
            return (), Problem("unknown mark", ", ".join(names))
        allowed = {link for mark in known for link in self._evidence.links(mark)}
        if link := next((link for link in find_links(said) if not _allowed(link, allowed)), None):
            return (), Problem("link", link)
        units = [unit for mark in known for unit in self._evidence.units(mark)]
        texts = [unit.text for unit in units]
        bare = "; ".join(cells)
        places, share = shared_words(bare, texts)
        runs = [self._evidence.runs[mark].run for mark in known if mark in self._evidence.runs]
        if share < ROW_BAR and not runs:
            match = self._closeness.match(said, texts)
            if match.strength < 1.0:
                return (), Problem("not supported")
            places = match.places
        aligned = [units[place] for place in places] or units[:1]
        context = "\n".join(self._evidence.context(mark) for mark in known)
        around = f"{self._question}\n{context}"
        if strange := self._strange(bare, aligned, context, runs):
            return (), Problem("number", ", ".join(strange))
        if unknown := strange_names(bare, "\n".join(unit.text for unit in aligned), around):
            return (), Problem("objection", "names that the source has not: " + ", ".join(unknown))
        return _sources(aligned, known), None

    def _code(self, piece: Piece) -> Checked:
        """A block of code or a formula must stand in a passage or a calculation."""
        lines = [_squeezed(line) for line in piece.text.split("\n")[1:]]
        wanted = [line for line in lines if line and not re.fullmatch(r"[`~]+", line)]
        if not wanted:
            return Checked(piece, (), Problem("code"))
        for mark in [*self._evidence.passages, *self._evidence.runs]:
            given = self._evidence.passages.get(mark)
            text = given.hit.text if given else self._evidence.context(mark)
            held = sum(line in _squeezed(text) for line in wanted)
            if held / len(wanted) >= CODE_BAR and (given is None or given.covered):
                if given is None:
                    held_by = self._evidence.units(mark)[:1]
                else:  # code is no sentence: the passage as a whole holds it
                    hit = given.hit
                    held_by = (Unit(mark, hit.text, CitedSpan(hit, hit.start, hit.end)),)
                return Checked(piece, (Segment(piece.text, _sources(held_by, [mark])),))
        return Checked(piece, (), Problem("code"))


def _segments(text: str, later: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """A sentence divided after its marks, each part with those behind it; `later` stand behind a whole without any."""
    marks = find_marks(text)
    if not marks:
        return [(text, tuple(later))]
    parts: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    for mark in marks:
        part = text[at : mark.start]
        if parts and not re.search(r"\w", part):
            before, names = parts[-1]
            parts[-1] = (before + part.rstrip(" "), tuple(dict.fromkeys((*names, *mark.names))))
        else:
            parts.append((part.rstrip(" "), mark.names))
        at = mark.end
    tail = text[at:]
    if not re.search(r"\w", parts[0][0]) and (len(parts) > 1 or re.search(r"\w", tail)):
        leading = parts.pop(0)[1]
        if not parts:
            return [(tail.lstrip(" "), leading)]
        parts[0] = (parts[0][0].lstrip(" "), tuple(dict.fromkeys((*leading, *parts[0][1]))))
    if len(re.sub(r"\W", "", tail)) >= _SAME_CHARACTERS:
        parts.append((tail, parts[-1][1]))
    elif tail:
        parts[-1] = (parts[-1][0] + tail, parts[-1][1])
    return _joined(parts)


def _joined(parts: Sequence[tuple[str, tuple[str, ...]]]) -> list[tuple[str, tuple[str, ...]]]:
    """Parts too short to be checked alone go with the one after, or the last with the one before."""
    joined: list[tuple[str, tuple[str, ...]]] = []
    carried, carried_names = "", tuple[str, ...]()
    for text, names in parts:
        text, names = carried + text, tuple(dict.fromkeys((*carried_names, *names)))
        if len(terms(text)) < 2:
            carried, carried_names = text, names
            continue
        joined.append((text, names))
        carried, carried_names = "", ()
    if carried and joined:
        joined[-1] = (joined[-1][0] + carried, tuple(dict.fromkeys((*joined[-1][1], *carried_names))))
    elif carried:
        joined.append((carried, carried_names))
    return joined


def _statement(text: str) -> str:
    """What is claimed: without marks, emphasis and the addresses of links."""
    plain = _TITLED_LINK.sub(lambda link: link[1], without_marks(text))
    return " ".join(re.sub(r"\*\*|__|`", "", plain).split()).strip(" -•>")


def _allowed(link: str, allowed: Iterable[str]) -> bool:
    bare = re.sub(r"^https?://(?:www\.)?", "", link.casefold()).rstrip("/")
    return any(bare == re.sub(r"^https?://(?:www\.)?", "", known.casefold()).rstrip("/") for known in allowed)


def _holding(statement: str, units: Sequence[Unit], aligned: Sequence[Unit]) -> list[Unit]:
    """Further sentences of the cited passages that hold a missing number and share words with the statement."""
    own = set(terms(statement))
    found = []
    for unit in units:
        if unit in aligned or len(own & set(terms(unit.text))) < max(2, 0.2 * len(own)):
            continue
        if len(strange_amounts(statement, support_of([unit.text]))) < len(strange_amounts(statement, support_of([""]))):
            found.append(unit)
    return found[:2]


def _sources(aligned: Sequence[Unit], marks: Sequence[str]) -> tuple[Source, ...]:
    """In the order of the marks; neighbouring sentences of a passage as one span."""
    sources: list[Source] = []
    for mark in marks:
        spans = sorted((unit.span for unit in aligned if unit.mark == mark and unit.span), key=lambda span: span.start)
        if mark.startswith("T"):
            if any(unit.mark == mark for unit in aligned) or len(marks) == 1:
                sources.append(mark)
            continue
        sources += _merged(spans)
    return tuple(dict.fromkeys(sources))


def _merged(spans: Sequence[CitedSpan]) -> Iterator[CitedSpan]:
    """Spans with nothing but white space and list markers between them become one."""
    current: CitedSpan | None = None
    for span in spans:
        if current is None:
            current = span
        elif not re.search(r"\w", current.hit.text[current.end - current.hit.start : span.start - current.hit.start]):
            current = CitedSpan(current.hit, current.start, max(current.end, span.end))
        else:
            yield current
            current = span
    if current is not None:
        yield current


def _mark_of(source: Source, evidence: Evidence) -> str:
    if isinstance(source, str):
        return source
    return next((mark for mark, given in evidence.passages.items() if given.hit.chunk_id == source.hit.chunk_id), "")


def _table_rows(lines: Sequence[str]) -> tuple[str, list[str]]:
    return lines[0], list(lines[1:])


def _cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
