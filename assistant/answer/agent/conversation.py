"""Runs the agent for one question: what it writes is checked as it comes, sent back once, then released or left out."""

from __future__ import annotations

import contextvars
import queue
import secrets
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assistant.answer import prompts
from assistant.answer.agent import history
from assistant.answer.agent.draft import Draft
from assistant.answer.agent.failures import Failure, ModelFailed, failure_of
from assistant.answer.agent.middleware import QUESTION_ID, FittingContext, Limits, Repairs, Retries, Spans
from assistant.answer.agent.models import ChatModel
from assistant.answer.agent.spending import Spending
from assistant.answer.agent.tools import Toolbox
from assistant.answer.verify.closeness import Closeness
from assistant.answer.verify.evidence import Evidence
from assistant.answer.verify.statements import Checker
from assistant.schema import Answer, Language
from assistant.settings import Settings
from assistant.understand.dialogue import Outcome, Plan
from assistant.understand.state import Call, DialogueState
from knowledge.records import SearchResult

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage

_RECURSION = 4
"""Steps of the graph for one step of the model, at most: the call, its tools, and the hooks around them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what is known before the model is asked."""

    plan: Plan
    outcomes: Sequence[Outcome]
    found: SearchResult
    """Passages for the whole question."""
    covered: bool
    """Whether they answer it."""
    beside: Sequence[SearchResult]
    """Passages that answer parts of it, where these want guidance of their own."""
    before: DialogueState
    turns: Sequence[Answer]
    """Of the conversation so far."""


@dataclass(frozen=True, slots=True)
class Conversed:
    """What came of it."""

    draft: Draft
    calls: tuple[Call, ...]
    """Arguments of the model's own calculations that the answer cites."""
    missing: tuple[str, ...]
    """Questions of calculators that lacked inputs."""
    failure: Failure | None
    """Why the model's answer is not whole, or not used."""


