from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.calculate import TOOL


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def test_a_rate_from_a_bill_and_what_a_timeout_saves() -> None:
    result = run(bill="$969", quantity="400 hours", avoided="30-min")
    assert (result.result["rate"], result.result["rate_unit"]) == (pytest.approx(2.4225), "USD/hour")
    assert result.result["saved"] == pytest.approx(967.78875)
    headline = TOOL.present(result, "en").headline
    assert "$2.4225/hour" in headline and "$967.79" in headline
    assert len(result.result["steps"]) == 3


def test_a_bill_from_a_rate() -> None:
    result = run(quantity="20,167.32 GB", rate="$0.045/GB")
    assert (result.result["bill"], result.result["bill_unit"]) == (pytest.approx(907.5294), "USD")
    assert "$907.53" in TOOL.present(result, "en").headline
    tokens = run("zh", quantity="2.4亿token", rate="每百万token 0.8元")
    assert (tokens.result["bill"], tokens.result["bill_unit"]) == (pytest.approx(192), "CNY")


def test_bytes_that_fit_need_headroom() -> None:
    result = run(needed="80e9 bytes", capacity="79.33 GiB")
    assert result.result["fits"] is True
    assert result.result["needed_gib"] == pytest.approx(74.506, rel=1e-4)
    headline = TOOL.present(result, "en").headline
    assert "74.51 GiB" in headline and "headroom" in headline
    assert "余量" in TOOL.present(run("zh", needed="80e9 bytes", capacity="79.33 GiB"), "zh").headline
    assert run(needed="80 GiB", capacity="80 GB").result["fits"] is False


@pytest.mark.parametrize(
    ("expression", "value", "unit"),
    [
        ("8台×24小时×30天×每小时12元", 69_120, "CNY"),
        ("3 instances x 24 h x 14 days x $1.8/hour", 1814.4, "USD"),
        ("64 GPUs x 72 h x $2.5/GPU-hour", 11_520, "USD"),
        ("20,167.32 GB * $0.045/GB", 907.5294, "USD"),
        ("2 TB / 100 MB", 20_000, None),
        ("(2+3)*4^2 - 10/4", 77.5, None),
        ("-2^2 + 3×10^3", 3004, None),
        ("80 GB in GiB", 74.505806, "GiB"),
        ("80GB等于多少GiB", 74.505806, "GiB"),
        ("1 PB / (10 Gbps x 70%)", 13.2275132, "day"),
    ],
)
def test_expressions_with_units(expression: str, value: float, unit: str | None) -> None:
    result = run(expression=expression).result
    assert result["value"] == pytest.approx(value)
    assert result.get("value_unit") == unit


@pytest.mark.parametrize(
    "expression",
    [
        "2 TB + 3 hours", "2/0", "__import__('os')", "sqrt(2)", "2 +", "(1", "1)", "2 ** 3", "9^99999", "(-1)^0.5", "",
        "(" * 200 + "1" + ")" * 200, "1e300*1e300", "3 TB of stuff", "lambda: 1", "0^(-1)",
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises((InvalidField, MissingInputs)):
        run(expression=expression)


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        ({"before": "35元", "after": "42元"}, "change", 0.2),
        ({"part": "15%", "whole": "42,000"}, "part", 6300),
        ({"part": "$30", "whole": "$120"}, "share", 0.25),
        ({"operation": "discount", "part": "35%", "whole": "$12,000"}, "price", 7800),
        ({"bill": "$100", "rate": "$2.5/hour"}, "quantity", 40),
        ({"values": ["$3", "$4.5"]}, "value", 7.5),
        ({"quantity": "100 Mbps", "to_unit": "MB/s"}, "value", 12.5),
        ({"quantity": "96 GB", "to_unit": "GiB"}, "value", 89.40697),
        ({"quantity": "730 hours", "rate": "32.77"}, "bill", 23_922.1),
    ],
)
def test_operations_follow_from_what_is_given(arguments: dict[str, Any], name: str, value: float) -> None:
    assert run(**arguments).result[name] == pytest.approx(value)


def test_units_are_checked() -> None:
    with pytest.raises(InvalidField, match="don't go together"):
        run(quantity="400 hours", rate="$0.045/GB")
    with pytest.raises(InvalidField, match="单位对不上"):
        run("zh", needed="80 GB", capacity="3 小时")
    with pytest.raises(InvalidField) as zero:
        run(bill="$10", quantity="0 hours")
    assert zero.value.field == "quantity"
    with pytest.raises(InvalidField):
        run(before="$3", after="3元")


def test_what_is_missing_is_asked() -> None:
    with pytest.raises(MissingInputs) as error:
        run("zh", bill="$969")
    assert error.value.fields == ("quantity",)
    with pytest.raises(MissingInputs):
        run()
    with pytest.raises(MissingInputs) as both:
        run(operation="fits_in")
    assert both.value.fields == ("needed", "capacity")


@given(st.integers(1, 10**7), st.integers(1, 10**6))
def test_rate_and_bill_are_inverse(cents: int, hours: int) -> None:
    bill = cents / 100
    rate = run(bill=f"${bill:.2f}", quantity=f"{hours} hours").result["rate"]
    assert run(quantity=f"{hours} hours", rate=f"${rate!r}/hour").result["bill"] == pytest.approx(bill)


@given(st.recursive(
    st.integers(0, 10**6).map(str),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=12,
))  # fmt: skip
def test_arithmetic_is_right(expression: str) -> None:
    import ast
    import operator

    operators: dict[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.BinOp):
            result: int = operators[type(node.op)](value(node.left), value(node.right))
            return result
        assert isinstance(node, ast.Constant) and isinstance(node.value, int)
        return node.value

    expected = value(ast.parse(expression, mode="eval").body)
    assert run(expression=expression).result["value"] == pytest.approx(expected)


@given(st.text(max_size=80))
def test_no_expression_raises_the_unexpected(expression: str) -> None:
    with contextlib.suppress(InvalidField, MissingInputs):
        run(expression=expression)
