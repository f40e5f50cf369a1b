import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.doctor import Check, diagnose
from knowledge.index import SNAPSHOTS, refresh_snapshot
from knowledge.ingest import ingest
from knowledge.store import FILE_NAME, Store
from tests.knowledge.hashing import HashingEncoder

ENCODER = HashingEncoder()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "a.md"
    path.write_text("# A\n\n## One\n\nSome text.\n\n## Two\n\nMore text.\n", encoding="utf-8")
    with Store.open(tmp_path / "store") as opened:
        ingest(opened, ENCODER, [path])
        refresh_snapshot(opened, force=True)
        yield opened


def bad(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.severity for check in checks if check.severity != "ok" and check.name != "disk space"}


def test_a_sound_store(store: Store) -> None:
    checks = diagnose(store.folder, ENCODER.identity)
    assert bad(checks) == {}
    assert {"sqlite", "folder", "disk space", "store", "file", "rows", "passages", "encoder", "index"} == {
        check.name for check in checks
    }


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("DELETE FROM texts", "rows"),
        ("DELETE FROM names", "rows"),
        ("DELETE FROM vectors", "rows"),
        ("UPDATE chunks SET start = start + 1", "passages"),
        ("UPDATE chunks SET text = 'x'", "passages"),
    ],
)
def test_faults_in_rows_are_found_with_a_remedy(store: Store, statement: str, name: str) -> None:
    with store.writing() as connection:
        connection.execute(statement)
    checks = diagnose(store.folder)
    assert bad(checks)[name] == "error"
    assert all(check.remedy for check in checks if check.severity != "ok")


def test_another_encoder(store: Store) -> None:
    assert bad(diagnose(store.folder, "other")) == {"encoder": "error"}


def test_snapshot_that_is_gone(store: Store) -> None:
    shutil.rmtree(store.folder / SNAPSHOTS)
    assert bad(diagnose(store.folder)) == {"index": "warning"}


def test_no_store(tmp_path: Path) -> None:
    assert bad(diagnose(tmp_path / "none")) == {"folder": "error"}
    assert bad(diagnose(tmp_path)) == {"store": "error"}
    assert not (tmp_path / "none").exists()


def test_damaged_store(store: Store) -> None:
    store.close()
    path = store.folder / FILE_NAME
    data = bytearray(path.read_bytes())
    data[4096 * 2 : 4096 * 6] = b"\xff" * (4096 * 4)
    path.write_bytes(data)
    assert "error" in bad(diagnose(store.folder)).values()
