"""Checks the calculators against what was published: GPU-hours of training runs and memory of a GPU.

The utilisation model is fitted on measurements of another project, never on the runs it is checked on here.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from assistant.tools import _memory, _mfu, _shape
from assistant.tools._shape import Shape
from knowledge import catalog
from knowledge.catalog.records import MemoryMeasurement, PublishedRun

_MAX_SIZE_ERROR = 0.1


@dataclass(frozen=True, slots=True)
class RunCheck:
    """A published run beside what the calculator says; hours are GPU-hours."""

    name: str
    published: float
    likely: float
    low: float
    high: float
    baseline: float
    """By the median measured utilisation of that GPU."""

    @property
    def inside(self) -> bool:
        """Whether the range holds the published figure."""
        return self.low <= self.published <= self.high

    @property
    def error(self) -> float:
        """Relative error of the likely value."""
        return abs(self.likely / self.published - 1)

    @property
    def baseline_error(self) -> float:
        """Relative error of the baseline."""
        return abs(self.baseline / self.published - 1)


@dataclass(frozen=True, slots=True)
class MemoryCheck:
    """A published memory figure beside the formula's, GiB a GPU."""

    name: str
    part: str
    published: float
    computed: float

    @property
    def error(self) -> float:
        """Relative error."""
        return abs(self.computed / self.published - 1)


@dataclass(frozen=True, slots=True)
class Validation:
    """All checks; `table` prints them."""

    runs: tuple[RunCheck, ...]
    memory: tuple[MemoryCheck, ...]

    @property
    def coverage(self) -> float:
        """Share of runs whose published GPU-hours are in the range."""
        return sum(run.inside for run in self.runs) / len(self.runs)

    @property
    def median_error(self) -> float:
        """Of the likely GPU-hours."""
        return median(run.error for run in self.runs)

    @property
    def baseline_median_error(self) -> float:
        """Of GPU-hours by the median utilisation of each GPU."""
        return median(run.baseline_error for run in self.runs)

    @property
    def width(self) -> tuple[float, float]:
        """Range over the likely value: the widest low and high."""
        return min(run.low / run.likely for run in self.runs), max(run.high / run.likely for run in self.runs)

    def table(self) -> str:
        """Everything as Markdown."""
        low, high = self.width
        lines = [
            "| run | published GPU-hours | likely | low–high | in range | error | median-MFU error |",
            "|---|---:|---:|---:|---|---:|---:|",
            *(
                f"| {run.name} | {run.published:,.0f} | {run.likely:,.0f} | {run.low:,.0f}–{run.high:,.0f} | "
                f"{'yes' if run.inside else 'no'} | {run.error:.0%} | {run.baseline_error:.0%} |"
                for run in self.runs
            ),
            "",
            f"{sum(run.inside for run in self.runs)} of {len(self.runs)} runs ({self.coverage:.0%}) are in the range "
            f"({low - 1:+.0%} to {high - 1:+.0%} of the likely value). Median error of the likely value: "
            f"{self.median_error:.1%}; of a median MFU for each GPU: {self.baseline_median_error:.1%}.",
            "",
            "| memory of one GPU | part | published GiB | computed GiB | error |",
            "|---|---|---:|---:|---:|",
            *(
                f"| {check.name} | {check.part} | {check.published:.2f} | {check.computed:.2f} | {check.error:.1%} |"
                for check in self.memory
            ),
        ]
        return "\n".join(lines)


def _shape_of(run: PublishedRun) -> Shape:
    """The catalog's shape of that model, or one of its size."""
    parameters = run.parameters or 0.0
    try:
        row = catalog.find_model(run.name).row
    except (catalog.UnknownName, catalog.AmbiguousName):
        return _shape.from_size(parameters, run.active_parameters)
    if abs(row.parameters / parameters - 1) > _MAX_SIZE_ERROR:
        return _shape.from_size(parameters, run.active_parameters)
    shape = _shape.resolve(row.name, None, None, "en")
    return shape if isinstance(shape, Shape) else _shape.from_size(parameters, run.active_parameters)


def _check_run(run: PublishedRun) -> RunCheck | None:
    if not run.single_run or run.tokens is None or run.gpu_hours is None or run.active_parameters is None:
        return None
    row = catalog.find_accelerator(run.accelerator).row
    expected = _mfu.expect(
        row,
        _shape_of(run),
        gpus=run.gpu_count or 512,
        sequence_length=run.sequence_length or _mfu.DEFAULT_SEQUENCE,
    )
    stand_in = _mfu.stand_ins(row)[0][0]
    typical = median(
        item.mfu for item in catalog.mfu_measurements() if item.accelerator == stand_in and item.precision == "bf16"
    )
    work = 6 * run.active_parameters * run.tokens / ((row.peak_tflops or 0) * 1e12 * 3600)
    return RunCheck(
        run.name,
        run.gpu_hours,
        work / expected.likely,
        work / expected.high,
        work / expected.low,
        work / typical,
    )


_SEQUENCE = 2048
_MICRO_BATCH = {"Megatron 22B": 4}
_VIRTUAL_STAGES = {"GPT-3 175B": 3, "Turing 530B": 3}
"""Settings of the published measurements: arXiv 2205.05198, table 3."""


def _activations(name: str, shape: Shape, tensor_parallel: int, *, selective: bool) -> float:
    """Bytes of one layer under the published settings."""
    return _memory.layer_activations(
        sequence_length=_SEQUENCE,
        micro_batch=_MICRO_BATCH.get(name, 1),
        hidden_size=shape.hidden_size,
        heads=shape.heads,
        tensor_parallel=tensor_parallel,
        sequence_parallel=selective,
        recompute="selective" if selective else "none",
    )


def _check_memory(row: MemoryMeasurement) -> tuple[MemoryCheck, ...]:
    shape = _shape.resolve(row.name, None, None, "en")
    if not isinstance(shape, Shape):
        return ()
    split = row.tensor_parallel * row.pipeline_parallel
    times = shape.layers * _memory.interleaving(row.pipeline_parallel, _VIRTUAL_STAGES.get(row.name, 1)) / 2**30
    # The layers' weights alone; 18 bytes a parameter, for gradients are kept in fp32.
    states = 18 * 12 * shape.layers * shape.hidden_size**2 / split / 2**30
    plain, selective = (
        times * _activations(row.name, shape, row.tensor_parallel, selective=kind) for kind in (False, True)
    )
    return (
        MemoryCheck(row.name, "weights, gradients, optimizer", row.states_gib, states),
        MemoryCheck(row.name, "activations", row.activations_gib, plain),
        MemoryCheck(row.name, "activations, selective recompute", row.activations_selective_gib, selective),
    )


def validate() -> Validation:
    """Compare with everything published that a calculator can be checked on."""
    runs = tuple(check for run in catalog.published_runs() if (check := _check_run(run)) is not None)
    memory = tuple(check for row in catalog.memory_measurements() for check in _check_memory(row))
    return Validation(runs, memory)


def main() -> None:
    """Print the table."""
    print(validate().table())


if __name__ == "__main__":
    main()
