"""An encoder that needs no model: a text's vector is the hashed sum of its terms."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np

from knowledge.encoders.base import Encoded, normalised
from knowledge.lexical import terms


class HashingEncoder:
    """Texts that share terms are near each other."""

    def __init__(self, identity: str = "hashing-64", dimension: int = 64) -> None:
        self.identity = identity
        self.dimension = dimension

    def query(self, text: str) -> Encoded:
        return self._encode(text)

    def queries(self, texts: Sequence[str]) -> list[Encoded]:
        return self.passages(texts)

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        return [self._encode(text) for text in texts]

    def _encode(self, text: str) -> Encoded:
        rows = np.zeros((max(1, len(terms(text))), self.dimension), np.float32)
        for row, term in zip(rows, terms(text), strict=False):
            seed = zlib.crc32(term.encode())
            row[seed % self.dimension] = 1.0 if seed & 1 << 16 else -1.0
            row[(seed >> 8) % self.dimension] += 0.5
        return Encoded(normalised(rows.sum(axis=0)), normalised(rows))
