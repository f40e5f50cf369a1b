"""XLSX workbooks, row by row: each visible sheet a heading and its tables, numbers as the sheet shows them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from knowledge.documents.builder import TextBuilder
from knowledge.documents.draft import Draft
from knowledge.documents.number_formats import shown
from knowledge.documents.package import open_package
from knowledge.documents.sheet_rows import write_rows
from knowledge.errors import DocumentError
from knowledge.limits import Limits, check

_MAX_COLUMNS = 1_000
_WHITE = ("FFFFFFFF", "00FFFFFF")
_HIDDEN_TEXT = 20
"""Characters from which a text cell is looked at for white ink; a lone white label is decoration."""


def read_xlsx(data: bytes, limits: Limits) -> Draft:
    """Read a workbook; hidden sheets are left out.

    Raises:
        DocumentError: no visible sheet holds anything, or a limit is passed.
    """
    from openpyxl import load_workbook

    open_package(data, limits).close()
    workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    try:
        sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
        check(limits, "max_pages", len(sheets), "Sheets:")
        builder = TextBuilder(limits)
        for number, sheet in enumerate(sheets, 1):
            sheet.reset_dimensions()
            builder.heading(sheet.title, 2, number)
            write_rows(_rows(sheet), builder, number)
        content, blocks = builder.finish()
        if all(block.kind == "heading" for block in blocks):
            raise DocumentError("The sheets of this workbook are empty.")
        return Draft(content, blocks, title=(workbook.properties.title or "").strip(), pages=len(sheets))
    finally:
        workbook.close()


def _rows(sheet: Any) -> Iterator[list[str]]:
    for row in sheet.iter_rows(max_col=_MAX_COLUMNS if (sheet.max_column or 0) > _MAX_COLUMNS else None):
        yield [_cell(cell) for cell in row]


def _cell(cell: Any) -> str:
    value = cell.value
    if value is None or cell.data_type == "e":
        return ""
    if isinstance(value, str):
        return "" if len(value) >= _HIDDEN_TEXT and cell.has_style and _is_white(cell) else value
    return shown(value, cell.number_format if cell.has_style else None)


def _is_white(cell: Any) -> bool:
    colour = cell.font.color if cell.font else None
    white = colour is not None and (colour.rgb in _WHITE or (colour.type == "theme" and colour.theme == 0))
    return white and (cell.fill is None or cell.fill.fill_type in (None, "none"))
