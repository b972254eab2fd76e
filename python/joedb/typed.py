"""What the modules stand on that `joedbc --python` writes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _joedb, _methods
from .errors import SchemaMismatch

#: Table.fields by table name: {"city": {"name": "string", "country": "references country"}}
Schema = Mapping[str, Mapping[str, str]]


def open(
    path: str | os.PathLike[str],
    mode: str,
    schema: Schema,
    changes: Sequence[str],
    rows: Mapping[str, Mapping[str, Any]],
    unique: Mapping[str, tuple[str, Sequence[str]]] | None = None,
    **options: Any,
) -> _joedb.Database:
    """Opens a database that has this schema, at least; or raises SchemaMismatch, and closes it.

    changes  make the schema of a new file, as commands of joedbi.
    rows     the values of tables with a single row in a new file.
    unique   for each unique index its table and fields: a writer cannot break it.
    options  as those of joedb.open.
    """
    is_new = not options.get("server") and not os.path.exists(path)
    if is_new and mode not in ("r", "r+"):
        _require_no_custom(os.fspath(path), changes)
    if mode == "r" or not unique:
        database = _methods.open(path, mode, **options)
    else:
        database = _methods._open(path, mode, _with_ids(unique, changes), **options)
    try:
        if not database.tables and mode != "r":
            _make_schema(database, changes, rows)
        different = list(differences(database, schema))
        if different:
            raise SchemaMismatch(f"{database.name} has another schema: {_listed(different)}")
    except BaseException:
        database.close()
        raise
    return database


def _with_ids(
    unique: Mapping[str, tuple[str, Sequence[str]]], changes: Sequence[str]
) -> list[tuple[str, str, Sequence[str], int, Sequence[int]]]:
    """Adds to each index the ids that its table and fields get in a new file: the changes create
    tables and fields in the order of their ids."""
    tables: dict[str, tuple[int, dict[str, int]]] = {}
    sizes: dict[int, int] = {}
    for change in changes:
        command, table, rest = [*change.split(" ", 2), ""][:3]
        if command == "create_table":
            tables[table] = (len(sizes) + 1, {})
            sizes[len(sizes) + 1] = 0
        elif command == "rename_table":
            tables[rest] = tables.pop(table)
        elif command == "drop_table":
            del tables[table]
        elif command in ("add_field", "rename_field", "drop_field"):
            number, fields = tables[table]
            name, _, more = rest.partition(" ")
            if command == "add_field":
                sizes[number] += 1
                fields[name] = sizes[number]
            elif command == "rename_field":
                fields[more] = fields.pop(name)
            elif command == "drop_field":
                del fields[name]
    return [
        (name, table, names, tables[table][0], [tables[table][1][field] for field in names])
        for name, (table, names) in unique.items()
    ]


def differences(database: _joedb.Database, schema: Schema) -> Iterator[str]:
    """What the database lacks of a schema, in words."""
    tables = database.tables
    for name, fields in schema.items():
        if name not in tables:
            yield f"there is no table {name}"
            continue
        there = _without_rules(tables[name].fields)
        for field, type_name in _without_rules(fields).items():
            if field not in there:
                yield f"there is no field {name}.{field}"
            elif not _is_same_type(there[field], type_name):
                yield f"{name}.{field} is {there[field]}, not {type_name}"


def _is_same_type(there: str, type_name: str) -> bool:
    """Whether a field has this type, or an enumeration with more names at its end."""
    names, end, optional = type_name.partition(")")
    more = there.startswith(names + ",") and there.partition(")")[2] == optional
    return there == type_name or (names.startswith("enum") and end == ")" and more)


def _without_rules(fields: Mapping[str, str]) -> dict[str, str]:
    """The fields and their types, but references without their rules: the file says which it has."""
    return {field: kind.partition(" on_delete ")[0] for field, kind in fields.items()}


def _listed(different: list[str]) -> str:
    shown = 5
    more = len(different) - shown
    return "; ".join(different[:shown]) + (f"; and {more} more" if more > 0 else "")


def _require_no_custom(path: str, changes: Sequence[str]) -> None:
    """Raises SchemaMismatch if the changes have a `custom` line: only the program that has its
    function can write it."""
    custom = next((change for change in changes if change.startswith("custom ")), None)
    if custom is not None:
        raise SchemaMismatch(
            f"{path} would be a new file, in which only the program with the function of the "
            f"schema's line `{custom}` can write this line: make the file with it, or with joedbi"
        )


def _make_schema(
    database: _joedb.Database, changes: Sequence[str], rows: Mapping[str, Mapping[str, Any]]
) -> None:
    _require_no_custom(database.name, changes)
    with database.transaction("a new file"):
        if database.tables:  # another process has created them meanwhile
            return
        for change in changes:
            _apply(database, *change.split(" ", 2))
        for table, values in rows.items():
            database[table].insert(**values)


def _apply(database: _joedb.Database, command: str, table: str, rest: str = "") -> None:
    if command == "create_table":
        database.create_table(table)
    elif command == "drop_table":
        database[table].drop()
    elif command == "rename_table":
        database[table].rename(rest)
    elif command == "add_field":
        database[table].add_field(*rest.split(" ", 1))
    elif command == "set_type":
        database[table].set_type(*rest.split(" ", 1))
    elif command in ("create_index", "create_unique_index"):
        name, (table, fields) = table, rest.split(" ")
        database[table].create_index(
            name, *fields.split(","), unique=command == "create_unique_index"
        )
    elif command == "drop_field":
        database[table].drop_field(rest)
    elif command == "rename_field":
        database[table].rename_field(*rest.split(" ", 1))
    else:
        raise ValueError(f"no change of a schema: {command}")
