"""Columns as NumPy arrays, tables as Arrow tables, and the other way round."""

import gc

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

import joedb

TYPES = {
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f32": "float32",
    "f64": "float64",
    "b": "boolean",
}


@pytest.fixture
def numbers(db):
    table = db.create_table("numbers", **TYPES)
    for i in range(-3, 4):
        table.insert(i8=i, i16=i * 100, i32=i * 10**6, i64=i * 10**12, f32=i / 2, f64=i / 4, b=i > 0)
    return table


def test_columns_are_arrays_of_their_type_which_cannot_be_changed(numbers):
    for name, kind in TYPES.items():
        array = numbers[name]
        assert array.dtype == np.dtype({"boolean": "bool"}.get(kind, kind))
        assert array.tolist() == [record[name] for record in numbers]
        with pytest.raises(ValueError):
            array[0] = 1
        assert not array.flags.owndata


def test_an_array_keeps_its_values_when_the_table_changes(numbers):
    before = numbers.i64
    numbers[0].i64 = 5
    numbers.insert(i64=6)
    assert before.tolist() == [i * 10**12 for i in range(-3, 4)]
    assert numbers.i64.tolist() == [5] + before.tolist()[1:] + [6]


def test_an_array_outlives_the_database(numbers, db):
    array = numbers.i32
    db.close()
    del numbers, db
    gc.collect()
    assert array.sum() == 0


def test_where_records_were_deleted_arrays_have_the_others(cities):
    cities.delete(0)
    assert cities.population.tolist() == [545796, 2873000]
    assert cities.name.tolist() == ["Lisbon", "Rome"]
    assert cities.ids.tolist() == [1, 2]


def test_references_are_ids_and_texts_are_objects(db, cities):
    db.person.insert(name="Ada", home=cities[2], picture=b"x")
    db.person.insert()
    assert db.person.home.tolist() == [2, -1]
    assert db.person["name"].tolist() == ["Ada", ""]
    assert db.person.picture.tolist() == [b"x", None]


def test_an_empty_table_has_empty_arrays(db):
    assert db.city.population.shape == (0,)
    assert db.city["name"].shape == (0,)
    assert db.city.to_arrow().num_rows == 0


def test_a_table_is_an_arrow_table(db, cities):
    table = cities.to_arrow(ids=True)
    assert table.to_pylist() == [
        {"__id": 0, "name": "Oslo", "population": 709000},
        {"__id": 1, "name": "Lisbon", "population": 545796},
        {"__id": 2, "name": "Rome", "population": 2873000},
    ]
    assert cities.to_arrow(["population"]).column_names == ["population"]
    assert pa.table(cities).equals(cities.to_arrow())
    with pytest.raises(KeyError):
        cities.to_arrow(["x"])
    assert cities.where(name="Rome").to_arrow(ids=True).to_pylist() == table.to_pylist()[2:]


def test_an_arrow_table_outlives_changes_and_the_database(db, cities):
    table = cities.to_arrow()
    cities[0].name = "a name of more than eleven bytes"
    db.close()
    gc.collect()
    table.validate(full=True)
    assert table["name"].to_pylist() == ["Oslo", "Lisbon", "Rome"]


def test_blobs_are_bytes_in_arrow(db):
    db.person.insert(name="Ada", picture=b"\x00\x01")
    db.person.insert(name="Bob")
    assert db.person.to_arrow(["picture"])["picture"].to_pylist() == [b"\x00\x01", None]


def test_blobs_are_not_exported_while_a_rollback_could_take_their_bytes(db):
    db.person.insert(name="Ada", picture=b"abc")
    with db.transaction():
        assert db.person.to_arrow()["picture"].to_pylist() == [b"abc"]
        db.person.insert(name="Bob", picture=b"def")
        with pytest.raises(joedb.Error, match="blobs"):
            db.person.to_arrow()
        assert db.person.to_arrow(["name"]).num_rows == 2
    assert db.person.to_arrow()["picture"].to_pylist() == [b"abc", b"def"]


