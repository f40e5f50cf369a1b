"""How likely a string is as Chinese or English writing; misread bytes and broken PDF fonts score far below real text."""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.resources import files

_RARE_HAN = 17.0
_PUNCTUATION = 5.0
_KANA = 8.0
_HANGUL = 12.0
_TYPOGRAPHY = 6.0
_IN_WORD = 6.0
_OUT_OF_WORD = 13.0
_OTHER = 14.0
_NEVER = 20.0
_ASCII = 3.5
_TYPOGRAPHIC = frozenset("‘’“”–—…•·×÷°±€£¥©®™§←→≤≥≈")


def cost(text: str) -> float:
    """Negative log-probability (nats) of the whole text; the likeliest of several readings has the lowest."""
    han = _han_cost()
    total = 0.0
    for i, character in enumerate(text):
        total += _ASCII if character < "\x80" else han.get(character) or _cost(character, text, i)
    return total


def mean_cost(text: str) -> float:
    """Mean cost (nats) of the characters beyond ASCII: 6 to 8 for real text, above 10 for misread text; 0 if none."""
    beyond = sum(1 for character in text if character >= "\x80")
    return (cost(text) - _ASCII * (len(text) - beyond)) / beyond if beyond else 0.0


@cache
def _han_cost() -> dict[str, float]:
    costs: dict[str, float] = {}
    for line in files("knowledge.documents").joinpath("han_frequency.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            cost, characters = line.split("\t")
            costs.update(dict.fromkeys(characters, float(cost)))
    return costs


def _cost(character: str, text: str, i: int) -> float:
    code = ord(character)
    if character in _TYPOGRAPHIC:
        return _TYPOGRAPHY
    if 0x3400 <= code <= 0x9FFF or 0x20000 <= code <= 0x323AF:
        return _RARE_HAN
    if 0x3000 <= code <= 0x303F or 0xFF01 <= code <= 0xFF5E:
        return _PUNCTUATION
    if 0x3040 <= code <= 0x30FF:
        return _KANA
    if 0xAC00 <= code <= 0xD7A3:
        return _HANGUL
    if code < 0x250 and character.isalpha():
        around = text[max(i - 1, 0) : i] + text[i + 1 : i + 2]
        return _IN_WORD if any(c.isascii() and c.isalpha() for c in around) else _OUT_OF_WORD
    if unicodedata.category(character) in ("Co", "Cn", "Cc", "Cs"):
        return _NEVER
    return _OTHER
