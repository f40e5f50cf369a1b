"""The points of a chart as a table, for those who would rather read or download them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Figure = Mapping[str, Any]
Rows = list[list[str]]


def chart_rows(chart: Figure) -> Rows:
    """Rows of text, the first of them the header: one a bar or a marked point, one a place on the x axis for lines."""
    traces: Sequence[Figure] = chart["data"]
    layout = chart["layout"]
    axes = [layout[axis].get("title", {}).get("text", "") for axis in ("xaxis", "yaxis")]
    formats = [layout[axis].get("tickformat", "") for axis in ("xaxis", "yaxis")]
    first = traces[0]
    if first["type"] == "bar":
        return _bars(traces, axes)
    if "text" in first:
        points = zip(first["text"], first["x"], first["y"], strict=True)
        return [["", *axes], *([_plain(text), _number(x), _number(y)] for text, x, y in points)]
    places = sorted({x for trace in traces for x in trace["x"]})
    values = [dict(zip(trace["x"], trace["y"], strict=True)) for trace in traces]
    rows = [
        [
            x if isinstance(x, str) else _number(x, formats[0]),
            *(_number(line[x], formats[1]) if line.get(x) is not None else "" for line in values),
        ]
        for x in places
    ]
    return [[axes[0], *(trace["name"] for trace in traces)], *rows]


def _bars(traces: Sequence[Figure], axes: Sequence[str]) -> Rows:
    """Parts of one stacked bar by their names; several stacked bars a row each; single bars as they stand."""
    across = "y" if traces[0].get("orientation") == "h" else "x"
    along = "x" if across == "y" else "y"
    if len(traces) > 1 and len(traces[0][across]) > 1:
        order = -1 if across == "y" else 1  # horizontal bars stand from the bottom up
        places = zip(traces[0][across], *(trace[along] for trace in traces), strict=True)
        rows = [[str(name), *map(_number, values)] for name, *values in places]
        return [["", *(trace["name"] for trace in traces)], *rows[::order]]
    if len(traces) > 1:
        return [["", axes[0]], *([trace["name"], _number(trace["x"][0])] for trace in traces)]
    (bar,) = traces
    if bar.get("orientation") == "h":
        return [
            ["", axes[0]],
            *([name, _number(value)] for name, value in zip(bar["y"][::-1], bar["x"][::-1], strict=True)),
        ]
    return [[axes[0], axes[1]], *([name, _number(value)] for name, value in zip(bar["x"], bar["y"], strict=True))]


def _number(value: float, tickformat: str = "") -> str:
    if tickformat.endswith("%"):
        return f"{value:.1%}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _plain(text: str) -> str:
    return text.replace("<br>", " · ")
