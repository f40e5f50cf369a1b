"""The review page: questions without an answer or with a thumb down; answering one with a document; export."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from assistant.advisor import Advisor
from assistant.api.access import requires
from assistant.conversations import Rating
from assistant.review.answering import Outcome, answer_item
from assistant.review.items import Item, State
from assistant.review.suite import suite
from assistant.schema import Language
from assistant.tools.registry import NAMES, get_tool
from ui.icons import icon
from ui.layout import heading, html
from ui.markdown import answer_html
from ui.routes import OwnPage
from ui.visitor import language
from ui.words import word

MAX_DOCUMENT = 200_000
Shown = Literal["open", "answered", "done", "all"]
_SHOWN: tuple[Shown, ...] = ("open", "answered", "done", "all")


class Written(BaseModel):
    """A document that answers a question."""

    text: str = Field(min_length=1, max_length=MAX_DOCUMENT)
    title: str = Field(default="", max_length=200)


class Moved(BaseModel):
    """Where an item goes."""

    state: State


def build() -> None:
    """The page; its content is fetched by the page's script."""
    heading("nav_review", "review")
    html('<div class="page" data-load="/ui/review"></div>', elem_id="review")


def review_routes(advisor: Advisor) -> APIRouter:
    """Routes over one advisor's review list, for those who may change documents: it holds what others asked."""
    router = APIRouter(
        prefix="/ui/review", default_response_class=HTMLResponse, dependencies=[requires("documents:write")]
    )

    @router.get("")
    def page(request: Request) -> str:
        return page_html(advisor.reviews.items(), language(request))

    @router.get("/list")
    def listed(request: Request, state: Shown = "open") -> str:
        return list_html(advisor.reviews.items(), state, language(request))

    @router.get("/suite.jsonl")
    def exported() -> Response:
        headers = {"content-disposition": 'attachment; filename="review.jsonl"'}
        return Response(suite(advisor.reviews.items()), media_type="application/x-ndjson", headers=headers)

    @router.get("/items/{item_id}")
    def item(request: Request, item_id: str) -> str:
        return item_html(advisor.reviews.find(item_id), language(request))

    @router.post("/items/{item_id}/answer", dependencies=[OwnPage])
    def answer(request: Request, item_id: str, written: Written) -> str:
        outcome = answer_item(advisor, advisor.reviews.find(item_id), text=written.text, title=written.title)
        return item_html(outcome.item, language(request), outcome)

    @router.post("/items/{item_id}/state", dependencies=[OwnPage])
    def move(request: Request, item_id: str, moved: Moved) -> str:
        advisor.reviews.set_state(advisor.reviews.find(item_id), moved.state)
        return item_html(advisor.reviews.find(item_id), language(request))

    return router


def page_html(items: Sequence[Item], language: Language) -> str:
    """The page's content: the open questions, and a place for the one that is opened."""
    export = (
        f'<p class="row"><a class="button" href="/ui/review/suite.jsonl" download>'
        f"{word('export_suite', language)}</a></p>"
        if any(item.after is not None and item.after.status == "answered" for item in items)
        else ""
    )
    return (
        f'<h1>{word("nav_review", language)}</h1><p class="lead">{word("review_lead", language)}</p>'
        f'<section><div id="review-list">{list_html(items, "open", language)}</div>{export}</section>'
        f'<section id="review-item" aria-live="polite"></section>'
    )


def list_html(items: Sequence[Item], state: Shown, language: Language) -> str:
    """The questions in one state, with the way to the other states."""
    tabs = "".join(
        f'<a href="#review" data-fragment="/ui/review/list?state={one}" data-into="#review-list"'
        f"{' aria-current=true' if one == state else ''}>{word(f'state_{one}', language)} "
        f"({sum(one in ('all', item.state) for item in items)})</a>"
        for one in _SHOWN
    )
    shown = [item for item in items if state in ("all", item.state)]
    columns = ("question", "why", "topic", "asked_times", "last_asked", "state")
    head = "".join(f'<th scope="col">{word(key, language)}</th>' for key in columns)
    rows = "".join(_row_html(item, language) for item in shown)
    table = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{word("nav_review", language)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        if shown
        else f'<p class="empty">{word("review_empty", language)}</p>'
    )
    return f'<nav class="tabs" data-state="{state}" aria-label="{word("state", language)}">{tabs}</nav>{table}'


