"""Ingest on a local Ray in a process of its own, with an encoder slow enough to be killed half-way.

python -m tests.knowledge.ray_run STORE DOCUMENTS
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from knowledge.encoders.base import Encoded
from knowledge.ray_ingest import ingest_on_ray
from knowledge.store import Store
from tests.knowledge.hashing import HashingEncoder

SECONDS = 0.05
"""That a document takes."""


class SlowEncoder(HashingEncoder):
    """Takes its time."""

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        """As the parent's, later."""
        time.sleep(SECONDS)
        return super().passages(texts, on_progress=on_progress)


def main() -> None:
    """Print what became of the documents."""
    with Store.open(Path(sys.argv[1])) as store:
        report = ingest_on_ray(store, SlowEncoder, [Path(sys.argv[2])])
    print({status: report.count(status) for status in ("added", "updated", "unchanged", "duplicate", "failed")})


if __name__ == "__main__":
    main()
