from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.errors import StoreError
from knowledge.ingest import FileReport, ingest
from knowledge.questions import attach, parse_questions
from knowledge.records import Chunk
from knowledge.store import Store
from tests.knowledge import concurrency, crash
from tests.knowledge.hashing import HashingEncoder

ENCODER = HashingEncoder()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "documents"
    path.mkdir()
    return path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def statuses(store: Store, *paths: Path) -> list[str]:
    return [file.status for file in ingest(store, ENCODER, paths).files]


def test_unchanged_files_are_not_read_again(store: Store, folder: Path) -> None:
    write(folder / "a.md", "# A\n\nFirst.\n")
    write(folder / "b.md", "# B\n\nSecond.\n")
    assert statuses(store, folder) == ["added", "added"]
    generation = store.generation
    assert statuses(store, folder) == ["unchanged", "unchanged"]
    assert store.generation == generation


def test_changed_content_keeps_the_id(store: Store, folder: Path) -> None:
    path = write(folder / "a.md", "# A\n\nOld text.\n")
    ingest(store, ENCODER, [path])
    before = store.documents()[0].document_id
    write(path, "# A\n\nNew text.\n")
    assert statuses(store, path) == ["updated"]
    (row,) = store.documents()
    assert row.document_id == before
    assert "New" in store.source_text(before)
    assert "Old" not in store.source_text(before)


def test_same_name_in_two_folders_is_two_documents(store: Store, folder: Path) -> None:
    write(folder / "x/policy.md", "# Policy\n\nOf department X.\n")
    write(folder / "y/policy.md", "# Policy\n\nOf department Y.\n")
    assert statuses(store, folder) == ["added", "added"]
    assert len({row.document_id for row in store.documents()}) == 2


def test_equal_bytes_under_two_names_count_once(store: Store, folder: Path) -> None:
    first = write(folder / "a.md", "# A\n\nShared.\n")
    second = write(folder / "b.md", "# A\n\nShared.\n")
    assert statuses(store, folder) == ["added", "duplicate"]
    assert statuses(store, folder) == ["unchanged", "unchanged"]
    (row,) = store.documents()
    assert row.names == (str(first), str(second))
    write(second, "# B\n\nOf its own.\n")
    assert statuses(store, folder) == ["unchanged", "updated"]
    assert [row.names for row in store.documents()] == [(str(first),), (str(second),)]


def test_a_document_without_names_goes(store: Store, folder: Path) -> None:
    first = write(folder / "a.md", "# A\n\nOne.\n")
    second = write(folder / "b.md", "# B\n\nTwo.\n")
    ingest(store, ENCODER, [folder])
    write(first, second.read_text())
    assert statuses(store, folder) == ["duplicate", "unchanged"]
    (row,) = store.documents()
    assert row.names == (str(second), str(first))


def test_a_file_that_fails_is_reported_and_the_rest_goes_on(store: Store, folder: Path) -> None:
    write(folder / "empty.md", "")
    write(folder / "good.md", "# Good\n\nText.\n")
    seen: list[FileReport] = []
    report = ingest(store, ENCODER, [folder, folder / "missing.md"], on_file=seen.append)
    assert [(Path(file.path).name, file.status) for file in report.files] == [
        ("empty.md", "failed"),
        ("good.md", "added"),
        ("missing.md", "failed"),
    ]
    assert all(file.reason for file in report.files if file.status == "failed")
    assert seen == report.files
    assert [row.title for row in store.documents()] == ["Good"]


def test_progress_ends_at_the_total(store: Store, folder: Path) -> None:
    write(folder / "a.md", "# A\n\nText.\n")
    write(folder / "b.md", "")
    seen: list[tuple[int, int]] = []
    ingest(store, ENCODER, [folder], on_progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1] > 0


def test_question_forms_belong_to_their_section(store: Store, folder: Path) -> None:
    path = write(folder / "a.md", "# A\n\n## Cost\n\nIt is cheap.\n\n## Speed\n\nIt is fast.\n")
    forms = write(folder / "a.questions.txt", "## Cost\n多少钱\nhow much\n\n## Speed\nhow fast\n")
    assert statuses(store, folder) == ["added"]
    (row,) = store.documents()
    assert [passage.questions for passage in store.chunks(row.document_id)] == [("多少钱", "how much"), ("how fast",)]
    write(forms, "## Speed\nhow quick\n")
    assert statuses(store, path) == ["updated"]
    assert [passage.questions for passage in store.chunks(row.document_id)] == [(), ("how quick",)]
    assert statuses(store, forms) == ["failed"]


def test_question_file_is_read_as_written() -> None:
    questions = parse_questions("\ufeff## How much?\r\n一 \r\n\r\n一\n## 速度\nfast\n")
    assert questions == {"How much?": ("一",), "速度": ("fast",)}
    chunks = [Chunk(0, 1, ("Top", "HOW MUCH？"), None, ()), Chunk(1, 2, ("other",), None, ())]
    assert attach(questions, chunks) == [("一",), ()]


def test_kill_leaves_each_document_old_or_new() -> None:
    assert crash.run(kills=5, seed=1, documents=60).seen == 300


def test_two_writers_and_a_reader() -> None:
    assert concurrency.run(documents=40, questions=40) > 0


@pytest.mark.long
def test_fifty_kills() -> None:
    assert crash.run(kills=50, seed=0).kills == 50


def test_what_depends_on_documents_before_it_waits_for_them(store: Store, folder: Path) -> None:
    """Contents that move between files within one run, as if each were written before the next is looked at."""
    first = write(folder / "a.md", "# A\n\nOne.\n")
    ingest(store, ENCODER, [folder])
    before = store.documents()[0].document_id
    write(folder / "b.md", first.read_text())
    write(first, "# A\n\nOne, changed.\n")
    write(folder / "c.md", "")
    write(folder / "d.md", first.read_text())
    write(folder / "e.md", "")
    assert statuses(store, folder) == ["updated", "added", "failed", "duplicate", "failed"]
    named = {row.document_id: row.names for row in store.documents()}
    assert named[before] == (str(first), str(folder / "d.md"))
    assert sorted(named.values()) == [(str(first), str(folder / "d.md")), (str(folder / "b.md"),)]


def test_a_store_that_cannot_be_written_ends_the_run(folder: Path, tmp_path: Path) -> None:
    for number in range(5):
        write(folder / f"{number}.md", f"# N\n\nNumber {number}.\n")
    with Store.open(tmp_path / "store") as first:
        ingest(first, ENCODER, [folder / "0.md"])
    with Store.open(tmp_path / "store", read_only=True) as store, pytest.raises(StoreError):
        ingest(store, ENCODER, [folder])
