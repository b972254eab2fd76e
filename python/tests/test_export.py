"""joedb.export: tables as files of Parquet, Arrow and Feather. (tests/python_export.py: the tool.)"""

import datetime
import os
import pathlib
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import joedb
from joedb import export

READ = {
    "parquet": pyarrow.parquet.read_table,
    "arrow": lambda path: pa.ipc.open_file(path).read_all(),
    "feather": pyarrow.feather.read_table,
}


@pytest.fixture
def people(db, cities):
    with db.transaction():
        db.person.insert(name="Åse", age=30, home=0, picture=b"\x00\xff")
        db.person.insert(name="", age=-1)
        db.person.insert(name="gone")
        db.person.insert(name="x" * 9000, home=2, picture=b"")
        db.person.delete(2)
    return db.person


@pytest.fixture
def out(tmp_path):
    return str(tmp_path / "out file")


def folder_of(path):
    return sorted(os.listdir(os.path.dirname(path)))


@pytest.mark.parametrize("format", export.FORMATS)
def test_files_have_the_values_of_the_table(people, out, format):
    assert export.write(people, out, format, ids=True) == 3
    table = READ[format](out)
    assert table.column_names == ["__id", "name", "age", "home", "picture"]
    assert table.column("__id").to_pylist() == [0, 1, 3]
    assert table.column("name").to_pylist() == ["Åse", "", "x" * 9000]
    assert table.column("age").to_pylist() == [30, -1, 0]
    assert table.column("home").type == pa.int64()
    assert table.column("home").to_pylist() == [0, None, 2]
    assert table.column("picture").to_pylist() == [b"\x00\xff", None, b""]
    assert pa.types.is_large_binary(table.schema.field("picture").type) or pa.types.is_binary(
        table.schema.field("picture").type
    )


@pytest.mark.parametrize("format", export.FORMATS)
def test_a_table_without_records_or_fields_is_a_file(db, out, format):
    assert export.write(db.person, out, format) == 0
    assert READ[format](out).num_rows == 0


def test_fields_and_times_are_chosen(db, cities, out):
    export.write(cities, out, fields=["population"], times=["population"])
    (column,) = READ["parquet"](out).columns
    assert column.to_pylist()[0] == datetime.datetime(1970, 1, 9, 4, 56, 40, tzinfo=datetime.timezone.utc)
    with pytest.raises(ValueError, match="city has no field name of type int64"):
        export.write(cities, out, times=["name"], replace=True)


def test_the_file_inserts_the_same_records_again(db, people, out):
    export.write(people, out, "arrow")
    with joedb.open(":memory:") as other:
        copy = other.create_table("city")
        copy = other.create_table("person", name=str, age="int8", home="references city", picture=bytes)
        copy.insert_many(READ["arrow"](out))
        rows = [{**row.as_dict(), "home": None if row.home is None else row.home.id} for row in copy]
    assert rows == [{**row.as_dict(), "home": None if row.home is None else row.home.id} for row in people]


def test_a_past_state_can_be_written(db, cities, out):
    before = db.checkpoint
    cities.insert(name="Bonn")
    export.write(db.at(before).city, out)
    assert READ["parquet"](out).num_rows == 3


def test_files_that_are_there_stay_unless_they_are_to_be_replaced(cities, out):
    pathlib.Path(out).write_text("mine")
    with pytest.raises(FileExistsError):
        export.write(cities, out)
    assert pathlib.Path(out).read_text() == "mine"
    export.write(cities, out, replace=True)
    assert READ["parquet"](out).num_rows == 3
    os.mkdir(out + ".d")
    with pytest.raises(FileExistsError, match="no regular file"):
        export.write(cities, out + ".d", replace=True)


def test_what_a_link_leads_to_is_replaced(cities, out):
    pathlib.Path(out).touch()
    os.symlink(out, out + ".link")
    export.write(cities, out + ".link", replace=True)
    assert os.path.islink(out + ".link") and READ["parquet"](out).num_rows == 3


def test_a_failure_leaves_nothing(db, cities, out):
    before = folder_of(out)
    with db.transaction():
        cities.insert(name="\udcff")
    with pytest.raises(Exception, match="UTF-8"):
        export.write(cities, out)
    with pytest.raises(ValueError):
        export.write(cities, out, "csv")
    with pytest.raises(KeyError):
        export.write(cities, out, fields=["nom"])
    assert folder_of(out) == before


# ---- the command line


def run(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "joedb.export", *words], capture_output=True, text=True, timeout=60, **options
    )


def test_the_command_line_takes_hostile_names(db, cities, tmp_path):
    name = "-x '\"$(touch hacked)\n.joedb"
    os.link(db.name, tmp_path / name)
    before = db.checkpoint
    cities.insert(name="Bonn")
    result = run(f"--until={before}", "--id", "--skip=name", "--", "feather", name, "city", "--out", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    table = READ["feather"](str(tmp_path / "--out"))
    assert table.column_names == ["__id", "population"] and table.num_rows == 3
    assert not (tmp_path / "hacked").exists()


def test_the_command_line_says_what_is_wrong(db, cities, path, out):
    def error(*words):
        result = run(*words)
        assert result.returncode == 1 and "Traceback" not in result.stderr, result.stderr
        return result.stderr

    assert "no table town" in error("parquet", path, "town", out)
    assert "city has no field nom" in error("--skip", "nom", "parquet", path, "city", out)
    assert "no field name of type int64" in error("--time", "name", "parquet", path, "city", out)
    assert "is the database itself" in error("--force", "parquet", path, "city", path)
    assert "No such file" in error("parquet", path + "x", "city", out)
    assert "No such file" in error("parquet", path, "city", out + "/x")
    assert run("csv", path, "city", out).returncode == 2
    assert not os.path.exists(out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_leaves_nothing(db, cities, path, tmp_path, number):
    with db.transaction():
        cities.insert_many({"name": ["x" * 1000] * 400_000, "population": [1] * 400_000})
    before = folder_of(path)
    process = subprocess.Popen(
        [sys.executable, "-m", "joedb.export", "parquet", path, "city", str(tmp_path / "out")], stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while folder_of(path) == before and time.monotonic() < deadline:
        assert process.poll() is None
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (-number, b"")
    assert folder_of(path) == before
