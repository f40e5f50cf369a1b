"""Model FLOPs utilisation to expect: a regression on MosaicML's published measurements, by GPU, size, scale, sequence
length and precision.

The measurements count attention's FLOPs; utilisation here counts 6 x parameters x tokens alone, as published runs are
compared, so the share of attention is taken out again. A whole run is slower than a benchmark by restarts, checkpoints
and evaluation: Llama 3 reports more than 90% of effective training time (arXiv 2407.21783, section 3.3.4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from assistant.tools._shape import Shape
from knowledge import catalog
from knowledge.catalog.records import Accelerator, MfuMeasurement, Provenance

DEFAULT_SEQUENCE = 4096.0
GOODPUT = 0.9
GOODPUT_SOURCE = Provenance("arXiv 2407.21783 (Llama 3), section 3.3.4", "https://arxiv.org/abs/2407.21783")
_LOW_GOODPUT = 0.85
_WIDTH = 3.0
"""Half-width of the range in standard deviations of the regression's residual, before goodput's own spread."""
_MAX_WIDTH = 1.35
_UNMEASURED_WIDTH = 1.6
_FP8_OVER_BF16 = 2.0
"""Tensor-core peak of fp8 over bf16, which the fp8 measurements are relative to."""
_HOPPER = frozenset({"H100", "H800", "H200", "GH200", "H20"})
_AMPERE = frozenset({"A100", "A800"})


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Expected MFU as a fraction of the dense 16-bit peak, over the whole run, with its range."""

    likely: float
    low: float
    high: float
    benchmark: float
    """Without restarts, checkpoints and evaluation."""
    measured: bool
    """False when this GPU was not measured and a related one stands in."""


@dataclass(frozen=True, slots=True)
class _Fit:
    gpus: tuple[str, ...]
    coefficients: tuple[float, ...]
    sigma: float
    ranges: tuple[tuple[float, float], ...]
    """Measured range of log2 size, log2 GPUs and log2 sequence length; beyond it the nearest end holds."""


def attention_share(shape: Shape, sequence_length: float) -> float:
    """Attention's FLOPs over 6 x parameters, a token: 12 x layers x hidden x sequence (llm-foundry's count)."""
    return 12 * shape.layers * shape.hidden_size * sequence_length / (6 * shape.active_parameters)


def _position(parameters: float, gpus: float, sequence_length: float) -> tuple[float, float, float]:
    return math.log2(parameters / 7e9), math.log2(gpus / 8), math.log2(sequence_length / 2048)


def _features(gpus: tuple[str, ...], gpu: str, position: tuple[float, float, float], fp8: bool) -> list[float]:
    size, scale, length = position
    hopper = float(gpu.startswith("H"))
    return [*(float(name == gpu) for name in gpus), size, size * size, scale, length, length * hopper, float(fp8)]


@cache
def _fit() -> _Fit:
    rows: tuple[MfuMeasurement, ...] = catalog.mfu_measurements()
    gpus = tuple(dict.fromkeys(row.accelerator for row in rows))
    places = [_position(row.parameters, row.gpu_count, row.sequence_length) for row in rows]
    matrix = np.array(
        [
            _features(gpus, row.accelerator, place, row.precision == "fp8")
            for row, place in zip(rows, places, strict=True)
        ]
    )
    observed = np.log([row.mfu * (_FP8_OVER_BF16 if row.precision == "fp8" else 1.0) for row in rows])
    coefficients, *_ = np.linalg.lstsq(matrix, observed, rcond=None)
    residual = observed - matrix @ coefficients
    sigma = float(np.sqrt(residual @ residual / (len(rows) - matrix.shape[1])))
    scale_at = len(gpus) + 2
    # More GPUs never raise utilisation; the few large measurements are too noisy to claim otherwise.
    coefficients[scale_at] = min(coefficients[scale_at], 0.0)
    ranges = tuple((min(axis), max(axis)) for axis in zip(*places, strict=True))
    return _Fit(gpus, tuple(float(value) for value in coefficients), sigma, ranges)


def stand_ins(row: Accelerator) -> tuple[tuple[str, ...], bool]:
    """The measured GPUs that speak for one, and whether it is itself among them or the same chip under another name."""
    if row.family in _AMPERE:
        name = "A100-SXM-40GB" if row.memory_gb == 40 else "A100-SXM-80GB"
        return (name,), "PCIe" not in row.name
    if row.family in _HOPPER:
        return ("H100-SXM-80GB",), row.family in ("H100", "H800", "H200") and "SXM" in row.name
    return ("A100-SXM-80GB", "H100-SXM-80GB"), False


def expect(
    row: Accelerator,
    shape: Shape,
    *,
    gpus: float = 512,
    sequence_length: float = DEFAULT_SEQUENCE,
    fp8: bool = False,
    goodput: float = GOODPUT,
) -> Utilisation:
    """Utilisation of a training run on that GPU."""
    fit = _fit()
    names, measured = stand_ins(row)
    place = _position(shape.active_parameters, gpus, sequence_length)
    size, scale, length = (min(max(value, low), high) for value, (low, high) in zip(place, fit.ranges, strict=True))
    logs = [
        sum(c * x for c, x in zip(fit.coefficients, _features(fit.gpus, name, (size, scale, length), fp8), strict=True))
        for name in names
    ]
    benchmark = math.exp(sum(logs) / len(logs)) / (1 + attention_share(shape, sequence_length))
    width = min(math.exp(_WIDTH * fit.sigma) * GOODPUT / _LOW_GOODPUT, _MAX_WIDTH) if measured else _UNMEASURED_WIDTH
    likely = benchmark * goodput
    return Utilisation(likely, likely / width, min(likely * width, 1.0), benchmark, measured)


def sources() -> list[Provenance]:
    """Where the measurements and the whole-run factor are from."""
    return [*dict.fromkeys(row.source for row in catalog.mfu_measurements()), GOODPUT_SOURCE]
