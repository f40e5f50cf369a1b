"""Who may call what: every route against every kind of caller. A route without a row here fails the test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from fastapi.testclient import TestClient
from starlette.routing import Route

from assistant.advisor import Advisor
from assistant.api.access.caller import ROLE_SCOPES, SCOPES
from assistant.api.access.gate import PUBLIC
from assistant.api.app import ROUTERS, create_app
from assistant.api.openai_schema import MODEL
from assistant.api.settings import ServiceSettings
from tests.assistant.api.conftest import WIDGET_PAGE, Client, KeyRing

QUESTION = "How much notice does a spot machine give?"
CHAT = {"model": "advisor", "messages": [{"role": "user", "content": QUESTION}]}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
FROM_PAGE = {"headers": {"origin": WIDGET_PAGE}}
FILE = {"files": ("note.md", b"# Note\n\nThe night porter answers on extension 4711.\n")}


@dataclass(frozen=True)
class Row:
    """A route: what it needs, and a request that would succeed."""

    method: str
    path: str
    scope: str
    """Of the caller; or `nobody`, when nobody need be known, `anybody`, when any key will do (MCP judges each of its
    tools), or `visitor`, when only the widget's own tokens will do (`test_widget.py`)."""
    request: dict[str, Any] = field(default_factory=dict)
    belongs: bool = False
    """Whether it names something of one owner's or one group's."""


RATED = {"conversation_id": "{conversation_id}", "answer_id": "{answer_id}", "rating": "up"}
ROWS = (
    Row("POST", "/v1/ask", "ask", {"json": {"question": QUESTION}}),
    Row("POST", "/v1/stream", "ask", {"json": {"question": QUESTION}}),
    Row("GET", "/v1/conversations", "ask"),
    Row("GET", "/v1/conversations/{conversation_id}", "ask", belongs=True),
    Row("PATCH", "/v1/conversations/{conversation_id}", "ask", {"json": {"title": "t"}}, belongs=True),
    Row("DELETE", "/v1/conversations/{conversation_id}", "ask", belongs=True),
    Row("POST", "/v1/feedback", "ask", {"json": RATED}, belongs=True),
    Row("POST", "/v1/search", "search", {"json": {"query": QUESTION}}),
    Row("GET", "/v1/documents", "documents:read"),
    Row("POST", "/v1/documents", "documents:write", {"files": FILE, "data": {"collection": "research"}}),
    Row("GET", "/v1/ingests/{ingest_id}", "documents:write", belongs=True),
    Row("GET", "/v1/documents/{document_id}", "documents:read", belongs=True),
    Row("GET", "/v1/documents/{document_id}/text", "documents:read", belongs=True),
    Row("DELETE", "/v1/documents/{document_id}", "documents:write", belongs=True),
    Row("GET", "/v1/collections", "documents:read"),
    Row("PUT", "/v1/collections/{name}/groups", "admin", {"json": {"groups": ["research"]}}),
    Row("GET", "/v1/tools", "tools"),
    Row("POST", "/v1/tools/{tool}", "tools", {"json": {"arguments": {"expression": "6 * 7"}}}),
    Row("GET", "/v1/catalog", "tools"),
    Row("GET", "/v1/catalog/{kind}", "tools"),
    Row("GET", "/v1/audit", "admin"),
    Row("GET", "/v1/health", "nobody"),
    Row("GET", "/v1/readiness", "nobody"),
    Row("GET", "/v1/version", "nobody"),
    Row("GET", "/openapi.json", "nobody"),
    Row("POST", "/v1/chat/completions", "ask", {"json": CHAT}),
    Row("GET", "/v1/models", "ask"),
    Row("GET", "/v1/models/{model}", "ask"),
    Row("GET", "/metrics", "admin"),
    Row("POST", "/mcp", "anybody", {"json": PING, "headers": {"accept": "application/json, text/event-stream"}}),
    Row("POST", "/v1/widget/tokens", "ask", {"json": {"visitor": "v", "origin": WIDGET_PAGE}}),
    Row("POST", "/v1/widget/stream", "visitor", {"json": {"question": QUESTION}, **FROM_PAGE}),
    Row("GET", "/v1/widget/conversation", "visitor", {"params": {"conversation": "c"}, **FROM_PAGE}),
    Row("POST", "/v1/widget/feedback", "visitor", {"json": {}, **FROM_PAGE}),
)


def _name(path: str) -> str:
    """A path whatever its parameters are called."""
    return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))


def test_every_route_has_a_row(app: FastAPI) -> None:
    served = {
        (method, _name(route.path))
        for routes in [*(router.routes for router in ROUTERS), app.router.routes]
        for route in routes
        if isinstance(route, Route) and route.path != "/v1/{path:path}"
        for method in (route.methods or {"POST"}) - {"HEAD"}
    }
    assert served == {(row.method, _name(row.path)) for row in ROWS}


