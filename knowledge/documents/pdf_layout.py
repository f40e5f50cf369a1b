"""Reading order of a page: columns one after the other, rows of a table together, the rest line by line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from knowledge.documents.pdf_page import Rule, Run

_GUTTER = 8.0
"""Points; the least white between two columns."""
_CROSSING = (0.0, 0.06, 0.12, 0.25)
"""Shares of the lines that may run across a gutter, such as titles and captions; the least that gives one is taken."""
_SIDE = 0.2
"""Share of the characters that a column holds at least."""
_DEEPEST = 4
_WORD = re.compile(r"[A-Za-z]+|[\u3400-\u9fff]")
_FEW_WORDS = 4
_MARKER = re.compile(r"[-–•●○▪■◆►‣·*]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|\d{1,2}|[①-⑳]|[（(]\d{1,2}[）)]|\d{1,2}、")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of running text."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    bold: bool
    right: float
    """Where the column of this line ends."""

    @property
    def size(self) -> float:
        """Height of the letters."""
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of a table, row by row, the first row on top."""

    rows: tuple[tuple[str, ...], ...]
    columns: tuple[tuple[float, float], ...]
    """Left and right edge of each column."""


Flow = list[Line | Table]


def reading_order(runs: Sequence[Run], rules: Sequence[Rule]) -> list[Flow]:
    """Columns of the page in the order they are read, each a sequence of lines and tables."""
    return [_flow(column, rules) for column in _columns(list(runs), rules, 0) if column]


def _columns(runs: list[Run], rules: Sequence[Rule], depth: int) -> list[list[Run]]:
    gutter = _gutter(runs, rules) if depth < _DEEPEST and len(runs) >= 4 else None
    if gutter is None:
        return [runs]
    across = sorted((run for run in runs if run.x0 < gutter < run.x1), key=lambda run: -run.middle)
    columns: list[list[Run]] = []
    rest = [run for run in runs if not run.x0 < gutter < run.x1]
    spanning: list[Run] = []
    for i, line in enumerate([*across, None]):
        if line is not None:
            above = [run for run in rest if run.middle > line.middle]
            rest = [run for run in rest if run.middle <= line.middle]
        else:
            above, rest = rest, []
        left = [run for run in above if run.x1 <= gutter]
        right = [run for run in above if run.x0 >= gutter]
        if left and right:
            if spanning:
                columns.append(spanning)
                spanning = []
            columns.extend(_columns(left, rules, depth + 1))
            columns.extend(_columns(right, rules, depth + 1))
        else:
            spanning.extend(above)
        if line is not None:
            spanning.append(line)
        del i
    if spanning:
        columns.append(spanning)
    return columns


def _gutter(runs: list[Run], rules: Sequence[Rule]) -> float | None:
    """The middle of the white between two columns of running text; None if there is one column or a table."""
    left, right = min(run.x0 for run in runs), max(run.x1 for run in runs)
    size = median(run.size for run in runs)
    rows = _rows(runs)
    width = right - left
    total = sum(len(run.text) for run in runs)
    for crossing in _CROSSING:
        best: tuple[float, float] | None = None
        for start, end in _white(runs, left + 0.15 * width, right - 0.15 * width, crossing * len(rows)):
            if end - start < max(_GUTTER, 0.7 * size):
                continue
            at = (start + end) / 2
            on_left = [run for run in runs if run.x1 <= at]
            on_right = [run for run in runs if run.x0 >= at]
            share = min(sum(len(run.text) for run in side) for side in (on_left, on_right)) / total
            if share < _SIDE or min(len(on_left), len(on_right)) < 2:
                continue
            if (best is None or end - start > best[0]) and _is_prose(on_left, on_right, rules):
                best = end - start, at
        if best:
            return best[1]
    return None


