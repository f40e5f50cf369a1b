"""Calculator: how long a budget lasts, what is spent at the end, when alerts fire, and how phases share it.

Burn rate = spent / days; projection = spent + burn x days left; a threshold is reached on day share x budget / burn.
"""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

from pydantic import Field

from assistant.errors import InvalidField
from assistant.schema import Language, ToolRun
from assistant.tools import _budget_words
from assistant.tools._inputs import Bound, MoneyInputs, ask, check
from assistant.tools.base import Calculation, Filled, Presentation, Tool

DEFAULT_THRESHOLDS = (0.5, 0.8, 1.0)
DAYS_PER_MONTH = 30.0
_MOST_DAYS = 36_500.0


class BudgetInputs(MoneyInputs):
    """A budget, what is spent of it, how fast, and until when; what is missing is worked out."""

    budget: float | None = Field(None, json_schema_extra={"unit": "money"})
    spent: float | None = Field(None, description="Spent so far", json_schema_extra={"unit": "money"})
    spent_share: float | None = Field(
        None, description="Spent so far, as a share of the budget", json_schema_extra={"unit": "fraction"}
    )
    remaining: float | None = Field(None, description="Left of the budget", json_schema_extra={"unit": "money"})
    burn_per_day: float | None = Field(None, json_schema_extra={"unit": "money/day"})
    days_elapsed: float | None = Field(None, json_schema_extra={"unit": "day"})
    elapsed_share: float | None = Field(
        None, description="Share of the period that has passed", json_schema_extra={"unit": "fraction"}
    )
    period_days: float | None = Field(None, description="Length of the period", json_schema_extra={"unit": "day"})
    start_date: date | None = Field(None, description="First day of the period")
    thresholds: tuple[float, ...] = Field(DEFAULT_THRESHOLDS, description="Alerts, as shares of the budget")
    phases: tuple[str, ...] = Field((), description="Names of the phases")
    phase_shares: tuple[float, ...] = Field((), description="Shares of the budget, in the order of the phases")
    phase_count: int | None = Field(None, ge=1, le=50)
    reserve_share: float = Field(0, description="Kept back from the phases", json_schema_extra={"unit": "fraction"})


BOUNDS = {
    "budget": Bound("预算", "The budget", high=1e13),
    "spent": Bound("已花金额", "The amount spent", high=1e13, above=False),
    "spent_share": Bound("已花占比", "The share spent", high=10.0, above=False),
    "remaining": Bound("剩余金额", "The amount left", high=1e13, above=False),
    "burn_per_day": Bound("每天花费", "The burn rate", high=1e12),
    "days_elapsed": Bound("已过天数", "The days passed", high=_MOST_DAYS),
    "elapsed_share": Bound("时间进度", "The share of the period passed", high=1.0),
    "period_days": Bound("周期天数", "The length of the period", high=_MOST_DAYS),
    "reserve_share": Bound("预备金比例", "The reserve", high=0.9, above=False),
}


