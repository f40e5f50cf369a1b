"""JSON over HTTP with one clear line for each way it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evals.errors import TargetError

if TYPE_CHECKING:
    import httpx


def json_client(url: str, key: str | None, timeout: float) -> httpx.Client:
    """A client of `url`, with the key as bearer token."""
    import httpx

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(base_url=url, headers=headers, timeout=timeout)


def post(client: httpx.Client, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object that `path` answers.

    Raises:
        TargetError: no connection, an error status, or no JSON object.
    """
    import httpx

    try:
        response = client.post(path, json=body)
        response.raise_for_status()
        value = response.json()
    except httpx.HTTPStatusError as error:
        detail = error.response.text[:200]
        raise TargetError(f"{client.base_url} answers {error.response.status_code} to {path}: {detail}") from error
    except (httpx.HTTPError, ValueError) as error:
        raise TargetError(f"{client.base_url} can't be asked: {error or type(error).__name__}") from error
    if not isinstance(value, dict):
        raise TargetError(f"{client.base_url} answers {path} with no JSON object.")
    return value
