"""Tables and records as objects."""

import os

import numpy as np
import pytest

import joedb


def test_a_record_has_the_values_that_it_was_given(db):
    oslo = db.city.insert(name="Oslo", population=709000)
    ada = db.person.insert(name="Ada", age=36, home=oslo, picture=b"\x00\xff")
    assert (oslo.name, oslo.population, oslo.id) == ("Oslo", 709000, 0)
    assert ada.home == oslo
    assert ada.home.name == "Oslo"
    assert ada.picture == b"\x00\xff"
    assert ada["age"] == 36
    assert ada.as_dict() == {"name": "Ada", "age": 36, "home": oslo, "picture": b"\x00\xff"}


def test_other_fields_have_the_default_value_of_their_type(db):
    nobody = db.person.insert()
    assert nobody.as_dict() == {"name": "", "age": 0, "home": None, "picture": None}


def test_an_id_that_is_used_again_keeps_no_old_value(db, cities):
    cities[0].delete()
    assert cities.insert(name="Bern").as_dict() == {"name": "Bern", "population": 0}


def test_what_was_written_is_there_when_the_file_is_opened_again(path):
    with joedb.open(path) as db:
        db.create_table("city", name=str).insert(name="Oslo")
    with joedb.open(path, "r") as db:
        assert [city.name for city in db.city] == ["Oslo"]


def test_a_record_is_changed_by_attribute_by_item_and_by_update(cities):
    oslo = cities[0]
    oslo.population = 1
    assert oslo.population == 1
    oslo["population"] = 2
    assert oslo.population == 2
    oslo.update(name="Christiania", population=3)
    assert oslo.as_dict() == {"name": "Christiania", "population": 3}


def test_an_update_changes_all_fields_or_none(cities):
    with pytest.raises(OverflowError):
        cities[0].update(name="x", population=2**63)
    assert cities[0].name == "Oslo"


def test_tables_are_collections_of_records(db, cities):
    assert len(cities) == 3
    assert [city.id for city in cities] == [0, 1, 2]
    assert cities[1] in cities
    assert 1 in cities
    assert 3 not in cities
    assert -1 not in cities
    assert "Oslo" not in cities
    assert db.person.insert() not in cities
    assert cities.get(1) == cities[1]
    assert cities.get(7) is None
    cities.delete(1)
    assert [city.id for city in cities] == [0, 2]
    assert bool(db.create_table("empty"))


def test_the_schema_can_be_seen(db):
    assert list(db.tables) == ["city", "person"]
    assert db.person.fields == {
        "name": "string",
        "age": "int8",
        "home": "references city",
        "picture": "blob",
    }
    assert "city" in db
    assert "x" not in db
    assert db["city"] == db.city


def test_the_schema_can_be_changed(db, cities):
    cities.add_field("area", float)
    assert cities[0].area == 0.0
    cities.rename_field("area", "size")
    cities[0].size = 2.5
    cities.drop_field("population")
    assert cities[0].as_dict() == {"name": "Oslo", "size": 2.5}
    cities.rename("town")
    assert db.town[0].name == "Oslo"
    assert cities.table_name == "town"
    db.person.drop()
    assert list(db.tables) == ["town"]


def test_a_table_may_refer_to_itself_and_have_fields_with_any_name(db):
    node = db.create_table("node", {"like": str, "self": int}, parent="references node")
    root = node.insert(like="x", self=1)
    assert node.insert(parent=root).parent["self"] == 1


def test_fields_with_names_of_methods_are_items(db):
    table = db.create_table("t", id=int, delete=str, name=str)
    record = table.insert(id=5, delete="x", name="n")
    assert record.id == 0
    assert record["id"] == 5
    record["id"] = 6
    assert table["id"].tolist() == [6]
    assert table.name.tolist() == ["n"]
    assert table.table_name == "t"
    with pytest.raises(AttributeError, match=r'record\["id"\]'):
        record.id = 7


