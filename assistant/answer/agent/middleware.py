"""Middleware of the agent: limits, retries that heed `Retry-After`, a context that fits, spans."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse, hook_config
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime

from assistant import tracing
from assistant.answer import prompts
from assistant.answer.agent.failures import Failure, ModelFailed, failure_of
from assistant.answer.agent.history import tokens_of
from assistant.answer.agent.models import ChatModel
from assistant.answer.agent.spending import Spending
from assistant.schema import Language

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 20.0
_LEAST_SECONDS = 1.0
_CUT_TO = 600
"""Characters that an old tool result is cut to when the context is short."""

QUESTION_ID = "question"
"""Id of the message that must not be shortened away."""

Handler = Callable[[ModelRequest[Any]], ModelResponse[Any]]


class Limits(AgentMiddleware[AgentState[Any], Any]):
    """Counts calls and tokens, and stops before a limit is passed; the last step allowed must answer."""

    def __init__(self, spending: Spending, language: Language) -> None:
        super().__init__()
        self._spending = spending
        self._language = language

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Refuse, strip the tools at the last step, or let pass; then count."""
        spending = self._spending
        spending.check()
        if spending.calls >= spending.settings.model_max_steps:
            raise ModelFailed(Failure("steps"))
        spending.calls += 1
        if spending.calls == spending.settings.model_max_steps and request.tools:
            nudge = HumanMessage(prompts.LAST_STEP[self._language])
            request = request.override(tools=[], messages=[*request.messages, nudge])
        response = handler(request)
        read, written = _usage(request.messages, response)
        spending.add(read, written)
        return response


class Retries(AgentMiddleware[AgentState[Any], Any]):
    """Repeats a call that may succeed later, waiting as the server asks or twice as long each time."""

    def __init__(self, spending: Spending, sleep: Callable[[float], None] = time.sleep) -> None:
        super().__init__()
        self._spending = spending
        self._sleep = sleep

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Bounded by the settings' retries and the question's time."""
        retries = self._spending.settings.model_retries
        for attempt in range(retries + 1):
            try:
                response = handler(request)
                if _broke_off(response):
                    raise ConnectionError("the stream ended before the answer did")
                return response
            except Exception as error:
                failure = failure_of(error)
                if failure.kind == "context" and attempt == 0:
                    request = request.override(messages=shortened(request.messages, 0))
                    continue
                wait = failure.retry_after
                if wait is None:
                    wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt) * random.uniform(0.75, 1.25)
                late = wait + _LEAST_SECONDS > self._spending.seconds_left
                if attempt == retries or not failure.retryable or late:
                    raise ModelFailed(failure) from error
                self._sleep(wait)
        raise AssertionError("the loop returns or raises")


class FittingContext(AgentMiddleware[AgentState[Any], Any]):
    """Shortens what the model is sent to what it can read."""

    def __init__(self, context_tokens: int, output_tokens: int) -> None:
        super().__init__()
        self._room = context_tokens - output_tokens

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Tool results of earlier steps are cut, then the oldest turns dropped; question and slots stay."""
        fixed = tokens_of(request.system_message.text if request.system_message else "")
        fixed += sum(tokens_of(str(getattr(tool, "args", ""))) + 60 for tool in request.tools)
        return handler(request.override(messages=shortened(request.messages, self._room - fixed)))


class Repairs(AgentMiddleware[AgentState[Any], Any]):
    """Makes usable what some servers get wrong about tool calls."""

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Calls without an id get one: results are matched to calls by it."""
        response = handler(request)
        for message in response.result:
            if isinstance(message, AIMessage):
                for call in (*message.tool_calls, *message.invalid_tool_calls):
                    call["id"] = call["id"] or f"call_{secrets.token_hex(6)}"
        return response

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Back to the model, told what was wrong, when all its calls were unreadable: the graph would end there."""
        last = state["messages"][-1]
        if isinstance(last, AIMessage) and last.invalid_tool_calls and not last.tool_calls:
            return {"jump_to": "model"}
        return None


class Spans(AgentMiddleware[AgentState[Any], Any]):
    """A span for each model call."""

    def __init__(self, model: ChatModel) -> None:
        super().__init__()
        self._model = model

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Around the call itself, so that every attempt has its own."""
        model = self._model
        with tracing.span(f"chat {model.model}", operation="chat", provider=model.vendor, model=model.model) as span:
            response = handler(request)
            read, written = _usage(request.messages, response)
            span.set(input_tokens=read, output_tokens=written)
            return response


def _broke_off(response: ModelResponse[Any]) -> bool:
    """Whether a server of the OpenAI kind closed the stream without saying why it ended."""
    last = response.result[-1] if response.result else None
    if not isinstance(last, AIMessage) or last.response_metadata.get("model_provider") not in ("openai", "deepseek"):
        return False
    return not last.response_metadata.get("finish_reason")


def shortened(messages: Sequence[AnyMessage], room: int) -> list[AnyMessage]:
    """Messages within about `room` tokens: old tool results are cut first, then the oldest turns dropped.

    The newest message of the user (the question with what was stated before) and what follows it always stay.
    """
    kept = list(messages)
    asked = max(
        (i for i, message in enumerate(kept) if isinstance(message, HumanMessage) and message.id == QUESTION_ID),
        default=0,
    )
    results = [i for i, message in enumerate(kept) if isinstance(message, ToolMessage)]
    for i in results[:-1] if room > 0 else results:
        if sum(map(_size, kept)) <= room:
            return kept
        kept[i] = kept[i].model_copy(update={"content": kept[i].text[:_CUT_TO]})
    while asked > 0 and sum(map(_size, kept)) > room:
        kept.pop(0)
        asked -= 1
    return kept


def _size(message: AnyMessage) -> int:
    calls = str(message.tool_calls) if isinstance(message, AIMessage) and message.tool_calls else ""
    return tokens_of(message.text + calls)


def _usage(messages: Sequence[AnyMessage], response: ModelResponse[Any]) -> tuple[int, int]:
    """(tokens read, tokens written) as the server says, or about as many as the texts take."""
    answers = [message for message in response.result if isinstance(message, AIMessage)]
    told = [answer.usage_metadata for answer in answers if answer.usage_metadata]
    if told and sum(usage["total_tokens"] for usage in told):
        return sum(usage["input_tokens"] for usage in told), sum(usage["output_tokens"] for usage in told)
    return sum(map(_size, messages)), sum(map(_size, answers))
