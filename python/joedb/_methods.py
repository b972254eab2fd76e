"""Methods of the classes of _joedb that need other packages, or are written best in Python."""

from __future__ import annotations

import contextlib
import html
import importlib
import itertools
import math
import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _joedb
from .errors import DataError, SchemaMismatch
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
    exist_ok: bool = False,
    rename: Any = None,
    ignore_unknown: Any = False,
    **more: Any,
) -> _joedb.Table:
    """A new table with these fields: `name=str, age="int8", home=city`. Types are str, int,
    float, bool, bytes, and datetime.date, datetime.datetime, datetime.timedelta, uuid.UUID;
    "int8", "float32", "decimal(2)", "enum(open, paid)" and the other names of joedb, also with
    " optional" behind them, as in int | None; a table, or "references TABLE", also with a rule:
    "references city on_delete clear" (or cascade, or refuse). `fields` is for names that cannot be
    keywords. `like` is a data frame, or another object with an Arrow schema, whose columns become
    the first fields: `rename` has the names of fields by those of their columns, and with
    `ignore_unknown=True`, columns of types that no field has are left out, as in `insert_many`.
    With `exist_ok`, a table of this name that has these fields is returned; SchemaMismatch, if it
    lacks one of them."""
    all_fields = {**(fields or {}), **more}
    if not isinstance(rename, Mapping) and rename is not None:  # it is the name of a field
        all_fields["rename"], rename = rename, None
    if not isinstance(ignore_unknown, bool):
        all_fields["ignore_unknown"], ignore_unknown = ignore_unknown, False
    missing: list[str] = []
    if like is not None:
        if isinstance(like, dict):
            like = _arrow_table(like)
        missing = _columns_with_nulls(like)
        if rename or ignore_unknown:
            like = _fields_like(name, like, rename or {}, ignore_unknown)
            missing = [(rename or {}).get(column, column) for column in missing]
    elif rename or ignore_unknown:
        raise TypeError("rename and ignore_unknown are about the columns of like=")
    if name in self:
        if not exist_ok:
            shown = f"db.{name}" if name not in dir(type(self)) else f"db[{name!r}]"
            raise DataError(
                f"{self.name} has a table {name} already: {shown} is that table, and exist_ok=True "
                "returns it if it has these fields"
            )
        _require_fields(self, self[name], all_fields, like, missing)
        return self[name]
    return _create(self, name, all_fields, like, missing)


def _create(
    database: _joedb.Database, name: str, fields: dict[str, Any], like: Any, missing: list[str]
) -> _joedb.Table:
    """Creates a table. `missing` are the columns of `like` whose fields are optional."""
    if like is None:
        return database._create_table(name, fields)
    if hasattr(like, "__arrow_c_schema__"):
        capsule = like.__arrow_c_schema__()
    elif hasattr(like, "__arrow_c_stream__"):
        capsule = like.__arrow_c_stream__()
    else:
        raise TypeError(f"{type(like).__name__} has no Arrow schema")
    return database._create_table_like(name, capsule, fields, missing)


def _columns_with_nulls(rows: Any) -> list[str]:
    """The columns in which values are missing, of a table of pyarrow, or a frame of pandas or polars.
    NaN in a column of floats is a value."""
    if _is_pandas(rows):
        missing = {name: rows[name].isna().any() for name in rows.columns}
        return [
            str(name)
            for name, is_missing in missing.items()
            if is_missing and getattr(rows[name].dtype, "kind", "O") != "f"
        ]
    if hasattr(rows, "column_names"):  # pyarrow
        columns = zip(rows.column_names, rows.itercolumns())
        return [name for name, column in columns if column.null_count > 0]
    if type(rows).__module__.partition(".")[0] == "polars" and hasattr(rows, "null_count"):
        return [name for name, (count,) in rows.null_count().to_dict().items() if count > 0]
    return []


