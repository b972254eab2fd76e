"""What notebooks and editors show, logs, SELECT of other programs, and snapshots."""

import os
import subprocess
import sys

import duckdb
import pandas as pd
import pytest

import joedb
from joedb import dbapi


def test_names_are_completed(db, cities):
    assert {"city", "person", "sql"} <= set(dir(db))
    assert {"population", "where"} <= set(dir(cities))
    assert {"population", "update"} <= set(dir(cities[0]))
    assert db._ipython_key_completions_() == ["city", "person"] == list(db)
    assert cities._ipython_key_completions_() == ["name", "population"]
    assert cities[0]._ipython_key_completions_() == ["name", "population"]
    db.close()
    assert "sql" in dir(db)


def test_notebooks_show_tables(db, cities):
    cities[0].name = "<b>"
    shown = cities._repr_html_()
    assert "<th>population</th>" in shown and "<td>&lt;b&gt;</td>" in shown
    assert shown.endswith("<p>3 records</p>")
    assert cities[:1]._repr_html_().endswith("<p>1 record</p>")
    rows = db.sql("select name, population from city")
    assert "<td>Lisbon</td>" in rows._repr_html_() and "<p>3 rows</p>" in rows._repr_html_()
    cities.insert_many([{"name": "x" * 1000}] * 30)
    assert len(cities._repr_html_()) < 5000
    assert cities._repr_html_().endswith("<p>33 records, of which 20 are shown</p>")
    db.person.insert(home=0, picture=b"abc", name="\udcff")
    assert "<td>0</td><td>&lt;3 bytes&gt;</td>" in db.person._repr_html_()


def test_a_table_that_exists_is_returned_if_it_has_the_fields(db, cities):
    assert db.create_table("city", exist_ok=True, name=str) == cities
    assert db.create_table("new", exist_ok=True, home=cities) == db.new
    assert db.create_table("new", exist_ok=True, home=cities) == db.new
    assert db.create_table("city", exist_ok=True, like=cities) == cities
    with pytest.raises(joedb.SchemaMismatch, match="city.population is int64, not string"):
        db.create_table("city", exist_ok=True, population=str)
    with pytest.raises(joedb.SchemaMismatch, match="city.area is not there"):
        db.create_table("city", exist_ok=True, area=float)
    with pytest.raises(joedb.DataError):
        db.create_table("city", name=str)


def test_the_log_has_the_newest_transactions_first(db, cities):
    for i in range(5):
        with db.transaction(f"change {i}", author="Ann"):
            cities[0].population = i
    assert [one.why for one in db.log(last=2)] == ["change 4", "change 3"]
    assert db.log(last=1)[0].changes is None
    (newest,) = db.log(last=1, changes=True)
    assert newest.author == "Ann" and newest.changes[0].after == {"population": 4}
    assert len(db.log()) == len(list(db.changes()))
    assert db.log(0) == []


def test_a_file_that_is_opened_twice_says_so(db):
    with pytest.raises(joedb.FileLocked, match="this process writes it already"):
        joedb.open(db.name)


# ---- SELECT ----------------------------------------------------------------------------------------


def test_duckdb_has_all_tables_as_they_are(db, cities):
    db.person.insert(name="Ada", home=cities[1], picture=b"x")
    before = db.checkpoint
    with pytest.warns(UserWarning, match="leaves blobs out: person.picture; blobs=True"):
        connection = db.duckdb()
    cities.insert(name="a town with a long name", population=1)
    query = "select c.name, p.name from person p join city c on c.__id = p.home"
    assert connection.execute(query).fetchall() == [("Lisbon", "Ada")]
    assert connection.execute("select count(*), sum(population) from city").fetchall() == [
        (3, 4127796)
    ]
    assert db.duckdb(blobs=False).execute("select max(name) from city").fetchall() == [
        ("a town with a long name",)
    ]
    assert db.at(before).duckdb(blobs=False).execute("select count(*) from city").fetchall() == [(3,)]
    with pytest.raises(duckdb.Error):
        connection.execute("select picture from person")
    assert db.duckdb(blobs=True).execute("select picture from person").fetchall() == [(b"x",)]
    db.close()
    assert connection.execute("select min(name) from city").fetchall() == [("Lisbon",)]


