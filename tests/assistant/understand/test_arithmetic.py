"""Arithmetic by units: the one combination of the stated amounts that has the unit asked for."""

from __future__ import annotations

import pytest

from assistant.tools.calculate import TOOL
from assistant.understand.frames.arithmetic import solved
from assistant.understand.mentions import read_mentions


@pytest.mark.parametrize(
    ("question", "value", "unit"),
    [
        ("8 张卡一共租了 500 小时，付了 3.2 万元，每卡每小时多少", 8.0, "CNY/hour"),
        ("每批 512 条，每条 2048 token，一步 4 秒，吞吐是每秒多少 token", 262_144.0, "tokens/s"),
        ("we pull 3 TB every week at $0.09/GB, what is that per month", 3000 * 0.09 * 30 / 7, "USD/month"),
    ],
)
def test_finds_the_combination_with_the_unit(question: str, value: float, unit: str) -> None:
    found = solved(read_mentions(question))
    assert found is not None
    expression, to_unit = found
    result = TOOL.run({"expression": expression} | ({"to_unit": to_unit} if to_unit else {})).result
    assert result["value"] == pytest.approx(value)
    assert result["value_unit"] == unit


@pytest.mark.parametrize("question", ["$5 and $7 over 3 hours, total?", "how long is 20 TB at 1 Gbps", "hello"])
def test_is_silent_when_no_combination_or_several_fit(question: str) -> None:
    assert solved(read_mentions(question)) is None
