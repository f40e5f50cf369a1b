from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from assistant.conversations import Conversations
from assistant.review.journal import ENTRIES, TABLES, Journal
from assistant.review.stats import as_csv, statistics
from assistant.schema import Answer, Timings

TODAY = datetime.now(UTC).date()


@pytest.fixture
def conversations(tmp_path: Path) -> Iterator[Conversations]:
    stored = Conversations(f"sqlite:///{tmp_path / 'conversations.sqlite3'}")
    yield stored
    stored.close()


def record(conversations: Conversations, number: int, status: str, *, days_ago: int = 0, topic: str = "cost") -> Answer:
    answer = Answer.model_validate(
        {
            "id": f"a{number}", "conversation_id": f"c{number}", "question": f"Question {number % 3}?", "language": "en",
            "status": status, "text": "t", "timings_ms": Timings(total=number * 10),
        }
    )  # fmt: skip
    Journal(conversations, "full").record(answer, topic, "slack:T1")
    moved = datetime.now(UTC) - timedelta(days=days_ago)
    with conversations.begin(TABLES) as connection:
        connection.execute(update(ENTRIES).where(ENTRIES.c.answer_id == answer.id).values(created=moved))
    return answer


def test_counts_topics_and_latency_over_time(conversations: Conversations) -> None:
    for number in range(1, 11):
        record(conversations, number, "answered" if number <= 6 else "not_covered", days_ago=number % 2)
    record(conversations, 11, "answered", days_ago=2, topic="")
    record(conversations, 99, "answered", days_ago=40)
    liked = record(conversations, 12, "answered")
    conversations.rate(liked, "up", "", {}, "a")
    conversations.rate(liked, "down", "", {}, "b")
    stats = statistics(conversations, 7)
    assert (stats.questions, len(stats.days), stats.last) == (12, 7, TODAY)
    assert stats.by_status == {"answered": 8, "not_covered": 4} and stats.by_surface == {"slack": 12}
    assert (stats.satisfaction.up, stats.satisfaction.down, stats.satisfaction.share) == (1, 1, 0.5)
    assert (
        stats.latency_ms is not None and stats.latency_ms.median == 65 and stats.latency_ms.p95 == pytest.approx(114.5)
    )
    assert [(t.topic, t.questions, t.not_covered, t.down) for t in stats.topics] == [("cost", 11, 4, 1), ("", 1, 0, 0)]
    assert stats.days[-1].questions == 6 and stats.days[-2].not_covered == 2 and stats.days[-4].questions == 0
    assert [(u.question, u.asked) for u in stats.uncovered] == [
        ("Question 1?", 2),
        ("Question 2?", 1),
        ("Question 0?", 1),
    ]
    rows = list(csv.DictReader(io.StringIO(as_csv(stats))))
    assert len(rows) == 7 and rows[-1]["day"] == TODAY.isoformat() and rows[-1]["up"] == "1"
    assert sum(int(row["questions"]) for row in rows) == stats.questions


def test_nothing_yet(conversations: Conversations) -> None:
    stats = statistics(conversations, 3)
    assert stats.questions == 0 and stats.latency_ms is None and stats.satisfaction.share is None
    assert as_csv(stats).count("\n") == 4
