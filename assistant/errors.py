"""The errors of the assistant's own layer; those of the knowledge layer are re-exported."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.errors import AdvisorError, InvalidInput, NotFound

__all__ = ["AdvisorError", "ConversationNotFound", "InvalidField", "InvalidInput", "MissingInputs", "NotFound"]


class ConversationNotFound(AdvisorError):
    """No conversation with this id is stored here."""


class InvalidField(InvalidInput):
    """A calculator's argument is impossible: names the field, the accepted range and the nearest known name."""

    def __init__(self, field: str, message: str, *, accepted: str | None = None, nearest: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.accepted = accepted
        self.nearest = tuple(nearest)


class MissingInputs(InvalidInput):
    """A calculator needs more to go on; `fields` are names of its arguments, `question` asks for all at once.

    `table` (its first row is the header) and `note` say what is known already, over the usual cases.
    """

    def __init__(
        self, fields: Sequence[str], question: str, *, note: str = "", table: Sequence[Sequence[str]] = ()
    ) -> None:
        super().__init__(question)
        self.fields = tuple(fields)
        self.question = question
        self.note = note
        self.table = tuple(tuple(row) for row in table)