@dataclass(frozen=True)
class Agent:
    """Converses with one chat model. Safe to use from several threads."""

    settings: Settings
    model: ChatModel
    search: Callable[[str], tuple[SearchResult, bool]]
    closeness: Closeness

    def converse(self, asked: Asked, opening: str, spending: Spending) -> Generator[str, None, Conversed]:
        """Checked text as it is released; returns what came of it.

        Args:
            asked: the question with what is known already.
            opening: what has to be said of the question itself before anything else.
            spending: of this question.
        """
        language = asked.plan.language
        evidence, closeness = Evidence(), self.closeness
        question = asked.plan.resolved.question
        toolbox = Toolbox(
            evidence=evidence,
            closeness=closeness,
            language=language,
            question=question,
            earlier=[turn.question for turn in asked.turns],
            state=asked.before,
            search=self.search,
            boundary=secrets.token_hex(4),
        )
        checker = Checker(evidence, closeness, "\n".join([*toolbox.earlier, question]), language)
        draft = Draft(checker, evidence, language, opening)
        failure: Failure | None = None
        try:
            messages = self._messages(asked, toolbox)
            yield from self._write(messages, toolbox, draft, spending)
        except ModelFailed as failed:
            failure = failed.failure
            draft.drop()
            yield from draft.finish()
        planned = {outcome.tool: outcome.missing for outcome in asked.outcomes if outcome.missing}
        lacking = {**planned, **toolbox.missing}
        done = {evidence.runs[number].run.tool for number in draft.cited_runs}
        return Conversed(
            draft,
            tuple(toolbox.calls[number] for number in draft.cited_runs if number in toolbox.calls),
            tuple(missing.question for tool, missing in lacking.items() if missing and tool not in done),
            failure,
        )

    def _write(self, messages: list[AnyMessage], toolbox: Toolbox, draft: Draft, spending: Spending) -> Iterator[str]:
        """Let the model answer, and once more for what did not pass."""
        from langchain_core.messages import HumanMessage

        language = toolbox.language
        state = yield from self._run(messages, toolbox, draft, spending)
        faults = draft.faults()
        if not faults and not draft.text and not toolbox.missing:
            empty = HumanMessage(prompts.EMPTY[language])
            state = yield from self._run([*state, empty], toolbox, draft, spending)
            faults = draft.faults()
        if faults:
            written = "\n".join(
                prompts.FAULT[language].format(
                    number=fault.number,
                    text=fault.text,
                    reason=prompts.REASONS[fault.problem.reason][language].format(detail=fault.problem.detail),
                )
                for fault in faults
            )
            back = HumanMessage(prompts.SEND_BACK[language].format(faults=written))
            try:
                reply = [*self._answers([*state, back], toolbox, spending)]
                draft.correct("".join(reply))
            except ModelFailed:
                pass  # what has passed is shown, the rest is left out
        yield from draft.finish()

    def _run(
        self, messages: list[AnyMessage], toolbox: Toolbox, draft: Draft, spending: Spending
    ) -> Generator[str, None, list[AnyMessage]]:
        """One run of the graph; returns all messages after it."""
        from langchain_core.messages import AIMessage

        current: str | None = None
        state: list[AnyMessage] = messages
        for mode, value in self._events(messages, toolbox, spending):
            if mode == "messages":
                chunk = value[0]
                if not isinstance(chunk, AIMessage):
                    continue
                if current is not None and chunk.id != current:
                    draft.abandon_message()
                current = chunk.id
                yield from draft.feed(chunk.text)
            elif mode == "values":
                if current is not None and len(value["messages"]) > len(state):
                    yield from draft.end_message(goes_on=bool(getattr(value["messages"][-1], "tool_calls", ())))
                    current = None
                state = value["messages"]
        if state and getattr(state[-1], "response_metadata", {}).get("finish_reason") == "content_filter":
            raise ModelFailed(Failure("refused"))
        return state

    def _answers(self, messages: list[AnyMessage], toolbox: Toolbox, spending: Spending) -> Iterator[str]:
        """The text of one more run of the graph."""
        from langchain_core.messages import AIMessage

        for mode, value in self._events(messages, toolbox, spending):
            if mode == "messages" and isinstance(value[0], AIMessage):
                yield value[0].text

    def _events(self, messages: list[AnyMessage], toolbox: Toolbox, spending: Spending) -> Iterator[tuple[str, Any]]:
        """The graph's stream, from a thread of its own so that no server can hold the question past its time."""
        events: queue.Queue[tuple[str, Any] | BaseException | None] = queue.Queue()
        stopped = threading.Event()
        graph = self._graph(toolbox, spending)

        def pump() -> None:
            try:
                for event in graph.stream(
                    {"messages": messages},
                    {"recursion_limit": _RECURSION * self.settings.model_max_steps + 10},
                    stream_mode=["messages", "values"],
                ):
                    if stopped.is_set():
                        return
                    events.put(event)
                events.put(None)
            except BaseException as error:
                events.put(error)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(pump,), daemon=True, name="chat-model").start()
        try:
            while True:
                try:
                    event = events.get(timeout=max(0.0, spending.seconds_left))
                except queue.Empty:
                    raise ModelFailed(Failure("seconds")) from None
                if event is None:
                    return
                if isinstance(event, BaseException):
                    raise ModelFailed(failure_of(event)) from event
                yield event
        finally:
            stopped.set()

    def _graph(self, toolbox: Toolbox, spending: Spending) -> Any:
        from langchain.agents import create_agent

        settings, language = self.settings, toolbox.language
        return create_agent(
            self.model.chat,
            toolbox.tools(),
            system_prompt=prompts.SYSTEM[language],
            middleware=[
                Limits(spending, language),
                Retries(spending),
                FittingContext(settings.model_context_tokens, settings.model_max_output_tokens),
                Spans(self.model),
                Repairs(),
            ],
        )

    def _messages(self, asked: Asked, toolbox: Toolbox) -> list[AnyMessage]:
        """The conversation so far, then the question with what is known already."""
        from langchain_core.messages import HumanMessage

        language: Language = toolbox.language
        parts = [prompts.QUESTION[language].format(question=toolbox.question)]
        if stated := history.slots(asked.before):
            parts.append(prompts.KNOWN[language].format(slots=stated))
        whole = [asked.found] if asked.covered and not asked.plan.searches else []
        parts += [toolbox.give_passages(found.hits, covered=True) for found in (*whole, *asked.beside) if found.hits]
        runs = [
            toolbox.evidence.add_run(outcome.run, outcome.shown)
            for outcome in asked.outcomes
            if outcome.run and outcome.shown
        ]
        if runs:
            written = "\n\n".join(toolbox.give_run(run.n) for run in runs)
            parts += [prompts.CALCULATED[language], prompts.fenced("calculations", written, toolbox.boundary)]
        for outcome in asked.outcomes:
            if outcome.missing:
                parts.append(prompts.MISSING[language].format(tool=outcome.tool, question=outcome.missing.question))
            if outcome.invalid:
                parts.append(prompts.INVALID[language].format(tool=outcome.tool, reason=outcome.invalid))
        told = history.told(asked.turns, language, self.settings.model_context_tokens)
        return [*told, HumanMessage("\n\n".join(parts), id=QUESTION_ID)]
