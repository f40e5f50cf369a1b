"""An OpenAI-compatible embeddings endpoint as an encoder. It gives no token vectors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus

import httpx
import numpy as np

from knowledge.encoders.base import Encoded, Floats, normalised
from knowledge.errors import EncoderError

BATCH_TEXTS = 64
_ATTEMPTS = 4
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
_LONGEST_WAIT = 20.0
"""Seconds between attempts at most, whatever the endpoint asks for."""
_WORTH_RETRYING = {
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}


class EndpointEncoder:
    """`POST URL/embeddings` with a model's name, as OpenAI's API reference describes it."""

    def __init__(self, address: str) -> None:
        """Ask the endpoint once, for the dimension.

        Args:
            address: `URL#model`, for example `https://api.openai.com/v1#text-embedding-3-small`. The key is read from
                the environment variable OPENAI_API_KEY; none is sent when it isn't set.

        Raises:
            EncoderError: the address is malformed, or the endpoint doesn't answer as it should.
        """
        url, _, self._model = address.partition("#")
        if not self._model or httpx.URL(url).scheme not in {"http", "https"}:
            raise EncoderError(f"'openai:{address}' is not an embeddings endpoint: write openai:URL#model")
        self._url = url.rstrip("/") + "/embeddings"
        key = os.environ.get("OPENAI_API_KEY")
        self._client = httpx.Client(timeout=_TIMEOUT, headers={"Authorization": f"Bearer {key}"} if key else None)
        self.dimension = self._vectors(["dimension"]).shape[1]
        self.identity = f"{self._url}#{self._model}/{self.dimension}"

    def query(self, text: str) -> Encoded:
        """Encode a question."""
        return self.passages([text])[0]

    def queries(self, texts: Sequence[str]) -> list[Encoded]:
        """Encode questions together, in the order given."""
        return self.passages(texts)

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        """Encode passages, in the order given.

        Raises:
            EncoderError: the endpoint doesn't answer as it should.
        """
        no_tokens = np.zeros((0, self.dimension), dtype=np.float32)
        results: list[Encoded] = []
        for start in range(0, len(texts), BATCH_TEXTS):
            vectors = self._vectors(texts[start : start + BATCH_TEXTS])
            if vectors.shape[1] != self.dimension:
                raise EncoderError(
                    f"{self._url} changed its vectors from {self.dimension} to {vectors.shape[1]} numbers"
                )
            results.extend(Encoded(vector, no_tokens) for vector in vectors)
            if on_progress is not None:
                on_progress(len(results))
        return results

    def _vectors(self, texts: Sequence[str]) -> Floats:
        # The API refuses an empty text.
        body = {"model": self._model, "input": [text or " " for text in texts], "encoding_format": "float"}
        answer = self._post(body)
        try:
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise EncoderError(f"{self._url} didn't answer with embeddings: {answer.text[:200]}") from error
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise EncoderError(f"{self._url} answered {len(vectors)} embeddings for {len(texts)} texts")
        return normalised(vectors)

    def _post(self, body: Mapping[str, object]) -> httpx.Response:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = self._client.post(self._url, json=body)
            except httpx.HTTPError as error:
                if attempt == _ATTEMPTS:
                    raise EncoderError(f"the embeddings endpoint {self._url} can't be reached: {error}") from error
                time.sleep(_wait(attempt, None))
                continue
            if answer.is_success:
                return answer
            if answer.status_code not in _WORTH_RETRYING or attempt == _ATTEMPTS:
                break
            time.sleep(_wait(attempt, answer.headers.get("Retry-After")))
        raise EncoderError(f"the embeddings endpoint {self._url} answered {answer.status_code}: {answer.text[:200]}")


def _wait(attempt: int, asked: str | None) -> float:
    """Seconds to wait: what the endpoint asks for, or 0.5, 1, 2."""
    seconds = float(asked) if asked is not None and asked.isdigit() else 0.5 * 2 ** (attempt - 1)
    return min(seconds, _LONGEST_WAIT)