def _fields_like(
    table: str, like: Any, new_names: Mapping[str, str], ignore_unknown: bool
) -> Any:
    """The Arrow schema of the fields that columns become."""
    pyarrow = _needed("pyarrow", "rename and ignore_unknown of create_table")
    if not hasattr(like, "__arrow_c_schema__") and hasattr(like, "__arrow_c_stream__"):
        like = pyarrow.RecordBatchReader.from_stream(like).schema
    columns = list(pyarrow.schema(like))
    _require_columns(table, new_names.keys() - {column.name for column in columns})
    fields = []
    for column in columns:
        try:
            with _open(":memory:", "w", ()) as scratch:
                alone = pyarrow.schema([column.with_name("a")])
                scratch._create_table_like("t", alone.__arrow_c_schema__(), {}, [])
        except DataError:
            if ignore_unknown:
                continue
        fields.append(column.with_name(new_names.get(column.name, column.name)))
    return pyarrow.schema(fields)


def _require_fields(
    database: _joedb.Database,
    table: _joedb.Table,
    fields: Mapping[str, Any],
    like: Any,
    missing: list[str],
) -> None:
    """Raises SchemaMismatch if the table lacks a field that create_table() would make."""
    with _open(":memory:", "w", ()) as scratch:
        for name in database:
            scratch.create_table(name)
        scratch[table.table_name].drop()
        wanted = {
            name: f"references {kind.table_name}" if isinstance(kind, _joedb.Table) else kind
            for name, kind in fields.items()
        }
        made = _create(scratch, table.table_name, wanted, like, missing).fields
    there = table.fields
    for name, kind in made.items():
        if there.get(name) != kind:
            what = f"is {there[name]}, not {kind}" if name in there else "is not there"
            raise SchemaMismatch(f"{database.name}: {table.table_name}.{name} {what}")


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

    def _repr_html_(self) -> str:
        return _html(self.columns, self[:_SHOWN], len(self), "row")


_SHOWN = 20


def _html(columns: Sequence[str], rows: Iterable[Sequence[Any]], count: int, what: str) -> str:
    """What Jupyter shows."""

    def line(tag: str, values: Sequence[Any]) -> str:
        cells = (f"<{tag}>{html.escape(_short(value))}</{tag}>" for value in values)
        return f"<tr>{''.join(cells)}</tr>"

    lines = "".join(line("td", row) for row in rows)
    more = f", of which {_SHOWN} are shown" if count > _SHOWN else ""
    return (
        f"<table><thead>{line('th', columns)}</thead><tbody>{lines}</tbody></table>"
        f"<p>{count} {what}{'' if count == 1 else 's'}{more}</p>"
    )


def referenced_table(kind: str) -> str:
    """city, for a field of this type: "references city", or "references city on_delete clear"."""
    return kind.removeprefix("references ").partition(" on_delete ")[0]


def _short(value: Any) -> str:
    longest = 100
    if isinstance(value, _joedb.Record):
        value = value.id
    elif isinstance(value, bytes):
        value = f"<{len(value)} bytes>"
    text = str(value).encode(errors="backslashreplace").decode()
    return text if len(text) <= longest else text[:longest] + "…"


def _table_of(records: _joedb.Table | _joedb.Records) -> _joedb.Table:
    return records if isinstance(records, _joedb.Table) else records.table


def _html_of_records(self: _joedb.Table | _joedb.Records) -> str:
    table = _table_of(self)
    rows = (
        [record.id, *record.as_dict().values()] for record in itertools.islice(self, _SHOWN)
    )
    return _html(["id", *table.fields], rows, len(self), "record")


def _with_names(kind: Any, names: Any, more: Any = lambda self: ()) -> None:
    """Makes editors complete these names, too; `more` only as attributes."""
    kind.__dir__ = lambda self: [*object.__dir__(self), *names(self), *more(self)]
    kind._ipython_key_completions_ = lambda self: list(names(self))


def _log(
    self: _joedb.Database, last: int | None = None, *, changes: bool = False
) -> list[Transaction]:
    """The transactions, the newest first, as `joedb log` shows them; only the `last` ones. `changes`:
    with what they have changed."""
    if last is not None and operator.index(last) < 0:
        raise ValueError(f"log({last}): the number of transactions is at least 0")
    return _joedb._log(self, last, changes)


