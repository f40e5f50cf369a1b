"""Which passages and questions are trained together: passages of a batch are easily mistaken for each other."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from knowledge.encoders.base import Encoder, Floats
from knowledge.training.material import Passage
from knowledge.training.noise import as_typed

QUESTIONS = 4
"""Of one passage in a batch; the passage, ten times as long, is encoded once for all of them."""
ROWS = 24
FAMILY = 6
"""Rows of a batch that hold what the first one's questions are mistaken for."""
_WINDOW = (1, 3)
"""Sentences of a passage that are shown alone, as they are indexed."""


@dataclass(frozen=True, slots=True)
class Row:
    """A passage and `QUESTIONS` questions that it answers."""

    place: int
    """Of the passage in the material."""
    questions: tuple[str, ...]


def mined_neighbours(passages: Sequence[Passage], encoder: Encoder) -> list[list[int]]:
    """Of each passage, those that its questions are mistaken for, likeliest first; its twins are left out."""
    texts = np.stack([encoded.vector for encoded in encoder.passages([p.under_headings for p in passages])])
    neighbours = []
    for place, passage in enumerate(passages):
        questions: Floats = np.stack([e.vector for e in encoder.queries(passage.questions[:8])])
        nearest = np.argsort(-(questions @ texts.T).max(axis=0))[: 4 * FAMILY].tolist()
        neighbours.append([other for other in nearest if other != place and not twins(passages[other], passage)])
    return neighbours


def twins(one: Passage, other: Passage) -> bool:
    """Whether the passages are of one subject in two languages, so that either may answer the other's questions."""
    return one.subject == other.subject and one.language != other.language


def arranged(
    passages: Sequence[Passage], neighbours: Sequence[Sequence[int]], epochs: int, seed: int
) -> Iterator[list[Row]]:
    """Batches of `ROWS` rows, each passage once a batch; every question of every passage once an epoch."""
    chooser = random.Random(seed)
    for _ in range(epochs):
        waiting = _rows_by_passage(passages, chooser)
        while len(waiting) >= ROWS:
            yield [Row(place, waiting[place].pop()) for place in _chosen(waiting, neighbours, chooser)]
            waiting = {place: rows for place, rows in waiting.items() if rows}


def _rows_by_passage(passages: Sequence[Passage], chooser: random.Random) -> dict[int, list[tuple[str, ...]]]:
    rows: dict[int, list[tuple[str, ...]]] = {}
    for place, passage in enumerate(passages):
        questions = list(dict.fromkeys(passage.questions))
        chooser.shuffle(questions)
        questions += chooser.choices(questions, k=-len(questions) % QUESTIONS)
        rows[place] = [tuple(questions[start : start + QUESTIONS]) for start in range(0, len(questions), QUESTIONS)]
    return rows


def _chosen(
    waiting: dict[int, list[tuple[str, ...]]], neighbours: Sequence[Sequence[int]], chooser: random.Random
) -> list[int]:
    chosen: dict[int, None] = {}
    places = list(waiting)
    while len(chosen) < ROWS:
        first = chooser.choice(places)
        family = [first, *(place for place in neighbours[first] if place in waiting and place not in chosen)]
        chosen.update(dict.fromkeys(family[:FAMILY]))
    return list(chosen)[:ROWS]


def shown(passage: Passage, chooser: random.Random) -> str:
    """The passage in one of the forms in which it is indexed: under its headings, bare, or some of its sentences."""
    draw = chooser.random()
    if draw < 0.5 or not passage.sentences:
        return passage.under_headings
    if draw < 0.75:
        return passage.text
    length = chooser.randint(*_WINDOW)
    start = chooser.randrange(max(1, len(passage.sentences) - length + 1))
    return " ".join(passage.sentences[start : start + length])


def columns(
    batches: Iterator[list[Row]], passages: Sequence[Passage], general: int, seed: int
) -> dict[str, list[object]]:
    """The batches one after the other as columns of a data set.

    Args:
        batches: from `arranged`.
        passages: the material.
        general: number of general texts; each row brings the number of one.
        seed: of the forms of passages, the typing of questions and the choice of general texts.

    Returns:
        `passage`, `question_1` … `question_4`, and `label`: (place of the passage, number of the general text).
    """
    chooser = random.Random(seed)
    names = ["passage", *(f"question_{number}" for number in range(1, QUESTIONS + 1)), "label"]
    found: dict[str, list[object]] = {name: [] for name in names}
    for batch in batches:
        texts = chooser.sample(range(general), ROWS)
        for row, text in zip(batch, texts, strict=True):
            values = [
                shown(passages[row.place], chooser),
                *(as_typed(question, chooser) for question in row.questions),
                [row.place, text],
            ]
            for name, value in zip(names, values, strict=True):
                found[name].append(value)
    return found
