"""The default encoder at run time: multilingual-e5-small with int8 weights on ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.encoders.base import Encoded, Floats, normalised
from knowledge.encoders.prepare import PROJECTION, identity
from knowledge.encoders.projection import project
from knowledge.encoders.tokenizer import UnigramTokenizer
from knowledge.encoders.weights import dequantise
from knowledge.errors import EncoderError

QUERY_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "
MAX_TOKENS = 512
BATCH_TOKENS = 1024
"""Padded tokens of one batch. More is no faster on CPU, and this bounds memory to some tens of MB."""


class E5Encoder:
    """Mean-pooled multilingual-e5-small; token vectors are projected to fewer dimensions (see `projection`).

    Activations are quantised a batch at a time, so a text's vector differs a little with its company
    (cosine above 0.99).
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
        # Threads that spin while they wait double a question's time when other processes want the cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self.identity = identity(folder)
            self._tokenizer = UnigramTokenizer(folder)
            self._words: NDArray[np.uint8] = np.load(folder / "words.npy", mmap_mode="r")
            self._positions: Floats = np.load(folder / "positions.npy")
            self._projection: Floats = np.load(folder / PROJECTION.name).astype(np.float32)
            self._session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's errors share no base class
            raise EncoderError(f"can't load the encoder: {error}; delete {folder} to have it made again") from error
        self.dimension = int(self._positions.shape[1])
        self._prefix_tokens = {prefix: self._tokenizer.count(prefix) for prefix in (QUERY_PREFIX, PASSAGE_PREFIX)}

    def query(self, text: str) -> Encoded:
        """Encode a question."""
        return next(self._encode([text], QUERY_PREFIX))[1]

    def queries(self, texts: Sequence[str]) -> list[Encoded]:
        """Encode questions in batches of similar length; results are in the order given."""
        results = dict(self._encode(texts, QUERY_PREFIX))
        return [results[place] for place in range(len(texts))]

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        """Encode passages in batches of similar length; results are in the order given."""
        results: dict[int, Encoded] = {}
        for place, encoded in self._encode(texts, PASSAGE_PREFIX, on_progress):
            results[place] = encoded
        return [results[place] for place in range(len(texts))]

    def count_tokens(self, text: str) -> int:
        """Tokens that a passage takes, with prefix, start and end; what is past `MAX_TOKENS` is cut off."""
        return self._tokenizer.count(PASSAGE_PREFIX + text) + 2

    def token_states(self, texts: Sequence[str]) -> list[Floats]:
        """The passages' last hidden states (m, dimension), before projection; prefix and end tokens are left out."""
        states: dict[int, Floats] = {}
        for places, hidden, lengths in self._batches(texts, PASSAGE_PREFIX):
            for place, rows, length in zip(places, hidden, lengths, strict=True):
                states[place] = rows[1 + self._prefix_tokens[PASSAGE_PREFIX] : length - 1].copy()
        return [states[place] for place in range(len(texts))]

    def _encode(
        self, texts: Sequence[str], prefix: str, on_progress: Callable[[int], None] | None = None
    ) -> Iterator[tuple[int, Encoded]]:
        done = 0
        first = 1 + self._prefix_tokens[prefix]
        for places, hidden, lengths in self._batches(texts, prefix):
            tokens = project(hidden, self._projection)
            for i, (place, length) in enumerate(zip(places, lengths, strict=True)):
                yield place, Encoded(normalised(hidden[i, :length].mean(axis=0)), tokens[i, first : length - 1].copy())
            done += len(places)
            if on_progress is not None:
                on_progress(done)

    def _batches(self, texts: Sequence[str], prefix: str) -> Iterator[tuple[list[int], Floats, list[int]]]:
        """Places of texts of similar length, longest first, so that a batch has at most `BATCH_TOKENS` with its
        padding; their last hidden states (batch, longest, hidden) and lengths. Rows past a length have no meaning."""
        ids = [self._tokenizer.encode(prefix + text, MAX_TOKENS) for text in texts]
        order = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
        start = 0
        while start < len(order):
            longest = len(ids[order[start]])
            places = order[start : start + BATCH_TOKENS // longest]
            lengths = [len(ids[place]) for place in places]
            padded = np.zeros((len(places), longest), dtype=np.int32)
            for row, place in enumerate(places):
                padded[row, : lengths[row]] = ids[place]
            yield places, self._hidden(padded, np.array(lengths, dtype=np.int32)), lengths
            start += len(places)

    def _hidden(self, ids: NDArray[np.int32], lengths: NDArray[np.int32]) -> Floats:
        embeddings = dequantise(self._words[ids]) + self._positions[: ids.shape[1]]
        hidden: Floats = self._session.run(None, {"embeddings": embeddings, "lengths": lengths})[0]
        return hidden


def _cores() -> int:
    """Cores that this process may use; ONNX Runtime itself counts all of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
