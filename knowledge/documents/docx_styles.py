"""What a Word paragraph is by its style and numbering: title, heading, list item, line of the table of contents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from knowledge.documents.docx_runs import WORD, value_of

Element = Any
_HEADING_NAME = re.compile(r"(?:heading|标题|標題)\s*([1-9])", re.I)
_TITLE_NAME = re.compile(r"title|标题|標題", re.I)
_CONTENTS_NAME = re.compile(r"(?:toc|目录|目錄)\s*\d|table of figures", re.I)
_LONGEST_CHAIN = 20


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph's role."""

    heading: int = 0
    is_title: bool = False
    is_contents: bool = False
    list_id: str = ""
    depth: int = 0


class Styles:
    """Styles and numbering of one document."""

    def __init__(self, document: Any) -> None:
        self._styles: dict[str, Element] = {}
        for style in document.styles.element.iter(WORD + "style"):
            self._styles[style.get(WORD + "styleId", "")] = style
        self._formats = _numbering(document)
        self._by_id = cache(self._style)

    def of(self, paragraph: Element) -> Style:
        """The role of a paragraph; its own properties come before its style's."""
        properties = paragraph.find(WORD + "pPr")
        if properties is None:
            return Style()
        base = self._by_id(value_of(properties.find(WORD + "pStyle")))
        outline = value_of(properties.find(WORD + "outlineLvl"))
        heading = int(outline) + 1 if outline.isdigit() and int(outline) < 9 else base.heading
        numbering = properties.find(WORD + "numPr")
        list_id, depth = base.list_id, base.depth
        if numbering is not None:
            list_id = value_of(numbering.find(WORD + "numId")) or list_id
            depth = int(value_of(numbering.find(WORD + "ilvl")) or depth)
        return Style(min(heading, 6), base.is_title, base.is_contents, "" if list_id == "0" else list_id, min(depth, 9))

    def is_bullet(self, list_id: str, depth: int) -> bool:
        """Whether a list's items carry a sign rather than a number."""
        return self._formats.get((list_id, depth), "bullet") in ("bullet", "none")

    def _style(self, style_id: str) -> Style:
        heading, list_id, depth = 0, "", 0
        is_title = is_contents = False
        current = self._styles.get(style_id)
        for _ in range(_LONGEST_CHAIN):
            if current is None:
                break
            name = value_of(current.find(WORD + "name")).strip()
            found = _HEADING_NAME.fullmatch(name)
            outline = value_of(current.find(f"{WORD}pPr/{WORD}outlineLvl"))
            heading = heading or (int(found[1]) if found else int(outline) + 1 if outline in set("012345678") else 0)
            is_title = is_title or _TITLE_NAME.fullmatch(name) is not None
            is_contents = is_contents or _CONTENTS_NAME.match(name) is not None
            numbering = current.find(f"{WORD}pPr/{WORD}numPr")
            if numbering is not None and not list_id:
                list_id = value_of(numbering.find(WORD + "numId"))
                depth = int(value_of(numbering.find(WORD + "ilvl")) or 0)
            current = self._styles.get(value_of(current.find(WORD + "basedOn")))
        return Style(heading, is_title, is_contents, list_id, depth)


def _numbering(document: Any) -> dict[tuple[str, int], str]:
    """Number format by list and depth."""
    part = next((r.target_part for r in document.part.rels.values() if r.reltype.endswith("/numbering")), None)
    if part is None:
        return {}
    abstract: dict[str, dict[int, str]] = {}
    for definition in part.element.iter(WORD + "abstractNum"):
        levels = {
            int(level.get(WORD + "ilvl", "0")): value_of(level.find(WORD + "numFmt"))
            for level in definition.iter(WORD + "lvl")
        }
        abstract[definition.get(WORD + "abstractNumId", "")] = levels
    formats: dict[tuple[str, int], str] = {}
    for number in part.element.iter(WORD + "num"):
        for depth, form in abstract.get(value_of(number.find(WORD + "abstractNumId")), {}).items():
            formats[number.get(WORD + "numId", ""), depth] = form
    return formats
