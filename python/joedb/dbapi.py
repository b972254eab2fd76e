"""SELECT through the interface of Python for databases (PEP 249), for pandas.read_sql and others."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _joedb, _methods, errors

apilevel = "2.0"
threadsafety = 2
paramstyle = "qmark"


class Warning(Exception):
    """Is never raised."""


Error = errors.Error
DatabaseError = errors.Error
DataError = errors.DataError
IntegrityError = errors.UniqueViolation
InternalError = errors.CorruptionError
OperationalError = errors.IoError
ProgrammingError = errors.SqlError


class InterfaceError(Error):
    """A cursor was closed, or has no rows."""


class NotSupportedError(Error):
    """SQL reads only: tables and records are changed by their objects."""


class _Type:
    def __init__(self, *codes: Any) -> None:
        self.codes = codes

    def __eq__(self, other: object) -> bool:
        return other in self.codes

    def __hash__(self) -> int:
        return hash(self.codes)


STRING, BINARY, NUMBER = _Type(str), _Type(bytes), _Type(int, float)
DATETIME, ROWID = _Type(), _Type(int)
Date, Time, Timestamp = datetime.date, datetime.time, datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    return Timestamp(*time.localtime(ticks)[:6])


def __getattr__(name: str) -> Any:
    """The version of SQLite, under the names of the module sqlite3."""
    if name not in ("sqlite_version", "sqlite_version_info"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _methods.open(":memory:") as database:
        version: str = database.sql("select sqlite_version()")[0][0]
    return version if name == "sqlite_version" else tuple(map(int, version.split(".")))


def connect(
    database: str | os.PathLike[str] | _joedb.Database, mode: str = "r", **options: Any
) -> Connection:
    """A connection to a file, which is closed with it, or to an open database. `mode` and `options`
    are those of `joedb.open`. Statements read only."""
    if isinstance(database, _joedb.Database):
        return Connection(database, False)
    return Connection(_methods.open(database, mode, **options), True)


class Connection:
    """Each statement sees the tables as they are, also in a transaction of `database`."""

    Warning, Error, InterfaceError, DatabaseError = Warning, Error, InterfaceError, DatabaseError
    DataError, OperationalError, IntegrityError = DataError, OperationalError, IntegrityError
    InternalError, ProgrammingError = InternalError, ProgrammingError
    NotSupportedError = NotSupportedError

    def __init__(self, database: _joedb.Database, is_owner: bool) -> None:
        self.database = database
        self._is_owner = is_owner
        self._is_closed = False

    def _open_database(self) -> _joedb.Database:
        if self._is_closed:
            raise errors.Closed("the connection is closed")
        return self.database

    def cursor(self) -> Cursor:
        self._open_database()
        return Cursor(self)

    def execute(
        self, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> Cursor:
        return self.cursor().execute(statement, parameters)

    def commit(self) -> None:
        """Does nothing: nothing was written."""
        self._open_database()

    def rollback(self) -> None:
        """Does nothing: nothing was written."""
        self._open_database()

    def close(self) -> None:
        if self._is_owner:
            self.database.close()
        self._is_closed = True

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Cursor:
    arraysize = 1
    lastrowid = None

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.description: tuple[tuple[Any, ...], ...] | None = None
        self.rowcount = -1
        self._rows: Iterator[tuple[Any, ...]] | None = None
        self._is_closed = False

    def execute(
        self, statement: str, parameters: Sequence[Any] | Mapping[str, Any] | None = ()
    ) -> Cursor:
        if self._is_closed:
            raise InterfaceError("the cursor is closed")
        self._rows = self.description = None
        rows = self.connection._open_database().sql(statement, parameters or ())
        self._rows = iter(rows)
        self.rowcount = len(rows)
        self.description = tuple(
            (name, _type_of(rows, i), None, None, None, None, None)
            for i, name in enumerate(rows.columns)
        )
        return self

    def executemany(self, statement: str, parameters: Sequence[Any]) -> None:
        raise NotSupportedError("SELECT is executed once: use execute()")

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._found(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        rows = self._found()
        return [row for _, row in zip(range(self.arraysize if size is None else size), rows)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._found())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._found()

    def _found(self) -> Iterator[tuple[Any, ...]]:
        if self._rows is None or self._is_closed:
            raise InterfaceError("the cursor has no rows: execute() a statement")
        return self._rows

    def close(self) -> None:
        self._is_closed = True
        self._rows = None

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        pass

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        pass


def _type_of(rows: Sequence[tuple[Any, ...]], column: int) -> Any:
    """The type of the first value that is not None."""
    return next((type(row[column]) for row in rows if row[column] is not None), None)
