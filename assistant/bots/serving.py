"""The HTTP server that platforms call, for channels that don't open a connection themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI


def serve(app: FastAPI, host: str, port: int) -> None:
    """Serve until the process is ended."""
    import uvicorn

    uvicorn.run(app, host=host, port=port, log_level="warning")
