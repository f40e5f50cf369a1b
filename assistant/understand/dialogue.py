"""From a question and what earlier turns fixed to a plan: which calculations with which arguments, and what to search.

`resolve` needs no vector and says what to search for; `plan` takes what the vectors say of the message and its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assistant.schema import Language
from assistant.understand.choosing import (
    ADVICE,
    MAX_UNDERSPECIFIED_CHARACTERS,
    Asked,
    for_parts,
    for_whole,
    is_worth_asking,
)
from assistant.understand.intent import GUIDANCE
from assistant.understand.refusing import Refusal, refusal_of
from assistant.understand.resolving import Resolved, resolve
from assistant.understand.running import Outcome, can_run, run_call
from assistant.understand.state import MAX_SUBJECT_CHARACTERS, MAX_UNDO, Call, DialogueState

__all__ = ["Outcome", "Plan", "Resolved", "plan", "resolve"]

GUIDANCE_FLOOR = 0.2


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do for a question."""

    resolved: Resolved
    calls: tuple[Call, ...]
    guidance: bool
    refusal: Refusal | None
    state: DialogueState
    searches: tuple[str, ...] = ()
    """Parts of the message that want guidance of their own; empty when the whole message is one search."""

    @property
    def language(self) -> Language:
        """Of the answer."""
        return self.resolved.language

    def run(self) -> list[Outcome]:
        """Run the calculations in order."""
        outcomes: list[Outcome] = []
        for call in self.calls:
            number = f"T{sum(outcome.run is not None for outcome in outcomes) + 1}"
            outcomes.append(run_call(call, self.state.turn, self.language, number))
        return outcomes

    def state_after(self, outcomes: Sequence[Outcome]) -> DialogueState:
        """The state with what the answer asks for."""
        awaiting = [name for outcome in outcomes if outcome.missing for name in outcome.missing.fields]
        return self.state.model_copy(update={"awaiting": awaiting})


def plan(
    resolved: Resolved,
    state: DialogueState,
    intents: Mapping[str, float],
    *,
    covered: bool,
    own_documents: bool = False,
    part_intents: Sequence[Mapping[str, float]] = (),
) -> Plan:
    """Decide what to calculate and whether guidance is wanted.

    Args:
        intents: label -> probability, from the query vector.
        covered: whether the documents answer the question.
        own_documents: whether the first of them is the asker's own: it knows the house's prices and rules, so it
            answers before anything is asked back, and before the catalog.
        part_intents: the same for each part of a message that has several.
    """
    turn = state.turn + 1
    asked = Asked(resolved, intents, covered)
    refusal = refusal_of(resolved, intents, part_intents, covered=covered)
    if own_documents and refusal == "out_of_scope":
        refusal = None
    calls: list[Call] = []
    searches: tuple[str, ...] = ()
    if resolved.undo:
        calls = list(state.undo[-1])
    elif refusal is None and len(resolved.parts) > 1 and part_intents and not _says_too_little(asked):
        calls, searches = for_parts(asked, state, part_intents, turn)
    elif refusal is None:
        calls = for_whole(asked, state, turn)
    if own_documents and not resolved.follow_up:
        calls = [call for call in calls if can_run(call, resolved.language) and not resolved.asks_price]
    runs = any(can_run(call, resolved.language) for call in calls)
    guidance = refusal is None and (not calls or bool(searches) or (runs and _wants_guidance(resolved, intents)))
    return Plan(resolved, tuple(calls), guidance, refusal, _next_state(resolved, state, calls, turn), searches)


def _says_too_little(asked: Asked) -> bool:
    """Whether a message in pieces ("how often to save, give me a number") is one question for a figure without amounts."""
    text = asked.resolved.mentions.text
    return (
        len(text) <= MAX_UNDERSPECIFIED_CHARACTERS
        and not asked.resolved.mentions.quantities
        and not ADVICE.search(text)
        and is_worth_asking(asked, asked.best_tool())
    )


def _wants_guidance(resolved: Resolved, intents: Mapping[str, float]) -> bool:
    return intents.get(GUIDANCE, 0.0) >= GUIDANCE_FLOOR or bool(ADVICE.search(resolved.mentions.text))


def _next_state(resolved: Resolved, state: DialogueState, calls: Sequence[Call], turn: int) -> DialogueState:
    undo = state.undo[:-1] if resolved.undo else state.undo
    if calls and not resolved.undo and state.calls:
        undo = [*undo, state.calls][-MAX_UNDO:]
    return DialogueState(
        turn=turn,
        subject=state.subject if resolved.follow_up else resolved.message.text[:MAX_SUBJECT_CHARACTERS],
        calls=list(calls) or (state.calls if resolved.follow_up else []),
        undo=undo,
    )
