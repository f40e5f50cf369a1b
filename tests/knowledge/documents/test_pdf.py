"""PDF files: columns, scans, garbage text layers, tables, running headers, text that can't be seen."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import pytest
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle

from knowledge.chunking import chunk
from knowledge.documents import load_bytes
from knowledge.errors import DocumentError
from knowledge.limits import Limits
from knowledge.records import LoadedDocument

pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
STYLES = getSampleStyleSheet()


def drawn(*pages: Callable[[Canvas], None], **options: object) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, **options)
    for page in pages:
        canvas.setFont("Helvetica", 11)
        page(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def set_in_type(story: Sequence[Flowable], header: str = "") -> LoadedDocument:
    def furniture(canvas: Canvas, template: SimpleDocTemplate) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(60, 815, header)
        canvas.drawString(280, 25, f"Page {template.page}")

    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4).build(list(story), onFirstPage=furniture, onLaterPages=furniture)
    return load_bytes(out.getvalue(), "a.pdf")


# 8 Scans


def picture(canvas: Canvas) -> None:
    from PIL import Image

    canvas.drawImage(ImageReader(Image.new("RGB", (600, 800), (240, 235, 220))), 0, 0, 595, 842)


def frame(canvas: Canvas) -> None:
    canvas.rect(50, 50, 400, 600)


@pytest.mark.parametrize("pages", [(picture,), (picture, picture), (frame,)])
def test_a_scan_is_refused_for_its_missing_text_layer(pages: tuple[Callable[[Canvas], None], ...]) -> None:
    with pytest.raises(DocumentError, match="no text layer"):
        load_bytes(drawn(*pages), "scan.pdf")


def test_the_recognised_text_of_a_scan_is_read() -> None:
    def page(canvas: Canvas) -> None:
        picture(canvas)
        text = canvas.beginText(60, 700)
        text.setTextRenderMode(3)
        text.textLine("Recognised words of the scanned page.")
        canvas.drawText(text)

    assert load_bytes(drawn(page), "a.pdf").text == "Recognised words of the scanned page."


def test_pages_without_text_among_others_are_named() -> None:
    document = load_bytes(drawn(lambda canvas: canvas.drawString(60, 700, "Words on page one."), picture), "a.pdf")
    assert (document.pages, document.metadata["pages_without_text"]) == (2, "2")


# Garbage


def test_a_text_layer_of_unknown_letters_is_refused() -> None:
    def shifted(canvas: Canvas) -> None:
        words = "the cost of training depends mostly on the hours of rented machines and on their price "
        turned = words.translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", "xqzjkvbpwygufmlcdrhsntoeia"))
        for i in range(30):
            canvas.drawString(60, 780 - 20 * i, turned)

    def wrong_han(canvas: Canvas) -> None:
        canvas.setFont("STSong-Light", 11)
        for i in range(20):
            canvas.drawString(60, 780 - 20 * i, "".join(chr(0x7280 + 37 * (i * 20 + j) % 2500) for j in range(20)))

    for page in (shifted, wrong_han):
        with pytest.raises(DocumentError, match="garbage"):
            load_bytes(drawn(page), "a.pdf")


# 9 Two columns

LEFT = [f"Left part {i} tells how storage is billed" for i in range(12)]
RIGHT = [f"Right part {i} tells how networks are built" for i in range(12)]


@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize("shift", [0, 5])
@pytest.mark.parametrize("title", [True, False])
def test_columns_are_read_one_after_the_other(by_row: bool, shift: int, title: bool) -> None:
    def page(canvas: Canvas) -> None:
        if title:
            canvas.drawString(
                60, 790, "A line that stands above both of the columns and reaches over the whole page width"
            )
        left = [(60, 750 - 15 * i, text) for i, text in enumerate(LEFT)]
        right = [(330, 750 - shift - 15 * i, text) for i, text in enumerate(RIGHT)]
        lines = [line for pair in zip(left, right, strict=True) for line in pair] if by_row else left + right
        for x, y, text in lines:
            canvas.drawString(x, y, text)

    text = load_bytes(drawn(page), "a.pdf").text
    places = [text.index(line) for line in [*LEFT, *RIGHT]]
    assert places == sorted(places)
    assert not title or text.index("A line that stands") < places[0]


def test_columns_in_chinese_with_a_footer_over_both() -> None:
    def page(canvas: Canvas) -> None:
        canvas.setFont("STSong-Light", 11)
        for i in range(10):
            canvas.drawString(60, 750 - 15 * i, f"左栏第{i}行说明存储怎样计费并给出例子，")
            canvas.drawString(330, 750 - 15 * i, f"右栏第{i}行说明网络怎样搭建并给出例子，")
        canvas.drawString(
            60, 560, "这一行横跨两栏，因为它说明上面两栏里的数字都来自二零二六年一月的公开价格表，仅供参考。"
        )

    text = load_bytes(drawn(page), "a.pdf").text
    assert text.index("左栏第9行") < text.index("右栏第0行") < text.index("右栏第9行") < text.index("这一行横跨")


# Tables, headings, paragraphs


@pytest.mark.parametrize("grid", [True, False])
def test_tables_of_a_pdf_are_tables_and_go_on_over_a_page_break(grid: bool) -> None:
    cells = [["Instance", "USD per hour", "Memory"], *([f"p{i}.large", f"{i}.50", f"{8 * i} GB"] for i in range(80))]
    style = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)] if grid else [])
    document = set_in_type([Paragraph("Prices", STYLES["Heading1"]), Table(cells, style=style)], "Price list 2026")
    statements = [document.text[s.start : s.end] for passage in chunk(document) for s in passage.sentences]
    assert statements == [" | ".join(row) for row in cells[1:]]
    assert all("| Instance | USD per hour | Memory |" in document.text[p.start : p.end] for p in chunk(document))


def test_headings_paragraphs_and_lists_come_from_the_type() -> None:
    long = "Checkpoints are written to object storage, and a lost machine costs the work since the last one. "
    story: list[Flowable] = [Paragraph("Handbook", STYLES["Title"])]
    for section in ("Storage of checkpoints", "Networks between machines", "Budgets"):
        story += [Paragraph(section, STYLES["Heading2"]), Paragraph(long * 4, STYLES["BodyText"])]
        story += [Paragraph(f"A second paragraph on {section.lower()} follows it.", STYLES["BodyText"])]
        story += [Paragraph(f"Item of {section}", STYLES["Bullet"], bulletText="•"), PageBreak()]
    document = set_in_type(story, "Acme handbook, confidential")
    assert document.title == "Handbook"
    assert "confidential" not in document.text and "Page" not in document.text
    assert {p.section for p in chunk(document)} == {
        ("Storage of checkpoints",),
        ("Networks between machines",),
        ("Budgets",),
    }
    assert (long * 4).strip() in document.text
    kinds = [block.kind for block in document.blocks]
    assert kinds == ["heading", *["heading", "paragraph", "paragraph", "list_item"] * 3]
    assert [block.page for block in document.blocks if block.level == 2] == [1, 2, 3]


def test_words_broken_at_a_line_end_are_joined() -> None:
    def page(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Training on machines that may be taken away is inter-")
        canvas.drawString(60, 686, "rupted, so pay-as-you-")
        canvas.drawString(60, 672, "go machines are safer.")

    assert "is interrupted, so pay-as-you-go machines" in load_bytes(drawn(page), "a.pdf").text


# 15 What can't be seen


def test_text_that_can_not_be_seen_is_left_out() -> None:
    def page(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Seen by the reader.")
        canvas.drawString(-500, 650, "SECRET beyond the edge")
        canvas.setFillColorRGB(1, 1, 1)
        canvas.drawString(60, 600, "SECRET in white")
        canvas.setFillColorRGB(0, 0, 0)
        text = canvas.beginText(60, 550)
        text.setTextRenderMode(3)
        text.textLine("SECRET without ink")
        text.setTextRenderMode(0)
        canvas.drawText(text)
        canvas.setFont("Helvetica", 1)
        canvas.drawString(60, 500, "SECRET and tiny")
        canvas.setFont("Helvetica", 11)
        canvas.rect(60, 400, 200, 30, fill=1)
        canvas.setFillColorRGB(1, 1, 1)
        canvas.drawString(70, 410, "White on black is seen.")

    text = load_bytes(drawn(page), "a.pdf").text
    assert "SECRET" not in text
    assert "Seen by the reader." in text and "White on black is seen." in text


# 10 Cut off, locked, limits


@pytest.mark.parametrize("length", [300, 20, 800])
def test_a_pdf_that_is_cut_off_is_refused(length: int) -> None:
    data = drawn(lambda canvas: canvas.drawString(60, 700, "Words."))[:length]
    with pytest.raises(DocumentError, match=r"cut off|no text"):
        load_bytes(data, "a.pdf")


def test_a_locked_pdf_is_refused_and_one_that_only_forbids_printing_is_read() -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption

    def page(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Words inside.")

    with pytest.raises(DocumentError, match="password"):
        load_bytes(drawn(page, encrypt=StandardEncryption("user", "owner")), "a.pdf")
    assert load_bytes(drawn(page, encrypt=StandardEncryption("", "owner", canPrint=0)), "a.pdf").text == "Words inside."


def test_the_limit_of_pages_is_named() -> None:
    data = drawn(*[lambda canvas: canvas.drawString(60, 700, "Words.")] * 3)
    with pytest.raises(DocumentError, match="ADVISOR_MAX_PAGES"):
        load_bytes(data, "a.pdf", Limits(max_pages=2))
