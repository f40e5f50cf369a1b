from __future__ import annotations

import subprocess
import sys

import pytest

from assistant.errors import InvalidInput
from assistant.tools import registry


@pytest.mark.parametrize("name", registry.NAMES)
def test_a_tool_has_its_name_and_both_languages(name: str) -> None:
    tool = registry.get_tool(name)
    assert tool.name == name
    for texts in (tool.title, tool.description):
        assert texts["zh"] and texts["en"]
    for field in tool.Inputs.model_fields.values():
        assert not field.is_required()


def test_only_the_module_asked_for_is_imported() -> None:
    script = (
        "import sys; from assistant.tools import registry; registry.get_tool('estimate_scaling')\n"
        "print([name for name in sys.modules if name.startswith('assistant.tools.estimate') or 'langchain' in name])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['assistant.tools.estimate_scaling']"


def test_an_unknown_tool_names_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="estimate_memory"):
        registry.get_tool("estimate_magic")


def test_langchain_tools_run_the_calculators() -> None:
    tools = {tool.name: tool for tool in registry.as_structured_tools("zh")}
    assert tuple(tools) == registry.NAMES
    shown = tools["estimate_memory"].invoke({"parameters": 7e9, "method": "full", "gpu": "A100 80GB", "gpu_count": 1})
    assert shown["tool"] == "estimate_memory" and shown["result"]["fits"] == "no"
    assert "显存" in tools["estimate_memory"].description
    schema = tools["estimate_memory"].args_schema.model_json_schema()
    assert schema["properties"]["parameters"]["unit"] == "parameters"
