from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from knowledge.backends.base import Vectors
from knowledge.backends.clustered import ClusteredVectors
from knowledge.backends.flat import FlatVectors
from knowledge.backends.halves import widened
from knowledge.encoders.base import normalised

DIMENSION = 32
Rows = NDArray[np.float16]


@pytest.fixture
def rows() -> Rows:
    """Vectors around 200 subjects, as those of passages lie."""
    random = np.random.default_rng(7)
    subjects = random.standard_normal((200, DIMENSION))
    near = subjects[random.integers(0, 200, 4000)] + 0.5 * random.standard_normal((4000, DIMENSION))
    return normalised(near.astype(np.float32)).astype(np.float16)


def flat(folder: Path, rows: Rows) -> Vectors:
    return FlatVectors.build(rows)


def clustered(folder: Path, rows: Rows) -> Vectors:
    rows.tofile(folder / "collected.f16")
    return ClusteredVectors.build(folder / "collected.f16", DIMENSION)


@pytest.mark.parametrize("build", [flat, clustered])
def test_what_is_saved_finds_and_holds_the_same(
    tmp_path: Path, rows: Rows, build: Callable[[Path, Rows], Vectors]
) -> None:
    built = build(tmp_path, rows)
    folder = tmp_path / "saved"
    folder.mkdir()
    built.save(folder)
    loaded = type(built).load(folder)  # type: ignore[attr-defined]
    assert len(built) == len(loaded) == len(rows)
    wanted = np.array([7, 8, 9, 3999, 0, 0])
    assert np.array_equal(loaded.take(wanted), rows[wanted].astype(np.float32))
    assert loaded.take(wanted[:0]).shape == (0, DIMENSION)
    for probe in rows[::400].astype(np.float32):
        scores, found = loaded.nearest(probe, 10)
        assert np.array_equal(found, built.nearest(probe, 10)[1])
        assert np.all(np.diff(scores) <= 0)
        assert np.allclose(scores, rows[found].astype(np.float32) @ probe, atol=0.05)


def test_halves_are_widened_exactly() -> None:
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)].reshape(-1, 32)
    assert np.array_equal(widened(finite), finite.astype(np.float32))


def test_clusters_find_what_comparing_all_finds(tmp_path: Path, rows: Rows) -> None:
    index, exact = clustered(tmp_path, rows[:3900]), FlatVectors.build(rows[:3900])
    probes = rows[3900:].astype(np.float32)
    found = [len(np.intersect1d(index.nearest(p, 30)[1], exact.nearest(p, 10)[1])) for p in probes]
    assert np.mean(found) >= 9.7
    assert isinstance(index, ClusteredVectors)
    all_clusters, looked_at = index.clusters
    assert looked_at < all_clusters


@pytest.mark.parametrize("build", [flat, clustered])
def test_asking_for_more_than_there_are(tmp_path: Path, rows: Rows, build: Callable[[Path, Rows], Vectors]) -> None:
    scores, found = build(tmp_path, rows).nearest(rows[0].astype(np.float32), 100_000)
    assert len(scores) == len(found) <= len(rows)
    assert len(np.unique(found)) == len(found)
    assert found[0] == 0
