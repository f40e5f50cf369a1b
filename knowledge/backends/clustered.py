"""Search of many vectors: those of the nearest clusters are compared by short codes, the best of them by longer ones.

Inverted lists (Sivic and Zisserman 2003) over k-means clusters. Both codes are of a vector's part along the directions
in which the vectors differ most (their principal components): half a byte for two components (product quantisation,
compared in registers; André et al. 2015), in memory, and one byte a component, mapped from disk. The rows themselves
lie beside them as float16 and are read a few at a time, so that a process holds a tenth of what exact search would.
How many clusters are looked at is measured when the index is built.
"""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.backends.base import Floats, Rows
from knowledge.backends.halves import widened

RECALL = 0.987
"""Of the ten nearest, measured on the index's own probes, that decides how many clusters a search looks at. What it is
for real questions: `docs/scale.md`."""
REDUCED = 128
"""Components that are coded, at most; an even number."""
REFINED = 10
"""Times as many as are asked for are found by the short codes."""
_CLUSTERS = "clusters.faiss"
_CODES = "codes.faiss"
_ROWS = "rows.f16"
_AXES = "axes.npy"
_BATCH_ROWS = 32768
_POINTS_PER_CENTROID = 39
_ITERATIONS = 8
_PROBES = 128
_PROBE_NOISE = 0.7
"""A probe is a row and so much of the difference of two others: as far from its neighbours as a question is."""
_PROBE_K = 150
"""Among so many the ten nearest are looked for: a search asks for as many, and compares them by themselves."""
_TOP = 10


