"""Pictures of calculations as Plotly figures (plain data: the browser draws them in its own theme)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting
from ui.words import choice_label, word

Figure = dict[str, Any]
_HOURS_A_YEAR = 8760
_MAX_BARS = 12


def figures(run: ToolRun, language: Language) -> list[Figure]:
    """The pictures of a run; none where a table says it better, or too little is known."""
    drawn = (draw(run, language) for draw in _DRAWN.get(run.tool, ()))
    return [chart for chart in drawn if chart is not None]


def _offers(run: ToolRun, language: Language) -> Figure | None:
    """Cost of the same run on every cloud that lists the GPU."""
    offers = [offer for offer in run.result.get("offers", []) if offer.get("cost")][:_MAX_BARS]
    if len(offers) < 2:
        return None
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": [f"{offer['provider']} · {offer['instance']}" for offer in offers][::-1],
        "x": [offer["cost"] for offer in offers][::-1],
        "hovertemplate": "%{y}<br>%{x:,.0f} " + str(run.result.get("currency", "")) + "<extra></extra>",
    }
    return _figure([bar], word("chart_offers", language), x=_money(run, language), bars=len(offers))


def _cost_against_time(run: ToolRun, language: Language) -> Figure | None:
    """Instances by time and cost; where there is no job to time, by price and value."""
    offers = run.result.get("offers", [])
    timed = [offer for offer in offers if offer.get("days") and offer.get("cost")]
    if len(timed) >= 2:
        points = _points(timed, "days", "cost")
        return _figure([points], word("chart_time", language), x=word("days", language), y=_money(run, language))
    priced = [offer for offer in offers if offer.get("price_per_gpu_hour") and offer.get("price_per_exaflop")]
    if len(priced) < 2:
        return None
    points = _points(priced, "price_per_gpu_hour", "price_per_exaflop")
    return _figure(
        [points], word("chart_value", language), x=word("price_gpu_hour", language), y=word("price_exaflop", language)
    )


def _cost_parts(run: ToolRun, language: Language) -> Figure | None:
    """What a training run costs, by part; None where only computing is known."""
    result = run.result
    parts = {"part_compute": "cost", "part_storage": "storage_cost", "part_transfer": "transfer_cost"}
    return _parts(run, {key: result.get(name) or 0.0 for key, name in parts.items()}, "chart_parts", language)


def _owning_parts(run: ToolRun, language: Language) -> Figure | None:
    """What a year of owning costs, by part."""
    parts = {f"part_{name}": value for name, value in (run.result.get("cost_parts_per_year") or {}).items()}
    return _parts(run, parts, "chart_owning", language)


def _parts(run: ToolRun, costs: Mapping[str, float], title: str, language: Language) -> Figure | None:
    costs = {key: cost for key, cost in costs.items() if cost}
    if len(costs) < 2:
        return None
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": [word(key, language) for key in costs][::-1],
        "x": [*costs.values()][::-1],
        "hovertemplate": "%{y}: %{x:,.0f}<extra></extra>",
    }
    return _figure([bar], word(title, language), x=_money(run, language), bars=len(costs))


def _points(offers: Sequence[Mapping[str, Any]], x: str, y: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "marker": {"size": 11},
        "x": [offer[x] for offer in offers],
        "y": [offer[y] for offer in offers],
        "text": [f"{offer['provider']} {offer['instance']}<br>{offer.get('gpu', '')}" for offer in offers],
        "hovertemplate": "%{text}<br>%{x:,.4g} · %{y:,.4g}<extra></extra>",
    }


def _utilisation(run: ToolRun, language: Language) -> Figure | None:
    """Cost of a month for each way of buying, over the share of hours that is used."""
    result = run.result
    hourly = result.get("on_demand_price")
    if not hourly:
        return None
    shares = [i / 20 for i in range(21)]
    month = _HOURS_A_YEAR / 12
    lines = [_line(choice_label("on_demand", language), shares, [hourly * share * month for share in shares])]
    if result.get("reserved_price"):
        lines.append(
            _line(choice_label("reserved", language), shares, [result["reserved_price"] * month] * len(shares))
        )
    if result.get("spot_price"):
        # The price of a useful hour holds what interruptions lose.
        useful = next(
            (o["per_used_hour"] for o in result.get("options", []) if o["option"] == "spot"), result["spot_price"]
        )
        lines.append(_line(choice_label("spot", language), shares, [useful * share * month for share in shares]))
    if len(lines) < 2:
        return None
    chart = _figure(
        lines, word("chart_utilisation", language), x=word("utilisation", language), y=_money(run, language)
    )
    chart["layout"]["xaxis"]["tickformat"] = ".0%"
    if result.get("break_even_utilization") and result["break_even_utilization"] <= 1:
        _mark_x(chart, result["break_even_utilization"], word("break_even", language))
    return chart


def _break_even(run: ToolRun, language: Language) -> Figure | None:
    """Cost of a year of owning and of renting, over the share of hours that is used."""
    result = run.result
    if not result.get("cloud_cost_full_year") or not result.get("onprem_cost_per_year"):
        return None
    shares = [i / 20 for i in range(21)]
    lines = [
        _line(word("owning", language), shares, [result["onprem_cost_per_year"]] * len(shares)),
        _line(word("renting", language), shares, [result["cloud_cost_full_year"] * share for share in shares]),
    ]
    chart = _figure(lines, word("chart_own", language), x=word("utilisation", language), y=_money(run, language))
    chart["layout"]["xaxis"]["tickformat"] = ".0%"
    if result.get("break_even_utilization") and result["break_even_utilization"] <= 1:
        _mark_x(chart, result["break_even_utilization"], word("break_even", language))
    return chart


_MEMORY_PARTS = (
    "weights_bytes_per_gpu",
    "trained_state_bytes_per_gpu",
    "kv_cache_bytes_per_gpu",
    "activation_bytes_per_gpu",
)


def _memory(run: ToolRun, language: Language) -> Figure | None:
    """Memory of one GPU by part, against what the card has."""
    result = run.result
    parts = [(name, result[name]) for name in _MEMORY_PARTS if result.get(name)]
    if not parts:
        return None
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": word(name, language),
            "y": [""],
            "x": [value / 1e9],
            "hovertemplate": "%{fullData.name}: %{x:.3g} GB<extra></extra>",
        }
        for name, value in parts
    ]
    chart = _figure(bars, word("chart_memory", language), x="GB", bars=1)
    chart["layout"]["barmode"] = "stack"
    chart["layout"]["showlegend"] = True
    if result.get("usable_bytes"):
        _mark_x(chart, result["usable_bytes"] / 1e9, word("usable", language))
    return chart


def _scaling(run: ToolRun, language: Language) -> Figure | None:
    """Scaling efficiency over the number of nodes, one line a network."""
    steps = run.result.get("by_nodes", [])
    lines: dict[float, tuple[list[float], list[float]]] = {}
    for step in steps:
        for network in step["networks"]:
            if network.get("scaling_efficiency") is None:
                continue
            nodes, efficiency = lines.setdefault(network["bandwidth_bits_per_second"], ([], []))
            nodes.append(step["nodes"])
            efficiency.append(network["scaling_efficiency"])
    if not lines:
        return None
    traces = [
        _line(formatting.bandwidth(rate), nodes, efficiency) | {"mode": "lines+markers"}
        for rate, (nodes, efficiency) in sorted(lines.items())
    ]
    chart = _figure(traces, word("chart_scaling", language), x=word("nodes", language), y=word("efficiency", language))
    ticks = [step["nodes"] for step in steps]
    chart["layout"]["xaxis"] |= {"type": "log", "tickvals": ticks, "ticktext": [str(count) for count in ticks]}
    chart["layout"]["yaxis"] |= {"tickformat": ".0%", "range": [0, 1.02]}
    return chart


def _budget(run: ToolRun, language: Language) -> Figure | None:
    """What is left of a budget from day to day with its alert thresholds, or its split into phases."""
    result = run.result
    budget = result.get("budget")
    if result.get("phases"):
        bar = {
            "type": "bar",
            "x": [str(phase["phase"]) for phase in result["phases"]],
            "y": [phase["amount"] for phase in result["phases"]],
        }
        chart = _figure([bar], word("chart_phases", language), y=_money(run, language))
        chart["layout"]["xaxis"]["type"] = "category"
        return chart
    burn = result.get("burn_per_day")
    if not budget or not burn:
        return None
    end = max(float(result.get("period_days") or 0), budget / burn)
    days = [0.0, *(sorted({budget / burn, end}))]
    left = [budget - burn * day for day in days]
    line = _line(word("remaining", language), days, left)
    chart = _figure([line], word("chart_budget", language), x=word("day", language), y=_money(run, language))
    chart["layout"]["shapes"] = []
    chart["layout"]["annotations"] = []
    for alert in result.get("alerts", []):
        level = budget - alert["amount"]
        chart["layout"]["shapes"].append(
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": level,
                "y1": level,
                "line": {"dash": "dot", "width": 1.5},
            }
        )
        chart["layout"]["annotations"].append(
            {"xref": "paper", "x": 1, "y": level, "text": f"{alert['share']:.0%}", "showarrow": False, "yshift": 9}
        )
    if result.get("period_days"):
        _mark_x(chart, result["period_days"], word("period_end", language))
    return chart


def _greener(run: ToolRun, language: Language) -> Figure | None:
    """Emissions of the same run in other regions."""
    regions = run.result.get("greener_regions", [])[:_MAX_BARS]
    if not regions or not run.result.get("co2_tonnes"):
        return None
    rows = [(word("as_asked", language), run.result["co2_tonnes"])]
    rows += [(f"{r['provider']} {r['region']}", r["co2_tonnes"]) for r in regions]
    bar = {"type": "bar", "orientation": "h", "y": [name for name, _ in rows][::-1], "x": [v for _, v in rows][::-1]}
    return _figure([bar], word("chart_carbon", language), x="t CO2e", bars=len(rows))


_DRAWN: Mapping[str, Sequence[Callable[[ToolRun, Language], Figure | None]]] = {
    "estimate_training_cost": (_cost_parts, _offers),
    "select_instances": (_cost_against_time,),
    "compare_purchase_options": (_utilisation,),
    "compare_cloud_onprem": (_break_even, _owning_parts),
    "estimate_memory": (_memory,),
    "estimate_scaling": (_scaling,),
    "plan_budget": (_budget,),
    "estimate_carbon": (_greener,),
}


def _line(name: str, x: Sequence[float], y: Sequence[float]) -> Figure:
    return {"type": "scatter", "mode": "lines", "name": name, "x": list(x), "y": list(y), "line": {"width": 2.5}}


def _figure(traces: list[Figure], title: str, *, x: str = "", y: str = "", bars: int = 0) -> Figure:
    return {
        "data": traces,
        "layout": {
            "title": {"text": title},
            "xaxis": {"title": {"text": x}, "automargin": True},
            "yaxis": {"title": {"text": y}, "automargin": True},
            "height": 150 + 28 * bars if bars else 320,
            "showlegend": len(traces) > 1,
        },
    }


def _mark_x(chart: Figure, x: float, text: str) -> None:
    """A dashed line at x with its name."""
    chart["layout"].setdefault("shapes", []).append(
        {"type": "line", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": {"dash": "dash", "width": 2}}
    )
    chart["layout"].setdefault("annotations", []).append(
        {"yref": "paper", "x": x, "y": 1, "text": text, "showarrow": False, "yshift": 10}
    )


def _money(run: ToolRun, language: Language) -> str:
    return f"{word('cost', language)} ({run.result.get('currency', '')})".replace(" ()", "")
