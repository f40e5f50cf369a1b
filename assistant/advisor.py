"""The façade: a question in, a checked answer out, at once or as a stream of events."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from copy import copy
from functools import cached_property, partial
from typing import TYPE_CHECKING

from assistant import __version__, tracing
from assistant.answer.phrases import phrase
from assistant.answer.write import NEAR_COVERAGE, write_answer
from assistant.errors import InvalidInput
from assistant.events import Answered, Event, StageStarted, TextReleased
from assistant.schema import Answer, Language, Status, Timings
from assistant.settings import Settings
from assistant.understand.dialogue import plan, resolve
from assistant.understand.intent import IntentModel, load_intents
from assistant.understand.state import DialogueState
from knowledge.collections import Groups
from knowledge.encoders import Encoder, load_encoder
from knowledge.glossary import load_glossary
from knowledge.search import Searcher
from knowledge.shipped import is_shipped
from knowledge.store import Store

if TYPE_CHECKING:
    from assistant.answer.agent.answering import ChatAnswers, Chatted
    from assistant.answer.agent.conversation import Asked
    from assistant.answer.write import Written
    from assistant.attachments import Attachments
    from assistant.conversations import Conversations, Rating
    from assistant.review.items import Reviews
    from assistant.review.journal import Journal
    from knowledge.encoders import Encoded
    from knowledge.records import SearchResult

WARM_UP = ("64 张 H100 训 7B、2T token 要多少钱？", "Do budget alerts stop spending?")
"""They go all ways of an answer: a calculation with prices, and guidance."""
ATTACHMENTS = "attachments"
"""Folder of the files that belong to conversations, in the data folder."""
OWN_COVERAGE = 0.6
"""From here on own documents answer without asking back, and whatever the question is on."""


class Advisor:
    """Answers questions from one data folder. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.observers: list[Callable[[Answer], None]] = []
        """Called with every answer: measurements, logs."""
        self.journaled = True
        """Whether answers are counted and bad ones put on the review list; not so in evaluations."""

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of questions; the store refuses one that it was not built with."""
        return load_encoder(self.settings.encoder)

    @cached_property
    def store(self) -> Store:
        """The indexed documents."""
        return Store.open(self.settings.data_dir, create=False)

    @cached_property
    def searcher(self) -> Searcher:
        """Finds passages; sees a changed index without being opened again."""
        return Searcher(self.store, self.encoder, load_glossary(self.settings.glossary))

    @cached_property
    def intents(self) -> IntentModel:
        """Tells what a question wants from its vector."""
        return load_intents(self.encoder, self.settings.data_dir)

    @cached_property
    def chat_answers(self) -> ChatAnswers:
        """Answers through the chat model of the settings."""
        from assistant.answer.agent.answering import ChatAnswers

        return ChatAnswers(self.settings)

    @cached_property
    def conversations(self) -> Conversations:
        """Stored conversations."""
        from assistant.conversations import Conversations

        return Conversations(self.settings.database)

    @cached_property
    def journal(self) -> Journal:
        """One line for every answer that is kept."""
        from assistant.review.journal import Journal

        return Journal(self.conversations, self.settings.keep_questions)

    @cached_property
    def reviews(self) -> Reviews:
        """Questions that were not answered well."""
        from assistant.review.items import Reviews

        return Reviews(self.conversations, self.settings.keep_questions)

    @cached_property
    def attachments(self) -> Attachments:
        """Files that belong to one conversation."""
        from assistant.attachments import Attachments

        return Attachments(self.settings.data_dir / ATTACHMENTS, self.encoder)

    def warm_up(self) -> None:
        """Load all that the first question would wait for, by asking some that nobody sees.

        Raises:
            AdvisorError: the index can't be used.
        """
        _ = self.searcher, self.intents, self.conversations
        quiet = copy(self)
        quiet.observers = []
        quiet.settings = self.settings.model_copy(update={"model": ""})  # which is asked for nobody
        for question in WARM_UP:
            for _event in quiet.reply(question, DialogueState()):
                pass

    def source_text(
        self, conversation_id: str, groups: Groups = None, store: Store | None = None
    ) -> Callable[[str], str]:
        """The text of the documents that answers of a conversation cite: the library's, or attached to it.

        Args:
            conversation_id: of the conversation.
            groups: whose collections may be read. None: all.
            store: the library as it was at one moment; None: as it is.
        """

        def text(document_id: str) -> str:
            attached = self.attachments.store(conversation_id) if self._any_attached else None
            if attached is not None:
                try:
                    return attached.source_text(document_id)
                except InvalidInput:
                    pass  # it isn't among the attached
            return (store or self.store).source_text(document_id, groups)

        return text

    def ask(
        self,
        question: str,
        conversation_id: str | None = None,
        owner: str | None = None,
        groups: Groups = None,
    ) -> Answer:
        """Answer one question and keep the turn; the arguments are those of `stream`.

        Raises:
            InvalidInput: the question is empty or longer than the limit.
            ConversationNotFound: `conversation_id` is given but not stored, or not this owner's.
        """
        for event in self.stream(question, conversation_id, owner, groups):
            if isinstance(event, Answered):
                return event.answer
        raise AssertionError("a stream ends with an answer")

    def ask_turns(self, questions: Sequence[str]) -> list[Answer]:
        """Answer the turns of one new conversation."""
        answers: list[Answer] = []
        for question in questions:
            answers.append(self.ask(question, answers[-1].conversation_id if answers else None))
        return answers

    def stream(
        self,
        question: str,
        conversation_id: str | None = None,
        owner: str | None = None,
        groups: Groups = None,
    ) -> Iterator[Event]:
        """Answer one question, yielding stages, checked text, and last the whole `Answered`.

        Args:
            question: in Chinese or English.
            conversation_id: of the conversation to go on with.
            owner: whom a new conversation belongs to; one that is gone on with must be theirs. None: no check.
            groups: whose collections may be read, besides those for everybody. None: all.

        Raises:
            InvalidInput, ConversationNotFound: as `ask`, before the first event.
        """
        self._check(question)
        state = DialogueState()
        if conversation_id is not None and not self._only_attached(conversation_id, owner):
            state = DialogueState.model_validate(self.conversations.last(conversation_id, owner).state)
        return self._stream(question, conversation_id or str(uuid.uuid4()), state, owner or "", groups)

    def reply(self, question: str, state: DialogueState, groups: Groups = None) -> Iterator[Event]:
        """Answer the next turn of a conversation that the caller keeps: as `stream`, and nothing is stored.

        Args:
            state: after the turn before; that of the answer's `state`.

        Raises:
            InvalidInput: as `ask`, before the first event.
        """
        self._check(question)
        return self._stream(question, str(uuid.uuid4()), state, None, groups)

    def rate(self, answer: Answer, rating: Rating, reason: str, owner: str) -> None:
        """Keep what somebody thinks of an answer, with all that is needed to look into it later."""
        versions = {
            "program": __version__,
            "encoder": self.encoder.identity,
            "store": str(self.store.generation),
            "model": answer.model,
        }
        from assistant.review.privacy import kept_answer

        self.conversations.rate(kept_answer(answer, self.settings.keep_questions), rating, reason, versions, owner)

    def _stream(
        self, question: str, conversation_id: str, state: DialogueState, owner: str | None, groups: Groups
    ) -> Iterator[Event]:
        written = self._traced(question, conversation_id, state, owner, groups)
        return tracing.in_one_context(written)

    def _traced(
        self, question: str, conversation_id: str, state: DialogueState, owner: str | None, groups: Groups
    ) -> Iterator[Event]:
        with tracing.span("invoke_agent advisor", operation="invoke_agent", conversation=conversation_id) as span:
            for event in self._written(question, conversation_id, state, owner, groups):
                if isinstance(event, Answered):
                    span.set(model=event.answer.model, status=event.answer.status)
                yield event

    def _written(
        self, question: str, conversation_id: str, state: DialogueState, owner: str | None, groups: Groups
    ) -> Iterator[Event]:
        clock = _Clock()
        yield StageStarted("understanding")
        resolved = resolve(question, state)
        clock.lap("understand")
        yield StageStarted("searching")
        query = self.encoder.query(resolved.search_text)
        clock.lap("encode")
        with self.store.pinned() as moment:  # one state for all, or a citation might not be what was found
            found = self._search(resolved.search_text, conversation_id, query, groups, moment)
            clock.lap("search")
            covered = found.coverage >= self.settings.coverage_threshold
            intents = self.intents.probabilities(found.query_vector)
            clock.lap("understand")
            parts = {part: self.encoder.query(part) for part in resolved.parts} if len(resolved.parts) > 1 else {}
            clock.lap("encode")
            part_intents = [self.intents.probabilities(encoded.vector) for encoded in parts.values()]
            own = covered and found.coverage >= OWN_COVERAGE and not is_shipped(found.hits[0].location)
            planned = plan(resolved, state, intents, covered=covered, own_documents=own, part_intents=part_intents)
            clock.lap("understand")
            if planned.calls:
                yield StageStarted("calculating")
            outcomes = planned.run()
            clock.lap("tools")
            yield StageStarted("writing")
            queries = {text: parts.get(text) or self.encoder.query(text) for text in planned.searches}
            clock.lap("encode")
            searches = [self._search(text, conversation_id, query, groups, moment) for text, query in queries.items()]
            clock.lap("search")
            beside = [search for search in searches if search.coverage >= self.settings.coverage_threshold]
            source_text = self.source_text(conversation_id, groups, moment)
            grounded = partial(write_answer, planned, outcomes, found, covered, source_text, beside)
            after, model, usage = planned.state_after(outcomes), "grounded", None
            if self.settings.model and planned.refusal is None:
                from assistant.answer.agent.conversation import Asked

                turns = self.conversations.answers(conversation_id, owner) if state.turn and owner is not None else []
                asked = Asked(planned, outcomes, found, covered, beside, state, turns)
                chatted = yield from self._chat(asked, conversation_id, groups, grounded)
                written, model, usage, after = chatted.written, chatted.model, chatted.usage, chatted.state(after)
            else:
                written = grounded()
        contact = self._contact(written.status, planned.language)
        clock.lap("answer")
        answer = Answer(
            id=str(uuid.uuid4()),
            conversation_id=conversation_id,
            question=question,
            language=planned.language,
            status=written.status,
            text=written.text + contact,
            citations=written.citations,
            tool_runs=written.tool_runs,
            missing=written.missing,
            follow_ups=written.follow_ups,
            warnings=written.warnings,
            state=after.model_dump(mode="json"),
            model=model,
            usage=usage,
            timings_ms=clock.timings(),
        )
        if not self.settings.model or planned.refusal is not None:
            yield from map(TextReleased, _paragraphs(answer.text))
        elif contact:
            yield TextReleased(contact)
        if owner is not None:
            self.conversations.add(answer, owner)
            if self.journaled:
                self.journal.record(answer, self._topic(answer, found), owner)
        for observe in self.observers:
            observe(answer)
        yield Answered(answer)

    def _chat(
        self, asked: Asked, conversation_id: str, groups: Groups, grounded: Callable[[], Written]
    ) -> Generator[Event, None, Chatted]:
        """Through the chat model; text is released as it passes the check."""
        from assistant.answer.verify.closeness import Closeness

        def search(text: str) -> tuple[SearchResult, bool]:
            found = self._search(text, conversation_id, self.encoder.query(text), groups)
            return found, found.coverage >= self.settings.coverage_threshold

        with Closeness(self.encoder, self.searcher.language_means()) as closeness:
            return (yield from self.chat_answers.write(asked, search, closeness, grounded))

    def _contact(self, status: Status, language: Language) -> str:
        """Whom to ask when the answer is no."""
        contact = self.settings.contact_zh or self.settings.contact if language == "zh" else self.settings.contact
        return f"\n\n{phrase('contact', language, contact=contact)}" if status == "not_covered" and contact else ""

    def _topic(self, answer: Answer, found: SearchResult) -> str:
        """What an answer is about: a calculator, or the topic or else the title of a document cited or near."""
        if answer.tool_runs:
            return answer.tool_runs[0].tool
        near = [hit.document_id for hit in found.hits[:1] if found.coverage >= NEAR_COVERAGE]
        for document_id in [*(citation.document_id for citation in answer.citations[:1]), *near]:
            try:
                document = self.store.document(document_id)
            except InvalidInput:
                continue  # attached to the conversation, or removed since
            return document.metadata.get("topic") or document.title
        return ""

    def _check(self, question: str) -> None:
        if not question.strip():
            raise InvalidInput("The question is empty. Ask something about training models in the cloud.")
        limit = self.settings.max_question_characters
        if len(question) > limit:
            raise InvalidInput(
                f"The question has {len(question)} characters, more than the limit of {limit}. Shorten it, or raise "
                "ADVISOR_MAX_QUESTION_CHARACTERS."
            )

    def _only_attached(self, conversation_id: str, owner: str | None) -> bool:
        """Whether files were attached to a conversation in which nothing has been asked yet."""
        if not self._any_attached or not self.attachments.exists(conversation_id, owner):
            return False
        return not self.conversations.exists(conversation_id)

    @property
    def _any_attached(self) -> bool:
        """Spares those who attach nothing the time that loading takes."""
        return (self.settings.data_dir / ATTACHMENTS).is_dir()

    def _search(
        self, text: str, conversation_id: str, query: Encoded, groups: Groups, store: Store | None = None
    ) -> SearchResult:
        passages = self.settings.passages
        with tracing.span("retrieval", operation="retrieval") as span:
            found = self.searcher.search(text, passages, query, groups, store)
            span.set(passages=len(found.hits), coverage=found.coverage)
        if not self._any_attached or not self.attachments.exists(conversation_id):
            return found
        from assistant.attachments import beside

        attached = self.attachments.search(conversation_id, text, passages)
        return beside(attached, found, self.settings.coverage_threshold, passages)


class _Clock:
    """Wall time by phase."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self._laps[phase] = self._laps.get(phase, 0.0) + (now - self._last) * 1000
        self._last = now

    def timings(self) -> Timings:
        total = (time.perf_counter() - self._start) * 1000
        return Timings(**{name: round(value, 2) for name, value in self._laps.items()}, total=round(total, 2))


def _paragraphs(text: str) -> Iterator[str]:
    lines = text.split("\n\n")
    for number, line in enumerate(lines):
        yield line if number == len(lines) - 1 else line + "\n\n"
