"""Runs the application on a socket: logs, and an end that lets answers finish."""

from __future__ import annotations

import gc

import uvicorn
from fastapi import FastAPI

from assistant.advisor import Advisor
from assistant.api import logs
from assistant.api.settings import ServiceSettings
from assistant.commands.schedule import scheduled

KEEP_ALIVE_SECONDS = 75
"""Longer than clients and proxies keep an idle connection, so that none asks on one that is just being closed."""


def run(app: FastAPI, advisor: Advisor, settings: ServiceSettings, host: str, port: int) -> None:
    """Serve until a signal ends it. Then no request is taken any more, and those being answered have
    `shutdown_seconds` to be finished."""
    logs.set_up(settings.log_level, with_content=settings.log_questions)
    advisor.observers.append(logs.answer_logger(with_content=settings.log_questions))
    gc.freeze()  # what is loaded by now stays; without it every full collection walks through all of it
    with scheduled(advisor, settings.reindex, settings.reindex_minutes):
        uvicorn.run(
            app,
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=settings.shutdown_seconds,
        )