def test_rows_come_from_arrow_from_a_dict_of_columns_and_from_dicts(db):
    table = pa.table({"name": ["Oslo", "Rome"], "population": [1, 2]})
    assert list(db.city.insert_many(table)) == [0, 1]
    assert list(db.city.insert_many({"name": ["Bern"], "population": np.array([3])})) == [2]
    assert list(db.city.insert_many([{"name": "Riga"}, {"population": 5}])) == [3, 4]
    assert list(db.city.insert_many(row for row in [{"name": "Nice"}])) == [5]
    assert db.city["name"].tolist() == ["Oslo", "Rome", "Bern", "Riga", "", "Nice"]
    assert db.city.population.tolist() == [1, 2, 3, 0, 5, 0]


def test_rows_come_from_pandas_and_polars(db):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    db.city.insert_many(pandas.DataFrame({"name": ["Oslo"], "population": [1]}))
    db.city.insert_many(polars.DataFrame({"name": ["Rome"], "population": [2]}))
    assert db.city.to_arrow().to_pylist() == [
        {"name": "Oslo", "population": 1},
        {"name": "Rome", "population": 2},
    ]
    frame = db.city.to_pandas()
    assert frame.index.tolist() == [0, 1]
    assert frame["name"].tolist() == ["Oslo", "Rome"]
    assert polars.DataFrame(db.city)["population"].sum() == 3


def test_a_field_id_is_not_the_index_of_a_frame(db):
    table = db.create_table("item", id=int, name=str)
    table.insert_many({"id": [70, 80], "name": ["a", "b"]})
    assert table.to_pandas().index.name == "__id"
    assert table.where().to_pandas(["name"]).index.name == "__id"
    assert db.city.to_pandas().index.name == "__id"
    table.insert_many(table.to_pandas(["name"]))
    table.insert_many(table[:2].to_pandas())
    assert table["id"].tolist() == [70, 80, 0, 0, 70, 80]
    frame = table.to_pandas(["id"])
    frame["id"] += 1
    assert table.upsert(frame, "__id") == list(range(6))
    assert table["id"].tolist() == [71, 81, 1, 1, 71, 81]
    table[5].delete()
    assert table.insert_many(frame[5:], ids=True) == [5]
    db.city.insert_many({"name": ["Oslo", "Rome"], "population": [1, 2]})
    table.insert_many(db.city.to_pandas(["name"]))
    assert table["id"].tolist()[-2:] == [0, 0], "the ids of other records"


def test_duckdb_reads_a_table(db, cities):
    duckdb = pytest.importorskip("duckdb")
    city = cities.to_arrow()
    assert city.num_rows == 3
    assert duckdb.sql("select sum(population) from city").fetchall() == [(4127796,)]


def test_wrong_rows_change_nothing(db, cities):
    for rows in (
        pa.table({"nam": ["x"]}),
        pa.table({"name": [1]}),
        {"population": [1.5]},
        [{"name": "x"}, {"name": 5}],
        [{"name": "x"}, 5],
    ):
        with pytest.raises((joedb.DataError, TypeError)):
            cities.insert_many(rows)
    for rows in (5, "x", b"x"):
        with pytest.raises(TypeError):
            cities.insert_many(rows)
    assert len(cities) == 3
    cities.insert_many(pa.table({"nam": ["x"], "name": ["y"]}), ignore_unknown=True)
    cities.insert_many({"population": [None, 4]}, null_is_default=True)
    assert cities.population.tolist()[3:] == [0, 0, 4]


def test_an_exception_of_an_iterable_takes_the_rows_before_back(db):
    def rows():
        yield {"name": "Oslo"}
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        db.city.insert_many(rows())
    assert len(db.city) == 0


def test_a_table_is_made_like_a_data_frame(db):
    data = pa.table({"word": ["a"], "count": pa.array([1], pa.int32()), "p": [0.5]})
    table = db.create_table("words", like=data, more=str)
    assert table.fields == {"word": "string", "count": "int32", "p": "float64", "more": "string"}
    table.insert_many(data)
    assert table[0].as_dict() == {"word": "a", "count": 1, "p": 0.5, "more": ""}
    copy = db.create_table("copy", like=table)
    assert copy.fields == table.fields
    copy.insert_many(table)
    assert copy.to_arrow().equals(table.to_arrow())
    with pytest.raises(TypeError):
        db.create_table("t", like=5)
    with pytest.raises(joedb.Error):
        db.create_table("t", like=pa.table({"x": [[1]]}))
    assert "t" not in db


def test_a_stream_is_read_once(db, cities):
    stream = cities._arrow_stream(None, False, False)
    cities._insert_stream(stream, False, False, False, False, {})
    with pytest.raises(ValueError):
        cities._insert_stream(stream, False, False, False, False, {})
    assert len(cities) == 6


