"""Questions as they are typed in a hurry: letters swapped or dropped, traditional characters, Pinyin without tones."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

TYPO = 0.10
TRADITIONAL = 0.05
PINYIN = 0.05
"""Shares of questions that are changed so."""
_LEAST_CHARACTERS = 8


def as_typed(question: str, chooser: random.Random) -> str:
    """The question, sometimes changed."""
    draw = chooser.random()
    chinese = any("\u4e00" <= character <= "\u9fff" for character in question)
    if draw < TYPO:
        return _with_typo(question, chooser)
    if chinese and draw < TYPO + TRADITIONAL:
        return str(_to_traditional().convert(question))
    if chinese and draw < TYPO + TRADITIONAL + PINYIN:
        from pypinyin import lazy_pinyin

        return " ".join(lazy_pinyin(question))
    return question


def _with_typo(question: str, chooser: random.Random) -> str:
    """Two neighbouring letters swapped, one dropped, or one doubled; digits stay, since they are facts."""
    places = [i for i in range(len(question) - 1) if question[i : i + 2].isalpha()]
    if len(question) < _LEAST_CHARACTERS or not places:
        return question
    at = chooser.choice(places)
    pair = question[at : at + 2]
    return question[:at] + chooser.choice((pair[::-1], pair[0], pair[0] + pair)) + question[at + 2 :]


@cache
def _to_traditional() -> Any:
    from opencc import OpenCC

    return OpenCC("s2t")
