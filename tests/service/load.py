"""50 people converse while a document is replaced every second: `python -m tests.service.load [--minutes 5] [--data FOLDER]`.

Starts `advisor serve` over the shipped guidance in a temporary folder, lets Locust's people ask (`users`), and uploads
the next version of one document every second. Fails on any error, any answer that is wrong or mixes two versions, a
95th percentile above a second, or memory that grows.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]

from tests.service.serving import ROOT, Server, environment, handbook, serving

PEOPLE = 50
STARTED_A_SECOND = 5
P95_MS = 1000.0
GROWTH = 0.1
"""Share by which memory may be larger at the end than after the first fifth of the run."""
FIRST_VERSION = 100_001


@dataclass
class Watched:
    """What was seen of the server and of the uploads."""

    memory: list[float] = field(default_factory=list)
    """Resident megabytes, once a second."""
    versions: int = 0
    faults: list[str] = field(default_factory=list)


@contextmanager
def replacing(server: Server) -> Iterator[Watched]:
    """Uploads the next version every second, and looks at the server's memory."""
    watched, stopped = Watched(), threading.Event()
    process = psutil.Process(server.process.pid)

    def work() -> None:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as client:
            due = time.monotonic()
            while not stopped.is_set():
                version = FIRST_VERSION + watched.versions
                try:
                    sent = client.post("/v1/documents", files={"files": ("kestrel.md", handbook(version).encode())})
                    if sent.status_code != 202:
                        watched.faults.append(f"upload: {sent.status_code} {sent.text[:200]}")
                except httpx.HTTPError as error:
                    watched.faults.append(f"upload: {error!r}")
                watched.versions += 1
                watched.memory.append(process.memory_info().rss / 1e6)
                due += 1
                stopped.wait(max(0.0, due - time.monotonic()))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        while "Kestrel handbook" not in server.post("/v1/search", {"query": "Kestrel"}).text and not watched.faults:
            time.sleep(0.2)
        yield watched
    finally:
        stopped.set()
        thread.join()


def people(url: str, minutes: float, folder: Path) -> dict[str, dict[str, str]]:
    """Let Locust's people ask; its statistics by name."""
    users = str(Path(__file__).with_name("users.py"))
    command = [sys.executable, "-m", "locust", "-f", users, "-H", url, "--headless", "--csv", str(folder / "load")]
    command += ["-u", str(PEOPLE), "-r", str(STARTED_A_SECOND), "-t", f"{int(minutes * 60)}s", "--stop-timeout", "30"]
    subprocess.run(
        [*command, "--only-summary", "--loglevel", "WARNING"], cwd=ROOT, env=environment(folder, {}), check=False
    )
    with (folder / "load_stats.csv").open(encoding="utf-8") as opened:
        return {row["Name"]: row for row in csv.DictReader(opened)}


def verdicts(watched: Watched, stats: dict[str, dict[str, str]]) -> list[tuple[bool, str]]:
    """Each requirement: whether it is met, and the figures."""
    whole = stats["Aggregated"]
    failures, p95 = int(whole["Failure Count"]), float(whole["95%"])
    settled = watched.memory[len(watched.memory) // 5 :]
    tenth = max(1, len(settled) // 10)
    begin, end = sorted(settled[:tenth])[tenth // 2], sorted(settled[-tenth:])[tenth // 2]
    return [
        (failures == 0, f"{whole['Request Count']} answers, {failures} failed, wrong or mixed"),
        (
            not watched.faults,
            f"{watched.versions} versions uploaded, {len(watched.faults)} faults {watched.faults[:1]}",
        ),
        (p95 <= P95_MS, f"p50 {whole['50%']} ms, p95 {p95:.0f} ms, p99 {whole['99%']} ms"),
        (end <= begin * (1 + GROWTH), f"memory {begin:.0f} MB, at the end {end:.0f} MB"),
    ]


def main() -> None:
    """Run and print; status 1 when a requirement is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--data", type=Path, help="A data folder to begin with, instead of indexing the guidance.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="advisor-load-") as place:
        folder = Path(place)
        if given.data:
            shutil.copytree(given.data, folder / "data")
        with serving(folder / "data") as server:
            server.ready()
            before = os.getloadavg()[0]
            with replacing(server) as watched:
                stats = people(server.url, given.minutes, folder)
            print(f"Load of the machine before {before:.1f}, after {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
            log = server.log.read_text("utf-8")
            results = verdicts(watched, stats)
    if not all(met for met, _ in results):
        print(*[line for line in log.splitlines() if '"level": "error"' in line][-10:], sep="\n")
    print("Memory, MB, every 15 s:", *(round(size) for size in watched.memory[::15]))
    for met, figures in results:
        print("ok    " if met else "MISSED", figures)
    sys.exit(not all(met for met, _ in results))


if __name__ == "__main__":
    main()
