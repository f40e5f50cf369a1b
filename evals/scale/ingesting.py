"""What ingest costs besides encoding: many one-page documents, the same again, and one that changed."""

from __future__ import annotations

import itertools
import resource
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assistant.settings import load_settings
from evals.scale.material import Material
from knowledge.encoders import load_encoder
from knowledge.encoders.base import Encoded
from knowledge.encoders.e5 import E5Encoder
from knowledge.ingest import ingest
from knowledge.search import Searcher
from knowledge.store import Store

RATE_TEXTS = 600
"""Texts, in one call, that the rate of encoding is measured on."""
CHANGES = 5
CHANGED = "# Kestrel\n\n## Which quota has the Kestrel cluster?\n\nThe Kestrel cluster has a quota of {} GPUs.\n"


class Replaying:
    """Gives back vectors that were made before, in next to no time; what it takes is known and taken off.

    What ingest takes with it is what it costs besides encoding.
    """

    def __init__(self, encoder: E5Encoder) -> None:
        self.identity, self.dimension = encoder.identity, encoder.dimension
        self.texts: list[str] = []
        self.seconds = 0.0
        self._encoder = encoder
        sample = encoder.passages([f"Passage {number} on training in the cloud." for number in range(100)])
        self._vectors = [one.vector for one in sample]
        self._tokens = np.tile(np.concatenate([one.tokens for one in sample]), (2, 1))

    def query(self, text: str) -> Encoded:
        """As the encoder."""
        return self._encoder.query(text)

    def queries(self, texts: Sequence[str]) -> list[Encoded]:
        """As the encoder."""
        return self._encoder.queries(texts)

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        """As many token vectors as the text would have, roughly."""
        start = time.thread_time()
        made = []
        for text in texts:
            tokens = min(len(text.encode()) // 4 + 1, 500, len(self._tokens))
            made.append(Encoded(self._vectors[len(text) % len(self._vectors)], self._tokens[:tokens]))
        self.texts += texts
        self.seconds += time.thread_time() - start
        return made


def write_pages(material: Material, folder: Path, count: int) -> None:
    """Markdown files of about a page each, a hundred in a folder."""
    for number, document in enumerate(itertools.islice(material.synthetic(), count)):
        text = document.loaded.text
        lines = [f"# {document.loaded.title}", ""]
        for part in document.chunks:
            passage = text[part.chunk.start : part.chunk.end]
            lines += [f"## {part.chunk.section[-1] if part.chunk.section else ''}", "", passage, ""]
        path = folder / f"{number // 100:04}" / f"page-{number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines), encoding="utf-8")


def ingest_pages(pages: Path, scratch: Path) -> dict[str, Any]:
    """Everything but encoding, the rate of encoding on the same texts, memory, and a rerun."""
    encoder = _encoder()
    replaying = Replaying(encoder)
    shutil.rmtree(scratch, ignore_errors=True)
    before = _peak()
    with Store.open(scratch) as store:
        start, processor = time.perf_counter(), time.process_time()
        report = ingest(store, replaying, [pages])
        first = time.perf_counter() - start - replaying.seconds
        processor = time.process_time() - processor - replaying.seconds
        held = _peak()
        start = time.perf_counter()
        again = ingest(store, replaying, [pages])
        rerun = time.perf_counter() - start
        passages = store.sizes().passages
    shutil.rmtree(scratch)
    texts = replaying.texts
    step = max(1, len(texts) // RATE_TEXTS)
    sample = texts[::step]
    sampled = sum(map(encoder.count_tokens, sample))
    start, encoder_processor = time.perf_counter(), time.process_time()
    encoder.passages(sample)
    rate = sampled / (time.perf_counter() - start)
    encoder_processor = time.process_time() - encoder_processor
    encoding = sampled / len(sample) * len(texts) / rate
    return {
        "documents": len(report.files),
        "added": report.count("added"),
        "passages": passages,
        "vectors": len(texts),
        "tokens": round(sampled / len(sample) * len(texts)),
        "tokens_a_second": rate,
        "encoding_s": encoding,
        "everything_else_s": first,
        "everything_else_share": first / encoding,
        "everything_else_cpu_s": processor,
        "encoding_cpu_s": encoder_processor / len(sample) * len(texts),
        "rerun_s": rerun,
        "rerun_unchanged": again.count("unchanged"),
        "rerun_share": rerun / (first + encoding),
        "peak_mb": held,
        "peak_before_mb": before,
    }


def change_one(folder: Path, scratch: Path) -> dict[str, Any]:
    """Seconds from a changed file until a running searcher finds what it says, encoding included."""
    encoder = _encoder()
    scratch.mkdir(parents=True, exist_ok=True)
    path = scratch / "kestrel.md"
    taken: list[float] = []
    with Store.open(folder) as store:
        searcher = Searcher(store, encoder)
        for change in range(CHANGES + 1):
            path.write_text(CHANGED.format(1000 + change), encoding="utf-8")
            start = time.perf_counter()
            (report,) = ingest(store, encoder, [path]).files
            found = searcher.search("Which quota has the Kestrel cluster?", 5)
            taken.append(time.perf_counter() - start)
            assert any(f"{1000 + change} GPUs" in hit.text for hit in found.hits), "the change was not found"
        assert report.document_id is not None
        store.remove(report.document_id)
        documents = store.sizes().documents
    return {"documents": documents, "first_s": taken[0], "median_s": float(np.median(taken[1:])), "worst_s": max(taken)}


def _encoder() -> E5Encoder:
    encoder = load_encoder(load_settings().encoder)
    assert isinstance(encoder, E5Encoder), "the rate is counted in the default encoder's tokens"
    return encoder


def _peak() -> float:
    """Megabytes that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
