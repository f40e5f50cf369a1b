"""The tables of the API (keys, audit log, idempotency, ingests) in the database of the conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, make_url, text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from assistant.engines import lock_schema, open_engine
from knowledge.errors import StoreError

_LOCK = 0x41445653
"""Number of PostgreSQL's advisory lock while the schema is brought up to date."""


def now() -> str:
    """The present as it is stored."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Database:
    """SQLite or PostgreSQL by SQLAlchemy's URL, opened when it is first needed. Safe to share between threads.

    Every method raises StoreError when the database can't be opened or written, or is newer than this program.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = Lock()
        self._opened: Engine | None = None

    @property
    def _engine(self) -> Engine:
        with self._lock:
            if self._opened is None:
                engine = open_engine(self._url)
                _migrate(engine)
                self._opened = engine
            return self._opened

    def rows(self, query: str, **values: Any) -> list[Mapping[str, Any]]:
        """The rows of a query with `:name` parameters."""
        with self._errors(), self._engine.begin() as connection:
            return [dict(row) for row in connection.execute(text(query), values).mappings()]

    def change(self, *statements: tuple[str, Mapping[str, Any]]) -> int:
        """Run statements in one transaction; the number of rows that the last one changed."""
        count = 0
        with self._errors(), self._engine.begin() as connection:
            for statement, values in statements:
                count = connection.execute(text(statement), dict(values)).rowcount
        return count

    def insert(self, table: str, **values: Any) -> bool:
        """Add a row; False when there is one with this primary key."""
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        with self._errors():
            try:
                with self._engine.begin() as connection:
                    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({marks})"), values)
            except IntegrityError:
                return False
        return True

    def close(self) -> None:
        """Release the connections."""
        if self._opened is not None:
            self._opened.dispose()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            where = make_url(self._url).render_as_string(hide_password=True)
            raise StoreError(f"The database {where} can't be used: {reason}. Check that it can be written.") from error


@cache
def migrations() -> Sequence[str]:
    """The SQL of each version, in order; the first leads to version 1."""
    folder = files("assistant.api.migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _migrate(engine: Engine) -> None:
    with engine.connect() as connection:
        lock_schema(connection, _LOCK)
        version = _version(connection)
        if version > len(migrations()):
            raise StoreError(
                f"The API's tables have version {version}, newer than this program's {len(migrations())}: update "
                "cloud-training-advisor."
            )
        for script in migrations()[version:]:
            for statement in _statements(script):
                connection.exec_driver_sql(statement)
        if version < len(migrations()):
            connection.exec_driver_sql("DELETE FROM api_version")
            connection.execute(text("INSERT INTO api_version VALUES (:version)"), {"version": len(migrations())})
        connection.commit()


def _version(connection: Connection) -> int:
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS api_version (version INTEGER NOT NULL)")
    return int(connection.exec_driver_sql("SELECT version FROM api_version").scalar() or 0)


def _statements(script: str) -> Iterator[str]:
    lines = (line.partition("--")[0] for line in script.splitlines())
    for statement in "\n".join(lines).split(";"):
        if statement.strip():
            yield statement
