"""Methods of the classes of _joedb that need other packages, or are written best in Python."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _joedb
from .history import Transaction


def open(
    path: str | os.PathLike[str],
    mode: str = "w",
    *,
    server: str = "",
    authority_file: str | os.PathLike[str] = "",
    token_file: str | os.PathLike[str] = "",
    recovery: str = "",
    timeout: float | None = math.nan,
    hard: bool = False,
    timestamps: bool = True,
) -> _joedb.Database:
    """Opens a database.

    path        the file; ":memory:" is a new database in memory.
    mode        "w": for writing, alone, and made if it is not there; "r+": it must be there;
                "x": it must not; "shared": several programs write, one transaction at a time;
                "r": for reading, while others may write.
    server      what this is a copy of: joedb://HOST/DATABASE, or the socket of a local server.
    recovery    what is done with the bytes of a program that was killed in a transaction:
                "keep", "overwrite".
    timeout     seconds to wait for others who are writing a shared file, and for other threads
                that are in a transaction of this database, before LockTimeout, and for a
                lost server; None: for ever. Default: 5 for others, 60 for a server.
    hard        transactions survive power cuts, not only the end of the program.
    timestamps  transactions have a time, which `at("2 hours ago")` needs.
    """
    return _open(
        path, mode, (), server, authority_file, token_file, recovery, timeout, hard, timestamps
    )


def _open(
    path: str | os.PathLike[str],
    mode: str,
    unique: Sequence[tuple[str, str, Sequence[str], int, Sequence[int]]],
    server: str = "",
    authority_file: str | os.PathLike[str] = "",
    token_file: str | os.PathLike[str] = "",
    recovery: str = "",
    timeout: float | None = math.nan,
    hard: bool = False,
    timestamps: bool = True,
) -> _joedb.Database:
    """Opens a database. `unique` has a tuple for each unique index: its name, its table, the names
    of its fields, and the ids of table and fields in a new file."""
    authority_file, token_file = os.fspath(authority_file), os.fspath(token_file)
    if any("\0" in text for text in (os.fspath(path), server, authority_file, token_file)):
        raise ValueError("embedded null character")
    return _joedb._open(
        os.fsencode(path),
        mode,
        server,
        authority_file,
        token_file,
        recovery,
        -1.0 if timeout is None else timeout if math.isnan(timeout) else max(0.0, float(timeout)),
        hard,
        timestamps,
        unique,
    )


def _create_table(
    self: _joedb.Database,
    name: str,
    fields: Mapping[str, Any] | None = None,
    /,
    *,
    like: Any = None,
    **more: Any,
) -> _joedb.Table:
    """A new table with these fields: `name=str, age="int8", home=city`. Types are str, int,
    float, bool, bytes; "int8", "int16", "int32", "float32" and the other names of joedb; a
    table, or "references TABLE". `fields` is for names that cannot be keywords. `like` is a
    data frame, or another object with an Arrow schema, whose columns become the first fields."""
    all_fields = {**(fields or {}), **more}
    if like is None:
        return self._create_table(name, all_fields)
    if isinstance(like, dict):
        like = _arrow_table(like)
    if hasattr(like, "__arrow_c_schema__"):
        capsule = like.__arrow_c_schema__()
    elif hasattr(like, "__arrow_c_stream__"):
        capsule = like.__arrow_c_stream__()
    else:
        raise TypeError(f"{type(like).__name__} has no Arrow schema")
    return self._create_table_like(name, capsule, all_fields)


class Rows(list[tuple[Any, ...]]):
    """What a statement of SQL has found: a list of tuples."""

    #: Names of the columns.
    columns: tuple[str, ...] = ()

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        import pyarrow

        arrays = [pyarrow.array([row[i] for row in self]) for i in range(len(self.columns))]
        return pyarrow.Table.from_arrays(arrays, names=list(self.columns))

    def to_pandas(self) -> Any:
        """A data frame of pandas."""
        return self.to_arrow().to_pandas()


def _sql(
    self: _joedb.Database, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> Rows:
    """What SQLite finds in these tables, as they are now: in a transaction, with its changes.
    The column `__id` has the ids of records, and a reference is an id. Nothing can be written.
    """
    columns, rows = self._run_sql(statement, parameters)
    result = Rows(rows)
    result.columns = columns
    return result


def _changes(
    self: _joedb.Database, since: Any = None, until: Any = None, *, table: Any = None
) -> Iterator[Transaction]:
    """The transactions between two moments, with old and new values."""
    if isinstance(table, str):
        table = self[table]
    return _joedb._changes(
        self,
        None if since is None else self._position(since),
        None if until is None else self._position(until),
        table,
    )


def _arrow_column(values: Any) -> Any:
    """Converts a column of floats to an Arrow array in which NaN stays NaN: Arrow would convert the
    NaN of pandas to null. Returns other columns unchanged."""
    import numpy
    import pyarrow

    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, numpy.dtype) and dtype.kind == "f":
        return pyarrow.array(numpy.asarray(values), from_pandas=False)
    return values


def _arrow_table(columns: Any) -> Any:
    """Converts a dict of columns, or a pandas data frame, to a pyarrow.Table."""
    import pyarrow

    if isinstance(columns, dict):
        return pyarrow.table({name: _arrow_column(values) for name, values in columns.items()})
    table = pyarrow.table(columns)
    for i in range(len(columns.columns)):
        column = _arrow_column(columns.iloc[:, i])
        if isinstance(column, pyarrow.Array):
            table = table.set_column(i, table.column_names[i], column)
    return table


def _is_pandas(rows: Any) -> bool:
    return type(rows).__module__.partition(".")[0] == "pandas" and hasattr(rows, "iloc")


def _insert_many(
    self: _joedb.Table,
    rows: Any,
    *,
    null_is_default: bool = False,
    ignore_unknown: bool = False,
    ids: bool = False,
    round: bool = False,
) -> range | list[int]:
    """Many records: of a data frame or another Arrow table, a dict of columns, or an iterable of
    dicts, one for each record. Returns their ids. If it fails outside of a transaction, there
    is none of them. NaN stays NaN, also in data frames of pandas.

    null_is_default  what is missing in a column, or None, becomes 0, False or "".
    ignore_unknown   columns that are no fields are left out.
    ids              a column `__id` has the ids of the records.
    round            numbers become what a float32 can hold; otherwise others are errors.
    """
    if isinstance(rows, dict) or _is_pandas(rows):
        rows = _arrow_table(rows)
    if hasattr(rows, "__arrow_c_stream__"):
        given: list[int] | None = None
        if ids:
            import pyarrow

            rows = pyarrow.table(rows)  # a stream can be read only once; keep the ids
            if "__id" in rows.column_names:
                given = rows["__id"].to_pylist()
        new = self._insert_stream(
            rows.__arrow_c_stream__(), null_is_default, ignore_unknown, ids, round
        )
        return new if given is None else given
    if not isinstance(rows, Iterable) or isinstance(rows, (str, bytes)):
        raise TypeError(f"{type(rows).__name__} is neither an Arrow table nor an iterable of dicts")
    return self._insert_rows(rows, null_is_default, ignore_unknown, ids, round)


class _Stream:
    """Wraps the capsule of a stream, for functions that take an object. Can be read once."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.capsule


