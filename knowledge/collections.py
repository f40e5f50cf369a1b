"""Collections: documents that are kept apart, and the groups that may read each.

A collection is readable by the groups that it names, and by nobody else; `*` is everybody. Whoever asks without groups
(`None`: the command line, or a server without access control) reads everything. All functions work inside their
caller's transaction, so that what may be read is decided in the same state of the store that is read.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection as Some
from dataclasses import dataclass

from knowledge.errors import InvalidInput, NotFound

DEFAULT = "default"
DEFAULT_NUMBER = 1
"""Of the collection that a new store has, which everybody may read."""
EVERYBODY = "*"
_NAME = re.compile(r"[\w][\w.-]{0,63}")
_MAX_GROUP = 200

Groups = frozenset[str] | None
"""Who asks; None asks for everything."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection as its readers see it."""

    name: str
    groups: tuple[str, ...]
    documents: int


def readable(connection: sqlite3.Connection, groups: Groups) -> frozenset[int] | None:
    """Numbers of the collections that may be read; None: all."""
    if groups is None:
        return None
    rows = connection.execute("SELECT collection, group_name FROM collection_groups")
    return frozenset(number for number, group in rows if group == EVERYBODY or group in groups)


def find_collection(connection: sqlite3.Connection, name: str, groups: Groups = None) -> int:
    """The number of a collection.

    Raises:
        NotFound: there is none of this name that may be read.
    """
    row = connection.execute("SELECT number FROM collections WHERE name = ?", (name,)).fetchone()
    allowed = readable(connection, groups)
    if row is None or (allowed is not None and row[0] not in allowed):
        raise NotFound(f"there is no collection {name!r} here: `advisor docs collections` shows those that there are")
    return int(row[0])


def ensure_collection(connection: sqlite3.Connection, name: str) -> int:
    """The number of a collection, which is made, for nobody to read yet, when there is none.

    Raises:
        InvalidInput: it can't have this name.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"a collection can't be called {name!r}: take up to 64 letters, digits, dots, dashes and underscores"
        )
    connection.execute("INSERT INTO collections (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    return find_collection(connection, name)


def set_groups(connection: sqlite3.Connection, number: int, groups: Some[str]) -> None:
    """Let these groups read a collection, and nobody else.

    Raises:
        InvalidInput: a group's name is empty or too long.
    """
    for group in groups:
        if not 0 < len(group.strip()) <= _MAX_GROUP:
            raise InvalidInput(f"a group's name has 1 to {_MAX_GROUP} characters, `*` is everybody: {group[:50]!r}")
    connection.execute("DELETE FROM collection_groups WHERE collection = ?", (number,))
    connection.executemany(
        "INSERT INTO collection_groups VALUES (?, ?)", [(number, group) for group in {g.strip() for g in groups}]
    )


def collection_rows(connection: sqlite3.Connection, groups: Groups = None) -> list[Collection]:
    """The collections that may be read, by name."""
    allowed = readable(connection, groups)
    readers: dict[int, list[str]] = {}
    for number, group in connection.execute("SELECT collection, group_name FROM collection_groups ORDER BY group_name"):
        readers.setdefault(number, []).append(group)
    rows = connection.execute(
        """SELECT number, name, (SELECT count(*) FROM documents WHERE collection = collections.number)
           FROM collections ORDER BY name"""
    )
    return [
        Collection(name, tuple(readers.get(number, ())), documents)
        for number, name, documents in rows
        if allowed is None or number in allowed
    ]
