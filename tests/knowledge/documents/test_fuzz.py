"""A short run of the fuzzer; the long one has a target of its own."""

from __future__ import annotations

from tests.knowledge.documents.fuzz import HANG_SECONDS, run


def test_200_mutated_files_are_read_or_refused() -> None:
    outcome = run(200, seed=3)
    assert outcome.counts.total() == 200 and len(outcome.counts) == 2
    assert outcome.slowest < HANG_SECONDS / 3
