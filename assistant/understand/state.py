"""What a conversation has fixed so far: it travels in `Answer.state` and is all that a later turn needs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_UNDO = 8
MAX_SUBJECT_CHARACTERS = 400


class Slot(BaseModel):
    """One argument that somebody stated, in the argument's own unit."""

    model_config = ConfigDict(frozen=True)

    value: Any
    turn: int


class Call(BaseModel):
    """A calculation with the arguments that were stated for it; defaults are not kept, they are taken anew."""

    model_config = ConfigDict(frozen=True)

    tool: str
    slots: dict[str, Slot] = {}

    def values(self) -> dict[str, Any]:
        """Argument name -> value."""
        return {name: slot.value for name, slot in self.slots.items()}


class DialogueState(BaseModel):
    """The state after a turn."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    turn: int = 0
    subject: str = Field(default="", max_length=MAX_SUBJECT_CHARACTERS)
    """The last question that stood on its own: what an elliptic follow-up is about."""
    calls: list[Call] = []
    """Of the last turn that calculated."""
    awaiting: list[str] = []
    """Arguments that the last answer asked for."""
    undo: list[list[Call]] = Field(default=[], max_length=MAX_UNDO)
    """Earlier `calls`, newest last."""

    def facts(self) -> dict[str, Slot]:
        """Every stated argument by name, the newest where two calculations hold one."""
        facts: dict[str, Slot] = {}
        for call in self.calls:
            for name, slot in call.slots.items():
                if name not in facts or slot.turn >= facts[name].turn:
                    facts[name] = slot
        return facts
