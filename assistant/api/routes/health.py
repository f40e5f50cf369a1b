"""Probes and the version: open to everybody, and silent about what is indexed."""

from __future__ import annotations

import logging
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from assistant import __version__
from assistant.api.problems import PROBLEMS, Refused
from assistant.api.service import ServiceOf

router = APIRouter(prefix="/v1", tags=["service"], responses={code: PROBLEMS[code] for code in (405, 429, 500, 503)})
_LOG = logging.getLogger(__name__)


class Health(BaseModel):
    """The process runs."""

    status: Literal["ok"] = "ok"
    version: str = __version__


class Readiness(BaseModel):
    """Questions are answered."""

    status: Literal["ready"] = "ready"


class Version(BaseModel):
    """What answers here."""

    name: str = "cloud-training-advisor"
    version: str = __version__
    api: Literal["v1"] = "v1"


@router.get("/health", summary="Whether the process runs")
def health() -> Health:
    """Always `ok`; it does not look at the index."""
    return Health()


@router.get("/readiness", summary="Whether questions can be answered")
def readiness(service: ServiceOf) -> Readiness:
    """200 once the index is open, 503 before and whenever it can't be used."""
    reason = service.why_not_ready
    if reason is not None:
        _LOG.warning("Not ready: %s", reason)
        detail = "Questions can't be answered yet; the server's log says why."
        raise Refused(503, "not_ready", detail, headers={"retry-after": "1"})
    return Readiness()


@router.get("/version", summary="The version")
def version() -> Version:
    """The program's and the API's."""
    return Version()
