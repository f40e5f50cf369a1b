"""Answers while documents change: wholly of one version, and never lost to the change."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from assistant.advisor import Advisor
from assistant.settings import Settings
from knowledge.encoders import load_encoder
from knowledge.errors import StoreError
from knowledge.ingest import ingest
from knowledge.store import Store
from tests.service.serving import ABOUT_HANDBOOK, handbook


def put(folder: Path, version: int) -> Path:
    path = folder / "kestrel.md"
    path.write_text(handbook(version), "utf-8")
    return path


@pytest.fixture
def advisor(tmp_path: Path) -> Advisor:
    values = Settings(data_dir=tmp_path / "data")
    with Store.open(values.data_dir) as store:
        ingest(store, load_encoder(values.encoder), [put(tmp_path, 1001)])
    return Advisor(values)


def test_a_pinned_store_stays_as_it_is(advisor: Advisor, tmp_path: Path) -> None:
    before = advisor.searcher.search(ABOUT_HANDBOOK)
    with advisor.store.pinned() as pinned:
        (document,) = pinned.documents()
        ingest(advisor.store, advisor.encoder, [put(tmp_path, 1002)])
        after = advisor.searcher.search(ABOUT_HANDBOOK)
        assert {hit.chunk_id for hit in after.hits}.isdisjoint(hit.chunk_id for hit in before.hits)
        assert advisor.searcher.search(ABOUT_HANDBOOK, store=pinned).hits == before.hits
        assert "1001" in pinned.source_text(document.document_id)
        with pytest.raises(StoreError, match="at one moment"):
            pinned.remove(document.document_id)
    assert advisor.searcher.search(ABOUT_HANDBOOK).hits == after.hits


def test_no_answer_mixes_two_versions(advisor: Advisor, tmp_path: Path) -> None:
    stopped = threading.Event()
    faults: list[object] = []

    def ask() -> None:
        try:
            while not stopped.is_set():
                answer = advisor.ask(ABOUT_HANDBOOK)
                said = answer.text + "".join(f"{c.title}{c.quote}" for c in answer.citations)
                versions = set(re.findall(r"\b1\d{3}\b", said))
                if answer.status != "answered" or len(versions) != 1:
                    faults.append((answer.status, versions, answer.text))
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for version in range(1002, 1025):
        ingest(advisor.store, advisor.encoder, [put(tmp_path, version)])
    stopped.set()
    for thread in threads:
        thread.join()
    assert faults == []
