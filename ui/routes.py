"""The page's own requests: fragments of HTML for the chat's history, sources, documents and calculations."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, Field

from assistant.advisor import Advisor
from assistant.api.access import audited
from assistant.errors import ConversationNotFound
from ui.calculations import calculate
from ui.calculators import calculators_html, compare_html
from ui.conversation import conversation_html, history_html, markdown_export, welcome_html
from ui.prices import Prices
from ui.sources import document_html, empty_panel, panel_html
from ui.visitor import caller, language, owner

HEADER = "x-advisor"
"""Sent with every request that changes something: another site's page can't send it without being asked first."""
MAX_REASON = 2000
ALL = 1_000_000


def from_own_page(request: Request) -> None:
    """Refuse a change that doesn't come from the page itself."""
    if HEADER not in request.headers:
        raise HTTPException(403, f"The header {HEADER} is missing.")


OwnPage = Depends(from_own_page)


class Rated(BaseModel):
    """A thumb and why."""

    conversation: str
    answer: str
    rating: Literal["up", "down"]
    reason: str = Field(default="", max_length=MAX_REASON)


class Renamed(BaseModel):
    """A new title."""

    title: str = Field(min_length=1, max_length=200)


class Filled(BaseModel):
    """What a form holds."""

    inputs: dict[str, Any]


class Scenarios(BaseModel):
    """Inputs of several runs of one calculator."""

    scenarios: list[dict[str, Any]] = Field(max_length=4)


def chat_routes(advisor: Advisor) -> APIRouter:
    """History, sources, feedback and export."""
    router = APIRouter(prefix="/ui")

    @router.get("/conversation", response_class=HTMLResponse)
    def conversation(request: Request, c: str = "") -> str:
        spoken = language(request)
        try:
            answers = advisor.conversations.answers(c, owner(request)) if c else []
        except ConversationNotFound:
            answers = []
        return conversation_html(answers, spoken) if answers else welcome_html(spoken)

    @router.get("/history", response_class=HTMLResponse)
    def history(request: Request, c: str = "") -> str:
        return history_html(advisor.conversations.summaries(owner(request)), c, language(request))

    @router.get("/panel", response_class=HTMLResponse)
    def panel(request: Request, c: str = "", answer: str = "") -> str:
        spoken = language(request)
        try:
            answers = advisor.conversations.answers(c, owner(request)) if c else []
        except ConversationNotFound:
            answers = []
        shown = next((one for one in answers if one.id == answer), answers[-1] if answers else None)
        if shown is None:
            return empty_panel(spoken)
        source_text = advisor.source_text(c, caller(request).groups)
        return f'<div data-answer="{shown.id}">{panel_html(shown, source_text, spoken)}</div>'

    @router.get("/documents/{document_id}", response_class=HTMLResponse)
    def document(request: Request, document_id: str, start: int = 0, end: int = 0, c: str = "") -> str:
        store, groups = advisor.store, caller(request).groups
        attached = advisor.attachments.store(c) if advisor.attachments.exists(c, owner(request)) else None
        if attached is not None and any(one.document_id == document_id for one in attached.documents()):
            store, groups = attached, None  # it is the asker's own
        found, text = store.document(document_id, groups), store.source_text(document_id, groups)
        return document_html(found.title, found.location, text, start, end, language(request))

    @router.get("/conversations/{conversation_id}/export")
    def export(request: Request, conversation_id: str) -> Response:
        answers = advisor.conversations.answers(conversation_id, owner(request))
        text = markdown_export(answers[0].question, answers, language(request))
        headers = {"content-disposition": f'attachment; filename="conversation-{conversation_id[:8]}.md"'}
        return Response(text, media_type="text/markdown; charset=utf-8", headers=headers)

    @router.patch("/conversations/{conversation_id}", dependencies=[OwnPage, audited("conversation.rename")])
    def rename(request: Request, conversation_id: str, renamed: Renamed) -> dict[str, str]:
        advisor.conversations.rename(conversation_id, renamed.title, owner(request))
        return {"title": renamed.title}

    @router.delete("/conversations/{conversation_id}", dependencies=[OwnPage, audited("conversation.delete")])
    def delete(request: Request, conversation_id: str) -> dict[str, int]:
        advisor.conversations.delete(conversation_id, owner(request))
        advisor.attachments.delete(conversation_id)
        return {"deleted": 1}

    @router.delete("/conversations", dependencies=[OwnPage, audited("conversation.delete")])
    def delete_all(request: Request) -> dict[str, int]:
        who = owner(request)
        for summary in advisor.conversations.summaries(who, limit=ALL):
            advisor.attachments.delete(summary.id)
        return {"deleted": advisor.conversations.delete_all(who)}

    @router.post("/feedback", dependencies=[OwnPage, audited("feedback")])
    def feedback(request: Request, rated: Rated) -> dict[str, str]:
        who = owner(request)
        answer = advisor.conversations.answer(rated.conversation, rated.answer, who)
        advisor.rate(answer, rated.rating, rated.reason, who)
        return {"rating": rated.rating}

    return router


def plotly_script() -> Response:
    """The plotting library, from its Python package: nothing is fetched from elsewhere."""
    from plotly.offline import get_plotlyjs

    return Response(
        get_plotlyjs(), media_type="text/javascript", headers={"cache-control": "public, max-age=86400, immutable"}
    )


def calculator_routes(prices: Prices) -> APIRouter:
    """Forms and their results, with the prices of whoever asks."""
    router = APIRouter(prefix="/ui/calculators")

    @router.get("", response_class=HTMLResponse)
    def calculators(request: Request, tool: str = "", inputs: str = "") -> str:
        who = owner(request)
        with prices.of(who):
            return calculators_html(tool, inputs, prices.in_use(who), language(request))

    @router.post("/{name}", dependencies=[OwnPage])
    def run(request: Request, name: str, filled: Filled) -> dict[str, Any]:
        with prices.of(owner(request)):
            return calculate(name, filled.inputs, language(request))

    @router.post("/{name}/compare", dependencies=[OwnPage], response_class=HTMLResponse)
    def compare(request: Request, name: str, scenarios: Scenarios) -> str:
        with prices.of(owner(request)):
            return compare_html(name, scenarios.scenarios, language(request))

    return router
