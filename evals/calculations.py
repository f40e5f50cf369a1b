"""The figures behind a calculation: what a statement marked [Tn] may say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assistant.schema import ToolRun
from evals.numbers import UNITS, Figure, read_figures

_FIELD_UNITS: tuple[tuple[str, str], ...] = (
    (r"cost|price|budget|amount|total_(?:cny|usd)|fee", "money"),
    (r"gpu_hours?|gpu_time", "gpu_hours"),
    (r"bytes_per_second", "byte rate"),
    (r"bits_per_second|bandwidth", "bandwidth"),
    (r"tokens_per_second|throughput", "tokens_per_second"),
    (r"(?:^|_)(?:kwh|energy)", "kWh"),
    (r"(?:^|_)(?:tco2|co2_tonnes|tonnes)", "tCO2"),
    (r"(?:^|_)years?(?:$|_)", "years"),
    (r"(?:^|_)months?(?:$|_)", "months"),
    (r"(?:^|_)days?(?:$|_)", "days"),
    (r"(?<!per_)(?<!per_gpu_)(?<!gpu_)hours?$", "hours"),
    (r"(?:^|_)minutes?(?:$|_)", "minutes"),
    (r"(?:^|_)seconds?(?:$|_)", "seconds"),
    (r"(?:^|_)gib(?:$|_)", "GiB"),
    (r"(?:^|_)gb(?:$|_)", "GB"),
    (r"bytes|volume|memory", "bytes"),
    (r"flops?", "flops"),
    (r"(?:^|_)tokens?(?:$|_)", "tokens"),
    (r"percent", "percent"),
    (r"mfu|share|fraction|utili[sz]ation|efficiency|discount|ratio", "ratio"),
)
"""What a field's name says of its unit; the first that fits."""


def run_figures(run: ToolRun) -> list[Figure]:
    """Every figure of a run: inputs, results (ranges and nested values too), and what its formula and notes say."""
    currency = _currency(run)
    found: list[Figure] = []
    for name, given in run.inputs.items():
        found += [_figure(name, value, given.unit, currency) for value in _numbers(given.value)]
        if isinstance(given.value, str):
            found += read_figures(given.value)
    for path, value in _leaves(run.result):
        if isinstance(value, str):
            found += read_figures(value)
        else:
            found.append(_figure(path, value, None, currency))
    sources = [f"{source.name} {source.as_of or ''}" for source in run.sources]
    for text in (run.formula, *run.assumptions, *run.warnings, *sources):
        found += read_figures(text)
    return found


def _currency(run: ToolRun) -> str | None:
    given = run.inputs.get("currency")
    value = run.result.get("currency") or (given.value if given else None)
    return value if value in ("CNY", "USD") else None


def _numbers(value: Any) -> Iterator[float]:
    for _, leaf in _leaves({"": value}):
        if not isinstance(leaf, str):
            yield leaf


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, float | str]]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield path, float(value)
    elif isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner, path)


def _figure(name: str, value: float, unit: str | None, currency: str | None) -> Figure:
    counted = re.sub(r"_per_(?!second).*$", "", name)
    kind = (
        unit if unit in UNITS else next((u for pattern, u in _FIELD_UNITS if re.search(pattern, counted, re.I)), None)
    )
    quantities: tuple[tuple[str, float], ...] = ()
    if kind == "money":
        quantities = tuple((c, value) for c in ("CNY", "USD") if currency in (None, c))
    elif kind in ("bandwidth", "byte rate"):
        quantities = (("bandwidth", value * (8 if kind == "byte rate" else 1)),)
    elif kind is not None:
        dimension, factor = UNITS[kind]
        quantities = ((dimension, value * factor),)
        if dimension == "gpu_time":
            quantities += (("time", value * factor),)
    return Figure(f"{value:g}", value, (value,), quantities, name)
