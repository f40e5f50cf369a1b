"""Conversations by the official MCP client, over standard streams and over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

from assistant.advisor import Advisor
from assistant.api.access import Caller
from assistant.api.mcp import build
from assistant.settings import Settings
from assistant.tools.registry import NAMES
from tests.service.serving import ROOT, Server, environment

FIRST = "64 张 H100 训 7B 模型、2T token 要多久？"
SECOND = "那换成 A100 呢？"
Work = Callable[[Client], Coroutine[Any, Any, None]]


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest) -> Callable[[Work], None]:
    """Runs a client's work against `advisor mcp` or against the server's /mcp."""

    def run(work: Work) -> None:
        async def main() -> None:
            address: Any
            if request.param == "http":
                server: Server = request.getfixturevalue("server")
                address = f"{server.url}/mcp"
            else:
                data: Path = request.getfixturevalue("data")
                address = StdioServerParameters(
                    command=sys.executable, args=["-m", "assistant", "mcp"], env=environment(data, {}), cwd=ROOT
                )
            async with Client(address, read_timeout_seconds=120) as client:
                await work(client)

        anyio.run(main)

    return run


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_holds_a_conversation(connect: Callable[[Work], None]) -> None:
    async def work(client: Client) -> None:
        first = await client.call_tool("ask", {"question": FIRST})
        assert not first.is_error
        conversation = first.structured_content["conversation_id"]
        second = await client.call_tool("ask", {"question": SECOND, "conversation_id": conversation})
        run = second.structured_content["tool_runs"][0]
        assert run["inputs"]["tokens"]["value"] == 2e12 and "A100" in run["inputs"]["gpu"]["value"]
        assert "[^T1]: estimate_training_cost" in text_of(second)

    connect(work)


def test_offers_every_calculator_with_its_schema(connect: Callable[[Work], None]) -> None:
    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"ask", "search", *NAMES}
        assert all(tool.description and tool.output_schema for tool in tools.values())
        volume = tools["plan_data_transfer"].input_schema["properties"]["volume_bytes"]
        assert {"number", "string"} <= {kind.get("type") for kind in volume["anyOf"]}
        moved = await client.call_tool(
            "plan_data_transfer",
            {"volume_bytes": "1 PB", "bandwidth_bits_per_second": 10e9, "utilization": "70%", "language": "zh"},
        )
        assert round(moved.structured_content["result"]["days"], 2) == 13.23 and "[T1]" in text_of(moved)
        found = await client.call_tool("search", {"query": "预算告警会自动停机吗", "k": 1})
        assert found.structured_content["passages"][0]["title"] == "Budgets"

    connect(work)


def test_failures_are_said_to_the_model(connect: Callable[[Work], None]) -> None:
    failures: list[tuple[str, dict[str, Any], str]] = [
        ("nope", {}, "There is no tool"),
        ("ask", {"question": ""}, "empty"),
        ("ask", {"question": "hi", "conversation_id": "nope"}, "no conversation nope"),
        ("search", {"query": "x", "k": 0}, "k: "),
        ("estimate_memory", {"colour": "red"}, "has no argument 'colour'"),
        ("estimate_memory", {}, "model"),
    ]

    async def work(client: Client) -> None:
        for tool, arguments, message in failures:
            result = await client.call_tool(tool, arguments)
            assert result.is_error and message in text_of(result), tool

    connect(work)


def test_a_tool_needs_its_scope(data: Path) -> None:
    caller = Caller("key:one", "reader", frozenset({"search"}), frozenset())
    served = build(Advisor(Settings(data_dir=data)), lambda _context: caller)

    async def main() -> None:
        async with Client(served) as client:
            refused = await client.call_tool("ask", {"question": "hi"})
            assert refused.is_error and "needs the scope ask" in text_of(refused)
            assert not (await client.call_tool("search", {"query": "budget"})).is_error

    anyio.run(main)