def test_what_was_found_and_deleted_is_an_error(cities):
    found = cities.where()
    cities.delete(1)
    for use in (found.to_arrow, lambda: found.column("name"), found.to_pandas):
        with pytest.raises(KeyError, match="city has no record 1"):
            use()


def test_an_array_that_is_taken_while_rows_are_read_keeps_its_values(db):
    arrays = []

    def batches():
        for i in range(50):
            arrays.append(db.city.population)
            yield pa.record_batch({"name": [str(i)] * 100, "population": [i] * 100})

    db.city.insert(name="first", population=7)
    schema = pa.schema({"name": pa.string(), "population": pa.int64()})
    db.city.insert_many(pa.RecordBatchReader.from_batches(schema, batches()))
    assert all(array.tolist() == [7] for array in arrays)
    assert len(db.city) == 5001


def test_rows_may_come_from_the_table_that_they_go_to(db, cities):
    cities.insert_many(cities)
    cities.insert_many({"name": city.name} for city in list(cities))
    assert len(cities) == 12


def test_records_get_the_ids_that_a_column_has(db):
    rows = {"__id": [5, 2, 7], "name": ["five", "two", "seven"]}
    assert db.city.insert_many(rows, ids=True) == [5, 2, 7]
    assert [(city.id, city.name) for city in db.city] == [(2, "two"), (5, "five"), (7, "seven")]
    assert list(db.city.insert_many(db.city)) != [2, 5, 7]
    with pytest.raises(joedb.DataError):
        db.city.insert_many(rows, ids=True)


def test_options_hold_for_dicts_as_for_columns(db):
    city = db.city
    table = db.create_table("t", name=str, count="int32", p="float32", city=city)
    rows = [{"__id": 3, "name": None, "count": None, "p": None, "city": None, "more": 1}]
    assert table.insert_many(rows, ids=True, null_is_default=True, ignore_unknown=True) == [3]
    assert table[3].as_dict() == {"name": "", "count": 0, "p": 0.0, "city": None}
    for options in ({"null_is_default": True}, {"ignore_unknown": True}):
        with pytest.raises((joedb.DataError, TypeError)):
            table.insert_many(rows, **options)
    for wrong in ({"name": "x"}, {"__id": -1}, {"__id": "x"}, {"__id": 3}, {"__id": None}):
        with pytest.raises(joedb.DataError):
            table.insert_many([{"__id": 7}, wrong], ids=True)
    assert table.insert_many([{"__id": 9, "name": "x"}]) == [2], "as a column that is not asked for"
    with pytest.raises(joedb.DataError, match=r"t.p: 0.1 does not fit a field of type float32"):
        table.insert_many([{"p": 0.5}, {"p": 0.1}])
    first, second = table.insert_many([{"p": 0.1}, {"p": 2**24 + 1}], round=True)
    assert (table[first].p, table[second].p) == (float(np.float32(0.1)), 2.0**24)
    table.insert_many([{"p": np.float32(0.1)}, {"p": float("nan")}, {"p": float("inf")}])
    assert len(table) == 7


def test_nan_stays_nan(db):
    pandas = pytest.importorskip("pandas")
    nan = float("nan")
    table = db.create_table("t", x=float, y="float32", name=str)
    frame = pandas.DataFrame({"name": ["a", "b"], "x": [nan, 1.0], "y": np.array([2, nan], "float32")})
    for rows in (
        frame,
        frame.to_dict("list"),
        frame.to_dict("records"),
        {"x": frame["x"], "y": frame["y"], "name": frame["name"]},
        {"x": frame["x"].to_numpy(), "y": frame["y"].to_numpy(), "name": ["a", "b"]},
    ):
        for options in ({}, {"null_is_default": True}):
            a, b = table.insert_many(rows, **options)
            assert (np.isnan(table[a].x), table[b].x, table[a].y) == (True, 1.0, 2.0)
            assert np.isnan(table[b].y) and table[b].name == "b"
    table.insert_many(pandas.DataFrame({"x": pandas.array([None], "Float64")}), null_is_default=True)
    assert table[len(table) - 1].x == 0, "this one is missing"
    again = db.create_table("again", like=frame)
    again.insert_many(table.to_pandas().reset_index(drop=True))
    assert np.isnan(again.x).sum() == np.isnan(table.x).sum()


