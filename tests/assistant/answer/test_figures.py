from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.answer.figures import figures, unsupported, values_of_run, values_of_text
from assistant.schema import ToolInput, ToolRun


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("13.2 天", 13.2 * 86400),
        ("1,022,362 GPU-hours", 1022362),
        ("约 102 万卡时", 1.02e6),
        ("3.12×10^23 FLOPs", 3.12e23),
        ("3.12×10²³", 3.12e23),
        ("25.1%", 0.251),
        ("７０ GB", 70e9),
        ("$2.5k", 2500),
    ],
)
def test_reads_a_number_as_written(text: str, expected: float) -> None:
    assert any(reading == pytest.approx(expected) for reading in figures(text)[0].readings)


@pytest.mark.parametrize(
    "text", ["A100 and H100", "ZeRO-3", "p5.48xlarge", "1. first\n2. second", "said [1][T2]", "ISO27001"]
)
def test_digits_of_names_marks_and_lists_are_no_figures(text: str) -> None:
    assert figures(text) == []


@pytest.mark.parametrize(
    ("text", "support"),
    [
        ("about 13.2 days", 13.23 * 86400),
        ("20.8 天", 20.83 * 86400),
        ("约 0.11 万元", 1099.0),
        ("saves 97%", 0.9699),
    ],
)
def test_rounding_is_support(text: str, support: float) -> None:
    assert unsupported(text, [support]) == []


@pytest.mark.parametrize(
    ("text", "support"), [("about 14.2 days", 13.23 * 86400), ("13 GB", 13e12), ("26%", 0.251), ("$907.53", 907.63)]
)
def test_another_number_or_unit_is_none(text: str, support: float) -> None:
    assert len(unsupported(text, [support])) == 1


@given(st.integers(min_value=1, max_value=10**9))
def test_a_number_supports_itself(value: int) -> None:
    text = f"It takes {value:,} GB."
    assert unsupported(text, values_of_text(text)) == []


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert unsupported(text, values_of_text(text)) == []


def test_values_of_a_run_include_nested_results_and_units() -> None:
    run = ToolRun(
        tool="plan_data_transfer",
        inputs={"volume_bytes": ToolInput(value=1e15, unit="byte", origin="question")},
        result={"days": 13.23, "days_range": [12.0, 15.0], "options": [{"name": "line", "cost": 1200}]},
        formula="8 × 1e15 / (0.7 × 1e10)",
    )
    values = list(values_of_run(run))
    assert unsupported("13.2 days, 12 to 15 days, 1 PB, 1,200", values) == []
    assert unsupported("14 days", [13.23 * 86400]) == ["14"]