def _duckdb(self: _joedb.Database, *, blobs: bool | None = None) -> Any:
    """A connection of DuckDB with all tables as they are now, in memory, by their names; the
    column `__id` has the ids of records. Numbers and long texts are not copied. NaN is a value in
    DuckDB: `avg` of a column with NaN is NaN, unlike in `sql()`. `blobs=True`: with fields of
    blobs, which are read from the file; `False`: without them; by default, a warning says which
    fields are left out. Texts that are not UTF-8, and names that
    differ only in case, are errors; `sql()` reads them."""
    connection = _needed("duckdb", "db.duckdb()").connect()
    _require_different(self.name, self.tables)
    left_out = []
    for name, table in self.tables.items():
        fields = [field for field, kind in table.fields.items() if blobs or kind != "blob"]
        left_out += [f"{name}.{field}" for field in table.fields if field not in fields]
        _require_different(name, fields)
        connection.register(name, table.to_arrow(fields, ids=True, views=True))
    if left_out and blobs is None:
        text = f"duckdb() leaves blobs out: {', '.join(left_out)}; blobs=True reads them"
        warnings.warn(text, stacklevel=2)
    return connection


def _require_different(where: str, names: Iterable[str]) -> None:
    """Raises DataError for names that are one for DuckDB."""
    there: dict[str, str] = {}
    for name in names:
        if (other := there.setdefault(name.lower(), name)) != name:
            raise DataError(
                f"{where}: {other} and {name} are one name in DuckDB: rename one, or use db.sql()"
            )


def _sql(
    self: _joedb.Database, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> Rows:
    """What SQLite finds in these tables, as they are now: in a transaction, with its changes.
    The column `__id` has the ids of records, and a reference is an id. Nothing can be written.
    """
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Iterable):
        raise TypeError(f"sql() takes parameters as a tuple or a dict: ({parameters!r},)")
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


def _arrow_column(values: Any, kind: str = "") -> Any:
    """Converts a column of floats to an Arrow array in which NaN stays NaN: Arrow would convert the
    NaN of pandas to null, which it is only for a field that has no NaN. Returns other columns
    unchanged."""
    import numpy
    import pyarrow

    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, numpy.dtype) and dtype.kind == "f":
        is_null = bool(kind) and not kind.startswith("float")
        return pyarrow.array(numpy.asarray(values), from_pandas=is_null)
    return values


def _arrow_table(
    rows: Any, fields: Mapping[str, str] = {}, new_names: Mapping[str, str] = {}
) -> Any:
    """Converts a dict of columns, or a pandas data frame, to a pyarrow.Table, for a table with these
    fields. A level of the index of a frame becomes a column if it has a name, as the index of
    to_pandas() has."""
    pyarrow = _needed("pyarrow", "data frames and dicts of columns")

    def kind(column: str) -> str:
        return fields.get(new_names.get(column, column), "")

    if isinstance(rows, dict):
        for name, values in rows.items():
            if isinstance(values, (str, bytes)) or not hasattr(type(values), "__len__"):
                raise TypeError(
                    f"a dict of columns has a list or an array for each: {name!r} is {_short(values)}"
                )
        if len(sizes := {name: len(values) for name, values in rows.items()}) > 1:
            (first, size), *others = sizes.items()
            for name, other in others:
                if other != size:
                    raise DataError(f"column {first!r} has {size} values, and {name!r} {other}")
        return pyarrow.table(
            {name: _arrow_column(values, kind(name)) for name, values in rows.items()}
        )
    if levels := [name for name in rows.index.names if name is not None]:
        rows = rows.reset_index(level=levels)
    table = pyarrow.Table.from_pandas(rows, preserve_index=False)
    for i in range(len(rows.columns)):
        column = _arrow_column(rows.iloc[:, i], kind(table.column_names[i]))
        if isinstance(column, pyarrow.Array):
            table = table.set_column(i, table.column_names[i], column)
    return table


def _is_pandas(rows: Any) -> bool:
    is_of_pandas = type(rows).__module__.partition(".")[0] == "pandas" and hasattr(rows, "iloc")
    if is_of_pandas and not hasattr(rows, "columns"):
        raise TypeError("a Series has no names of columns: insert a frame, series.to_frame(name)")
    return is_of_pandas


