"""CSV and TSV: one table, whatever the delimiter; lines above or below the table are paragraphs."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator

from knowledge.documents.builder import TextBuilder
from knowledge.documents.characters import clean
from knowledge.documents.draft import Draft
from knowledge.documents.sheet_rows import write_rows
from knowledge.limits import Limits

_DELIMITERS = (",", "\t", ";", "|", "，")
_SAMPLE_LINES = 200
_SAMPLE_CHARACTERS = 100_000


def read_csv(text: str, limits: Limits) -> Draft:
    """Read delimited text; quoted fields may hold delimiters and line ends."""
    body = clean(text)
    delimiter = _delimiter(body)
    builder = TextBuilder(limits)
    write_rows(_rows(body, delimiter), builder)
    content, blocks = builder.finish()
    return Draft(content, blocks)


def _rows(body: str, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(max(csv.field_size_limit(), len(body) + 1))
    lines = io.StringIO(body, newline="")
    first = body[:_SAMPLE_CHARACTERS].split("\n", 1)[0].strip().lower()
    if first.startswith("sep=") and len(first) == 5:
        lines.readline()
    yield from csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _delimiter(body: str) -> str:
    """The delimiter that gives most lines the same number of fields, more than one."""
    sample = body[:_SAMPLE_CHARACTERS].split("\n")[:_SAMPLE_LINES]
    if sample[0].strip().lower().startswith("sep=") and len(sample[0].strip()) == 5:
        return sample[0].strip()[4]
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        widths = Counter(len(row) for row in csv.reader(sample, delimiter=delimiter, skipinitialspace=True) if row)
        wide = {width: count for width, count in widths.items() if width > 1}
        if wide:
            width, count = max(wide.items(), key=lambda item: (item[1], item[0]))
            score = count / sum(widths.values()) + min(width, 50) / 1_000
            if score > best_score:
                best, best_score = delimiter, score
    return best
