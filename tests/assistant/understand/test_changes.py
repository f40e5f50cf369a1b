"""Changes relative to what was."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.understand.changes import bare_number, relative_changes
from assistant.understand.mentions import read_mentions


@pytest.mark.parametrize(
    ("text", "values", "changed"),
    [
        ("预算减半呢", {"budget": 600_000.0, "burn_per_day": 20_000.0}, {"budget": 300_000.0}),
        ("double the GPUs", {"gpu_count": 8, "tokens": 1e12}, {"gpu_count": 16}),
        ("20% more tokens", {"gpu_count": 8, "tokens": 1e12}, {"tokens": 1.2e12}),
        ("带宽翻倍", {"bandwidth_bits_per_second": 1e9, "volume_bytes": 1e13}, {"bandwidth_bits_per_second": 2e9}),
        ("打八折呢", {"price_per_gpu_hour": 15.0, "gpu_count": 100}, {"price_per_gpu_hour": 12.0}),
        ("老板又批了30万元", {"budget": 1_200_000.0, "burn_per_day": 35_000.0}, {"budget": 1_500_000.0}),
        ("and with 8 fewer GPUs", {"gpu_count": 32, "tokens": 1e12}, {"gpu_count": 24}),
        ("another 10 TB came in", {"volume_bytes": 4e13}, {"volume_bytes": 5e13}),
        ("what is RDMA", {"gpu_count": 8}, {}),
    ],
)
def test_a_factor_changes_what_it_names(text: str, values: dict[str, Any], changed: dict[str, Any]) -> None:
    assert relative_changes(text, read_mentions(text), values) == pytest.approx(changed)


def test_a_bare_number_replaces_a_count() -> None:
    assert bare_number(read_mentions("and with 64?"), {"gpu_count": 32, "tokens": 1e12}) == {"gpu_count": 64}
    assert bare_number(read_mentions("and with 64?"), {"tokens": 1e12}) == {}
