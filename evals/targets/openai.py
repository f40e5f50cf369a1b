"""Any OpenAI-compatible chat endpoint, so that peers can be measured with the same suites."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.schema import Answer, Language, Status, Timings, Usage
from evals.errors import TargetError
from evals.support import is_chinese
from evals.targets.base import Ranked
from evals.targets.client import json_client, post

if TYPE_CHECKING:
    import httpx


_DECLINES = re.compile(
    r"(?:无法|不能|没法|不便)(?:回答|提供|确定|给出|解答)|没有(?:找到|相关)|未(?:找到|涉及|提及|收录|覆盖)"
    r"|(?:不在|超出).{0,8}范围|不知道"
    r"|(?:can(?:no|')t|cannot|unable to|not able to) (?:answer|help|provide|find|determine)"
    r"|(?:do|does) ?n[o']t (?:know|contain|cover|mention)|no (?:information|relevant)"
    r"|not (?:covered|mentioned|found)|out(?:side)? (?:of )?(?:the |my )?scope|i don't have",
    re.I,
)
_ASKS = re.compile(
    r"请(?:提供|告诉|补充|说明)|能否(?:提供|告知)|哪(?:个|种|款)"
    r"|please (?:provide|tell|specify)|could you|which \w+|what (?:is|are) (?:the|your)",
    re.I,
)


def infer_status(text: str) -> Status:
    """The status of plain text from a system that has none, by its first 200 characters.

    It declines when the opening says so; it asks back when it is short, ends with a question and asks for something.
    """
    opening = text.strip()[:200]
    if not opening or _DECLINES.search(opening):
        return "not_covered"
    if len(text) < 600 and text.rstrip().endswith(("?", "？")) and _ASKS.search(text):
        return "needs_input"
    return "answered"


class OpenAITarget:
    """Asks `/chat/completions`. It shows no sources, so `strict` can't be reached; `pass` can."""

    def __init__(self, url: str, model: str, key: str | None = None, timeout: float = 180.0) -> None:
        self._url = url.rstrip("/")
        self._model = model
        self._key = key
        self._timeout = timeout

    @cached_property
    def _client(self) -> httpx.Client:
        return json_client(self._url, self._key, self._timeout)

    def prepare(self, documents: Sequence[Path] | None) -> None:
        """Nothing; refuses documents."""
        if documents is not None:
            raise TargetError("An OpenAI-compatible target can't index documents; choose a suite without them.")

    def ask(self, turns: Sequence[str], documents: Sequence[Path] | None) -> Answer:
        """`POST /chat/completions` for each turn with the conversation so far, temperature 0."""
        messages: list[dict[str, str]] = []
        started = time.perf_counter()
        reply: dict[str, Any] = {}
        for turn in turns:
            messages.append({"role": "user", "content": turn})
            body = {"model": self._model, "messages": messages, "temperature": 0}
            reply = post(self._client, "/chat/completions", body)
            messages.append({"role": "assistant", "content": _content(reply, self._url)})
        text = messages[-1]["content"]
        language: Language = "zh" if is_chinese(turns[-1]) else "en"
        usage = reply.get("usage") or {}
        return Answer(
            id=str(reply.get("id") or uuid.uuid4()),
            conversation_id=str(uuid.uuid4()),
            question=turns[-1],
            language=language,
            status=infer_status(text),
            text=text,
            model=f"openai:{self._model}",
            usage=Usage(
                input_tokens=int(usage.get("prompt_tokens") or 0),
                output_tokens=int(usage.get("completion_tokens") or 0),
            ),
            timings_ms=Timings(total=(time.perf_counter() - started) * 1000),
        )

    def ranked(self, turns: Sequence[str], documents: Sequence[Path] | None, k: int) -> list[Ranked] | None:
        """None: the endpoint shows no passages."""
        return None

    def describe(self) -> dict[str, Any]:
        """Address and model."""
        return {"kind": "openai", "url": self._url, "model": self._model}


def _content(reply: Mapping[str, Any], url: str) -> str:
    try:
        return str(reply["choices"][0]["message"]["content"] or "")
    except (KeyError, IndexError, TypeError) as error:
        raise TargetError(f"{url} answers without choices[0].message.content.") from error
