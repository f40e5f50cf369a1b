"""Writes the same content as a file of every format, to compare what a loader returns with what went in."""

from __future__ import annotations

import csv
import html
import io
import textwrap
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["paragraph", "list", "numbered", "table", "footnote"]


@dataclass(frozen=True)
class Part:
    """One piece of a section; a footnote is a pair of the paragraph and its note."""

    kind: Kind
    lines: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Section:
    """A heading with its parts; `level` is 2 or 3."""

    title: str
    level: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Content:
    """A document before it is written."""

    title: str
    language: Literal["zh", "en"]
    sections: tuple[Section, ...] = field(default_factory=tuple)


def markdown(content: Content) -> bytes:
    lines = [f"# {content.title}", ""]
    for section in content.sections:
        lines += ["#" * section.level + " " + section.title, ""]
        for part in section.parts:
            if part.kind == "table":
                lines += ["| " + " | ".join(part.rows[0]) + " |", "|" + "---|" * len(part.rows[0])]
                lines += ["| " + " | ".join(row) + " |" for row in part.rows[1:]]
            elif part.kind == "footnote":
                name = str(zlib.crc32(part.lines[1].encode()) % 1_000)
                lines += [f"{part.lines[0]}[^{name}]", "", f"[^{name}]: {part.lines[1]}"]
            elif part.kind in ("list", "numbered"):
                lines += [
                    f"{i}. {line}" if part.kind == "numbered" else f"- {line}" for i, line in enumerate(part.lines, 1)
                ]
            else:
                lines += list(part.lines)
            lines.append("")
    return "\n".join(lines).encode()


def text(content: Content) -> bytes:
    lines = [content.title, ""]
    for section in content.sections:
        lines += [section.title, ""]
        for part in section.parts:
            if part.kind == "table":
                lines += ["\t".join(row) for row in part.rows]
            elif part.kind == "footnote":
                lines += [part.lines[0], "", part.lines[1]]
            elif part.kind in ("list", "numbered"):
                lines += [
                    f"{i}. {line}" if part.kind == "numbered" else f"• {line}" for i, line in enumerate(part.lines, 1)
                ]
            else:
                lines += [part.lines[0]]
            lines.append("")
    return "\n".join(lines).encode()


