"""The dashboard page: questions, topics, what wasn't covered, satisfaction and latency, over time."""

from __future__ import annotations

from html import escape
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from assistant.advisor import Advisor
from assistant.api.access import requires
from assistant.review.stats import Stats, as_csv, statistics
from assistant.schema import Language
from ui.calculations import chart_html
from ui.charts import Figure
from ui.layout import heading, html
from ui.review import thumb, topic_label
from ui.visitor import language
from ui.words import word

PERIODS = (7, 30, 90, 365)
MAX_TOPICS = 12
Days = Annotated[int, Query(ge=1, le=3660)]


def build() -> None:
    """The page; its content is fetched by the page's script."""
    heading("nav_dashboard", "dashboard")
    html('<div class="page" data-load="/ui/dashboard"></div>', elem_id="dashboard")


def dashboard_routes(advisor: Advisor) -> APIRouter:
    """Routes over one advisor's journal, for those who may change documents: it holds what others asked."""
    router = APIRouter(prefix="/ui/dashboard", dependencies=[requires("documents:write")])

    @router.get("", response_class=HTMLResponse)
    def page(request: Request, days: Days = 30) -> str:
        return page_html(statistics(advisor.conversations, days), days, language(request))

    @router.get("/days.csv")
    def days_csv(days: Days = 30) -> Response:
        headers = {"content-disposition": 'attachment; filename="questions.csv"'}
        text = as_csv(statistics(advisor.conversations, days))
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    return router


def page_html(stats: Stats, days: int, language: Language) -> str:
    """The page's content."""
    tabs = "".join(
        f'<a href="#dashboard" data-fragment="/ui/dashboard?days={one}" data-into="#dashboard .page"'
        f"{' aria-current=true' if one == days else ''}>{word('last_days', language).format(n=one)}</a>"
        for one in PERIODS
    )
    head = (
        f'<h1>{word("nav_dashboard", language)}</h1><p class="lead">{word("dashboard_lead", language)}</p>'
        f'<nav class="tabs" aria-label="{word("period", language)}">{tabs}</nav>'
    )
    if not stats.questions:
        return f'{head}<section><p class="empty">{word("no_questions", language)}</p></section>'
    charts = "".join(
        f"<section>{chart_html(chart, language, file=name)}</section>"
        for name, chart in (("questions", _questions(stats, language)), ("latency", _latency(stats, language)))
    )
    return (
        f"{head}{_tiles(stats, language)}<div class=columns>{charts}</div><div class=columns>"
        f"<section>{chart_html(_topics(stats, language), language, file='topics')}</section>"
        f"{_uncovered(stats, language)}</div>"
        f'<p class="row"><a class="button" href="/ui/dashboard/days.csv?days={days}" download>'
        f"{word('export_csv', language)}</a></p>"
    )


def _tiles(stats: Stats, language: Language) -> str:
    answered = stats.by_status.get("answered", 0) / stats.questions
    uncovered = stats.by_status.get("not_covered", 0) / stats.questions
    thumbs = stats.satisfaction
    latency = stats.latency_ms
    rated = f"{thumb('up', language)} {thumbs.up} {thumb('down', language)} {thumbs.down}"
    tiles = (
        ("questions", f"{stats.questions:,}", ""),
        ("answered", f"{answered:.0%}", f"{stats.by_status.get('answered', 0):,}"),
        ("not_covered", f"{uncovered:.0%}", f"{stats.by_status.get('not_covered', 0):,}"),
        ("satisfaction", "—" if thumbs.share is None else f"{thumbs.share:.0%}", rated),
        ("latency", "—" if latency is None else _milliseconds(latency.median),
         "" if latency is None else f"{word('p95', language)} {_milliseconds(latency.p95)}"),
    )  # fmt: skip
    shown = "".join(
        f"<div><dt>{word(key, language)}</dt><dd><b>{value}</b> <small>{note}</small></dd></div>"
        for key, value, note in tiles
    )
    return f'<section><dl class="tiles">{shown}</dl></section>'


def _milliseconds(value: float) -> str:
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms"


def _questions(stats: Stats, language: Language) -> Figure:
    """How each day's questions ended."""
    days = [day.day.isoformat() for day in stats.days]
    bars = [
        {"type": "bar", "name": word(status, language), "x": days, "y": [getattr(day, status) for day in stats.days],
         "hovertemplate": "%{x}<br>%{fullData.name}: %{y}<extra></extra>"}
        for status in ("answered", "not_covered", "needs_input", "refused")
        if stats.by_status.get(status)
    ]  # fmt: skip
    return _chart(bars, word("chart_questions", language), y=word("questions", language), barmode="stack", dates=True)


def _latency(stats: Stats, language: Language) -> Figure:
    """Median and 95th percentile of each day; days without questions are left out of the lines."""
    lines = [
        {"type": "scatter", "mode": "lines+markers", "name": word(key, language), "connectgaps": True,
         "x": [day.day.isoformat() for day in stats.days], "y": [getattr(day, field) for day in stats.days]}
        for key, field in (("median", "latency_median_ms"), ("p95", "latency_p95_ms"))
    ]  # fmt: skip
    return _chart(lines, word("chart_latency", language), y="ms", dates=True)


def _topics(stats: Stats, language: Language) -> Figure:
    """Questions by subject, those that weren't covered apart."""
    topics = stats.topics[:MAX_TOPICS][::-1]
    names = [topic_label(topic.topic, language) for topic in topics]
    bars = [
        {"type": "bar", "orientation": "h", "name": name, "y": names, "x": values,
         "hovertemplate": "%{y}<br>%{fullData.name}: %{x}<extra></extra>"}
        for name, values in (
            (word("covered", language), [topic.questions - topic.not_covered for topic in topics]),
            (word("not_covered", language), [topic.not_covered for topic in topics]),
        )
    ]  # fmt: skip
    chart = _chart(bars, word("chart_topics", language), barmode="stack")
    chart["layout"]["height"] = 170 + 28 * len(topics)
    return chart


def _chart(traces: list[Figure], title: str, *, y: str = "", barmode: str = "group", dates: bool = False) -> Figure:
    return {
        "data": traces,
        "layout": {
            "title": {"text": title},
            # Numbers, for the plotting library names months in English alone.
            "xaxis": {"automargin": True} | ({"tickformat": "%m-%d"} if dates else {}),
            "yaxis": {"title": {"text": y}, "automargin": True, "rangemode": "tozero"},
            "height": 320,
            "barmode": barmode,
            "showlegend": len(traces) > 1,
        },
    }


def _uncovered(stats: Stats, language: Language) -> str:
    title = word("uncovered_questions", language)
    if not stats.uncovered:
        return f'<section><h2>{title}</h2><p class="empty">{word("all_covered", language)}</p></section>'
    head = "".join(f'<th scope="col">{word(key, language)}</th>' for key in ("question", "asked_times", "last_asked"))
    rows = "".join(
        f'<tr><td class="title">{escape(one.question[:300])}</td><td>{one.asked}</td>'
        f'<td class="date">{one.last:%Y-%m-%d}</td></tr>'
        for one in stats.uncovered
    )
    return (
        f'<section><h2>{title}</h2><div class="scroll" tabindex="0" role="region" aria-label="{title}"><table>'
        f'<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div><p><a href="/review">'
        f"{word('nav_review', language)}</a></p></section>"
    )
