from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools.plan_budget import TOOL


def run(language: Language = "en", **arguments: Any) -> ToolRun:
    return TOOL.run(arguments, language)


def test_a_month_that_overshoots() -> None:
    result = run("zh", budget="5万美元", spent="2.5万美元", days_elapsed=12, period_days=30)
    assert result.result["projected_cost"] == pytest.approx(62_500)
    assert result.result["over_budget"] is True
    assert result.result["days_left"] == pytest.approx(12)
    headline = TOOL.present(result, "zh").headline
    assert headline.startswith("照这个速度会超")
    assert "不会自动停机" in headline


def test_runway() -> None:
    result = run("zh", remaining="15万元", burn_per_day="8000元/天").result
    assert result["days_left"] == pytest.approx(18.75)
    assert run(budget=25_000, burn_per_day=900).result["days_left"] == pytest.approx(27.78, rel=1e-3)


def test_alerts_have_dates_when_the_start_is_known() -> None:
    alerts = run(budget="$10k", period_days=42, thresholds=[0.5, 0.75, 0.9], start_date="2026-12-01").result["alerts"]
    assert [alert["date"] for alert in alerts] == ["2026-12-21", "2027-01-01", "2027-01-07"]
    assert [alert["amount"] for alert in alerts] == [5000, 7500, 9000]


def test_a_passed_alert_is_marked() -> None:
    alerts = run(budget=100, spent=60, days_elapsed=6, period_days=10).result["alerts"]
    assert [alert["reached"] for alert in alerts] == [True, False, False]
    assert [alert["day"] for alert in alerts[1:]] == pytest.approx([8, 10])


def test_phases_by_share_and_with_a_reserve() -> None:
    result = run("zh", budget="300万元", phases=["预训练", "微调", "评测"], phase_shares=[0.7, 0.2, 0.1]).result
    assert [phase["amount"] for phase in result["phases"]] == pytest.approx([2.1e6, 6e5, 3e5])
    kept = run(budget=1e6, phase_count=3, reserve_share=0.1).result
    assert [phase["amount"] for phase in kept["phases"]] == pytest.approx([3e5] * 3)
    assert kept["reserve"] == pytest.approx(1e5)


def test_shares_alone_tell_the_projection() -> None:
    result = run(spent_share="40%", elapsed_share="30%")
    assert result.result["projected_share"] == pytest.approx(4 / 3)
    assert "overshoots" in TOOL.present(result, "en").headline


def test_a_budget_for_a_pace() -> None:
    assert run(burn_per_day=2000, period_days=30).result["budget"] == pytest.approx(60_000)


def test_missing_and_impossible() -> None:
    with pytest.raises(MissingInputs) as error:
        run()
    assert error.value.fields == ("budget", "burn_per_day")
    with pytest.raises(InvalidField) as shares:
        run(budget=100, phase_shares=[0.7, 0.6])
    assert shares.value.field == "phase_shares"
    with pytest.raises(InvalidField, match="greater than 0"):
        run(budget=100, burn_per_day=0)


@given(st.floats(1, 1e9), st.floats(1e-3, 1e6), st.floats(1, 1000))
def test_spending_at_the_allowed_pace_meets_the_budget(budget: float, spent: float, days: float) -> None:
    allowed = run(budget=budget, period_days=days).result["allowed_per_day"]
    result = run(budget=budget, burn_per_day=allowed, period_days=days).result
    assert result["projected_cost"] == pytest.approx(budget)
    assert result["over_budget"] is False


@given(st.floats(10, 1e9), st.floats(0.01, 1e6), st.floats(1.0, 5.0))
def test_a_faster_burn_never_lasts_longer(budget: float, burn: float, factor: float) -> None:
    slow, fast = (run(budget=budget, burn_per_day=pace).result["days_left"] for pace in (burn, burn * factor))
    assert fast <= slow
