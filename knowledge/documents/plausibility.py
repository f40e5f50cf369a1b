"""How likely a string is as Chinese or English writing; misread bytes and broken PDF fonts cost far more."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
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
_SAMPLE = 20_000
_ENOUGH = 60
"""Characters that are needed to judge a text."""
_GIBBERISH = 10.5
_LETTERS_BY_CHANCE = 3.6
"""Mean cost of a letter (nats): English has 2.9, letters by equal chance 3.7."""
_SHARES = (
    8.2,
    1.5,
    2.8,
    4.3,
    12.7,
    2.2,
    2.0,
    6.1,
    7.0,
    0.15,
    0.77,
    4.0,
    2.4,
    6.7,
    7.5,
    1.9,
    0.1,
    6.0,
    6.3,
    9.1,
    2.8,
    1.0,
    2.4,
)
_LETTERS = {
    letter: -math.log(share / 100)
    for letter, share in zip("abcdefghijklmnopqrstuvwxyz", (*_SHARES, 0.15, 2.0, 0.07), strict=True)
}
"""Cost of each letter in English, from its share in percent (Robert Lewand, Cryptological Mathematics, 2000)."""
_COMMON = re.compile(r"\b(?:the|of|and|to|in|for|is|with|on|as|by|or|are|from)\b", re.I)
_TYPOGRAPHIC = frozenset("\u0085\u2028\u2029‘’“”–—…•·×÷°±€£¥©®™§←→≤≥≈")


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


def is_gibberish(text: str) -> bool:
    """Whether a text of some length is no writing in Chinese or English: wrong Han characters, or letters by chance."""
    sample = text[:_SAMPLE]
    beyond = sum(1 for character in sample if character >= "\x80")
    if beyond > 0.3 * len(sample) and beyond >= _ENOUGH and mean_cost(sample) > _GIBBERISH:
        return True
    letters = Counter(character for character in sample.lower() if "a" <= character <= "z")
    count = letters.total()
    digits = sum(1 for character in sample if character.isdigit())
    if count < 5 * _ENOUGH or digits > 0.1 * count or len(_COMMON.findall(sample)) > 0.005 * count:
        return False
    return sum(_LETTERS[letter] * times for letter, times in letters.items()) / count > _LETTERS_BY_CHANCE


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
