"""The default encoder at run time: multilingual-e5-small with int8 weights on ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.encoders.base import Encoded, Floats, normalised
from knowledge.encoders.prepare import PROJECTION, read_manifest
from knowledge.encoders.tokenizer import UnigramTokenizer
from knowledge.encoders.weights import dequantise
from knowledge.errors import EncoderError

QUERY_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "
MAX_TOKENS = 512
BATCH_TOKENS = 1024
"""Padded tokens of one batch. More is no faster on CPU, and this bounds memory to some tens of MB."""


class E5Encoder:
    """Mean-pooled multilingual-e5-small; token vectors are projected to fewer dimensions (`token_projection.npy`).

    Activations are quantised a batch at a time, so a text's vector differs a little with its company
    (cosine above 0.995).
    """

    def __init__(self, folder: Path) -> None:
        """Map a folder made by `prepare`.

        Raises:
            EncoderError: the files can't be read.
        """
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _cores()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        try:
            manifest = read_manifest(folder)
            self.identity = str(manifest["identity"])
            self.dimension = int(str(manifest["dimension"]))
            self._tokenizer = UnigramTokenizer(folder)
            self._words: NDArray[np.uint8] = np.load(folder / "words.npy", mmap_mode="r")
            self._positions: Floats = np.load(folder / "positions.npy")
            self._projection: Floats = np.load(PROJECTION).astype(np.float32)
            self._session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's errors share no base class
            raise EncoderError(
                f"can't load the encoder in {folder}: {error}; delete the folder to prepare it again"
            ) from error
        self._prefix_tokens = {prefix: self._tokenizer.count(prefix) for prefix in (QUERY_PREFIX, PASSAGE_PREFIX)}

    def query(self, text: str) -> Encoded:
        """Encode a question."""
        return self._encode([self._ids(QUERY_PREFIX, text)], QUERY_PREFIX)[0]

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        """Encode passages in batches of similar length; results are in the order given."""
        ids = [self._ids(PASSAGE_PREFIX, text) for text in texts]
        results: dict[int, Encoded] = {}
        for batch in _batches([len(row) for row in ids]):
            results.update(zip(batch, self._encode([ids[i] for i in batch], PASSAGE_PREFIX), strict=True))
            if on_progress is not None:
                on_progress(len(results))
        return [results[i] for i in range(len(ids))]

    def count_tokens(self, text: str) -> int:
        """Tokens that a passage takes, with prefix, start and end; what is past `MAX_TOKENS` is cut off."""
        return self._tokenizer.count(PASSAGE_PREFIX + text) + 2

    def _ids(self, prefix: str, text: str) -> list[int]:
        return self._tokenizer.encode(prefix + text, MAX_TOKENS)

    def _encode(self, ids: list[list[int]], prefix: str) -> list[Encoded]:
        hidden = self._hidden(ids)
        first = 1 + self._prefix_tokens[prefix]
        tokens = normalised(normalised(hidden) @ self._projection)
        return [
            Encoded(normalised(hidden[i, : len(row)].mean(axis=0)), tokens[i, first : len(row) - 1].copy())
            for i, row in enumerate(ids)
        ]

    def _hidden(self, ids: list[list[int]]) -> Floats:
        """Last hidden states (batch, longest, hidden); rows past a text's length have no meaning."""
        lengths = np.array([len(row) for row in ids], dtype=np.int32)
        padded = np.zeros((len(ids), int(lengths.max())), dtype=np.int32)
        for i, row in enumerate(ids):
            padded[i, : len(row)] = row
        embeddings = dequantise(self._words[padded]) + self._positions[: padded.shape[1]]
        hidden: Floats = self._session.run(None, {"embeddings": embeddings, "lengths": lengths})[0]
        return hidden


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts, longest first, so that each batch has at most `BATCH_TOKENS` with its padding."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    start = 0
    while start < len(order):
        count = max(1, BATCH_TOKENS // lengths[order[start]])
        yield order[start : start + count]
        start += count


def _cores() -> int:
    """Cores that this process may use; ONNX Runtime itself counts all of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
