"""Tables of every format as Markdown pipe tables, split so that each part carries the header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from knowledge.documents.characters import clean, is_chinese

PART_CHARACTERS = {"zh": 500, "en": 1_000}
"""Longest part of a table; below the chunk limits, so that a part is never cut."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A cell that continues the one above it; shown blank, and filled where a part begins."""

    text: str


Row = Sequence[str | Merged]


def cell_text(text: str) -> str:
    """A cell on one line, its pipes escaped."""
    return " ".join(clean(text).split()).replace("\\|", "|").replace("|", "\\|")


def pipe_row(cells: Sequence[str]) -> str:
    """One line of a pipe table."""
    return "| " + " | ".join(cells) + " |"


def render_table(rows: Sequence[Row]) -> Iterator[tuple[Literal["table", "paragraph"], str]]:
    """Render rows, the first as header, as parts of at most PART_CHARACTERS.

    Blank rows and columns are left out. A row that fits in no part becomes a paragraph of `header: value` lines.
    """
    grid = _tidy(rows)
    if not grid:
        return
    if len(grid[0]) == 1:
        for row in grid:
            yield "paragraph", _plain(row[0])
        return
    header = [_plain(cell) for cell in grid[0]]
    head = pipe_row(header) + "\n" + pipe_row(["---"] * len(header))
    sample = " ".join(_plain(cell) for row in grid[:50] for cell in row)
    limit = PART_CHARACTERS["zh" if is_chinese(sample) else "en"]
    lines: list[str] = []
    size = len(head)
    if len(grid) == 1:
        yield ("table", head) if size <= limit else ("paragraph", " ".join(cell for cell in header if cell))
        return
    for row in grid[1:]:
        line = pipe_row([cell if isinstance(cell, str) else "" for cell in row])
        if lines and size + len(line) + 1 > limit:
            yield "table", "\n".join([head, *lines])
            lines, size = [], len(head)
        if not lines:
            line = pipe_row([_plain(cell) for cell in row])
        if size + len(line) + 1 > limit:
            yield "paragraph", _as_statements(header, [_plain(cell) for cell in row])
            continue
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield "table", "\n".join([head, *lines])


def _plain(cell: str | Merged) -> str:
    return cell if isinstance(cell, str) else cell.text


def _as_statements(header: Sequence[str], cells: Sequence[str]) -> str:
    named = [f"{name}: {cell}" if name else cell for name, cell in zip(header, cells, strict=True) if cell]
    return "\n".join(named)


def _tidy(rows: Sequence[Row]) -> list[list[str | Merged]]:
    """Cells on one line, rows of equal length, blank rows and columns left out."""
    width = max((len(row) for row in rows), default=0)
    grid: list[list[str | Merged]] = []
    for row in rows:
        cells: list[str | Merged] = [
            cell_text(cell) if isinstance(cell, str) else Merged(cell_text(cell.text)) for cell in row
        ]
        if any(isinstance(cell, str) and cell for cell in cells):
            grid.append(cells + [""] * (width - len(cells)))
    used = [i for i in range(width) if any(isinstance(row[i], str) and row[i] for row in grid)]
    return [[row[i] for i in used] for row in grid] if len(used) < width else grid
