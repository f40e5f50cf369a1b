"""What a question wants, from the query vector that search already has.

A logistic regression over the encoder's vectors of example utterances, one file of examples a label. It is fitted once
for an encoder and a state of the examples, kept in the data folder, and never shipped: another encoder gets its own.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.encoders import Encoder
from knowledge.records import Vector

EXAMPLES = files("assistant.understand") / "examples"
GUIDANCE = "guidance"
OUT_OF_SCOPE = "out_of_scope"
UNLAWFUL = "unlawful"
INVERSE_REGULARISATION = 20.0


@dataclass(frozen=True)
class IntentModel:
    """Probabilities of labels; the labels are the calculators' names, guidance, out_of_scope and unlawful."""

    labels: tuple[str, ...]
    weights: NDArray[np.float32]
    """(labels, dimension)"""
    bias: NDArray[np.float32]
    """(labels,)"""
    mean: NDArray[np.float32]
    """(dimension,) of the examples' vectors: the encoder's vectors share a large common part."""

    def probabilities(self, vector: Vector) -> dict[str, float]:
        """Label -> probability; they add up to 1."""
        logits = self.weights @ (vector - self.mean) + self.bias
        exponents = np.exp(logits - logits.max())
        return dict(zip(self.labels, (exponents / exponents.sum()).tolist(), strict=True))


def load_intents(encoder: Encoder, folder: Path) -> IntentModel:
    """The model for this encoder, fitted now if the folder doesn't hold it."""
    examples = _examples()
    key = hashlib.sha256(
        repr((encoder.identity, INVERSE_REGULARISATION, sorted(examples.items()))).encode()
    ).hexdigest()
    path = folder / f"intents-{key[:16]}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as stored:
            return IntentModel(tuple(stored["labels"].tolist()), stored["weights"], stored["bias"], stored["mean"])
    model = _fit(encoder, examples)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        np.savez(file, labels=np.array(model.labels), weights=model.weights, bias=model.bias, mean=model.mean)
    temporary.replace(path)
    for old in folder.glob("intents-*.npz"):
        if old != path:
            old.unlink(missing_ok=True)
    return model


def _examples() -> Mapping[str, tuple[str, ...]]:
    return {
        file.name.removesuffix(".txt"): tuple(line for line in file.read_text("utf-8").splitlines() if line.strip())
        for file in sorted(EXAMPLES.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".txt")
    }


def _fit(encoder: Encoder, examples: Mapping[str, tuple[str, ...]]) -> IntentModel:
    from sklearn.linear_model import LogisticRegression

    texts = [(label, text) for label, lines in examples.items() for text in lines]
    vectors = np.stack([encoder.query(text).vector for _, text in texts])
    mean = vectors.mean(axis=0)
    regression = LogisticRegression(C=INVERSE_REGULARISATION, max_iter=2000, class_weight="balanced")
    regression.fit(vectors - mean, [label for label, _ in texts])
    return IntentModel(
        tuple(str(label) for label in regression.classes_),
        regression.coef_.astype(np.float32),
        regression.intercept_.astype(np.float32),
        mean.astype(np.float32),
    )
