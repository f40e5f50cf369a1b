"""Files attached to one conversation: added with a report of each, and listed above the question."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from assistant.advisor import Advisor
from assistant.conversations import new_conversation_id
from assistant.schema import Language
from ui.library_routes import Files, save_uploads
from ui.routes import OwnPage
from ui.visitor import language, owner
from ui.words import word


def attachment_routes(advisor: Advisor) -> APIRouter:
    """Routes over one advisor's attachments."""
    router = APIRouter(prefix="/ui/attachments")

    @router.get("", response_class=HTMLResponse)
    def attached(request: Request, c: str = "") -> str:
        return _list_html(_names(advisor, c, owner(request)), [], language(request))

    @router.post("", dependencies=[OwnPage])
    def attach(request: Request, files: Files, c: str = "") -> dict[str, str]:
        conversation, who, spoken = c or new_conversation_id(), owner(request), language(request)
        with tempfile.TemporaryDirectory() as folder:
            reports = advisor.attachments.add(conversation, who, save_uploads(files, Path(folder)))
        failed = [f"{Path(one.path).name}: {one.reason}" for one in reports if one.status == "failed"]
        return {
            "conversation": conversation,
            "html": _list_html(_names(advisor, conversation, who), failed, spoken),
        }

    return router


def _names(advisor: Advisor, conversation: str, who: str) -> list[str]:
    if not advisor.attachments.exists(conversation, who):
        return []
    store = advisor.attachments.store(conversation)
    return [Path(document.location).name for document in store.documents()] if store else []


def _list_html(names: Sequence[str], failed: Sequence[str], language: Language) -> str:
    chips = "".join(f'<span class="file">{escape(name)}</span>' for name in names)
    note = f'<span class="note">{word("attached", language)}</span>' if names else ""
    faults = "".join(f'<p class="error" role="alert">{escape(reason)}</p>' for reason in failed)
    return f"{note}{chips}{faults}"
