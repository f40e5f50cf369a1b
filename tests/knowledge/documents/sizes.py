"""Time and peak memory of a 500-page PDF and a 50 MB sheet, each in a process of its own.

`python -m tests.knowledge.documents.sizes` prints both.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import subprocess
import sys
import time

from knowledge.chunking import chunk
from knowledge.documents import load_bytes
from tests.knowledge.documents.writers import Content, Part, Section, pdf

SHEET_BYTES = 50_000_000
PAGES = 500


def large_pdf() -> bytes:
    """A report of about 500 pages of text with headings and tables."""
    rng = random.Random(5)
    sentence = "Section {} states that the cluster of {} machines was billed {} USD in the month before."
    sections = []
    for i in range(PAGES):
        lines = tuple(
            " ".join(sentence.format(i, rng.randint(2, 900), rng.randint(100, 99_999)) for _ in range(6))
            for _ in range(5)
        )
        rows = (("Machine", "Hours", "USD"), *((f"m{i}-{j}", str(j * 7), f"{j}.50") for j in range(8)))
        sections.append(Section(f"Report {i}", 2, (Part("paragraph", lines), Part("table", rows=rows))))
    return pdf(Content("Large report", "en", tuple(sections)))


def large_sheet(ending: str) -> bytes:
    """A sheet of 50 MB, as XLSX or CSV."""
    rng = random.Random(6)
    header = ["Machine", "Region", "Hours", "USD per hour", "Note"]

    def row(i: int) -> list[str | float]:
        return [
            f"m-{i}",
            f"region-{i % 40}",
            rng.randint(1, 9_999),
            round(rng.random() * 90, 4),
            f"{rng.getrandbits(160):x}",
        ]

    if ending == "csv":
        out = io.StringIO()
        out.write(",".join(header) + "\n")
        i = 0
        while out.tell() < SHEET_BYTES:
            out.write(",".join(map(str, row(i))) + "\n")
            i += 1
        return out.getvalue().encode()
    import xlsxwriter

    packed = io.BytesIO()
    book = xlsxwriter.Workbook(packed, {"constant_memory": True})
    sheet = book.add_worksheet("Usage")
    sheet.write_row(0, 0, header)
    for i in range(1, 1_000_000):
        sheet.write_row(i, 0, row(i))
    book.close()
    return packed.getvalue()


def measure(kind: str, path: str) -> None:
    """Load one file and print what it took."""
    from pathlib import Path

    data = Path(path).read_bytes()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    started = time.perf_counter()
    document = load_bytes(data, f"a.{kind}")
    loaded = time.perf_counter()
    passages = chunk(document)
    ended = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    print(
        f"{kind:5} {len(data) / 1e6:6.1f} MB, {document.pages or 1:4} pages, {len(document.text):,} characters,"
        f" {len(passages):,} chunks: load {loaded - started:.1f} s, chunk {ended - loaded:.1f} s,"
        f" peak memory {peak:.0f} MB ({peak - before:.0f} MB above the start)"
    )


def main() -> None:
    """Make the files and measure each in a new process."""
    import tempfile
    from pathlib import Path

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", nargs=2, metavar=("KIND", "PATH"))
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("pdf", "csv", "xlsx"):
            path = Path(folder) / f"large.{kind}"
            path.write_bytes(large_pdf() if kind == "pdf" else large_sheet(kind))
            subprocess.run(
                [sys.executable, "-m", "tests.knowledge.documents.sizes", "--measure", kind, str(path)], check=True
            )


if __name__ == "__main__":
    main()
