"""What every channel does: each message once, in the order of its thread, answered where it was asked."""

from __future__ import annotations

import logging
import random
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from pydantic_settings import BaseSettings, SettingsConfigDict

from assistant.advisor import Advisor
from assistant.bots.errors import RateLimited
from assistant.bots.markdown import Block, Dialect, Span, parse, parts
from assistant.bots.memory import Given, Incoming, Memory
from assistant.bots.words import BROKEN, EMPTY, word
from assistant.conversations import Rating
from assistant.errors import AdvisorError, ConversationNotFound
from assistant.events import Answered
from assistant.schema import Answer, Citation, Language, ToolRun
from assistant.tools.registry import get_tool

LANES = 4
"""Messages answered at once; those of one thread go through one lane, so that they stay in order."""
SILENCE = timedelta(hours=4)
"""After this a message outside any thread starts a new conversation."""
TRIES = 6
LONGEST_WAIT = 120.0
"""Seconds; a platform that asks for more isn't waited for."""
_THUMBS: dict[str, Rating] = {"👍": "up", "👎": "down", ":+1:": "up", ":-1:": "down", "+1": "up", "-1": "down"}
_LOG = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said to one message, in the platform's dialect."""

    texts: list[str]
    """Parts that each fit into one message; at least one."""
    sources: list[str]
    """A line each, of the citations and calculations."""
    follow_ups: list[str]
    language: Language
    answer: Answer | None
    """None where there is only a problem to tell."""


class ChannelSettings(BaseSettings):
    """What can be set for every channel."""

    model_config = SettingsConfigDict(env_ignore_empty=True, frozen=True)

    groups: str = ""
    """Whose collections are read, apart by commas; those for everybody always are."""

    @property
    def reading(self) -> frozenset[str]:
        """The groups as a set."""
        return frozenset(group.strip() for group in self.groups.split(",") if group.strip())


