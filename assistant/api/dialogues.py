"""What conversations have fixed, for clients that send the whole conversation with every question."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from assistant.advisor import Advisor
from assistant.events import Answered
from assistant.understand.state import DialogueState

REMEMBERED = 4096
"""States, some KB each; the least recently used one is forgotten."""
MAX_TURNS = 20
"""Earlier questions that are answered again where the state after them isn't remembered."""

Groups = frozenset[str] | None


class Dialogues:
    """Remembers the state after each turn by the questions so far; works it out again where it isn't known.

    A state follows from the questions alone, so whoever sends the same ones may share it, and nothing is lost when it
    is forgotten or another process is asked. Safe to share between threads.
    """

    def __init__(self, advisor: Advisor) -> None:
        self._advisor = advisor
        self._states: OrderedDict[str, DialogueState] = OrderedDict()
        self._lock = Lock()

    def state_after(self, questions: Sequence[str], groups: Groups) -> DialogueState:
        """The state after these questions, oldest first.

        Raises:
            InvalidInput: a question is empty or too long.
        """
        recent = list(questions[-MAX_TURNS:])
        known = len(recent)
        found: DialogueState | None = None
        while known and (found := self._remembered(recent[:known], groups)) is None:
            known -= 1
        state = found or DialogueState()
        for place in range(known, len(recent)):
            for event in self._advisor.reply(recent[place], state, groups):
                if isinstance(event, Answered):
                    state = DialogueState.model_validate(event.answer.state)
            self.remember(recent[: place + 1], groups, state)
        return state

    def remember(self, questions: Sequence[str], groups: Groups, state: DialogueState) -> None:
        """Keep the state after these questions."""
        with self._lock:
            self._states[_key(questions[-MAX_TURNS:], groups)] = state
            while len(self._states) > REMEMBERED:
                self._states.popitem(last=False)

    def _remembered(self, questions: Sequence[str], groups: Groups) -> DialogueState | None:
        key = _key(questions, groups)
        with self._lock:
            if key in self._states:
                self._states.move_to_end(key)
            return self._states.get(key)


def _key(questions: Sequence[str], groups: Groups) -> str:
    told = json.dumps([None if groups is None else sorted(groups), *questions])
    return hashlib.sha256(told.encode()).hexdigest()
