"""A target whose answers the tests choose, and cases to ask it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assistant.schema import Answer, Citation, Timings
from evals.schema import Case
from evals.support import Verdict
from evals.targets import Ranked


def make_case(case_id: str = "c1", **changes: Any) -> Case:
    row: dict[str, Any] = {
        "id": case_id,
        "language": "en",
        "topic": "cost",
        "turns": ["what saves money?"],
        "expect": {
            "status": "answered",
            "key_points": [["spot", "抢占"]],
            "sources": [{"document": "*guide*", "section": "Spot"}],
        },
    }
    row["expect"] |= changes.pop("expect", {})
    return Case.model_validate(row | changes)


def make_citation(n: int = 1, **changes: Any) -> Citation:
    fields: dict[str, Any] = {
        "n": n,
        "document_id": "d1",
        "title": "Guide",
        "section": "Buying > Spot",
        "location": "corpus/en/guide.md",
        "quote": "Spot capacity costs less and may be withdrawn.",
        "start": 0,
        "end": 46,
        "score": 0.5,
    }
    return Citation(**(fields | changes))


def make_answer(text: str = "Spot capacity costs less. [1]", **changes: Any) -> Answer:
    fields: dict[str, Any] = {
        "id": "a1",
        "conversation_id": "v1",
        "question": "what saves money?",
        "language": "en",
        "status": "answered",
        "text": text,
        "citations": [make_citation()],
        "timings_ms": Timings(total=12.0),
    }
    return Answer(**(fields | changes))


class FakeTarget:
    """Answers with `reply(turns)`; raises what it returns when that is an error."""

    def __init__(self, reply: Callable[[Sequence[str]], Answer | Exception], version: str = "1") -> None:
        self.reply = reply
        self.version = version
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def prepare(self, documents: Sequence[Path] | None) -> None:
        pass

    def ask(self, turns: Sequence[str], documents: Sequence[Path] | None) -> Answer:
        with self._lock:
            self.asked.append(turns[-1])
        answer = self.reply(turns)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ranked(self, turns: Sequence[str], documents: Sequence[Path] | None, k: int) -> list[Ranked] | None:
        return None

    def describe(self) -> dict[str, Any]:
        return {"kind": "fake", "version": self.version}


class AllSupported:
    def judge(self, statement: str, spans: Sequence[str], context: str) -> Verdict:
        return Verdict(True, 1.0)


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(folder))
    return folder
