"""Collections: what is kept apart, who reads what, and documents that expire."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

import knowledge.database
from knowledge.errors import InvalidInput, NotFound
from knowledge.index import refresh_snapshot
from knowledge.ingest import ingest
from knowledge.search import Searcher
from knowledge.store import FILE_NAME, Store
from tests.knowledge.hashing import HashingEncoder

ENCODER = HashingEncoder()
ALL = None
NOBODY: frozenset[str] = frozenset()
HR = frozenset({"hr"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store") as opened:
        yield opened


def add(store: Store, folder: Path, name: str, text: str, collection: str = "default") -> str:
    path = folder / f"{name}.md"
    path.write_text(text, "utf-8")
    (report,) = ingest(store, ENCODER, [path], collection=collection).files
    assert report.document_id is not None, report
    return report.document_id


def texts(searcher: Searcher, question: str, groups: frozenset[str] | None, k: int = 10) -> list[str]:
    return [hit.text for hit in searcher.search(question, k, groups=groups).hits]


@pytest.mark.parametrize("snapshot", [False, True])
def test_what_may_not_be_read_leaves_no_gap_in_what_may(store: Store, tmp_path: Path, snapshot: bool) -> None:
    """The best passages are hidden ones: as many others as asked for are found all the same."""
    for number in range(40):
        add(store, tmp_path, f"h{number}", f"# H{number}\n\nSalary bands of grade {number} salary bands.\n", "hr")
    for number in range(8):
        add(store, tmp_path, f"p{number}", f"# P{number}\n\nOffice hours, room {number}, and salary.\n")
    store.set_groups("hr", ["hr"])
    if snapshot:
        refresh_snapshot(store, force=True)
    searcher = Searcher(store, ENCODER)
    mine = texts(searcher, "salary bands", NOBODY, 8)
    assert len(mine) == 8 and all("Office" in text for text in mine)
    assert all("grade" in text for text in texts(searcher, "salary bands", HR, 8))
    assert texts(searcher, "salary bands", ALL, 48) == texts(searcher, "salary bands", HR, 48)


def test_scores_and_coverage_know_nothing_of_hidden_words(tmp_path: Path) -> None:
    with Store.open(tmp_path / "one") as one, Store.open(tmp_path / "two") as two:
        for store in (one, two):
            for number in range(5):
                add(store, tmp_path, f"p{number}", f"# P{number}\n\nOffice hours of room {number}.\n")
        add(two, tmp_path, "secret", "# S\n\nThe merger with Zyxwold takes room 3.\n", "hr")
        for question in ("merger Zyxwold room", "office hours", "Zyxwold"):
            expected = Searcher(one, ENCODER).search(question, groups=NOBODY)
            found = Searcher(two, ENCODER).search(question, groups=NOBODY)
            assert found.coverage == expected.coverage
            assert [(h.document_id, h.score, h.lexical_score) for h in found.hits] == [
                (h.document_id, h.score, h.lexical_score) for h in expected.hits
            ]


def test_a_new_collection_is_closed_and_the_default_is_open(store: Store, tmp_path: Path) -> None:
    add(store, tmp_path, "a", "# A\n\nAbout apples.\n")
    secret = add(store, tmp_path, "b", "# B\n\nAbout pears.\n", "hr")
    assert [row.title for row in store.documents(HR)] == ["A"]
    for read in (store.document, store.source_text, store.chunks):
        with pytest.raises(NotFound) as refused:
            read(secret, HR)
        with pytest.raises(NotFound) as missing:
            read("nope", HR)
        assert str(refused.value).replace(secret, "nope") == str(missing.value)
    store.set_groups("hr", ["hr", " hr "])
    assert [row.title for row in store.documents(HR)] == ["A", "B"]
    assert [(c.name, c.groups, c.documents) for c in store.collections(HR)] == [
        ("default", ("*",), 1),
        ("hr", ("hr",), 1),
    ]
    assert [c.name for c in store.collections(NOBODY)] == ["default"]


def test_content_and_names_count_within_a_collection(store: Store, tmp_path: Path) -> None:
    text = "# A\n\nAbout apples.\n"
    first, second = add(store, tmp_path, "a", text), add(store, tmp_path, "a", text, "hr")
    assert first != second
    path = tmp_path / "copy.md"
    path.write_text(text)
    (copy,) = ingest(store, ENCODER, [path], collection="hr").files
    assert (copy.status, copy.document_id) == ("duplicate", second)
    changed = add(store, tmp_path, "a", "# A\n\nAbout plums.\n", "hr")
    assert "plums" not in store.source_text(first)
    store.remove(changed)
    assert store.source_text(first)
    assert [row.collection for row in store.documents()] == ["default", "hr"]


@pytest.mark.parametrize("name", ["", "a/b", "../x", "a b", "x" * 65, "-a"])
def test_a_collections_name_is_plain(store: Store, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        store.set_groups(name, ["*"])


def test_an_expired_document_is_not_used(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    today = date.today()
    for name, day in (("gone", today - timedelta(days=1)), ("last", today), ("next", today + timedelta(days=1))):
        add(store, tmp_path, name, f"---\nexpires: {day}\n---\n# {name}\n\nPrices that are {name}.\n")
    add(store, tmp_path, "always", "# always\n\nPrices that are always.\n")
    searcher = Searcher(store, ENCODER)

    def found() -> set[str]:
        return {hit.title for hit in searcher.search("prices", 10).hits}

    assert found() == {"last", "next", "always"}

    class Tomorrow(date):
        @classmethod
        def today(cls) -> date:  # type: ignore[override]
            return today + timedelta(days=1)

    monkeypatch.setattr("knowledge.search.date", Tomorrow)
    assert found() == {"next", "always"}
    refresh_snapshot(store, force=True)
    assert found() == {"next", "always"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [("2026/3/9", "2026-03-09"), ("2026年3月9日", "2026-03-09"), ("2026.03.09", "2026-03-09"), ("soon", None)],
)
def test_a_day_is_read_as_people_write_it(store: Store, tmp_path: Path, written: str, expected: str | None) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"---\nexpires: {written}\n---\n# A\n\nAbout apples.\n", "utf-8")
    (report,) = ingest(store, ENCODER, [path]).files
    if expected is None:
        assert report.status == "failed" and report.reason is not None and "expires: soon" in report.reason
    else:
        assert str(store.documents()[0].expires) == expected


def test_a_store_of_an_older_version_keeps_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = knowledge.database.migrations()
    monkeypatch.setattr(knowledge.database, "migrations", lambda: scripts[:2])
    old = knowledge.database.Database(tmp_path / FILE_NAME, create=True, read_only=False)
    with old.writing() as connection:
        for number, expires in ((1, "2026-12-31"), (2, "when done")):
            connection.execute(
                "INSERT INTO documents VALUES (?, ?, ?, 'f', 'T', 'en', 'text/plain', 'utf-8', NULL, '[]', ?, ?)",
                (number, f"d{number}", f"hash{number}", f'{{"expires": "{expires}"}}', "2026-01-01T00:00:00+00:00"),
            )
            connection.execute("INSERT INTO texts VALUES (?, 'words')", (number,))
            connection.execute("INSERT INTO names VALUES (?, ?, 0)", (f"/d{number}.txt", number))
            connection.execute(
                """INSERT INTO chunks (document, start, "end", text, section, sentences, questions, term_ids,
                                       term_counts) VALUES (?, 0, 5, 'words', '[]', '', '[]', '', '')""",
                (number,),
            )
    old.close()
    monkeypatch.undo()
    with Store.open(tmp_path) as store:
        first, second = store.documents(NOBODY)
        assert (first.document_id, first.location, first.collection) == ("d1", "/d1.txt", "default")
        assert (first.chunks, str(first.expires), second.expires) == (1, "2026-12-31", None)
        assert store.source_text("d2", NOBODY) == "words"
        assert store.remove("d1")
        with store.reading() as connection:
            for table in ("chunks", "texts", "names"):
                assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (1,)