def _insert_many(
    self: _joedb.Table,
    rows: Any,
    *,
    null_is_default: bool = False,
    ignore_unknown: bool = False,
    ids: bool = False,
    round: bool = False,
    rename: Mapping[str, str] | None = None,
) -> range | list[int]:
    """Many records: of a data frame or another Arrow table, a dict of columns, or an iterable of
    dicts, one for each record. Returns their ids. If it fails, there is none of them. NaN stays
    NaN in fields of floats, also in data frames of pandas; in others it is a missing value.
    Times in an int64 field become seconds since 1970; without a zone, they are in UTC.

    null_is_default  what is missing in a column, or None, becomes 0, False or "".
    ignore_unknown   columns that are no fields are left out.
    ids              a column `__id`, or the index of a frame of `to_pandas()`, has the ids of the
                     records.
    round            numbers become what a float32 can hold, and times whole seconds; otherwise
                     others are errors.
    rename           fields, by the names of the columns they come from, which must be there.
    """
    new_names = dict(rename or {})
    if isinstance(rows, dict) or _is_pandas(rows):
        rows = _arrow_table(rows, self.fields, new_names)
    if hasattr(rows, "__arrow_c_stream__"):
        if hasattr(rows, "column_names"):
            _require_columns(self.table_name, new_names.keys() - set(rows.column_names))
        if hasattr(rows, "column_names") and not ignore_unknown:
            _require_known(self, [new_names.get(name, name) for name in rows.column_names])
        given: list[int] | None = None
        if ids:
            rows = _needed("pyarrow", "ids=True").table(rows)  # read twice: keep the ids
            for name in rows.column_names:
                if new_names.get(name, name) == "__id":
                    given = rows[name].to_pylist()
        new = self._insert_stream(
            rows.__arrow_c_stream__(), null_is_default, ignore_unknown, ids, round, new_names
        )
        return new if given is None else Ids(given)
    if not isinstance(rows, Iterable) or isinstance(rows, (str, bytes)):
        raise TypeError(f"{type(rows).__name__} is neither an Arrow table nor an iterable of dicts")
    if new_names:
        rows = _all_renamed(self, rows, new_names)
    return Ids(self._insert_rows(rows, null_is_default, ignore_unknown, ids, round))


class Ids(list[int]):
    """Ids of records. A notebook shows only the first and the last ones of many."""

    def __repr__(self) -> str:
        if len(self) <= _SHOWN:
            return super().__repr__()
        return f"[{self[0]}, {self[1]}, {self[2]}, …, {self[-1]}] ({len(self)} ids)"


def _require_known(table: _joedb.Table, names: Sequence[str]) -> None:
    fields = table.fields
    for name in names:
        if name not in fields and name != "__id":
            raise DataError(
                f"table {table.table_name} has no field {name}: rename={{{name!r}: …}} gives a column "
                "another name, and ignore_unknown=True leaves it out"
            )


def _all_renamed(
    table: _joedb.Table, rows: Iterable[Any], new_names: Mapping[str, str]
) -> Iterator[Any]:
    """The rows with other names. Raises DataError if two columns of a row get one name, or, after
    the last row, if a column was in none."""
    unused = set(new_names)
    is_empty = True
    for row in rows:
        is_empty = False
        if not isinstance(row, dict):
            yield row
            continue
        unused.difference_update(row)
        renamed = {new_names.get(name, name): value for name, value in row.items()}
        if len(renamed) < len(row):
            names = [new_names.get(name, name) for name in row]
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"{table.table_name}: column {twice}: it comes twice")
        yield renamed
    if not is_empty:
        _require_columns(table.table_name, unused)


def _require_columns(table: str, missing: Iterable[str]) -> None:
    if names := sorted(missing):
        raise DataError(f"{table}: rename: there is no column {names[0]!r}")


def _upsert(
    self: _joedb.Table,
    rows: Any,
    key: str | Sequence[str],
    *,
    null_is_default: bool = False,
    ignore_unknown: bool = False,
    round: bool = False,
    rename: Mapping[str, str] | None = None,
) -> list[int]:
    """Updates the records that have the keys of these rows, and inserts the other rows. `key` is a
    field, several, or "__id"; the other arguments are those of `insert_many`. Only the fields of a
    row change. Returns the ids of the records. If it fails outside of a transaction, nothing has
    changed."""
    keys = [key] if isinstance(key, str) else list(key)
    options = {
        "null_is_default": null_is_default, "ignore_unknown": ignore_unknown, "round": round,
        "rename": rename,
    }  # fmt: skip
    database = self._database
    with contextlib.nullcontext() if database._in_own_transaction else database.transaction():
        with _open(":memory:", "w", ()) as scratch:
            return Ids(_Upsert(self, keys, scratch).run(rows, options))


