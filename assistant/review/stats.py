"""How the assistant does: questions, topics, what wasn't covered, satisfaction and latency, over time."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from statistics import quantiles
from typing import TypeVar

from pydantic import BaseModel

from assistant.conversations import Conversations, Feedback
from assistant.review.items import folded
from assistant.review.journal import Entry, Journal
from assistant.schema import Status

MAX_UNCOVERED = 20
K = TypeVar("K", bound=str)


class Latency(BaseModel):
    """Milliseconds from question to answer."""

    median: float
    p95: float


class Satisfaction(BaseModel):
    """Thumbs."""

    up: int
    down: int
    share: float | None
    """Of thumbs that are up; None without any."""


class Day(BaseModel):
    """One day, in UTC."""

    day: date
    questions: int
    answered: int
    not_covered: int
    needs_input: int
    refused: int
    up: int
    down: int
    latency_median_ms: float | None
    latency_p95_ms: float | None


class Topic(BaseModel):
    """Questions on one subject."""

    topic: str
    questions: int
    not_covered: int
    down: int


class Uncovered(BaseModel):
    """A question that the documents don't answer."""

    question: str
    asked: int
    last: datetime


class Stats(BaseModel):
    """All of it, for the days from `first` to `last`."""

    first: date
    last: date
    questions: int
    by_status: dict[Status, int]
    by_language: dict[str, int]
    by_surface: dict[str, int]
    satisfaction: Satisfaction
    latency_ms: Latency | None
    days: list[Day]
    topics: list[Topic]
    uncovered: list[Uncovered]


def statistics(conversations: Conversations, days: int, today: date | None = None) -> Stats:
    """What the journal and the thumbs of the last days say; days without questions are there too."""
    last = today or datetime.now(UTC).date()
    first = last - timedelta(days=days - 1)
    since = datetime.combine(first, datetime.min.time(), UTC)
    entries = [e for e in Journal(conversations, "none").entries(since) if e.created.date() <= last]
    rated = [one for one in conversations.feedback() if first <= _day(one.created) <= last]
    up, down = (sum(one.rating == rating for one in rated) for rating in ("up", "down"))
    topic_of = {entry.answer_id: entry.topic for entry in entries}
    disliked = Counter(topic_of.get(one.answer.id, "") for one in rated if one.rating == "down")
    asked = Counter(entry.topic for entry in entries)
    missed = Counter(entry.topic for entry in entries if entry.status == "not_covered")
    return Stats(
        first=first,
        last=last,
        questions=len(entries),
        by_status=_counts(entry.status for entry in entries),
        by_language=_counts(entry.language for entry in entries),
        by_surface=_counts(entry.surface for entry in entries),
        satisfaction=Satisfaction(up=up, down=down, share=up / (up + down) if rated else None),
        latency_ms=_latency([entry.milliseconds for entry in entries]),
        days=[_one_day(first + timedelta(days=number), entries, rated) for number in range(days)],
        topics=[
            Topic(topic=topic, questions=count, not_covered=missed[topic], down=disliked[topic])
            for topic, count in asked.most_common()
        ],
        uncovered=_uncovered(entries),
    )


def as_csv(stats: Stats) -> str:
    """One line a day, with a header."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(Day.model_fields), lineterminator="\n")
    writer.writeheader()
    for day in stats.days:
        writer.writerow(day.model_dump(mode="json"))
    return file.getvalue()


def _one_day(day: date, entries: Sequence[Entry], rated: Sequence[Feedback]) -> Day:
    of_day = [entry for entry in entries if entry.created.date() == day]
    thumbs = [one.rating for one in rated if _day(one.created) == day]
    status = Counter(entry.status for entry in of_day)
    latency = _latency([entry.milliseconds for entry in of_day])
    return Day(
        day=day,
        questions=len(of_day),
        answered=status["answered"],
        not_covered=status["not_covered"],
        needs_input=status["needs_input"],
        refused=status["refused"],
        up=thumbs.count("up"),
        down=thumbs.count("down"),
        latency_median_ms=latency.median if latency else None,
        latency_p95_ms=latency.p95 if latency else None,
    )


def _latency(milliseconds: Sequence[float]) -> Latency | None:
    if not milliseconds:
        return None
    cuts = quantiles(milliseconds, n=20, method="inclusive") if len(milliseconds) > 1 else [milliseconds[0]] * 19
    return Latency(median=round(cuts[9], 1), p95=round(cuts[18], 1))


def _uncovered(entries: Sequence[Entry]) -> list[Uncovered]:
    groups: dict[str, Uncovered] = {}
    for entry in entries:
        if entry.status == "not_covered" and entry.question:
            known = groups.get(folded(entry.question))
            asked = known.asked + 1 if known else 1
            groups[folded(entry.question)] = Uncovered(question=entry.question, asked=asked, last=entry.created)
    return sorted(groups.values(), key=lambda one: (one.asked, one.last), reverse=True)[:MAX_UNCOVERED]


def _counts(values: Iterable[K]) -> dict[K, int]:
    return dict(Counter(values).most_common())


def _day(moment: datetime) -> date:
    return moment.date()
