from __future__ import annotations

import contextlib
import csv
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge import quantities
from knowledge.quantities import Quantity, amount, convert, currency_of, find

ROWS = list(csv.DictReader((Path(__file__).parent / "amounts.csv").read_text("utf-8").splitlines()))
EXPECTED = re.compile(r"(?P<low>-?[\d.e+-]+?)(?:\.\.(?P<high>[\d.e+-]+))? (?P<unit>\S+)(?: (?P<mark>[~?]|<=|>=))?$")


def check(quantity: Quantity, expected: str) -> None:
    parts = EXPECTED.fullmatch(expected)
    assert parts, expected
    low, unit, mark = float(parts["low"]), parts["unit"], parts["mark"]
    if unit in ("1", "fraction"):
        assert quantity.unit == unit
    assert quantity.ambiguous == (mark == "?"), quantity
    if parts["high"]:
        assert quantity.low is not None and quantity.high is not None
        assert convert(quantity.low, quantity.unit, unit) == pytest.approx(low)
        assert convert(quantity.high, quantity.unit, unit) == pytest.approx(float(parts["high"]))
    else:
        assert convert(quantity.value, quantity.unit, unit) == pytest.approx(low)
        assert quantity.low is None
        assert quantity.approximate == (mark == "~"), quantity
    assert quantity.qualifier == {"<=": "at most", ">=": "at least"}.get(mark or ""), quantity


@pytest.mark.parametrize("row", ROWS, ids=[row["text"] for row in ROWS])
def test_written_amounts_have_their_reading(row: dict[str, str]) -> None:
    found = find(row["text"])
    expected = [part.strip() for part in row["reading"].split(";")] if row["reading"] else []
    assert len(found) == len(expected), found
    if len({part.split()[1] for part in expected}) == len(expected):
        # Of several, the order is that of the text; the table may give another.
        found = sorted(found, key=lambda quantity: [_fits(quantity, part) for part in expected].index(True))
    for quantity, part in zip(found, expected, strict=True):
        check(quantity, part)
        assert row["text"][quantity.start : quantity.end] == quantity.text


def _fits(quantity: Quantity, expected: str) -> bool:
    unit = expected.split()[1]
    return quantities.compatible(quantity.unit, unit)


def test_a_dense_sentence_is_read_whole() -> None:
    found = find("300TB：1Gbps线路（八成）vs 离线设备3台×100TB并行，单台拷300MB/s、导入同速、路上7天。哪个快")
    assert [(quantity.value, quantity.unit) for quantity in found] == [
        (300e12, "byte"),
        (1e9, "bit/s"),
        (0.8, "fraction"),
        (3, "device"),
        (100e12, "byte"),
        (300e6, "byte/s"),
        (7 * 86400, "second"),
    ]
    assert found[4].kind == "each"


def test_nodes_gpus_names_and_memory_are_told_apart() -> None:
    nodes, gpus, memory, days, parameters, tokens = find("96台8卡A100（40G）跑了差不多60天，130B、4000亿token")
    assert (nodes.value, nodes.unit) == (96, "node")
    assert (gpus.value, gpus.unit, gpus.per, gpus.name) == (8, "gpu", "node", "A100")
    assert (memory.value, memory.kind, memory.name) == (40e9, "gpu memory", "A100")
    assert days.approximate and days.written == "day"
    assert (parameters.value, tokens.value) == (130e9, 400e9)


def test_bit_and_byte_are_apart_in_one_sentence() -> None:
    _, fast, slow, _ = find("20TB，网速100MB每秒能传几天？我同事按100Mb算说要半个多月")
    assert (fast.unit, slow.unit) == ("byte/s", "bit/s")
    assert fast.to("bit/s") == 8 * slow.value


def test_an_english_bill_takes_the_only_currency_named() -> None:
    *_, speed, bill = find("2048 A100-80G, each card does ~380 tok/s, what $/gpu-h does a 2.2M bill imply")
    assert (speed.unit, speed.per, speed.approximate) == ("token/s", "gpu", True)
    assert (bill.value, bill.unit, bill.ambiguous) == (2.2e6, "USD", False)


def test_an_interval_is_marked() -> None:
    assert [quantity.kind for quantity in find("70B每小时存一次全量ckpt，存储写2GB/s")] == ["", "interval", ""]
    assert [quantity.kind for quantity in find("20k steps, save every 1000")] == ["", "interval"]


