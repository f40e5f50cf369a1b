"""An advisor over two documents, in a data folder of its own for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.advisor import Advisor
from assistant.settings import Settings
from tests.assistant.indexed import index

DOCUMENTS = {
    "spot.md": "# Spot rules\n\n## When is a spot instance taken back?\n\nA spot instance may be taken back with two "
    "minutes' notice when the provider needs the capacity. Training on spot instances needs regular checkpoints.\n",
    "budget.md": "# 预算规则\n\n## 预算告警会自动停机吗？\n\n预算告警只发通知，不会停止任何资源。要真正停下来，必须另设配额。\n",
}


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    return index(tmp_path_factory.mktemp("review"), DOCUMENTS, pytestconfig.cache)


@pytest.fixture
def data(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    shutil.copytree(indexed, folder)
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def advisor(data: Path) -> Iterator[Advisor]:
    fresh = Advisor(Settings(data_dir=data))
    yield fresh
    fresh.conversations.close()
    fresh.store.close()
