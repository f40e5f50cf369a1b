"""Opens the database of conversations and of the service's own tables: SQLite or PostgreSQL, by SQLAlchemy's URL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, MetaData, create_engine, event, text
from sqlalchemy.exc import ArgumentError

from assistant.errors import InvalidInput

_LOCK = 0x41445654
"""Number of PostgreSQL's advisory lock while tables are made."""


def open_engine(url: str) -> Engine:
    """An engine over a database; nothing is connected yet.

    Raises:
        InvalidInput: the address can't be understood, or its driver isn't installed.
    """
    try:
        engine = create_engine(url, pool_pre_ping=True)
    except ArgumentError as error:
        raise InvalidInput(
            "ADVISOR_DATABASE_URL is no address of a database. It looks like postgresql://USER:PASSWORD@HOST/NAME."
        ) from error
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"ADVISOR_DATABASE_URL needs the package {error.name}: pip install 'cloud-training-advisor[postgres]'."
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _sqlite_settings)
    return engine


def create_tables(engine: Engine, tables: MetaData) -> None:
    """Make the tables that are missing, one process at a time."""
    with engine.begin() as connection:
        lock_schema(connection, _LOCK)
        tables.create_all(connection)


def lock_schema(connection: Connection, number: int) -> None:
    """Let no other process change tables until the transaction ends; must be its first statement."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})


def _sqlite_settings(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
