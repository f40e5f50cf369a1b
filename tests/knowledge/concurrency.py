"""Two processes ingest at once while others ask: nothing fails, nothing is lost, no span is wrong.

python -m tests.knowledge.concurrency --documents 200 --questions 200
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from knowledge.ingest import ingest
from knowledge.search import Searcher
from knowledge.store import Store
from tests.knowledge.crash import check, write_documents
from tests.knowledge.hashing import HashingEncoder


def run(documents: int, questions: int) -> int:
    """Passages that were found and checked while two processes wrote."""
    with tempfile.TemporaryDirectory() as name:
        store_folder, source = Path(name) / "store", Path(name) / "documents"
        write_documents(source, 0, documents)
        files = sorted(source.iterdir())
        with Store.open(store_folder) as store:
            ingest(store, HashingEncoder(), files[:2])
        writers = [_start("--ingest", store_folder, *part) for part in (files[::2], files[1::2])]
        asker = _start("--ask", store_folder, questions)
        out = [_finish(process) for process in (*writers, asker)]
        assert check(store_folder, source, {0}) == [0] * documents
    return int(out[-1])


def ask(store_folder: Path, questions: int) -> int:
    """Ask while others write, and check every span against the text of its document."""
    found = 0
    with Store.open(store_folder) as store:
        searcher = Searcher(store, HashingEncoder())
        for number in range(questions):
            for hit in searcher.search(f"Revision of document {number} 训练之前先检查显存", k=10).hits:
                assert hit.text == store.source_text(hit.document_id)[hit.start : hit.end]
                for sentence in hit.sentences:
                    assert sentence.text in hit.text
                found += 1
    return found


def _start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.knowledge.concurrency", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--ingest", nargs="+", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ask", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ingest:
        with Store.open(options.ingest[0]) as store:
            report = ingest(store, HashingEncoder(), options.ingest[1:])
        assert not report.count("failed"), report
    elif options.ask:
        print(ask(Path(options.ask[0]), int(options.ask[1])))
    else:
        found = run(options.documents, options.questions)
        print(f"two writers done, {options.questions} questions answered meanwhile, {found} spans right")


if __name__ == "__main__":
    main()
