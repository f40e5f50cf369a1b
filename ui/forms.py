"""A calculator's form, built from its Pydantic model: labels, units, help, bounds; what is left empty is found out."""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping
from datetime import date
from html import escape
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from assistant.schema import Language, ToolInput
from assistant.tools import formatting
from assistant.tools.base import Tool
from knowledge import quantities
from knowledge.errors import InvalidInput
from ui.words import choice_label, field_help, field_label, word

SHOWN_FIRST = 6
"""Fields that stand above the fold when nothing is filled in."""
SHOWN_BOUND = 1_000_000
"""Bounds beyond this only catch slips of the keyboard; nobody needs to read them."""
_EXAMPLES = {
    "parameters": "7B",
    "tokens": "2T",
    "byte": "1 TB",
    "bit/s": "10 Gb/s",
    "byte/s": "2 GB/s",
    "fraction": "40%",
    "money": "100000",
    "money/gpu-hour": "2.5",
}


def form_html(
    tool: Tool[Any],
    language: Language,
    *,
    identity: str,
    values: Mapping[str, Any] | None = None,
    filled: Mapping[str, ToolInput] | None = None,
    first: Collection[str] = (),
) -> str:
    """The fields of a form, without its result.

    Args:
        tool: whose inputs are asked for.
        language: of the labels.
        identity: makes the ids of the fields unique on the page.
        values: what the fields hold.
        filled: what the calculator took for fields that are empty; shown as their placeholder.
        first: fields to show at once; the others are folded away.
    """
    fields = {name: info for name, info in tool.Inputs.model_fields.items() if _kind(info) is not None}
    shown = [name for name in fields if name in first or (values or {}).get(name) is not None]
    if not shown:
        shown = list(fields)[:SHOWN_FIRST]
    parts = {
        name: _field_html(tool, name, info, language, identity, (values or {}).get(name), (filled or {}).get(name))
        for name, info in fields.items()
    }
    above = "".join(parts[name] for name in shown)
    below = "".join(part for name, part in parts.items() if name not in shown)
    more = (
        f"<details><summary>{word('more_inputs', language)} ({len(parts) - len(shown)})</summary>"
        f'<div class="fields">{below}</div></details>'
        if below
        else ""
    )
    return f'<div class="fields">{above}</div>{more}'


def _field_html(
    tool: Tool[Any],
    name: str,
    info: FieldInfo,
    language: Language,
    identity: str,
    value: Any,
    filled: ToolInput | None,
) -> str:
    field_id = f"{identity}-{name}"
    kind, choices = _kind(info) or ("text", ())
    unit = tool.Inputs.unit_of(name)
    notes = [part for part in (field_help(info.description, language), bounds(info, language)) if part]
    described = f' aria-describedby="{field_id}-help"' if notes else ""
    common = f'id="{field_id}" name="{name}" data-kind="{kind}"{described}'
    if kind == "choice":
        chosen = value if value is not None else info.default
        empty = "" if _required_choice(info) else f'<option value="">{word("unknown", language)}</option>'
        options = "".join(
            f'<option value="{escape(str(choice))}"{" selected" if choice == chosen else ""}>'
            f"{escape(choice_label(choice, language))}</option>"
            for choice in choices
        )
        default = "" if info.default is None else escape(str(info.default))
        control = f'<select {common} data-default="{default}">{empty}{options}</select>'
    elif kind == "yes":
        checked = value if value is not None else info.default
        default = "true" if info.default else "false"
        control = f'<input type="checkbox" {common} data-default="{default}"{" checked" if checked else ""}>'
    else:
        shown = "" if value is None else written(value, unit, language)
        placeholder = _placeholder(info, unit, filled, language)
        control = (
            f'<input type="{"date" if kind == "date" else "text"}" {common} value="{escape(shown)}" '
            f'placeholder="{escape(placeholder)}" autocomplete="off" spellcheck="false">'
        )
    suffix = _unit_label(unit, language)
    help_text = f'<small id="{field_id}-help">{escape(" · ".join(notes))}</small>' if notes else ""
    return (
        f'<div class="field {kind}"><label for="{field_id}">{escape(field_label(name, language))}'
        f"{f'<span class=unit>{escape(suffix)}</span>' if suffix else ''}</label>{control}{help_text}</div>"
    )


