"""An answer's Markdown as blocks, written in a platform's dialect, in parts that a message of it can hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Kind = Literal["heading", "paragraph", "item", "quote", "code", "table"]


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of one style. `href` is only set by this program, never by what a document holds."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    href: str | None = None


Inline = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item, quote, code block (one span) or table (`rows`, the first is the header)."""

    kind: Kind
    spans: Inline = ()
    rows: tuple[tuple[Inline, ...], ...] = ()
    marker: str = "•"
    """Of an item: a bullet or a number."""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a platform writes what Markdown says."""

    escape: Callable[[str], str]
    """Makes a text mean nothing but itself: no mention, link or markup of a document takes effect."""
    limit: int
    """Most that one message part may hold, in units of `size`."""
    size: Callable[[str], int] = len
    bold: str = "**{}**"
    italic: str = "*{}*"
    code: str = "`{}`"
    link: str = "[{text}]({href})"
    heading: str = "**{}**"
    item: str = "{marker} {text}"
    quote: str = "> "
    indent: str = "  "
    table: Literal["pipes", "aligned", "list"] = "list"
    """As Markdown, as text in columns of one width, or as a list of its rows."""


def set_apart(text: str) -> str:
    """Text whose brackets and signs a blank of no width parts, so that no link, image, tag or markup comes of them."""
    for mark in ("](", "![", "<", "**", "`"):
        text = text.replace(mark, f"{mark[0]}\u200b{mark[1:]}")
    return text


def utf8_size(text: str) -> int:
    """Length in UTF-8, bytes."""
    return len(text.encode("utf-8"))


def plain(text: str, *, href: str | None = None) -> Block:
    """A paragraph without markup."""
    return Block("paragraph", (Span(text, href=href),))


def parse(text: str) -> list[Block]:
    """The blocks of an answer. Links, images and HTML that documents hold stay text."""
    blocks: list[Block] = []
    kinds: list[str] = []
    markers: list[str] = []
    rows: list[tuple[Inline, ...]] = []
    row: list[Inline] = []
    in_table = False
    for token in _parser().parse(text):
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                kinds.append(token.type)
                markers.append("•")
            case "bullet_list_close" | "ordered_list_close":
                kinds.pop()
                markers.pop()
            case "list_item_open":
                markers[-1] = f"{token.info}." if kinds[-1] == "ordered_list_open" else "•"
            case "heading_open" | "blockquote_open":
                kinds.append(token.type)
            case "heading_close" | "blockquote_close":
                kinds.pop()
            case "table_open":
                rows, in_table = [], True
            case "tr_open":
                row = []
            case "tr_close":
                rows.append(tuple(row))
            case "table_close":
                blocks.append(Block("table", rows=tuple(rows)))
                in_table = False
            case "fence" | "code_block":
                blocks.append(Block("code", (Span(token.content.rstrip("\n")),)))
            case "inline" if in_table:
                row.append(_inline(token))
            case "inline":
                blocks.append(_block(_inline(token), kinds, markers))
                if markers:
                    markers[-1] = ""  # a further paragraph of the same item has no bullet of its own
    return blocks


def _block(spans: Inline, kinds: Sequence[str], markers: Sequence[str]) -> Block:
    innermost = kinds[-1] if kinds else ""
    if innermost == "heading_open":
        return Block("heading", spans)
    if innermost == "blockquote_open":
        return Block("quote", spans)
    return Block("item", spans, marker=markers[-1], depth=len(markers) - 1) if markers else Block("paragraph", spans)


def _inline(token: Token) -> Inline:
    spans: list[Span] = []
    bold = italic = 0
    for child in token.children or []:
        match child.type:
            case "strong_open" | "strong_close":
                bold += 1 if child.type == "strong_open" else -1
            case "em_open" | "em_close":
                italic += 1 if child.type == "em_open" else -1
            case "softbreak" | "hardbreak":
                spans.append(Span("\n"))
            case _ if child.content:
                spans.append(Span(child.content, bold > 0, italic > 0, child.type == "code_inline"))
    return tuple(spans)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["image", "link", "autolink", "reference", "html_block", "html_inline"])
    return parser


def write(block: Block, dialect: Dialect) -> str:
    """One block in the dialect."""
    if block.kind == "code":
        return f"```\n{_unfenced(_text(block.spans))}\n```"
    if block.kind == "table":
        return _table(block, dialect)
    text = "".join(_span(span, dialect) for span in block.spans)
    match block.kind:
        case "heading":
            # Bold within a heading that is bold itself would end it.
            plain_heading = "".join(_span(replace(span, bold=False), dialect) for span in block.spans)
            return dialect.heading.format(plain_heading.replace("\n", " "))
        case "item":
            written = dialect.item.format(marker=block.marker, text=text) if block.marker else f"  {text}"
            return dialect.indent * block.depth + written.replace("\n", "\n" + dialect.indent * (block.depth + 1))
        case "quote":
            return "\n".join(dialect.quote + line for line in text.split("\n"))
        case _:
            return text


def _span(span: Span, dialect: Dialect) -> str:
    body = span.text.strip()
    if not body:
        return span.text
    before, after = span.text[: len(span.text) - len(span.text.lstrip())], span.text[len(span.text.rstrip()) :]
    if span.code:
        written = dialect.code.format(dialect.escape(body.replace("`", "'")))
    else:
        written = dialect.escape(body)
        written = dialect.italic.format(written) if span.italic else written
        written = dialect.bold.format(written) if span.bold else written
    if span.href:
        written = dialect.link.format(text=written, href=span.href)
    return f"{before}{written}{after}"


def _text(spans: Inline) -> str:
    return "".join(span.text for span in spans)


def _unfenced(text: str) -> str:
    """Text that can't end the code block it stands in."""
    return text.replace("```", "'''")


