"""Collections: which there are, and whose groups may read each."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from assistant.api.access import Caller, Note, audited, requires
from assistant.api.problems import PROBLEMS
from assistant.api.service import ServiceOf

router = APIRouter(prefix="/v1/collections", tags=["documents"], responses=PROBLEMS)
CollectionName = Annotated[str, Path(max_length=64, pattern=r"^\w[\w.-]*$", examples=["handbook"])]


class CollectionEntry(BaseModel):
    """A collection."""

    name: str
    groups: list[str] | None = Field(description="Who may read it, `*` being everybody. Only admins are told.")
    documents: int | None = Field(description="Null for an admin who may not read it.")


class CollectionList(BaseModel):
    """Collections by name."""

    items: list[CollectionEntry]


class Readers(BaseModel):
    """The groups that may read a collection, and nobody else; `*` is everybody."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"groups": ["research", "finance"]}]})

    groups: list[Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00\s,][^\x00,]*$")]] = Field(
        max_length=200
    )


@router.get("", summary="List the collections")
def listed(service: ServiceOf, caller: Annotated[Caller, requires("documents:read")]) -> CollectionList:
    """Those that the caller may read; an admin, who sets the groups, sees the names of all."""
    admin = "admin" in caller.scopes
    readable = {found.name: found for found in service.advisor.store.collections(caller.groups)}
    shown = service.advisor.store.collections() if admin else list(readable.values())
    return CollectionList(
        items=[
            CollectionEntry(
                name=found.name,
                groups=list(found.groups) if admin else None,
                documents=found.documents if found.name in readable else None,
            )
            for found in shown
        ]
    )


@router.put("/{name}/groups", summary="Say who may read a collection")
def set_groups(
    name: CollectionName,
    readers: Readers,
    service: ServiceOf,
    caller: Annotated[Caller, requires("admin")],
    note: Annotated[Note, audited("collection.groups")],
) -> CollectionEntry:
    """A collection that isn't there is made."""
    note.object = name
    service.advisor.store.set_groups(name, readers.groups)
    return next(entry for entry in listed(service, caller).items if entry.name == name)
