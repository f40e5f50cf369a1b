"""Spans as a collector receives them: over a socket, in OTLP's protobuf."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from assistant import tracing
from assistant.advisor import Advisor
from assistant.settings import Settings
from tests.assistant.indexed import index

DOCUMENTS = {
    "alerts.md": "# Alerts\n\n## Do zebrawombat alerts stop spending?\n\nA zebrawombat alert sends a message and stops nothing.\n"
}
QUESTION = "zebrawombat 7B 全参微调要多少显存，用 80G 的 A100？"


@pytest.fixture
def collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    received: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", received
    server.shutdown()
    server.server_close()


@pytest.fixture
def asked(tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[Advisor]:
    made = Advisor(Settings(data_dir=index(tmp_path, DOCUMENTS, pytestconfig.cache)))
    yield made
    made.conversations.close()
    made.store.close()


def test_a_collector_receives_the_parts_of_an_answer_without_its_words(
    collector: tuple[str, list[tuple[str, bytes]]], asked: Advisor
) -> None:
    url, received = collector
    tracing.start(url)
    try:
        events = asked.stream(QUESTION)
        while True:  # each event is taken in another thread, as a web server does it
            taken: list[object] = []
            thread = threading.Thread(target=lambda kept: kept.extend([next(events, None)]), args=(taken,))
            thread.start()
            thread.join()
            if taken == [None]:
                break
    finally:
        tracing.stop()
    assert {path for path, _ in received} == {"/v1/traces"}
    sent = [ExportTraceServiceRequest.FromString(body) for _, body in received]
    spans = {s.name: s for one in sent for r in one.resource_spans for scope in r.scope_spans for s in scope.spans}
    assert {"invoke_agent advisor", "retrieval", "verify", "execute_tool estimate_memory"} <= spans.keys()
    root = spans.pop("invoke_agent advisor")
    assert not root.parent_span_id
    assert {span.parent_span_id for span in spans.values()} == {root.span_id}
    said = {a.key: a.value.string_value for a in spans["execute_tool estimate_memory"].attributes}
    assert said == {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "estimate_memory"}
    assert all(b"zebrawombat" not in body for _, body in received)


def test_nothing_is_made_while_it_is_off(asked: Advisor) -> None:
    with tracing.span("search") as span:
        span.set(passages=1)
    assert asked.ask(QUESTION).tool_runs
