"""A real advisor over a few documents, and servers on real sockets for the platforms that are played."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
import uvicorn
from fastapi import FastAPI

from assistant.advisor import Advisor
from assistant.settings import Settings
from assistant.understand.intent import load_intents
from knowledge.encoders import load_encoder
from knowledge.ingest import ingest
from knowledge.store import Store

DOCUMENTS = {
    "spot.md": """---
title: Spot rules
references:
  - name: Provider's guide
    url: https://example.com/spot
---
# Spot rules

## When is a spot instance taken back?

A spot instance may be taken back with two minutes' notice when the provider needs the capacity. Training on spot
instances needs regular checkpoints and must resume by itself.
""",
    "budget.md": """# 预算规则

## 预算告警会自动停机吗？

预算告警只发通知，不会停止任何资源。要真正停下来，必须另设配额，或者配置自动关机。
""",
    "long.md": "# Storage handbook\n\n## How should checkpoints be stored?\n\n"
    + "\n".join(
        f"- Rule {n} for storing checkpoints: keep copy number {n} of each checkpoint in object storage, "
        + "and write it to a folder of its own so that a failed upload never overwrites the one before it. " * 3
        for n in range(1, 30)
    ),
}
T = TypeVar("T")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """An indexed data folder. What is fitted to the encoder alone is kept between runs."""
    folder = tmp_path_factory.mktemp("bots")
    documents = folder / "documents"
    documents.mkdir()
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text, "utf-8")
    encoder = load_encoder("default")
    with Store.open(folder / "data") as store:
        report = ingest(store, encoder, [documents])
    assert report.count("added") == len(DOCUMENTS)
    kept = pytestconfig.cache.mkdir("advisor-intents") if pytestconfig.cache else documents
    for model in kept.glob("intents-*.npz"):
        shutil.copy(model, folder / "data")
    load_intents(encoder, folder / "data")
    for model in (folder / "data").glob("intents-*.npz"):
        shutil.copy(model, kept)
    return folder / "data"


@pytest.fixture
def advisor(data: Path) -> Iterator[Advisor]:
    """A new one each time, as after a restart; conversations and everything remembered start empty."""
    for file in data.glob("conversations.sqlite3*"):
        file.unlink()
    fresh = Advisor(Settings(data_dir=data))
    yield fresh
    fresh.conversations.close()


@contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    """The application on a free port; gives its address."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    eventually(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


def eventually(what: Callable[[], T], seconds: float = 60.0) -> T:
    """Wait until something is true, and return it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := what():
            return result
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")
