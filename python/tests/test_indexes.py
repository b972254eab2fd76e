"""Indexes that the file declares."""

import joedb
import pytest


@pytest.fixture
def db(tmp_path):
    with joedb.open(str(tmp_path / "people.joedb")) as db:
        person = db.create_table("person", name=str, age=int)
        person.insert(name="Ann", age=7)
        person.insert(name="Bob", age=9)
        yield db


def test_a_unique_index_refuses_a_second_key(db):
    db.person.create_index("by_name", "name", unique=True)
    with pytest.raises(joedb.Error, match="by_name"):
        db.person.insert(name="Ann", age=8)
    with joedb.open(db.name, "r") as other:
        assert [p.age for p in other.person.where(name="Ann")] == [7]
    db.person.drop_index("by_name")
    db.person.insert(name="Ann", age=8)
    with pytest.raises(joedb.Error, match="by_name"):
        db.person.create_index("by_name", "name", unique=True)
    assert len(db.person) == 3


def test_an_index_belongs_to_its_table(db):
    other = db.create_table("other", name=str)
    db.person.create_index("by_age", "age", "name")
    with pytest.raises(KeyError, match="by_age"):
        other.drop_index("by_age")
    with pytest.raises(KeyError, match="size"):
        db.person.create_index("by_size", "size")
    assert [p.name for p in db.person.where(age__ge=8)] == ["Bob"]


def test_a_declaration_is_a_part_of_its_transaction(db):
    with pytest.raises(ZeroDivisionError):
        with db.transaction():
            db.person.insert(name="Cy", age=1)
            db.person.create_index("by_name", "name", unique=True)
            1 / 0
    db.person.insert(name="Ann", age=8)
    with db.transaction():
        db.person.create_index("by_age", "age")
        db.person.insert(name="Dan", age=2)
    assert [p.name for p in db.person.where(age__lt=3)] == ["Dan"]


def test_a_key_of_a_default_value_is_not_compared(db):
    db.person.create_index("by_name", "name", unique=True)
    db.person.insert(age=1)
    db.person.insert(age=2)
    assert len(db.person.where(name="")) == 2
    with pytest.raises(joedb.UniqueViolation):
        db.person.insert_many([{"name": "Eve"}, {"name": "Eve"}])
    assert len(db.person) == 4