@pytest.mark.parametrize(
    ("field", "value", "error", "text"),
    [
        ("age", 128, OverflowError, r"person\.age is int8: 128 is not in -128 … 127"),
        ("age", -129, OverflowError, r"-129"),
        ("age", 10**30, OverflowError, r"int8"),
        ("age", "36", TypeError, r"person\.age is int8, which '36' is not"),
        ("age", 1.5, TypeError, r"1\.5"),
        ("age", None, TypeError, r"None"),
        ("name", 5, TypeError, r"person\.name is string, which 5 is not"),
        ("name", b"x", TypeError, r"string"),
        ("home", "Oslo", TypeError, r"references city"),
        ("home", True, TypeError, r"references city"),
        ("home", -5, OverflowError, r"-5"),
        ("picture", "x", TypeError, r"blob"),
        ("nam", "x", TypeError, r"has no field 'nam'. Did you mean name\?"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_it_and_changes_nothing(
    db, field, value, error, text
):
    with pytest.raises(error, match=text):
        db.person.insert(**{"name": "Ada", field: value})
    assert len(db.person) == 0
    assert db.sql("select count(*) from person") == [(0,)]


def test_numbers_of_numpy_are_numbers(db):
    t = db.create_table("n", i="int32", f="float32", b=bool)
    r = t.insert(i=np.int32(5), f=np.float32(0.5), b=np.bool_(True))
    assert r.as_dict() == {"i": 5, "f": 0.5, "b": True}
    r.b = 0
    assert r.b is False
    with pytest.raises(TypeError):
        r.b = 2
    with pytest.raises(OverflowError):
        r.f = 1e300
    r.f = float("inf")
    assert r.f == float("inf")


def test_texts_that_are_no_utf8_come_back_as_they_were(db):
    name = os.fsdecode(b"caf\xe9")
    city = db.city.insert(name=name)
    assert city.name == name
    assert os.fsencode(city.name) == b"caf\xe9"


@pytest.mark.parametrize("name", ["", "\0", "a\0b", "Tōkyō", "🌍" * 1000])
def test_any_text_is_a_text(db, name):
    assert db.city.insert(name=name).name == name
    assert len(db.city.where(name=name)) == 1


def test_what_is_not_there_is_an_error_with_a_suggestion(db, cities):
    with pytest.raises(AttributeError, match="has no table cty. Did you mean city"):
        db.cty
    with pytest.raises(KeyError):
        db["cty"]
    with pytest.raises(AttributeError, match="city has no field 'popul"):
        cities[0].populatoin
    with pytest.raises(AttributeError):
        cities.populatoin
    with pytest.raises(KeyError, match="city has no record 3"):
        cities[3]
    with pytest.raises(KeyError):
        cities[0]["x"]
    with pytest.raises(AttributeError):
        cities[0].populatoin = 3
    assert not hasattr(db, "__wrapped__")
    assert not hasattr(cities[0], "__array__")


def test_a_deleted_record_says_so(cities):
    rome = cities[2]
    rome.delete()
    assert not rome.exists()
    assert repr(rome) == "<city[2], which was deleted>"
    with pytest.raises(KeyError, match="city has no record 2"):
        rome.name
    with pytest.raises(KeyError):
        rome.delete()
    with pytest.raises(KeyError):
        rome.name = "x"


def test_a_reference_need_not_lead_anywhere(db, cities):
    ada = db.person.insert(name="Ada", home=2)
    cities.delete(2)
    assert not ada.home.exists()
    assert ada.home.id == 2


def test_records_of_other_tables_and_databases_are_no_references(db, cities):
    ada = db.person.insert(name="Ada")
    with pytest.raises(ValueError, match="another table"):
        db.person.insert(home=ada)
    with joedb.open(":memory:") as other:
        stranger = other.create_table("city", name=str).insert()
        with pytest.raises(ValueError, match="another table or database"):
            db.person.insert(home=stranger)


def test_where_finds_records_by_the_values_of_fields(db, cities):
    people = [
        db.person.insert(name=name, age=age, home=home)
        for name, age, home in (
            ("Ada", 36, cities[0]),
            ("Bob", 30, cities[1]),
            ("Cy", 30, cities[0]),
            ("Di", 30, None),
        )
    ]
    assert list(db.person.where(home=cities[0])) == [people[0], people[2]]
    assert list(db.person.where(home=cities[0], age=30)) == [people[2]]
    assert list(db.person.where(home=None)) == [people[3]]
    assert list(db.person.where(name="Bob")) == [people[1]]
    assert len(db.person.where()) == 4
    assert db.person.where(age=30)[-1] == people[3]
    assert db.person.where(age=30).ids.tolist() == [1, 2, 3]
    assert db.person.where(age=30).column("name").tolist() == ["Bob", "Cy", "Di"]
    people[1].delete()
    assert len(db.person.where(age=30)) == 2
    with pytest.raises(TypeError):
        db.person.where(picture=b"x")
    with pytest.raises(IndexError):
        db.person.where(age=1)[0]


def test_objects_look_like_what_makes_them(db, cities):
    assert repr(cities[0]) == "city[0](name='Oslo', population=709000)"
    assert repr(cities) == "<joedb.Table city(name: string, population: int64), 3 records>"
    assert repr(cities.where(name="Oslo")) == "<1 record of city>"
    assert repr(db).startswith("<joedb.Database /")


def test_records_are_equal_if_they_are_the_same(db, cities):
    assert cities[0] == cities[0]
    assert cities[0] != cities[1]
    assert len({cities[0], cities[0], cities[1]}) == 2
    assert cities[0] != 0


def test_a_conversion_that_changes_the_database_does_no_harm(db, cities):
    class Evil:
        def __index__(self):
            db.city.drop()
            return 3

    with pytest.raises(joedb.Error):
        db.city.insert(population=Evil())
    assert "city" not in db
    assert len(db.person) == 0


def test_several_records_are_deleted_at_once_or_none(db, cities):
    cities.insert(name="Bern")
    with pytest.raises(KeyError, match="no record 7"):
        cities.delete([0, 7])
    assert len(cities) == 4
    cities.delete([0, cities[1]])
    assert [one.name for one in cities] == ["Rome", "Bern"]
    cities.delete(cities.population == 0)
    cities.delete(np.array([2]))
    assert len(cities) == 0
    cities.insert(name="Oslo")
    cities.delete(slice(None))
    assert len(cities) == 0


def test_a_new_field_may_have_a_value_in_all_records(db, cities):
    cities.add_field("country", str, default="?")
    cities.add_field("area", float)
    assert [one.country for one in cities] == ["?"] * 3
    assert cities.insert(name="Bern").country == ""
    with pytest.raises(OverflowError):
        cities.add_field("level", "int8", default=300)
    assert list(cities.fields) == ["name", "population", "country", "area"]
    with db.transaction():
        with pytest.raises(OverflowError):
            cities.add_field("level", "int8", default=300)
        assert list(cities.fields) == ["name", "population", "country", "area"]
        cities.add_field("level", "int8", default=3)
    assert cities.level.tolist() == [3] * 4


def test_the_first_program_runs_twice_or_says_how(db):
    with pytest.raises(joedb.DataError, match="has a table city already: db.city is that .*exist_ok"):
        db.create_table("city", name=str)
    db.create_table("at", name=str)
    with pytest.raises(joedb.DataError, match="db\\['at'\\] is that table"):
        db.create_table("at", name=str)
    assert db.create_table("city", name=str, exist_ok=True) == db.city


def test_a_call_without_names_says_how_it_is_written(db, cities):
    for call, text in (
        (lambda: cities.insert({"name": "b"}), r"values need names: insert\(name=value\)"),
        (lambda: cities.where(cities.population > 5), r"where\(name=value\); table\[mask\]"),
        (lambda: cities[0].update({"name": "b"}), r"update\(\*\*values\) for a dict"),
        (lambda: cities[:].update({"name": "b"}), r"update\(\*\*values\) for a dict"),
        (lambda: db.sql("select ?", 3), r"parameters as a tuple or a dict: \(3,\)"),
        (lambda: db.sql("select ?", "Oslo"), r"parameters as a tuple or a dict: \('Oslo',\)"),
        (lambda: cities.to_pandas("name"), r"fields is a list of names: \['name'\]"),
        (lambda: cities[:].to_arrow("name"), r"fields is a list of names: \['name'\]"),
        (lambda: cities.to_arrow(times=True), "times is a list of names"),
    ):
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(ValueError, match="at least 0"):
        db.log(-1)
    with pytest.raises(AttributeError, match="has no field 'head', and no method of this name"):
        cities.head()
    with db.transaction("why", "Ann"):
        cities.insert(name="x")
    assert db.log(1)[0].author == "Ann"
