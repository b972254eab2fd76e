"""References with rules for deletions, and back references."""

import joedb
import joedb.typed
import numpy
import pytest


@pytest.fixture
def db():
    with joedb.open(":memory:") as database:
        database.create_table("city", name=str)
        database.create_table("person", name=str, home="references city on_delete clear")
        folder = database.create_table("folder", name=str)
        folder.add_field("parent", "references folder on_delete cascade")
        folder.add_field("owner", database.person)
        folder.set_type("owner", "references person on_delete refuse")
        database.create_table("note", text=str, author=database.person)
        yield database


@pytest.fixture
def oslo(db):
    return db.city.insert(name="Oslo")


@pytest.fixture
def ada(db, oslo):
    return db.person.insert(name="Ada", home=oslo)


def test_fields_show_their_rules(db):
    assert db.person.fields["home"] == "references city on_delete clear"
    assert "home: references city on_delete clear" in repr(db.person)
    assert db.folder.fields["owner"] == "references person on_delete refuse"
    db.folder.set_type("owner", "references person")
    assert db.folder.fields["owner"] == "references person"
    same = {"name": str, "home": "references city on_delete clear"}
    assert db.create_table("person", same, exist_ok=True) == db.person
    with pytest.raises(joedb.SchemaMismatch, match="on_delete clear, not references city"):
        db.create_table("person", home=db.city, exist_ok=True)


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("references city on_delete drop", ValueError, "clear, cascade or refuse is expected"),
        ("references town on_delete clear", joedb.DataError, "no table town"),
        ("string on_delete clear", ValueError, "no type of a field"),
    ],
)
def test_a_rule_must_be_one(db, kind, error, text):
    with pytest.raises(error, match=text):
        db.person.add_field("second", kind)
    assert list(db.person.fields) == ["name", "home"]


def test_clear_makes_references_none(db, oslo, ada):
    column = db.person.home
    arrow = db.person.to_arrow()
    oslo.delete()
    assert ada.home is None
    assert column.tolist() == [0], "an array keeps its values"
    assert arrow["home"].to_pylist() == [0]
    assert db.person.home.tolist() == [-1]


def test_columns_are_those_of_references(db, ada):
    assert db.person.home.dtype == numpy.int64
    assert db.person.where(home=0).column("home").dtype == numpy.int64
    assert str(db.person.to_pandas()["home"].dtype) == "Int64"
    assert db.person.where(home__ne=None)[0] == ada
    copy = db.create_table("copy", like=db.person.to_arrow())
    assert copy.fields["home"] == "references city on_delete clear"


def test_cascade_keeps_the_values_of_arrays(db):
    root = db.folder.insert(name="root")
    db.folder.insert_many({"name": ["a", "b"], "parent": [root.id, root.id]})
    ids = db.folder.ids
    names = db.folder.to_arrow(views=True)["name"]
    root.delete()
    assert len(db.folder) == 0
    db.folder.insert_many({"name": ["x", "y", "z"]})
    assert ids.tolist() == [0, 1, 2]
    assert names.to_pylist() == ["root", "a", "b"]


def test_refuse_raises_and_changes_nothing(db, ada):
    db.folder.insert(name="root", owner=ada)
    with pytest.raises(joedb.DataError, match="person 0 cannot be deleted: folder 0 refers to it"):
        ada.delete()
    assert ada.exists()
    with db.transaction():
        bob = db.person.insert(name="Bob")
        with pytest.raises(ValueError, match="refuse"):
            db.person[:].delete()
        bob.name = "Eve"
    assert [person.name for person in db.person] == ["Ada", "Eve"]


@pytest.mark.parametrize("is_after_schema_change", [False, True])
def test_several_are_deleted_together(db, ada, is_after_schema_change):
    db.person.add_field("boss", "references person on_delete refuse")
    bob = db.person.insert(name="Bob", boss=ada)
    ada.boss = bob
    with db.transaction():
        if is_after_schema_change:
            db.create_table("other")
        with pytest.raises(joedb.DataError):
            db.person.delete(bob.id)
        db.person.where(name=["Ada", "Bob"]).delete()
    assert len(db.person) == 0
    db.undo(schema=True)
    assert len(db.person) == 2 and ada.boss == bob
    with pytest.raises(KeyError, match="has record 0 only once"):
        db.person.delete([0, 0])
    assert ada.exists()


def test_undo_takes_consequences_back(db, oslo, ada):
    with db.transaction("gone"):
        oslo.delete()
    assert [c.kind for c in db.log(1, changes=True)[0].changes] == ["updated", "deleted"]
    db.undo()
    assert ada.home == oslo
    db.redo()
    assert ada.home is None
    with pytest.raises(RuntimeError), db.transaction():
        ada.home = db.city.insert(name="Rome")
        ada.home.delete()
        assert ada.home is None
        raise RuntimeError
    assert len(db.city) == 0


def test_back_references_are_records(db, oslo, ada):
    bob = db.person.insert(name="Bob", home=oslo)
    assert list(oslo.person_by_home) == [ada, bob]
    assert isinstance(oslo.person_by_home, joedb.Records)
    assert oslo.person_by_home.column("name").tolist() == ["Ada", "Bob"]
    bob.home = None
    assert oslo.person_by_home[0] == ada and len(oslo.person_by_home) == 1
    note = db.note.insert(text="x", author=ada)
    assert list(ada.note_by_author) == [note], "also without a rule"
    assert "note_by_author" in dir(ada) and "note_by_author" not in ada._ipython_key_completions_()
    with pytest.raises(AttributeError, match="has no field"):
        bob.person_by_home
    with pytest.raises(AttributeError):
        oslo.person_by_home = []
    oslo.person_by_home.delete()
    assert not ada.exists()
    oslo.delete()
    with pytest.raises(KeyError, match="city has no record 0"):
        oslo.person_by_home


def test_names_of_back_references_follow_the_schema(db, oslo, ada):
    db.person.rename_field("home", "town")
    assert len(oslo.person_by_town) == 1
    db.person.rename("human")
    assert len(oslo.human_by_town) == 1
    db.city.add_field("human_by_town", int)
    assert oslo.human_by_town == 0, "a field"
    db.human.drop()
    assert db.city._back_references == []


def test_a_past_state_has_its_own(db, oslo, ada):
    moment = db.checkpoint
    oslo.delete()
    assert list(db.at(moment).city[0].person_by_home)[0].name == "Ada"


def test_an_id_is_not_used_again_while_a_reference_has_it(db, ada):
    note = db.note.insert(text="x", author=ada)
    ada.delete()
    assert db.person.insert(name="Bob").id != ada.id
    note.delete()
    assert ada.id in {db.person.insert(name="x").id for _ in range(3)}


def test_modules_of_joedbc_open_files_with_rules(tmp_path):
    path = str(tmp_path / "a.joedb")
    with joedb.open(path) as db:
        db.create_table("city", name=str)
        db.create_table("person", home="references city on_delete clear")
    schema = {"person": {"home": "references city"}}
    joedb.typed.open(path, "r", schema, (), {}).close()
