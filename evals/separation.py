"""Whether a question for training, choosing or reporting is a paraphrase of one in another set.

`python -m evals.separation` lists pairs that the unadapted encoder finds nearly the same and that share most of their
characters, or nearly the same altogether; exit code 1 when there are any. Nearness alone is no proof: short questions
on one subject reach a cosine of 0.94 without being the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

from evals.retrieval import DATA
from evals.suites import SHIPPED
from knowledge.encoders.e5 import E5Encoder
from knowledge.encoders.prepare import prepare
from knowledge.lexical import normalise
from knowledge.shipped import shipped_paths
from knowledge.training.material import read_passages

NEAR = 0.93
SHARED = 0.6
"""Of the character bigrams of both questions, from which on two near ones are taken for the same."""
SAME = 0.975
"""Cosine from which on they are taken for the same whatever their characters."""


def question_sets() -> dict[str, list[str]]:
    """All questions by what they are for."""
    training = [question for passage in read_passages(shipped_paths()) for question in passage.questions]
    reporting = [
        *_column(DATA / "subject" / "questions.jsonl"),
        *_column(DATA / "other" / "questions.jsonl"),
        *_column(DATA / "coverage.jsonl"),
        *(turn for path in (SHIPPED / "seeds.jsonl", SHIPPED / "guidance.jsonl") for turn in _turns(path)),
    ]
    choosing = [*_column(DATA / "choosing" / "questions.jsonl"), *_column(DATA.parent / "coverage_dev.jsonl")]
    sets = {"training": training, "choosing": choosing, "reporting": reporting}
    return {name: list(dict.fromkeys(questions)) for name, questions in sets.items()}


def near_pairs(sets: dict[str, list[str]], encoder: E5Encoder) -> Iterator[tuple[float, str, str, str, str]]:
    """Cosine, set and question, set and question of each pair that is taken for the same."""
    vectors = {name: np.stack([e.vector for e in encoder.passages(rows)]) for name, rows in sets.items()}
    for one, other in combinations(sets, 2):
        cosines = vectors[one] @ vectors[other].T
        for i, j in np.argwhere(cosines >= NEAR).tolist():
            first, second = sets[one][i], sets[other][j]
            if cosines[i, j] >= SAME or _shared(first, second) >= SHARED:
                yield float(cosines[i, j]), one, first, other, second


def _shared(first: str, second: str) -> float:
    """Jaccard index of character bigrams."""
    bigrams = [{a + b for a, b in pairwise(f" {normalise(text)} ") if (a + b).strip()} for text in (first, second)]
    return len(bigrams[0] & bigrams[1]) / len(bigrams[0] | bigrams[1])


def _column(path: Path) -> list[str]:
    return [json.loads(line)["question"] for line in path.read_text(encoding="utf-8").splitlines()]


def _turns(path: Path) -> list[str]:
    return [json.loads(line)["turns"][-1] for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> int:
    """Print the pairs; the exit code."""
    sets = question_sets()
    pairs = sorted(near_pairs(sets, E5Encoder(prepare(adapter=None))), reverse=True)
    for cosine, one, first, other, second in pairs:
        print(f"{cosine:.3f}  {one}: {first}  |  {other}: {second}")
    counts = ", ".join(f"{len(questions):,} for {name}" for name, questions in sets.items())
    print(f"{counts}: {len(pairs)} pairs are taken for the same")
    return 1 if pairs else 0


if __name__ == "__main__":
    sys.exit(main())
