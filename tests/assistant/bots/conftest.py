"""A real advisor over a few documents, and servers on real sockets for the platforms that are played."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
import uvicorn
from fastapi import FastAPI

from assistant.advisor import Advisor
from assistant.settings import Settings
from tests.assistant.indexed import index

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
        for n in range(1, 15)
    ),
}
T = TypeVar("T")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """An indexed data folder."""
    return index(tmp_path_factory.mktemp("bots"), DOCUMENTS, pytestconfig.cache)


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


@contextmanager
def started(channel: str, environment: Mapping[str, str]) -> Iterator[None]:
    """`advisor bot CHANNEL` in a process of its own."""
    process = subprocess.Popen([sys.executable, "-m", "assistant", "bot", channel], env=dict(environment))
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)
