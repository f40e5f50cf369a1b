"""A server over a small store and Debian's Chromium, once a session; a fresh browser profile for each test."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.host import SECRET, Host
from tests.browser.outside import Outside

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 300
PATIENCE_MS = 60_000
"""Longest time that a state is waited for; only a fault, or a machine that does much else, takes that long."""
OpenPage = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    missing = not Path(CHROMIUM).exists() and not os.environ.get("CI")
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.long)
            if missing:
                item.add_marker(pytest.mark.skip(reason="Chromium isn't installed: apt-get install chromium"))


@contextmanager
def running(folder: Path, *documents: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """A server over a store of these documents; its URL once it has answered a first question."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.browser.server", str(folder), str(port), *map(str, documents)],
        env={**os.environ, "ADVISOR_DATA_DIR": str(folder), "NO_PROXY": "127.0.0.1,localhost", **(environment or {})},
        cwd=Path(__file__).parents[2],
    )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            assert process.poll() is None, "the server ended before it was ready"
            assert time.monotonic() < deadline, "the server isn't ready in time"
            try:
                httpx.get(f"{url}/v1/health", trust_env=False).raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.2)
        httpx.post(f"{url}/v1/ask", json={"question": "Hello"}, trust_env=False, timeout=300).raise_for_status()
        yield url
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def outside() -> Iterator[Outside]:
    """What the server wanted from elsewhere."""
    proxy = Outside()
    yield proxy
    proxy.close()


@pytest.fixture(scope="session")
def outside_browser() -> Iterator[Outside]:
    """What pages wanted from elsewhere; what Chromium wants for itself goes another way."""
    proxy = Outside()
    yield proxy
    proxy.close()


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data") / "store"


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    """A site of another origin that shows the widget."""
    site = Host()
    yield site
    site.close()


@pytest.fixture(scope="session")
def server(data_dir: Path, outside: Outside, host: Host) -> Iterator[str]:
    """Base URL of the running web app."""
    environment = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), outside.url)
    environment |= {"ADVISOR_WIDGET_ORIGINS": host.origin, "ADVISOR_WIDGET_SECRET": SECRET}
    with running(data_dir, environment=environment) as url:
        host.server = url
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        # Port 9 discards: Chromium's own services get nowhere.
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, "--proxy-server=127.0.0.1:9"])
        yield started
        started.close()


@pytest.fixture
def visit(server: str, browser: Browser, outside_browser: Outside) -> Iterator[OpenPage]:
    """Opens a page as a new visitor; fails the test when the page's script had an error."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def open_page(
        path: str = "/",
        *,
        language: str = "en",
        width: int = 1366,
        height: int = 860,
        dark: bool = False,
        context: BrowserContext | None = None,
        ready: str = "#top",
    ) -> Page:
        if context is None:
            context = browser.new_context(
                base_url=server,
                locale="zh-CN" if language == "zh" else "en-US",
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                accept_downloads=True,
                proxy={"server": outside_browser.url, "bypass": "127.0.0.1"},
            )
            context.set_default_timeout(PATIENCE_MS)
            contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(path)
        page.wait_for_selector(ready)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
