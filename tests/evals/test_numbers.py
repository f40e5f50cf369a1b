from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.numbers import UNITS, read_figures, states


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("13.2 天", 13.2, "days"),
        ("约 1.5 小时", 90, "minutes"),
        ("十三天", 13, "days"),
        ("two weeks", 14, "days"),
        ("forty-five minutes", 45, "minutes"),
        ("六小时", 6, "hours"),
        ("1 小时 54 分", 114, "minutes"),
        ("2 days 12 h", 60, "hours"),
        ("102 万卡时", 1.02e6, "gpu_hours"),
        ("1.02M GPU-hours", 1.02e6, "gpu_hours"),
        ("需要 64 张卡跑 500 小时", 500, "gpu_hours"),
        ("¥1,280", 1280, "CNY"),
        ("220 万元", 2.2e6, "CNY"),
        ("US$2.15", 2.15, "USD"),
        ("12.5 MB/s", 100, "Mbps"),
        ("100 Mb/s", 0.1, "Gbps"),
        ("74.5 GiB", 80, "GB"),
        ("3.12×10²³ FLOPs", 3.12e23, "flops"),
        ("1.4T tokens", 1.4e12, "tokens"),
        ("15 万亿", 1.5e13, "tokens"),
        ("60%", 0.6, "ratio"),
        ("0.6", 60, "percent"),
        ("百分之五十", 50, "percent"),
        ("五到八成", 80, "percent"),
        ("50%-80%", 80, "percent"),
        ("2-3 天", 2, "days"),
        ("| 费用（元） |\n|---|\n| 885,000 |", 885_000, "CNY"),
        ("８０ＧＢ", 80, "GB"),
        ("12 吨 CO2", 12, "tCO2"),
    ],
)
def test_reads(text: str, value: float, unit: str) -> None:
    assert any(states(figure, value, unit, 0.005) for figure in read_figures(text))


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("13.2 小时", 13.2, "days"),
        ("100 MB/s", 100, "Mbps"),
        ("80 GB", 80, "GiB"),
        ("$885", 885, "CNY"),
        ("885 美元", 885, "CNY"),
        ("60", 60, "percent"),
        ("第二个周二", 2, "days"),
        ("十分重要", 10, "minutes"),
        ("one of the hours", 1, "hours"),
        ("used 12 nodes", 12, "days"),
        ("8 TB", 8, "count"),
        ("$5", 5, "days"),
    ],
)
def test_does_not_read(text: str, value: float, unit: str) -> None:
    assert not any(states(figure, value, unit, 0.005) for figure in read_figures(text))


def test_absurd_exponents_are_left_out() -> None:
    assert all(abs(figure.plain) < 1e5 for figure in read_figures("1e999 and 2×10^-9999 and 1e61 days"))


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for figure in read_figures(text):
        assert 0 <= figure.rounding <= 0.05


@given(
    st.floats(min_value=0.01, max_value=1e6).map(lambda v: float(f"{v:.4g}")),
    st.sampled_from(["days", "hours", "GB", "TiB", "USD", "CNY", "kWh", "Gbps", "Mbps"]),
)
def test_what_is_written_is_read(value: float, unit: str) -> None:
    assert any(states(figure, value, unit, 1e-4) for figure in read_figures(f"about {value} {unit} in all"))


def test_every_unit_has_a_dimension_and_a_positive_factor() -> None:
    assert all(dimension and factor > 0 for dimension, factor in UNITS.values())
