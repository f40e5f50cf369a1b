"""How likely it is that the best passages answer a question: a logistic model over several pieces of evidence.

The best cosine alone hardly tells answered from unanswered questions. What tells them apart is how far the best
passages stand out from the store's others, from passages and questions on other subjects, and how many of the
question's terms they hold. How it was fitted: `knowledge/calibration.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.background import Background, Similarity
from knowledge.fusion import COSINE_SPREAD, Evidence
from knowledge.records import Language

MODEL = Path(__file__).with_name("coverage_model.json")
DRIFT = 0.25
"""Share of the way to the middle by which the background may have moved for the subject's direction to be used."""
FEW = 100
"""Passages of a store below which what stands out among them says less, and other coefficients hold."""
TOP = 4
"""Passages that an answer is made from."""

ENCODER_BOUND = ("paragraph", "late", "subject")
"""Features that mean something only with the encoder that the model was fitted with."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Features:
    """What the model looks at. Similarities have the gap between languages made up for."""

    late_over: float
    """Best MaxSim of the top passages over the highest of the background."""
    best_over: float
    """Best cosine of a sentence or question form of the top passages over the highest of the background."""
    paragraph_over: float
    late_spread: float
    """Best MaxSim in standard deviations above the reranked ones."""
    paragraph_spread: float
    """Best paragraph in standard deviations above a sample of the store."""
    store_level: float
    """Mean cosine of that sample over the background's mean."""
    margin: float
    """Fused score of the first over the mean of the next nine."""
    overlap: float
    """Share of the question's terms, by inverse document frequency, that the best of the top passages holds."""
    known: float
    """Share that occurs anywhere in the store."""
    same_language: float
    """1 when the first passage is in the question's language."""
    other_questions: float
    """Mean cosine of the nearest three background questions."""
    other_peak: float
    """Cosine of the nearest background question over the mean of all: high when the question is one of them."""
    chinese: float
    paragraph: float
    """Best cosine of the top passages; what it means depends on the encoder."""
    late: float
    """Best MaxSim of the top passages, likewise."""
    subject: float | None
    """How much the question sounds like one on this program's subject; None where the passages aren't on it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, best first; n candidates."""

    scores: Floats
    evidence: Evidence
    late: Floats
    reranked: int
    """Number of first candidates that MaxSim was computed of."""
    overlap: Floats
    """(TOP,) at most: share of the question's terms in each top passage."""
    known: float
    sample: Floats
    """Cosines of the paragraphs of a sample of the store."""
    query: Floats
    paragraphs: Floats
    """(TOP, dimension) at most: vectors of the top passages."""
    passages: int
    """Of the whole store."""


def features(found: Found, similar: Similarity, language: Language, subject: Subject | None) -> Features:
    """The evidence in numbers; `found` holds at least one candidate."""
    top = slice(0, TOP)
    late, paragraph, best = found.late[: found.reranked], found.evidence.paragraph, found.evidence.best
    return Features(
        late_over=float(late[top].max(initial=0.0)) - similar.late_highest,
        best_over=float(best[top].max()) - similar.highest,
        paragraph_over=float(paragraph[top].max()) - similar.highest,
        late_spread=_stands_out(late, late),
        paragraph_spread=_stands_out(paragraph[top], found.sample),
        store_level=float(found.sample.mean()) - similar.mean,
        margin=float(found.scores[0] - found.scores[1:10].mean()) if len(found.scores) > 1 else 0.0,
        overlap=float(found.overlap.max(initial=0.0)),
        known=found.known,
        same_language=float(found.evidence.same_language[0]),
        other_questions=float(similar.questions[:3].mean()),
        other_peak=float(similar.questions[0] - similar.questions.mean()),
        chinese=float(language == "zh"),
        paragraph=float(paragraph[top].max()),
        late=float(late[top].max(initial=0.0)),
        subject=subject.agreement(found.query, found.paragraphs, language) if subject is not None else None,
    )


def probability(found: Found, background: Background, similar: Similarity, language: Language) -> float:
    """Probability, 0 to 1, that the top passages answer the question."""
    model = load_model()
    subject = model.subject if model.subject.holds(background.questions) else None
    return model.probability(features(found, similar, language, subject), few=found.passages < FEW)


def _stands_out(values: Floats, among: Floats) -> float:
    if not len(values) or not len(among):
        return 0.0
    return float((values.max() - among.mean()) / max(float(among.std()), COSINE_SPREAD))


@dataclass(frozen=True, slots=True)
class Subject:
    """A direction in the encoder's space that tells questions on this program's subject from others."""

    direction: Floats
    """(dimension,)"""
    question_middle: dict[str, float]
    """Projection half-way between the two kinds of questions, by language."""
    passage_middle: float
    """Projection half-way between passages on the subject and others."""
    background: dict[str, float]
    """Mean projection of background questions when it was fitted, by language."""

    def holds(self, questions: Mapping[Language, Floats]) -> bool:
        """Whether the encoder still sees background questions where it saw them: a changed one has other directions."""
        return all(
            vectors.shape[1] == len(self.direction)
            and abs(float((vectors @ self.direction).mean()) - self.background[language])
            < DRIFT * abs(self.question_middle[language] - self.background[language])
            for language, vectors in questions.items()
        )

    def agreement(self, query: Floats, paragraphs: Floats, language: Language) -> float | None:
        """The question's distance from the middle; None unless most of the passages are on the subject.

        A store on other subjects must answer questions on those.
        """
        if float(np.median(paragraphs @ self.direction)) < self.passage_middle:
            return None
        return float(query @ self.direction) - self.question_middle[language]


@dataclass(frozen=True, slots=True)
class Logistic:
    """Coefficients on standardised features."""

    intercept: float
    weights: dict[str, float]
    means: dict[str, float]
    spreads: dict[str, float]

    def probability(self, values: Features) -> float:
        """The sigmoid of the weighted sum."""
        total = self.intercept
        for name, weight in self.weights.items():
            total += weight * (getattr(values, name) - self.means[name]) / self.spreads[name]
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


@dataclass(frozen=True, slots=True)
class BySize:
    """Coefficients for stores of at least `FEW` passages and for smaller ones."""

    many: Logistic
    few: Logistic


@dataclass(frozen=True, slots=True)
class Model:
    """What was fitted."""

    subject: Subject
    on_subject: BySize
    """Where the passages are on the program's subject."""
    general: BySize
    """Where they are not, and with other encoders: without `ENCODER_BOUND`."""

    def probability(self, values: Features, *, few: bool) -> float:
        """That the top passages answer; `few`: the store holds fewer than `FEW` passages."""
        by_size = self.general if values.subject is None else self.on_subject
        return (by_size.few if few else by_size.many).probability(values)


@cache
def load_model() -> Model:
    """The fitted model that ships."""
    return read_model(json.loads(MODEL.read_text(encoding="utf-8")))


def read_model(data: dict[str, Any]) -> Model:
    """A model from its JSON."""
    subject = data["subject"]
    return Model(
        subject=Subject(
            np.array(subject["direction"], np.float32),
            subject["question_middle"],
            subject["passage_middle"],
            subject["background"],
        ),
        on_subject=_by_size(data["on_subject"]),
        general=_by_size(data["general"]),
    )


def _by_size(data: dict[str, Any]) -> BySize:
    return BySize(many=Logistic(**data["many"]), few=Logistic(**data["few"]))
