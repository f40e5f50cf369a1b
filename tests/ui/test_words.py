"""Texts exist in both languages, and every text that the code asks for is there."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

import ui
from ui.words import script_words, word

HERE = Path(ui.__file__).parent


@pytest.mark.parametrize("file", ["words.csv", "fields.csv", "helps.csv"])
def test_both_languages_are_filled_in_once(file: str) -> None:
    with (HERE / file).open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert all(row["en"].strip() and row["zh"].strip() for row in rows)
    names = [row.get("name") or row["en"] for row in rows]
    assert len(names) == len(set(names))


def test_every_text_that_the_code_names_exists() -> None:
    source = "\n".join(path.read_text("utf-8") for path in HERE.glob("*.py"))
    asked = set(re.findall(r"""(?:word|say|both|labelled)\(["'](\w+)["']""", source))
    assert len(asked) > 80
    for key in asked:
        assert word(key, "zh") and word(key, "en")


def test_every_text_that_the_script_names_exists() -> None:
    script = "\n".join(path.read_text("utf-8") for path in (HERE / "static" / "js").glob("*.js"))
    asked = set(re.findall(r"\bwords\.(\w+)", script))
    assert asked and asked <= set(script_words("en"))