def test_a_table_like_a_frame_has_other_names_and_only_what_fits(db):
    frame = pd.DataFrame({"Order ID": [1], "parts": [[1, 2]], "ok": [True]})
    with pytest.raises(joedb.DataError, match="Order ID"):
        db.create_table("a", like=frame[["Order ID"]])
    with pytest.raises(joedb.DataError, match=r'no field has the Arrow type list \("[+]l'):
        db.create_table("a", like=frame, rename={"Order ID": "order"})
    options = {"rename": {"Order ID": "order"}, "ignore_unknown": True}
    for i, like in enumerate([frame, pa.table(frame), polars.DataFrame(frame), pa.table(frame).schema]):
        table = db.create_table(f"t{i}", like=like, **options)
        assert table.fields == {"order": "int64", "ok": "boolean"}
    table.insert_many(frame, **options)
    assert table.order.tolist() == [1]
    assert db.create_table("t0", like=frame, exist_ok=True, **options) == db.t0
    with pytest.raises(joedb.SchemaMismatch):
        db.create_table("t0", like=frame, exist_ok=True, rename={"Order ID": "id"}, ignore_unknown=True)
    with pytest.raises(joedb.DataError, match="rename: there is no column 'Ordr'"):
        db.create_table("a", like=frame, rename={"Ordr": "order"}, ignore_unknown=True)
    with pytest.raises(TypeError, match="like="):
        db.create_table("a", rename={"a": "b"})
    assert "a" not in db
    other = db.create_table("other", rename=str, ignore_unknown=bool)
    assert other.fields == {"rename": "string", "ignore_unknown": "boolean"}


def test_nan_is_missing_in_a_field_that_has_none(db):
    table = db.create_table("t", n="int16", ok=bool, x=float)
    frame = pd.DataFrame({"n": [1, 2.0, np.nan], "x": [np.nan, 1, 2]})
    for rows in (frame, {"n": frame["n"].to_numpy(), "x": frame["x"]},
                 [{"n": n, "x": x} for n, x in zip([1, 2, np.nan], frame["x"])]):  # fmt: skip
        before = len(table)
        with pytest.raises((joedb.DataError, TypeError)):
            table.insert_many(rows)
        assert len(table) == before
        ids = table.insert_many(rows, null_is_default=True)
        some = table[list(ids)]
        assert some.column("n").tolist() == [1, 2, 0]
        assert np.isnan(some.column("x")[0])
    with pytest.raises(joedb.DataError, match="null, which a field of type int16 cannot be"):
        table.insert_many(frame)
    keyed = pd.DataFrame({"x": [1.0], "n": [np.nan]})
    table[:].delete()
    table.insert(x=1, n=5)
    table.upsert(keyed, "x", null_is_default=True)
    assert table.n.tolist() == [0]
    table.insert_many(frame.rename(columns={"n": "N"}), rename={"N": "n"}, null_is_default=True)
    assert table.n.tolist() == [0, 1, 2, 0]


def test_ids_of_many_records_are_shown_in_one_line(db):
    ids = db.city.insert_many({"name": f"city {i}"} for i in range(1000))
    assert ids == list(range(1000)) and isinstance(ids, list)
    assert repr(ids) == "[0, 1, 2, …, 999] (1000 ids)"
    assert repr(db.city.insert_many([{"name": "a"}])) == "[1000]"


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        ({"n": 7}, TypeError, "a dict of columns has a list or an array for each: 'n' is 7"),
        ({"n": "abc"}, TypeError, "a dict of columns has a list or an array"),
        (pd.Series([1], name="n"), TypeError, "a Series has no names of columns"),
        ({"n": [1], "x": [1, 2]}, joedb.DataError, "column 'n' has 1 values, and 'x' 2"),
        ({"Order ID": [1]}, joedb.DataError, "no field Order ID: rename=.* ignore_unknown=True"),
        (pd.DataFrame({"N": [1]}), joedb.DataError, "no field N: rename="),
    ],
)
def test_rows_that_are_none_say_what_rows_are(db, rows, error, text):
    table = db.create_table("t", n=int, x=float)
    with pytest.raises(error, match=text):
        table.insert_many(rows)
    if "n" in rows:
        with pytest.raises(error, match=text):
            table.upsert(rows, "n")
    assert len(table) == 0
