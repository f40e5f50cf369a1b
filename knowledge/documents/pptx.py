"""PPTX: slide by slide, with titles as headings, text boxes, tables, charts, diagrams and speaker notes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from knowledge.documents.builder import TextBuilder
from knowledge.documents.draft import Draft
from knowledge.documents.number_formats import plain_number
from knowledge.documents.package import open_package
from knowledge.documents.tables import Merged, Row
from knowledge.limits import Limits, check

Shape = Any
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_ROW_HEIGHT = 300_000
"""EMU (about 8 mm); shapes whose tops differ by less stand side by side."""


def read_pptx(data: bytes, limits: Limits) -> Draft:
    """Read a presentation; hidden slides are left out, a slide's number is its page."""
    import pptx

    open_package(data, limits).close()
    presentation = pptx.Presentation(io.BytesIO(data))
    slides = list(presentation.slides)
    check(limits, "max_pages", len(slides), "Slides:")
    builder = TextBuilder(limits)
    title = ""
    for number, slide in enumerate(slides, 1):
        if slide._element.get("show") in ("0", "false"):
            continue
        heading = _title(slide)
        is_first = number == 1 and bool(heading)
        title = heading if is_first else title
        builder.heading(heading or f"Slide {number}", 1 if is_first else 2, number)
        _write_shapes(slide.shapes, slide.shapes.title, builder, number)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            for paragraph in slide.notes_slide.notes_text_frame.text.split("\n"):
                builder.paragraph(paragraph, number)
    content, blocks = builder.finish()
    if all(content[block.start : block.end].startswith("Slide ") for block in blocks):
        return Draft("", ())
    return Draft(content, blocks, title=title or (presentation.core_properties.title or ""), pages=len(slides))


def _title(slide: Any) -> str:
    shape = slide.shapes.title
    return " ".join(shape.text_frame.text.replace("\v", " ").split()) if shape is not None else ""


def _write_shapes(shapes: Iterable[Shape], title: Shape | None, builder: TextBuilder, page: int) -> None:
    for shape in sorted(_leaves(shapes), key=_place):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if _is_hidden(shape):
            continue
        if getattr(shape, "has_table", False) and shape.has_table:
            builder.table(_table(shape.table), page)
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            _write_chart(shape.chart, builder, page)
        elif shape.has_text_frame:
            _write_text(shape, builder, page)
        else:
            for text in _diagram(shape):
                builder.list_item(text, page=page)


def _leaves(shapes: Iterable[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _leaves(shape.shapes)
        else:
            yield shape


def _place(shape: Shape) -> tuple[int, int]:
    return (shape.top or 0) // _ROW_HEIGHT, shape.left or 0


def _is_hidden(shape: Shape) -> bool:
    properties = shape._element.xpath("./*/p:cNvPr/@hidden")
    return bool(properties) and properties[0] in ("1", "true")


def _write_text(shape: Shape, builder: TextBuilder, page: int) -> None:
    kind = shape.placeholder_format.type if shape.is_placeholder else None
    if kind is not None and kind.name in ("DATE", "FOOTER", "SLIDE_NUMBER", "HEADER"):
        return
    paragraphs = [
        (paragraph.text.replace("\v", "\n").strip(), paragraph.level) for paragraph in shape.text_frame.paragraphs
    ]
    filled = [(text, level) for text, level in paragraphs if text]
    as_list = (
        len(filled) > 1 and kind is not None and kind.name in ("BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT")
    )
    for text, level in filled:
        if as_list or level:
            builder.list_item(text, level, page=page)
        else:
            builder.paragraph(text, page)


def _table(table: Any) -> list[Row]:
    rows: list[Row] = []
    above: dict[int, str] = {}
    for line in table.rows:
        row: list[str | Merged] = []
        for column, cell in enumerate(line.cells):
            if not cell.is_spanned:
                above[column] = cell.text_frame.text
                row.append(cell.text_frame.text)
            else:
                from_above = cell._tc.vMerge and not cell._tc.hMerge
                row.append(Merged(above.get(column, "")) if from_above else "")
        rows.append(row)
    return rows


def _write_chart(chart: Any, builder: TextBuilder, page: int) -> None:
    if chart.has_title and chart.chart_title.has_text_frame:
        builder.paragraph(chart.chart_title.text_frame.text, page)
    for plot in chart.plots:
        series = list(plot.series)
        categories = [str(category) for category in plot.categories]
        columns = [list(one.values) for one in series]
        rows: list[Row] = [["", *(one.name or "" for one in series)]]
        for i, category in enumerate(categories):
            values = [column[i] if i < len(column) else None for column in columns]
            rows.append([category, *("" if value is None else plain_number(float(value)) for value in values)])
        builder.table(rows, page)


def _diagram(shape: Shape) -> Iterator[str]:
    """Texts of a SmartArt diagram, which lie in a part of their own."""
    from lxml import etree  # type: ignore[import-untyped]

    for relation in shape._element.iter(f"{{{_DIAGRAM}}}relIds"):
        part = shape.part.related_part(relation.get(_RELATION + "dm"))
        root = etree.fromstring(part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
        for paragraph in root.iter(_A + "p"):
            text = "".join(piece.text or "" for piece in paragraph.iter(_A + "t")).strip()
            if text:
                yield text