def _kind(info: FieldInfo) -> tuple[str, tuple[Any, ...]] | None:
    """How a field is entered; None for one that a form can't hold."""
    annotation = _without_none(info.annotation)
    if get_origin(annotation) is Literal:
        return "choice", get_args(annotation)
    if annotation is bool:
        return ("choice", (True, False)) if _optional(info.annotation) else ("yes", ())
    if annotation is date:
        return "date", ()
    if get_origin(annotation) is tuple:
        member = get_args(annotation)[0]
        return ("list", ()) if member in (str, float, int) else None
    return ("number", ()) if annotation in (int, float) else ("text", ())


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        return members[0] if len(members) == 1 else annotation
    return annotation


def _optional(annotation: Any) -> bool:
    return type(None) in get_args(annotation)


def _required_choice(info: FieldInfo) -> bool:
    return not _optional(info.annotation)


def bounds(info: FieldInfo, language: Language) -> str:
    """The range that a number may be in, as people write it."""
    low = next((m for m in info.metadata if isinstance(m, Ge | Gt)), None)
    high = next((m for m in info.metadata if isinstance(m, Le | Lt)), None)
    if low is None or high is None:
        return ""
    first: Any = low.ge if isinstance(low, Ge) else low.gt
    last: Any = high.le if isinstance(high, Le) else high.lt
    if last > SHOWN_BOUND:
        return ""
    if first == 0:
        return f"≤ {formatting.number(float(last), language)}"
    return f"{formatting.number(float(first), language)}–{formatting.number(float(last), language)}"


def _placeholder(info: FieldInfo, unit: str | None, filled: ToolInput | None, language: Language) -> str:
    if filled is not None and filled.value is not None:
        origin = choice_label(filled.origin, language)
        return f"{written(filled.value, filled.unit, language, exact=False)} ({origin})"
    if info.default not in (None, ()) and not isinstance(info.default, type(...)):
        return written(info.default, unit, language)
    example = _EXAMPLES.get(unit or "")
    return f"{word('such_as', language)} {example}" if example else word("leave_empty", language)


def _unit_label(unit: str | None, language: Language) -> str:
    if unit is None or unit.startswith("money"):
        return ""  # a label says what is paid for, and the amount may be written with its currency
    return choice_label(f"unit:{unit}", language).removeprefix("unit:")


def written(value: Any, unit: str | None, language: Language, *, exact: bool = True) -> str:
    """A value as people write it; with `exact`, only if it reads back as the same value."""
    if isinstance(value, tuple | list):
        return ", ".join(written(member, None, language, exact=exact) for member in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return choice_label(value, language) if not exact else str(value)
    if not exact and unit in ("parameters", "tokens", None) and abs(value) < SHOWN_BOUND and float(value).is_integer():
        return f"{value:,.0f}"
    pretty = _pretty(float(value), unit, language)
    if not exact or _reads_as(pretty, unit, float(value)):
        return pretty
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def _pretty(value: float, unit: str | None, language: Language) -> str:
    match unit:
        case "parameters" | "tokens":
            return formatting.parameters(value)
        case "byte":
            return formatting.data(value, 4)
        case "byte/s":
            return f"{formatting.data(value, 4)}/s"
        case "bit/s":
            return formatting.bandwidth(value, 4)
        case "fraction":
            return formatting.percent(value, 4)
        case _:
            return formatting.significant(value, 6).replace(",", "")


def _reads_as(text: str, unit: str | None, value: float) -> bool:
    try:
        read = quantities.amount(text, unit) if unit else float(text)
    except (InvalidInput, ValueError):
        return False
    return abs(read - value) <= 1e-9 * abs(value)


def given_values(raw: Mapping[str, Any], tool: Tool[Any]) -> dict[str, Any]:
    """What a form sends, as arguments of the calculator: empty fields left out, lists split at commas."""
    values: dict[str, Any] = {}
    for name, value in raw.items():
        info = tool.Inputs.model_fields.get(name)
        if value is None or value == "" or info is None:
            continue
        kind, choices = _kind(info) or ("text", ())
        if kind == "choice":
            value = next((choice for choice in choices if str(choice) == str(value)), value)
        elif kind == "list" and isinstance(value, str):
            value = [part.strip() for part in value.replace("，", ",").replace("、", ",").split(",") if part.strip()]
            value = [_share(part) for part in value] if _numbers(info) else value
        elif kind == "number" and isinstance(value, str) and tool.Inputs.unit_of(name) is None:
            value = value.replace(",", "").strip()
        if value != info.default:  # a default that stands in a form is not something that was stated
            values[name] = value
    return values


def _numbers(info: FieldInfo) -> bool:
    return get_args(info.annotation)[0] is float


def _share(text: str) -> float | str:
    """A member of a list of shares: 50% or 0.5."""
    try:
        return quantities.amount(text, "fraction")
    except (InvalidInput, ValueError):
        return text
