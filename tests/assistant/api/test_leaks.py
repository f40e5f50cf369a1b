"""Nothing of another group's documents reaches a caller: not in passages, citations, counts, scores, ids or errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from assistant.advisor import Advisor
from assistant.api.app import create_app
from assistant.api.settings import ServiceSettings
from tests.assistant.api.conftest import FINANCE, Client, KeyRing, beside

QUESTIONS = (
    "What is paid an hour for the reserved cluster, and when does the contract end?",
    "What does Zyxwold pay for the reserved cluster?",
    "Who may reserve the big cluster?",
    "预留集群每小时多少钱？",
    "How much notice does a spot machine give?",
)
SECRETS = ("zyxwold", "417", "2031", "finance")


@pytest.fixture(scope="module")
def without_finance(advisor: Advisor, tmp_path_factory: pytest.TempPathFactory) -> tuple[TestClient, str]:
    """A server that has never had the other group's documents, and a key of the same groups."""
    twin = beside(advisor, tmp_path_factory.mktemp("twin"), "default", "research")
    app = create_app(twin, ServiceSettings(access="keys"))
    key = app.state.service.keys.create("twin", "editor", groups=["research"])[1]
    return TestClient(app), key


def told(response: Any) -> Any:
    """What an answer says, without what differs from one time to the next."""
    body = response.json()
    assert response.status_code == 200, body
    for name in ("id", "conversation_id", "timings_ms"):
        body.pop(name, None)
    text = json.dumps(body, ensure_ascii=False)
    for citation in [*body.get("citations", []), *body.get("hits", [])]:
        text = text.replace(str(Path(citation["location"]).parent), "")
    return json.loads(text)


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_those_of_a_server_that_never_had_them(
    client: Client, keys: KeyRing, without_finance: tuple[TestClient, str], question: str
) -> None:
    """Coverage, scores, order, follow-ups and warnings too: word statistics tell of documents as well."""
    mine = client(keys.make("editor", groups=["research"]))
    twin, key = without_finance
    twin.headers["authorization"] = f"Bearer {key}"
    for path, body in (("/v1/search", {"query": question, "k": 20}), ("/v1/ask", {"question": question})):
        assert told(mine.post(path, json=body)) == told(twin.post(path, json=body))


def test_no_route_tells_of_them(client: Client, keys: KeyRing) -> None:
    theirs = client(keys.make("admin", groups=["finance"]))
    (document,) = theirs.get("/v1/documents", params={"collection": "finance"}).json()["items"]
    assert "417" in theirs.post("/v1/ask", json={"question": QUESTIONS[1]}).json()["text"]
    stranger = client(keys.make("editor", groups=["research"]))
    answers = [
        stranger.get("/v1/documents"),
        stranger.get("/v1/documents", params={"collection": "finance"}),
        stranger.get("/v1/collections"),
        stranger.get(f"/v1/documents/{document['document_id']}"),
        stranger.get(f"/v1/documents/{document['document_id']}/text"),
        stranger.delete(f"/v1/documents/{document['document_id']}"),
        stranger.post("/v1/documents", files={"files": ("a.md", b"# A\n\nWords.\n")}, data={"collection": "finance"}),
        stranger.get("/v1/audit"),
        stranger.get("/metrics"),
        stranger.put("/v1/collections/finance/groups", json={"groups": ["research"]}),
        *(stranger.post("/v1/stream", json={"question": question}) for question in QUESTIONS),
    ]
    chat = [
        stranger.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": q}], "model": "advisor"})
        for q in QUESTIONS
    ]
    for response in [*answers, *chat]:
        shown = response.text.replace(document["document_id"], "ID")  # what was asked for may be repeated
        shown = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,}|\d+\.\d+|\b\d{10,}\b", "", shown)  # ids and times
        for question in QUESTIONS:
            shown = shown.replace(question, "")
        shown = shown.replace("'finance'", "")
        found = [secret for secret in SECRETS if secret in shown.casefold()]
        assert found == [] or (response.status_code in (401, 403, 404) and "417" not in found), (response.url, shown)
    assert theirs.get(f"/v1/documents/{document['document_id']}").status_code == 200


def test_equal_content_is_another_document_in_another_collection(client: Client, keys: KeyRing) -> None:
    """Otherwise whoever guesses a document's words could learn that it is there."""
    theirs = client(keys.make("admin", groups=["finance"]))
    (document,) = theirs.get("/v1/documents", params={"collection": "finance"}).json()["items"]
    stranger = client(keys.make("editor", groups=["research"]))
    files = {"files": ("rules.md", FINANCE.encode())}
    made = stranger.post("/v1/documents", files=files, data={"collection": "research"})
    ingest = made.json()
    while not ingest["done"]:
        ingest = stranger.get(made.headers["location"]).json()
    (file,) = ingest["files"]
    assert file["status"] == "added"
    assert file["document_id"] != document["document_id"]
    assert stranger.delete(f"/v1/documents/{file['document_id']}").status_code == 204
    assert theirs.get(f"/v1/documents/{document['document_id']}").status_code == 200


def test_a_group_that_is_let_in_sees_them_at_once(client: Client, keys: KeyRing) -> None:
    admin, reader = client(keys.make("admin", groups=["finance"])), client(keys.make(groups=["audit"]))
    query = {"query": QUESTIONS[1]}
    assert not any("Zyxwold" in hit["text"] for hit in reader.post("/v1/search", json=query).json()["hits"])
    try:
        admin.put("/v1/collections/finance/groups", json={"groups": ["finance", "audit"]}).raise_for_status()
        assert "Zyxwold" in reader.post("/v1/search", json=query).json()["hits"][0]["text"]
    finally:
        admin.put("/v1/collections/finance/groups", json={"groups": ["finance"]}).raise_for_status()
    assert not any("Zyxwold" in hit["text"] for hit in reader.post("/v1/search", json=query).json()["hits"])
