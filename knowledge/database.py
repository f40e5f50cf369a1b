"""SQLite for the store: connections, transactions, schema versions, and errors in words."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path

from knowledge.errors import StoreError

APPLICATION_ID = 0x41445653
"""Marks the file as this program's ("ADVS"), so that another database is not migrated by mistake."""
WAL_SUFFIX = ".sqlite3-wal"
BUSY_SECONDS = 120
"""How long a writer waits for another. A transaction takes milliseconds, building a large index snapshot none."""


class Database:
    """A pool of connections to one SQLite file in WAL mode. Safe to share between threads, not across a fork."""

    def __init__(self, path: Path, *, create: bool, read_only: bool) -> None:
        """Open the file and bring its schema up to date.

        Raises:
            StoreError: the file is missing (and `create` is false), damaged, newer than this program, or not writable.
        """
        self.path = path
        self._read_only = read_only
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        if not path.exists() and (read_only or not create):
            raise StoreError(f"there is no index in {path.parent}: build it with `advisor index PATH` or `--shipped`")
        with explained(path):
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            with self._connection() as connection:
                self._check_version(connection)
                if not read_only:
                    _migrate(connection, path)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent state of the store, whatever is written meanwhile."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One writer at a time, in this and other processes; all of it is committed or nothing."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they are given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with explained(self.path), self._connection() as connection:
            connection.execute(begin)
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._connect()
        try:
            yield connection
        finally:
            if connection.in_transaction:
                connection.rollback()
            with self._lock:
                keep = not self._closed
                if keep:
                    self._idle.append(connection)
            if not keep:
                connection.close()

    def _connect(self) -> sqlite3.Connection:
        mode = "ro" if self._read_only else "rwc"
        if (
            self._read_only
            and not os.access(self.path.parent, os.W_OK)
            and not self.path.with_suffix(WAL_SUFFIX).exists()
        ):
            mode = "ro&immutable=1"  # WAL needs a file beside the database, which a read-only medium can't take
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_SECONDS,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        if not self._read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def _check_version(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application not in (0, APPLICATION_ID) or (application == 0 and _has_tables(connection)):
            raise StoreError(f"{self.path} is another program's database: set ADVISOR_DATA_DIR to another folder")
        if version > latest_version():
            raise StoreError(
                f"the index in {self.path.parent} has version {version}, newer than this program's "
                f"{latest_version()}: update cloud-training-advisor, or set ADVISOR_DATA_DIR to another folder"
            )
        if self._read_only and version < latest_version():
            raise StoreError(f"the index in {self.path.parent} is older than this program: open it once for writing")


class Pinned:
    """A database as one transaction sees it, for one reader at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The same state every time."""
        with explained(self.path):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Refused: what was read would no longer hold."""
        raise StoreError(f"{self.path} is being read as it was at one moment: write to the store itself")
        yield

    def close(self) -> None:
        """Nothing: the transaction belongs to somebody else."""


@cache
def migrations() -> tuple[str, ...]:
    """The SQL of each version, in order; the first leads to version 1."""
    folder = files("knowledge.migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def latest_version() -> int:
    """The schema version that this program writes."""
    return len(migrations())


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == latest_version():
        return
    # Or a table that is made anew would take its rows' dependants along.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for number, script in enumerate(migrations()[version:], version + 1):
            for statement in _statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise sqlite3.IntegrityError("rows have lost what they refer to")
    except sqlite3.Error as error:
        connection.execute("ROLLBACK")
        raise StoreError(f"can't bring {path} to version {latest_version()}: {error}; restore a backup") from error
    connection.execute("COMMIT")
    connection.execute("PRAGMA foreign_keys = ON")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns errors of SQLite and the file system into a StoreError that says what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(_operational(path, error)) from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"the index file {path} is damaged ({error}): restore a backup, or delete it and index the documents again"
        ) from error
    except OSError as error:
        raise StoreError(
            f"can't use the data folder {path.parent} ({error.strerror or error}): make it writable, or set "
            "ADVISOR_DATA_DIR to another folder"
        ) from error


def _operational(path: Path, error: sqlite3.OperationalError) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"another process has been writing to {path} for over {BUSY_SECONDS} s: try again when it is done"
    if "full" in text:
        return f"the disk of {path.parent} is full: free some space and run the command again"
    if "readonly" in text or "unable to open" in text:
        return f"can't write to {path.parent}: make it writable, or set ADVISOR_DATA_DIR to another folder"
    return f"the index file {path} can't be read ({text}): run `advisor doctor`, or index the documents again"
