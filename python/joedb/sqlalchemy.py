"""The dialect of SQLAlchemy for `create_engine("joedb:///FILE")`, which reads: for SELECT,
pandas.read_sql and reflection. A transaction begins with what others have written."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from sqlalchemy import types
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.exc import NoSuchTableError

from . import _joedb, _methods, dbapi

_TYPES = {
    "string": types.Text,
    "blob": types.LargeBinary,
    "boolean": types.Boolean,
    "float32": types.Float,
    "float64": types.Float,
}

_ON_DELETE = {
    "clear": {"ondelete": "SET NULL"},
    "cascade": {"ondelete": "CASCADE"},
    "refuse": {"ondelete": "RESTRICT"},
}


class Dialect(SQLiteDialect):  # type: ignore[misc]
    name = driver = "joedb"
    supports_statement_cache = True
    dbapi_exception_translation_map = {
        "SqlError": "ProgrammingError",
        "CorruptionError": "InternalError",
        "IoError": "OperationalError",
        "FileMissing": "OperationalError",
        "NoPermission": "OperationalError",
    }

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        return dbapi

    def create_connect_args(self, url: Any) -> tuple[Sequence[Any], dict[str, Any]]:
        if url.host or not url.database:
            raise ValueError(f"{url}: a file is needed, as in joedb:///city.joedb")
        return [url.database], dict(url.query)

    def do_begin(self, dbapi_connection: Any) -> None:
        if not dbapi_connection.database.in_transaction:
            dbapi_connection.database.pull()

    # What SQLite is asked when it connects.

    def on_connect(self) -> None:
        return None

    def _get_server_version_info(self, connection: Any) -> tuple[int, ...]:
        version: tuple[int, ...] = dbapi.sqlite_version_info
        return version

    def get_isolation_level(self, dbapi_connection: Any) -> str:
        return "SERIALIZABLE"

    def get_isolation_level_values(self, dbapi_connection: Any) -> list[str]:
        return ["SERIALIZABLE"]

    def set_isolation_level(self, dbapi_connection: Any, level: str) -> None:
        pass

    # Reflection.

    @staticmethod
    def _database(connection: Any) -> _joedb.Database:
        database: _joedb.Database = connection.connection.dbapi_connection.database
        return database

    def _table(self, connection: Any, table: str) -> _joedb.Table:
        database = self._database(connection)
        if table not in database:
            raise NoSuchTableError(table)
        return database[table]

    def get_schema_names(self, connection: Any, **_: Any) -> list[str]:
        return ["main"]

    def get_table_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        return list(self._database(connection).tables)

    def get_view_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        return []

    def has_table(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> bool:
        return schema in (None, "main") and table_name in self._database(connection)

    def get_columns(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        fields = self._table(connection, table_name).fields
        return [
            {"name": "__id", "type": types.BigInteger(), "nullable": False, "default": None},
            *(
                {
                    "name": name,
                    "type": _TYPES.get(kind, types.BigInteger)(),
                    "nullable": kind == "blob" or kind.startswith("references "),
                    "default": None,
                }
                for name, kind in fields.items()
            ),
        ]

    def get_pk_constraint(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> dict[str, Any]:
        self._table(connection, table_name)
        return {"constrained_columns": ["__id"], "name": None}

    def get_foreign_keys(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        return [
            {
                "name": None,
                "constrained_columns": [name],
                "referred_schema": None,
                "referred_table": _methods.referenced_table(kind),
                "referred_columns": ["__id"],
                "options": _ON_DELETE.get(kind.rpartition(" on_delete ")[2], {}),
            }
            for name, kind in self._table(connection, table_name).fields.items()
            if kind.startswith("references ")
        ]

    def _nothing(self, connection: Any, table_name: str, *_: Any, **__: Any) -> list[Any]:
        self._table(connection, table_name)
        return []

    get_indexes = get_unique_constraints = get_check_constraints = _nothing