@dataclass(frozen=True, slots=True)
class _Axes:
    """The directions in which vectors differ most."""

    mean: Floats
    """(dimension,)"""
    directions: Floats
    """(dimension, r - 1), orthonormal; r is even."""

    @property
    def width(self) -> int:
        """r."""
        return int(self.directions.shape[1]) + 1

    @classmethod
    def of(cls, rows: NDArray[np.float16]) -> _Axes:
        sample = widened(rows[_spread(len(rows), 2 * _BATCH_ROWS)])
        mean = sample.mean(axis=0)
        _, vectors = np.linalg.eigh(np.cov(sample - mean, rowvar=False))
        width = min(REDUCED, len(mean) // 2 * 2)
        return cls(mean, np.ascontiguousarray(vectors[:, ::-1][:, : width - 1], np.float32))

    def rows(self, rows: NDArray[np.float16]) -> Floats:
        """(n, r): the parts along the directions, and the length of what is left."""
        centred = widened(rows) - self.mean
        along = centred @ self.directions
        left = np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", along, along)
        return np.hstack([along, np.sqrt(np.maximum(left, 0))[:, None]])

    def questions(self, vectors: Floats) -> Floats:
        """(n, r): as rows, with nothing left, so that a distance to a row is that of the whole vectors but for the
        product of what is left of both."""
        along = (vectors - self.mean) @ self.directions
        return np.hstack([along, np.zeros((len(along), 1), np.float32)])


class ClusteredVectors:
    """A faiss.IndexIVFPQFastScan, a faiss.IndexScalarQuantizer and a file of float16 rows, all of the same vectors."""

    kind = "clustered"

    def __init__(self, clusters: Any, codes: Any, axes: _Axes, rows: Path) -> None:
        """`rows`: the file; it may be removed while this object is in use."""
        import faiss

        self._clusters, self._codes = clusters, codes
        self._refined = faiss.IndexRefine(clusters, codes)
        self._refined.k_factor = REFINED
        self._axes = axes
        self._dimension = len(axes.mean)
        self._count = rows.stat().st_size // (2 * self._dimension)
        self._rows = rows
        self._handle = os.open(rows, os.O_RDONLY)
        weakref.finalize(self, os.close, self._handle)

    @classmethod
    def build(cls, rows: Path, dimension: int) -> ClusteredVectors:
        """Cluster a file of float16 rows. Half a core-minute or so a million."""
        import faiss

        mapped = np.asarray(np.memmap(rows, "<f2", "r")).reshape(-1, dimension)
        count = len(mapped)
        axes = _Axes.of(mapped)
        width = axes.width
        number = 2 ** round(np.log2(2 * np.sqrt(count)))
        clusters = faiss.IndexIVFPQFastScan(faiss.IndexFlatL2(width), width, number, width // 2, 4, faiss.METRIC_L2)
        clusters.by_residual = False
        clusters.cp.niter = clusters.pq.cp.niter = _ITERATIONS
        clusters.cp.min_points_per_centroid = 1  # or FAISS writes a warning to stderr
        codes = faiss.IndexScalarQuantizer(width, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_L2)
        sample = axes.rows(mapped[_spread(count, number * _POINTS_PER_CENTROID)])
        clusters.train(sample)
        codes.train(sample)
        for start in range(0, count, _BATCH_ROWS):
            batch = axes.rows(mapped[start : start + _BATCH_ROWS])
            clusters.add(batch)
            codes.add(batch)
        built = cls(clusters, codes, axes, rows)
        clusters.nprobe = built._enough_clusters(mapped)
        return built

    @classmethod
    def load(cls, folder: Path) -> ClusteredVectors:
        """Map the codes into memory.

        Raises:
            RuntimeError: the file is damaged.
            ValueError: so is that of the axes.
            OSError: one of the files is missing.
        """
        import faiss

        clusters = faiss.read_index(str(folder / _CLUSTERS))
        codes = faiss.read_index(str(folder / _CODES), faiss.IO_FLAG_MMAP_IFC)
        table: Floats = np.load(folder / _AXES, allow_pickle=False)
        return cls(clusters, codes, _Axes(table[0], np.ascontiguousarray(table[1:].T)), folder / _ROWS)

    def __len__(self) -> int:
        return self._count

    @property
    def clusters(self) -> tuple[int, int]:
        """How many there are, and how many a search looks at."""
        return int(self._clusters.nlist), int(self._clusters.nprobe)

    def nearest(self, vector: Floats, k: int) -> tuple[Floats, Rows]:
        """Those of the nearest clusters are compared; inner products of unit vectors are estimated, to about 0.05."""
        distances, rows = self._refined.search(self._axes.questions(vector.reshape(1, -1)), min(k, self._count))
        found = rows[0] >= 0
        return 1 - distances[0][found] / 2, rows[0][found]

    def take(self, rows: Rows) -> Floats:
        """Read from the file, not mapped: pages of rows that were once near a question would stay in this process's
        memory."""
        if not len(rows):
            return np.zeros((0, self._dimension), np.float32)
        bounds = np.flatnonzero(np.diff(rows) != 1) + 1
        starts, ends = rows[np.append(0, bounds)], rows[np.append(bounds, len(rows)) - 1] + 1
        width = 2 * self._dimension
        pieces = [
            os.pread(self._handle, size, start)
            for start, size in zip((starts * width).tolist(), ((ends - starts) * width).tolist(), strict=True)
        ]
        return widened(np.frombuffer(b"".join(pieces), "<f2").reshape(-1, self._dimension))

    def save(self, folder: Path) -> None:
        """Write the codes, and move the rows' file into the folder."""
        import faiss

        faiss.write_index(self._clusters, str(folder / _CLUSTERS))
        faiss.write_index(self._codes, str(folder / _CODES))
        np.save(folder / _AXES, np.vstack([self._axes.mean, self._axes.directions.T]))
        self._rows.rename(folder / _ROWS)

    def _enough_clusters(self, rows: NDArray[np.float16]) -> int:
        """The least number, in steps of a half power of two, that finds enough of the ten nearest."""
        first, second, third = (widened(part) for part in np.array_split(rows[_spread(len(rows), 3 * _PROBES)], 3))
        size = min(map(len, (first, second, third)))
        probes = first[:size] + np.float32(_PROBE_NOISE) * (second[:size] - third[:size])
        probes /= np.linalg.norm(probes, axis=1, keepdims=True)
        nearest = _nearest_exactly(rows, probes)
        reduced = self._axes.questions(probes)
        steps = [round(2 ** (half / 2)) for half in range(2 * int(np.log2(self._clusters.nlist)))]
        for nprobe in steps:
            self._clusters.nprobe = nprobe
            _, found = self._refined.search(reduced, _PROBE_K)
            hits = sum(len(np.intersect1d(a, b)) for a, b in zip(found, nearest, strict=True))
            if hits >= RECALL * nearest.size:
                return nprobe
        return int(self._clusters.nlist)


def _spread(count: int, wanted: int) -> Rows:
    """Up to `wanted` of `count` rows, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))


def _nearest_exactly(rows: NDArray[np.float16], probes: Floats) -> Rows:
    """(len(probes), 10) rows with the largest inner products."""
    best = np.full((len(probes), 0), 0, np.float32)
    where = np.zeros((len(probes), 0), np.int64)
    for start in range(0, len(rows), _BATCH_ROWS):
        scores = probes @ widened(rows[start : start + _BATCH_ROWS]).T
        top = np.argpartition(-scores, min(_TOP, scores.shape[1]) - 1, axis=1)[:, :_TOP]
        best = np.hstack([best, np.take_along_axis(scores, top, axis=1)])
        where = np.hstack([where, top + start])
        kept = np.argsort(-best, axis=1)[:, :_TOP]
        best, where = np.take_along_axis(best, kept, axis=1), np.take_along_axis(where, kept, axis=1)
    return where
