"""Pictures show the figures of their calculation."""

from __future__ import annotations

import pytest

from assistant.tools.registry import NAMES, get_tool
from ui.calculators import presets
from ui.chart_tables import chart_rows
from ui.charts import figures

DRAWN = {
    "estimate_training_cost", "estimate_memory", "select_instances", "compare_purchase_options", "compare_cloud_onprem",
    "plan_budget", "estimate_scaling", "estimate_carbon",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_first_preset_has_its_picture(name: str) -> None:
    run = get_tool(name).run(presets()[name][0]["inputs"], "en")
    charts = figures(run, "en")
    assert bool(charts) is (name in DRAWN)
    for chart in charts:
        assert chart["layout"]["title"]["text"]
        rows = chart_rows(chart)
        assert len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])}
        assert all(len(trace["x"]) == len(trace["y"]) > 0 for trace in chart["data"])


def test_memory_parts_add_up_to_the_total() -> None:
    run = get_tool("estimate_memory").run(presets()["estimate_memory"][1]["inputs"], "en")
    chart = figures(run, "en")[0]
    total = sum(trace["x"][0] for trace in chart["data"])
    assert total * 1e9 == pytest.approx(run.result["total_bytes_per_gpu"], rel=0.15)
    assert chart["layout"]["shapes"][0]["x0"] * 1e9 == run.result["usable_bytes"]


def test_break_even_is_where_the_lines_cross() -> None:
    run = get_tool("compare_cloud_onprem").run(presets()["compare_cloud_onprem"][0]["inputs"], "en")
    chart = figures(run, "en")[0]
    own, rent = chart["data"]
    assert own["y"][0] == pytest.approx(rent["y"][-1] * run.result["break_even_utilization"])
    assert chart["layout"]["shapes"][0]["x0"] == run.result["break_even_utilization"]


def test_burn_down_reaches_zero_when_the_money_is_gone() -> None:
    run = get_tool("plan_budget").run(presets()["plan_budget"][0]["inputs"], "en")
    chart = figures(run, "en")[0]
    (line,) = chart["data"]
    assert line["y"][0] == run.result["budget"]
    assert line["y"][line["x"].index(run.result["exhausted_on_day"])] == pytest.approx(0)
    thresholds = [shape for shape in chart["layout"]["shapes"] if shape.get("xref") == "paper"]
    assert len(thresholds) == len(run.result["alerts"])


def test_parts_of_a_training_bill_are_drawn_and_listed() -> None:
    asked = {"parameters": "7B", "tokens": "2T", "gpu": "H100", "gpu_count": 64}
    kept = {"storage_bytes": "100 TB", "storage_price_per_gb_month": 0.023}
    run = get_tool("estimate_training_cost").run(asked | kept, "en")
    parts, offers = figures(run, "en")
    assert sum(parts["data"][0]["x"]) == pytest.approx(run.result["total_cost"])
    assert [row[0] for row in chart_rows(parts)[1:]] == ["Computing", "Storage"]
    assert len(chart_rows(offers)) == len(offers["data"][0]["x"]) + 1


def test_table_of_lines_has_a_column_a_line() -> None:
    run = get_tool("estimate_scaling").run(presets()["estimate_scaling"][0]["inputs"], "en")
    (chart,) = figures(run, "en")
    header, *rows = chart_rows(chart)
    assert header == ["Nodes", *(trace["name"] for trace in chart["data"])]
    assert [row[0] for row in rows] == [str(step["nodes"]) for step in run.result["by_nodes"]]
    assert all(cell.endswith("%") for row in rows for cell in row[1:])
