"""Every text of the interface in Chinese and English."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from assistant.schema import Language

_HERE = Path(__file__).parent


def word(key: str, language: Language) -> str:
    """A text of the interface.

    Raises:
        KeyError: there is none of that key.
    """
    return _words()[key][language]


def field_label(name: str, language: Language) -> str:
    """A calculator's argument or result field as people call it; an unlisted name is written out in words."""
    known = _labels("fields.csv").get(name)
    return known[language] if known else name.replace("_", " ").capitalize()


def choice_label(value: object, language: Language) -> str:
    """One of the values that a field may take."""
    known = _labels("choices.csv").get(str(value))
    return known[language] if known else str(value)


def field_help(description: str | None, language: Language) -> str:
    """What a calculator's model says of a field, which it says in English; "" where it says nothing."""
    if description is None:
        return ""
    known = _labels("helps.csv").get(description)
    return known[language] if known else description


def script_words(language: Language) -> dict[str, str]:
    """What the page's script says by itself."""
    return {key.removeprefix("js_"): texts[language] for key, texts in _words().items() if key.startswith("js_")}


def _words() -> dict[str, dict[Language, str]]:
    return _labels("words.csv")


@cache
def _labels(file: str) -> dict[str, dict[Language, str]]:
    with (_HERE / file).open(encoding="utf-8", newline="") as opened:
        return {row.get("name") or row["en"]: {"en": row["en"], "zh": row["zh"]} for row in csv.DictReader(opened)}