def test_duckdb_needs_names_that_differ_not_only_in_case(db, cities):
    cities.add_field("NAME", int)
    with pytest.raises(joedb.DataError, match="city: name and NAME are one name in DuckDB"):
        db.duckdb()
    cities.rename_field("NAME", "Picture")
    cities.add_field("picture", bytes)
    assert db.duckdb(blobs=False).execute("select max(picture) from city").fetchall() == [(0,)]
    with pytest.raises(joedb.DataError, match="city: Picture and picture are one name"):
        db.duckdb(blobs=True)
    db.create_table("City")
    with pytest.raises(joedb.DataError, match="joedb: city and City are one name in DuckDB"):
        db.duckdb()


def test_duckdb_says_which_text_is_not_utf8(db, cities):
    cities[1].delete()
    cities[2].name = "Rom\udcff, a town with a long name"
    with pytest.raises(ValueError, match="table city, field name, record 2: .* not UTF-8"):
        db.duckdb()
    assert db.sql("select name from city where __id = 2") == [(cities[2].name,)]


def test_the_interface_of_python_for_databases(db, cities, path):
    assert (joedb.apilevel, joedb.threadsafety, joedb.paramstyle) == ("2.0", 2, "qmark")
    with joedb.connect(db) as connection:
        cursor = connection.cursor()
        cursor.execute("select name, population from city where population > ?", (600000,))
        assert [column[:2] for column in cursor.description] == [("name", str), ("population", int)]
        assert cursor.description[0][1] == dbapi.STRING and dbapi.NUMBER == int
        assert cursor.rowcount == 2
        assert cursor.fetchone() == ("Oslo", 709000)
        assert cursor.fetchmany(5) == [("Rome", 2873000)]
        assert cursor.fetchone() is None and cursor.fetchall() == []
        assert list(connection.execute("select 1")) == [(1,)]
        connection.commit()
        with pytest.raises(connection.ProgrammingError):
            cursor.execute("select nothing")
        with pytest.raises(connection.InterfaceError):
            cursor.fetchone()
        with pytest.raises(connection.NotSupportedError):
            cursor.executemany("select 1", [])
        with pytest.raises(connection.ProgrammingError, match="only SELECT"):
            cursor.execute("delete from city")
    assert not db.closed
    with pytest.raises(joedb.Closed):
        connection.cursor()
    with joedb.connect(path) as connection:
        assert connection.execute("select count(*) from city").fetchall() == [(3,)]
    assert connection.database.closed


@pytest.mark.filterwarnings("ignore:pandas only supports SQLAlchemy")
def test_pandas_reads_sql(db, cities):
    with joedb.connect(db) as connection:
        query = "select name, population from city where population > ?"
        frame = pd.read_sql(query, connection, params=(600000,), index_col="name")
    assert frame.population.to_dict() == {"Oslo": 709000, "Rome": 2873000}


# ---- snapshots -------------------------------------------------------------------------------------


def test_a_snapshot_is_written_and_used(db, cities, path):
    array = cities.population
    db.write_snapshot()
    assert os.path.exists(path + ".snapshot")
    cities[0].population = 1
    cities.insert(name="Bern")
    assert array.tolist() == [709000, 545796, 2873000]
    assert cities.population.tolist() == [1, 545796, 2873000, 0]
    assert db.sql("select sum(population) from city") == [(3418797,)]
    with joedb.open(path, "r") as reader:
        assert [city.name for city in reader.city] == ["Oslo", "Lisbon", "Rome", "Bern"]
        with pytest.raises(joedb.Error, match="reading only"):
            reader.write_snapshot()
    with db.transaction(), pytest.raises(joedb.Error, match="a transaction already"):
        db.write_snapshot()
    with joedb.open(":memory:") as memory, pytest.raises(joedb.Error, match="no snapshot"):
        memory.write_snapshot()


def test_a_shared_file_gets_a_snapshot(tmp_path):
    name = str(tmp_path / "s.joedb")
    with joedb.open(name, "shared") as a, joedb.open(name, "shared") as b:
        a.create_table("t", x=int).insert(x=1)
        b.pull()
        b.write_snapshot()
        b.t.insert(x=2)
        a.pull()
        assert a.t.x.tolist() == b.t.x.tolist() == [1, 2]


def test_without_numpy_columns_say_what_is_missing(path, db, cities):
    program = (
        "import sys; sys.modules['numpy'] = None; import joedb\n"
        f"db = joedb.open({path!r}, 'r'); print(db.city[0].name, len(db.city.where(name='Rome')))\n"
        "try: db.city.population\nexcept ImportError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.splitlines()[0] == "Oslo 1", result.stderr
    assert "numpy" in result.stdout.splitlines()[1]