def _row_html(item: Item, language: Language) -> str:
    return (
        f'<tr><td class="title"><a href="#review-item" data-fragment="/ui/review/items/{escape(item.id)}" '
        f'data-into="#review-item">{escape(item.question[:300])}</a></td><td class="short">{_why(item, language)}</td>'
        f'<td class="short">{escape(topic_label(item.topic, language))}</td><td>{item.asked}</td>'
        f'<td class="date">{item.last:%Y-%m-%d}</td><td class="short">{word(f"state_{item.state}", language)}</td></tr>'
    )


def item_html(item: Item, language: Language, outcome: Outcome | None = None) -> str:
    """One question: what was said, what is said with its document, and the form that answers it."""
    turns = "".join(f'<div class="question"><p>{escape(turn)}</p></div>' for turn in item.turns)
    reasons = "".join(f'<p class="missing">{thumb("down", language)} {escape(reason)}</p>' for reason in item.reasons)
    unchanged = (
        f'<p class="missing" role="status">{word("not_changed", language)}</p>'
        if outcome is not None and not outcome.changed
        else ""
    )
    after = (
        f'<div><h3>{word("after_answer", language)}</h3><div class="answer">'
        f'<div class="text">{answer_html(item.after.text, (), language)}</div></div>'
        f'<p class="note">{escape(item.file or "")}</p></div>'
        if item.after is not None
        else ""
    )
    return (
        f'<h2 tabindex="-1">{_why(item, language)} · {word(f"state_{item.state}", language)}</h2>{turns}{reasons}'
        f'<div class="columns"><div><h3>{word("before_answer", language)}</h3><div class="answer">'
        f'<div class="text">{answer_html(item.before, (), language)}</div></div></div>{after}</div>{unchanged}'
        f"{_form_html(item, language)}{_state_html(item, language)}"
    )


def _form_html(item: Item, language: Language) -> str:
    if item.state == "done":
        return ""
    return (
        f'<form class="write" data-review="/ui/review/items/{escape(item.id)}/answer">'
        f'<label>{word("write_answer", language)}<textarea name="text" rows="6" required maxlength="{MAX_DOCUMENT}">'
        f"</textarea></label><label>{word('document_title', language)}"
        f'<input type="text" name="title" maxlength="200" placeholder="{escape(item.question[:200])}"></label>'
        f'<p><button type="submit" class="primary">{word("add_and_ask", language)}</button></p></form>'
    )


def _state_html(item: Item, language: Language) -> str:
    if item.state == "done":
        state = "answered" if item.after is not None and item.after.status == "answered" else "open"
        label = word("take_back", language)
    else:
        state, label = "done", word("mark_done", language)
    return (
        f'<form data-review="/ui/review/items/{escape(item.id)}/state"><input type="hidden" name="state" '
        f'value="{state}"><p class="actions"><button type="submit" class="button">{label}</button></p></form>'
    )


def thumb(rating: Rating, language: Language) -> str:
    """A thumb as a picture, for emoji aren't in every system's fonts."""
    return f'<span class="icon" role="img" aria-label="{word(rating, language)}">{icon(rating)}</span>'


def topic_label(topic: str, language: Language) -> str:
    """A topic as people call it."""
    if topic in NAMES:
        return str(get_tool(topic).title[language])
    return topic or word("other", language)


def _why(item: Item, language: Language) -> str:
    return word("thumbs_down" if item.kind == "down" else item.kind, language)