def _table(block: Block, dialect: Dialect) -> str:
    cells = [[_text(cell).replace("\n", " ") for cell in row] for row in block.rows]
    head, *rows = cells
    if dialect.table == "aligned":
        widths = [max(_width(row[i]) for row in cells) for i in range(len(head))]
        lines = ["  ".join(cell + " " * (w - _width(cell)) for cell, w in zip(r, widths, strict=True)) for r in cells]
        body = "\n".join(line.rstrip() for line in (lines[0], "  ".join("-" * w for w in widths), *lines[1:]))
        return f"```\n{dialect.escape(_unfenced(body))}\n```"
    escaped = [[dialect.escape(cell.replace("|", "/")) for cell in row] for row in cells]
    if dialect.table == "pipes":
        lines = ["| " + " | ".join(row) + " |" for row in escaped]
        return "\n".join([lines[0], "|" + " --- |" * len(head), *lines[1:]])
    return "\n".join(
        dialect.item.format(
            marker="•",
            text=f"{dialect.bold.format(dialect.escape(row[0])) if row[0] else ''}: "
            + "; ".join(
                f"{dialect.escape(name)} {dialect.escape(cell)}".strip()
                for name, cell in zip(head[1:], row[1:], strict=True)
                if cell
            ),
        )
        for row in rows
    )


def _width(text: str) -> int:
    """Columns of a text in a font of one width, in which Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def parts(blocks: Sequence[Block], dialect: Dialect) -> list[str]:
    """The blocks as few texts as hold them, divided between blocks, or else rows, lines, sentences and words."""
    texts: list[str] = []
    previous: Block | None = None
    for block in (piece for whole in blocks for piece in _fitting(whole, dialect)):
        written = write(block, dialect)
        glue = "\n" if previous is not None and previous.kind == block.kind == "item" else "\n\n"
        if texts and dialect.size(texts[-1] + glue + written) <= dialect.limit:
            texts[-1] += glue + written
        elif written.strip():
            texts.append(written)
        previous = block
    return texts


def _fitting(block: Block, dialect: Dialect) -> Iterator[Block]:
    """The block, or pieces of it that each fit into a part."""
    while dialect.size(write(block, dialect)) > dialect.limit:
        divided = _divided_table(block, dialect) if block.kind == "table" else _divided_text(block, dialect)
        first, block = divided
        yield first
    yield block


def _divided_table(block: Block, dialect: Dialect) -> tuple[Block, Block]:
    """As many rows as fit, and the rest under the same header; a row that is too long alone becomes text."""
    head, *rows = block.rows
    for count in range(len(rows) - 1, 0, -1):
        first = replace(block, rows=(head, *rows[:count]))
        if dialect.size(write(first, dialect)) <= dialect.limit:
            return first, replace(block, rows=(head, *rows[count:]))
    spans = [span for row in block.rows for cell in row for span in (*cell, Span("  "))]
    return _divided_text(Block("paragraph", tuple(spans)), dialect)


_MARK = r"(?:\s*\[T?\d{1,4}\])*"
_SENTENCE = re.compile(rf"(?:[。！？；!?;]+[”’」』）)\"']*{_MARK}\s*|\.{_MARK}\s+|\n+)")
_WORD = re.compile(r"\s+|[，、]")
_CHARACTER = re.compile(r"(?s)\[T?\d{1,4}\]|.")


def _divided_text(block: Block, dialect: Dialect) -> tuple[Block, Block]:
    """The longest beginning that fits and ends at a sentence, or else at a word, or else anywhere; and the rest."""
    text = _text(block.spans)
    lines = block.kind == "code"
    for boundary in (re.compile(r"\n") if lines else _SENTENCE, _WORD, _CHARACTER):
        cuts = [match.end() for match in boundary.finditer(text) if match.end() < len(text)]
        low, high = 0, len(cuts)
        while low < high:  # sizes grow with the cut
            middle = (low + high) // 2
            if dialect.size(write(_cut(block, 0, cuts[middle]), dialect)) <= dialect.limit:
                low = middle + 1
            else:
                high = middle
        if low:
            at = cuts[low - 1]
            return _cut(block, 0, at), replace(_cut(block, at, len(text)), marker="")
    raise AssertionError("a limit holds at least one character with its markup")


def _cut(block: Block, start: int, end: int) -> Block:
    """The block with only characters [start, end) of its text."""
    spans: list[Span] = []
    at = 0
    for span in block.spans:
        first, last = max(start - at, 0), min(end - at, len(span.text))
        if first < last:
            spans.append(replace(span, text=span.text[first:last]))
        at += len(span.text)
    return replace(block, spans=tuple(spans))
