"""A server as it is run for real: probes, figures, logs, scheduled indexing, and its end."""

from __future__ import annotations

import json
import logging
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from assistant.advisor import Advisor
from assistant.api.logs import JsonFormatter, answer_logger
from assistant.commands.schedule import reindex
from assistant.schema import Answer
from assistant.settings import Settings
from knowledge.encoders import load_encoder
from knowledge.ingest import ingest
from knowledge.store import Store
from tests.service.serving import ABOUT_HANDBOOK, Server, advisor, documents, handbook, serving

MARKER = "zebrawombat"
QUESTION = f"Do budget alerts stop spending, asks {MARKER}?"


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is indexed again and again."""
    return documents(tmp_path_factory.mktemp("running") / "documents")


@pytest.fixture(scope="module")
def running(watched: Path) -> Iterator[Server]:
    data = watched.parent / "data"
    advisor(data, "index", str(watched))
    settings = {"ADVISOR_REINDEX": json.dumps([str(watched)]), "ADVISOR_REINDEX_MINUTES": "0.01"}
    with serving(data, ADVISOR_LOG_LEVEL="info", **settings) as server:
        yield server.ready()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_figures_count_requests_and_answers_by_route(running: Server) -> None:
    running.post("/v1/ask", {"question": QUESTION}).raise_for_status()
    running.get("/v1/no/such/place")
    text = running.get("/metrics").text
    assert re.search(r'advisor_requests_total\{method="POST",route="/v1/ask",status="200"\} \d', text)
    assert re.search(r'advisor_answers_total\{language="en",model="grounded",status="\w+"\} \d', text)
    assert re.search(r'advisor_answer_phase_seconds_count\{phase="search"\} \d', text)
    assert "advisor_ready 1.0" in text and "advisor_documents 2.0" in text
    assert MARKER not in text and "no/such/place" not in text


def test_logs_are_json_without_what_was_asked(running: Server) -> None:
    running.post("/v1/ask", {"question": QUESTION}).raise_for_status()
    running.post("/v1/ask", {"question": QUESTION, "conversation_id": "nope"})
    lines = [json.loads(line) for line in running.log.read_text("utf-8").splitlines() if line.startswith("{")]
    asked = [line for line in lines if line["message"] == "request" and line["path"] == "/v1/ask"]
    assert {line["status"] for line in asked} == {200, 404} and all(line["request_id"] for line in asked)
    assert any(line["message"] == "answered" and line["milliseconds"] > 0 for line in lines)
    assert MARKER not in running.log.read_text("utf-8")


def test_changed_new_and_gone_files_are_noticed(running: Server, watched: Path) -> None:
    def titles() -> set[str]:
        return {item["title"] for item in running.get("/v1/documents").json()["items"]}

    changing = watched / "kestrel.md"
    changing.write_text(handbook(7001), "utf-8")
    until(lambda: "Kestrel handbook 7001" in titles())
    changing.write_text(handbook(7002), "utf-8")
    until(lambda: {"Kestrel handbook 7001", "Kestrel handbook 7002"} & titles() == {"Kestrel handbook 7002"})
    assert "7002" in running.post("/v1/ask", {"question": ABOUT_HANDBOOK}).json()["text"]
    changing.unlink()
    until(lambda: "Kestrel handbook 7002" not in titles())
    assert len(titles()) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_answer_that_has_begun_is_finished(data: Path) -> None:
    with serving(data) as server:
        server.ready()
        body = {"question": "64 张 H100 训 7B 模型、2T token 要多久？怎么避免账单失控？"}
        with httpx.stream("POST", f"{server.url}/v1/stream", json=body, trust_env=False, timeout=60) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: stage"
            server.process.send_signal(signal.SIGTERM)
            rest = list(lines)
        assert "event: answer" in rest
        assert json.loads(rest[rest.index("event: answer") + 1].removeprefix("data: "))["answer"]["tool_runs"]
        assert server.process.wait(60) in (0, -signal.SIGTERM)
        with pytest.raises(httpx.ConnectError):
            server.get("/v1/health")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_what_was_uploaded_before_the_end_is_indexed_after_the_next_start(data: Path) -> None:
    with serving(data) as server:
        server.ready()
        files = [("files", (f"kestrel-{n}.md", handbook(n).encode())) for n in range(8000, 8012)]
        made = httpx.post(f"{server.url}/v1/documents", files=files, trust_env=False, timeout=60).json()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) in (0, -signal.SIGTERM)
    with serving(data) as server:
        server.ready()
        until(lambda: server.get(f"/v1/ingests/{made['id']}").json()["done"])
        state = server.get(f"/v1/ingests/{made['id']}").json()
        assert {file["status"] for file in state["files"]} <= {"added", "unchanged"}, state
        titles = {item["title"] for item in server.get("/v1/documents?limit=100").json()["items"]}
        assert {f"Kestrel handbook {n}" for n in range(8000, 8012)} <= titles


@pytest.fixture
def indexed(tmp_path: Path) -> Advisor:
    values = Settings(data_dir=tmp_path / "data")
    with Store.open(values.data_dir) as store:
        ingest(store, load_encoder(values.encoder), [documents(tmp_path / "documents")])
    return Advisor(values)


def test_only_what_changed_is_read_again(indexed: Advisor, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    before = indexed.store.generation
    assert {report.status for report in reindex(indexed, [str(folder)])} == {"unchanged"}
    assert indexed.store.generation == before


def test_a_folder_that_is_not_there_deletes_nothing(indexed: Advisor, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.rename(tmp_path / "elsewhere")
    reindex(indexed, [str(folder)])
    folder.mkdir()
    reindex(indexed, [str(folder)])
    assert len(indexed.store.documents()) == 2
    (folder / "spot.md").write_text((tmp_path / "elsewhere" / "spot.md").read_text("utf-8"), "utf-8")
    reindex(indexed, [f"{tmp_path}/x/../documents"])
    assert [Path(row.location).name for row in indexed.store.documents()] == ["spot.md"]


@pytest.mark.parametrize("with_content", [False, True])
def test_questions_are_logged_only_when_that_is_set(with_content: bool, caplog: pytest.LogCaptureFixture) -> None:
    answer = Answer(id="a", conversation_id="c", question=MARKER, language="en", status="answered", text="x")
    formatter = JsonFormatter(with_content=with_content)
    with caplog.at_level(logging.INFO, "advisor"):
        answer_logger(with_content=with_content)(answer)
        try:
            raise ValueError(f"can't read {MARKER}")
        except ValueError:
            logging.getLogger("advisor").exception("failed")
    lines = [formatter.format(record) for record in caplog.records]
    assert [MARKER in line for line in lines] == [with_content] * 2
    assert json.loads(lines[1])["exception"] == "ValueError" and "test_running.py" in json.loads(lines[1])["at"][-1]
