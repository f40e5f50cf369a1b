"""What a set of vectors can do, however it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.integer[Any]]


class Vectors(Protocol):
    """Vectors in rows, compared by inner product. Immutable; safe to share between threads."""

    kind: str
    """Names the class in a saved segment."""

    def __len__(self) -> int:
        """Number of rows."""
        ...

    def nearest(self, vector: Floats, k: int) -> tuple[Floats, Rows]:
        """Inner products, or estimates of them, and rows of the k nearest, best first; fewer when there are fewer.

        Args:
            vector: (dimension,).
            k: at least 1.
        """
        ...

    def take(self, rows: Rows) -> Floats:
        """(len(rows), dimension) of these rows, as they were put in (to float16 precision)."""
        ...

    def save(self, folder: Path) -> None:
        """Write what `load` of the same class reads."""
        ...