class _Upsert:
    """Rows with the same fields go to an empty copy of the table first, which converts and checks
    their values, so that keys can be compared."""

    def __init__(self, table: _joedb.Table, keys: list[str], scratch: _joedb.Database) -> None:
        self.table, self.keys = table, keys
        self.has_ids = keys == ["__id"]
        if not keys:
            raise ValueError("a key has at least one field")
        for name in [] if self.has_ids else keys:
            if name not in table.fields:
                raise KeyError(f"{table.table_name} has no field {name!r}")
        self.new = _empty_copy(table, scratch)

    def run(self, rows: Any, options: dict[str, Any]) -> list[int]:
        if isinstance(rows, dict) or _is_pandas(rows):
            rows = _arrow_table(rows, self.table.fields, options["rename"] or {})
        if hasattr(rows, "__arrow_c_stream__"):
            return self._put(rows, None, options)
        # Rows with the same fields are put together.
        groups: dict[tuple[str, ...], list[int]] = {}
        new_names = options["rename"] or {}
        rows = list(_all_renamed(self.table, rows, new_names) if new_names else rows)
        for i, row in enumerate(rows):
            if not isinstance(row, dict):
                raise TypeError(f"a dict is needed for each record, not {type(row).__name__}")
            groups.setdefault(tuple(row), []).append(i)
        ids = [-1] * len(rows)
        for names, places in groups.items():
            some = self._all_plain(names, [rows[i] for i in places])
            new_ids = self._put(some, names, {**options, "rename": None})
            for i, record in zip(places, new_ids):
                ids[i] = record
            if len(groups) > 1:
                self.new[:].delete()
        if len(groups) > 1 and len(set(ids)) < len(ids):
            raise DataError(f"{self.table.table_name}: two rows have the same key")
        return ids

    def _all_plain(self, names: Sequence[str], rows: list[Any]) -> list[Any]:
        fields = self.table.fields
        references = [
            name
            for name in names
            if name == "__id" or fields.get(name, "").startswith("references ")
        ]
        if not references:
            return rows
        return [
            {**row, **{name: self._plain(name, row[name]) for name in references}} for row in rows
        ]

    def _plain(self, name: str, value: Any) -> Any:
        """The id of a record that a field refers to, as the copy of the table has no other records.
        Other values unchanged. Raises the ValueError of insert() for a record that does not fit."""
        if not isinstance(value, _joedb.Record):
            return value
        table = self.table.table_name
        kind = self.table.fields.get(name, "")
        if name == "__id":
            kind = f"references {table}"
        if not kind.startswith("references "):
            return value
        referenced = referenced_table(kind)
        database = self.table._database
        if referenced not in database or value.table != database[referenced]:
            raise ValueError(
                f"{table}.{name} is {kind}, and {_short(repr(value))} is a record of another table "
                "or database"
            )
        return value.id

    def _put(
        self, rows: Any, names: Sequence[str] | None, options: dict[str, Any]
    ) -> list[int]:
        new = self.new
        if names is None:
            import pyarrow

            rows = pyarrow.table(rows)
            renamed = options["rename"] or {}
            names = [renamed.get(name, name) for name in rows.column_names]
        if missing := [name for name in self.keys if name not in names]:
            raise DataError(f"{self.table.table_name}: the rows have no {missing[0]}")
        given = list(new.insert_many(rows, ids=self.has_ids, **options))
        fields = [name for name in names if name in new.fields]
        if self.has_ids:
            new_ids = [one if one in self.table else -1 for one in given]
        else:
            new_ids = self.table._find_same(new, given, self.keys)
        if changed := [name for name in fields if name not in self.keys]:
            old = [one for record, one in zip(new_ids, given) if record >= 0]
            records = [record for record in new_ids if record >= 0]
            self.table._copy_fields(records, new, old, changed)
        missing_rows = [one for record, one in zip(new_ids, given) if record < 0]
        if missing_rows:
            stream = new[missing_rows]._arrow_stream(fields, self.has_ids, False)
            added = self.table._insert_stream(stream, False, False, self.has_ids, False, {})
            inserted = iter(missing_rows if self.has_ids else added)
            new_ids = [record if record >= 0 else next(inserted) for record in new_ids]
        return new_ids


