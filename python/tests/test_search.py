"""Searches, and changes of what they find."""

import datetime as dt
import math
import operator
import time
import types

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

import joedb

UTC = dt.timezone.utc


@pytest.fixture
def people(db, cities):
    table = db.person
    for i, name in enumerate(["Ada", "Bob", "Adam", "Cy", "Zoë"]):
        table.insert(name=name, age=10 * i, home=None if i == 3 else i % 2)
    return table


def names(records):
    return [record.name for record in records]


def test_where_compares(people):
    assert names(people.where(age__lt=20)) == ["Ada", "Bob"]
    assert names(people.where(age__le=20)) == ["Ada", "Bob", "Adam"]
    assert names(people.where(age__gt=20)) == ["Cy", "Zoë"]
    assert names(people.where(age__ge=20, age__lt=40)) == ["Adam", "Cy"]
    assert names(people.where(age__ne=20)) == ["Ada", "Bob", "Cy", "Zoë"]
    assert names(people.where(name__ge="Bob", name__lt="Z")) == ["Bob", "Cy"]
    assert names(people.where(home__ne=None, age__gt=20)) == ["Zoë"]
    assert names(people.where(name__startswith="Ada")) == ["Ada", "Adam"]
    assert names(people.where(name__startswith="")) == names(people)


