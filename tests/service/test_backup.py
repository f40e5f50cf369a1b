"""Backups taken while documents change and people ask, put back elsewhere and under a running reader."""

from __future__ import annotations

import re
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assistant.advisor import Advisor
from assistant.backup import MANIFEST, create, restore
from assistant.settings import Settings
from knowledge.encoders import load_encoder
from knowledge.errors import InvalidInput, StoreError
from knowledge.ingest import ingest
from knowledge.store import Store
from tests.service.serving import ABOUT_HANDBOOK, documents, handbook

QUESTIONS = ("抢占式实例会被收回吗？", "Do budget alerts stop spending?", "1 TB over 1 Gbps, how long?")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of a data folder with two documents and a conversation."""
    values = Settings(data_dir=tmp_path / "data")
    with Store.open(values.data_dir) as store:
        ingest(store, load_encoder(values.encoder), [documents(tmp_path / "documents")])
    return values


def elsewhere(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "other" / "data")


def said(advisor: Advisor) -> list[tuple[str, list[str]]]:
    answers = [advisor.ask(question) for question in QUESTIONS]
    return [(answer.text, [citation.quote for citation in answer.citations]) for answer in answers]


def quota(path: Path, version: int) -> None:
    path.write_text(handbook(version), "utf-8")


@contextmanager
def repeated(*work: Callable[[], object]) -> Iterator[list[BaseException]]:
    """Does work over and over in threads of its own; gives what went wrong."""
    stopped = threading.Event()
    faults: list[BaseException] = []

    def run(once: Callable[[], object]) -> None:
        try:
            while not stopped.is_set():
                once()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=run, args=(once,)) for once in work]
    for thread in threads:
        thread.start()
    try:
        yield faults
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def test_a_backup_under_load_gives_the_same_answers_elsewhere(settings: Settings, tmp_path: Path) -> None:
    advisor = Advisor(settings)
    before = said(advisor)
    first = advisor.ask("40 TB over 500 Mbps, 75% usable, how many days?")
    advisor.rate(first, "up", "", "")
    file, versions = tmp_path / "quota.md", iter(range(100, 10_000))

    def change() -> None:
        quota(file, next(versions))
        with Store.open(settings.data_dir) as store:
            ingest(store, advisor.encoder, [file])

    with repeated(change, lambda: advisor.ask(QUESTIONS[0])) as faults:
        while len(advisor.store.documents()) < 3:
            time.sleep(0.05)
        manifest = create(settings, tmp_path / "backup.tar.gz")
    assert faults == []
    assert set(manifest.files) == {"conversations.sqlite3", "knowledge.sqlite3"}
    other = Advisor(elsewhere(tmp_path))
    restore(other.settings, tmp_path / "backup.tar.gz", replace=False)
    assert said(other) == before
    assert (
        other.ask("and with a 2 Gbps line?", first.conversation_id).tool_runs[0].inputs["volume_bytes"].value == 40e12
    )
    assert [feedback.rating for feedback in other.conversations.feedback()] == ["up"]
    (changed,) = [row for row in other.store.documents() if row.title.startswith("Kestrel")]
    assert len(set(re.findall(r"\d+", other.store.source_text(changed.document_id)))) == 1


def test_a_running_reader_goes_on_with_what_is_restored(settings: Settings, tmp_path: Path) -> None:
    advisor = Advisor(settings)
    file = tmp_path / "quota.md"
    quota(file, 111)
    ingest(advisor.store, advisor.encoder, [file])
    create(settings, tmp_path / "backup.tar.gz")
    before = advisor.ask(ABOUT_HANDBOOK).text
    assert "111" in before
    quota(file, 222)
    ingest(advisor.store, advisor.encoder, [file])
    late = advisor.ask(ABOUT_HANDBOOK)
    assert "222" in late.text
    with pytest.raises(InvalidInput, match="--replace"):
        restore(settings, tmp_path / "backup.tar.gz", replace=False)
    restore(settings, tmp_path / "backup.tar.gz", replace=True)
    assert advisor.ask(ABOUT_HANDBOOK).text == before
    assert not advisor.conversations.exists(late.conversation_id)
    quota(file, 333)
    ingest(advisor.store, advisor.encoder, [file])
    assert "333" in advisor.ask(ABOUT_HANDBOOK).text


def test_files_that_are_no_backup_change_nothing(settings: Settings, tmp_path: Path) -> None:
    archive = tmp_path / "backup.tar.gz"
    create(settings, archive)
    with pytest.raises(InvalidInput, match="already"):
        create(settings, archive)
    damaged = bytearray(archive.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    for content in (b"", b"not a tar", archive.read_bytes()[:-2000], bytes(damaged)):
        broken = tmp_path / "broken.tar.gz"
        broken.write_bytes(content)
        with pytest.raises(InvalidInput, match=r"broken\.tar\.gz"):
            restore(settings, broken, replace=True)
    assert len(Advisor(settings).store.documents()) == 2
    with pytest.raises(StoreError, match="nothing to back up"):
        create(elsewhere(tmp_path), tmp_path / "none.tar.gz")


def test_a_backup_is_for_its_owner_alone_and_names_what_it_holds(settings: Settings, tmp_path: Path) -> None:
    (settings.data_dir / "prices").mkdir()
    (settings.data_dir / "prices" / "2026.csv").write_text("provider\n", "utf-8")
    archive = tmp_path / "backup.tar.gz"
    create(settings, archive)
    assert archive.stat().st_mode & 0o077 == 0
    with tarfile.open(archive) as opened:
        assert opened.getnames() == [MANIFEST, "conversations.sqlite3", "knowledge.sqlite3", "prices/2026.csv"]
    assert list(tmp_path.glob("advisor-backup-*")) == []
