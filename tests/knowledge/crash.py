"""Kills an ingest at random points: each document must be wholly old or wholly new, and a rerun must complete.

python -m tests.knowledge.crash --kills 50
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from knowledge.doctor import diagnose
from knowledge.ingest import ingest
from knowledge.search import Searcher
from knowledge.store import Store
from tests.knowledge.hashing import HashingEncoder

DOCUMENTS = 200
READY = "ready"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the kills led to."""

    kills: int
    """Runs that were killed before they were done."""
    seen: int
    """Documents checked after the kills, all runs together."""
    changed: int
    """Those of them that were already new."""


def text_of(document: int, revision: int) -> str:
    """A short document, half of them Chinese; every revision has another number of passages."""
    lines = [f"# Document {document}", ""]
    for section in range(1 + (document + revision) % 3):
        lines += [f"## Section {section} 第{section}节", ""]
        if document % 2:
            lines += [f"文档{document}的第{revision}版说明第{section}节：训练之前先检查显存和网络带宽。", ""]
        else:
            lines += [f"Revision {revision} of document {document} covers checkpoints in section {section}.", ""]
    return "\n".join(lines)


def write_documents(folder: Path, revision: int, documents: int = DOCUMENTS) -> None:
    """Write all documents at one revision."""
    folder.mkdir(exist_ok=True)
    for document in range(documents):
        (folder / f"d{document:03}.md").write_text(text_of(document, revision), encoding="utf-8")


def check(store_folder: Path, documents: Path, allowed: set[int]) -> list[int]:
    """The revision of each stored document.

    Raises:
        AssertionError: a document is neither wholly one allowed revision nor another, or the store is not sound.
    """
    faults = [found for found in diagnose(store_folder) if found.severity == "error"]
    assert not faults, faults
    revisions: list[int] = []
    with Store.open(store_folder, create=False) as store:
        for row in store.documents():
            number = int(Path(row.location).stem[1:])
            source = store.source_text(row.document_id)
            matching = [revision for revision in allowed if _same(source, text_of(number, revision))]
            assert len(matching) == 1, f"{row.location} is neither old nor new: {source!r}"
            passages = store.chunks(row.document_id)
            assert len(passages) == 1 + (number + matching[0]) % 3, f"{row.location} has {len(passages)} passages"
            assert all(passage.text == source[passage.start : passage.end] for passage in passages)
            revisions.append(matching[0])
        for hit in Searcher(store, HashingEncoder()).search("checkpoints 显存", k=20).hits:
            assert hit.text == store.source_text(hit.document_id)[hit.start : hit.end]
    assert len(list(documents.iterdir())) >= len(revisions)
    return revisions


def run(kills: int, seed: int, documents: int = DOCUMENTS) -> Outcome:
    """Kill `kills` ingests, each of a new revision of every document."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        source, store_folder = Path(name) / "documents", Path(name) / "store"
        write_documents(source, 0, documents)
        seconds = _ingest(store_folder, source, None)
        assert check(store_folder, source, {0}) == [0] * documents
        seen = changed = done = 0
        revision = 0
        while done < kills:
            revision += 1
            write_documents(source, revision, documents)
            ended = _ingest(store_folder, source, generator.uniform(0, seconds))
            if ended is None:
                done += 1
                found = check(store_folder, source, {revision - 1, revision})
                assert len(found) == documents, f"{documents - len(found)} documents are lost"
                seen += len(found)
                changed += found.count(revision)
                _ingest(store_folder, source, None)
            else:
                seconds = ended
            assert check(store_folder, source, {revision}) == [revision] * documents
    return Outcome(kills, seen, changed)


def _ingest(store_folder: Path, source: Path, kill_after: float | None) -> float | None:
    """Seconds that the ingest took in a process of its own; None when it was killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.knowledge.crash", "--ingest", str(store_folder), str(source)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline().strip() == READY
        start = time.monotonic()
        try:
            assert process.wait(timeout=kill_after) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None
    return time.monotonic() - start


def _same(source: str, written: str) -> bool:
    return source.split() == written.replace("#", "").split() or source.strip() == written.strip()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ingest", nargs=2, type=Path, metavar=("STORE", "DOCUMENTS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ingest:
        store_folder, source = options.ingest
        print(READY, flush=True)
        with Store.open(store_folder) as store:
            ingest(store, HashingEncoder(), [source])
        return
    outcome = run(options.kills, options.seed)
    print(
        f"{outcome.kills} kills: every document whole and every rerun complete; at the time of the kill "
        f"{outcome.changed} of {outcome.seen} documents were new, the others old"
    )


if __name__ == "__main__":
    main()