def test_where_finds_one_of_several_values(db, people):
    assert names(people.where(name=["Cy", "Ada", "no one"])) == ["Ada", "Cy"]
    assert names(people.where(age=(0, 40))) == ["Ada", "Zoë"]
    assert names(people.where(age=np.array([10, 40]))) == ["Bob", "Zoë"]
    assert names(people.where(age=np.int8(10))) == ["Bob"]
    assert names(people.where(age=pd.Series([10, 40]))) == ["Bob", "Zoë"]
    assert names(people.where(age={10})) == ["Bob"]
    assert names(people.where(age=[])) == []
    assert names(people.where(age=range(10, 31))) == ["Bob", "Adam", "Cy"]
    assert names(people.where(age=range(0, 41, 20))) == ["Ada", "Adam", "Zoë"]
    assert names(people.where(home=[None, db.city[1]])) == ["Bob", "Cy"]
    assert names(people.where(home=db.city.where(name=["Oslo"]))) == ["Ada", "Adam", "Zoë"]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_a_range_may_be_longer_than_the_type(db, bits):
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    table = db.create_table("numbers", n=f"int{bits}")
    values = [least, -1, 0, 1, most]
    table.insert_many([{"n": n} for n in values])
    far = 10**30
    bounds = (-far, least - 1, least, least + 1, -1, 0, 1, most, most + 1, most + 2, far)
    for start in bounds:
        for stop in bounds:
            found = table.where(n=range(start, stop))
            expected = [n for n in values if start <= n < stop]
            assert found.column("n").tolist() == expected, (start, stop)
    assert table.where(n=range(0, 2), n__lt=1).column("n").tolist() == [0]
    assert table.where(n=range(-1, 2, 2)).column("n").tolist() == [-1, 1]
    assert table.where(n=range(1, -2, -2)).column("n").tolist() == [-1, 1]
    assert table.where(n=range(0, far, far // 2)).column("n").tolist() == [0]
    found = table.where(n=range(2**31 - 1))  # without a list of its numbers
    assert found.column("n").tolist()[:2] == [0, 1]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_are_compared_with_any_number(db, bits):
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    table = db.create_table("numbers", n=f"int{bits}")
    values = [least, -1, 0, 1, 5, most]
    table.insert_many([{"n": n} for n in values])
    tests = {"__lt": operator.lt, "__le": operator.le, "__gt": operator.gt, "__ge": operator.ge,
             "__ne": operator.ne, "": operator.eq}  # fmt: skip
    numbers = [least - 1, most + 1, 10**30, -(10**30), 5.5, -0.5, 5.0, 1e300, math.inf, -math.inf,
               math.nan, True]  # fmt: skip
    for number in numbers:
        for end, fits in tests.items():
            found = table.where(**{f"n{end}": number}).column("n").tolist()
            assert found == [n for n in values if fits(n, number)], (end, number)
    assert table.where(n=numbers).column("n").tolist() == [1, 5]
    with pytest.raises(OverflowError):
        table.insert(n=most + 1)


def test_conditions_that_make_no_sense_say_so(people):
    for arguments, error, text in (
        ({"age__near": 3}, TypeError, "age__near: a condition ends with __lt"),
        ({"aeg__lt": 3}, TypeError, "no field 'aeg'. Did you mean age?"),
        ({"home__lt": 3}, TypeError, "references have no order"),
        ({"age__startswith": 3}, TypeError, "only texts"),
        ({"picture__lt": b""}, TypeError, "compares no blobs"),
        ({"age": ["x"]}, TypeError, "person.age is int8, which 'x' is not"),
        ({"age__lt": [1]}, TypeError, "person.age is int8"),
    ):
        with pytest.raises(error, match=text):
            people.where(**arguments)


def test_where_compares_floats_as_python_does(db):
    table = db.create_table("t", x=float)
    for x in (0.0, -0.0, math.nan, 1.5, -1.5, math.inf):
        table.insert(x=x)
    for name, fits in (
        ("x", lambda x: x == 0), ("x__ne", lambda x: x != 0), ("x__lt", lambda x: x < 0),
        ("x__ge", lambda x: x >= 0),
    ):  # fmt: skip
        expected = [i for i, x in enumerate(table.x.tolist()) if fits(x)]
        assert table.where(**{name: 0.0}).ids.tolist() == expected
    assert len(table.where(x=[math.nan, 1.5])) == 1


def test_slices_count_records_and_lists_have_ids(people):
    people.delete(1)
    assert names(people[:2]) == ["Ada", "Adam"]
    assert names(people[-2:]) == ["Cy", "Zoë"]
    assert names(people[::-1]) == ["Zoë", "Cy", "Adam", "Ada"]
    assert names(people[[3, 0]]) == ["Cy", "Ada"]
    assert names(people[np.array([4])]) == ["Zoë"]
    assert names(people[people.age > 10]) == ["Adam", "Cy", "Zoë"]
    assert names(people[[True, False, False, True]]) == ["Ada", "Zoë"]
    assert len(people[[]]) == 0
    found = people.where(age__gt=10)
    assert names(found[1:]) == ["Cy", "Zoë"]
    assert names(found[found.column("age") > 20]) == ["Cy", "Zoë"]
    with pytest.raises(KeyError, match="person has no record 1"):
        people[[0, 1]]
    with pytest.raises(ValueError, match="a mask of 1 values for 4 records"):
        people[[True]]


def test_what_was_found_can_be_changed_and_deleted(db, people):
    people.where(age__ge=20).update(home=db.city[2], age=1)
    assert people.home.tolist() == [0, 1, 2, 2, 2]
    people[:2].update(age=[5, 6], name=np.array(["x", "y"]), home=[None, 1])
    assert people.age.tolist() == [5, 6, 1, 1, 1]
    assert names(people[:2]) == ["x", "y"]
    before = people.to_arrow().to_pylist()
    with pytest.raises(OverflowError):
        people.where().update(age=[1, 2, 3, 4, 500])
    with pytest.raises(ValueError, match="age has 1 values for 5 records"):
        people.where().update(age=[1])
    with pytest.raises(TypeError, match="no field 'aeg'"):
        people.where().update(aeg=1)
    assert people.to_arrow().to_pylist() == before
    people.where(age=1).delete()
    assert names(people) == ["x", "y"]
    assert people.insert(name="z").id == 2
    gone = people.where()
    people.delete(1)
    with pytest.raises(KeyError, match="person has no record 1"):
        gone.delete()
    assert len(people) == 2


def test_an_index_of_the_file_finds_the_same(tmp_path):
    schema = tmp_path / "t.joedb"
    unique = [("t_by_a_b", "t", ["a", "b"], 1, [1, 2]), ("t_by_b", "t", ["b"], 1, [2])]
    with joedb._methods._open(str(schema), "w", unique) as db:
        table = db.create_table("t", a="int8", b=str)
        for i in range(400):
            table.insert(a=i % 7 - 3, b=f"{i:03}\xff" if i % 2 else f"{i:03}")
        rows = table.to_arrow(ids=True).to_pylist()
        for arguments, fits in (
            ({"b": "002"}, lambda r: r["b"] == "002"),
            ({"a": 2, "b": "005\xff"}, lambda r: r["a"] == 2 and r["b"] == "005\xff"),
            ({"a": 2, "b__ge": "395"}, lambda r: r["a"] == 2 and r["b"] >= "395"),
            ({"a": [1, 2], "b": "002"}, lambda r: r["a"] in (1, 2) and r["b"] == "002"),
            ({"b": ["002", "004", "002"]}, lambda r: r["b"] in ("002", "004")),
            ({"b__startswith": "39"}, lambda r: r["b"].startswith("39")),
            ({"b__startswith": "3"}, lambda r: r["b"].startswith("3")),
            ({"b__gt": "390", "b__lt": "392"}, lambda r: "390" < r["b"] < "392"),
            ({"b__gt": "392", "b__lt": "390"}, lambda r: False),
            ({"b__le": "001\xff"}, lambda r: r["b"] <= "001\xff"),
            ({"a__le": -3, "b": "003"}, lambda r: r["a"] <= -3 and r["b"] == "003"),
            ({"b": []}, lambda r: False),
        ):
            expected = [row["__id"] for row in rows if fits(row)]
            assert table.where(**arguments).ids.tolist() == expected, arguments
        table.where(b="002").delete()
        table.insert()  # has no key, and is not in the indexes
        assert table.where(b="").ids.tolist() == [2]


def test_what_was_found_is_an_arrow_table(people):
    found = people.where(age__gt=10)
    assert pa.table(found).column_names == ["name", "age", "home", "picture"]
    assert found.to_arrow(["name"], ids=True).to_pylist() == [
        {"__id": 2, "name": "Adam"}, {"__id": 3, "name": "Cy"}, {"__id": 4, "name": "Zoë"},
    ]  # fmt: skip
    assert people[::-1].to_arrow(["age"])["age"].to_pylist() == [40, 30, 20, 10, 0]
    people.delete(2)
    with pytest.raises(KeyError, match="person has no record 2"):
        found.to_arrow()


# ---- rows of other programs ------------------------------------------------------------------------


def test_our_own_frame_goes_back_in(db, people):
    frame = people.to_pandas()
    assert frame.index.name == "__id"
    assert frame.home.tolist() == [0, 1, 0, pd.NA, 0]
    copy = db.create_table("copy", name=str, age="int8", home=db.city, picture=bytes)
    copy.insert_many(frame)
    assert copy.to_arrow().equals(people.to_arrow())
    people.delete(0)
    frame = people.to_pandas()
    copy.drop()
    copy = db.create_table("copy", like=people)
    assert list(copy.fields) == ["name", "age", "home", "picture"]
    copy.insert_many(frame, ids=True)
    assert copy.ids.tolist() == [1, 2, 3, 4]
    merged = frame.assign(home=frame.home.astype("float64"))
    assert db.person.insert_many(merged) == range(5, 9)
    assert db.person[7].home is None and db.person[8].home.id == 0


def test_a_named_index_of_a_frame_is_a_column(db):
    frame = pd.DataFrame({"population": [1, 2]}, index=pd.Index(["Bern", "Riga"], name="name"))
    db.city.insert_many(frame)
    assert names(db.city) == ["Bern", "Riga"]
    db.city.insert_many(frame.reset_index()[lambda f: f.population > 1])  # has an index 1
    assert names(db.city) == ["Bern", "Riga", "Riga"]
    with pytest.raises(joedb.DataError, match="no field town"):
        db.city.insert_many(frame.rename_axis("town"))


def test_columns_are_renamed_on_the_way_in(db):
    new_names = {"Stadt": "name", "Einwohner": "population"}
    db.city.insert_many({"Stadt": ["Bern"], "Einwohner": [1]}, rename=new_names)
    db.city.insert_many([{"Stadt": "Riga", "population": 2}], rename={"Stadt": "name"})
    db.city.insert_many(pd.DataFrame({"Stadt": ["Oslo"], "Nr": [7]}), ids=True,
                        rename={"Stadt": "name", "Nr": "__id"})  # fmt: skip
    assert {city.id: city.name for city in db.city} == {0: "Bern", 1: "Riga", 7: "Oslo"}
    db.city.insert_many([{"population": 3}, {"Stadt": "Rome"}], rename={"Stadt": "name"})
    assert db.city.insert_many([], rename={"Stadt": "name"}) == []


def test_renaming_loses_no_column(db):
    rows = [{"name": "Oslo", "population": 1}, {"name": "Bern", "Stadt": "Riga"}]
    columns = {"name": ["Bern"], "Stadt": ["Riga"]}
    twice, unknown = {"Stadt": "name"}, {"Stadd": "name"}
    for new_names, text in ((twice, "column name: it comes twice"), (unknown, "no column 'Stadd'")):
        for given in (rows, iter(rows), columns, pd.DataFrame(columns), pa.table(columns)):
            with pytest.raises(joedb.DataError, match=text):
                db.city.insert_many(given, rename=new_names, ignore_unknown=True)
        for given in (rows, columns, pd.DataFrame(columns), pa.table(columns)):
            with pytest.raises(joedb.DataError, match=text):
                db.city.upsert(given, "name", rename=new_names, ignore_unknown=True)
    assert len(db.city) == 0


def test_times_become_seconds_and_come_back(db):
    table = db.create_table("event", at=int)
    moment = dt.datetime(2026, 1, 31, 12, tzinfo=UTC)
    seconds = int(moment.timestamp())
    table.insert(at=moment)
    table.insert(at=np.datetime64("2026-01-31T12:00"))
    table.insert(at=pd.Timestamp("2026-01-31 12:00"))
    table.insert(at=moment.replace(tzinfo=None) + dt.timedelta(seconds=0))
    table[3].at = moment.astimezone(dt.timezone(dt.timedelta(hours=2)))
    table.insert_many({"at": np.array(["2026-01-31T12:00"], "datetime64[ns]")})
    table.insert_many(pd.DataFrame({"at": [pd.Timestamp("2026-01-31 13:00+0100")]}))
    table.insert_many([{"at": moment}])
    assert table["at"].tolist() == [seconds] * 7
    assert len(table.where(at=moment)) == 7
    assert len(table.where(at__lt=moment)) == 0
    frame = table.to_pandas(times=["at"])
    assert frame["at"].iloc[0] == moment
    assert str(frame["at"].dtype) == "datetime64[s, UTC]"
    assert table.where(at=moment)[:1].to_arrow(times=["at"])["at"][0].as_py() == moment
    table.insert_many(frame)
    assert table["at"].tolist() == [seconds] * 14
    for value in (moment.replace(microsecond=1), np.datetime64("NaT")):
        with pytest.raises(ValueError, match="has a fraction of a second, or is no time"):
            table.insert(at=value)
    half = {"at": np.array(["2026-01-31T12:00:00.5"], "datetime64[ms]")}
    with pytest.raises(joedb.DataError, match="a time with a fraction of a second"):
        table.insert_many(half)
    assert table[table.insert_many(half, round=True)[0]].at == seconds
    with pytest.raises(TypeError):
        db.person.insert(age=moment)


def test_values_for_several_records_have_an_order(people):
    some = people[:2]
    for values in ({"B", "A"}, frozenset("AB"), {"B": 1, "A": 2}, types.MappingProxyType({"B": 1})):
        with pytest.raises(TypeError, match="name: .* has no order"):
            some.update(name=values)
    assert names(some) == ["Ada", "Bob"]
    some.update(name=("B", "A"))
    assert names(some) == ["B", "A"]
    assert names(people.where(name={"A", "B"})) == ["B", "A"]


def test_a_memoryview_is_one_value(people):
    people[:2].update(picture=memoryview(b"two bytes"[:2]))
    assert [one.picture for one in people[:2]] == [b"tw", b"tw"]
    people[:2].update(picture=[memoryview(b"a"), b"b"])
    assert [one.picture for one in people[:2]] == [b"a", b"b"]


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_arrays_of_times_are_times_in_utc(db, monkeypatch, unit):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        table = db.create_table("event", at=int)
        table.insert_many([{"at": 0}, {"at": 1}])
        times = np.array(["2026-01-31", "2026-02-01"], f"datetime64[{unit}]")
        for values in (times, pd.Series(times), pd.DatetimeIndex(times, tz="UTC")):
            table.where().update(at=[0, 1])
            table.where().update(at=values)
            assert table["at"].tolist() == [1769817600, 1769904000]
            assert len(table.where(at=values)) == 2
            assert len(table.where(at=values[:1])) == 1
        for values in (times - times[0], pd.Series(times - times[0])):
            with pytest.raises(TypeError, match="event.at is int64, which"):
                table.where().update(at=values)
            with pytest.raises(TypeError, match="event.at is int64, which"):
                table.where(at=values)
        assert table["at"].tolist() == [1769817600, 1769904000]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_times_without_a_zone_are_in_utc_in_all_data(db, monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        table = db.create_table("event", key=int, at=int)
        naive = dt.datetime(2026, 1, 2, 12)
        alone = [naive, pd.Timestamp(naive), np.datetime64(naive)]
        lists = [[one] for one in alone] + [pd.Series([naive]), pd.DatetimeIndex([naive])]
        for one in alone:
            table.insert(at=one)
            table.insert_many([{"at": one}])
            table[0].at = one
            table.upsert([{"key": 7, "at": one}], "key")
        for many in lists:
            table.insert_many({"at": many})
            table.insert_many(pd.DataFrame({"at": many}))
            table.where(key=7).update(at=many)
        table.insert_many(polars.DataFrame({"at": [naive]}))
        table.insert_many(polars.DataFrame({"at": [naive]}).to_dicts())
        seconds = int(naive.replace(tzinfo=UTC).timestamp())
        assert set(table["at"].tolist()) == {seconds}
        for some in alone + lists:
            assert len(table.where(at=some)) == len(table)
        date = table.insert(at=naive.date())
        assert date.at == table[table.insert_many({"at": [naive.date()]})[0]].at == seconds - 43200
        assert len(table.where(at__lt=naive)) == len(table.where(at=naive.date())) == 2
    finally:
        monkeypatch.undo()
        time.tzset()


def test_upsert_updates_the_records_with_a_key_and_inserts_the_others(db, cities):
    rows = {"name": ["Rome", "Bern", "Oslo"], "population": [1, 2, 3]}
    for some in (rows, pd.DataFrame(rows), pa.table(rows),
                 [dict(zip(rows, row)) for row in zip(*rows.values())]):  # fmt: skip
        rome, bern, oslo = cities.upsert(some, "name")
        assert (rome, oslo) == (2, 0)
        assert cities.to_arrow().to_pylist() == [
            {"name": "Oslo", "population": 3},
            {"name": "Lisbon", "population": 545796},
            {"name": "Rome", "population": 1},
            {"name": "Bern", "population": 2},
        ]
        cities.delete(bern)
    people = db.person
    ada = people.insert(name="Ada", age=36, home=cities[0], picture=b"\0")
    assert people.upsert([{"name": "Ada", "home": cities[0], "picture": None},
                          {"name": "Ada", "home": cities[1], "age": 3}], ["name", "home"]) == [0, 1]  # fmt: skip
    assert ada.age == 36 and ada.picture is None and people[1].home == cities[1]
    assert people.upsert([{"home": cities[1], "age": 4}], "home") == [1]
    assert people[1].age == 4 and people[1].name == "Ada"


def test_a_frame_goes_back_into_its_records(db, cities):
    frame = cities.to_pandas()
    frame["population"] += 1
    frame.loc[9] = ["Bern", 5]
    assert cities.upsert(frame, "__id") == [0, 1, 2, 9]
    assert cities.population.tolist() == [709001, 545797, 2873001, 5]
    assert cities[9].name == "Bern"


def test_upsert_changes_nothing_if_it_fails(db, cities):
    before = cities.to_arrow().to_pylist()
    for rows, key, error, text in (
        ([{"name": "Oslo", "population": 1}, {"name": "x", "population": "y"}], "name",
         TypeError, "city.population is int64"),
        ({"name": ["a", "a"]}, "name", joedb.DataError, "two rows have the same key"),
        ([{"population": 1}], "name", joedb.DataError, "the rows have no name"),
        ([{"name": "Oslo", "population": 2}, {"name": "Oslo"}], "name", joedb.DataError,
         "two rows have the same key"),
        ({"name": ["a"]}, "nam", KeyError, "city has no field"),
        ({"name": ["a"]}, [], ValueError, "a key has at least one field"),
        ({"nome": ["a"]}, "name", joedb.DataError, "no name|no field"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            cities.upsert(rows, key)
        assert cities.to_arrow().to_pylist() == before
    cities.insert(name="Oslo")
    with pytest.raises(joedb.DataError, match="two records have the key 'Oslo'"):
        cities.upsert({"name": ["Oslo"], "population": [1]}, "name")
    with db.transaction(), pytest.raises(joedb.Error):
        cities.upsert({"name": ["Oslo"]}, "name")
    with db.transaction():
        assert cities.upsert({"name": ["Rome"], "population": [7]}, "name") == [2]
    assert cities[2].population == 7


def test_upsert_refuses_records_of_other_tables_as_insert_does(db, cities, tmp_path):
    people = db.person
    ada = people.insert(name="Ada", home=cities[0])
    with joedb.open(tmp_path / "other.joedb") as other:
        city = other.create_table("city", name=str).insert(name="Oslo")
        for wrong in (ada, city, db.at(db.checkpoint).city[1]):
            for write in (
                lambda row: people.insert(**row),
                lambda row: people.upsert([row], "name"),
                lambda row: people.upsert([row], "home"),
            ):
                with pytest.raises(ValueError, match="person.home is references city, .* another"):
                    write({"name": "Ada", "home": wrong})
        with pytest.raises(ValueError, match="city.__id is .* another table or database"):
            cities.upsert([{"__id": ada, "name": "Riga"}], "__id")
    with pytest.raises(TypeError, match="city.population is int64"):
        cities.upsert([{"name": "Oslo", "population": ada}], "name")
    assert ada.home == cities[0] and cities[0].population == 709000
    assert cities.upsert([{"__id": cities[0], "name": "Riga"}], "__id") == [0]
    assert people.upsert([{"name": "Ada", "home": cities[1]}], "name") == [0]
    assert ada.home == cities[1] and cities[0].name == "Riga"


def test_upsert_of_many_rows(db):
    table = db.create_table("t", k=int, v=float)
    table.insert_many({"k": np.arange(1000), "v": np.zeros(1000)})
    ids = table.upsert({"k": np.arange(500, 1500), "v": np.ones(1000)}, "k")
    assert ids == list(range(500, 1500))
    assert table.v.tolist() == [0] * 500 + [1] * 1000


def test_upsert_finds_keys_of_all_types(db, cities):
    keys = {"string": ["a", ""], "int8": [-1, 5], "int64": [2**40, 0], "float32": [0.5, 0.0],
            "float64": [1e300, 0.0], "boolean": [True, False], "references city": [cities[1], None]}  # fmt: skip
    for number, (kind, (one, other)) in enumerate(keys.items()):
        table = db.create_table(f"k{number}", k=kind, v=int)
        table.insert(k=one, v=1)
        assert table.upsert([{"k": one, "v": 2}, {"k": other, "v": 3}], "k") == [0, 1]
        assert table.upsert([{"v": 4, "k": other}, {"k": one}], "k") == [1, 0]
        assert table.v.tolist() == [2, 4]
        assert table.upsert([{"k": other, "v": 5}, {"k": one, "v": 2}], ["k", "v"]) == [2, 0]
    table = db.create_table("f", k=float)
    table.insert_many({"k": [math.nan, -0.0]})
    assert table.upsert({"k": [math.nan, 0.0]}, "k") == [2, 1]
    with pytest.raises(TypeError, match="person.picture is a blob"):
        db.person.upsert([{"picture": b"x"}], "picture")


def test_upsert_uses_an_index(path):
    index = ("by_k", "t", ["k"], 1, [1])
    with joedb._methods._open(path, "w", [index]) as indexed:
        table = indexed.create_table("t", k=str, v=int)
        table.insert_many({"k": [f"k{i}" for i in range(1000)], "v": [0] * 1000})
        assert table.upsert({"k": ["k7", "new", "k999"], "v": [1, 2, 3]}, "k") == [7, 1000, 999]
        assert table.v[[7, 8, 999, 1000]].tolist() == [1, 0, 3, 2]


def test_export_is_there_without_an_import(tmp_path, cities):
    assert joedb.export.write(cities, tmp_path / "city.parquet") == 3
    assert joedb.export.write(cities[:2], tmp_path / "two.parquet") == 2
    with pytest.raises(AttributeError, match="no attribute 'exprot'"):
        joedb.exprot
