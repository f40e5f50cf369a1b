"""Targets over real HTTP, in process over a real store, and the baseline over real files."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evals.errors import TargetError
from evals.judge import JudgeSupport
from evals.targets import open_target
from evals.targets.openai import infer_status

from .conftest import make_answer


@contextmanager
def serving(reply: Any) -> Iterator[tuple[str, list[tuple[str, dict[str, Any], str | None]]]]:
    """A server that answers each POST with `reply(path, body)`: a status and an object, or text."""
    seen: list[tuple[str, dict[str, Any], str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, body, self.headers.get("Authorization")))
            status, value = reply(self.path, body)
            data = (value if isinstance(value, str) else json.dumps(value)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_http_target_keeps_the_conversation() -> None:
    def reply(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        return 200, make_answer(body["question"], conversation_id="v7").model_dump(mode="json")

    with serving(reply) as (url, seen):
        answer = open_target(url, key="k").ask(["one", "two"], None)
    assert answer.text == "two"
    assert [(path, key) for path, _, key in seen] == [("/v1/ask", "Bearer k")] * 2
    assert [body for _, body, _ in seen] == [{"question": "one"}, {"question": "two", "conversation_id": "v7"}]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((503, {"error": "busy"}), "answers 503 to /v1/ask"),
        ((200, "no json"), "can't be asked"),
        ((200, [1]), "no JSON object"),
        ((200, {"id": 1}), "no Answer"),
    ],
)
def test_http_target_fails_with_one_line(reply: tuple[int, Any], message: str) -> None:
    with serving(lambda path, body: reply) as (url, _), pytest.raises(TargetError) as caught:
        open_target(url).ask(["q"], None)
    assert message in str(caught.value)


def test_http_target_cannot_index() -> None:
    with pytest.raises(TargetError, match="in process"):
        open_target("http://127.0.0.1:1").prepare([Path("x")])
    with pytest.raises(TargetError, match="can't index"):
        open_target("openai:http://127.0.0.1:1/v1#m").prepare([Path("x")])
    with pytest.raises(TargetError, match="can't be asked"):
        open_target("http://127.0.0.1:1").ask(["q"], None)


def test_openai_target_sends_the_conversation_and_reads_the_status() -> None:
    def reply(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        text = "很抱歉，我无法回答这个问题。" if len(body["messages"]) > 1 else "好的。"
        usage = {"prompt_tokens": 5, "completion_tokens": 7}
        return 200, {"id": "x", "choices": [{"message": {"content": text}}], "usage": usage}

    with serving(reply) as (url, seen):
        answer = open_target(f"openai:{url}/v1#some-model").ask(["一", "二"], None)
    assert (answer.status, answer.language, answer.model) == ("not_covered", "zh", "openai:some-model")
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (5, 7)
    assert seen[1][0] == "/v1/chat/completions"
    assert [m["role"] for m in seen[1][1]["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Use spot instances.", "answered"),
        ("I don't have information on that.", "not_covered"),
        ("", "not_covered"),
        ("Which model do you want to train, and on which GPU?", "needs_input"),
        ("请提供模型规模和卡的型号，可以吗？", "needs_input"),
        ("训练不收敛时，先看损失曲线。", "answered"),
    ],
)
def test_status_of_plain_text(text: str, status: str) -> None:
    assert infer_status(text) == status


@pytest.mark.parametrize("spec", ["nonsense", "openai:http://x", "ftp://x"])
def test_unknown_targets(spec: str) -> None:
    with pytest.raises(TargetError, match="none of: advisor"):
        open_target(spec)


def test_judge_is_asked_once_a_pair_and_its_verdict_read() -> None:
    def reply(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        material = json.loads(body["messages"][1]["content"])
        verdict = {"supported": material["STATEMENT"] in material["SPANS"], "why": "not said"}
        return 200, {"choices": [{"message": {"content": f"Sure: {json.dumps(verdict)}"}}]}

    with serving(reply) as (url, seen):
        judge = JudgeSupport(f"{url}/v1", "m")
        assert judge.judge("a", ["a"], "").supported
        assert judge.judge("a", ["a"], "").supported
        assert judge.judge("b", ["a"], "").objection == "not said"
    assert len(seen) == 2
    assert seen[0][1]["temperature"] == 0


def test_judge_without_a_verdict() -> None:
    reply = (200, {"choices": [{"message": {"content": "perhaps"}}]})
    with serving(lambda path, body: reply) as (url, _), pytest.raises(TargetError, match="no verdict"):
        JudgeSupport(url, "m").judge("a", ["a"], "")


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "guide.md"
    path.write_text(
        "# Lab guide\n\n## Night work\n\nThe night porter answers on extension 4410 from 22:00 to 06:00.\n\n"
        "## Coffee\n\nThe coffee machine in room 12 is cleaned every Friday by the team on duty.\n",
        encoding="utf-8",
    )
    return path


def test_in_process_target_answers_from_the_documents_of_the_case(guide: Path, data_dir: Path) -> None:
    target = open_target("advisor")
    answer = target.ask(["On which extension does the night porter answer?"], [guide])
    assert "4410" in answer.text
    ranked = target.ranked(["the night porter's extension"], [guide], 3)
    assert ranked is not None
    assert "Night work" in ranked[0].section
    assert target.describe()["documents"] == 0


def test_in_process_target_describes_what_it_answers_from(guide: Path, data_dir: Path) -> None:
    first = open_target("advisor", documents=[guide]).describe()
    guide.write_text("# Lab guide\n\nThe porter moved to extension 9.\n", encoding="utf-8")
    second = open_target("advisor", documents=[guide]).describe()
    assert first["documents"] == second["documents"] == 1
    assert first["index"] != second["index"]
    assert str(data_dir) not in json.dumps(first)


def test_in_process_target_refuses_settings_and_files_that_are_not(data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="passages"):
        open_target("advisor", overrides={"passages": "many"})
    with pytest.raises(TargetError, match="can't be read"):
        open_target("advisor").ask(["q"], [tmp_path / "missing.md"])


def test_baseline_pastes_the_nearest_passages(guide: Path) -> None:
    target = open_target("baseline", documents=[guide])
    answer = target.ask(["who answers the phone at night?"], None)
    assert answer.status == "answered"
    assert "4410" in answer.text
    for citation in answer.citations:
        assert guide.read_text(encoding="utf-8")[citation.start : citation.end] == citation.quote
    ranked = target.ranked(["coffee machine"], None, 2)
    assert ranked is not None
    assert target.describe()["kind"] == "baseline"
