"""A proxy that answers nothing and writes down every host that somebody wanted to reach."""

from __future__ import annotations

import socket
import threading


class Outside:
    """Chromium goes directly to loopback addresses and through the proxy to everything else; so do Python's clients."""

    def __init__(self) -> None:
        self.wanted: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                try:
                    line = connection.recv(4096).split(b"\r\n", 1)[0].decode("latin-1")
                    connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
                except OSError:
                    line = "unreadable"
                self.wanted.append(line)
