"""What a target is: it answers conversations, and says what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from assistant.schema import Answer


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage that the target found, for retrieval metrics."""

    names: tuple[str, ...]
    """Document id, title, location."""
    section: str


class Target(Protocol):
    """A system that answers conversations. Called from several threads."""

    def prepare(self, documents: Sequence[Path] | None) -> None:
        """Index what the next questions are about, so that its time isn't theirs.

        Raises:
            TargetError: the documents can't be indexed, or this target takes none.
        """
        ...

    def ask(self, turns: Sequence[str], documents: Sequence[Path] | None) -> Answer:
        """The answer to the last turn.

        Args:
            turns: the questions of one new conversation.
            documents: files to index instead of what the target knows.

        Raises:
            TargetError: the system can't answer at all.
        """
        ...

    def ranked(self, turns: Sequence[str], documents: Sequence[Path] | None, k: int) -> list[Ranked] | None:
        """The k best passages for the last turn, best first; None when the target shows none."""
        ...

    def describe(self) -> dict[str, Any]:
        """What must be equal for a run to be repeated: kind, version, settings, index."""
        ...
