"""The marks that chat models write, in their variants: `[2,3]`, `[[4]]`, `【5】`, `［6］`, `[T1]`, `【7†source】`."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

MAX_MARK = 48
"""Characters of the longest mark; an opening bracket without its end after so many is none."""
_ONE = r"\^?(?:[TtＴｔ]\s?)?\d{1,3}"
_MARK = re.compile(
    rf"(?:\[\[|[\[【［])\s*(?:来源|出处|资料|引用|source|ref|doc|document|passage|tool|run)?\s*[:：#.]?\s*"
    rf"(?P<names>{_ONE}(?:\s*(?:[,，、;；&]|and|和|[-–—~～]|\]\[)\s*{_ONE})*)"
    r"(?:\s*[†|][^\]】］\n]{0,40})?\s*(?:\]\]|[\]】］])(?!\()",
    re.I,
)
_RANGE = re.compile(rf"({_ONE})\s*[-–—~～]\s*({_ONE})", re.I)
_INLINE_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`\n]+\1(?!`)")
_LONGEST_RANGE = 12


@dataclass(frozen=True, slots=True)
class Mark:
    """One bracket of a text with the names in it."""

    start: int
    end: int
    names: tuple[str, ...]
    """"3" for a passage, "T1" for a calculation; as many as the bracket holds."""


def find_marks(text: str) -> list[Mark]:
    """The marks of a text in order; brackets inside inline code are code."""
    hidden = without_code(text)
    return [Mark(match.start(), match.end(), _names(match["names"])) for match in _MARK.finditer(hidden)]


def mark_at(text: str, position: int) -> Mark | None:
    """The mark that begins at a position."""
    match = _MARK.match(text, position)
    return Mark(match.start(), match.end(), _names(match["names"])) if match else None


def may_become_mark(text: str) -> bool:
    """Whether a text that ends here is the beginning of a mark."""
    return bool(text) and text[0] in "[【［" and len(text) <= MAX_MARK and not re.search(r"[\]】］]|\n", text[2:])


def without_marks(text: str) -> str:
    """The text without its marks and the spaces before them."""
    parts, at = [], 0
    for mark in find_marks(text):
        parts.append(text[at : mark.start].rstrip(" "))
        at = mark.end
    return "".join([*parts, text[at:]])


def without_code(text: str) -> str:
    """The text with inline code blanked out, of the same length."""
    return _INLINE_CODE.sub(lambda match: "·" * len(match.group()), text)


def _names(inside: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKC", inside).upper()
    names: list[str] = []
    for first, last in _RANGE.findall(plain):
        one, other = int(re.sub(r"\D", "", first)), int(re.sub(r"\D", "", last))
        letter = "T" if "T" in first else ""
        if one < other <= one + _LONGEST_RANGE:
            names += [f"{letter}{number}" for number in range(one, other + 1)]
    singles = re.findall(r"T?\s?\d{1,3}", _RANGE.sub(" ", plain) if names else plain)
    names += [("T" if single[0] == "T" else "") + str(int(re.sub(r"\D", "", single))) for single in singles]
    return tuple(dict.fromkeys(names))