def _white(runs: Sequence[Run], left: float, right: float, crossing: float) -> list[tuple[float, float]]:
    """Stretches between `left` and `right` that at most `crossing` runs cover."""
    changes = sorted([(run.x0, 1) for run in runs] + [(run.x1, -1) for run in runs])
    found: list[tuple[float, float]] = []
    covered = 0
    begin: float | None = left
    for x, change in changes:
        covered += change
        if covered > crossing:
            if begin is not None and x > begin and min(x, right) > max(begin, left):
                found.append((max(begin, left), min(x, right)))
            begin = None
        elif begin is None:
            begin = x
    if begin is not None and right > begin:
        found.append((max(begin, left), right))
    return found


def _is_prose(left: Sequence[Run], right: Sequence[Run], rules: Sequence[Rule]) -> bool:
    """Whether two sides are columns of running text rather than of a table."""
    rows = _rows([*left, *right])
    in_table = sum(1 for row in rows if len(row) > 1)
    ruled = sum(1 for rule in rules if any(rule.x0 < run.x1 and rule.x1 > run.x0 for run in left)
                and any(rule.x0 < run.x1 and rule.x1 > run.x0 for run in right))  # fmt: skip
    if ruled >= 3 and ruled >= 0.3 * len(rows):
        return False
    if in_table < 0.4 * len(rows):
        return True
    sides = (left, right)
    return all(median(len(_WORD.findall(run.text)) for run in side) >= _FEW_WORDS for side in sides) and all(
        _one_column(side) for side in sides
    )


def _one_column(side: Sequence[Run]) -> bool:
    """Most rows of a side are one run, or it has columns of running text itself."""
    rows = _rows(side)
    return sum(1 for row in rows if len(row) == 1) >= 0.6 * len(rows) or all(
        len(_WORD.findall(run.text)) >= _FEW_WORDS for row in rows for run in row
    )


def _rows(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs on the same height, from top to bottom, each row from left to right."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: (-run.middle, run.x0)):
        if rows and abs(rows[-1][0].middle - run.middle) < 0.45 * min(run.size, rows[-1][0].size):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.x0) for row in rows]


def _flow(runs: list[Run], rules: Sequence[Rule]) -> Flow:
    rows = [_with_marker(row) for row in _rows(runs)]
    right = max(run.x1 for run in runs)
    flow: Flow = []
    i = 0
    while i < len(rows):
        end = _table_end(rows, i, rules)
        if end - i >= 2 and (table := _table(rows[i:end], rules)):
            flow.append(table)
            i = end
            continue
        if _stands_alone(rows, i) and _may_be_cells(rows[i]):
            edges = tuple((run.x0, run.x1) for run in rows[i])
            flow.append(Table((tuple(run.text for run in rows[i]),), edges))
            i += 1
            continue
        flow.append(_line(rows[i], right))
        i += 1
    return flow


def _stands_alone(rows: Sequence[Sequence[Run]], i: int) -> bool:
    """Whether nothing, or only a page's header or footer, is above or below a row."""
    far = 3 * rows[i][0].size
    above = i == 0 or rows[i - 1][0].y0 - rows[i][0].y1 > far
    return above or i == len(rows) - 1 or rows[i][0].y0 - rows[i + 1][0].y1 > far


def _may_be_cells(row: Sequence[Run]) -> bool:
    """Whether a first or last row of a column may belong to a table that a page break cuts."""
    return len(row) > 1 and all(len(_WORD.findall(run.text)) <= 2 * _FEW_WORDS for run in row)


def _with_marker(row: list[Run]) -> list[Run]:
    """A list's sign or number, which stands apart, together with the text of its item."""
    if len(row) != 2 or not _MARKER.fullmatch(row[0].text) or row[1].x0 - row[0].x1 > 4 * row[1].size:
        return row
    marker, text = row
    if marker.text.isdigit():
        if len(_WORD.findall(text.text)) < _FEW_WORDS:
            return row
        return [replace(text, text=f"{marker.text}. {text.text}", x0=marker.x0)]
    return [replace(text, text=f"{marker.text} {text.text}", x0=marker.x0)]


def _line(row: Sequence[Run], right: float) -> Line:
    text = row[0].text
    for before, run in pairwise(row):
        text += (" " if run.x0 - before.x1 > 0.15 * run.size else "") + run.text
    main = max(row, key=lambda run: len(run.text))
    return Line(text, row[0].x0, row[-1].x1, main.y0, main.y1, all(run.bold for run in row), right)


