"""PDF with a text layer, by PDFium: columns one after the other, lines joined to paragraphs, headings told by size."""

from __future__ import annotations

from knowledge.documents.builder import TextBuilder
from knowledge.documents.draft import Draft
from knowledge.documents.limits import Limits, check
from knowledge.errors import DocumentError


def read_pdf(data: bytes, limits: Limits) -> Draft:
    """First simple reading: page by page, in the order of the content stream."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise DocumentError(f"The PDF is damaged or cut off ({error}). Save it again.") from error
    with document:
        pages = len(document)
        check(limits, "max_pages", pages, "Pages:")
        builder = TextBuilder(limits)
        for number in range(pages):
            page = document[number]
            text = page.get_textpage().get_text_bounded().replace("\r\n", "\n")
            for part in text.split("\n\n"):
                builder.paragraph(part, page=number + 1)
    content, blocks = builder.finish()
    if not blocks:
        raise DocumentError("The PDF has no text layer (it is a scan). Run text recognition (OCR) on it first.")
    return Draft(content, blocks, pages=pages)
