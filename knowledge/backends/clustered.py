"""Search of many vectors: those of the nearest clusters are compared, by 8-bit codes that are mapped from disk.

Inverted lists (Sivic and Zisserman 2003) over k-means clusters, with one byte a component (FAISS's 8-bit scalar
quantisation). The rows themselves lie beside them as float16 and are read a few at a time, so that a process holds a
quarter of what exact search would. How many clusters are looked at is measured when the index is built.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.backends.base import Floats, Rows

RECALL = 0.99
"""Of the ten nearest, measured on the index's own probes, that decides how many clusters a search looks at."""
_CENTROIDS = "centroids.faiss"
_ROWS = "rows.f16"
_BATCH_ROWS = 32768
_POINTS_PER_CENTROID = 39
_ITERATIONS = 8
_PROBES = 128
_TOP = 10


class ClusteredVectors:
    """A faiss.IndexIVFScalarQuantizer over a file of float16 rows."""

    kind = "clustered"

    def __init__(self, index: Any, rows: Path) -> None:
        """`rows`: the file; it may be removed while this object is in use."""
        self._index = index
        self._dimension = int(index.d)
        self._count = rows.stat().st_size // (2 * self._dimension)
        self._rows = rows
        self._handle = os.open(rows, os.O_RDONLY)
        weakref.finalize(self, os.close, self._handle)

    @classmethod
    def build(cls, rows: Path, dimension: int) -> ClusteredVectors:
        """Cluster a file of float16 rows. One core-minute or so a million."""
        import faiss

        mapped = np.memmap(rows, "<f2", "r").reshape(-1, dimension)
        count = len(mapped)
        clusters = 2 ** round(np.log2(2 * np.sqrt(count)))
        coarse = faiss.IndexFlatIP(dimension)
        index = faiss.IndexIVFScalarQuantizer(
            coarse, dimension, clusters, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT, True
        )
        index.cp.niter = _ITERATIONS
        index.cp.min_points_per_centroid = 1  # or FAISS writes a warning to stderr
        index.train(mapped[_spread(count, clusters * _POINTS_PER_CENTROID)].astype(np.float32))
        for start in range(0, count, _BATCH_ROWS):
            index.add(mapped[start : start + _BATCH_ROWS].astype(np.float32))
        index.nprobe = _enough_clusters(index, mapped)
        return cls(index, rows)

    @classmethod
    def load(cls, folder: Path) -> ClusteredVectors:
        """Map the codes into memory.

        Raises:
            RuntimeError: the file is damaged.
            OSError: one of the two is missing.
        """
        import faiss

        index: Any = faiss.read_index(str(folder / _CENTROIDS), faiss.IO_FLAG_MMAP)
        lists: Any = faiss.downcast_InvertedLists(index.invlists)
        lists.prefetch_nthread = 0  # threads that read ahead cost more than they save once the pages are there
        return cls(index, folder / _ROWS)

    def __len__(self) -> int:
        return self._count

    @property
    def clusters(self) -> tuple[int, int]:
        """How many there are, and how many a search looks at."""
        return int(self._index.nlist), int(self._index.nprobe)

    def nearest(self, vector: Floats, k: int) -> tuple[Floats, Rows]:
        """Those of the nearest clusters are compared; inner products are those of the codes."""
        scores, rows = self._index.search(vector.reshape(1, -1), min(k, self._count))
        found = rows[0] >= 0
        return scores[0][found], rows[0][found]

    def take(self, rows: Rows) -> Floats:
        """Read from the file, not mapped: pages of rows that were once near a question would stay in this process's
        memory."""
        if not len(rows):
            return np.zeros((0, self._dimension), np.float32)
        bounds = np.flatnonzero(np.diff(rows) != 1) + 1
        starts, ends = rows[np.append(0, bounds)], rows[np.append(bounds, len(rows)) - 1] + 1
        width = 2 * self._dimension
        pieces = [
            os.pread(self._handle, (end - start) * width, start * width)
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        return np.frombuffer(b"".join(pieces), "<f2").reshape(-1, self._dimension).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write the codes, and move the rows' file into the folder."""
        import faiss

        faiss.write_index(self._index, str(folder / _CENTROIDS))
        self._rows.rename(folder / _ROWS)


def _spread(count: int, wanted: int) -> Rows:
    """Up to `wanted` of `count` rows, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))


def _enough_clusters(index: Any, rows: NDArray[np.float16]) -> int:
    """The least power of two that finds enough of the ten nearest.

    The probes lie half-way between two rows: no row's own neighbourhood, as a question is none's.
    """
    ends = rows[_spread(len(rows), 2 * _PROBES)].astype(np.float32)
    half = len(ends) // 2
    probes = ends[:half] + ends[half : 2 * half]
    probes /= np.linalg.norm(probes, axis=1, keepdims=True)
    nearest = _nearest_exactly(rows, probes)
    nprobe = 1
    while nprobe < index.nlist:
        index.nprobe = nprobe
        _, found = index.search(probes, 5 * _TOP)
        hits = sum(len(np.intersect1d(a, b)) for a, b in zip(found, nearest, strict=True))
        if hits >= RECALL * nearest.size:
            break
        nprobe *= 2
    return nprobe


def _nearest_exactly(rows: NDArray[np.float16], probes: Floats) -> Rows:
    """(len(probes), 10) rows with the largest inner products."""
    best = np.full((len(probes), 0), 0, np.float32)
    where = np.zeros((len(probes), 0), np.int64)
    for start in range(0, len(rows), _BATCH_ROWS):
        scores = probes @ rows[start : start + _BATCH_ROWS].astype(np.float32).T
        top = np.argpartition(-scores, min(_TOP, scores.shape[1]) - 1, axis=1)[:, :_TOP]
        best = np.hstack([best, np.take_along_axis(scores, top, axis=1)])
        where = np.hstack([where, top + start])
        kept = np.argsort(-best, axis=1)[:, :_TOP]
        best, where = np.take_along_axis(best, kept, axis=1), np.take_along_axis(where, kept, axis=1)
    return where