def _calculate(inputs: BudgetInputs, language: Language) -> Calculation:
    check(inputs, BOUNDS, language)
    _check_shares(inputs, language)
    if inputs.spent_share is not None and inputs.elapsed_share is not None and inputs.budget is None:
        return _shares_alone(inputs, inputs.spent_share, inputs.elapsed_share, language)
    budget, spent = _budget_and_spent(inputs)
    elapsed = inputs.days_elapsed
    if elapsed is None and inputs.elapsed_share is not None and inputs.period_days is not None:
        elapsed = inputs.elapsed_share * inputs.period_days
    burn = inputs.burn_per_day
    if burn is None and spent and elapsed:
        burn = spent / elapsed
    _require(inputs, budget, burn, language)
    filled: dict[str, Filled] = {}
    result: dict[str, Any] = {"currency": inputs.currency or "USD"}
    if budget is None and burn is not None:
        result["solved"] = "budget"
        budget = burn * (inputs.period_days or DAYS_PER_MONTH)
        filled["period_days"] = Filled(DAYS_PER_MONTH, "default", "day")
    budget = budget or 0.0
    result["budget"] = budget
    if burn is not None:
        if spent is None:
            spent = min(budget, burn * elapsed) if elapsed is not None else 0.0
        result |= {"burn_per_day": burn, "spent": spent, "remaining": budget - spent}
        _project(inputs, budget, spent, burn, elapsed, result)
    elif inputs.period_days is not None:
        result["allowed_per_day"] = budget / inputs.period_days
        result["allowed_per_week"] = 7 * result["allowed_per_day"]
        if spent is not None and elapsed is None:
            result |= {"spent": spent, "remaining": budget - spent}
    elif spent is not None:
        result |= {"spent": spent, "remaining": budget - spent}
    if inputs.period_days is not None:
        result["period_days"] = inputs.period_days
    _alerts(inputs, result, budget, spent, burn, elapsed)
    filled["thresholds"] = Filled(list(inputs.thresholds), "default")
    _phases(inputs, result, budget)
    return Calculation(
        result=result,
        formula=_budget_words.formula(result),
        filled=filled,
        assumptions=_budget_words.assumptions(inputs.model_dump(), result, language),
        warnings=_budget_words.warnings(language),
    )


def _check_shares(inputs: BudgetInputs, language: Language) -> None:
    zh = language == "zh"
    if any(not 0 < share <= 10 for share in inputs.thresholds):
        raise InvalidField(
            "thresholds",
            "告警阈值要大于 0，按预算的比例给，例如 0.5、0.8、1。"
            if zh
            else "Thresholds must be greater than 0, as shares of the budget, such as 0.5, 0.8, 1.",
            accepted="> 0",
        )
    total = sum(inputs.phase_shares)
    if any(share < 0 for share in inputs.phase_shares) or total > 1 + 1e-6:
        given = f"{total:.0%}"
        raise InvalidField(
            "phase_shares",
            f"各阶段占比不能为负，合计不能超过 100%（现在合计 {given}）。"
            if zh
            else f"Phase shares can't be negative and must add up to at most 100% (now {given}).",
            accepted="sum <= 100%",
        )


def _budget_and_spent(inputs: BudgetInputs) -> tuple[float | None, float | None]:
    budget, spent = inputs.budget, inputs.spent
    if spent is None and budget is not None:
        if inputs.spent_share is not None:
            spent = budget * inputs.spent_share
        elif inputs.remaining is not None:
            spent = max(0.0, budget - inputs.remaining)
    if budget is None and inputs.remaining is not None:
        budget = (spent or 0.0) + inputs.remaining
    if budget is None and spent and inputs.spent_share:
        budget = spent / inputs.spent_share
    return budget, spent


def _require(inputs: BudgetInputs, budget: float | None, burn: float | None, language: Language) -> None:
    has_phases = bool(inputs.phases or inputs.phase_shares or inputs.phase_count)
    if budget is not None and (burn is not None or inputs.period_days is not None or has_phases):
        return
    if budget is None and burn is not None and inputs.period_days is not None:
        return
    missing = []
    if budget is None:
        missing.append(("budget", "预算一共多少", "how large the budget is"))
    if burn is None and inputs.period_days is None:
        missing.append(
            (
                "burn_per_day",
                "每天花多少，或者已经花了多少、花了几天、总共几天",
                "how much is spent a day, or how much so far in how many days, and until when",
            )
        )
    ask(missing, language)


def _shares_alone(inputs: BudgetInputs, spent: float, elapsed: float, language: Language) -> Calculation:
    """40% spent after 30% of the time: the projection needs no money."""
    result: dict[str, Any] = {
        "spent_share": spent,
        "elapsed_share": elapsed,
        "projected_share": spent / elapsed,
        "over_budget": spent > elapsed,
        "exhausted_at_share": elapsed / spent if spent else None,
    }
    return Calculation(
        result=result,
        formula="projected share = share spent / share of the time passed",
        assumptions=_budget_words.assumptions(inputs.model_dump(), result, language),
        warnings=_budget_words.warnings(language),
    )


