"""An answer through the chat model where it can be had, else through the grounded composer, which says why."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from assistant.answer.agent.conversation import Agent, Asked, Conversed
from assistant.answer.agent.draft import Draft
from assistant.answer.agent.failures import Failure, ModelFailed
from assistant.answer.agent.models import ChatModel, open_model
from assistant.answer.agent.spending import Days, Spending
from assistant.answer.phrases import phrase
from assistant.answer.verify.closeness import Closeness
from assistant.answer.write import Written, follow_ups, frames
from assistant.events import TextReleased
from assistant.schema import Language, ToolRun, Usage
from assistant.settings import Settings
from assistant.understand.state import MAX_UNDO, Call, DialogueState
from knowledge.records import SearchResult

GROUNDED = "grounded"


@dataclass(frozen=True, slots=True)
class Chatted:
    """An answer with who wrote it and what that took."""

    written: Written
    model: str
    usage: Usage | None
    calls: tuple[Call, ...] = ()
    """The model's own calculations that the answer cites; they take the place of the planned ones in the state."""

    def state(self, planned: DialogueState) -> DialogueState:
        """The dialogue state after this answer."""
        if not self.calls:
            return planned
        undo = (
            [*planned.undo, planned.calls][-MAX_UNDO:]
            if planned.calls and planned.calls != list(self.calls)
            else planned.undo
        )
        return planned.model_copy(update={"calls": list(self.calls), "undo": undo})


class ChatAnswers:
    """Answers through the chat model of the settings. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._days = Days(settings)

    @cached_property
    def _model(self) -> ChatModel:
        return open_model(self._settings)

    def write(
        self,
        asked: Asked,
        search: Callable[[str], tuple[SearchResult, bool]],
        closeness: Closeness,
        grounded: Callable[[], Written],
    ) -> Generator[TextReleased, None, Chatted]:
        """Release the text as it passes the check, and return the whole.

        Args:
            asked: the question with what is known before the model is asked.
            search: passages for a query of the model's, and whether they answer it.
            closeness: of statements and sources.
            grounded: the answer without a model, composed when it is needed.
        """
        spending = Spending(self._settings)
        language = asked.plan.language
        try:
            self._days.check()
            opening, closing = _frames(asked)
            agent = Agent(self._settings, self._model, search, closeness)
            conversed = yield from _as_events(agent.converse(asked, opening, spending))
        except ModelFailed as failed:
            return (yield from _fallback(grounded(), failed.failure, language, spending))
        finally:
            self._days.add(spending)
        if conversed.draft.has_statements:
            return (yield from _answered(asked, conversed, closing, self._model, spending))
        written, failure = grounded(), conversed.failure
        if failure is None and written.status == "answered":
            failure = Failure("unsupported" if conversed.draft.left_out else "empty")
        return (yield from _fallback(written, failure, language, spending))


def _as_events(texts: Generator[str, None, Conversed]) -> Generator[TextReleased, None, Conversed]:
    """The texts as events, with what the generator returns."""
    while True:
        try:
            text = next(texts)
        except StopIteration as end:
            conversed: Conversed = end.value
            return conversed
        yield TextReleased(text)


def _frames(asked: Asked) -> tuple[str, list[str]]:
    """What has to be said of the question itself, before and after the answer."""
    runs = [outcome.run for outcome in asked.outcomes if outcome.run]
    opening, closing = frames(asked.plan, asked.found, runs)
    separator = "" if asked.plan.language == "zh" else " "
    return separator.join(statement.text for statement in opening), [statement.text for statement in closing]


def _answered(
    asked: Asked, conversed: Conversed, closing: list[str], model: ChatModel, spending: Spending
) -> Generator[TextReleased, None, Chatted]:
    """The released text with the notes that belong below it."""
    draft, language = conversed.draft, asked.plan.language
    text, warnings, runs = draft.text, list[str](), draft.runs
    notes = [_mind(run, language) for run in runs if run.warnings and not _said(run, draft)] + closing
    if conversed.failure is not None:
        notes.append(phrase("model_broke_off", language, reason=conversed.failure.words(language)))
        warnings.append(notes[-1])
    if draft.left_out:
        name = "model_left_out_one" if draft.left_out == 1 else "model_left_out"
        notes.append(phrase(name, language))
        warnings.append(phrase("left_out", language))
    for note in notes:
        yield TextReleased(f"\n\n{note}")
        text += f"\n\n{note}"
    written = Written(
        status="answered",
        text=text,
        citations=draft.citations,
        tool_runs=runs,
        missing=list(conversed.missing),
        follow_ups=follow_ups(asked.plan, draft.citations, asked.found),
        warnings=[*(warning for run in runs for warning in run.warnings), *warnings],
    )
    return Chatted(written, model.name, spending.usage(), conversed.calls)


def _fallback(
    written: Written, failure: Failure | None, language: Language, spending: Spending
) -> Generator[TextReleased, None, Chatted]:
    """The grounded answer, with the reason where the model failed."""
    if failure is not None:
        note = phrase("model_failed", language, reason=failure.words(language))
        written = replace(written, text=f"{written.text}\n\n{note}", warnings=[*written.warnings, note])
    yield from map(TextReleased, paragraphs(written.text))
    return Chatted(written, GROUNDED, spending.usage())


def paragraphs(text: str) -> Iterable[str]:
    """A text in pieces that add up to it."""
    parts = text.split("\n\n")
    return [part + "\n\n" for part in parts[:-1]] + parts[-1:]


def _mind(run: ToolRun, language: Language) -> str:
    """A calculation's warnings, which the answer must not leave out."""
    joined = ("；" if language == "zh" else "; ").join(warning.rstrip("。.") for warning in run.warnings)
    label, stop = ("注意：", "。") if language == "zh" else ("Mind: ", ".")
    return f"{label}{joined}{stop} [{run.n}]"


def _said(run: ToolRun, draft: Draft) -> bool:
    return all(warning.rstrip("。.") in draft.text for warning in run.warnings)
