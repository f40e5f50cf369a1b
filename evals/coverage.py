"""How well coverage tells questions that the shipped guidance answers from those that it doesn't, never fitted on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assistant.settings import Settings
from evals.retrieval import DATA, indexed
from knowledge.encoders import Encoder
from knowledge.search import Searcher
from knowledge.segment import LANGUAGES
from knowledge.shipped import CORPUS
from knowledge.store import Store

THRESHOLD: float = Settings.model_fields["coverage_threshold"].default


@dataclass(frozen=True, slots=True)
class Judged:
    """A question, whether it is answered, and the probability that it is."""

    language: str
    covered: bool
    near: bool
    """Whether it is near the subject."""
    probability: float


def judged(store: Store, encoder: Encoder, language: str | None = None) -> list[Judged]:
    """The questions of `coverage.jsonl`, in one language or both, as a store's searcher judges them."""
    rows = [json.loads(line) for line in (DATA / "coverage.jsonl").read_text(encoding="utf-8").splitlines()]
    searcher = Searcher(store, encoder)
    return [
        Judged(row["language"], row["covered"], row["near"], searcher.search(row["question"], 4).coverage)
        for row in rows
        if language in (None, row["language"])
    ]


def area(rows: Sequence[Judged]) -> float:
    """Area under the receiver operating characteristic."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score([row.covered for row in rows], [row.probability for row in rows]))


def report(encoder: Encoder, folder: Path) -> Iterator[str]:
    """Lines of Markdown: areas under the curve, what the threshold does, and whether probabilities hold.

    Args:
        encoder: the shipped one.
        folder: where the stores are made.
    """
    both = judged(indexed(folder / "coverage-both", CORPUS, encoder), encoder)
    asked = {"both languages indexed": both}
    for language in LANGUAGES:
        (other,) = (each for each in LANGUAGES if each != language)
        store = indexed(folder / f"coverage-{other}", CORPUS / other, encoder)
        asked[f"asked in {language}, only {other} indexed"] = judged(store, encoder, language)
    yield "| Questions | Area under the curve | near ones | far ones | answered kept | unanswered refused |"
    yield "|---|---|---|---|---|---|"
    for name, rows in asked.items():
        yield _row(name, rows)
    for language in LANGUAGES:
        yield _row(f"{language}, both languages indexed", [row for row in both if row.language == language])
    yield ""
    yield "| Probability | Questions | Share that is answered |"
    yield "|---|---|---|"
    for low in np.arange(0, 1, 0.1):
        inside = [row.covered for row in both if low <= row.probability < low + 0.1 + (low > 0.89)]
        if inside:
            yield f"| {low:.1f} to {low + 0.1:.1f} | {len(inside)} | {np.mean(inside):.2f} |"


def _row(name: str, rows: Sequence[Judged]) -> str:
    near = [row for row in rows if row.covered or row.near]
    far = [row for row in rows if row.covered or not row.near]
    kept = np.mean([row.probability >= THRESHOLD for row in rows if row.covered])
    refused = np.mean([row.probability < THRESHOLD for row in rows if not row.covered])
    return f"| {name} | {area(rows):.3f} | {area(near):.3f} | {area(far):.3f} | {kept:.2f} | {refused:.2f} |"
