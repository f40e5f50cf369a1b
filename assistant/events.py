"""What `Advisor.stream` yields while it works: the same steps as the final Answer's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assistant.schema import Answer

Stage = Literal["understanding", "searching", "calculating", "writing", "checking"]


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A step of the work has begun."""

    stage: Stage


@dataclass(frozen=True, slots=True)
class TextReleased:
    """Checked text, to be appended to what was released before."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The last event: the whole answer. Its `text` is what the released pieces add up to."""

    answer: Answer


Event = StageStarted | TextReleased | Answered
