"""Finds a calculator by name and imports only its module; gives all of them to LangChain at the edge."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from assistant.errors import InvalidInput
from assistant.schema import Language
from assistant.tools.base import Tool

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool

NAMES = (
    "estimate_training_cost",
    "estimate_memory",
    "select_instances",
    "compare_purchase_options",
    "plan_data_transfer",
    "estimate_storage",
    "compare_cloud_onprem",
    "plan_budget",
    "estimate_scaling",
    "estimate_carbon",
    "calculate",
)


@cache
def get_tool(name: str) -> Tool[Any]:
    """The calculator of that name.

    Raises:
        InvalidInput: there is none.
    """
    if name not in NAMES:
        raise InvalidInput(f"There is no calculator '{name}'. There are: {', '.join(NAMES)}.")
    tool: Tool[Any] = import_module(f"assistant.tools.{name}").TOOL
    return tool


def describe(language: Language) -> dict[str, str]:
    """Each calculator's description, by name."""
    return {name: get_tool(name).description[language] for name in NAMES}


def as_structured_tools(language: Language) -> list[StructuredTool]:
    """All calculators for a LangChain agent; each returns a ToolRun as JSON."""
    from langchain_core.tools import StructuredTool

    def bound(name: str) -> StructuredTool:
        tool = get_tool(name)

        def run(**arguments: Any) -> dict[str, Any]:
            return tool.run(arguments, language).model_dump(mode="json")

        return StructuredTool.from_function(
            func=run, name=name, description=tool.description[language], args_schema=tool.Inputs
        )

    return [bound(name) for name in NAMES]