@dataclass
class Things:
    """What belongs to the caller of the group research."""

    key: str
    client: httpx.Client
    conversation_id: str
    answer_id: str
    document_id: str
    ingest_id: str

    def fill(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.fill(item) for name, item in value.items() if name != "files"} | (
                {"files": value["files"]} if "files" in value else {}
            )
        if isinstance(value, str) and value.startswith("{"):
            return getattr(self, value.strip("{}"))
        return value

    def path(self, row: Row) -> str:
        names = {"name": "research", "tool": "calculate", "kind": "models", "model": MODEL}
        return row.path.format(**vars(self), **names)


@pytest.fixture
def things(app: FastAPI, client: Client, keys: KeyRing) -> Iterator[Things]:
    """Made anew for every test, since some delete them."""
    key = keys.make("admin", groups=["research"])
    opened = client(key)
    answer = opened.post("/v1/ask", json={"question": QUESTION}).json()
    made = opened.post("/v1/documents", files=FILE, data={"collection": "research"}).json()
    while not (state := opened.get(f"/v1/ingests/{made['id']}").json())["done"]:
        pass
    (file,) = state["files"]
    yield Things(key, opened, answer["conversation_id"], answer["id"], file["document_id"], made["id"])
    opened.delete(f"/v1/documents/{file['document_id']}")


def ask(things: Things, client: httpx.Client, row: Row) -> httpx.Response:
    return client.request(row.method, things.path(row), **things.fill(row.request))


def test_the_matrix(things: Things, client: Client, keys: KeyRing) -> None:
    """Every row × no key, an unknown, an expired, a revoked one, and one without the scope."""
    strangers = {
        "none": client(),
        "unknown": client("adv_0123456789ab_" + "x" * 43),
        "no key at all": client("sk-1234"),
        "expired": client(keys.expired()),
        "revoked": client(keys.revoked()),
    }
    without = {
        scope: client(keys.make("admin", groups=["research"], scopes=[s for s in SCOPES if s != scope]))
        for scope in SCOPES
    }
    faults = []
    for row in ROWS:
        for kind, stranger in strangers.items():
            status = ask(things, stranger, row).status_code
            if (status == 401) != (row.scope != "nobody"):
                faults.append((row.method, row.path, kind, status))
        if row.scope in without:
            response = ask(things, without[row.scope], row)
            if response.status_code != 403:
                faults.append((row.method, row.path, f"without {row.scope}", response.status_code))
    assert faults == []


OPEN = [row for row in ROWS if row.scope != "visitor"]


@pytest.mark.parametrize("row", OPEN, ids=lambda row: f"{row.method} {row.path}")
def test_whoever_may_is_let_in(things: Things, row: Row) -> None:
    assert ask(things, things.client, row).status_code < 300


@pytest.mark.parametrize("row", [row for row in ROWS if row.belongs], ids=lambda row: f"{row.method} {row.path}")
def test_what_is_anothers_is_as_if_it_were_not_there(things: Things, client: Client, keys: KeyRing, row: Row) -> None:
    stranger = client(keys.make("admin", groups=["finance"]))
    missing = Things(things.key, stranger, *["0" * 8] * 4)
    theirs, nothing = ask(things, stranger, row), ask(missing, stranger, row)
    assert theirs.status_code == nothing.status_code == 404
    told, expected = theirs.json(), nothing.json()
    for name in ("conversation_id", "answer_id", "document_id", "ingest_id"):
        told["detail"] = told["detail"].replace(getattr(things, name), "0" * 8)
    del told["request_id"], expected["request_id"]
    assert told == expected


def test_each_role_has_what_the_one_below_has() -> None:
    assert ROLE_SCOPES["reader"] < ROLE_SCOPES["editor"] < ROLE_SCOPES["admin"] == set(SCOPES)


def test_what_is_mounted_lets_nobody_in_unknown(advisor: Advisor) -> None:
    """The web app has rows of its own for none of its addresses: it is shut as a whole."""
    app = create_app(advisor, ServiceSettings(access="keys"))
    app.mount("/", PlainTextResponse("the web app"))
    shut, key = TestClient(app), app.state.service.keys.create("test", "reader")[1]
    known = TestClient(app, headers={"authorization": f"Bearer {key}"})
    for path in ("/", "/library", "/config", "/gradio_api/queue/join", "/ui/history", "/ui/static/app.css", "//v1/ask"):
        for method in ("GET", "POST", "DELETE", "HEAD"):
            assert shut.request(method, path).status_code == 401, (method, path)
        assert known.get(path).status_code == 200


def test_only_these_addresses_are_public() -> None:
    assert {row.path for row in ROWS if row.scope in ("nobody", "visitor")} | {"/widget.js"} == PUBLIC
