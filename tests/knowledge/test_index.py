import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import knowledge.index
import knowledge.segment
from knowledge.index import BM25_B, BM25_K1, SNAPSHOTS, Index, refresh_snapshot
from knowledge.ingest import ingest
from knowledge.lexical import term_counts, terms
from knowledge.statements import meta
from knowledge.store import Store
from tests.knowledge.hashing import HashingEncoder

ENCODER = HashingEncoder()
SUBJECTS = ["spot prices", "checkpoint storage", "network bandwidth", "显存不足", "数据传输", "等保合规"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "documents"
    path.mkdir()
    for number, subject in enumerate(SUBJECTS):
        (path / f"d{number}.md").write_text(
            f"# D{number}\n\n## About {subject}\n\nAll on {subject}.\n", encoding="utf-8"
        )
    return path


def read(store: Store) -> Index:
    with store.reading() as connection:
        return Index.read(connection, store.folder)


def found(store: Store, index: Index, question: str) -> tuple[list[int], list[float]]:
    """Chunk ids by best cosine, and BM25 by chunk id."""
    vector = ENCODER.query(question).vector
    with store.reading() as connection:
        scores = index.lexical(connection, list(dict.fromkeys(terms(question)))).scores
    places = index.nearest(vector, 100)
    values, _, starts = index.cosines(vector, places)
    best = np.maximum.reduceat(values, starts[:-1])
    ids = index.chunk_ids(places)
    order = np.lexsort((ids, -best.round(4)))
    return [ids[i] for i in order], [round(float(scores[place]), 5) for place in places[np.argsort(ids)]]


def test_snapshot_and_rows_find_the_same(store: Store, folder: Path) -> None:
    ingest(store, ENCODER, [folder])
    without = read(store)
    assert refresh_snapshot(store, force=True)
    with_snapshot = read(store)
    assert with_snapshot.state.snapshot is not None
    for question in SUBJECTS:
        assert found(store, without, question) == found(store, with_snapshot, question)


def test_changes_after_the_snapshot_are_seen(store: Store, folder: Path) -> None:
    ingest(store, ENCODER, [folder])
    refresh_snapshot(store, force=True)
    gone = store.documents()[0].document_id
    chunk = store.chunks(gone)[0].chunk_id
    store.remove(gone)
    (folder / "new.md").write_text("# New\n\nAll on spot prices again.\n", encoding="utf-8")
    ingest(store, ENCODER, [folder / "new.md"])
    index = read(store)
    with store.reading() as connection:
        assert meta(connection, "snapshot") == index.state.snapshot
        living = {row[0] for row in connection.execute("SELECT id FROM chunks")}
    ids, _ = found(store, index, "spot prices")
    assert chunk not in ids
    assert set(ids) == living
    assert len(index) == len(living)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["write", "remove", "snapshot", "read"]), st.integers(0, 5)), max_size=12))
