"""Tables of every format as Markdown pipe tables, split so that each part carries the header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from knowledge.documents.characters import clean, is_chinese

PART_CHARACTERS = {"zh": 500, "en": 1_000}
"""Longest part of a table; below the chunk limits, so that a part is never cut."""

WINDOW = 1_000
"""Rows that are looked at together; decides which blank columns are left out."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A cell that continues the one above it; shown blank, and filled where a part begins."""

    text: str


Row = Sequence[str | Merged]


def cell_text(text: str) -> str:
    """A cell on one line, its pipes escaped."""
    if text.isprintable() and "|" not in text and "  " not in text:
        return text.strip()
    return " ".join(clean(text).split()).replace("\\|", "|").replace("|", "\\|")


def pipe_row(cells: Sequence[str]) -> str:
    """One line of a pipe table."""
    return "| " + " | ".join(cells) + " |"


def render_table(rows: Iterable[Row], header_rows: int = 1) -> Iterator[tuple[Literal["table", "paragraph"], str]]:
    """Render rows, the first ones as header, as parts of at most PART_CHARACTERS.

    Blank rows and columns are left out; header rows become one line. A row that fits in no part becomes a paragraph of
    `header: value` lines, as does a table of one column. Memory is bounded by WINDOW rows.
    """
    lines = iter(rows)
    top: list[Row] = []
    for row in lines:
        if any(cell_text(_plain(cell)) for cell in row):
            top.append(row)
        if len(top) >= header_rows:
            break
    header = _one_line(top)
    first = True
    while True:
        window = [[_on_one_line(cell) for cell in row] for row in islice(lines, WINDOW)]
        if not window and not first:
            return
        yield from _render_window(header, [row for row in window if any(_shown(cell) for cell in row)], alone=first)
        first = False


def _render_window(
    header: Sequence[str], rows: Sequence[Row], alone: bool
) -> Iterator[tuple[Literal["table", "paragraph"], str]]:
    width = max([len(header), *(len(row) for row in rows)])
    names = [*header, *[""] * (width - len(header))]
    filled = {i for row in rows for i, cell in enumerate(row) if _shown(cell)}
    used = [i for i in range(width) if names[i] or i in filled]
    names = [names[i] for i in used]
    grid: list[list[str | Merged]] = [[row[i] if i < len(row) else "" for i in used] for row in rows]
    if len(used) <= 1:
        column = [*(names if alone else []), *(_plain(row[0]) for row in grid)]
        yield from (("paragraph", text) for text in column if text)
        return
    head = pipe_row(names) + "\n" + pipe_row(["---"] * len(names))
    sample = " ".join([*names, *(_plain(cell) for row in grid[:50] for cell in row)])
    limit = PART_CHARACTERS["zh" if is_chinese(sample) else "en"]
    if not grid and alone:
        yield ("table", head) if len(head) <= limit else ("paragraph", " ".join(name for name in names if name))
        return
    lines: list[str] = []
    size = len(head)
    for row in grid:
        line = pipe_row([_shown(cell) for cell in row])
        if lines and size + len(line) + 1 > limit:
            yield "table", "\n".join([head, *lines])
            lines, size = [], len(head)
        if not lines:
            line = pipe_row([_plain(cell) for cell in row])
        if size + len(line) + 1 > limit:
            named = zip(names, [_plain(cell) for cell in row], strict=True)
            yield "paragraph", "\n".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)
            continue
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield "table", "\n".join([head, *lines])


def _one_line(header_rows: Sequence[Row]) -> list[str]:
    """Header rows joined column by column; what is merged is said once."""
    width = max((len(row) for row in header_rows), default=0)
    columns = [[cell_text(_shown(row[i])) for row in header_rows if i < len(row)] for i in range(width)]
    return [" ".join(dict.fromkeys(part for part in column if part)) for column in columns]


def _on_one_line(cell: str | Merged) -> str | Merged:
    return cell_text(cell) if isinstance(cell, str) else Merged(cell_text(cell.text))


def _shown(cell: str | Merged) -> str:
    return cell if isinstance(cell, str) else ""


def _plain(cell: str | Merged) -> str:
    return cell if isinstance(cell, str) else cell.text
