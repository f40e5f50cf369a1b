from __future__ import annotations

from pathlib import Path

import pytest

from assistant.tools import _mfu, _shape
from assistant.tools.validate import validate
from knowledge import catalog


def test_published_gpu_hours_are_in_the_range() -> None:
    checked = validate()
    assert len(checked.runs) == sum(run.single_run for run in catalog.published_runs())
    assert checked.coverage >= 0.8
    low, high = checked.width
    assert low >= 0.65 and high <= 1.35


def test_the_likely_value_beats_a_median_utilisation() -> None:
    checked = validate()
    assert checked.median_error <= checked.baseline_median_error


def test_published_memory_is_met_within_a_tenth() -> None:
    checked = validate()
    assert len(checked.memory) == 3 * len(catalog.memory_measurements())
    assert all(check.error < 0.1 for check in checked.memory)


def test_the_table_prints_every_run() -> None:
    checked = validate()
    assert all(f"| {run.name} |" in checked.table() for run in checked.runs)
    assert {run.name for run in checked.runs} == {run.name for run in catalog.published_runs() if run.single_run}


@pytest.mark.parametrize("gpu", ["H100", "A100 80G", "MI300X", "V100"])
def test_utilisation_never_rises_with_more_gpus_or_longer_sequences(gpu: str) -> None:
    row, shape = catalog.find_accelerator(gpu).row, _shape.from_size(7e9)
    by_gpus = [_mfu.expect(row, shape, gpus=count).likely for count in (8, 64, 512, 4096)]
    by_length = [_mfu.expect(row, shape, sequence_length=length).likely for length in (2048, 8192, 32768)]
    assert by_gpus == sorted(by_gpus, reverse=True) and by_length == sorted(by_length, reverse=True)
    assert all(0 < value < 1 for value in (*by_gpus, *by_length))


def test_fp8_is_faster_and_an_unmeasured_gpu_is_called_one() -> None:
    shape = _shape.from_size(7e9)
    row = catalog.find_accelerator("H100").row
    assert _mfu.expect(row, shape, fp8=True).likely > _mfu.expect(row, shape).likely
    assert _mfu.expect(row, shape).measured
    assert not _mfu.expect(catalog.find_accelerator("MI300X").row, shape).measured


def test_the_docs_show_this_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "validation.md"
    assert validate().table() in page.read_text(encoding="utf-8")
