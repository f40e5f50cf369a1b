"""Planted facts are found, exactly and in the right section, in every format."""

from __future__ import annotations

from knowledge.chunking import chunk
from knowledge.documents import load_bytes
from tests.knowledge.documents.corpus import documents, measure
from tests.knowledge.documents.writers import WRITERS


def test_99_percent_of_planted_facts_are_found_in_every_format() -> None:
    result = measure(45, seed=11)
    assert set(result) == set(WRITERS)
    for format_, places in result.items():
        found, planted = (sum(cell[i] for cell in places.values()) for i in (0, 1))
        assert planted > 20 and found >= 0.99 * planted, (format_, dict(places))


def test_blocks_chunks_and_statements_lie_in_each_other_and_in_order() -> None:
    for planted in documents(18, seed=12):
        document = load_bytes(planted.data, planted.name)
        at = 0
        for block in document.blocks:
            assert at <= block.start < block.end <= len(document.text)
            assert document.text[block.start : block.end].strip() == document.text[block.start : block.end]
            at = block.end
        at = 0
        for passage in chunk(document):
            assert at <= passage.start < passage.end
            at = inner = passage.start
            for span in passage.sentences:
                assert inner <= span.start < span.end <= passage.end
                inner = span.end
            at = passage.end
