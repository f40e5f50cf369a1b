"""What an encoder is: text in, one vector and its token vectors out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.records import Vector

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as the encoder sees it."""

    vector: Vector
    """(dimension,), float32, L2-normalised."""
    tokens: Floats
    """(m, token dimension), float32, each row L2-normalised: the text's own tokens in order, without prefix and end
    tokens. The token dimension is the encoder's own choice; m is 0 when it gives no token vectors."""


class Encoder(Protocol):
    """Turns questions and passages into vectors that are compared by inner product. Safe to share between threads."""

    identity: str
    """Name and hash of weights and preparation. Vectors of different identities can't be compared."""
    dimension: int

    def query(self, text: str) -> Encoded:
        """Encode a question."""
        ...

    def queries(self, texts: Sequence[str]) -> list[Encoded]:
        """Encode questions together, which is faster than one by one; results are in the order given."""
        ...

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        """Encode passages; results are in the order given.

        Args:
            texts: each is cut at the encoder's longest input. All results are held in memory: token vectors take
                much more room than text, so pass a document at a time.
            on_progress: called after each batch with the number of texts done so far.
        """
        ...


def normalised(vectors: Floats) -> Floats:
    """Rows (..., d) divided by their L2 norm; a row of zeros stays as it is."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)
