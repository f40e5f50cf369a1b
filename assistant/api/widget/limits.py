"""How much may be asked through the widget: counted a day in the database, so a restart or a second process forgets
nothing, by the signed visitor and session and by the address; a visitor's bursts are counted in this process."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from assistant.api.access.rate import Rate
from assistant.api.database import Database
from assistant.api.problems import Refused
from assistant.api.widget.settings import WidgetSettings
from assistant.api.widget.tokens import Visitor


class Limits:
    """Counts questions. Safe to share between threads."""

    def __init__(self, database: Database, settings: WidgetSettings) -> None:
        self._database = database
        self._settings = settings
        self._bursts = Rate(settings.visitor_rate)

    def count(self, visitor: Visitor, address: str) -> None:
        """Count a question of a visitor.

        Raises:
            Refused: 429; it is one too many of the visitor, of the token, of the address or of the day.
        """
        self._bursts.count(visitor.owner)
        settings = self._settings
        for who, most, name in (
            (f"session:{visitor.session}", settings.session_questions, "this session"),
            (visitor.owner, settings.visitor_questions, "one visitor"),
            (f"address:{address}", settings.address_questions, "one address"),
            ("all", settings.day_questions, "all visitors"),
        ):
            if self._counted(who) > most:
                raise _too_many(most, name)

    def _counted(self, who: str) -> int:
        day = datetime.now(UTC).date().isoformat()
        self._database.change(
            ("DELETE FROM widget_use WHERE day < :day", {"day": day}),
            (
                "INSERT INTO widget_use (day, who, questions) VALUES (:day, :who, 1) "
                "ON CONFLICT (day, who) DO UPDATE SET questions = widget_use.questions + 1",
                {"day": day, "who": who},
            ),
        )
        row = self._database.rows("SELECT questions FROM widget_use WHERE day = :day AND who = :who", day=day, who=who)
        return int(row[0]["questions"])


def _too_many(most: int, name: str) -> Refused:
    at = datetime.now(UTC)
    midnight = datetime(at.year, at.month, at.day, tzinfo=UTC) + timedelta(days=1)
    wait = math.ceil((midnight - at).total_seconds())
    return Refused(
        429, "day_limit", f"More than {most} questions of {name} today. Go on tomorrow.",
        headers={"retry-after": str(wait)},
    )  # fmt: skip
