"""How the default encoder's token vectors are made small: mean removed, principal directions.

`python -m knowledge.encoders.projection` learns the projection anew from the shipped corpus, both languages with equal
weight, and writes `token_projection.npy`; every index built before must then be built again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from knowledge.encoders.base import Floats, normalised

DIMENSION = 128
_CORPUS = Path(__file__).parents[1] / "corpus"
_SHORTEST_LINE = 16
"""Characters; shorter lines are headings and separators."""


def learn_projection(groups: Sequence[Floats], dimension: int = DIMENSION) -> Floats:
    """Projection (width + 1, dimension) of token vectors; its last row is added to what the others give.

    Args:
        groups: token vectors (n, width) of unit length, a group a language; each group has the same weight.
        dimension: width after projection.
    """
    mean = np.mean([group.mean(axis=0) for group in groups], axis=0)
    covariance = np.mean([np.cov(group.T) for group in groups], axis=0)
    variances, directions = np.linalg.eigh(covariance)
    order = np.argsort(-variances)[:dimension]
    matrix = directions[:, order]
    return np.vstack((matrix, -mean @ matrix)).astype(np.float32)


def project(tokens: Floats, projection: Floats) -> Floats:
    """Token vectors (..., width) of any length as (..., dimension) of unit length."""
    return normalised(normalised(tokens) @ projection[:-1] + projection[-1])


def main() -> None:
    """Learn the projection from the shipped corpus and write it."""
    from knowledge.encoders.e5 import E5Encoder
    from knowledge.encoders.prepare import PROJECTION, prepare

    encoder = E5Encoder(prepare())
    groups = []
    for folder in sorted({path.parent for path in _CORPUS.glob("*/*.md")}):
        bodies = [path.read_text(encoding="utf-8").split("\n---\n", 1)[-1] for path in sorted(folder.glob("*.md"))]
        lines = [line for body in bodies for line in body.splitlines() if len(line) >= _SHORTEST_LINE]
        groups.append(np.concatenate([normalised(states) for states in encoder.token_states(lines)]))
    np.save(PROJECTION, learn_projection(groups).astype(np.float16))


if __name__ == "__main__":
    main()
