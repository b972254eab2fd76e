"""The compiled part of joedb. What stands here is also the documentation of its classes."""

import datetime
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

from . import history
from ._methods import Rows

__version__: str

_T = TypeVar("_T")
_Moment = int | str | datetime.date

class Database:
    """An open database: `joedb.open` makes it. Tables are attributes (`db.city`), or items
    (`db["city"]`) where a name is that of a method. Errors are `joedb.Error`.

    Threads take turns; a transaction belongs to the thread that has begun it. After `close()`, and
    in the child of a fork, everything that stands on it raises `joedb.Closed`, but for arrays and
    Arrow tables: these keep their values.
    """

    @property
    def name(self) -> str:
        """The name of the file."""
    @property
    def tables(self) -> dict[str, Table]:
        """The tables by name."""
    @property
    def closed(self) -> bool: ...
    @property
    def is_past(self) -> bool:
        """Whether this is a past state, which `at()` has made."""
    @property
    def checkpoint(self) -> int:
        """The position in the journal up to which everything counts; `at()` takes it."""
    @property
    def in_transaction(self) -> bool: ...
    def __getattr__(self, name: str) -> Table: ...
    def __getitem__(self, name: str, /) -> Table: ...
    def __contains__(self, name: str, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def create_table(
        self,
        name: str,
        fields: Mapping[str, Any] | None = None,
        /,
        *,
        like: Any = None,
        exist_ok: bool = False,
        rename: Any = None,
        ignore_unknown: Any = False,
        **more: Any,
    ) -> Table:
        """A new table with these fields: `name=str, age="int8", home=city`. Types are str, int,
        float, bool, bytes, and datetime.date, datetime.datetime, datetime.timedelta, uuid.UUID;
        "int8", "float32", "decimal(2)", "enum(open, paid)" and the other names of joedb, also with
        " optional" behind them, as in int | None; a table, or "references TABLE", also with a rule:
        "references city on_delete clear" (or cascade, or refuse). `fields` is for names that cannot be
        keywords. `like` is a data frame, or another object with an Arrow schema, whose columns
        become the first fields: `rename` has the names of fields by those of their columns, and
        with `ignore_unknown=True`, columns of types that no field has are left out, as in
        `insert_many`. With `exist_ok`, a table of this name that has these fields is returned;
        SchemaMismatch, if it lacks one of them.
        """
    def transaction(
        self, why: str = "", author: str = "", *, hard: bool | None = None
    ) -> Transaction:
        """`with db.transaction("why"):` all changes in it count, or none, if it is left by an
        exception. `why` and `author` are what `joedb log` shows. `hard`: it survives a power cut;
        by default as `joedb.open` was told. Without it, each change is a transaction."""
    def hard_checkpoint(self) -> None:
        """What was written so far survives a power cut."""
    def write_snapshot(self) -> None:
        """Writes a snapshot beside the file, after a hard checkpoint: the file then opens in about a
        millisecond, whatever its size. Writers keep it up to date when they close the file."""
    def undo(self, *, author: str = "", schema: bool = False) -> None:
        """Takes the last transaction back that was not taken back yet, by a new one; of all, or
        those of one author. `schema`: also one that has changed tables or fields. Raises
        `joedb.Error` if there is none, or others have changed the same since."""
    def redo(self, *, author: str = "", schema: bool = False) -> None:
        """Takes the last `undo()` back, unless something was written since."""
    def can_undo(self, *, author: str = "", schema: bool = False) -> bool:
        """Whether there is something that `undo()` takes back."""
    def can_redo(self, *, author: str = "", schema: bool = False) -> bool:
        """Whether there is something that `redo()` takes back."""
    def pull(self, wait: float = 0.0) -> int:
        """Reads what others have written, to the file or the server, waiting for it up to so many
        seconds. Returns the number of bytes. Transactions begin with it."""
    def at(self, when: _Moment) -> Database:
        """The state at a moment, for reading: a position, a time (`datetime`, "2026-01-31",
        "2 hours ago"), or the name of a tag. A time without a zone is in local time."""
    def tag(
        self, name: str, when: _Moment | None = None, *, author: str = "", replace: bool = False
    ) -> None:
        """Names a moment, by default the present one: `db.at(name)` then shows it, and the tools take
        the name, too. `replace`: also if there is a tag of this name."""
    def remove_tag(self, name: str, *, author: str = "") -> None:
        """Removes a tag. What it names stays."""
    def tags(self) -> dict[str, int]:
        """The positions of the tags by their names."""
    def changes(
        self,
        since: _Moment | None = None,
        until: _Moment | None = None,
        *,
        table: Table | str | None = None,
    ) -> Iterator[history.Transaction]:
        """The transactions between two moments, with old and new values."""
    def log(self, last: int | None = None, *, changes: bool = False) -> list[history.Transaction]:
        """The transactions, the newest first, as `joedb log` shows them; only the `last` ones. `changes`:
        with what they have changed."""
    def sql(self, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Rows:
        """What SQLite finds in these tables, as they are now: in a transaction, with its changes.
        The column `__id` has the ids of records, and a reference is an id. Nothing can be written.
        """
    def duckdb(self, *, blobs: bool | None = None) -> Any:
        """A connection of DuckDB with all tables as they are now, in memory, by their names; the
        column `__id` has the ids of records. Numbers and long texts are not copied. NaN is a value
        in DuckDB: `avg` of a column with NaN is NaN, unlike in `sql()`. `blobs=True`: with fields of
        blobs, which are read from the file; `False`: without them; by default, a warning says which
        fields are left out. Texts that are not UTF-8, and names that
        differ only in case, are errors; `sql()` reads them."""
    def close(self) -> None:
        """Ends a transaction without its changes, makes a hard checkpoint if something was written,
        and closes the file, also if this raises."""
    def __enter__(self) -> Database: ...
    def __exit__(
        self,
        type: type[BaseException] | None,
        value: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None: ...
    def _ipython_key_completions_(self) -> list[str]: ...
    def _create_table(self, name: str, fields: dict[str, Any], /) -> Table: ...
    def _create_table_like(
        self, name: str, schema: object, fields: dict[str, Any], optional: Sequence[str], /
    ) -> Table: ...
    def _run_sql(
        self, statement: str, parameters: Sequence[Any] | Mapping[str, Any], /
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]: ...
    def _position(self, when: _Moment) -> int: ...
    @property
    def _in_own_transaction(self) -> bool: ...

class Table:
    """Records with the same fields. Fields are attributes: `db.city.population` is a NumPy array of
    the values, in the order of the ids, which cannot be changed and keeps its values when the table
    changes. Numbers and booleans are not copied, unless records were deleted; references are ids,
    -1 for None; texts and blobs are objects."""

    @property
    def table_name(self) -> str: ...
    @property
    def fields(self) -> dict[str, str]:
        """The types by name, as `add_field` takes them."""
    @property
    def ids(self) -> Any:
        """The ids of the records, ascending: a NumPy array."""
    def __getattr__(self, name: str) -> Any: ...
    @overload
    def __getitem__(self, key: int | Record, /) -> Record: ...
    @overload
    def __getitem__(self, key: str, /) -> Any: ...
    @overload
    def __getitem__(self, key: Any, /) -> Any: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[Record]: ...
    def __contains__(self, key: object, /) -> bool: ...
    @overload
    def get(self, key: int | Record, default: None = None) -> Record | None: ...
    @overload
    def get(self, key: int | Record, default: _T) -> Record | _T: ...
    def insert(self, **values: Any) -> Record:
        """A new record. Other fields get 0, False, "" or None."""
    def insert_many(
        self,
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
    def upsert(
        self,
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
    def delete(self, key: Any, /) -> None:
        """Deletes a record, given by its id or an object; or several: a list, an array of ids, a mask
        or a slice, as in `table[key]`. All of them are deleted, or none."""
    def where(self, **values: Any) -> Records:
        """The records that satisfy all of these conditions, in the order of their ids.

        city.where(name="Oslo")              equal
        city.where(name=["Oslo", "Rome"])    one of these: a list, an array, other records
        city.where(population=range(1, 9))   in this range: for integers
        city.where(population__ge=10**6)     __lt, __le, __gt, __ge, __ne: less, at most, …
        city.where(name__startswith="San ")  for texts

        An index of the file is used if there is one; otherwise whole columns are read."""
    def to_arrow(
        self,
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
    def to_pandas(
        self, fields: Sequence[str] | None = None, *, times: Sequence[str] = ()
    ) -> Any:
        """A data frame of pandas, whose index `__id` are the ids of the records. References
        are ids (`Int64`, with `NA` for None). `times` are fields in seconds since 1970, which
        become `datetime64`."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def add_field(self, name: str, type: Any, /, default: Any = ...) -> None:
        """A new field, with the value `default` in all records; without it, 0, "", False or None.
        New records do not get `default`. The type: as in `create_table`."""
    def _add_field(self, name: str, type: Any, /) -> None: ...
    def retype(self, name: str, type: Any, /) -> None:
        """Changes the type of a field.

        The values stay the same: a value that the new type does not have is an error, which
        changes nothing, and a missing value stays missing. The field becomes the last one.
        """

    def set_type(self, name: str, type: Any, /) -> None:
        """What the values of a field mean: "date", "decimal(2) optional", and others that have the
        stored type of the field. docs/logical_types.md has all of them."""
    def create_index(self, name: str, *fields: str, unique: bool = False) -> None:
        """Declares an index in the file, for all programs that open it. `unique`: no two records have
        the same values in these fields; docs/indexes.md says which values are compared."""
    def drop_index(self, name: str, /) -> None:
        """Ends the declaration of an index of this table."""
    def drop_field(self, name: str, /) -> None: ...
    def rename_field(self, name: str, new_name: str, /) -> None: ...
    def rename(self, name: str, /) -> None: ...
    def drop(self) -> None: ...
    def _ipython_key_completions_(self) -> list[str]: ...
    def _repr_html_(self) -> str: ...
    def _arrow_stream(
        self, fields: Sequence[str] | None, ids: bool, views: bool
    ) -> object: ...
    def _insert_stream(
        self,
        stream: object,
        null_is_default: bool,
        ignore_unknown: bool,
        ids: bool,
        round: bool,
        rename: Mapping[str, str],
        /,
    ) -> range: ...
    def _find_same(
        self, new_table: Table, rows: Sequence[int], names: Sequence[str], /
    ) -> list[int]: ...
    def _copy_fields(
        self,
        records: Sequence[int],
        new_table: Table,
        rows: Sequence[int],
        names: Sequence[str],
        /,
    ) -> None: ...
    @property
    def _back_references(self) -> list[str]: ...
    @property
    def _database(self) -> Database: ...
    def _insert_rows(
        self,
        rows: Iterable[dict[str, Any]],
        null_is_default: bool,
        ignore_unknown: bool,
        ids: bool,
        round: bool,
        /,
    ) -> list[int]: ...

class Record:
    """One record: its id, and a view of its values. Fields are attributes that can be set, or items
    where a name is that of a method. References are records, or None; blobs are bytes. The records
    that refer to this one are `city.person_by_home`, for the field person.home. A KeyError says
    that the record was deleted."""

    @property
    def id(self) -> int: ...
    @property
    def table(self) -> Table: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __getitem__(self, name: str, /) -> Any: ...
    def __setitem__(self, name: str, value: Any, /) -> None: ...
    def update(self, **values: Any) -> None:
        """Sets several fields: all of them, or none."""
    def delete(self) -> None: ...
    def exists(self) -> bool: ...
    def as_dict(self) -> dict[str, Any]: ...
    def _ipython_key_completions_(self) -> list[str]: ...
    def history(self) -> list[history.Version]:
        """All versions up to the checkpoint, the first one first: also those of earlier records
        with this id."""

class Records:
    """Records that `where` has found, or a slice of a table: a sequence. It is an Arrow stream."""

    @property
    def table(self) -> Table: ...
    @property
    def ids(self) -> Any:
        """A NumPy array."""
    def column(self, name: str, /) -> Any:
        """The values of a field as a NumPy array."""
    def update(self, **values: Any) -> None:
        """Sets fields of all these records. A list or an array has a value for each of them. If it
        fails, nothing has changed."""
    def delete(self) -> None:
        """Deletes these records together, and does what the rules of references to them say: all of
        it, or nothing."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Record]: ...
    @overload
    def __getitem__(self, index: int, /) -> Record: ...
    @overload
    def __getitem__(self, index: Any, /) -> Records: ...
    def to_arrow(
        self,
        fields: Sequence[str] | None = None,
        *,
        ids: bool = False,
        views: bool = False,
        times: Sequence[str] = (),
    ) -> Any: ...
    def to_pandas(
        self, fields: Sequence[str] | None = None, *, times: Sequence[str] = ()
    ) -> Any: ...
    def _repr_html_(self) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def _arrow_stream(
        self, fields: Sequence[str] | None, ids: bool, views: bool
    ) -> object: ...

class Transaction:
    """What `Database.transaction` returns, for `with`."""

    def rollback(self) -> None:
        """Ends it without its changes."""
    def __enter__(self) -> Transaction: ...
    def __exit__(
        self,
        type: type[BaseException] | None,
        value: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> bool: ...

def _open(
    path: bytes,
    mode: str,
    server: str,
    authority_file: str,
    token_file: str,
    recovery: str,
    timeout: float,
    hard: bool,
    timestamps: bool,
    unique: Sequence[tuple[str, str, Sequence[str], int, Sequence[int]]],
) -> Database: ...
def _changes(
    database: Database, since: int | None, until: int | None, table: Table | None
) -> Iterator[history.Transaction]: ...
def _log(
    database: Database, last: int | None, changes: bool
) -> list[history.Transaction]: ...
def _close_all() -> None: ...