def _project(
    inputs: BudgetInputs, budget: float, spent: float, burn: float, elapsed: float | None, result: dict[str, Any]
) -> None:
    """Runway, and the end of the period when one is known."""
    left = max(0.0, budget - spent)
    result["days_left"] = left / burn
    passed = elapsed if elapsed is not None else spent / burn
    result["exhausted_on_day"] = passed + left / burn
    if inputs.start_date is not None:
        result["exhausted_on"] = _day(inputs.start_date, result["exhausted_on_day"])
    if inputs.period_days is None:
        return
    remaining_days = max(0.0, inputs.period_days - passed)
    projected = spent + burn * remaining_days
    result |= {
        "projected_cost": projected,
        "projected_share": projected / budget,
        "over_budget": projected > budget * (1 + 1e-9),
        "difference": projected - budget,
    }
    if remaining_days > 0:
        result["allowed_per_day"] = left / remaining_days


def _day(start: date, number: float) -> str | None:
    """The date of the n-th day; None beyond the calendar."""
    try:
        return (start + timedelta(days=max(0, math.ceil(number - 1e-9) - 1))).isoformat()
    except OverflowError:
        return None


def _alerts(
    inputs: BudgetInputs,
    result: dict[str, Any],
    budget: float,
    spent: float | None,
    burn: float | None,
    elapsed: float | None,
) -> None:
    """Amount of each threshold, and the day on which it is reached at this pace."""
    pace = burn if burn is not None else result.get("allowed_per_day")
    alerts = []
    for share in sorted(set(inputs.thresholds)):
        alert: dict[str, Any] = {"share": share, "amount": share * budget}
        if pace:
            already = spent or 0.0
            passed = elapsed if elapsed is not None else already / pace
            alert["reached"] = already >= alert["amount"] > 0 and burn is not None and already > 0
            alert["day"] = max(0.0, passed + (alert["amount"] - already) / pace) if burn else alert["amount"] / pace
            alert["days_from_now"] = max(0.0, (alert["amount"] - already) / pace)
            if inputs.start_date is not None:
                alert["date"] = _day(inputs.start_date, alert["day"])
        alerts.append(alert)
    result["alerts"] = alerts


def _phases(inputs: BudgetInputs, result: dict[str, Any], budget: float) -> None:
    count = max(len(inputs.phases), len(inputs.phase_shares), inputs.phase_count or 0)
    if not count:
        return
    shares = list(inputs.phase_shares)
    if len(shares) < count:
        rest = max(0.0, 1 - inputs.reserve_share - sum(shares))
        shares += [rest / (count - len(shares))] * (count - len(shares))
        result["even_shares"] = not inputs.phase_shares
    names = [*inputs.phases, *(str(number) for number in range(len(inputs.phases) + 1, count + 1))]
    result["phases"] = [
        {"phase": name, "share": share, "amount": share * budget} for name, share in zip(names, shares, strict=True)
    ]
    unassigned = 1 - sum(shares)
    if unassigned > 1e-6:
        result |= {"reserve": unassigned * budget, "reserve_share": unassigned}


def _present(run: ToolRun, language: Language) -> Presentation:
    return _budget_words.present(run, language)


TOOL = Tool(
    name="plan_budget",
    title={"zh": "预算计划", "en": "Budget plan"},
    description={
        "zh": "预算能撑多久、按现在的速度会不会超、告警阈值哪天触发、各阶段怎么分。",
        "en": "How long a budget lasts, whether the current pace overshoots it, when alerts fire, and how phases "
        "share it.",
    },
    Inputs=BudgetInputs,
    calculate=_calculate,
    present=_present,
)
