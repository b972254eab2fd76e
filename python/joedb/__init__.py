"""The Journal-Only Embedded Database.

    import joedb

    db = joedb.open("city.joedb")
    city = db.create_table("city", name=str, population=int)
    with db.transaction("the first cities"):
        city.insert(name="Oslo", population=709000)
        city.insert(name="Lisbon", population=545796)
    print(city[0].name, city.population.sum())
"""

from __future__ import annotations

import atexit as _atexit
import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import _joedb, _methods
from ._joedb import Database, Record, Records, Table, Transaction, __version__
from ._methods import Rows, open
from .dbapi import apilevel, connect, paramstyle, threadsafety
from .errors import (
    Closed,
    Conflict,
    ConnectionLost,
    ContentMismatch,
    CorruptionError,
    DataError,
    Disconnection,
    DiskFull,
    Error,
    FileExists,
    FileLocked,
    FileMissing,
    IoError,
    LockTimeout,
    NoPermission,
    SchemaMismatch,
    SqlError,
    UniqueViolation,
    UnfinishedTransaction,
    WriteDisabled,
)

__all__ = [
    "Closed",
    "Conflict",
    "ConnectionLost",
    "ContentMismatch",
    "CorruptionError",
    "DataError",
    "Database",
    "Disconnection",
    "DiskFull",
    "Error",
    "FileExists",
    "FileLocked",
    "FileMissing",
    "IoError",
    "LockTimeout",
    "NoPermission",
    "Record",
    "Records",
    "Rows",
    "SchemaMismatch",
    "SqlError",
    "Table",
    "Transaction",
    "UniqueViolation",
    "UnfinishedTransaction",
    "WriteDisabled",
    "__version__",
    "apilevel",
    "connect",
    "open",
    "paramstyle",
    "threadsafety",
]

if _TYPE_CHECKING:
    from . import export as export


def __getattr__(name: str) -> _Any:
    if name == "export":  # needs pyarrow, which takes some time to import
        return _importlib.import_module("joedb.export")
    raise AttributeError(f"module 'joedb' has no attribute {name!r}")


_methods.add_to(_joedb)
# Closes all databases at exit, and rolls back their transactions.
_atexit.register(_joedb._close_all)