def _to_arrow(
    self: _joedb.Table,
    fields: Sequence[str] | None = None,
    *,
    ids: bool = False,
    views: bool = False,
) -> Any:
    """The table as a pyarrow.Table. Numbers are not copied.

    fields  only these.
    ids     with a first column `__id`.
    views   texts as string views, which copies 16 bytes for each.
    """
    import pyarrow

    return pyarrow.table(_Stream(self._arrow_stream(fields, ids, views)))


def _found_to_arrow(
    self: _joedb.Records, fields: Sequence[str] | None = None, *, ids: bool = False
) -> Any:
    """A pyarrow.Table; ids: with a first column `__id`."""
    import numpy
    import pyarrow

    table = self.table.to_arrow(fields, ids=True)
    there = table["__id"].to_numpy()
    rows = numpy.searchsorted(there, self.ids)
    found = (rows < len(there)).all() and numpy.array_equal(there[rows], self.ids)
    if not found:
        gone = numpy.setdiff1d(self.ids, there)[0]
        raise KeyError(f"{self.table.table_name} has no record {gone}")
    if not ids:
        table = table.drop_columns("__id")
    return table.take(pyarrow.array(rows))


def _to_pandas(self: _joedb.Table | _joedb.Records, fields: Sequence[str] | None = None) -> Any:
    """A data frame of pandas, whose index are the ids of the records."""
    frame = self.to_arrow(fields, ids=True).to_pandas().set_index("__id")
    frame.index.name = "id"
    return frame


def add_to(module: Any) -> None:
    module.Database.create_table = _create_table
    module.Database.sql = _sql
    module.Database.changes = _changes
    module.Table.insert_many = _insert_many
    module.Table.to_arrow = _to_arrow
    module.Table.to_pandas = _to_pandas
    module.Records.to_arrow = _found_to_arrow
    module.Records.to_pandas = _to_pandas
