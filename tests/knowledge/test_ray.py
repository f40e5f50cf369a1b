"""Ingest on a real local Ray."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

from knowledge.errors import InvalidInput
from knowledge.ray_ingest import ingest_on_ray
from knowledge.store import Store
from tests.knowledge.crash import check, write_documents
from tests.knowledge.hashing import HashingEncoder

DOCUMENTS = 150


def start(store: Path, documents: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.knowledge.ray_run", str(store), str(documents)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> dict[str, int]:
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return dict(ast.literal_eval(out.splitlines()[-1]))


def stored(folder: Path) -> int:
    with Store.open(folder) as store:
        return store.sizes().documents


@pytest.mark.long
def test_a_run_killed_half_way_is_completed_by_the_next_and_nothing_is_there_twice(tmp_path: Path) -> None:
    store, documents = tmp_path / "store", tmp_path / "documents"
    write_documents(documents, 0, DOCUMENTS)
    (documents / "same.md").write_bytes((documents / "d000.md").read_bytes())
    (documents / "empty.md").write_text("")
    process = start(store, documents)
    until = time.monotonic() + 300
    while stored(store) < 10 and time.monotonic() < until:
        time.sleep(0.2)
    process.kill()
    process.communicate()
    before = stored(store)
    assert 10 <= before < DOCUMENTS
    counts = finish(start(store, documents))
    assert counts["failed"] == 1
    assert counts["added"] + counts["duplicate"] + counts["unchanged"] == DOCUMENTS + 1
    assert counts["unchanged"] >= before
    assert check(store, documents, {0}) == [0] * DOCUMENTS
    assert finish(start(store, documents))["unchanged"] == DOCUMENTS + 1


def test_no_ray_at_the_address(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    with Store.open(tmp_path / "store") as store, pytest.raises(InvalidInput, match="Ray"):
        ingest_on_ray(store, HashingEncoder, [tmp_path / "a.md"], address="127.0.0.1:1")
