"""The visible text of a Word paragraph: with insertions, without deletions, field codes, hidden and white text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Element = Any
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_LEFT_OUT = frozenset(
    [WORD + name for name in ("del", "moveFrom", "instrText", "delText", "pPr", "rPr", "txbxContent", "rt", "sdtPr")]
    + [_ALTERNATIVES + "Fallback"]
)
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_SMALLEST = 4
"""Half points; smaller letters are there to be hidden."""


def paragraph_text(paragraph: Element) -> str:
    """Text of a paragraph as printed; a note's mark is `[^id]`, text boxes are left out."""
    return "".join(_pieces(paragraph)).replace("\t", " ").strip(" ")


def text_boxes(paragraph: Element) -> Iterator[Element]:
    """Contents of the text boxes anchored in a paragraph, each once."""
    for box in paragraph.iter(WORD + "txbxContent"):
        if next(box.iterancestors(_ALTERNATIVES + "Fallback"), None) is not None:
            continue
        outer = next(box.iterancestors(WORD + "txbxContent"), None)
        if outer is None or paragraph in outer.iter(WORD + "p"):
            yield box


def value_of(element: Element | None) -> str:
    """The `w:val` of a property, empty if there is none."""
    return "" if element is None else str(element.get(WORD + "val") or "")


def is_on(element: Element | None) -> bool:
    """Whether a property such as bold or hidden is there and not switched off."""
    return element is not None and value_of(element).lower() not in ("0", "false", "off", "none")


def _pieces(element: Element) -> Iterator[str]:
    for child in element:
        tag = child.tag
        if not isinstance(tag, str) or tag in _LEFT_OUT:
            continue
        name = tag.rpartition("}")[2]
        if tag == WORD + "t":
            yield child.text or ""
        elif tag == WORD + "r":
            if not _is_hidden(child):
                yield from _pieces(child)
        elif name in _CHARACTERS and tag.startswith(WORD):
            yield "" if child.get(WORD + "type") == "page" else _CHARACTERS[name]
        elif tag in (WORD + "footnoteReference", WORD + "endnoteReference"):
            yield f"[^{child.get(WORD + 'id', '')}]"
        elif name == "t" and tag.startswith("{http://schemas.openxmlformats.org/officeDocument/2006/math}"):
            yield child.text or ""
        else:
            yield from _pieces(child)


def _is_hidden(run: Element) -> bool:
    properties = run.find(WORD + "rPr")
    if properties is None:
        return False
    if is_on(properties.find(WORD + "vanish")) or is_on(properties.find(WORD + "webHidden")):
        return True
    size = value_of(properties.find(WORD + "sz"))
    if size.isdigit() and int(size) < _SMALLEST:
        return True
    white = value_of(properties.find(WORD + "color")).upper() == "FFFFFF"
    return white and not _on_colour(run, properties)


def _on_colour(run: Element, properties: Element) -> bool:
    """Whether the run, its paragraph or its cell has a background, or a table style may give one."""
    highlight = value_of(properties.find(WORD + "highlight"))
    if highlight and highlight not in ("none", "white"):
        return True
    shades = [properties.find(WORD + "shd")]
    for paragraph in run.iterancestors(WORD + "p"):
        shades.append(paragraph.find(f"{WORD}pPr/{WORD}shd"))
    for cell in run.iterancestors(WORD + "tc"):
        shades.append(cell.find(f"{WORD}tcPr/{WORD}shd"))
    for table in run.iterancestors(WORD + "tbl"):
        if value_of(table.find(f"{WORD}tblPr/{WORD}tblStyle")) not in ("", "TableNormal", "TableGrid"):
            return True
    fills = [(shade.get(WORD + "fill") or "").upper() for shade in shades if shade is not None]
    return any(fill not in ("", "AUTO", "FFFFFF") for fill in fills)
