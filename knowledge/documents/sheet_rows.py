"""Rows of a sheet as a reader sees them: titles above a table, the table, notes below, tables apart by blank rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from knowledge.documents.builder import TextBuilder
from knowledge.documents.characters import is_blank

_NUMBER = re.compile(r"[^\w]{0,3}\d[\d,.\s]*(?:%|[^\W\d]{0,4})?")
_TITLES = 20
"""Single cells on top of a table that may be titles or notes."""


def write_rows(rows: Iterable[Sequence[str]], builder: TextBuilder, page: int | None = None) -> None:
    """Write rows as tables. A table after a gap that has no header of its own continues the one before."""
    header: Sequence[str] | None = None
    lines = iter(rows)
    while True:
        region = _Region(lines)
        top = list(region.titles())
        if not top and region.done:
            return
        for cells in top[:-1]:
            builder.paragraph(" ".join(cell.strip() for cell in cells if not is_blank(cell)), page)
        first = top[-1]
        filled = _filled(first)
        if len(filled) <= 1:
            builder.paragraph(" ".join(cell.strip() for cell in first if not is_blank(cell)), page)
            continue
        if header and _continues(header, first):
            builder.table(chain([header], [first], region.rest()), page)
        else:
            header = first
            builder.table(chain([first], region.rest()), page)
        if region.note:
            builder.paragraph(region.note, page)


class _Region:
    """Rows up to the next blank one, read as they are needed."""

    def __init__(self, lines: Iterator[Sequence[str]]) -> None:
        self._lines = lines
        self.done = False
        self.note = ""

    def titles(self) -> Iterator[Sequence[str]]:
        """Rows of one cell on top, then the first row with more; blank rows before them are skipped."""
        seen = 0
        for row in self._lines:
            filled = len(_filled(row))
            if not filled:
                if seen:
                    return
                continue
            seen += 1
            yield row
            if filled > 1 or seen >= _TITLES:
                return
        self.done = True

    def rest(self) -> Iterator[Sequence[str]]:
        """The rows below the first; a last row of one long cell is a note."""
        held: Sequence[str] | None = None
        for row in self._lines:
            filled = _filled(row)
            if not filled:
                break
            if held is not None:
                yield held
                held = None
            if filled == [0] and not _NUMBER.fullmatch(row[0].strip()) and len(row[0].strip()) > 12:
                held = row
            else:
                yield row
        if held is not None:
            self.note = held[0].strip()


def _filled(row: Sequence[str]) -> list[int]:
    return [i for i, cell in enumerate(row) if not is_blank(cell)]


def _continues(header: Sequence[str], row: Sequence[str]) -> bool:
    """A row with numbers under the header's columns is no header."""
    filled = _filled(row)
    inside = set(filled) <= set(_filled(header))
    return inside and any(_NUMBER.fullmatch(row[i].strip()) for i in filled)
