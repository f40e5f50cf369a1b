"""The status that an ASGI application answers with, for middleware that tells of it afterwards."""

from __future__ import annotations

from http import HTTPStatus

from starlette.types import Message, Send


class Watched:
    """A `send` that remembers the status that passes through it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int = HTTPStatus.INTERNAL_SERVER_ERROR
        """What the server answers where the application breaks off before it has answered."""

    async def __call__(self, message: Message) -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
