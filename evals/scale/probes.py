"""What one process does over a store, each in a process of its own: `python -m evals.scale.probes NAME FOLDER …`.

A process of its own, so that its resident memory is that of the work alone and nothing is warm from another measure.
Each prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]
from numpy.typing import NDArray

from evals.scale.ingesting import change_one, ingest_pages
from knowledge.backends.flat import FlatVectors
from knowledge.index import Index
from knowledge.lexical import terms
from knowledge.search import DENSE_ROWS
from knowledge.segment import Segment
from knowledge.store import Store

NEAREST = 10
BLOCK = 65536
FTS_BATCH = 2000
Floats = NDArray[np.float32]


def resident() -> float:
    """Megabytes of memory that this process holds, mapped files included."""
    return float(psutil.Process().memory_info().rss / 1e6)


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """p50 and p95 in milliseconds."""
    return {"p50": float(np.percentile(seconds, 50) * 1e3), "p95": float(np.percentile(seconds, 95) * 1e3)}


def timed(work: Callable[[Any], Any], items: Sequence[Any]) -> dict[str, float]:
    """p50 and p95 of `work` over the items, after a tenth of them."""
    for item in items[: max(1, len(items) // 10)]:
        work(item)
    taken: list[float] = []
    for item in items:
        start = time.perf_counter()
        work(item)
        taken.append(time.perf_counter() - start)
    return spread(taken)


def vectors(folder: Path, queries: Path, exact: bool = False) -> dict[str, Any]:
    """Dense search as the program does it: opening, time, memory, recall against comparing all."""
    asked: Floats = np.load(queries)
    before = resident()
    start = time.perf_counter()
    with Store.open(folder, create=False, read_only=True) as store, store.reading() as connection:
        index = Index.read(connection, folder)
        index.nearest(asked[0], DENSE_ROWS)
        opened = time.perf_counter() - start
        search = timed(lambda vector: index.nearest(vector, DENSE_ROWS), list(asked))
        held = resident()
        result: dict[str, Any] = {
            "rows": sum(segment.rows for segment in index.segments),
            "opening_s": opened,
            "search_ms": search,
            "resident_mb": held,
            "resident_before_mb": before,
        }
        if exact:
            found = [[_rescored(segment, vector, DENSE_ROWS) for segment in index.segments] for vector in asked]
            truth = _exactly(index.segments, asked)
            result["recall_at_10"] = float(np.mean([_recall(f, t) for f, t in zip(found, truth, strict=True)]))
    return result


def exact_vectors(folder: Path, queries: Path) -> dict[str, Any]:
    """The baseline: FAISS's flat index over the same vectors."""
    asked: Floats = np.load(queries)
    with Store.open(folder, create=False, read_only=True) as store, store.reading() as connection:
        index = Index.read(connection, folder)
        before = resident()
        flats = [FlatVectors.build(_rows(segment)) for segment in index.segments]
        held = resident() - before
        search = timed(lambda vector: [flat.nearest(vector, DENSE_ROWS) for flat in flats], list(asked[:60]))
    return {"search_ms": search, "resident_mb": held}


def lexical(folder: Path, questions: Path) -> dict[str, Any]:
    """BM25 as the program does it, beside SQLite's FTS5 over the same terms of the same passages."""
    asked = [list(dict.fromkeys(terms(text))) for text in json.loads(questions.read_text("utf-8"))]
    with Store.open(folder, create=False, read_only=True) as store, store.reading() as connection:
        index = Index.read(connection, folder)
        own = timed(lambda wanted: index.lexical(connection, wanted).best(100), asked)
        return {"own_ms": own} | _fts5(folder, index, asked)


def _fts5(folder: Path, index: Index, asked: list[list[str]]) -> dict[str, Any]:
    """Terms stand for themselves, as numbers, so that FTS5's tokenizer has nothing to decide."""
    scratch = folder / "fts5"
    fresh = not scratch.exists()
    with Store.open(folder, create=False, read_only=True) as source, Store.open(scratch) as store:
        start = time.perf_counter()
        if fresh:
            with source.reading() as reading, store.writing() as writing:
                writing.execute("CREATE VIRTUAL TABLE words USING fts5 (terms, content = '', tokenize = 'ascii')")
                for chunk, ids, counts in reading.execute("SELECT id, term_ids, term_counts FROM chunks"):
                    repeated = np.repeat(np.frombuffer(ids, "<u4"), np.frombuffer(counts, "<u2")).tolist()
                    row = (chunk, " ".join(f"t{number}" for number in repeated))
                    writing.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", row)
                writing.execute("INSERT INTO words (words) VALUES ('optimize')")
        built = time.perf_counter() - start
        with source.reading() as reading, store.reading() as connection:

            def search(wanted: list[str]) -> list[Any]:
                ids = [reading.execute("SELECT id FROM terms WHERE term = ?", (term,)).fetchone() for term in wanted]
                query = " OR ".join(f"t{found[0]}" for found in ids if found)
                if not query:
                    return []
                return connection.execute(
                    "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 100", (query,)
                ).fetchall()

            return {"fts5_ms": timed(search, asked), "fts5_build_s": built if fresh else None}