def _table_end(rows: Sequence[Sequence[Run]], start: int, rules: Sequence[Rule]) -> int:
    """The row after the last of a table that begins at `start`: rows of several cells, and wrapped lines of cells."""
    if len(rows[start]) < 2:
        return start
    end = start + 1
    while end < len(rows):
        row, above = rows[end], rows[end - 1]
        gap = above[0].y0 - row[0].y1
        if gap > 2.5 * row[0].size:
            break
        if len(row) < 2 and not _is_wrapped_cell(rows, start, end, rules):
            break
        end += 1
    while end > start and len(rows[end - 1]) < 2 and not rules:
        end -= 1
    return end


def _is_wrapped_cell(rows: Sequence[Sequence[Run]], start: int, at: int, rules: Sequence[Rule]) -> bool:
    """A lone run that stays inside one column of the table above and isn't a paragraph below it."""
    run = rows[at][0]
    columns = _column_edges(rows[start:at])
    inside = [(x0, x1) for x0, x1 in columns if run.x0 >= x0 - 2 and run.x1 <= x1 + 2]
    if not inside:
        return False
    if inside[0] != columns[0]:
        return True
    return any(rule.y < run.y0 and run.y0 - rule.y < 3 * run.size and rule.x1 > columns[-1][0] for rule in rules)


def _column_edges(rows: Sequence[Sequence[Run]]) -> list[tuple[float, float]]:
    """Left and right edges of the columns, from the rows with the usual number of cells; none if they don't line up."""
    counts = Counter(len(row) for row in rows if len(row) > 1)
    if not counts:
        return []
    usual = max(counts, key=lambda count: (counts[count] * count, count))
    edges: list[tuple[float, float]] = []
    for run in sorted((run for row in rows if len(row) == usual for run in row), key=lambda run: run.x0):
        if edges and run.x0 <= edges[-1][1] + 1:
            edges[-1] = (edges[-1][0], max(edges[-1][1], run.x1))
        else:
            edges.append((run.x0, run.x1))
    return edges


def _table(rows: Sequence[Sequence[Run]], rules: Sequence[Rule]) -> Table | None:
    columns = _column_edges(rows)
    if len(columns) < 2:
        return None
    grid: list[list[list[str]]] = []
    previous: Sequence[Run] | None = None
    for row in rows:
        if not (previous is not None and _same_row(previous, row, columns, rules)):
            grid.append([[] for _ in columns])
        for run in row:
            grid[-1][_column_of(run, columns)].append(run.text)
        previous = row
    if len(grid) < 2:
        return None
    cells = tuple(tuple(" ".join(cell) for cell in row) for row in grid)
    return Table(cells, tuple(columns))


def _column_of(run: Run, columns: Sequence[tuple[float, float]]) -> int:
    """The column that a run overlaps; of several the first, as a merged cell is said once; else the nearest."""
    overlaps = [i for i, (x0, x1) in enumerate(columns) if min(run.x1, x1) > max(run.x0, x0)]
    if overlaps:
        return overlaps[0]
    return min(range(len(columns)), key=lambda i: min(abs(columns[i][0] - run.x1), abs(run.x0 - columns[i][1])))


def _same_row(
    above: Sequence[Run], row: Sequence[Run], columns: Sequence[tuple[float, float]], rules: Sequence[Rule]
) -> bool:
    """Whether a line continues the cells of the line above."""
    between = [
        rule
        for rule in rules
        if row[0].middle < rule.y < above[0].middle and rule.x1 > columns[0][0] and rule.x0 < columns[-1][1]
    ]
    if between:
        return False
    across = [rule for rule in rules if rule.x1 > columns[0][0] and rule.x0 < columns[-1][1]]
    ruled = len([rule for rule in across if columns[0][0] <= rule.x1]) >= 4
    first_is_blank = row[0].x0 > columns[0][1]
    return ruled or (first_is_blank and len(row) < len(columns))