class Bot(ABC):
    """One channel over one advisor. A subclass reads the platform's messages and sends its own."""

    name: ClassVar[str]
    settings_type: ClassVar[type[ChannelSettings]]
    dialect: ClassVar[Dialect]
    requires: ClassVar[tuple[str, ...]] = ()
    """Modules that come with the channel's extra."""

    def __init__(self, advisor: Advisor, settings: Any) -> None:
        self.advisor = advisor
        self.settings = settings
        self.memory = Memory(self.name, advisor.conversations)
        self._lanes = [ThreadPoolExecutor(1, f"{self.name}-{number}") for number in range(LANES)]

    @abstractmethod
    def run(self, host: str, port: int) -> None:
        """Serve until the process is ended; `host` and `port` where the platform calls this program."""

    @abstractmethod
    def send(self, message: Incoming, reply: Reply) -> None:
        """Say the reply where the message was said.

        Raises:
            ChannelError: the platform refuses it.
        """

    def receive(self, message: Incoming) -> bool:
        """Take a message and return at once, for platforms wait for some seconds only; False if it came before."""
        if not self.memory.claim(message):
            return False
        self._queue(message)
        return True

    def resume(self) -> None:
        """Answer what came in before the process ended."""
        for message in self.memory.unanswered():
            self._queue(message)

    def rate(self, conversation_id: str, answer_id: str, rating: Rating, user: str) -> Language | None:
        """Keep a thumb; returns the answer's language, None where the answer is gone."""
        try:
            answer = self.advisor.conversations.answer(conversation_id, answer_id)
        except ConversationNotFound:
            return None
        self.advisor.rate(answer, rating, "", f"{self.name}:{user}")
        return answer.language

    def reply_to(self, message_id: str) -> Reply | None:
        """What was said to a message; None while it isn't answered."""
        given = self.memory.given(message_id)
        if given is None:
            return None
        if given.problem is not None:
            return self._problem(given.problem)
        if given.conversation_id is None or given.answer_id is None:
            return None
        try:
            return self.compose(self.advisor.conversations.answer(given.conversation_id, given.answer_id))
        except ConversationNotFound as error:
            return self._problem(str(error))

    def compose(self, answer: Answer) -> Reply:
        """An answer in the platform's dialect."""
        sources = [_citation(citation, answer.language) for citation in answer.citations]
        sources += [_run(run, answer.language) for run in answer.tool_runs]
        texts = self.write(parse(answer.text))
        return Reply(
            texts, [self.write([block])[0] for block in sources], list(answer.follow_ups), answer.language, answer
        )

    def write(self, blocks: Sequence[Block]) -> list[str]:
        """Blocks in the platform's dialect, in parts that each fit into one message."""
        return parts(blocks, self.dialect)

    def patiently(self, call: Callable[[], T]) -> T:
        """Call the platform, again and more slowly while it asks for that.

        Raises:
            ChannelError: it refuses, or asks for more than is waited for.
        """
        for attempt in range(TRIES):
            try:
                return call()
            except RateLimited as limited:
                wait = limited.retry_after if limited.retry_after is not None else 2.0**attempt + random.random()
                if attempt == TRIES - 1 or wait > LONGEST_WAIT:
                    raise
                _LOG.warning("%s: waiting for %.1f s: %s", self.name, wait, limited)
                time.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        """Finish what is being answered."""
        for lane in self._lanes:
            lane.shutdown()

    def _queue(self, message: Incoming) -> None:
        lane = self._lanes[zlib.crc32(message.thread.encode()) % LANES]
        lane.submit(self._answer, message)

    def _answer(self, message: Incoming) -> None:
        try:
            reply, given = self._reply(message)
            if self.memory.settle(message, given):
                self.send(message, reply)
        except AdvisorError as error:
            _LOG.error("%s: message %s could not be answered: %s", self.name, message.id, error)
        except Exception:  # whatever happens, the lane goes on with the next message
            _LOG.exception("%s: message %s could not be answered", self.name, message.id)

    def _reply(self, message: Incoming) -> tuple[Reply, Given]:
        text = message.text.strip()
        thread = self.memory.thread(message.thread)
        if thread is not None and text in _THUMBS:
            language = self.rate(thread.conversation_id, thread.answer_id, _THUMBS[text], message.user)
            return self._told(word("thanks", language or "en"))
        if not text:
            return self._told(EMPTY)
        conversation_id = thread.conversation_id if thread else None
        if thread is not None and not message.threaded and datetime.now(UTC) - thread.updated > SILENCE:
            conversation_id = None
        try:
            answer = self._ask(text, conversation_id, f"{self.name}:{message.thread}")
        except AdvisorError as error:
            return self._told(str(error))
        except Exception:
            _LOG.exception("%s: no answer to message %s", self.name, message.id)
            return self._told(BROKEN)
        self.memory.continue_thread(message.thread, answer.conversation_id, answer.id)
        return self.compose(answer), Given(answer.conversation_id, answer.id, None)

    def _ask(self, text: str, conversation_id: str | None, owner: str) -> Answer:
        if conversation_id is not None and not self.advisor.conversations.exists(conversation_id):
            conversation_id = None  # it was deleted since
        for event in self.advisor.stream(text, conversation_id, owner, self.settings.reading):
            if isinstance(event, Answered):
                return event.answer
        raise AssertionError("a stream ends with an answer")

    def _told(self, text: str) -> tuple[Reply, Given]:
        return self._problem(text), Given(None, None, text)

    def _problem(self, text: str) -> Reply:
        return Reply(self.write([Block("paragraph", (Span(text),))]), [], [], "en", None)


def address_of(citation: Citation) -> str | None:
    """The document's address, or else that of its first source on the web."""
    addresses = [citation.location, *(reference.url for reference in citation.references)]
    return next((url for url in addresses if url.startswith(("https://", "http://"))), None)


def _citation(citation: Citation, language: Language) -> Block:
    """Number, title, section and page; the title leads to its address."""
    place = f" › {citation.section}" if citation.section else ""
    page = f", {word('page', language).format(page=citation.page)}" if citation.page else ""
    return Block(
        "paragraph", (Span(f"[{citation.n}] "), Span(citation.title, href=address_of(citation)), Span(f"{place}{page}"))
    )


def _run(run: ToolRun, language: Language) -> Block:
    """Number and name of a calculation, its formula, and where its figures are from."""
    figures = "; ".join(f"{s.name}{f' ({s.as_of})' if s.as_of else ''}" for s in run.sources[:3])
    text = ". ".join(part.rstrip(".。") for part in (run.formula, figures) if part)
    return Block(
        "paragraph", (Span(f"[{run.n}] {get_tool(run.tool).title[language]}"), Span(f": {text}" if text else ""))
    )
