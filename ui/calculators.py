"""The calculators page: a form for each calculator, presets, result, link, export and scenarios side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from assistant.errors import InvalidInput
from assistant.schema import Language, ToolRun
from assistant.tools.registry import NAMES, get_tool
from knowledge.catalog.records import PriceFile
from ui.calculations import calculate
from ui.forms import form_html, given_values, written
from ui.layout import heading, html
from ui.prices import prices_html
from ui.words import field_label, word

_PRESETS = Path(__file__).parent / "presets.json"
Preset = dict[str, Any]


def build() -> None:
    """The page; its content is fetched by the page's script, with the tool and inputs of the address."""
    heading("nav_calculators", "calculators")
    html('<div class="page" data-load="/ui/calculators" data-with-query></div>', elem_id="calculators")


@cache
def presets() -> dict[str, list[Preset]]:
    """Named inputs of each calculator: `{"zh": name, "en": name, "inputs": {...}}`."""
    loaded: dict[str, list[Preset]] = json.loads(_PRESETS.read_text("utf-8"))
    return loaded


def calculators_html(name: str, inputs: str, own_prices: tuple[str, PriceFile] | None, language: Language) -> str:
    """The page's content for one calculator.

    Args:
        name: of the calculator; the first when it is unknown.
        inputs: a JSON object, from a link that was shared; ignored when it is no such object.
        own_prices: the visitor's price file and what it holds.
        language: of the page.
    """
    name = name if name in NAMES else NAMES[0]
    tool = get_tool(name)
    values = given_values(_object(inputs), tool)
    tabs = "".join(
        f'<a href="/calculators?tool={one}"{" aria-current=page" if one == name else ""}>'
        f"{escape(get_tool(one).title[language])}</a>"
        for one in NAMES
    )
    chips = "".join(
        f'<button type="button" class="chip preset" data-inputs="{escape(json.dumps(preset["inputs"]))}">'
        f"{escape(preset[language])}</button>"
        for preset in presets().get(name, [])
    )
    first = presets()[name][0]["inputs"] if presets().get(name) else ()
    result = (
        calculate(name, values, language)["html"] if values else f'<p class="empty">{word("no_result", language)}</p>'
    )
    form = form_html(tool, language, identity=name, values=values, first=first)
    buttons = "".join(
        f'<button type="button" class="link {kind}">{word(key, language)}</button>'
        for kind, key in (("ask-about", "ask_about"), ("share", "share"), ("json", "json"), ("keep", "keep_scenario"))
    )
    return (
        f'<h1>{word("calculators", language)}</h1><p class="lead">{word("calculators_lead", language)}</p>'
        f'<nav class="tabs" aria-label="{word("calculators", language)}">{tabs}</nav>'
        f'<div class="calculator" data-tool="{name}"><div class="inputs-column"><h2>{escape(tool.title[language])}</h2>'
        f"<p>{escape(tool.description[language])}</p>"
        f'<div class="presets" role="group" aria-label="{word("presets", language)}">{chips}'
        f'<button type="button" class="chip clear">{word("clear", language)}</button></div>'
        f'<form class="recalculate" novalidate>{form}</form>'
        f'</div><div class="result-column"><div class="result" role="region" aria-live="polite" '
        f'aria-label="{word("result", language)}">{result}</div><p class="actions export">{buttons}'
        f'<span class="note" role="status"></span></p></div>'
        f'<section class="scenarios" aria-live="polite" data-title="{word("scenarios", language)}"></section></div>'
        f"<section class=prices><details{' open' if own_prices else ''}><summary><h2>{word('prices', language)}</h2>"
        f'</summary><div id="prices">{prices_html(own_prices, language)}</div></details></section>'
    )


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def compare_html(name: str, scenarios: Sequence[Mapping[str, Any]], language: Language) -> str:
    """Up to four runs of one calculator in a table: inputs that differ, then the results."""
    tool = get_tool(name)
    given = [given_values(raw, tool) for raw in scenarios]
    runs: list[ToolRun | str] = []
    for values in given:
        try:
            runs.append(tool.run(values, language))
        except InvalidInput as error:
            runs.append(str(error))
    head = "".join(
        f'<th scope="col">{word("scenario", language)} {number} '
        f'<button type="button" class="icon remove" data-index="{number - 1}" '
        f'aria-label="{word("delete", language)} {number}">×</button></th>'
        for number in range(1, len(runs) + 1)
    )
    names = [field for field in tool.Inputs.model_fields if any(field in values for values in given)]
    rows = [
        (
            field_label(field, language),
            [
                written(values[field], tool.Inputs.unit_of(field), language) if field in values else "—"
                for values in given
            ],
        )
        for field in names
    ]
    differing = [row for row in rows if len(set(row[1])) > 1] or rows
    body = "".join(_row(label, [escape(cell) for cell in cells]) for label, cells in differing)
    said = [escape(run if isinstance(run, str) else tool.present(run, language).headline) for run in runs]
    body += _row(word("result", language), said, "said")
    return (
        f'<h2>{word("scenarios", language)}</h2><div class="scroll" tabindex="0" role="region" '
        f'aria-label="{word("scenarios", language)}"><table><thead><tr><td></td>{head}</tr></thead>'
        f'<tbody>{body}</tbody></table></div><p class="actions"><button type="button" class="link csv" '
        f'data-file="{name}-scenarios">{word("csv", language)}</button></p>'
    )


def _row(label: str, cells: Sequence[str], kind: str = "") -> str:
    return f'<tr class="{kind}"><th scope="row">{label}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
