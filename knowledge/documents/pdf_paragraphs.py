"""Lines of a PDF as headings, paragraphs, list items and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from knowledge.documents.builder import TextBuilder
from knowledge.documents.pdf_layout import Flow, Line, Table
from knowledge.documents.plain import BULLET, NUMBER

LARGER = 1.1
"""Times the size of running text, from which a line is a heading."""
_MAX_LEVELS = 4
_TERMINAL = re.compile(r"[.。!！?？:：;；]['\"”’」』）)\]]*$")
_WIDE = "\u2e80-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_WIDE_END = re.compile(f"[{_WIDE}]$")
_WIDE_START = re.compile(f"^[{_WIDE}]")
_SPACED = re.compile(f"[{_WIDE}] [A-Za-z0-9]|[A-Za-z0-9] [{_WIDE}]")
_UNSPACED = re.compile("[\u3400-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u3400-\u9fff]")
_LONGEST_HEADING = 150


def write_flows(flows: Sequence[tuple[int, Flow]], builder: TextBuilder) -> str:
    """Write the columns of all pages, each with its page number; returns the title, empty if none stands out."""
    lines = [item for _, flow in flows for item in flow if isinstance(item, Line)]
    if not lines and not any(flow for _, flow in flows):
        return ""
    writer = _Writer(lines, builder)
    for page, flow in flows:
        writer.write(flow, page)
    writer.end()
    return writer.title


class _Writer:
    def __init__(self, lines: Sequence[Line], builder: TextBuilder) -> None:
        self.title = ""
        self._builder = builder
        self._body = body_size(lines)
        self._levels = _levels(lines, self._body)
        text = "\n".join(line.text for line in lines[:5_000])
        self._spaced = len(_SPACED.findall(text)) > len(_UNSPACED.findall(text))
        self._text = ""
        self._marker = ""
        self._depth_edges: list[float] = []
        self._page = 0
        self._open: Line | None = None
        self._table: tuple[int, list[tuple[str, ...]], Table] | None = None

    def write(self, flow: Flow, page: int) -> None:
        pitch = _pitch(flow)
        margin = min((item.x0 for item in flow if isinstance(item, Line)), default=0.0)
        previous: Line | None = None
        for i, item in enumerate(flow):
            if isinstance(item, Table):
                self._end_paragraph()
                self._add_table(item, page, begins_page=i == 0)
                previous = None
                continue
            self._end_table()
            level = self._level(item, flow, i)
            if level:
                if previous is not None and self._heading_goes_on(item, previous, level):
                    self._text = self._join(self._text, item.text)
                else:
                    self._end_paragraph()
                    self._text, self._page, self._heading = item.text, page, level
                previous = item
                self._open = None
                continue
            if self._heading:
                self._end_paragraph()
            begins = self._begins(item, previous, pitch, margin)
            if begins:
                self._end_paragraph()
                marker = BULLET.match(item.text) or NUMBER.match(item.text)
                self._marker = marker[0].strip() if marker else ""
                self._text = item.text[marker.end() :] if marker else item.text
                self._page = page
            else:
                self._text = self._join(self._text, item.text)
            self._open = previous = item

    def end(self) -> None:
        self._end_paragraph()
        self._end_table()

    _heading = 0

    def _begins(self, line: Line, previous: Line | None, pitch: float, margin: float) -> bool:
        """Whether a line begins a paragraph or a list item."""
        if not self._text or BULLET.match(line.text) or NUMBER.match(line.text):
            return True
        if previous is None:
            before = self._open
            if before is None or _TERMINAL.search(before.text):
                return True
            return line.x0 > margin + 1.2 * line.size or abs(line.size - before.size) > 0.15 * line.size
        gap = previous.y0 - line.y0
        if gap > 1.3 * pitch * line.size or gap < 0 or abs(line.size - previous.size) > 0.15 * line.size:
            return True
        if self._marker:
            return line.x0 < previous.x0 - 1.0 and _TERMINAL.search(previous.text) is not None
        if line.x0 > previous.x0 + line.size and _TERMINAL.search(previous.text):
            return True
        short = previous.x1 < previous.right - 0.25 * (previous.right - margin)
        return short and _TERMINAL.search(previous.text) is not None

    def _level(self, line: Line, flow: Flow, i: int) -> int:
        """Heading level by size or weight, 0 for text."""
        if len(line.text) > _LONGEST_HEADING or not any(c.isalpha() for c in line.text):
            return 0
        if line.size >= LARGER * self._body:
            return self._levels.get(round(line.size), _MAX_LEVELS)
        if not line.bold or len(line.text) > 80 or BULLET.match(line.text) or re.search(r"[.。,，;；]$", line.text):
            return 0
        following = flow[i + 1] if i + 1 < len(flow) else None
        if isinstance(following, Line) and following.bold:
            return 0
        return len(set(self._levels.values())) + 1 if self._levels else 2

    def _heading_goes_on(self, line: Line, previous: Line, level: int) -> bool:
        close = previous.y0 - line.y1 < 0.8 * line.size
        full = previous.x1 - previous.x0 > 0.6 * (previous.right - min(previous.x0, line.x0))
        same = self._heading == level and abs(previous.size - line.size) < 1
        return same and close and full and not _TERMINAL.search(previous.text)

    def _join(self, before: str, after: str) -> str:
        """One line after the other as one text."""
        if not before:
            return after
        hyphen = re.search(r"([A-Za-z-]+)-$", before)
        if hyphen and after[:1].islower():
            return before + after if "-" in hyphen[1] else before[:-1] + after
        ends_wide, starts_wide = _WIDE_END.search(before), _WIDE_START.match(after)
        if ends_wide and starts_wide:
            return before + after
        if ends_wide or starts_wide:
            return before + (" " if self._spaced and before[-1].isalnum() and after[:1].isalnum() else "") + after
        if before.endswith(("/", "-")) and re.search(r"\S*(?:://|\w-)\S*$", before):
            return before + after
        return before + " " + after

    def _end_paragraph(self) -> None:
        text = self._text.strip()
        if text and self._heading:
            if self._heading == 1 and not self.title:
                self.title = text
            self._builder.heading(text, self._heading, self._page)
        elif text and self._marker:
            marker = self._marker if self._marker[0].isalnum() or self._marker[0] in "(（①②③④⑤⑥⑦⑧⑨⑩" else "-"
            self._builder.list_item(text, marker=marker, page=self._page)
        elif text:
            self._builder.paragraph(text, self._page)
        self._text, self._marker, self._heading, self._open = "", "", 0, None

    def _add_table(self, table: Table, page: int, begins_page: bool) -> None:
        """A table on top of a page goes on with the one that ended the page before, if the columns line up."""
        if self._table and self._table[1][0] == table.rows[0]:
            self._table[1].extend(table.rows[1:])
        elif self._table and begins_page and _line_up(self._table[2], table):
            self._table[1].extend(table.rows)
        else:
            self._end_table()
            self._table = page, list(table.rows), table

    def _end_table(self) -> None:
        if not self._table:
            return
        page, rows, _ = self._table
        self._table = None
        if len(rows) > 1:
            self._builder.table(rows, page)
        else:
            self._builder.paragraph(" ".join(cell for cell in rows[0] if cell), page)


def _line_up(one: Table, other: Table) -> bool:
    if len(one.columns) != len(other.columns):
        return False
    return all(min(a[1], b[1]) > max(a[0], b[0]) for a, b in zip(one.columns, other.columns, strict=True))


def body_size(lines: Sequence[Line]) -> float:
    """The size that most text is set in."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 12.0


def _levels(lines: Sequence[Line], body: float) -> dict[int, int]:
    """Heading level by rounded size, the largest first."""
    sizes = {round(line.size) for line in lines if line.size >= LARGER * body and len(line.text) <= _LONGEST_HEADING}
    return {size: min(i, _MAX_LEVELS) for i, size in enumerate(sorted(sizes, reverse=True), 1)}


def _pitch(flow: Flow) -> float:
    """Usual distance of a line from the one before, in heights of its letters."""
    lines = [item for item in flow if isinstance(item, Line)]
    gaps = sorted((above.y0 - line.y0) / max(line.size, 1.0) for above, line in pairwise(lines))
    within = [gap for gap in gaps if 0.5 < gap < 3]
    return within[len(within) // 4] if within else 1.2
