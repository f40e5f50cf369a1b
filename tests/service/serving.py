"""Real servers on real sockets: `advisor serve` in processes of its own, over a small store."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]
START_SECONDS = 300
SPOT = """# 抢占式实例

## 抢占式实例会被随时收回吗？

抢占式实例会在云厂商需要容量时被收回，收回前只有很短的通知。训练任务要用抢占式实例，必须定期保存检查点并能自动续训。
"""
BUDGET = """# Budgets

## Do budget alerts stop spending?

A budget alert only sends a notification and stops nothing by itself. A hard stop needs quotas or an automatic shutdown.
"""

ABOUT_HANDBOOK = "Which board approves more than the Kestrel quota of the Kestrel cluster?"


def handbook(version: int) -> str:
    """A document whose every sentence names its version."""
    return (
        f"# Kestrel handbook {version}\n\n## What is the Kestrel quota?\n\n"
        f"The Kestrel quota is {version} GPUs for each team in the Kestrel cluster. Kestrel 集群的配额是每队 {version} 张卡。"
        f"\n\n## Who approves more than the Kestrel quota?\n\n"
        f"More than {version} GPUs of the Kestrel cluster are approved by board {version}. "
        f"超过 {version} 张卡由第 {version} 委员会批准。\n"
    )


@dataclass(frozen=True)
class Server:
    """A running `advisor serve`."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", trust_env=False, timeout=60)

    def post(self, path: str, body: object) -> httpx.Response:
        return httpx.post(f"{self.url}{path}", json=body, trust_env=False, timeout=60)

    def ready(self) -> Server:
        deadline = time.monotonic() + START_SECONDS
        while True:
            assert self.process.poll() is None, self.log.read_text("utf-8")
            assert time.monotonic() < deadline, "the server isn't ready in time"
            try:
                if self.get("/v1/readiness").status_code == 200:
                    return self
            except httpx.HTTPError:
                pass
            time.sleep(0.1)


def documents(folder: Path) -> Path:
    """Two documents in a folder."""
    folder.mkdir()
    (folder / "spot.md").write_text(SPOT, "utf-8")
    (folder / "budget.md").write_text(BUDGET, "utf-8")
    return folder


def advisor(data: Path, *arguments: str, **settings: str) -> str:
    """What a command of the program prints."""
    done = subprocess.run(
        [sys.executable, "-m", "assistant", *arguments],
        env=environment(data, settings),
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(data: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process over a data folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ADVISOR_")}
    return kept | {"ADVISOR_DATA_DIR": str(data), "NO_PROXY": "127.0.0.1,localhost"} | dict(settings)


def serving(data: Path, **settings: str) -> AbstractContextManager[Server]:
    """`advisor serve` over a data folder, with these settings; not yet ready."""
    return serving_with([sys.executable, "-m", "assistant"], data, **settings)


@contextmanager
def serving_with(command: Sequence[str], data: Path, **settings: str) -> Iterator[Server]:
    """The same of another installation, whose command this is."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = data.parent / f"server-{port}.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [*command, "serve", "--port", str(port)],
            env=environment(data, settings),
            cwd=ROOT if command[0] == sys.executable else data.parent,
            stdout=written,
            stderr=written,
        )
    try:
        yield Server(f"http://127.0.0.1:{port}", process, log)
    finally:
        process.terminate()
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
