"""The widget's side of the API: who gets a token, what it is good for, and how much may be asked with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from fastapi.testclient import TestClient

from assistant.advisor import Advisor
from assistant.api.app import create_app
from assistant.api.settings import ServiceSettings
from assistant.api.widget.settings import WidgetSettings, load_widget_settings
from assistant.errors import InvalidInput
from assistant.settings import Settings
from knowledge.encoders import load_encoder
from knowledge.ingest import ingest
from knowledge.store import Store

PAGE = "https://wiki.example.com"
OTHER = "https://intranet.example.com"
SECRET = "0123456789abcdef" * 4
QUESTION = "Where should checkpoints be stored?"
DOCUMENTS = Path(__file__).parents[2] / "browser" / "documents"
Open = Callable[..., TestClient]


@pytest.fixture(scope="module")
def advisor(tmp_path_factory: pytest.TempPathFactory) -> Advisor:
    data = tmp_path_factory.mktemp("widget") / "data"
    with Store.open(data) as store:
        ingest(store, load_encoder(), [DOCUMENTS])
    return Advisor(Settings(data_dir=data))


@pytest.fixture
def opened(advisor: Advisor) -> Iterator[Open]:
    clients: list[TestClient] = []

    def client(access: Any = "off", **settings: Any) -> TestClient:
        widget = WidgetSettings(**{"origins": f"{PAGE}, {OTHER}", "secret": SECRET, **settings})
        made = TestClient(create_app(advisor, ServiceSettings(access=access), widget))
        clients.append(made)
        return made

    yield client
    for one in clients:
        one.close()


def exchange(client: TestClient, visitor: str = "ada", origin: str = PAGE, key: str = SECRET) -> Any:
    body = {"visitor": visitor, "origin": origin}
    return client.post("/v1/widget/tokens", json=body, headers={"authorization": f"Bearer {key}"})


def token(client: TestClient, visitor: str = "ada", origin: str = PAGE) -> dict[str, str]:
    """The headers that a browser sends."""
    answer = exchange(client, visitor, origin)
    assert answer.status_code == 200, answer.text
    return {"authorization": f"Bearer {answer.json()['token']}", "origin": origin}


def ask(client: TestClient, headers: dict[str, str], conversation: str | None = None) -> dict[str, Any]:
    body = {"question": QUESTION, "conversation": conversation}
    answer = client.post("/v1/widget/stream", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    events = [block.split("\n", 1) for block in answer.text.strip().split("\n\n")]
    assert [name for name, _ in events[:2]] == ["event: stage", "event: stage"]
    name, data = events[-1]
    assert name == "event: answer"
    found: dict[str, Any] = json.loads(data.removeprefix("data: "))
    return found


def test_an_answer_comes_with_its_spans_and_without_paths(opened: Open, advisor: Advisor) -> None:
    client = opened()
    answer = ask(client, token(client))
    (source,) = [one for one in answer["sources"] if one["mark"] == "1"]
    cited = next(document for document in advisor.store.documents() if document.title == source["title"])
    text = advisor.store.source_text(cited.document_id)
    assert source["before"] + source["quote"] + source["after"] in text
    assert "object storage" in source["quote"] and "url" not in source
    assert str(DOCUMENTS) not in json.dumps(answer)
    assert "[1]" in answer["text"]


def test_only_the_pages_that_are_named_may_ask(opened: Open) -> None:
    client = opened()
    headers = token(client)
    for origin in ("https://evil.example", PAGE.replace("https", "http"), f"{PAGE}.evil.example", "null", ""):
        refused = client.post("/v1/widget/stream", json={"question": QUESTION}, headers={**headers, "origin": origin})
        assert (refused.status_code, refused.json()["code"]) == (403, "origin_refused"), origin
        assert "access-control-allow-origin" not in refused.headers
    assert client.options("/v1/widget/stream", headers={"origin": "https://evil.example"}).status_code == 403
    preflight = client.options("/v1/widget/stream", headers={"origin": PAGE})
    assert preflight.status_code == 204 and preflight.headers["access-control-allow-origin"] == PAGE
    assert "authorization" in preflight.headers["access-control-allow-headers"]


def test_an_empty_list_means_no_page(opened: Open) -> None:
    client = opened(origins="")
    assert exchange(client).json()["code"] == "origin_refused"
    refused = client.post("/v1/widget/stream", json={"question": QUESTION}, headers={"origin": PAGE})
    assert refused.json()["code"] == "origin_refused"


def test_a_token_holds_for_one_origin(opened: Open) -> None:
    client = opened()
    headers = token(client) | {"origin": OTHER}
    refused = client.post("/v1/widget/stream", json={"question": QUESTION}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "wrong_origin")


def _forged(**claims: Any) -> str:
    made = {"aud": "advisor-widget", "sub": "x", "jti": "y", "origin": PAGE, "groups": None, "iat": 1, "exp": 9e9}
    return jwt.encode(made | claims, SECRET, algorithm="HS256")


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("", "no_token"),
        ("nonsense", "invalid_token"),
        (_forged(), "invalid_token"),  # what a host knows doesn't sign
        (jwt.encode({"sub": "x"}, None, algorithm="none"), "invalid_token"),
    ],
)
def test_a_token_made_elsewhere_is_worthless(opened: Open, sent: str, code: str) -> None:
    client = opened()
    headers = {"origin": PAGE, "authorization": f"Bearer {sent}"}
    refused = client.post("/v1/widget/stream", json={"question": QUESTION}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (401, code)


def test_a_changed_token_is_worthless(opened: Open) -> None:
    client = opened()
    headers = token(client)
    head, body, signature = headers["authorization"].split(".")
    claims = jwt.decode(headers["authorization"].split()[1], options={"verify_signature": False})
    other = jwt.encode(claims | {"sub": "0" * 32}, "x" * 32, algorithm="HS256").split(".")[1]
    assert other != body
    refused = client.get(
        "/v1/widget/conversation?conversation=x", headers=headers | {"authorization": f"{head}.{other}.{signature}"}
    )
    assert (refused.status_code, refused.json()["code"]) == (401, "invalid_token")


def test_a_token_expires(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    client = opened(token_seconds=30)
    headers = token(client)
    import assistant.api.widget.tokens as tokens

    real = tokens.datetime

    class Past(real):  # type: ignore[misc, valid-type]
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return real.now(tz) - tokens.timedelta(seconds=40)

    monkeypatch.setattr(tokens, "datetime", Past)
    old = token(client)
    refused = client.post("/v1/widget/stream", json={"question": QUESTION}, headers=old)
    assert (refused.status_code, refused.json()["code"]) == (401, "expired_token")
    assert client.get("/v1/widget/conversation?conversation=x", headers=headers).status_code == 404


def test_who_exchanges_must_be_known(opened: Open) -> None:
    client = opened()
    assert exchange(client, key="wrong").status_code == 401
    assert exchange(opened(secret=""), key="").status_code == 401
    closed = opened(access="keys")
    assert exchange(closed).status_code == 401
    key, secret = closed.app.state.service.keys.create("wiki", "reader", groups=["staff"])  # type: ignore[attr-defined]
    answer = exchange(closed, key=secret)
    assert answer.status_code == 200
    claims = jwt.decode(answer.json()["token"], options={"verify_signature": False})
    assert claims["groups"] == ["staff"] and key.id not in json.dumps(claims)
    ask(closed, {"authorization": f"Bearer {answer.json()['token']}", "origin": PAGE})
    page = {"authorization": f"Bearer {answer.json()['token']}"}
    assert closed.post("/v1/ask", json={"question": QUESTION}, headers=page).status_code == 401


def test_a_conversation_belongs_to_its_visitor(opened: Open) -> None:
    client = opened()
    ada, bob = token(client, "ada"), token(client, "bob")
    first = ask(client, ada)
    again = ask(client, token(client, "ada"), first["conversation"])
    assert again["conversation"] == first["conversation"]
    address = f"/v1/widget/conversation?conversation={first['conversation']}"
    assert [turn["id"] for turn in client.get(address, headers=ada).json()] == [first["id"], again["id"]]
    assert client.get(address, headers=bob).status_code == 404
    body = {"question": QUESTION, "conversation": first["conversation"]}
    assert client.post("/v1/widget/stream", json=body, headers=bob).status_code == 404
    thumb = {"conversation": first["conversation"], "answer": first["id"], "rating": "down", "reason": "too short"}
    assert client.post("/v1/widget/feedback", json=thumb, headers=bob).status_code == 404
    assert client.post("/v1/widget/feedback", json=thumb, headers=ada).status_code == 204
    advisor = client.app.state.service.advisor  # type: ignore[attr-defined]
    assert [(one.answer.id, one.reason) for one in advisor.conversations.feedback("down")] == [
        (first["id"], "too short")
    ]


def _last(client: TestClient, headers: dict[str, str]) -> str:
    answer = client.post("/v1/widget/stream", json={"question": QUESTION}, headers=headers)
    return "answered" if answer.status_code == 200 else f"{answer.status_code} {answer.json()['detail']}"


def test_limits_hold_whatever_session_is_shown(opened: Open) -> None:
    client = opened(session_questions=2, visitor_rate="100/minute")
    first = token(client, "eve")
    assert [_last(client, first) for _ in range(3)][1:] == ["answered", _too_many(2, "this session")]
    # A new token is a new session; the visitor stays the same, and so after a restart.
    assert _last(opened(session_questions=2, visitor_questions=2), token(client, "eve")) == _too_many(2, "one visitor")
    # Another visitor from the same address.
    strict = opened(address_questions=1, day_questions=1_000_000)
    assert _last(strict, token(client, "mallory")) == _too_many(1, "one address")
    assert _last(opened(day_questions=1), token(client, "oscar")) == _too_many(1, "all visitors")


def _too_many(most: int, name: str) -> str:
    return f"429 More than {most} questions of {name} today. Go on tomorrow."


def test_bursts_of_a_visitor_are_slowed(opened: Open) -> None:
    client = opened(visitor_rate="2/minute")
    assert [_last(client, token(client, "fay"))[:3] for _ in range(3)] == ["ans", "ans", "429"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ORIGINS", "wiki.example.com"),
        ("ORIGINS", "https://a.example/path"),
        ("SECRET", "short"),
        ("TOKEN_SECONDS", "1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"ADVISOR_WIDGET_{name}", value)
    with pytest.raises(InvalidInput, match=f"ADVISOR_WIDGET_{name}"):
        load_widget_settings()


def test_the_secret_that_is_kept_outlives_a_restart(opened: Open, advisor: Advisor, tmp_path: Path) -> None:
    closed = opened(access="keys", secret="")
    _, key = closed.app.state.service.keys.create("wiki", "reader")  # type: ignore[attr-defined]
    issued = exchange(closed, key=key).json()["token"]
    headers = {"authorization": f"Bearer {issued}", "origin": PAGE}
    assert ask(opened(access="keys", secret=""), headers)["text"]
