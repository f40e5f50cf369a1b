import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.database import latest_version
from knowledge.errors import EncoderMismatch, InvalidInput, StoreError
from knowledge.ingest import ingest
from knowledge.store import FILE_NAME, Store
from tests.knowledge.hashing import HashingEncoder

ENCODER = HashingEncoder()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store") as opened:
        yield opened


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_documents_are_listed_with_text_and_passages(store: Store, tmp_path: Path) -> None:
    path = write(
        tmp_path / "guide.md",
        "# Guide\n\n## Spot\n\nSpot is cheap. It may be reclaimed.\n\n## Storage\n\nUse fast disks.\n",
    )
    ingest(store, ENCODER, [path])
    (row,) = store.documents()
    assert (row.title, row.language, row.location, row.names, row.chunks) == ("Guide", "en", str(path), (str(path),), 2)
    assert row.document_id.startswith("guide-")
    assert store.document(row.document_id) == row
    text = store.source_text(row.document_id)
    passages = store.chunks(row.document_id)
    assert [passage.section for passage in passages] == [("Spot",), ("Storage",)]
    assert all(passage.text == text[passage.start : passage.end] for passage in passages)
    assert [text[span.start : span.end] for span in passages[0].sentences] == ["Spot is cheap.", "It may be reclaimed."]


def test_removal_leaves_nothing(store: Store, tmp_path: Path) -> None:
    ingest(store, ENCODER, [write(tmp_path / "a.md", "# A\n\nUnique contents here.\n")])
    before = store.generation
    (row,) = store.documents()
    assert store.remove(row.document_id)
    assert not store.remove(row.document_id)
    assert store.generation > before
    assert store.documents() == []
    with store.reading() as connection:
        for table in ("documents", "texts", "names", "chunks", "vectors", "token_vectors"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    with pytest.raises(InvalidInput, match="docs list"):
        store.source_text(row.document_id)


def test_a_failed_transaction_leaves_no_trace(store: Store) -> None:
    before = store.generation
    with pytest.raises(ZeroDivisionError), store.writing() as connection:
        connection.execute("INSERT INTO terms (term) VALUES ('x')")
        raise ZeroDivisionError
    with store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM terms").fetchone() == (0,)
    assert store.generation == before


def test_a_reader_sees_one_state(store: Store, tmp_path: Path) -> None:
    with store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM documents").fetchone() == (0,)
        ingest(store, ENCODER, [write(tmp_path / "a.md", "# A\n\nSome text.\n")])
        assert connection.execute("SELECT count(*) FROM documents").fetchone() == (0,)
    assert len(store.documents()) == 1


def test_another_encoder_is_refused_until_the_store_is_empty(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "a.md", "# A\n\nSome text.\n")
    ingest(store, ENCODER, [path])
    other = HashingEncoder("hashing-32", 32)
    with pytest.raises(EncoderMismatch, match=r"hashing-64.*ADVISOR_ENCODER"):
        ingest(store, other, [path])
    store.remove(store.documents()[0].document_id)
    assert ingest(store, other, [path]).count("added") == 1
    assert store.encoder == "hashing-32"


def test_missing_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="advisor index"):
        Store.open(tmp_path, create=False)
    with pytest.raises(StoreError, match="advisor index"):
        Store.open(tmp_path / "none", read_only=True)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_damaged_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(StoreError, match="restore a backup"):
        Store.open(tmp_path)


def test_another_programs_database(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        Store.open(tmp_path)


def test_newer_version(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute(f"PRAGMA user_version = {latest_version() + 1}")
    connection.close()
    with pytest.raises(StoreError, match=rf"version {latest_version() + 1}, newer.*update"):
        Store.open(tmp_path)


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "file", "x")
    with pytest.raises(StoreError, match="ADVISOR_DATA_DIR"):
        Store.open(path)


def test_read_only_refuses_to_write(store: Store) -> None:
    with Store.open(store.folder, read_only=True) as reader, pytest.raises(StoreError, match="can't write"):
        reader.remove("x")
