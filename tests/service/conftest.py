"""One server over two documents, once a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.serving import Server, advisor, documents, serving


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two documents."""
    folder = tmp_path_factory.mktemp("service")
    advisor(folder / "data", "index", str(documents(folder / "documents")))
    return folder / "data"


@pytest.fixture(scope="session")
def server(data: Path) -> Iterator[Server]:
    with serving(data) as running:
        yield running.ready()
