"""Pictures show the figures of their calculation."""

from __future__ import annotations

import pytest

from assistant.tools.registry import NAMES, get_tool
from ui.calculators import presets
from ui.charts import figure

DRAWN = {
    "estimate_training_cost", "estimate_memory", "select_instances", "compare_purchase_options", "compare_cloud_onprem",
    "plan_budget", "estimate_scaling", "estimate_carbon",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_first_preset_has_its_picture(name: str) -> None:
    run = get_tool(name).run(presets()[name][0]["inputs"], "en")
    chart = figure(run, "en")
    assert (chart is not None) is (name in DRAWN)
    if chart is not None:
        assert chart["layout"]["title"]["text"]
        assert all(len(trace["x"]) == len(trace["y"]) > 0 for trace in chart["data"])


def test_memory_parts_add_up_to_the_total() -> None:
    run = get_tool("estimate_memory").run(presets()["estimate_memory"][1]["inputs"], "en")
    chart = figure(run, "en")
    assert chart is not None
    total = sum(trace["x"][0] for trace in chart["data"])
    assert total * 1e9 == pytest.approx(run.result["total_bytes_per_gpu"], rel=0.15)
    assert chart["layout"]["shapes"][0]["x0"] * 1e9 == run.result["usable_bytes"]


def test_break_even_is_where_the_lines_cross() -> None:
    run = get_tool("compare_cloud_onprem").run(presets()["compare_cloud_onprem"][0]["inputs"], "en")
    chart = figure(run, "en")
    assert chart is not None
    own, rent = chart["data"]
    assert own["y"][0] == pytest.approx(rent["y"][-1] * run.result["break_even_utilization"])
    assert chart["layout"]["shapes"][0]["x0"] == run.result["break_even_utilization"]


def test_burn_down_reaches_zero_when_the_money_is_gone() -> None:
    run = get_tool("plan_budget").run(presets()["plan_budget"][0]["inputs"], "en")
    chart = figure(run, "en")
    assert chart is not None
    (line,) = chart["data"]
    assert line["y"][0] == run.result["budget"]
    assert line["y"][line["x"].index(run.result["exhausted_on_day"])] == pytest.approx(0)
    thresholds = [shape for shape in chart["layout"]["shapes"] if shape.get("xref") == "paper"]
    assert len(thresholds) == len(run.result["alerts"])
