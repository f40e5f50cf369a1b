"""Copies all tables from one database to another, whichever of SQLite and PostgreSQL they are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, DateTime, Engine, MetaData, Table, delete, insert, select
from sqlalchemy.exc import SQLAlchemyError

from assistant.engines import open_engine
from assistant.errors import InvalidInput
from knowledge.errors import StoreError

_BATCH = 500


def copy_tables(source: str, target: str, *, replace: bool) -> None:
    """Copy every table with its rows in one transaction, read as they were at one moment.

    Args:
        source: SQLAlchemy's URL.
        target: the same; tables that are missing there are made.
        replace: whether rows that are there may be deleted.

    Raises:
        InvalidInput: the target holds rows, and `replace` is false.
        StoreError: one of the databases can't be used.
    """
    reading, writing = open_engine(source), open_engine(target)
    try:
        with _snapshot(reading) as taken, writing.begin() as given:
            tables = MetaData()
            tables.reflect(taken)
            for table in tables.sorted_tables:
                _make_portable(table)
            tables.create_all(given)
            _empty(given, tables, replace=replace)
            for table in tables.sorted_tables:
                for rows in _rows(taken, table, with_zone=writing.dialect.name != "sqlite"):
                    given.execute(insert(table), rows)
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise StoreError(f"The tables of the conversations can't be copied: {reason}.") from error
    finally:
        reading.dispose()
        writing.dispose()


def _snapshot(engine: Engine) -> Any:
    """A transaction in which every read sees one state."""
    if engine.dialect.name == "sqlite":
        return engine.begin()  # copied from a file of its own, which nobody writes
    return engine.execution_options(isolation_level="REPEATABLE READ").begin()


def _make_portable(table: Table) -> None:
    for column in table.columns:
        column.type = column.type.as_generic(allow_nulltype=True)
        column.server_default = None
        if isinstance(column.type, DateTime):
            column.type = DateTime(timezone=True)  # as all tables of this program have it


def _empty(connection: Connection, tables: MetaData, *, replace: bool) -> None:
    for table in reversed(tables.sorted_tables):
        if not replace and connection.execute(select(table).limit(1)).first() is not None:
            raise InvalidInput(
                f"The table {table.name} of ADVISOR_DATABASE_URL has rows. Give --replace to delete what is there."
            )
        connection.execute(delete(table))


def _rows(connection: Connection, table: Table, *, with_zone: bool) -> Iterator[list[dict[str, Any]]]:
    for part in connection.execution_options(yield_per=_BATCH).execute(select(table)).mappings().partitions(_BATCH):
        yield [{name: _moment(value, with_zone=with_zone) for name, value in row.items()} for row in part]


def _moment(value: Any, *, with_zone: bool) -> Any:
    """Moments are UTC; SQLite keeps them without saying so."""
    if not isinstance(value, datetime):
        return value
    universal = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return universal if with_zone else universal.replace(tzinfo=None)
