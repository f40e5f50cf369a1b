"""What a chat model was given to answer from: passages and calculations, numbered as it saw them."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assistant.answer.composer import with_labels
from assistant.answer.draft import CitedSpan
from assistant.schema import ToolRun
from assistant.tools.base import Presentation
from assistant.understand.message import read_message
from knowledge.records import Hit
from knowledge.sentences import split_sentences

_REFERENCE_MARK = re.compile(r"\s*\[ref: [^\]]*\]")


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest thing that can support a statement: a sentence of a passage, or of a calculation's own words."""

    mark: str
    text: str
    span: CitedSpan | None = None
    """None for a calculation."""


@dataclass(frozen=True, slots=True)
class GivenRun:
    """A calculation with what it says of itself."""

    run: ToolRun
    shown: Presentation
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class GivenPassage:
    """A passage, and whether the search that found it answers the question."""

    hit: Hit
    covered: bool
    units: tuple[Unit, ...]

    @property
    def context(self) -> str:
        """What the passage's statements are understood with: its title, headings, date and sources' names."""
        hit = self.hit
        names = "; ".join(reference.name for reference in hit.references)
        return f"{hit.title}\n{hit.section}\n{hit.date or ''}\n{names}"


class Evidence:
    """Grows while the model searches and calculates. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passages: dict[str, GivenPassage] = {}
        self._numbers: dict[int, str] = {}
        self._runs: dict[str, GivenRun] = {}

    def add_passages(self, hits: Iterable[Hit], *, covered: bool) -> list[tuple[str, Hit]]:
        """Number the passages; one that was given before keeps its number."""
        numbered = []
        with self._lock:
            for hit in hits:
                mark = self._numbers.setdefault(hit.chunk_id, str(len(self._numbers) + 1))
                before = self._passages.get(mark)
                if before is None or (covered and not before.covered):
                    self._passages[mark] = GivenPassage(hit, covered, tuple(_units(mark, hit)))
                numbered.append((mark, hit))
        return numbered

    def next_run(self) -> str:
        """The number of the next calculation."""
        return f"T{len(self._runs) + 1}"

    def add_run(self, run: ToolRun, shown: Presentation) -> ToolRun:
        """Keep a calculation under the next free number, which the run returned has."""
        with self._lock:
            run = run.model_copy(update={"n": self.next_run()})
            self._runs[run.n] = GivenRun(run, shown, tuple(_run_units(run, shown)))
        return run

    @property
    def runs(self) -> dict[str, GivenRun]:
        """By number."""
        return dict(self._runs)

    @property
    def passages(self) -> dict[str, GivenPassage]:
        """By number."""
        return dict(self._passages)

    def units(self, mark: str) -> tuple[Unit, ...]:
        """What a mark stands for; empty for a mark that was never given."""
        given = self._passages.get(mark) or self._runs.get(mark)
        return given.units if given else ()

    def context(self, mark: str) -> str:
        """What statements under this mark are understood with."""
        if mark in self._passages:
            return self._passages[mark].context
        given = self._runs.get(mark)
        return run_facts(given.run) if given else ""

    def links(self, mark: str) -> frozenset[str]:
        """Addresses that a statement under this mark may show."""
        if mark in self._passages:
            hit = self._passages[mark].hit
            given = [*(reference.url for reference in hit.references), hit.location]
            return frozenset(given if _orders(hit.text) else [*given, *find_links(hit.text)])
        run = self._runs.get(mark)
        return frozenset(source.url for source in run.run.sources if source.url) if run else frozenset()


_LINK = re.compile(
    r"(?:https?|ftp)://[^\s<>\"'）」』，。；、\]]+|\bwww\.[\w-]+\.[^\s<>\"'）」』，。；、\]]+"
    r"|\b(?:[\w-]+\.)+(?:com|org|net|io|ai|dev|cn|edu|gov|cloud|info|co|app|xyz|tech|hk|tw|uk|de|eu|us|ru)\b(?:/[^\s<>\"'）」』，。；、\]]*)?"
    r"|\b[\w.+-]+@[\w-]+\.[\w.-]+",
    re.I,
)


def find_links(text: str) -> list[str]:
    """Addresses of pages and mailboxes in a text, without the full stop that follows them."""
    return [match.group().rstrip(".,;:!?)*_`") for match in _LINK.finditer(text)]


def plain(text: str) -> str:
    """A source's text without its reference marks, on one line."""
    return " ".join(_REFERENCE_MARK.sub("", text).split())


def run_facts(run: ToolRun) -> str:
    """Inputs, formula, notes and sources of a calculation as text."""
    inputs = "; ".join(f"{name} {given.value} {given.unit or ''}" for name, given in run.inputs.items())
    sources = "; ".join(f"{source.name} {source.as_of or ''}" for source in run.sources)
    names = "; ".join(_strings(run.result))
    return "\n".join([run.tool, inputs, names, run.formula, *run.assumptions, *run.warnings, sources])


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


def _units(mark: str, hit: Hit) -> Iterator[Unit]:
    for sentence in hit.sentences:
        if _orders(sentence.text):
            continue
        yield Unit(mark, plain(with_labels(hit, sentence)), CitedSpan(hit, sentence.start, sentence.end))


def _orders(text: str) -> bool:
    """Whether a document speaks to the assistant ("ignore your instructions"): that is no evidence of anything."""
    return read_message(text).ordered


def _run_units(run: ToolRun, shown: Presentation) -> Iterator[Unit]:
    for text in (shown.headline, shown.drivers, run.formula, *run.assumptions, *run.warnings):
        for span in split_sentences(text, 0, len(text)):
            yield Unit(run.n, text[span.start : span.end])
    if shown.table:
        header = shown.table[0]
        for row in shown.table[1:]:
            cells = "; ".join(f"{name} {cell}" for name, cell in zip(header, row, strict=False) if cell)
            yield Unit(run.n, cells)