def _html_body(content: Content) -> str:
    out = [f"<h1>{html.escape(content.title)}</h1>"]
    for section in content.sections:
        out.append(f"<h{section.level}>{html.escape(section.title)}</h{section.level}>")
        for part in section.parts:
            if part.kind == "table":
                head, *rows = part.rows
                out.append("<table><tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in head) + "</tr>")
                out += ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
                out.append("</table>")
            elif part.kind == "footnote":
                out.append(f'<p>{html.escape(part.lines[0])}<sup><a href="#n">1</a></sup></p>')
                out.append(f'<p class="footnote" id="n">{html.escape(part.lines[1])}</p>')
            elif part.kind in ("list", "numbered"):
                tag = "ol" if part.kind == "numbered" else "ul"
                out.append(f"<{tag}>" + "".join(f"<li>{html.escape(line)}</li>" for line in part.lines) + f"</{tag}>")
            else:
                out += [f"<p>{html.escape(line)}</p>" for line in part.lines]
    return "\n".join(out)


def web_page(content: Content) -> bytes:
    links = "".join(f'<li><a href="/{i}">Topic {i}</a></li>' for i in range(40))
    return (
        f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{html.escape(content.title)} | Site</title>"
        f"<style>.menu{{color:red}}</style></head><body><nav><ul>{links}</ul></nav>"
        f"<div class='cookie-banner'>We use cookies. <a href='/p'>Privacy</a> <button>Accept</button></div>"
        f"<div class='content'>{_html_body(content)}</div><script>var price = 99.99;</script>"
        f"<footer>© Site <a href='/imprint'>Imprint</a></footer></body></html>"
    ).encode()


def epub(content: Content) -> bytes:
    chapter = f"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body>{_html_body(content)}</body></html>"
    package = (
        "<?xml version='1.0'?><package xmlns='http://www.idpf.org/2007/opf' version='3.0'><metadata"
        f" xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>{html.escape(content.title)}</dc:title></metadata>"
        "<manifest><item id='c' href='c.xhtml' media-type='application/xhtml+xml'/></manifest>"
        "<spine><itemref idref='c'/></spine></package>"
    )
    container = (
        "<?xml version='1.0'?><container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>"
        "<rootfile full-path='OEBPS/p.opf' media-type='application/oebps-package+xml'/></rootfiles></container>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", container)
        book.writestr("OEBPS/p.opf", package)
        book.writestr("OEBPS/c.xhtml", chapter)
    return out.getvalue()


def docx(content: Content) -> bytes:
    import docx as word

    document = word.Document()
    document.add_heading(content.title, 0)
    for section in content.sections:
        document.add_heading(section.title, section.level - 1)
        for part in section.parts:
            if part.kind == "table":
                table = document.add_table(len(part.rows), len(part.rows[0]))
                for i, row in enumerate(part.rows):
                    for j, cell in enumerate(row):
                        table.cell(i, j).text = cell
            elif part.kind in ("list", "numbered"):
                for line in part.lines:
                    document.add_paragraph(line, style="List Number" if part.kind == "numbered" else "List Bullet")
            else:
                for line in part.lines:
                    document.add_paragraph(line)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def pptx(content: Content) -> bytes:
    import pptx as powerpoint
    from pptx.util import Inches

    deck = powerpoint.Presentation()
    cover = deck.slides.add_slide(deck.slide_layouts[0])
    cover.shapes.title.text = content.title
    for section in content.sections:
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = section.title
        top = 1.5
        for part in section.parts:
            if part.kind == "table":
                frame = slide.shapes.add_table(
                    len(part.rows), len(part.rows[0]), Inches(1), Inches(top), Inches(8), Inches(0.3)
                )
                for i, row in enumerate(part.rows):
                    for j, cell in enumerate(row):
                        frame.table.cell(i, j).text = cell
            elif part.kind == "footnote":
                box = slide.shapes.add_textbox(Inches(1), Inches(top), Inches(8), Inches(0.5))
                box.text_frame.text = part.lines[0]
                slide.notes_slide.notes_text_frame.text = part.lines[1]
            else:
                box = slide.shapes.add_textbox(Inches(1), Inches(top), Inches(8), Inches(0.5))
                box.text_frame.text = "\n".join(part.lines)
            top += 1.0
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def xlsx(content: Content) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, section in enumerate(content.sections):
        sheet = book.create_sheet(f"{number} {section.title}"[:31])
        for part in section.parts:
            for row in part.rows or tuple((line,) for line in part.lines):
                sheet.append(row)
            sheet.append([])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def comma_separated(content: Content) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    for section in content.sections:
        for part in section.parts:
            writer.writerows(part.rows)
    return ("\ufeff" + out.getvalue()).encode()


def pdf(content: Content) -> bytes:
    from reportlab.lib.enums import TA_LEFT
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

    font = "Helvetica"
    if content.language == "zh":
        font = "STSong-Light"
        pdfmetrics.registerFont(UnicodeCIDFont(font))

    def style(size: float, **more: object) -> ParagraphStyle:
        wrap = "CJK" if content.language == "zh" else None
        return ParagraphStyle(
            f"s{size}", fontName=font, fontSize=size, leading=size * 1.35, alignment=TA_LEFT, wordWrap=wrap,
            spaceBefore=size * 0.7, **more,
        )  # fmt: skip

    body, note = style(10), style(8)
    heads = {1: style(20), 2: style(15), 3: style(12.5)}
    story: list[object] = [Paragraph(html.escape(content.title), heads[1])]
    for section in content.sections:
        story.append(Paragraph(html.escape(section.title), heads[section.level]))
        for part in section.parts:
            if part.kind == "table":
                story.append(Spacer(1, 6))
                cells = [[Paragraph(html.escape(cell), style(10)) for cell in row] for row in part.rows]
                width = 440 / len(part.rows[0])
                story.append(Table(cells, colWidths=[width] * len(part.rows[0])))
            elif part.kind in ("list", "numbered"):
                for i, line in enumerate(part.lines, 1):
                    mark = f"{i}." if part.kind == "numbered" else "•"
                    story.append(Paragraph(html.escape(line), style(10, leftIndent=18), bulletText=mark))
            elif part.kind == "footnote":
                story += [Paragraph(html.escape(part.lines[0]), body), Paragraph(html.escape(part.lines[1]), note)]
            else:
                story += [Paragraph(html.escape(line), body) for line in part.lines]

    def furniture(canvas: object, template: object) -> None:
        canvas.setFont("Helvetica", 8)  # type: ignore[attr-defined]
        canvas.drawString(280, 25, f"{template.page}")  # type: ignore[attr-defined]

    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4).build(story, onFirstPage=furniture, onLaterPages=furniture)
    return out.getvalue()


def wrapped(line: str, width: int = 76) -> str:
    """A paragraph broken by a margin."""
    return "\n".join(textwrap.wrap(line, width))


WRITERS: dict[str, Callable[[Content], bytes]] = {
    "md": markdown,
    "txt": text,
    "html": web_page,
    "pdf": pdf,
    "docx": docx,
    "pptx": pptx,
    "xlsx": xlsx,
    "csv": comma_separated,
    "epub": epub,
}


def rows_only(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The tables of sections, for formats that hold nothing else."""
    return tuple(
        Section(section.title, section.level, tuple(part for part in section.parts if part.kind == "table"))
        for section in sections
    )
