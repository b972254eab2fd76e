"""SELECT on what is in memory."""

import os

import pytest

import joedb


@pytest.fixture(autouse=True)
def sql_is_there(db):
    try:
        db.sql("select 1")
    except joedb.Error as error:
        if "without SQLite" in str(error):
            pytest.skip(str(error))
        raise


def test_tables_are_tables(db, cities):
    db.person.insert(name="Ada", home=cities[2])
    rows = db.sql(
        "select p.name, c.name as home from person p join city c on c.__id = p.home"
    )
    assert rows == [("Ada", "Rome")]
    assert rows.columns == ("name", "home")
    assert rows.to_arrow().to_pylist() == [{"name": "Ada", "home": "Rome"}]


def test_parameters_are_values(db, cities):
    assert db.sql("select name from city where population > ?", (600000,)) == [
        ("Oslo",),
        ("Rome",),
    ]
    assert db.sql("select name from city where name = :n", {"n": "Rome"}) == [("Rome",)]
    assert db.sql("select ?, ?, ?, ?", [None, 1.5, b"x", "é"]) == [(None, 1.5, b"x", "é")]
    assert db.sql("select name from city where __id = ?", [cities[1]]) == [("Lisbon",)]
    odd = os.fsdecode(b"caf\xe9")
    db.city.insert(name=odd)
    assert db.sql("select name from city where name = ?", [odd]) == [(odd,)]
    with pytest.raises(joedb.SqlError, match="1 parameters, and 0 values"):
        db.sql("select ?")
    with pytest.raises(joedb.SqlError, match=":n"):
        db.sql("select :n", {"m": 1})
    with pytest.raises(TypeError):
        db.sql("select ?", [object()])


def test_it_sees_blobs_and_new_tables(db):
    db.person.insert(picture=b"\x00\x01")
    assert db.sql("select picture from person") == [(b"\x00\x01",)]
    db.create_table("t", x=int).insert(x=5)
    assert db.sql("select x from t") == [(5,)]


def test_errors_are_those_of_sqlite(db):
    for statement in ("selct", "select x from city", "", "select 1; select 2", "-- nothing"):
        with pytest.raises(joedb.SqlError):
            db.sql(statement)
    with pytest.raises(joedb.SqlError):
        db.sql("insert into city(name) values ('x')")
    assert len(db.city) == 0


def test_many_rows_come_in_their_order(db):
    db.city.insert_many({"name": [str(i) for i in range(5000)]})
    assert db.sql("select name from city") == [(str(i),) for i in range(5000)]


@pytest.mark.parametrize(
    "statement",
    [
        "drop table city",
        "create table x(a)",
        "attach '/tmp/x' as x",
        "begin",
        "pragma query_only",
        "delete from city",
        "vacuum",
        "create temp view v as select 1",
    ],
)
def test_only_select_can_be_run(db, cities, statement):
    with pytest.raises(joedb.SqlError):
        db.sql(statement)
    assert db.sql("select count(*) from city") == [(3,)]
    assert db.sql("with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) "
                  "select sum(i) from n") == [(6,)]


def test_values_of_parameters_may_use_the_database(db, cities):
    def values():
        db.sql("select 1")
        db.create_table("new", x=int)
        yield 1

    assert db.sql("select ?", values()) == [(1,)]
    assert db.sql("select count(*) from new") == [(0,)]


def test_a_statement_opens_and_closes_no_files(db, cities, tmp_path):
    other = tmp_path / "secret"
    other.write_text("create_index a b c\nroot:x:0:0\n")
    for statement in (
        f"select joedb_open('{other}')",
        f"select joedb_open('{db.name}', '{other}', 'main')",
        f"select joedb_close('{db.name}')",
        "select joedb_close(':memory:')",
        f"select load_extension('{other}')",
    ):
        with pytest.raises(joedb.SqlError) as error:
            db.sql(statement)
        assert "root" not in str(error.value)
    assert db.sql("select count(*) from city") == [(3,)]
    db.create_table("more", x=int)
    assert db.sql("select count(*) from more") == [(0,)]
