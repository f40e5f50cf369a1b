"""XLS and ODS workbooks, by calamine."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from knowledge.documents.builder import TextBuilder
from knowledge.documents.draft import Draft
from knowledge.documents.number_formats import plain_number, shown
from knowledge.documents.package import open_package
from knowledge.documents.sheet_rows import write_rows
from knowledge.errors import DocumentError
from knowledge.limits import Limits, check


def read_ods(data: bytes, limits: Limits) -> Draft:
    """Read an OpenDocument workbook."""
    open_package(data, limits).close()
    return read_xls(data, limits)


def read_xls(data: bytes, limits: Limits) -> Draft:
    """Read an Excel 97 workbook; hidden sheets are left out.

    Raises:
        DocumentError: no visible sheet holds anything, or a limit is passed.
    """
    from python_calamine import CalamineWorkbook, SheetVisibleEnum

    workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
    names = [sheet.name for sheet in workbook.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible]
    check(limits, "max_pages", len(names), "Sheets:")
    builder = TextBuilder(limits)
    for number, name in enumerate(names, 1):
        builder.heading(name, 2, number)
        write_rows(_rows(workbook.get_sheet_by_name(name)), builder, number)
    content, blocks = builder.finish()
    if all(block.kind == "heading" for block in blocks):
        raise DocumentError("The sheets of this workbook are empty.")
    return Draft(content, blocks, pages=len(names))


def _rows(sheet: Any) -> Iterator[list[str]]:
    for row in sheet.iter_rows():
        yield [plain_number(value) if isinstance(value, float) else shown(value, None) for value in row]
