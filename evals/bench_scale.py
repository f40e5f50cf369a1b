"""Speed, memory and recall by size: `python -m evals.bench_scale [--json FILE] [--passages N …] [--vectors N …]`.

Stores of real passages among synthetic ones that look like them (`evals/scale/material.py`) are built once in a scratch
folder. Every measure runs in processes of its own, beside a baseline: FAISS comparing all vectors, SQLite's FTS5, one
asker on one core, and the rate at which the encoder alone encodes. A smaller run: `--passages 1000 --vectors 20000
--documents 100`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evals.bench import calibration, questions
from evals.scale.building import Built, Stores
from evals.scale.ingesting import write_pages

ASKERS = 16
SECONDS = 15
STARTS = 7


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "advisor-scale")
    parser.add_argument("--passages", type=int, nargs="*", default=[10_000, 100_000], help="sizes of stores")
    parser.add_argument("--vectors", type=int, nargs="*", default=[10_000, 100_000, 1_000_000], help="sizes of stores")
    parser.add_argument("--documents", type=int, default=10_000, help="one-page documents that are ingested; 0: none")
    parser.add_argument("--encoder", default="default", help="as ADVISOR_ENCODER")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    os.environ["ADVISOR_ENCODER"] = given.encoder
    measured = Bench(given.scratch, given.encoder).run(given.passages, given.vectors, given.documents)
    if given.json:
        given.json.write_text(json.dumps(measured, indent=1), encoding="utf-8")


class Bench:
    """Builds the stores, runs the probes, prints each table when it is there."""

    def __init__(self, scratch: Path, encoder: str) -> None:
        self._scratch = scratch
        self._stores = Stores(scratch, encoder)
        self._asked = questions()
        self._questions, self._queries = scratch / "questions.json", scratch / "queries.npy"
        self._questions.write_text(json.dumps(self._asked), encoding="utf-8")
        np.save(self._queries, np.stack([one.vector for one in self._stores.encoder.queries(self._asked)]))

    def run(self, passages: list[int], vectors: list[int], documents: int) -> dict[str, Any]:
        """All measures, and what they were taken on."""
        loop = calibration()
        print(f"{len(self._asked)} questions; calibration loop {loop:.1f} ms; {os.cpu_count()} cores\n")
        by_passages = [self._stores.of_passages(count) for count in sorted(passages)]
        by_vectors = [self._stores.of_vectors(count) for count in sorted(vectors)]
        stores = sorted([*by_passages, *by_vectors], key=lambda built: built.vectors)
        result: dict[str, Any] = {"calibration_ms": loop, "stores": [self._sizes(built) for built in stores]}
        result["vectors"] = [self._vectors(built) for built in stores]
        result["lexical"] = [self._lexical(built) for built in by_passages]
        result["answers"] = [self._answers(built, loop) for built in by_passages]
        result["start"] = [self._start(built) for built in by_passages]
        result["askers"] = [self._askers(built) for built in by_passages[:1]]
        result["change"] = [self._change(built) for built in by_passages]
        if documents:
            result["ingest"] = self._ingest(documents)
        return result

    def _sizes(self, built: Built) -> dict[str, Any]:
        row = {
            "store": built.folder.name.rpartition("-")[0],
            "passages": built.passages,
            "real_passages": built.real_passages,
            "vectors": built.vectors,
            "real_vectors": built.real_vectors,
            "vectors_mb": built.vector_bytes / 1e6,
            "store_mb": sum(file.stat().st_size for file in built.folder.glob("*.sqlite3")) / 1e6,
            "index_built_s": built.index_seconds,
        }
        _row("stores", row)
        return row

    def _vectors(self, built: Built) -> dict[str, Any]:
        found = _probe("vectors", built.folder, self._queries, True)
        exact = _probe("exact_vectors", built.folder, self._queries)
        row = {
            "vectors": found["rows"],
            "p50_ms": found["search_ms"]["p50"],
            "p95_ms": found["search_ms"]["p95"],
            "recall_at_10": found["recall_at_10"],
            "opening_s": found["opening_s"],
            "resident_mb": found["resident_mb"],
            "resident/stored": found["resident_mb"] * 1e6 / built.vector_bytes,
            "exact_p50_ms": exact["search_ms"]["p50"],
            "exact_mb": exact["resident_mb"],
            "times_faster": exact["search_ms"]["p50"] / found["search_ms"]["p50"],
        }
        _row("dense search, beside FAISS comparing all", row)
        return row

    def _lexical(self, built: Built) -> dict[str, Any]:
        found = _probe("lexical", built.folder, self._questions)
        row = {
            "passages": built.passages,
            "p50_ms": found["own_ms"]["p50"],
            "p95_ms": found["own_ms"]["p95"],
            "fts5_p50_ms": found["fts5_ms"]["p50"],
            "fts5_p95_ms": found["fts5_ms"]["p95"],
            "times_faster": found["fts5_ms"]["p50"] / found["own_ms"]["p50"],
        }
        _row("lexical search, beside FTS5", row)
        return row

    def _answers(self, built: Built, loop: float) -> dict[str, Any]:
        found = _probe("answers", built.folder, self._questions)
        phases: Mapping[str, Mapping[str, float]] = found["phases_ms"]
        row: dict[str, Any] = {"passages": built.passages, "vectors": built.vectors}
        row |= {f"{name}_ms": phases[name]["p50"] for name in ("understand", "encode", "search", "tools", "answer")}
        row["all_but_encoding_ms"] = phases["all but encoding"]["p50"]
        row["p95_ms"] = phases["all but encoding"]["p95"]
        row["p50/loop"] = row["all_but_encoding_ms"] / loop
        row["encoding_and_search_ms"] = found["encoding_and_search_ms"]["p50"]
        row["resident_mb"] = found["resident_mb"]
        _row("one grounded answer, p50 by phase", row)
        return row

    def _start(self, built: Built) -> dict[str, Any]:
        environment = os.environ | {"ADVISOR_DATA_DIR": str(built.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        ask = [sys.executable, "-m", "assistant", "ask", "怎么防止云上训练的账单失控？"]
        bare, imported, asked = (
            [_process(command, environment) for _ in range(STARTS)]
            for command in ([sys.executable, "-c", ""], [sys.executable, "-c", "import assistant"], ask)
        )
        row = {
            "passages": built.passages,
            "ask_s": float(np.median(asked)),
            "import_s": float(np.median(imported) - np.median(bare)),
            "python_s": float(np.median(bare)),
            "ask/python": float(np.median(asked) / np.median(bare)),
        }
        _row("a new process", row)
        return row

    def _askers(self, built: Built) -> dict[str, Any]:
        one = _probe("answers", built.folder, self._questions, 1, SECONDS, cores=1)
        many = _probe("answers", built.folder, self._questions, ASKERS, SECONDS, cores=2)
        row = {
            "passages": built.passages,
            "one_on_one_core": one["answers_a_second"],
            f"{ASKERS}_on_two_cores": many["answers_a_second"],
            "times": many["answers_a_second"] / one["answers_a_second"],
        }
        _row("answers a second, encoding included", row)
        return row

    def _change(self, built: Built) -> dict[str, Any]:
        row: dict[str, Any] = {"passages": built.passages} | _probe(
            "change_one", built.folder, self._scratch / "changing"
        )
        _row("one document changed, until it is found", row)
        return row

    def _ingest(self, documents: int) -> dict[str, Any]:
        pages = self._scratch / f"pages-{documents}"
        if not pages.is_dir():
            write_pages(self._stores.material, pages, documents)
        row: dict[str, Any] = _probe("ingest_pages", pages, self._scratch / "ingested")
        _row("ingest of one-page documents, beside the rate of the encoder alone", row)
        return row


_printed: list[str] = []


def _row(title: str, row: Mapping[str, Any]) -> None:
    """A line of a table, under its head where it is the first."""
    widths = [max(len(name), 9) + 2 for name in row]
    if not _printed or _printed[-1] != title:
        _printed.append(title)
        print(f"\n{title}\n" + "".join(f"{name:>{width}}" for name, width in zip(row, widths, strict=True)))
    print("".join(f"{_shown(value):>{width}}" for value, width in zip(row.values(), widths, strict=True)), flush=True)


def _shown(value: Any) -> str:
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) < 0.1 else f"{value:.3f}"


def _probe(name: str, folder: Path, material: Path, *options: Any, cores: int = 0) -> Any:
    """What a probe prints, in a process of its own."""
    allowed = sorted(os.sched_getaffinity(0))[: cores or None]
    command = [sys.executable, "-m", "evals.scale.probes", name, str(folder), str(material), *map(json.dumps, options)]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "ADVISOR_DATA_DIR": str(folder)},
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
    )
    return json.loads(done.stdout.splitlines()[-1])


def _process(command: list[str], environment: Mapping[str, str]) -> float:
    """Seconds that a command takes."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
