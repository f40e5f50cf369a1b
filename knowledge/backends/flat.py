"""Exact search: every vector is compared, which is fastest while there are few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.backends.base import Floats, Rows

_FILE = "vectors.faiss"
_BATCH_ROWS = 16384


class FlatVectors:
    """A faiss.IndexFlatIP, in memory or mapped from a file."""

    kind = "flat"

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, rows: NDArray[np.float16]) -> FlatVectors:
        """Of (n, dimension) rows."""
        import faiss

        index = faiss.IndexFlatIP(rows.shape[1])
        for start in range(0, len(rows), _BATCH_ROWS):
            index.add(rows[start : start + _BATCH_ROWS].astype(np.float32))
        return cls(index)

    @classmethod
    def load(cls, folder: Path) -> FlatVectors:
        """Map the file into memory.

        Raises:
            RuntimeError: it is damaged.
        """
        import faiss

        return cls(faiss.read_index(str(folder / _FILE), faiss.IO_FLAG_MMAP_IFC))

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def nearest(self, vector: Floats, k: int) -> tuple[Floats, Rows]:
        """All are compared."""
        if not len(self):
            return np.zeros(0, np.float32), np.zeros(0, np.int64)
        scores, rows = self._index.search(vector.reshape(1, -1), min(k, len(self)))
        return scores[0], rows[0]

    def take(self, rows: Rows) -> Floats:
        """A copy of these rows."""
        import faiss

        if not len(self):
            return np.zeros((0, self._index.d), np.float32)
        flat: Floats = faiss.rev_swig_ptr(self._index.get_xb(), len(self) * self._index.d)
        return flat.reshape(len(self), self._index.d)[rows]

    def save(self, folder: Path) -> None:
        """Write one file."""
        import faiss

        faiss.write_index(self._index, str(folder / _FILE))
