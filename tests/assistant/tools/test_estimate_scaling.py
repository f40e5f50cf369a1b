from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.estimate_scaling import TOOL, efficiencies, sync_seconds


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def test_sync_over_ethernet_and_infiniband() -> None:
    slow = run("zh", parameters=7e9, nodes=2, bandwidth_bits_per_second=10e9)
    fast = run("zh", parameters=7e9, nodes=2, bandwidth_bits_per_second=8 * 400e9)
    assert slow.result["gradient_bytes"] == 14e9
    assert slow.result["sync_seconds"] == pytest.approx(14e9 * 8 / 9e9)
    assert fast.result["sync_seconds"] == pytest.approx(0.0389, rel=1e-2)
    assert "12.4 秒" in TOOL.present(slow, "zh").headline
    assert "0.0389 秒" in TOOL.present(fast, "zh").headline


def test_amounts_may_be_written_and_bits_are_not_bytes() -> None:
    assert run(parameters="7B", nodes=2, bandwidth_bits_per_second="10Gbps").result["bandwidth_bits_per_second"] == 10e9
    assert run(parameters="7B", nodes=2, bandwidth_bits_per_second="10GB/s").result["bandwidth_bits_per_second"] == 80e9


def test_ring_volumes_of_nccl() -> None:
    # NVIDIA nccl-tests, doc/PERFORMANCE.md: all-reduce 2(n-1)/n, all-gather and reduce-scatter (n-1)/n.
    assert sync_seconds(1e9, 4, 8e9, 1.0) == pytest.approx(1.5)
    assert sync_seconds(1e9, 4, 8e9, 1.0, stage=3) == pytest.approx(2.25)
    assert sync_seconds(1e9, 1, 8e9, 1.0) == 0


def test_adapters_send_little() -> None:
    full = run(parameters=7e9, nodes=2, bandwidth_bits_per_second=10e9).result
    lora = run(parameters=7e9, nodes=2, bandwidth_bits_per_second=10e9, method="lora").result
    assert lora["sync_seconds"] < full["sync_seconds"] / 50


def test_an_instance_type_brings_its_network() -> None:
    asked = run(model="llama 3 70b", nodes=8, gpu="H100", instance="p5.48xlarge")
    assert asked.result["bandwidth_bits_per_second"] == 3.2e12
    assert asked.result["scaling_efficiency"] > 0.9
    assert any("instances" in source.name or "catalog" in source.name or source.url for source in asked.sources)


def test_a_slow_network_is_called_one_and_accumulation_helps() -> None:
    asked: dict[str, Any] = {"model": "llama 3 8b", "nodes": 2, "gpu": "A100", "bandwidth_bits_per_second": 10e9}
    slow = run(**asked)
    assert slow.result["scaling_efficiency"] < 0.2 and slow.result["nodes_that_pay"] == 1
    assert "accumul" in TOOL.present(slow, "en").headline
    steps = slow.result["accumulation_for_90_percent"]
    assert run(**asked, accumulation=steps).result["scaling_efficiency_range"][0] >= 0.9 - 1e-6


def test_zero_bandwidth_and_what_is_missing() -> None:
    with pytest.raises(InvalidField) as error:
        run("zh", parameters=7e9, nodes=2, bandwidth_bits_per_second=0)
    assert error.value.field == "bandwidth_bits_per_second" and "大于 0" in str(error.value)
    with pytest.raises(MissingInputs) as missing:
        run(nodes=2)
    assert missing.value.fields == ("model", "bandwidth_bits_per_second")


@given(st.floats(1e3, 1e15), st.integers(1, 10_000), st.floats(1e6, 1e14), st.floats(1, 1e3), st.integers(0, 3))
def test_a_faster_link_never_takes_longer(payload: float, nodes: int, rate: float, times: float, stage: int) -> None:
    slow = sync_seconds(payload, nodes, rate, 0.9, stage)
    assert sync_seconds(payload, nodes, rate * times, 0.9, stage) <= slow
    assert sync_seconds(payload, nodes + 1, rate, 0.9, stage) >= slow * (1 - 1e-12)


@given(st.floats(1e-6, 1e6), st.floats(0, 1e6))
def test_efficiency_is_a_share_within_its_range(compute: float, sync: float) -> None:
    likely, low, high = efficiencies(compute, sync)
    assert 0 < low * (1 - 1e-12) <= likely <= high * (1 + 1e-12) <= 1 + 1e-9
