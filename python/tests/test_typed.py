"""joedb.typed, on which modules stand that joedbc --python writes (tests/python_types.py)."""

import os
import threading
from typing import Any

import pytest

import joedb
from joedb import typed

SCHEMA = {
    "city": {"name": "string", "state": "references country"},
    "country": {"name": "string"},
    "config": {"language": "string"},
}
CHANGES = (
    "create_table land",
    "create_table old",
    "create_table city",
    "add_field city name string",
    "add_field city country references land",
    "add_field city wrong int32",
    "rename_field city country state",
    "drop_field city wrong",
    "drop_table old",
    "rename_table land country",
    "add_field country name string",
    "create_table config",
    "add_field config language string",
)
ROWS = {"config": {"language": "\udcff"}}


def open_typed(path: str, mode: str = "w", **options: Any) -> joedb.Database:
    return typed.open(path, mode, SCHEMA, CHANGES, ROWS, **options)


def test_a_new_file_gets_the_schema_and_single_rows(path: str) -> None:
    with open_typed(path) as db:
        assert {name: table.fields for name, table in db.tables.items()} == SCHEMA
        assert [row.language for row in db.config] == ["\udcff"]
        assert len(list(db.changes())) == 1
    with open_typed(path, "r") as db:
        assert db.config[0].language == "\udcff"
    with pytest.raises(joedb.FileExists):
        open_typed(path, "x")


def test_a_database_in_memory_gets_the_schema() -> None:
    with open_typed(":memory:") as db:
        assert set(db.tables) == set(SCHEMA)


def test_more_tables_and_fields_are_no_difference(path: str) -> None:
    with open_typed(path) as db:
        db.create_table("more")
        db.city.add_field("more", int)
    with open_typed(path) as db:
        db.city.insert(name="Oslo", more=1)


def test_what_differs_is_named_and_the_file_is_closed(path: str) -> None:
    with joedb.open(path) as db:
        db.create_table("city", name=int)
    with pytest.raises(joedb.SchemaMismatch) as error:
        open_typed(path)
    assert str(error.value) == (
        f"{path} has another schema: city.name is int64, not string; there is no field city.state; "
        "there is no table country; there is no table config"
    )
    joedb.open(path).close()  # the failed call has released its lock


def test_many_differences_are_counted(path: str) -> None:
    with joedb.open(path) as db:
        db.create_table("other")
    wanted = {f"t{i}": {"f": "int8"} for i in range(9)}
    with pytest.raises(joedb.SchemaMismatch, match="no table t4; and 4 more$"):
        typed.open(path, "w", wanted, (), {})


def test_a_file_for_reading_gets_nothing(path: str) -> None:
    with pytest.raises(joedb.FileMissing):
        open_typed(path, "r")
    joedb.open(path).close()
    with pytest.raises(joedb.SchemaMismatch):
        open_typed(path, "r")
    assert joedb.open(path).tables == {}


def test_a_schema_with_a_function_of_a_program_makes_no_file(path: str) -> None:
    changes = ("create_table city", "custom grow")
    with pytest.raises(joedb.SchemaMismatch, match="`custom grow`"):
        typed.open(path, "w", {"city": {}}, changes, {})
    assert not os.path.exists(path)
    with joedb.open(path) as db:
        db.create_table("city")
    typed.open(path, "w", {"city": {}}, changes, {}).close()


def test_a_failure_leaves_no_schema(path: str) -> None:
    with pytest.raises(TypeError):
        typed.open(path, "w", SCHEMA, CHANGES, {"config": {"language": 1}})
    with open_typed(path) as db:
        assert len(db.config) == 1


def test_only_one_of_several_writers_makes_the_schema(path: str) -> None:
    errors: list[BaseException] = []

    def write() -> None:
        try:
            with open_typed(path, "shared") as db:
                db.country.insert(name="x")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with open_typed(path, "r") as db:
        assert len(db.config) == 1 and len(db.country) == 8


UNIQUE = {"country_by_name": ("country", ("name",)), "city_by_both": ("city", ("state", "name"))}


def open_unique(path: str, mode: str = "w", **options: Any) -> joedb.Database:
    return typed.open(path, mode, SCHEMA, CHANGES, ROWS, UNIQUE, **options)


@pytest.mark.parametrize("mode", ["w", "shared", ":memory:"])
def test_a_writer_keeps_unique_indexes(path: str, mode: str) -> None:
    name, mode = (mode, "w") if mode == ":memory:" else (path, mode)
    with open_unique(name, mode) as db:
        norway = db.country.insert(name="Norway")
        italy = db.country.insert(name="Italy")
        oslo = db.city.insert(name="Oslo", state=norway)
        db.city.insert(name="Oslo", state=italy)
        for write in (
            lambda: db.country.insert(name="Norway"),
            lambda: db.country.insert_many([{"name": "France"}, {"name": "Italy"}]),
            lambda: db.country.insert_many({"name": ["Spain", "Spain"]}),
            lambda: italy.update(name="Norway"),
            lambda: oslo.update(state=italy),
        ):
            with pytest.raises(joedb.UniqueViolation) as caught:
                write()
            assert caught.value.index in UNIQUE
            assert caught.value.other in (0, 1, None)
        with pytest.raises(joedb.UniqueViolation):
            with db.transaction():
                db.country.insert(name="Peru")
                db.country.insert(name="Norway")
        assert db.country["name"].tolist() == ["Norway", "Italy"]
        assert oslo.state == norway
        if name == path:
            db.close()
            with open_unique(name, mode) as again:
                with pytest.raises(joedb.UniqueViolation):
                    again.country.insert(name="Norway")
                again.country.insert(name="Peru")


def test_unique_indexes_are_found_by_name(path: str) -> None:
    with joedb.open(path) as db:
        for table in ("a", "config", "country", "city"):
            db.create_table(table)
        db.config.add_field("language", str)
        db.country.add_field("code", str)
        db.country.add_field("name", str)
        db.city.add_field("state", db.country)
        db.city.add_field("name", str)
        db.country.insert(name="Norway")
    with open_unique(path) as db:
        db.country.insert(code="x", name="Peru")
        with pytest.raises(joedb.UniqueViolation):
            db.country.insert(name="Norway")


def test_a_file_that_breaks_a_unique_index_is_not_written(path: str) -> None:
    with open_typed(path) as db:
        db.country.insert_many({"name": ["x", "x"]})
    with pytest.raises(joedb.UniqueViolation):
        open_unique(path)
    with open_unique(path, "r") as db:
        assert len(db.country) == 2
