"""The Model Context Protocol: ask, search and every calculator as tools, over standard streams and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import anyio
from anyio import to_thread
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.types import Receive, Send
from starlette.types import Scope as ASGIScope

from assistant import __version__
from assistant.advisor import Advisor
from assistant.answer.calculations import describe_run
from assistant.answer.draft import render
from assistant.answer.footnotes import as_markdown
from assistant.api.access import Caller, Scope
from assistant.api.access.audit import put_on_record
from assistant.api.access.caller import ANYBODY
from assistant.errors import AdvisorError, InvalidInput
from assistant.schema import Answer, Language, ToolRun
from assistant.tools.registry import NAMES, get_tool

PATH = "/mcp"
Arguments = TypeVar("Arguments", bound=BaseModel)
_INSTRUCTIONS = (
    "Facts and numbers on training models in the cloud, in Chinese or English. `ask` answers in words: show its text "
    "with its marks, which name sources and calculations. The other tools search and calculate. Do not add numbers of "
    "your own to theirs."
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ASKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


class AskArguments(BaseModel):
    """A question, alone or as the next turn of a conversation."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="In Chinese or English", pattern=r"^[^\x00]*$")
    conversation_id: str | None = Field(
        default=None, max_length=64, description="Of an earlier answer, to go on from it (such as: and on A100?)"
    )


class SearchArguments(BaseModel):
    """What to look for in the indexed documents."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(description="In Chinese or English", min_length=1, max_length=8000)
    k: int = Field(default=5, ge=1, le=50, description="Passages")


class Passage(BaseModel):
    """A passage of a document."""

    document_id: str
    title: str
    section: str
    location: str
    page: int | None
    start: int
    end: int
    text: str
    score: float


class Passages(BaseModel):
    """What was found, best first."""

    passages: list[Passage]
    coverage: float = Field(description="Probability that these answer the query, 0 to 1")


@dataclass(frozen=True)
class _Offer:
    """A tool as it is listed, the scope that it needs, and what runs it."""

    tool: Tool
    scope: Scope
    run: Callable[[Advisor, Caller, Mapping[str, Any]], tuple[str, BaseModel]]


def build(advisor: Advisor, caller_of: Callable[[ServerRequestContext[Any, Any]], Caller]) -> Server[Any]:
    """The server. A tool that fails says why in its result, so that the model can ask or correct itself."""

    async def list_tools(_context: object, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[offer.tool for offer in _offers().values()])

    async def call_tool(context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        caller = caller_of(context)
        try:
            offer = _offers().get(params.name)
            if offer is None:
                raise InvalidInput(f"There is no tool {params.name!r}. There are: {', '.join(_offers())}.")
            if offer.scope not in caller.scopes:
                raise InvalidInput(f"{params.name} needs the scope {offer.scope}, which {caller.owner} does not have.")
            text, result = await to_thread.run_sync(offer.run, advisor, caller, params.arguments or {})
        except AdvisorError as error:
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)
        if context.request is not None and isinstance(result, Answer):
            put_on_record(context.request, "ask").object = result.conversation_id
        content: list[Any] = [TextContent(type="text", text=text)]
        return CallToolResult(content=content, structured_content=result.model_dump(mode="json"))

    return Server(
        "cloud-training-advisor",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_stdio(advisor: Advisor) -> None:
    """Serve one client on standard input and output until it goes."""

    async def serve() -> None:
        server = build(advisor, lambda _context: ANYBODY)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)


def _caller(context: Any) -> Any:
    """Who asks, as the application's middleware found out."""
    return context.request.scope["user"]


class Endpoint:
    """The streamable HTTP transport as an ASGI application. Keeps no sessions: any process may take any request."""

    def __init__(self, advisor: Advisor) -> None:
        self._server = build(advisor, _caller)
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve inside; for the application's lifespan."""
        self._manager = StreamableHTTPSessionManager(self._server, stateless=True, json_response=True)
        async with self._manager.run():
            yield
        self._manager = None

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if self._manager is None:
            raise RuntimeError("The application's lifespan has not begun.")
        await self._manager.handle_request(scope, receive, send)


@cache
def _offers() -> Mapping[str, _Offer]:
    ask = Tool(
        name="ask",
        title="Ask the advisor",
        description="Answers a question on training models in the cloud, every statement with its source, every number "
        "with its calculation. Goes on with a conversation by its id.",
        input_schema=AskArguments.model_json_schema(),
        output_schema=Answer.model_json_schema(),
        annotations=_ASKS,
    )
    search = Tool(
        name="search",
        title="Search the documents",
        description="Finds the passages of the indexed documents that answer a question.",
        input_schema=SearchArguments.model_json_schema(),
        output_schema=Passages.model_json_schema(),
        annotations=_READS,
    )
    offers = {"ask": _Offer(ask, "ask", _ask), "search": _Offer(search, "search", _search)}
    return offers | {name: _calculator(name) for name in NAMES}


def _calculator(name: str) -> _Offer:
    tool = get_tool(name)
    listed = Tool(
        name=name,
        title=tool.title["en"],
        description=tool.description["en"],
        input_schema=_input_schema(tool.Inputs.model_json_schema()),
        output_schema=ToolRun.model_json_schema(),
        annotations=_READS,
    )

    def run(_advisor: Advisor, _caller: Caller, arguments: Mapping[str, Any]) -> tuple[str, BaseModel]:
        given = dict(arguments)
        language: Language = "zh" if given.pop("language", "en") == "zh" else "en"
        made = tool.run(given, language)
        return render(describe_run(made, tool.present(made, language), language)).text, made

    return _Offer(listed, "tools", run)


def _input_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A calculator's schema, which also takes amounts as people write them and the language of the result's text."""
    for name, field in schema["properties"].items():
        field.pop("title", None)
        if "unit" in field:
            written = {"type": "string", "description": "As people write it, such as 7B, 10 Gbps, 50万元"}
            kinds = field.pop("anyOf", None) or [{key: field.pop(key) for key in _OF_KIND if key in field}]
            schema["properties"][name] = {"anyOf": [*kinds, written], **field}
    schema["properties"]["language"] = {
        "enum": ["en", "zh"],
        "default": "en",
        "description": "Of the result's text",
    }
    return schema


_OF_KIND = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _ask(advisor: Advisor, caller: Caller, arguments: Mapping[str, Any]) -> tuple[str, BaseModel]:
    given = _read(AskArguments, arguments)
    answer = advisor.ask(given.question, given.conversation_id, caller.owner, caller.groups)
    return as_markdown(answer), answer


def _search(advisor: Advisor, caller: Caller, arguments: Mapping[str, Any]) -> tuple[str, BaseModel]:
    given = _read(SearchArguments, arguments)
    found = advisor.searcher.search(given.query, given.k, groups=caller.groups)
    passages = [Passage(**{name: getattr(hit, name) for name in Passage.model_fields}) for hit in found.hits]
    text = "\n\n".join(f"{p.title} › {p.section} ({p.location})\n{p.text}" for p in passages)
    return text or "Nothing is indexed.", Passages(passages=passages, coverage=found.coverage)


def _read(kind: type[Arguments], arguments: Mapping[str, Any]) -> Arguments:
    try:
        return kind.model_validate(arguments)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
