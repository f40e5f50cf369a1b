"""Copies SQLite databases while they are in use, and puts a copied store in the place of a live one."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

from knowledge.database import BUSY_SECONDS, explained
from knowledge.errors import StoreError
from knowledge.statements import set_meta
from knowledge.store import FILE_NAME, Store

_AHEAD = 1000
"""More changes than the live store can see while it is being replaced."""
_OF_SNAPSHOT = ("snapshot_generation", "snapshot_last_chunk", "snapshot_segments")


def copy_database(source: Path, target: Path) -> None:
    """Copy a SQLite database; others may use both meanwhile, and see the target wholly as it was or wholly new.

    Args:
        source: read at one moment.
        target: made where it is missing; what it holds is replaced.

    Raises:
        StoreError: one of the two can't be used.
    """
    address = f"{source.absolute().as_uri()}?mode=ro"
    with (
        explained(source),
        closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as reading,
        explained(target),
        closing(sqlite3.connect(target, timeout=BUSY_SECONDS)) as writing,
    ):
        reading.backup(writing)


def replace_store(copied: Path, folder: Path) -> None:
    """Put a copied store in the place of the folder's, which others may have open.

    They tell a change by the generation and take chunk ids as never used again; both would deceive them after a
    replacement, so the copy gets a generation above both and names no snapshot.

    Args:
        copied: folder of the copy; it is changed.
        folder: of the store to be replaced, or where there is none yet.

    Raises:
        StoreError: the copy is damaged or newer than this program, or the folder can't be written.
    """
    generation = _generation(folder) + _AHEAD
    with Store.open(copied, create=False) as store, store.writing() as connection:
        set_meta(connection, "generation", str(max(generation, store.generation)))
        set_meta(connection, "snapshot", f"replaced-{uuid.uuid4().hex}")
        marks = ",".join("?" * len(_OF_SNAPSHOT))
        connection.execute(f"DELETE FROM meta WHERE key IN ({marks})", _OF_SNAPSHOT)
    folder.mkdir(parents=True, exist_ok=True)
    copy_database(copied / FILE_NAME, folder / FILE_NAME)


def _generation(folder: Path) -> int:
    """The generation of a folder's store; 0 where there is none, or one that is damaged, which is deleted."""
    if not (folder / FILE_NAME).exists():
        return 0
    try:
        with Store.open(folder, create=False) as store:
            return store.generation
    except StoreError:
        for path in folder.glob(f"{FILE_NAME}*"):
            path.unlink()
        return 0
