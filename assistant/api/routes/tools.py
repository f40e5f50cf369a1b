"""Calculators: what there are, what each takes, and a run of one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from assistant.api.access import Caller, requires
from assistant.api.problems import PROBLEMS
from assistant.errors import NotFound
from assistant.schema import Language, ToolRun
from assistant.tools.registry import NAMES, get_tool

router = APIRouter(prefix="/v1/tools", tags=["tools"], responses=PROBLEMS)
ToolsAllowed = Annotated[Caller, requires("tools")]


class ToolDescription(BaseModel):
    """A calculator, as function calling describes one."""

    name: str
    title: str
    description: str
    parameters: dict[str, Any] = Field(description="JSON Schema of the arguments.")


class ToolList(BaseModel):
    """All calculators."""

    items: list[ToolDescription]


class RunRequest(BaseModel):
    """Arguments by name; amounts may be written as people do ("7B", "10 Gbps")."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"arguments": {"volume_bytes": "1 PB", "bandwidth_bits_per_second": "10 Gbps", "utilization": "70%"}}
            ]
        },
    )

    arguments: dict[str, Any] = {}
    language: Language = Field(default="en", description="Of the notes and errors.")


@router.get("", summary="List the calculators")
def listed(_caller: ToolsAllowed, language: Language = "en") -> ToolList:
    """Each with the JSON Schema of its arguments."""
    tools = [get_tool(name) for name in NAMES]
    return ToolList(
        items=[
            ToolDescription(
                name=tool.name,
                title=tool.title[language],
                description=tool.description[language],
                parameters=tool.Inputs.model_json_schema(),
            )
            for tool in tools
        ]
    )


@router.post("/{name}", summary="Run a calculator")
def run(
    name: Annotated[str, Path(max_length=64, examples=["plan_data_transfer"])],
    asked: RunRequest,
    _caller: ToolsAllowed,
) -> ToolRun:
    """One calculation with its inputs, result, formula, assumptions and sources."""
    if name not in NAMES:
        raise NotFound(f"There is no calculator '{name}'. There are: {', '.join(NAMES)}.")
    return get_tool(name).run(asked.arguments, asked.language)
