"""The audit log, for admins."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from assistant.api.access import Caller, requires
from assistant.api.access.audit import AuditEntry
from assistant.api.pages import Cursor, Limit, Page, decode_cursor, encode_cursor
from assistant.api.problems import PROBLEMS
from assistant.api.service import ServiceOf

router = APIRouter(prefix="/v1/audit", tags=["service"], responses=PROBLEMS)


@router.get("", summary="Read the audit log")
def entries(
    service: ServiceOf,
    _caller: Annotated[Caller, requires("admin")],
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AuditEntry]:
    """Who asked, uploaded, deleted or changed what, newest first; never what was asked."""
    before = decode_cursor(cursor, 1)[0] if cursor is not None else None
    found = service.audit.page(limit + 1, before)
    return Page(items=found[:limit], next_cursor=encode_cursor(found[limit - 1].id) if len(found) > limit else None)
