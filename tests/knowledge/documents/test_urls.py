"""Web addresses, read from a real server on this machine."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from knowledge.documents import load_url
from knowledge.documents.web import _is_public
from knowledge.errors import DocumentError
from knowledge.limits import Limits

PAGE = (
    "<html><head><title>Spot prices</title>"
    "<meta property='article:published_time' content='2026-05-06T07:08:09Z'></head>"
    "<body><nav>" + "<a href='/x'>link</a> " * 30 + "</nav><p>Spot machines cost 60% less.</p></body></html>"
)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path == "/page":
            self.answer(PAGE.encode(), "text/html; charset=utf-8")
        elif path == "/gbk":
            self.answer("<p>抢占式实例便宜六成。</p>".encode("gbk"), "text/html; charset=gbk")
        elif path == "/notes.md":
            self.answer("# 说明\n\n价格以人民币计。\n".encode(), "application/octet-stream")
        elif path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", path.removeprefix("/to/").replace("|", "/"))
            self.end_headers()
        elif path == "/image":
            self.answer(b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "image/png")
        elif path == "/bomb":
            self.answer(gzip.compress(b"a " * 20_000_000), "text/plain", encoding="gzip")
        elif path == "/slow":
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b"word ")
                    self.wfile.flush()
                    time.sleep(0.1)
            except OSError:
                return
        else:
            self.send_error(404)

    def answer(self, body: bytes, kind: str, encoding: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{web.server_address[1]}"
    web.shutdown()
    web.server_close()
    thread.join()


def test_a_page_with_its_title_date_and_address(server: str) -> None:
    document = load_url(f"{server}/to/|page", allow_private=True)
    assert (document.text, document.title) == ("Spot machines cost 60% less.", "Spot prices")
    assert dict(document.metadata) == {"date": "2026-05-06", "url": f"{server}/page"}


def test_charset_of_the_server_and_format_by_content(server: str) -> None:
    page = load_url(f"{server}/gbk", allow_private=True)
    assert (page.text, page.encoding) == ("抢占式实例便宜六成。", "gbk")
    assert load_url(f"{server}/notes.md?v=1", allow_private=True).media_type == "text/markdown"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/missing", "404"),
        ("/image", "image/png"),
        ("/to/|to||to", "redirects|404"),
        ("/to/file:|||etc|passwd", "only http and https"),
    ],
)
def test_answers_that_are_no_document_are_refused(server: str, path: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        load_url(server + path, allow_private=True)


def test_a_circle_of_redirects_ends(server: str) -> None:
    class Circle(Handler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", "/again")
            self.end_headers()

    web = ThreadingHTTPServer(("127.0.0.1", 0), Circle)
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.raises(DocumentError, match="redirects more than"):
            load_url(f"http://127.0.0.1:{web.server_address[1]}/", allow_private=True)
    finally:
        web.shutdown()
        web.server_close()
        thread.join()


def test_size_is_checked_after_decompression_and_time_is_bounded(server: str) -> None:
    with pytest.raises(DocumentError, match="ADVISOR_MAX_BYTES"):
        load_url(f"{server}/bomb", Limits(max_bytes=1_000_000), allow_private=True)
    started = time.monotonic()
    with pytest.raises(DocumentError, match="ADVISOR_MAX_SECONDS"):
        load_url(f"{server}/slow", Limits(max_seconds=1), allow_private=True)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_the_own_machine_is_not_read(server: str, host: str) -> None:
    port = server.rpartition(":")[2]
    with pytest.raises(DocumentError, match=r"not read|can't be fetched"):
        load_url(f"http://{host}:{port}/page")


def test_a_redirect_into_the_own_network_is_not_followed(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first address counts as public here, the one it leads to doesn't."""
    port = int(server.rpartition(":")[2])
    real = socket.getaddrinfo

    def answers(host: str, *arguments: object, **options: object) -> list[object]:
        return real("127.0.0.1" if host == "public.example" else host, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    asked: list[str] = []

    def public(address: str) -> bool:
        asked.append(address)
        return len(asked) == 1

    monkeypatch.setattr("knowledge.documents.web._is_public", public)
    with pytest.raises(DocumentError, match="not read"):
        load_url(f"http://public.example:{port}/to/http:||localhost:{port}|page")
    assert len(asked) == 2


def test_a_second_dns_answer_can_not_lead_elsewhere(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is resolved once a connection; the answer that was checked is connected to."""
    port = int(server.rpartition(":")[2])
    answers: list[str] = []

    def changing(host: str, *arguments: object, **options: object) -> list[object]:
        answers.append(host)
        address = "93.184.215.14" if len(answers) > 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    monkeypatch.setattr("knowledge.documents.web._is_public", lambda address: True)
    connected: list[object] = []
    real = socket.create_connection

    def connect(address: tuple[str, int], *arguments: object, **options: object) -> socket.socket:
        connected.append(address[0])
        monkeypatch.undo()
        return real(address, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "create_connection", connect)
    assert load_url(f"http://rebind.example:{port}/page").title == "Spot prices"
    assert (connected, answers) == (["127.0.0.1"], ["rebind.example"])


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.com/a", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("notaurl", "only http and https"),
        ("http://user:secret@example.com/", "password"),
        ("http://[::1", "valid address"),
        ("http://example.com:99999/", "valid address"),
    ],
)
def test_addresses_that_are_none_are_refused(url: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        load_url(url)


PRIVATE = (
    "10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 127.9.9.9 0.0.0.0 224.0.0.1"
    " ::1 fe80::1%eth0 fd00::1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:7f00:1::"
)


def test_public_addresses() -> None:
    assert _is_public("8.8.8.8") and _is_public("2606:4700::1111")
    assert [address for address in PRIVATE.split() if _is_public(address)] == []
