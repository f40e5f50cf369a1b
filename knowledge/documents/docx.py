"""DOCX: headings, paragraphs, lists, tables, text boxes and notes in reading order, without deleted and hidden text."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from knowledge.documents.builder import TextBuilder
from knowledge.documents.docx_runs import WORD, is_on, paragraph_text, text_boxes, value_of
from knowledge.documents.docx_styles import Styles
from knowledge.documents.draft import Draft
from knowledge.documents.package import open_package
from knowledge.documents.tables import Merged, Row
from knowledge.limits import Limits

Element = Any
_FAKE_HEADING = 60
"""Characters up to which a paragraph in bold may be a heading that its writer didn't mark as one."""
_ENDS = re.compile(r"[.。!！;；,，:：、…]$")


def read_docx(data: bytes, limits: Limits) -> Draft:
    """Read a Word document; headers, footers, comments and the table of contents are left out."""
    import docx

    open_package(data, limits).close()
    document = docx.Document(io.BytesIO(data))
    writer = _Writer(document, TextBuilder(limits))
    writer.write(document.element.body)
    content, blocks = writer.builder.finish()
    title = writer.title or next((content[b.start : b.end] for b in blocks if b.kind == "heading" and b.level == 1), "")
    return Draft(content, blocks, title=title or (document.core_properties.title or "").strip())


class _Writer:
    def __init__(self, document: Any, builder: TextBuilder) -> None:
        self.builder = builder
        self.title = ""
        self._styles = Styles(document)
        self._notes = _notes(document)
        self._counters: dict[tuple[str, int], int] = defaultdict(int)
        self._shift = 0
        self._level = 1

    def write(self, body: Element) -> None:
        elements = list(_content(body))
        for i, element in enumerate(elements):
            if element.tag == WORD + "tbl":
                rows, header_rows = table_rows(element)
                self.builder.table(rows, header_rows=header_rows)
                self._write_notes(element)
            else:
                following = elements[i + 1] if i + 1 < len(elements) else None
                self._paragraph(element, following)

    def _paragraph(self, paragraph: Element, following: Element | None) -> None:
        text = paragraph_text(paragraph)
        style = self._styles.of(paragraph)
        if style.is_contents:
            return
        if text.strip():
            if style.is_title and not self.title:
                self.title = " ".join(text.split())
                self._shift = 1
                self.builder.heading(text, 1)
            elif style.heading:
                self._level = style.heading + self._shift
                self.builder.heading(text, self._level)
            elif style.list_id:
                self.builder.list_item(text, style.depth, self._marker(style.list_id, style.depth))
            elif _looks_like_heading(paragraph, text, following):
                self.builder.heading(text, self._level + 1)
            else:
                self.builder.paragraph(text)
        self._write_notes(paragraph)
        for box in text_boxes(paragraph):
            self.write(box)

    def _marker(self, list_id: str, depth: int) -> str:
        if self._styles.is_bullet(list_id, depth):
            return "-"
        self._counters[list_id, depth] += 1
        for deeper in [key for key in self._counters if key[0] == list_id and key[1] > depth]:
            del self._counters[deeper]
        return f"{self._counters[list_id, depth]}."

    def _write_notes(self, element: Element) -> None:
        """A note stands below the paragraph that refers to it, so that it is in the right section."""
        for kind in ("footnote", "endnote"):
            for reference in element.iter(f"{WORD}{kind}Reference"):
                number = reference.get(WORD + "id", "")
                text = self._notes.get((kind, number), "")
                if text:
                    self.builder.raw(f"\n\n[^{number}]: ")
                    self.builder.block("paragraph", text)


def _content(container: Element) -> Iterator[Element]:
    """Paragraphs and tables, also those in content controls and tracked insertions."""
    for child in container:
        if child.tag in (WORD + "p", WORD + "tbl"):
            yield child
        elif child.tag == WORD + "sdt":
            for content in child.findall(WORD + "sdtContent"):
                yield from _content(content)
        elif child.tag in (WORD + "ins", WORD + "customXml", WORD + "smartTag", WORD + "moveTo"):
            yield from _content(child)


def table_rows(table: Element) -> tuple[list[Row], int]:
    """Rows of a table and how many of them are its header; merged cells say their text once."""
    rows: list[Row] = []
    above: dict[int, str] = {}
    header_rows = 0
    for line in table.iter(WORD + "tr"):
        if next(line.iterancestors(WORD + "tbl")) is not table or line.find(f"{WORD}trPr/{WORD}del") is not None:
            continue
        row: list[str | Merged] = [""] * int(value_of(line.find(f"{WORD}trPr/{WORD}gridBefore")) or 0)
        for cell in line.iter(WORD + "tc"):
            if next(cell.iterancestors(WORD + "tr")) is not line:
                continue
            across = int(value_of(cell.find(f"{WORD}tcPr/{WORD}gridSpan")) or 1)
            merge = cell.find(f"{WORD}tcPr/{WORD}vMerge")
            column = len(row)
            if merge is not None and value_of(merge) != "restart":
                row.append(Merged(above.get(column, "")))
            else:
                text = _cell_text(cell)
                above[column] = text
                row.append(text)
            row.extend([""] * (min(across, 100) - 1))
        if header_rows == len(rows) and is_on(line.find(f"{WORD}trPr/{WORD}tblHeader")):
            header_rows += 1
        rows.append(row)
    return rows, min(max(header_rows, 1), 3)


def _cell_text(cell: Element) -> str:
    parts = (paragraph_text(paragraph) for paragraph in cell.iter(WORD + "p"))
    return " ".join(part for part in (text.strip() for text in parts) if part)


def _looks_like_heading(paragraph: Element, text: str, following: Element | None) -> bool:
    """A short line all in bold before a paragraph that isn't."""
    line = text.strip()
    if len(line) > _FAKE_HEADING or "\n" in line or _ENDS.search(line) or following is None:
        return False
    if not _all_bold(paragraph):
        return False
    return following.tag == WORD + "tbl" or not _all_bold(following)


def _all_bold(paragraph: Element) -> bool:
    runs = [run for run in paragraph.iter(WORD + "r") if "".join(run.itertext()).strip()]
    return bool(runs) and all(is_on(run.find(f"{WORD}rPr/{WORD}b")) for run in runs)


def _notes(document: Any) -> dict[tuple[str, str], str]:
    from docx.oxml.parser import parse_xml

    notes: dict[tuple[str, str], str] = {}
    for relation in document.part.rels.values():
        kind = relation.reltype.rpartition("/")[2].removesuffix("s")
        if kind not in ("footnote", "endnote") or relation.is_external:
            continue
        for note in parse_xml(relation.target_part.blob).iter(WORD + kind):
            if note.get(WORD + "type") in (None, "normal"):
                text = " ".join(paragraph_text(p).strip() for p in note.iter(WORD + "p")).strip()
                notes[kind, note.get(WORD + "id", "")] = text
    return notes
