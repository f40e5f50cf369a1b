"""Runs planned calculations and keeps what came of each: a run, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assistant import tracing
from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, Origin, ToolRun
from assistant.tools.base import Presentation, Tool
from assistant.tools.registry import get_tool
from assistant.understand.state import Call


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one planned calculation: a run, or why there is none."""

    tool: str
    run: ToolRun | None = None
    shown: Presentation | None = None
    missing: MissingInputs | None = None
    invalid: InvalidField | None = None


def run_call(call: Call, turn: int, language: Language, number: str) -> Outcome:
    """Run one calculation; arguments of this turn are the question's, others an earlier turn's."""
    tool = get_tool(call.tool)
    origins: dict[str, Origin] = {
        name: "question" if slot.turn == turn else "earlier turn" for name, slot in call.slots.items()
    }
    arguments: dict[str, Any] = call.values()
    if language == "zh" and "currency" not in arguments and _has_money(tool, arguments):
        arguments["currency"] = "CNY"
        origins["currency"] = "default"
    try:
        with tracing.span(f"execute_tool {call.tool}", operation="execute_tool", tool=call.tool):
            run = tool.run(arguments, language, origins, number)
    except MissingInputs as missing:
        return Outcome(call.tool, missing=missing)
    except InvalidField as invalid:
        return Outcome(call.tool, invalid=invalid)
    return Outcome(call.tool, run=run, shown=tool.present(run, language))


def can_run(call: Call, language: Language) -> bool:
    """Whether a calculation lacks nothing."""
    try:
        get_tool(call.tool).run(call.values(), language)
    except MissingInputs:
        return False
    except InvalidField:
        return True
    return True


def _has_money(tool: Tool[Any], arguments: Mapping[str, Any]) -> bool:
    """Whether prices were stated without a currency, which in Chinese are yuan."""
    if "currency" not in tool.Inputs.model_fields or not arguments.keys() <= tool.Inputs.model_fields.keys():
        return False
    return any((tool.Inputs.unit_of(name) or "").startswith("money") for name in arguments)
