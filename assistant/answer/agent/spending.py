"""What a chat model took, for one question and for a day, against the limits of the settings."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from assistant.answer.agent.failures import Failure, ModelFailed
from assistant.schema import Usage
from assistant.settings import Settings

_FILE = "model-usage.json"
_KEPT_DAYS = 40


@dataclass
class Spending:
    """Of one question. Safe to use from several threads."""

    settings: Settings
    started: float = field(default_factory=time.monotonic)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, input_tokens: int, output_tokens: int) -> None:
        """Count one call of the model."""
        with self._lock:
            self.input_tokens += input_tokens
            self.output_tokens += output_tokens

    @property
    def seconds_left(self) -> float:
        """Until the question's time is up; negative when it is."""
        return self.settings.model_max_seconds - (time.monotonic() - self.started)

    @property
    def cost(self) -> float | None:
        """USD by the prices of the settings; None where they aren't set."""
        return cost_of(self.settings, self.input_tokens, self.output_tokens)

    def check(self) -> None:
        """Refuse another call.

        Raises:
            ModelFailed: a limit of the question is reached.
        """
        if self.seconds_left <= 0:
            raise ModelFailed(Failure("seconds"))
        if self.input_tokens + self.output_tokens >= self.settings.model_max_tokens:
            raise ModelFailed(Failure("tokens"))
        cost, limit = self.cost, self.settings.model_max_cost
        if cost is not None and limit is not None and cost >= limit:
            raise ModelFailed(Failure("cost"))

    def usage(self) -> Usage | None:
        """For `Answer.usage`; None when the model was never called."""
        if not self.calls:
            return None
        cost = self.cost
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost=None if cost is None else round(cost, 6),
        )


def cost_of(settings: Settings, input_tokens: int, output_tokens: int) -> float | None:
    """USD for tokens read and written; None where the prices aren't set."""
    if settings.model_input_price is None or settings.model_output_price is None:
        return None
    return (input_tokens * settings.model_input_price + output_tokens * settings.model_output_price) / 1e6


class Days:
    """Tokens by day (UTC), in the data folder, so that limits hold across processes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._path = settings.data_dir / _FILE

    def check(self) -> None:
        """Refuse a question.

        Raises:
            ModelFailed: a limit of the day is reached.
        """
        most_tokens, most_cost = self._settings.model_max_tokens_per_day, self._settings.model_max_cost_per_day
        if most_tokens is None and most_cost is None:
            return
        read, written = _read(self._path).get(_today(), (0, 0))
        if most_tokens is not None and read + written >= most_tokens:
            raise ModelFailed(Failure("day", "ADVISOR_MODEL_MAX_TOKENS_PER_DAY"))
        cost = cost_of(self._settings, read, written)
        if cost is not None and most_cost is not None and cost >= most_cost:
            raise ModelFailed(Failure("day", "ADVISOR_MODEL_MAX_COST_PER_DAY"))

    def add(self, spending: Spending) -> None:
        """Count what a question took."""
        if not spending.input_tokens + spending.output_tokens:
            return
        from filelock import FileLock

        with FileLock(self._path.with_suffix(".lock")):
            days = _read(self._path)
            read, written = days.get(_today(), (0, 0))
            days[_today()] = (read + spending.input_tokens, written + spending.output_tokens)
            kept = dict(sorted(days.items())[-_KEPT_DAYS:])
            temporary = self._path.with_suffix(".tmp")
            temporary.write_text(json.dumps(kept), "utf-8")
            temporary.replace(self._path)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _read(path: Path) -> dict[str, tuple[int, int]]:
    try:
        stored = json.loads(path.read_text("utf-8"))
        return {str(day): (int(read), int(written)) for day, (read, written) in stored.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
