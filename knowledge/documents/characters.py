"""The one normalisation that stored text gets: line ends, and characters that no reader sees."""

from __future__ import annotations

import re

_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\ufffe\uffff]|[\ud800-\udfff]")
_BLANK = re.compile("[\\s\u200b-\u200f\u2060\ufeff\u00ad\u3164\u2800]*")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_LATIN = re.compile("[A-Za-z]")
LANGUAGE_SAMPLE = 200_000


def words(text: str) -> frozenset[str]:
    """The words of a constant, so that long sets stay readable."""
    return frozenset(text.split())


def clean(text: str) -> str:
    """Give every line the same end (`\\n`) and drop control characters and byte-order marks; all else stays."""
    return _UNSEEN.sub("", _LINE_END.sub("\n", text))


def is_blank(text: str) -> bool:
    """Whether nothing of the text can be seen."""
    if text[:1].isalnum():
        return False
    return _BLANK.fullmatch(text) is not None


def han_share(text: str) -> float:
    """Share of Han characters among Han and Latin ones, where a Latin word counts as much as two Han characters."""
    sample = text[:LANGUAGE_SAMPLE]
    han = len(_HAN.findall(sample))
    words = len(_LATIN.findall(sample)) / 2.5
    return han / (han + words) if han + words else 0.0


def is_chinese(text: str) -> bool:
    """Whether Chinese carries the text; Chinese text on this field is full of Latin names, so a third is enough."""
    return han_share(text) >= 0.3
