from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.schema import Language
from assistant.tools import formatting as show


@pytest.mark.parametrize(
    ("value", "zh", "en"),
    [
        (0, "0", "0"),
        (380, "380", "380"),
        (3108.4, "3,108", "3,108"),
        (1_023_400, "102万", "1.02M"),
        (1.4e12, "1.4万亿", "1.4T"),
        (4e11, "4,000亿", "400B"),
        (7e9, "70亿", "7B"),
        (9_999_999, "1,000万", "10M"),
        (3.12e23, "3.12×10^23", "3.12×10^23"),
    ],
)
def test_counts(value: float, zh: str, en: str) -> None:
    assert (show.number(value, "zh"), show.number(value, "en")) == (zh, en)


@pytest.mark.parametrize(
    ("value", "exact", "text"),
    [
        (907.5294, True, "$907.53"),
        (2.4225, False, "$2.42"),
        (0.0033, True, "$0.0033"),
        (2_200_000, False, "$2.2M"),
        (12_345.678, True, "$12,345.68"),
        (5_230, False, "$5,230"),
        (-3.5, False, "-$3.50"),
    ],
)
def test_money(value: float, exact: bool, text: str) -> None:
    assert show.money(value, "USD", "en", is_exact=exact) == text


def test_money_in_chinese_and_without_a_symbol() -> None:
    assert show.money(500_000, "CNY", "zh") == "¥50万"
    assert show.money(100, "SGD", "en") == "100 SGD"


@pytest.mark.parametrize(
    ("seconds", "zh", "en"),
    [
        (0.0389, "0.0389 秒", "0.0389 s"),
        (12.4, "12.4 秒", "12.4 s"),
        (490, "8.17 分钟", "8.17 minutes"),
        (20.8 * 86400, "20.8 天", "20.8 days"),
    ],
)
def test_times(seconds: float, zh: str, en: str) -> None:
    assert (show.duration(seconds, "zh"), show.duration(seconds, "en")) == (zh, en)


def test_bytes_decimal_and_binary() -> None:
    assert show.gigabytes(80e9) == "80 GB" and show.gibibytes(80e9) == "74.5 GiB"
    assert show.data(1.96e12) == "1.96 TB" and show.gigabytes(10.74e12) == "10,740 GB"
    assert show.percent(0.251) == "25.1%" and show.bandwidth(10e9) == "10 Gb/s"


@given(st.floats(1e-9, 1e15), st.integers(2, 4))
def test_significant_digits_are_never_more_than_asked_nor_wrong(value: float, digits: int) -> None:
    text = show.significant(value, digits)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))
    assert len(text.replace(",", "").replace(".", "").strip("0")) <= digits


@given(st.floats(-1e18, 1e18), st.sampled_from(["zh", "en"]))
def test_no_number_breaks_a_formatter(value: float, language: Language) -> None:
    for text in (
        show.number(value, language),
        show.money(value, "USD", language),
        show.duration(abs(value), language),
        show.data(value),
        show.parameters(value),
        show.exact(value),
    ):
        assert text and "nan" not in text and "e+" not in text
