"""Texts on other subjects that similarities are measured against.

An encoder finds texts of one language more alike than texts of two, and questions that nobody answered look alike too.
How near a question is to these texts says how much of its nearness to the store means nothing.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from knowledge.encoders.base import Encoded
from knowledge.encoders.tokens import maxsim, pack
from knowledge.records import Language
from knowledge.rows import pack_vectors
from knowledge.segment import LANGUAGES
from knowledge.statements import meta, set_meta

if TYPE_CHECKING:
    import sqlite3

    from knowledge.encoders import Encoder
    from knowledge.store import Store

Floats = NDArray[np.float32]
TEXTS = Path(__file__).with_name("background.tsv")
"""Passages come in pairs that say the same in Chinese and English."""


@dataclass(frozen=True, slots=True)
class Similarity:
    """A question's similarity to the background."""

    mean: float
    """Mean cosine with passages in the question's language."""
    highest: float
    """Largest of these cosines."""
    gap: float
    """Mean cosine with passages in the other language, less `mean`."""
    late_mean: float
    late_highest: float
    late_gap: float
    """The same for MaxSim."""
    questions: Floats
    """Cosines with background questions in the question's language, highest first."""


@dataclass(frozen=True)
class Background:
    """The background as an encoder sees it; empty where the store has none."""

    passages: dict[Language, Floats]
    packed: dict[Language, list[bytes]]
    questions: dict[Language, Floats]

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> Background:
        """From the store's rows."""
        rows: dict[tuple[str, str], list[tuple[bytes, bytes]]] = {}
        for language, kind, vector, packed in connection.execute("SELECT * FROM background ORDER BY rowid"):
            rows.setdefault((language, kind), []).append((vector, packed))

        def vectors(language: Language, kind: str) -> Floats:
            found = rows.get((language, kind), [])
            if not found:
                return np.zeros((0, 0), np.float32)
            return np.stack([np.frombuffer(vector, "<f2") for vector, _ in found]).astype(np.float32)

        return cls(
            passages={language: vectors(language, "passage") for language in LANGUAGES},
            packed={language: [packed for _, packed in rows.get((language, "passage"), [])] for language in LANGUAGES},
            questions={language: vectors(language, "question") for language in LANGUAGES},
        )

    @cached_property
    def empty(self) -> bool:
        """Whether there is nothing to compare with."""
        return not all(len(vectors) for vectors in (*self.passages.values(), *self.questions.values()))

    def similarity(self, query: Encoded, language: Language) -> Similarity:
        """How near a question in a language is to the background."""
        if self.empty:
            return Similarity(0, 0, 0, 0, 0, 0, np.zeros(1, np.float32))
        other: Language = "en" if language == "zh" else "zh"
        own, foreign = self.passages[language] @ query.vector, self.passages[other] @ query.vector
        late = maxsim(query.tokens, [*self.packed[language], *self.packed[other]])
        late_own, late_foreign = late[: len(own)], late[len(own) :]
        return Similarity(
            mean=float(own.mean()),
            highest=float(own.max()),
            gap=float(foreign.mean() - own.mean()),
            late_mean=float(late_own.mean()),
            late_highest=float(late_own.max()),
            late_gap=float(late_foreign.mean() - late_own.mean()),
            questions=np.sort(self.questions[language] @ query.vector)[::-1],
        )


def ensure_background(store: Store, encoder: Encoder) -> None:
    """Encode the background into the store, unless it is there already.

    Raises:
        StoreError: the store can't be written.
    """
    data = TEXTS.read_bytes()
    version = f"{encoder.identity} {hashlib.sha256(data).hexdigest()}"
    with store.reading() as connection:
        if meta(connection, "background") == version:
            return
    rows = list(csv.DictReader(data.decode("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    encoded = encoder.passages([row["text"] for row in rows])
    with store.writing() as connection:
        connection.execute("DELETE FROM background")
        connection.executemany(
            "INSERT INTO background VALUES (?, ?, ?, ?)",
            [
                (
                    row["language"],
                    row["kind"],
                    pack_vectors(one.vector),
                    pack(one.tokens) if row["kind"] == "passage" else b"",
                )
                for row, one in zip(rows, encoded, strict=True)
            ],
        )
        set_meta(connection, "background", version)
