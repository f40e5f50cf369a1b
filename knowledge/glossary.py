"""The glossary: what people call the same thing, in both languages, so that words of one find passages in another's.

A CSV file of `concept, language, form, kind`. A form belongs to one concept; so no chain of forms leads back to itself.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.errors import InvalidInput
from knowledge.lexical import normalise, terms

GLOSSARY = Path(__file__).with_name("glossary.csv")
KINDS = ("term", "abbreviation", "slang", "variant")
_COLUMNS = {"concept", "language", "form", "kind"}
_LONGEST = 12
"""Characters of a Chinese form, words of a Latin one, that are looked for."""


@dataclass(frozen=True)
class Glossary:
    """Concepts with their forms, and the concept of each form as it is looked up."""

    forms: Mapping[str, tuple[str, ...]]
    """By concept."""
    concepts: Mapping[str, str]
    """By form, its words without what parts them."""

    def concepts_in(self, text: str) -> list[str]:
        """The concepts that a text names, each once; a longer form hides those inside it."""
        return list(dict.fromkeys(self._found(normalise(text))))

    def expansions(self, text: str) -> list[tuple[tuple[str, ...], ...]]:
        """For each concept in the text, the terms of its forms that the text doesn't hold."""
        concepts = self.concepts_in(text)
        held = set(terms(text)) if concepts else set()
        groups = [
            tuple(form for form in dict.fromkeys(map(_terms, self.forms[concept])) if not held.issuperset(form))
            for concept in concepts
        ]
        return [group for group in groups if group]

    def _found(self, text: str) -> Iterator[str]:
        words = list(_words(text))
        place = 0
        while place < len(words):
            for length in range(min(_LONGEST, len(words) - place), 0, -1):
                concept = self.concepts.get("".join(words[place : place + length]))
                if concept is not None:
                    yield concept
                    place += length
                    break
            else:
                place += 1


@cache
def load_glossary(own: Path | None = None) -> Glossary:
    """The shipped glossary with a company's own forms; an own form overrides a shipped one.

    Raises:
        InvalidInput: a row is incomplete, of an unknown kind, or gives a form to two concepts; the message names it.
    """
    concepts: dict[str, str] = {}
    forms: dict[str, list[str]] = {}
    for path in (GLOSSARY, *([own] if own is not None else [])):
        mine: dict[str, str] = {}
        for number, row in enumerate(_rows(path), 2):
            concept, form = row["concept"], row["form"]
            key = "".join(_words(normalise(form)))
            if mine.setdefault(key, concept) != concept:
                raise InvalidInput(
                    f"{path.name}, line {number}: “{form}” stands for {mine[key]} and for {concept}: keep one of them."
                )
            forms.setdefault(concept, []).append(form)
        concepts |= mine
    return Glossary({concept: tuple(found) for concept, found in forms.items()}, concepts)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if not _COLUMNS.issubset(reader.fieldnames or ()):
                raise InvalidInput(f"{path.name}: the first line must name the columns {', '.join(sorted(_COLUMNS))}.")
            for row in reader:
                if not row["concept"] or not row["form"] or row["kind"] not in KINDS:
                    raise InvalidInput(
                        f"{path.name}, line {reader.line_num}: concept and form must be given, kind one of "
                        f"{', '.join(KINDS)}."
                    )
                yield row
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} can't be read: {error}. Give a CSV file in UTF-8.") from error


@cache
def _terms(form: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms(form)))


def _words(text: str) -> Iterator[str]:
    """Latin words and numbers, each Chinese character by itself; spaces and hyphens between words don't count."""
    word = ""
    for character in text:
        if character.isalnum() and character.isascii():
            word += character
            continue
        if word:
            yield word
            word = ""
        if character.isalnum() or character in "+#%":
            yield character
    if word:
        yield word
