"""The catalog: models, accelerators, instances and prices, each row with its source and date."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel

from assistant.api.access import Caller, requires
from assistant.api.pages import Cursor, Limit, Page, decode_cursor, encode_cursor
from assistant.api.problems import PROBLEMS
from assistant.errors import InvalidInput, NotFound
from knowledge.catalog import KINDS, list_rows

router = APIRouter(prefix="/v1/catalog", tags=["tools"], responses=PROBLEMS)
ToolsAllowed = Annotated[Caller, requires("tools")]


class Kind(BaseModel):
    """A part of the catalog."""

    kind: str
    rows: int


class Kinds(BaseModel):
    """All parts."""

    items: list[Kind]


@router.get("", summary="List the parts of the catalog")
def kinds(_caller: ToolsAllowed) -> Kinds:
    """What it knows, and how many rows of each."""
    return Kinds(items=[Kind(kind=kind, rows=len(list_rows(kind))) for kind in KINDS])


@router.get("/{kind}", summary="Read a part of the catalog")
def rows(
    kind: Annotated[str, Path(max_length=64, examples=["instances"])],
    _caller: ToolsAllowed,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[dict[str, Any]]:
    """Its rows in the order of the file, with source and date."""
    if kind not in KINDS:
        raise NotFound(f"The catalog has no '{kind}'. It has: {', '.join(KINDS)}.")
    (position,) = decode_cursor(cursor, 1) if cursor is not None else ("0",)
    if not (position.isascii() and position.isdigit() and len(position) < 10):
        raise InvalidInput("The cursor is not one of this list. Leave it out to start from the beginning.")
    found = list_rows(kind)
    first = int(position)
    after = first + limit
    return Page(items=found[first:after], next_cursor=encode_cursor(str(after)) if after < len(found) else None)
