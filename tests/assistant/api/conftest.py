"""A real server on a socket, over a real store of three collections, with access control on."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from assistant.advisor import Advisor
from assistant.api.app import create_app
from assistant.api.settings import ServiceSettings
from assistant.api.widget.settings import WidgetSettings
from assistant.settings import Settings
from knowledge.collections import EVERYBODY
from knowledge.encoders import load_encoder
from knowledge.ingest import ingest
from knowledge.store import Store

PUBLIC = (
    "# Spot machines\n\n## How much notice does a spot machine give?\n\nThe provider gives two minutes of notice before "
    "it takes a spot machine back. Save a checkpoint when the notice arrives.\n"
)
RESEARCH = (
    "# Cluster rules\n\n## Who may reserve the big cluster?\n\nThe vision team may reserve the big cluster on Mondays, "
    "after the weekly backup of the checkpoints has ended.\n"
)
FINANCE = (
    "# Zyxwold budget\n\n## What does Zyxwold pay for the reserved cluster?\n\nZyxwold pays 417 dollars an hour for the "
    "reserved cluster, and the contract ends on 2031-03-09.\n"
)
DOCUMENTS = {"default": PUBLIC, "research": RESEARCH, "finance": FINANCE}
WIDGET_PAGE = "https://wiki.example.com"
READERS = {"default": EVERYBODY, "research": "research", "finance": "finance"}

Client = Callable[..., httpx.Client]


def fill(data: Path, files: Path, *names: str) -> None:
    """A store of these collections."""
    with Store.open(data) as store:
        for name in names:
            path = files / name / "rules.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(DOCUMENTS[name], "utf-8")
            (report,) = ingest(store, load_encoder(), [path], collection=name).files
            assert report.status == "added", report
            store.set_groups(name, [READERS[name]])


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The address of a server that runs in a thread."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", proxy_headers=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server ended before it was ready"
        threading.Event().wait(0.02)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="session")
def advisor(tmp_path_factory: pytest.TempPathFactory) -> Advisor:
    folder = tmp_path_factory.mktemp("api")
    fill(folder / "data", folder, "default", "research", "finance")
    return Advisor(Settings(data_dir=folder / "data"))


def beside(advisor: Advisor, folder: Path, *names: str) -> Advisor:
    """An advisor over another store; what is derived from the encoder alone is not computed again."""
    _ = advisor.intents
    fill(folder / "data", folder, *names)
    for file in advisor.settings.data_dir.glob("intents-*"):
        shutil.copy(file, folder / "data")
    return Advisor(Settings(data_dir=folder / "data"))


@pytest.fixture(scope="session")
def app(advisor: Advisor) -> FastAPI:
    settings = ServiceSettings(access="keys", rate_limit_key="", rate_limit_address="")
    return create_app(advisor, settings, WidgetSettings(origins=WIDGET_PAGE))


@pytest.fixture(scope="session")
def url(app: FastAPI) -> Iterator[str]:
    with serving(app) as address:
        yield address


class KeyRing:
    """Keys of the server, by what they may do."""

    def __init__(self, app: FastAPI) -> None:
        self._keys = app.state.service.keys

    def make(self, role: str = "reader", **limits: object) -> str:
        return str(self._keys.create("test", role, **limits)[1])

    def expired(self) -> str:
        return self.make("admin", groups=["research"], lifetime=timedelta(seconds=-1))

    def revoked(self) -> str:
        key, text = self._keys.create("test", "admin", groups=["research"])
        self._keys.revoke(key.id)
        return str(text)


@pytest.fixture(scope="session")
def keys(app: FastAPI) -> KeyRing:
    return KeyRing(app)


@pytest.fixture(scope="session")
def client(url: str) -> Iterator[Client]:
    """Opens a client of the server, with a key or without."""
    opened: list[httpx.Client] = []

    def open_client(key: str | None = None, **headers: str) -> httpx.Client:
        given = {"authorization": f"Bearer {key}"} if key else {}
        made = httpx.Client(base_url=url, headers={**given, **headers}, timeout=300, trust_env=False)
        opened.append(made)
        return made

    yield open_client
    for one in opened:
        one.close()
