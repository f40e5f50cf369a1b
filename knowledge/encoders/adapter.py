"""The LoRA adapter that fits the default encoder to a subject: read, and merged into the weights.

One safetensors file holds, for each adapted matrix W (out, in), its factors A (r, in) and B (out, r), float16, so that
W + B A takes its place (Hu et al. 2021, arXiv:2106.09685; the scale is in B), and the projection of token vectors that
was learned of the adapted encoder. `docs/encoder.md` says how the one that ships was trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from knowledge.encoders.base import Floats
from knowledge.encoders.weights import E5Weights
from knowledge.errors import EncoderError

ADAPTER = Path(__file__).with_name("adapter.safetensors")
"""The one that ships."""
_PROJECTION = "token_projection"


@dataclass(frozen=True, slots=True)
class Adapter:
    """What is added to the weights, and the projection that goes with it."""

    factors: Mapping[str, tuple[Floats, Floats]]
    """A (r, in) and B (out, r) by the name of the matrix in `E5Weights.tensors`."""
    projection: Floats
    """(width + 1, dimension), see `knowledge.encoders.projection`."""


def read_adapter(path: Path) -> Adapter:
    """An adapter from its file.

    Raises:
        EncoderError: the file is missing, or isn't an adapter.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = {name: values.astype(np.float32) for name, values in load_file(path).items()}
        projection = tensors.pop(_PROJECTION)
        factors = {name: (tensors[f"{name}.A"], tensors[f"{name}.B"]) for name in _names(tensors)}
    except (OSError, SafetensorError, KeyError) as error:
        raise EncoderError(f"can't read the encoder's adapter {path}: {error}; train it again, or use none") from error
    return Adapter(factors, projection)


def write_adapter(path: Path, adapter: Adapter) -> None:
    """Write an adapter as float16."""
    from safetensors.numpy import save_file

    tensors = {_PROJECTION: adapter.projection}
    for name, (first, second) in adapter.factors.items():
        tensors |= {f"{name}.A": first, f"{name}.B": second}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: np.ascontiguousarray(values, np.float16) for name, values in tensors.items()}, path)


def merged(weights: E5Weights, adapter: Adapter) -> E5Weights:
    """The weights with the adapter's changes.

    Raises:
        EncoderError: a matrix that the adapter changes isn't there or has another shape.
    """
    tensors = dict(weights.tensors)
    for name, (first, second) in adapter.factors.items():
        if name not in tensors or tensors[name].shape != (len(second), first.shape[1]):
            raise EncoderError(f"the encoder's adapter changes {name}, which these weights don't have in that shape")
        tensors[name] = tensors[name] + second @ first
    return replace(weights, tensors=tensors)


def _names(tensors: Iterable[str]) -> list[str]:
    return sorted({name[:-2] for name in tensors})
