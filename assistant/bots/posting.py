"""A message posted to an address that a platform gave for it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

import httpx

from assistant.bots.errors import RateLimited, refused

_TIMEOUT = 15.0


def post(platform: str, url: str, body: dict[str, Any], *, too_fast: AbstractSet[int]) -> None:
    """Post a message as JSON; the platform's answer holds an `errcode`, 0 when it took it.

    Args:
        platform: its name, for people.
        url: the address.
        body: the message.
        too_fast: codes by which it asks for fewer messages.

    Raises:
        RateLimited: it can't take it just now.
        ChannelError: it refuses it.
    """
    try:
        response = httpx.post(url, json=body, timeout=_TIMEOUT)
    except httpx.HTTPError as error:
        raise RateLimited(f"{platform} can't be reached: {error}") from error
    if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.is_server_error:
        after = response.headers.get("retry-after")
        raise RateLimited(f"{platform} answers {response.status_code}", float(after) if after else None)
    answer = response.json()
    if answer.get("errcode") in too_fast:
        raise RateLimited(f"{platform} says: {answer.get('errmsg')}")
    if answer.get("errcode", 0) != 0:
        raise refused(platform, f"{answer['errcode']} {answer.get('errmsg')}")