def test_host_memory_is_no_gpu_memory() -> None:
    assert [quantity.kind for quantity in find("8张80G的卡，内存512G")] == ["", "gpu memory", "memory"]


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("7B", "parameters", 7e9),
        ("1.4万亿", "tokens", 1.4e12),
        ("10 Gbps", "bit/s", 10e9),
        ("100 MB/s", "bit/s", 800e6),
        ("100G", "byte", 100e9),
        ("100G", "bit/s", 100e9),
        ("千兆", "bit/s", 1e9),
        ("50万元", "CNY", 500000),
        ("30w", "CNY", 300000),
        ("$2.5", "money", 2.5),
        ("$2.5/GPU-hour", "money/gpu-hour", 2.5),
        ("3天", "day", 3),
        ("two weeks", "day", 14),
        ("500 GiB", "GB", 536.870912),
        ("七成", "fraction", 0.7),
        ("45%", "fraction", 0.45),
        ("0.45", "fraction", 0.45),
        ("300B", "tokens", 300e9),
        ("64张", "gpu", 64),
        ("１，２８０", "1", 1280),
        ("1e12", "tokens", 1e12),
    ],
)
def test_an_argument_takes_a_written_amount_in_its_unit(text: str, unit: str, value: float) -> None:
    assert amount(text, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("50 TB", "bit/s", "expected one in bit/s"),
        ("$50", "CNY", "amount in USD"),
        ("H100", "gpu", "no amount"),
        ("a lot", "tokens", "expected a number"),
        ("nan", "tokens", "no finite number"),
        ("inf", "tokens", "no finite number"),
        ("3 TB and 4 TB", "byte", "2 amounts"),
    ],
)
def test_what_is_no_such_amount_says_what_was_expected(text: str, unit: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        amount(text, unit)


def test_currency_is_told_only_when_it_is_named() -> None:
    assert [currency_of(text) for text in ("$50k", "50万元", "¥3/GB", "预算50万", "3 TB")] == [
        "USD",
        "CNY",
        "CNY",
        None,
        None,
    ]


def test_units_of_different_dimension_do_not_convert() -> None:
    with pytest.raises(quantities.IncompatibleUnits):
        convert(1, "GB", "hour")
    with pytest.raises(quantities.IncompatibleUnits):
        convert(1, "USD", "CNY")
    assert convert(1, "GB/s", "bit/s") == 8e9
    assert convert(1, "USD/gpu-hour", "money/gpu-hour") == 1


WRITTEN = {
    "{} TB": "TB", "{}PB": "PB", "{} GiB": "GiB", "{} Gbps": "Gbps", "{} MB/s": "MB/s", "{}%": "%", "{}元": "CNY",
    "{}亿参数": "parameters", "{} days": "day", "{}小时": "hour", "${}": "USD", "{}万元": "CNY", "{} kWh": "kWh",
    "{}元/GB/月": "CNY/GB/month", "${}/GPU-hour": "USD/gpu-hour", "{} tok/s": "token/s", "{} GPUs": "gpu",
    "{} tokens": "tokens", "{}台机器": "node",
    "{} steps": "step", "{}份": "copy", "{} TFLOPS": "TFLOPS", "{}个月": "month", "{} W": "W",
}  # fmt: skip
SCALED = {"亿": 1e8, "万元": 1e4}


@given(st.sampled_from(sorted(WRITTEN)), st.integers(1, 10**7), st.sampled_from(["{}", "{:,}"]))
def test_formatting_then_parsing_gives_the_amount_back(pattern: str, value: int, form: str) -> None:
    if "GPU" in pattern and find(str(value)) == []:
        return  # "4090 GPUs" are GPUs of that name
    written = pattern.format(form.format(value))
    found = find(f"大概 {written}。")
    assert len(found) == 1, found
    scale = next((factor for word, factor in SCALED.items() if word in pattern), 1.0)
    assert found[0].to(WRITTEN[pattern]) == pytest.approx(value * scale)


@given(st.sampled_from(["GB", "GiB", "bit/s", "USD/gpu-hour", "hour", "kWh", "CNY/GB/month"]), st.floats(1e-6, 1e15))
def test_units_round_trip(unit: str, value: float) -> None:
    base = {
        "GB": "byte",
        "GiB": "TB",
        "bit/s": "GB/s",
        "USD/gpu-hour": "USD/gpu-day",
        "hour": "ms",
        "kWh": "J",
        "CNY/GB/month": "CNY/TiB/year",
    }[unit]
    assert convert(convert(value, unit, base), base, unit) == pytest.approx(value)


PIECES = st.sampled_from(
    [
        "7B",
        "70亿",
        "×8",
        "8卡",
        "A100",
        "-80G",
        "3-5",
        "三四",
        "张",
        "台",
        "~",
        "约",
        "10",
        "Gbps",
        "/",
        "每",
        "月",
        "元",
        "$",
        "2.5",
        "/GPU-hour",
        "一",
        "半",
        "万",
        "亿",
        "万兆",
        "百分之",
        "七成",
        "%",
        "to",
        "between",
        "1e30",
        "10^22",
        "１０",
        "Ｂ",
        "以内",
        "Llama-3-70B",
        "8x7B",
        "(40G)",
        "（",
        "）",
        ",",
        "，",
        "。",
        "every",
        "hour",
        "w",
        "k",
        "折",
        "half",
        "a",
        "million",
        "2025年",
        "不到",
        ".",
        "-",
        "²",
        "1,000",
        ",000",
        "个半",
        "点五",
    ]
)


@settings(max_examples=5000, deadline=None)
@given(
    st.lists(PIECES, max_size=14).flatmap(lambda pieces: st.sampled_from(["", " "]).map(lambda gap: gap.join(pieces)))
)
def test_no_written_string_raises(text: str) -> None:
    _well_formed(text)


@settings(max_examples=5000, deadline=None)
@given(st.text(max_size=60))
def test_no_string_of_any_kind_raises(text: str) -> None:
    _well_formed(text)


def _well_formed(text: str) -> None:
    found = find(text)
    for quantity in found:
        assert 0 <= quantity.start < quantity.end <= len(text)
        assert text[quantity.start : quantity.end] == quantity.text
        assert quantity.value == quantity.value
        if quantity.low is not None and quantity.high is not None:
            assert quantity.low < quantity.high
        assert quantities.compatible(quantity.unit, quantity.unit), quantity.unit
        assert len(quantity.readings) != 1
    assert all(one.end <= other.start for one, other in pairwise(found))
    with contextlib.suppress(ValueError):
        amount(text, "tokens")


@pytest.mark.parametrize(
    "piece", ["1", "1,", "一", "万", "A1-", "1-", "x1", "10^", "每", "8×", "百分之", "a ", "1 ", "($", "llama-"]
)
def test_time_is_linear_in_length(piece: str) -> None:
    def seconds(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        start = time.process_time()
        find(text)
        return time.process_time() - start

    short, long = min(seconds(2000) for _ in range(3)), min(seconds(16000) for _ in range(2))
    assert long < 30 * short + 0.05
