"""How close a statement is to sentences of its source: by shared words, then by the encoder.

Vectors are compared after each language's mean is taken off (without this, all sentences of a multilingual encoder look
alike and the two languages lie apart; the centring is the first step of Mu & Viswanath 2018, "All-but-the-top",
arXiv:1702.01417), and token by token (the late interaction of Khattab & Zaharia 2020, arXiv:2004.12832).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from assistant.schema import Language
from knowledge.encoders import Encoded, Encoder
from knowledge.lexical import terms

SAME_LANGUAGE_BAR = 2.0
ACROSS_LANGUAGES_BAR = 0.8
"""Set on the tuning half of the planted faults (`docs/chat-models.md`)."""
_WORST_SHARE = 4
_NEAREST = 3
"""Sentences that a statement is matched with at most: it may sum up as many."""


@dataclass(frozen=True, slots=True)
class Match:
    """The sentences nearest to a statement, and how close they are as a multiple of the bar that applies."""

    places: tuple[int, ...]
    strength: float


class Closeness:
    """Compares texts; keeps what it has encoded. Safe to use from several threads."""

    def __init__(self, encoder: Encoder, means: Mapping[Language, NDArray[np.float32]]) -> None:
        self._encoder = encoder
        self._means = means
        self._kept: dict[str, Encoded] = {}
        self._lock = Lock()
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="encode")

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode texts in the background, so that a statement that rests on them need not wait."""
        self._ahead.submit(lambda: [self._encoded(text) for text in texts])

    def __enter__(self) -> Closeness:
        return self

    def __exit__(self, *_: object) -> None:
        """Drop what is still waiting to be encoded."""
        self._ahead.shutdown(wait=False, cancel_futures=True)

    def match(self, statement: str, sentences: Sequence[str]) -> Match:
        """The nearest sentences; a strength of 1 or more means that they say it, as far as meaning can tell."""
        if not sentences:
            return Match((), 0.0)
        language = language_of(statement)
        own = self._encoded(statement)
        vector = self._centred(own, language)
        others = [self._encoded(sentence) for sentence in sentences]
        near = np.array(
            [vector @ self._centred(other, language_of(text)) for other, text in zip(others, sentences, strict=True)]
        )
        order = np.argsort(-near, kind="stable")[:_NEAREST]
        best = int(order[0])
        same = language == language_of(sentences[best])
        places: tuple[int, ...] = (best,)
        strength = self._strength(own, [others[best]], float(near[best]), same)
        for place in order[1:]:
            more = (*places, int(place))
            joined = self._strength(own, [others[i] for i in more], float(near[best]), same)
            if joined > strength * 1.02:
                places, strength = more, joined
        return Match(places, strength)

    def _strength(self, own: Encoded, others: Sequence[Encoded], near: float, same: bool) -> float:
        tokens = np.concatenate([other.tokens for other in others])
        if not len(own.tokens) or not len(tokens):
            return near / 0.3
        matches = np.sort((own.tokens @ tokens.T).max(axis=1))
        average = float(matches.mean())
        if not same:
            return (near + average) / ACROSS_LANGUAGES_BAR
        worst = float(matches[: max(1, len(matches) // _WORST_SHARE)].mean())
        return (near + average + worst) / SAME_LANGUAGE_BAR

    def _centred(self, encoded: Encoded, language: Language) -> NDArray[np.float32]:
        mean = self._means.get(language)
        raw = encoded.vector if mean is None else encoded.vector - mean
        return np.asarray(raw / max(float(np.linalg.norm(raw)), 1e-9), dtype=np.float32)

    def _encoded(self, text: str) -> Encoded:
        with self._lock:
            kept = self._kept.get(text)
        if kept is None:
            kept = self._encoder.passages([text])[0]
            with self._lock:
                self._kept[text] = kept
        return kept


def language_of(text: str) -> Language:
    """zh when Chinese characters outnumber Latin words."""
    return "zh" if len(re.findall(r"[\u4e00-\u9fff]", text)) > len(re.findall(r"[A-Za-z]+", text)) else "en"


def shared_words(statement: str, sentences: Sequence[str]) -> tuple[tuple[int, ...], float]:
    """The fewest sentences that together hold most of the statement's words, and the share that they hold."""
    own = set(terms(statement))
    if not own:
        return (), 0.0
    held = [own & set(terms(sentence)) for sentence in sentences]
    places: tuple[int, ...] = ()
    covered: set[str] = set()
    while len(places) < _NEAREST:
        best = max(range(len(held)), key=lambda place: len(held[place] - covered), default=None)
        gained = len(held[best] - covered) if best is not None else 0
        if best is None or not gained or (places and gained < max(2, 0.12 * len(own))):
            break
        places, covered = (*places, best), covered | held[best]
    return places, len(covered) / len(own)