def answers(folder: Path, questions: Path, askers: int = 1, seconds: float = 0) -> dict[str, Any]:
    """Whole answers: each phase, memory, and with several askers at once how many a second."""
    from assistant.advisor import Advisor
    from assistant.settings import Settings

    asked = json.loads(questions.read_text("utf-8"))
    _read_through(folder)
    advisor = Advisor(Settings(data_dir=folder))
    advisor.journaled = False
    advisor.warm_up()
    if seconds:
        return {"answers_a_second": _throughput(lambda text: advisor.ask(text), asked, askers, seconds)}
    phases: dict[str, list[float]] = {}
    for text in asked:
        taken = advisor.ask(text).timings_ms.model_dump()
        taken["all but encoding"] = taken["total"] - taken["encode"]
        for name, value in taken.items():
            phases.setdefault(name, []).append(value / 1e3)
    together: list[float] = []
    for text in asked:
        start = time.perf_counter()
        advisor.searcher.search(text)
        together.append(time.perf_counter() - start)
    return {
        "phases_ms": {name: spread(values) for name, values in phases.items()},
        "encoding_and_search_ms": spread(together),
        "resident_mb": resident(),
    }


def _read_through(folder: Path) -> None:
    """So that the operating system holds the files, as it does where questions have been answered for a while."""
    for path in (*folder.glob("*.sqlite3"), *folder.glob("index/*/*/*")):
        with path.open("rb") as file:
            while file.read(1 << 23):
                pass


def _throughput(ask: Callable[[str], Any], asked: Sequence[str], askers: int, seconds: float) -> float:
    """Answers a second of so many threads, each asking the next question when the last is answered."""
    turn, done = count(), count()
    until = time.perf_counter() + seconds
    begun = time.perf_counter()

    def work() -> None:
        while time.perf_counter() < until:
            ask(asked[next(turn) % len(asked)])
            next(done)

    threads = [threading.Thread(target=work) for _ in range(askers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return next(done) / (time.perf_counter() - begun)


def _rows(segment: Segment) -> NDArray[np.float16]:
    blocks = [segment.vectors(np.arange(at, min(at + BLOCK, segment.rows))) for at in range(0, segment.rows, BLOCK)]
    return np.concatenate([block.astype(np.float16) for block in blocks])


def _rescored(segment: Segment, vector: Floats, k: int) -> tuple[Floats, NDArray[Any]]:
    """As a search does: what is found by codes is compared by the vectors themselves."""
    rows = np.sort(segment.nearest(vector, k)[1])
    return segment.vectors(rows) @ vector, rows


def _exactly(segments: Sequence[Segment], asked: Floats) -> list[list[tuple[Floats, NDArray[Any]]]]:
    """For each question the nearest rows of each segment."""
    found: list[list[tuple[Floats, NDArray[Any]]]] = [[] for _ in asked]
    for segment in segments:
        best = [(np.zeros(0, np.float32), np.zeros(0, np.int64)) for _ in asked]
        for at in range(0, segment.rows, BLOCK):
            rows = np.arange(at, min(at + BLOCK, segment.rows))
            scores = asked @ segment.vectors(rows).T
            top = np.argpartition(-scores, min(NEAREST, len(rows) - 1), axis=1)[:, :NEAREST]
            for i, mine in enumerate(top):
                values, places = best[i]
                best[i] = _top(np.append(values, scores[i, mine]), np.append(places, rows[mine]))
        for i, one in enumerate(best):
            found[i].append(one)
    return found


def _top(values: Floats, places: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    kept = np.argsort(-values, kind="stable")[:NEAREST]
    return values[kept], places[kept]


def _recall(found: list[tuple[Floats, NDArray[Any]]], truth: list[tuple[Floats, NDArray[Any]]]) -> float:
    """Share of the ten nearest of all segments that were found among the ten best."""

    def best(parts: list[tuple[Floats, NDArray[Any]]]) -> set[tuple[int, int]]:
        values = np.concatenate([scores for scores, _ in parts])
        names = [(number, int(row)) for number, (_, rows) in enumerate(parts) for row in rows]
        return {names[at] for at in np.argsort(-values, kind="stable")[:NEAREST]}

    wanted = best(truth)
    return len(wanted & best(found)) / len(wanted)


def main() -> None:
    """Run one probe; arguments are JSON."""
    name, folder, *rest = sys.argv[1:]
    probe: Callable[..., dict[str, Any]] = {
        "vectors": vectors,
        "exact_vectors": exact_vectors,
        "lexical": lexical,
        "answers": answers,
        "ingest_pages": ingest_pages,
        "change_one": change_one,
    }[name]
    first, *others = rest
    print(json.dumps(probe(Path(folder), Path(first), *map(json.loads, others))))


if __name__ == "__main__":
    main()
