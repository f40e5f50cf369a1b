"""Pages of a list: a limit, and an opaque cursor that says where the next page begins."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

from assistant.errors import InvalidInput

T = TypeVar("T")
MAX_LIMIT = 200

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Entries of a page.")]
Cursor = Annotated[str | None, Query(max_length=2000, description="`next_cursor` of the page before.")]


class Page(BaseModel, Generic[T]):
    """Part of a list."""

    items: list[T]
    next_cursor: str | None = Field(default=None, description="Give it as `cursor` for the next page; null at the end.")


def encode_cursor(*position: str) -> str:
    """A position in a list as a cursor."""
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, parts: int) -> tuple[str, ...]:
    """The reverse of `encode_cursor`.

    Raises:
        InvalidInput: it is no cursor of this list.
    """
    try:
        position = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error) as error:
        raise InvalidInput("The cursor is not one of this list. Leave it out to start from the beginning.") from error
    if not isinstance(position, list) or len(position) != parts or not all(isinstance(p, str) for p in position):
        raise InvalidInput("The cursor is not one of this list. Leave it out to start from the beginning.")
    return tuple(position)
