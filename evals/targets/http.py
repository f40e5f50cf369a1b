"""This assistant behind its HTTP API."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assistant.schema import Answer
from evals.errors import TargetError
from evals.targets.base import Ranked
from evals.targets.client import json_client, post

if TYPE_CHECKING:
    import httpx


class HttpTarget:
    """Asks `/v1/ask`."""

    def __init__(self, url: str, key: str | None = None, timeout: float = 120.0) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._timeout = timeout

    @cached_property
    def _client(self) -> httpx.Client:
        return json_client(self._url, self._key, self._timeout)

    def prepare(self, documents: Sequence[Path] | None) -> None:
        """Nothing; refuses documents."""
        if documents is not None:
            raise TargetError("A target over HTTP answers from its own documents; run this suite in process.")

    def ask(self, turns: Sequence[str], documents: Sequence[Path] | None) -> Answer:
        """`POST /v1/ask` for each turn, in one conversation."""
        conversation = None
        answer: Answer | None = None
        for turn in turns:
            body = {"question": turn} | ({"conversation_id": conversation} if conversation else {})
            try:
                answer = Answer.model_validate(post(self._client, "/v1/ask", body))
            except ValidationError as error:
                reason = error.errors()[0]["msg"]
                raise TargetError(f"{self._url} answers with something that is no Answer: {reason}") from error
            conversation = answer.conversation_id
        assert answer is not None
        return answer

    def ranked(self, turns: Sequence[str], documents: Sequence[Path] | None, k: int) -> list[Ranked] | None:
        """None: what was cited stands in."""
        return None

    def describe(self) -> dict[str, Any]:
        """The address; version and index are what the server keeps."""
        return {"kind": "http", "url": self._url}
