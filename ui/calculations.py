"""A calculation that can be opened and changed: editable inputs, result, chart, formula, assumptions and sources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from assistant.errors import InvalidField, InvalidInput, MissingInputs
from assistant.schema import Language, Source, ToolRun
from assistant.tools.base import Tool
from assistant.tools.registry import get_tool
from ui.chart_tables import chart_rows
from ui.charts import figures
from ui.forms import form_html, given_values, written
from ui.words import choice_label, field_label, word

SHORT_CELL = 14
"""Characters of a cell that isn't broken into lines."""


def run_html(run: ToolRun, language: Language) -> str:
    """One calculation of an answer, as a card with a form that recalculates as it is changed."""
    tool = get_tool(run.tool)
    given = {name: i.value for name, i in run.inputs.items() if i.origin in ("question", "earlier turn")}
    filled = {name: i for name, i in run.inputs.items() if name not in given}
    identity = f"mark-{run.n}"
    form = form_html(tool, language, identity=identity, values=given, filled=filled, first=run.inputs)
    return (
        f'<article class="card calculation" id="{identity}" tabindex="-1" data-tool="{run.tool}" data-n="{run.n}" '
        f'aria-labelledby="{identity}-title"><h3 id="{identity}-title"><span class="mark calculation">{run.n}</span>'
        f"{escape(tool.title[language])}</h3><form class=recalculate>{form}</form>"
        f'<div class="result" role="region" aria-live="polite" aria-label="{word("result", language)}">'
        f"{result_html(tool, run, language)}</div>"
        f'<p class="actions"><a class="link" href="/calculators?tool={run.tool}" data-open-calculator>'
        f"{word('open_calculator', language)}</a></p></article>"
    )


def result_html(tool: Tool[Any], run: ToolRun, language: Language) -> str:
    """What a calculation says: headline, chart, table, and how it was derived."""
    shown = tool.present(run, language)
    parts = [f'<p class="headline">{escape(shown.headline)}</p>']
    parts += [chart_html(chart, language, file=f"{run.tool}-chart") for chart in figures(run, language)]
    if shown.table:
        parts.append(table_html(shown.table, language, file=run.tool))
    warnings = [warning for warning in run.warnings if warning.rstrip("。.") not in shown.headline]
    parts += [_list(word("warnings", language), [escape(text) for text in warnings], "warnings")]
    derivation = [
        f"<p class=formula><b>{word('formula', language)}</b> {escape(run.formula)}</p>" if run.formula else "",
        _list(word("assumptions", language), [escape(text) for text in run.assumptions]),
        _inputs(run, language),
        _list(word("drivers", language), [escape(shown.drivers)] if shown.drivers else []),
        _list(word("price_sources", language), [_source(source) for source in run.sources]),
    ]
    parts.append(
        f"<details open class=derivation><summary>{word('derivation', language)}</summary>"
        f"{''.join(derivation)}</details>"
    )
    return "".join(parts)


def problem_html(error: InvalidInput, language: Language) -> str:
    """Why there is no result: what is missing, or what can't be, said at the form."""
    if isinstance(error, MissingInputs):
        note = f"<p>{escape(error.note)}</p>" if error.note else ""
        table = table_html(error.table, language, file="known") if error.table else ""
        names = ", ".join(field_label(name, language) for name in error.fields)
        question = f'<p class="missing" role="status">{escape(error.question)}</p>'
        return f'{question}<p class="note">{escape(names)}</p>{note}{table}'
    return f'<p class="error" role="alert">{escape(str(error))}</p>'


def calculate(name: str, raw: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """A form's inputs, calculated.

    Returns:
        `html` of the result or of the problem, the `run` as JSON, `inputs` as they were understood, the `filled`
        placeholders, and the `fields` that are missing or wrong.

    Raises:
        InvalidInput: there is no calculator of that name.
    """
    tool = get_tool(name)
    values = given_values(raw, tool)
    try:
        run = tool.run(values, language)
    except InvalidInput as error:
        fields = [error.field] if isinstance(error, InvalidField) else getattr(error, "fields", ())
        return {"html": problem_html(error, language), "run": None, "filled": {}, "fields": list(fields)}
    filled = {
        field: f"{written(i.value, i.unit, language, exact=False)} ({choice_label(i.origin, language)})"
        for field, i in run.inputs.items()
        if field not in values and i.value is not None
    }
    return {
        "html": result_html(tool, run, language),
        "run": run.model_dump(mode="json"),
        "filled": filled,
        "fields": [],
        "question": question_of(tool, values, language),
    }


def question_of(tool: Tool[Any], values: Mapping[str, Any], language: Language) -> str:
    """A form's inputs as a question for the chat."""
    separator, colon = ("，", "：") if language == "zh" else (", ", ": ")
    parts = [
        f"{field_label(name, language)} {written(value, tool.Inputs.unit_of(name), language)}"
        for name, value in values.items()
    ]
    return tool.title[language] + (colon + separator.join(parts) if parts else "")


def chart_html(chart: Mapping[str, Any], language: Language, *, file: str) -> str:
    """A place for a Plotly figure, which the page's script draws when it is seen; its points below as a table."""
    title = str(chart["layout"]["title"]["text"])
    data = escape(json.dumps(chart, ensure_ascii=False, default=str))
    return (
        f'<figure class="chart" role="img" aria-label="{escape(title)}" data-figure="{data}"></figure>'
        f"<details class=chart-data><summary>{word('chart_data', language)}</summary>"
        f"{table_html(chart_rows(chart), language, file=file)}</details>"
    )


def table_html(rows: Sequence[Sequence[str]], language: Language, *, file: str) -> str:
    """A table that scrolls by itself, with a download of its rows as CSV."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in rows[0])
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows[1:])
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{word("table", language)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f'<p class="actions"><button type="button" class="link csv" data-file="{file}">{word("csv", language)}'
        "</button></p>"
    )


def _cell(text: str) -> str:
    return f"<td{' class=short' if len(text) <= SHORT_CELL else ''}>{escape(text)}</td>"


def _inputs(run: ToolRun, language: Language) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(field_label(name, language))}</th>"
        f"<td>{escape(written(i.value, i.unit, language, exact=False))}</td>"
        f"<td class=note>{escape(choice_label(i.origin, language))}</td></tr>"
        for name, i in run.inputs.items()
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{word("inputs", language)}">'
        f"<table class=inputs>{rows}</table></div>"
        if rows
        else ""
    )


def _list(title: str, rows: Sequence[str], kind: str = "") -> str:
    if not rows:
        return ""
    items = "".join(f"<li>{row}</li>" for row in rows)
    return f"<div class='notes {kind}'><b>{title}</b><ul>{items}</ul></div>"


def _source(source: Source) -> str:
    name = escape(source.name)
    if source.url and source.url.startswith(("http://", "https://")):
        name = f'<a href="{escape(source.url)}" target="_blank" rel="noopener noreferrer">{name}</a>'
    return f"{name} <time>{source.as_of}</time>" if source.as_of else name
