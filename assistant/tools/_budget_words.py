"""The words of `plan_budget`: formula, assumptions, warnings, verdict and table in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools._inputs import exact_money
from assistant.tools.base import Presentation


def formula(result: Mapping[str, Any]) -> str:
    """What was worked out, in terms of the arguments."""
    parts = []
    if "burn_per_day" in result:
        parts.append("days left = (budget - spent) / burn a day")
    if "projected_cost" in result:
        parts.append("projection = spent + burn a day x days left in the period")
    if "allowed_per_day" in result:
        parts.append("allowed a day = (budget - spent) / days left")
    if result.get("alerts"):
        parts.append("alert amount = share x budget")
    return "; ".join(parts)


def assumptions(inputs: Mapping[str, Any], result: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """What was taken for granted."""
    zh = language == "zh"
    said = [
        "按每天匀速花费推算；训练启动、扩容会让花费跳变。"
        if zh
        else "Spending is taken as even from day to day; starting or scaling up training makes it jump."
    ]
    if result.get("even_shares"):
        said.append("没给各阶段比例，先平均分。" if zh else "No shares were given: the phases share evenly.")
    if result.get("solved") == "budget" and inputs["period_days"] is None:
        said.append("没给周期，按 30 天。" if zh else "No period was given: 30 days are taken.")
    return tuple(said)


def warnings(language: Language) -> tuple[str, ...]:
    """What an alert does not do."""
    if language == "zh":
        return ("预算告警只发通知，不会自动停机；要硬停，得另配配额、自动释放或停机动作。",)
    return (
        "A budget alert only notifies and stops nothing: to stop spending set quotas or an automatic shutdown besides.",
    )


def present(run: ToolRun, language: Language) -> Presentation:
    """Whether the budget holds, when it is gone, and what may be spent a day."""
    result, zh = run.result, language == "zh"
    if "budget" not in result:
        return _shares(run, language)
    parts = [
        text
        for text in (
            _verdict(result, language),
            _runway(result, language),
            _allowed(result, language),
            _next_alert(result, language),
            _phases(result, language),
        )
        if text
    ]
    if not parts:
        left = exact_money(result.get("remaining", result["budget"]), result["currency"], language)
        parts = [f"还剩 {left}。" if zh else f"{left} is left."]
    return Presentation(("" if zh else " ").join([*parts, *run.warnings]), _table(result, language), _drivers(language))


def _shares(run: ToolRun, language: Language) -> Presentation:
    result, zh = run.result, language == "zh"
    share, spent, passed = (show.percent(result[name]) for name in ("projected_share", "spent_share", "elapsed_share"))
    if result["over_budget"]:
        gone = show.percent(result["exhausted_at_share"])
        text = (
            f"照这个速度会超：时间过了 {passed} 已花 {spent}，到期末会花到预算的 {share}，在周期的 {gone} 处就花光。"
            if zh
            else f"At this pace it overshoots: {spent} is spent after {passed} of the time, which ends at {share} "
            "of the "
            f"budget; the money is gone at {gone} of the period."
        )
    else:
        text = (
            f"照这个速度不会超：时间过了 {passed} 花了 {spent}，到期末约花预算的 {share}。"
            if zh
            else f"At this pace it holds: {spent} is spent after {passed} of the time, which ends at {share} of the "
            "budget."
        )
    return Presentation(("" if zh else " ").join([text, *run.warnings]), (), _drivers(language))


def _drivers(language: Language) -> str:
    if language == "zh":
        return "每天的花费（开着的卡数和空转时间）影响最大。"
    return "The daily burn, that is the GPUs that are on and how long they idle, matters most."


def _verdict(result: Mapping[str, Any], language: Language) -> str:
    if "projected_cost" not in result:
        return ""
    zh = language == "zh"
    currency = result["currency"]
    projected, budget, difference = (
        exact_money(abs(result[name]), currency, language) for name in ("projected_cost", "budget", "difference")
    )
    share = show.percent(result["projected_share"])
    if result["over_budget"]:
        return (
            f"照这个速度会超：期末约花 {projected}，是预算 {budget} 的 {share}，超 {difference}。"
            if zh
            else f"At this pace it overshoots: about {projected} by the end, {share} of the {budget}, {difference} "
            "over."
        )
    return (
        f"照这个速度不会超：期末约花 {projected}，是预算 {budget} 的 {share}，剩 {difference}。"
        if zh
        else f"At this pace it holds: about {projected} by the end, {share} of the {budget}, {difference} to spare."
    )


def _runway(result: Mapping[str, Any], language: Language) -> str:
    zh = language == "zh"
    if "days_left" not in result:
        return ""
    currency = result["currency"]
    burn = exact_money(result["burn_per_day"], currency, language)
    if result.get("solved") == "budget":
        budget = exact_money(result["budget"], currency, language)
        days = show.days(result["exhausted_on_day"], language)
        return f"每天 {burn}，{days}需要 {budget}。" if zh else f"At {burn} a day, {days} take {budget}."
    left = exact_money(result["remaining"], currency, language)
    days = show.days(result["days_left"], language)
    gone = result.get("exhausted_on")
    when = "" if gone is None else (f"（到 {gone}）" if zh else f" (until {gone})")
    return (
        f"每天花 {burn}，剩下的 {left} 还能撑 {days}{when}。"
        if zh
        else f"At {burn} a day the {left} left last {days}{when}."
    )


def _allowed(result: Mapping[str, Any], language: Language) -> str:
    if "allowed_per_day" not in result:
        return ""
    zh = language == "zh"
    daily = exact_money(result["allowed_per_day"], result["currency"], language)
    if "burn_per_day" in result:
        if not result.get("over_budget"):
            return ""
        return (
            f"要不超，之后每天最多花 {daily}。"
            if zh
            else f"To stay within it, spend at most {daily} a day from now on."
        )
    weekly = exact_money(result["allowed_per_week"], result["currency"], language)
    return f"平均每天可花 {daily}（每周 {weekly}）。" if zh else f"That allows {daily} a day, or {weekly} a week."


def _next_alert(result: Mapping[str, Any], language: Language) -> str:
    """The alerts still ahead, with their days."""
    zh = language == "zh"
    ahead = [alert for alert in result.get("alerts", []) if "day" in alert and not alert["reached"]]
    if not ahead:
        return ""
    said = []
    for alert in ahead[:4]:
        share, day = show.percent(alert["share"]), show.significant(alert["day"])
        when = alert.get("date") or (f"第 {day} 天" if zh else f"day {day}")
        said.append(f"{share} 在{when if not alert.get('date') else ' ' + when}" if zh else f"{share} on {when}")
    return f"告警触发：{'、'.join(said)}。" if zh else f"Alerts fire: {', '.join(said)}."


def _phases(result: Mapping[str, Any], language: Language) -> str:
    if "phases" not in result:
        return ""
    zh = language == "zh"
    currency = result["currency"]
    said = []
    for number, phase in enumerate(result["phases"], start=1):
        name = phase["phase"]
        if name == str(number):
            name = f"阶段 {name}" if zh else f"phase {name}"
        amount, share = exact_money(phase["amount"], currency, language), show.percent(phase["share"])
        said.append(f"{name} {amount}（{share}）" if zh else f"{name} {amount} ({share})")
    text = f"分配：{'、'.join(said)}" if zh else f"Split: {', '.join(said)}"
    if "reserve" in result:
        reserve = exact_money(result["reserve"], currency, language)
        text += f"，预备金 {reserve}" if zh else f", {reserve} in reserve"
    return text + ("。" if zh else ".")


def _table(result: Mapping[str, Any], language: Language) -> tuple[tuple[str, ...], ...]:
    zh = language == "zh"
    alerts = result.get("alerts", [])
    dated = any("day" in alert for alert in alerts)
    rows: list[tuple[str, ...]] = [("告警线", "金额", "触发") if zh else ("alert", "amount", "reached")]
    for alert in alerts:
        when = "—"
        if dated:
            day = show.significant(alert["day"])
            when = alert.get("date") or (f"第 {day} 天" if zh else f"day {day}")
            if alert["reached"]:
                when = "已超过" if zh else "passed"
        rows.append((show.percent(alert["share"]), exact_money(alert["amount"], result["currency"], language), when))
    return tuple(rows)