def _empty_copy(table: _joedb.Table, scratch: _joedb.Database) -> _joedb.Table:
    for name in table._database.tables:
        scratch.create_table(name)
    new = scratch[table.table_name]
    for name, kind in table.fields.items():
        new.add_field(name, kind)
    return new


class _Stream:
    """Wraps the capsule of a stream, for functions that take an object. Can be read once."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.capsule


def _needed(name: str, what: str) -> Any:
    """Imports a package, or says what needs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{what} need {name}: pip install {name}", name=name) from error


def _names(names: Any, what: str) -> Any:
    if isinstance(names, (str, bool)):
        shown = f": [{names!r}]" if isinstance(names, str) else ""
        raise TypeError(f"{what} is a list of names{shown}")
    return names


def _schema_with_times(
    schema: Any, table: _joedb.Table | _joedb.Records, times: Sequence[str]
) -> Any:
    import pyarrow

    table = _table_of(table)
    for name in _names(times, "times"):
        if table.fields.get(name) != "int64":
            raise ValueError(f"{table.table_name} has no field {name} of type int64, as times are")
        index = schema.get_field_index(name)
        if index >= 0:
            time = pyarrow.field(name, pyarrow.timestamp("s", tz="UTC"), nullable=False)
            schema = schema.set(index, time)
    return schema


def _to_arrow(
    self: _joedb.Table | _joedb.Records,
    fields: Sequence[str] | None = None,
    *,
    ids: bool = False,
    views: bool = False,
    times: Sequence[str] = (),
) -> Any:
    """The records as a pyarrow.Table. Numbers of a whole table are not copied.

    fields  only these.
    ids     with a first column `__id`.
    views   texts as string views, which copies 16 bytes for each.
    times   these fields are times, in seconds since 1970.
    """
    pyarrow = _needed("pyarrow", "Arrow tables")
    stream = _Stream(self._arrow_stream(_names(fields, "fields"), ids, views))
    reader = pyarrow.RecordBatchReader.from_stream(stream)
    # Batch by batch, so that Ctrl-C is heard.
    table = pyarrow.Table.from_batches(list(reader), reader.schema)
    return table.cast(_schema_with_times(table.schema, self, times)) if times else table


def _to_pandas(
    self: _joedb.Table | _joedb.Records,
    fields: Sequence[str] | None = None,
    *,
    times: Sequence[str] = (),
) -> Any:
    """A data frame of pandas, whose index `__id` are the ids of the records. References are ids
    (`Int64`, with `NA` for None). `times` are fields in seconds since 1970, which become
    `datetime64`."""
    pandas = _needed("pandas", "data frames")
    arrow = self.to_arrow(fields, ids=True, times=times)
    frame = arrow.to_pandas().set_index("__id")
    table = _table_of(self)
    for name, kind in table.fields.items():
        if kind.startswith("references") and name in frame:
            frame[name] = pandas.Int64Dtype().__from_arrow__(arrow[name])
    return frame


_MISSING = object()


def _add_field(
    self: _joedb.Table, name: str, type: Any, /, default: Any = _MISSING
) -> None:
    """A new field, with the value `default` in all records; without it, 0, "", False or None. New
    records do not get `default`. The type: as in `create_table`."""
    database = self._database
    with contextlib.nullcontext() if database._in_own_transaction else database.transaction():
        self._add_field(name, type)
        if default is _MISSING:
            return
        try:
            self[:].update(**{name: default})
        except BaseException:
            self.drop_field(name)  # the transaction of the caller may go on
            raise


def add_to(module: Any) -> None:
    module.Database.create_table = _create_table
    module.Database.sql = _sql
    module.Database.changes = _changes
    module.Database.log = _log
    module.Database.duckdb = _duckdb
    _with_names(module.Database, lambda self: [] if self.closed else self.tables)
    _with_names(module.Table, lambda self: self.fields)
    _with_names(
        module.Record,
        lambda self: self.table.fields,
        lambda self: self.table._back_references,
    )
    module.Table._repr_html_ = module.Records._repr_html_ = _html_of_records
    module.Table.add_field = _add_field
    module.Table.insert_many = _insert_many
    module.Table.upsert = _upsert
    for kind in (module.Table, module.Records):
        kind.to_arrow = _to_arrow
        kind.to_pandas = _to_pandas