def test_any_history_leads_to_the_same_index(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    previous: Index | None = None
    with Store.open(folder / "store") as store:
        for step, (action, number) in enumerate(history):
            path = folder / f"d{number}.md"
            if action == "write":
                path.write_text(f"# D\n\nStep {step} on {SUBJECTS[number]}.\n", encoding="utf-8")
                ingest(store, ENCODER, [path])
            elif action == "remove":
                for row in store.documents()[number : number + 1]:
                    store.remove(row.document_id)
            elif action == "snapshot":
                refresh_snapshot(store, force=True)
            else:
                with store.reading() as connection:
                    previous = Index.read(connection, store.folder, previous)
        with store.reading() as connection:
            grown = Index.read(connection, store.folder, previous)
        shutil.rmtree(store.folder / SNAPSHOTS, ignore_errors=True)
        fresh = read(store)
        assert len(grown) == len(fresh)
        for question in SUBJECTS:
            assert sorted(found(store, grown, question)[0]) == sorted(found(store, fresh, question)[0])


def test_a_large_segment_is_clustered_and_finds_the_same(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        path = folder / f"n{number}.md"
        path.write_text(f"# N{number}\n\nNumber {number} on {SUBJECTS[number % 6]}.\n\n## More\n\nAnd {number + 1}.\n")
    ingest(store, ENCODER, [folder])
    without = read(store)
    monkeypatch.setattr(knowledge.segment, "EXACT_ROWS", 100)
    assert refresh_snapshot(store, force=True)
    (snapshot,) = (store.folder / SNAPSHOTS).iterdir()
    assert (snapshot / "en" / "rows.f16").is_file()
    assert not list(snapshot.glob("*.f16"))
    with_snapshot = read(store)
    for question in SUBJECTS:
        assert found(store, with_snapshot, question)[0][:5] == found(store, without, question)[0][:5]
    (snapshot / "en" / "rows.f16").unlink()
    assert found(store, read(store), SUBJECTS[0]) == found(store, without, SUBJECTS[0])


@pytest.mark.parametrize("damage", ["folder", "vectors", "manifest", "table"])
def test_a_damaged_snapshot_is_made_up_for_and_rebuilt(store: Store, folder: Path, damage: str) -> None:
    ingest(store, ENCODER, [folder])
    refresh_snapshot(store, force=True)
    expected = found(store, read(store), SUBJECTS[0])
    (snapshot,) = (store.folder / SNAPSHOTS).iterdir()
    if damage == "folder":
        shutil.rmtree(snapshot)
    elif damage == "vectors":
        (snapshot / "en" / "vectors.faiss").write_bytes(b"IxFI")
    elif damage == "manifest":
        (snapshot / "en" / "manifest.json").write_text("{")
    else:
        (snapshot / "en" / "term_ids.npy").unlink()
    assert found(store, read(store), SUBJECTS[0]) == expected
    assert refresh_snapshot(store)
    assert found(store, read(store), SUBJECTS[0]) == expected


def test_no_array_is_read_by_pickle(store: Store, folder: Path) -> None:
    ingest(store, ENCODER, [folder])
    refresh_snapshot(store, force=True)
    (snapshot,) = (store.folder / SNAPSHOTS).iterdir()
    path = snapshot / "en" / "term_ids.npy"
    size = path.stat().st_size
    np.save(path, np.array([threading.TIMEOUT_MAX, None], dtype=object), allow_pickle=True)
    with path.open("r+b") as file:
        file.truncate(size)
    assert read(store).state.last_chunk > 0
    assert refresh_snapshot(store)


def test_a_snapshot_of_an_older_state_does_not_replace_a_newer(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(store, ENCODER, [folder])
    publish = knowledge.index._publish

    def overtaken(*arguments: object) -> None:
        monkeypatch.setattr(knowledge.index, "_publish", publish)
        ingest(store, ENCODER, [folder / "late.md"])
        refresh_snapshot(store, force=True)
        publish(*arguments)  # type: ignore[arg-type]

    (folder / "late.md").write_text("# Late\n\nAll on spot prices, late.\n", encoding="utf-8")
    monkeypatch.setattr(knowledge.index, "_publish", overtaken)
    refresh_snapshot(store, force=True)
    assert len(list((store.folder / SNAPSHOTS).iterdir())) == 1
    index = read(store)
    assert index.state.snapshot is not None
    assert len(found(store, index, "late")[0]) == len(SUBJECTS) + 1


def test_bm25_is_the_published_formula(store: Store, folder: Path) -> None:
    ingest(store, ENCODER, [folder])
    index = read(store)
    texts = {}
    with store.reading() as connection:
        for chunk, title, section, text in connection.execute(
            """SELECT c.id, d.title, json_extract(c.section, '$[0]'), c.text
               FROM chunks c JOIN documents d ON d.number = c.document"""
        ):
            texts[chunk] = term_counts(f"{title} {section}\n{text}")
        scores = index.lexical(connection, ["checkpoint", "all"]).scores
    average = sum(counts.total() for counts in texts.values()) / len(texts)
    holding = sum("checkpoint" in counts for counts in texts.values())
    idf = np.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
    for place, chunk in enumerate(index.chunk_ids(np.arange(len(index)))):
        count, length = texts[chunk]["checkpoint"], texts[chunk].total()
        expected = idf * count * (BM25_K1 + 1) / (count + BM25_K1 * (1 - BM25_B + BM25_B * length / average))
        assert scores[place] == pytest.approx(expected, abs=1e-4)
