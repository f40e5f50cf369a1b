"""What every request goes through: ids, problems, limits, keys and people, idempotency, pages, the audit log."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from fastapi.testclient import TestClient

from assistant.advisor import Advisor
from assistant.api.access.binding import check_binding
from assistant.api.app import create_app
from assistant.api.crosssite import OwnName
from assistant.api.service import Service
from assistant.api.settings import ServiceSettings, load_service_settings
from assistant.errors import InvalidInput
from tests.assistant.api.conftest import Client, KeyRing

QUESTION = {"question": "How much notice does a spot machine give?"}


def opened(advisor: Advisor, address: str = "127.0.0.1", **settings: Any) -> TestClient:
    return TestClient(create_app(advisor, ServiceSettings(**settings)), client=(address, 5000))


def test_a_request_has_an_id_and_security_headers(client: Client) -> None:
    response = client().get("/v1/health", headers={"x-request-id": "mine-1"})
    assert response.headers["x-request-id"] == "mine-1"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    forged = client().get("/v1/health", headers={"x-request-id": "a b"})
    assert forged.headers["x-request-id"] != "a b"


@pytest.mark.parametrize(
    ("method", "path", "request_", "status", "code"),
    [
        ("GET", "/v1/nothing", {}, 404, "not_found"),
        ("GET", "/v1/ask", {}, 405, "method_not_allowed"),
        ("POST", "/v1/ask", {"json": {"question": " "}}, 422, "invalid_input"),
        ("POST", "/v1/ask", {"json": {"question": "x" * 9000}}, 422, "invalid_input"),
        ("POST", "/v1/ask", {"json": {"question": "x\0"}}, 422, "invalid_request"),
        ("POST", "/v1/ask", {"content": b'{"question": "\\ud800"}'}, 422, "invalid_request"),
        ("POST", "/v1/ask", {"json": {"question": "x", "extra": 1}}, 422, "invalid_request"),
        ("POST", "/v1/ask", {"json": QUESTION | {"conversation_id": "nope"}}, 404, "conversation_not_found"),
        ("POST", "/v1/ask", {"content": b"x" * 2_000_000}, 413, "too_large"),
        ("POST", "/v1/ask", {"content": (b"x" * 100_000 for _ in range(20))}, 413, "too_large"),
        ("POST", "/v1/tools/nope", {"json": {}}, 404, "not_found"),
        ("POST", "/v1/tools/calculate", {"json": {"arguments": {"nope": 1}}}, 422, "invalid_field"),
        ("POST", "/v1/tools/plan_budget", {"json": {}}, 422, "missing_inputs"),
        ("GET", "/v1/documents?cursor=x", {}, 422, "invalid_input"),
        ("GET", "/v1/conversations?cursor=WyJhIiwgImIiXQ", {}, 422, "invalid_input"),
        ("POST", "/v1/documents", {"files": {"files": ("a.md", b"\x7fELF" + b"\0" * 64)}}, 415, "unreadable_content"),
        ("POST", "/v1/documents", {"files": {"files": ("a.md", b"")}}, 422, "invalid_input"),
    ],
)
def test_every_error_is_a_problem(
    client: Client, keys: KeyRing, method: str, path: str, request_: dict[str, Any], status: int, code: str
) -> None:
    json_type = {"content-type": "application/json"} if "content" in request_ else {}
    response = client(keys.make("admin")).request(method, path, headers=json_type, **request_)
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    problem = response.json()
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["request_id"] == response.headers["x-request-id"]
    assert problem["detail"] and "Traceback" not in problem["detail"]


def test_a_fault_of_the_server_tells_nothing(advisor: Advisor, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(advisor, ServiceSettings())
    monkeypatch.setattr(app.state.service.advisor, "ask", lambda *_: {}["secret"])
    response = TestClient(app, client=("127.0.0.1", 1)).post("/v1/ask", json=QUESTION)
    assert response.status_code == 500
    assert response.json()["code"] == "server_error" and "secret" not in response.text


def test_a_conversation_is_listed_read_renamed_and_deleted(client: Client, keys: KeyRing) -> None:
    mine = client(keys.make())
    ids = [mine.post("/v1/ask", json=QUESTION).json()["conversation_id"] for _ in range(3)]
    first = mine.get("/v1/conversations", params={"limit": 2}).json()
    rest = mine.get("/v1/conversations", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [entry["id"] for entry in [*first["items"], *rest["items"]]] == ids[::-1]
    assert rest["next_cursor"] is None
    assert mine.patch(f"/v1/conversations/{ids[0]}", json={"title": "Spot"}).json()["title"] == "Spot"
    more = mine.post("/v1/ask", json={"question": "And in China?", "conversation_id": ids[0]})
    read = mine.get(f"/v1/conversations/{ids[0]}").json()
    assert [answer["id"] for answer in read["answers"]][1:] == [more.json()["id"]]
    rated = {"conversation_id": ids[0], "answer_id": more.json()["id"], "rating": "down", "reason": "no"}
    assert mine.post("/v1/feedback", json=rated).status_code == 204
    assert mine.delete(f"/v1/conversations/{ids[0]}").status_code == 204
    assert mine.get(f"/v1/conversations/{ids[0]}").status_code == 404


def test_a_stream_ends_with_the_answer(client: Client, keys: KeyRing) -> None:
    events = client(keys.make()).post("/v1/stream", json=QUESTION).text.strip().split("\n\n")
    names = [event.split("\n")[0].removeprefix("event: ") for event in events]
    data = [json.loads(event.split("\n")[1].removeprefix("data: ")) for event in events]
    assert names[0] == "stage" and names[-1] == "answer"
    text = "".join(one["text"] for name, one in zip(names, data, strict=True) if name == "text")
    assert text == data[-1]["answer"]["text"]


def test_a_document_is_uploaded_followed_read_and_deleted(client: Client, keys: KeyRing) -> None:
    editor = client(keys.make("editor", groups=["research"]))
    content = "# Night desk\n\nThe night porter answers on extension 4711.\n"
    files = [("files", ("../desk.md", content.encode())), ("files", ("bad.pdf", b"%PDF-1.4 broken"))]
    made = editor.post("/v1/documents", files=files, data={"collection": "research"})
    assert made.status_code == 202
    while not (state := editor.get(made.headers["location"]).json())["done"]:
        time.sleep(0.05)
    good, bad = state["files"]
    assert (good["name"], good["status"], bad["status"]) == ("desk.md", "added", "failed")
    assert bad["reason"]
    address = f"/v1/documents/{good['document_id']}"
    assert editor.get(address).json()["collection"] == "research"
    part = editor.get(f"{address}/text", params={"start": 2, "end": 12}).json()
    assert (part["start"], part["end"]) == (2, 12) and len(part["text"]) == 10
    (hit,) = editor.post("/v1/search", json={"query": "extension of the night porter", "k": 1}).json()["hits"]
    assert "4711" in hit["text"]
    assert editor.delete(address).status_code == 204
    assert editor.get(address).status_code == 404
    hits = editor.post("/v1/search", json={"query": "extension of the night porter"}).json()["hits"]
    assert not any("4711" in hit["text"] for hit in hits)


def test_calculators_and_catalog(client: Client, keys: KeyRing) -> None:
    mine = client(keys.make())
    tools = {tool["name"]: tool["parameters"] for tool in mine.get("/v1/tools").json()["items"]}
    assert "volume_bytes" in tools["plan_data_transfer"]["properties"]
    arguments = {"volume_bytes": "1 PB", "bandwidth_bits_per_second": "10 Gbps", "utilization": "70%"}
    run = mine.post("/v1/tools/plan_data_transfer", json={"arguments": arguments}).json()
    assert run["inputs"]["volume_bytes"]["value"] == 1e15
    kinds = {part["kind"]: part["rows"] for part in mine.get("/v1/catalog").json()["items"]}
    page = mine.get("/v1/catalog/models", params={"limit": 200}).json()
    while page["next_cursor"]:
        kinds["models"] -= len(page["items"])
        page = mine.get("/v1/catalog/models", params={"limit": 200, "cursor": page["next_cursor"]}).json()
    assert len(page["items"]) == kinds["models"]


def test_a_write_that_is_sent_again_is_done_once(client: Client, keys: KeyRing) -> None:
    mine, other = client(keys.make()), client(keys.make())
    once = {"idempotency-key": "k-1"}
    first, again = (mine.post("/v1/ask", json=QUESTION, headers=once) for _ in range(2))
    assert again.json() == first.json() and again.headers["idempotent-replayed"] == "true"
    assert len(mine.get("/v1/conversations").json()["items"]) == 1
    assert mine.post("/v1/ask", json={"question": "other"}, headers=once).json()["code"] == "idempotency_key_reused"
    assert other.post("/v1/ask", json=QUESTION, headers=once).json()["id"] != first.json()["id"]
    with ThreadPoolExecutor(4) as pool:
        sent = list(pool.map(lambda _: mine.post("/v1/ask", json=QUESTION, headers={"idempotency-key": "k-2"}), "abcd"))
    assert {response.status_code for response in sent} <= {200, 409}
    assert len({response.json()["id"] for response in sent if response.status_code == 200}) == 1
    gone = first.json()["conversation_id"]
    deleted = [mine.delete(f"/v1/conversations/{gone}", headers={"idempotency-key": "k-3"}) for _ in range(2)]
    assert [response.status_code for response in deleted] == [204, 204]
    assert mine.post("/v1/ask", json=QUESTION, headers=once).json()["conversation_id"] != gone


def test_the_audit_log_knows_who_but_not_what(client: Client, keys: KeyRing) -> None:
    reader, admin = client(keys.make()), client(keys.make("admin"))
    answer = reader.post("/v1/ask", json={"question": "Does wombat insurance cover checkpoints?"}).json()
    reader.post("/v1/documents", files={"files": ("a.md", b"# A\n")})
    page = admin.get("/v1/audit", params={"limit": 1}).json()
    for _ in range(20):
        (entry,) = page["items"]
        if entry["object"] == answer["conversation_id"]:
            break
        page = admin.get("/v1/audit", params={"limit": 1, "cursor": page["next_cursor"]}).json()
    assert (entry["action"], entry["status"]) == ("ask", 200) and entry["who"].startswith("key:")
    assert "wombat" not in admin.get("/v1/audit").text


def test_a_key_and_an_address_may_send_so_much(advisor: Advisor) -> None:
    server = opened(advisor, "192.0.2.7", access="keys", rate_limit_key="3/minute", rate_limit_address="")
    make = server.app.state.service.keys.create  # type: ignore[attr-defined]
    one, two = ({"authorization": f"Bearer {make('k', 'reader')[1]}"} for _ in range(2))
    assert [server.get("/v1/tools", headers=one).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert int(server.get("/v1/tools", headers=one).headers["retry-after"]) > 0
    assert server.get("/v1/tools", headers=two).status_code == 200
    busy = opened(advisor, "192.0.2.7", access="keys", rate_limit_address="2/minute")
    assert [busy.get("/v1/tools").status_code for _ in range(3)] == [401, 401, 429]
    own = opened(advisor, "127.0.0.1", rate_limit_address="2/minute")
    assert [own.get("/v1/tools").status_code for _ in range(4)] == [200] * 4


def test_pages_of_other_sites_are_kept_out_unless_named(advisor: Advisor) -> None:
    closed, named = opened(advisor), opened(advisor, cors_origins="https://desk.example")
    page = {"origin": "https://desk.example", "sec-fetch-site": "cross-site"}
    assert "access-control-allow-origin" not in closed.get("/v1/health", headers=page).headers
    assert closed.post("/v1/ask", json=QUESTION, headers=page).json()["code"] == "cross_site"
    assert named.post("/v1/ask", json=QUESTION, headers=page).headers["access-control-allow-origin"] == page["origin"]
    evil = {"origin": "https://evil.example"}
    assert named.post("/v1/ask", json=QUESTION, headers=evil).status_code == 403
    own = {"origin": "http://testserver"}
    assert closed.post("/v1/ask", json=QUESTION, headers=own).status_code == 200


def test_a_server_for_this_machine_answers_to_its_own_names(advisor: Advisor) -> None:
    app = create_app(advisor, ServiceSettings())
    app.add_middleware(OwnName)
    server = TestClient(app)
    for host, status in (("localhost:7860", 200), ("127.0.0.1", 200), ("[::1]:7860", 200), ("evil.example", 421)):
        assert server.get("/v1/health", headers={"host": host}).status_code == status, host


@pytest.mark.parametrize(
    ("host", "access", "forced", "allowed"),
    [
        ("127.0.0.1", "off", False, True),
        ("::1", "off", False, True),
        ("localhost", "off", False, True),
        ("0.0.0.0", "off", False, False),
        ("", "off", False, False),
        ("::", "off", False, False),
        ("192.0.2.7", "off", False, False),
        ("0.0.0.0", "off", True, True),
        ("0.0.0.0", "keys", False, True),
    ],
)
def test_nobody_elsewhere_is_served_unchecked(host: str, access: Any, forced: bool, allowed: bool) -> None:
    settings = ServiceSettings(access=access)
    if allowed:
        check_binding(host, settings, forced=forced)
    else:
        with pytest.raises(InvalidInput, match="access control is off"):
            check_binding(host, settings, forced=forced)


def test_a_trusted_proxy_names_the_user(advisor: Advisor) -> None:
    settings = {"access": "header", "trusted_proxies": "10.0.0.0/8", "editor_groups": "research"}
    proxied, direct = opened(advisor, "10.1.2.3", **settings), opened(advisor, "192.0.2.7", **settings)
    named = {"x-forwarded-user": "mei", "x-forwarded-groups": "research, other", "x-forwarded-for": "198.51.100.9"}
    assert proxied.get("/v1/documents", params={"collection": "research"}, headers=named).status_code == 200
    assert proxied.get("/v1/documents", params={"collection": "finance"}, headers=named).status_code == 404
    assert proxied.post("/v1/documents", headers=named).status_code == 422
    assert proxied.post("/v1/documents", headers={"x-forwarded-user": "lee"}).status_code == 403
    assert proxied.get("/v1/audit", headers=named).status_code == 403
    assert direct.get("/v1/documents", headers=named).status_code == 401
    assert proxied.get("/v1/documents").status_code == 401
    made = proxied.post("/v1/ask", json=QUESTION, headers=named).json()["conversation_id"]
    assert proxied.get(f"/v1/conversations/{made}", headers={"x-forwarded-user": "lee"}).status_code == 404


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"ADVISOR_ACCESS": "header"}, "ADVISOR_TRUSTED_PROXIES"),
        ({"ADVISOR_ACCESS": "oidc"}, "ADVISOR_OIDC_ISSUER"),
        ({"ADVISOR_ACCESS": "maybe"}, "ADVISOR_ACCESS = 'maybe'"),
        ({"ADVISOR_RATE_LIMIT_KEY": "lots"}, "ADVISOR_RATE_LIMIT_KEY = 'lots'"),
    ],
)
def test_settings_that_would_let_anybody_in_are_refused(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidInput, match=message):
        load_service_settings()


@pytest.fixture(scope="module")
def issuer() -> Iterator[tuple[str, rsa.RSAPrivateKey]]:
    """An OIDC issuer on a socket, and its private key."""
    key = rsa.generate_private_key(65537, 2048)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())) | {"kid": "1", "use": "sig"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            base = f"http://127.0.0.1:{self.server.server_address[1]}"
            discovery = self.path == "/.well-known/openid-configuration"
            body = {"issuer": base, "jwks_uri": f"{base}/keys"} if discovery else {"keys": [public]}
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", key
    server.shutdown()
    server.server_close()


def test_an_oidc_token_names_the_user(
    advisor: Advisor, issuer: tuple[str, rsa.RSAPrivateKey], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    url, key = issuer
    server = opened(advisor, access="oidc", oidc_issuer=url, oidc_audience="advisor", admin_groups="ops")
    good = {"iss": url, "aud": "advisor", "sub": "mei", "exp": time.time() + 60, "groups": ["research"]}

    def status(path: str = "/v1/documents?collection=research", signer: Any = key, **changed: Any) -> int:
        claims = {name: value for name, value in (good | changed).items() if value is not None}
        token = jwt.encode(claims, signer, algorithm="RS256", headers={"kid": "1"})
        return int(server.get(path, headers={"authorization": f"Bearer {token}"}).status_code)

    assert status() == 200
    assert status(groups=[]) == 404
    assert status("/v1/audit") == 403
    assert status("/v1/audit", groups=["ops"]) == 200
    for wrong in ({"exp": time.time() - 300}, {"aud": "other"}, {"iss": "http://evil"}, {"exp": None}, {"sub": None}):
        assert status(**wrong) == 401, wrong
    assert status(signer=rsa.generate_private_key(65537, 2048)) == 401
    forged = jwt.encode(good, "x" * 64, algorithm="HS256", headers={"kid": "1"})
    for token in (forged, "a.b.c", "adv_0123"):
        assert server.get("/v1/tools", headers={"authorization": f"Bearer {token}"}).status_code == 401


def left_waiting(service: Service, identity: str, *names: str) -> None:
    """An ingest of a process that is gone."""
    files = json.dumps([{"name": name, "status": "working"} for name in names])
    old = "2026-01-01T00:00:00+00:00"
    service.database.insert(
        "ingests", id=identity, owner="", collection="default", files=files, done=0, created=old, updated=old
    )


def test_an_upload_whose_process_died_is_gone_on_with_by_a_running_one(
    advisor: Advisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.api.ingests.BEAT_SECONDS", 0.05)
    server = opened(advisor)
    service: Service = server.app.state.service  # type: ignore[attr-defined]
    service.ingests.open()
    uploads = advisor.settings.data_dir / "uploads"
    uploads.mkdir(exist_ok=True)
    (uploads / "left.md").write_text("# Left\n\nThe Kranich store is swept on Mondays.\n", "utf-8")
    left_waiting(service, "left", "left.md", "gone.md")
    deadline = time.monotonic() + 60
    while not all(row["done"] for row in service.database.rows("SELECT done FROM ingests WHERE id = 'left'")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    ingest = server.get("/v1/ingests/left").json()
    assert [file["status"] for file in ingest["files"]] == ["added", "failed"]
    service.ingests.close()


def test_an_upload_that_nobody_has_any_more_is_reported(advisor: Advisor) -> None:
    server = opened(advisor)
    service: Service = server.app.state.service  # type: ignore[attr-defined]
    left_waiting(service, "nowhere", "nowhere.md")
    service.ingests.resume()
    ingest = server.get("/v1/ingests/nowhere").json()
    assert ingest["done"] and ingest["files"][0]["status"] == "failed" and "again" in ingest["files"][0]["reason"]


def test_it_is_ready_once_the_index_is_open(advisor: Advisor, tmp_path: Path) -> None:
    app = create_app(advisor, ServiceSettings())
    server = TestClient(app)  # without its lifespan, which opens the index
    assert server.get("/v1/readiness").json()["code"] == "not_ready"
    app.state.service.open()
    assert server.get("/v1/readiness").json() == {"status": "ready"}
    empty = create_app(Advisor(advisor.settings.model_copy(update={"data_dir": tmp_path})), ServiceSettings())
    assert TestClient(empty).get("/v1/readiness").status_code == 503
