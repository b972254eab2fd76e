"""Past states, and what has changed."""

import datetime
import time

import pandas as pd
import pytest

import joedb


def test_a_past_state_is_a_database_that_cannot_be_changed(db, cities):
    position = db.checkpoint
    cities[0].name = "Christiania"
    cities.delete(1)
    with db.at(position) as past:
        assert [city.name for city in past.city] == ["Oslo", "Lisbon", "Rome"]
        assert past.city.population.sum() == 709000 + 545796 + 2873000
        assert past.sql("select count(*) from city") == [(3,)]
        with pytest.raises(joedb.Error, match="past"):
            past.city.insert(name="x")
        assert past.pull() == 0
    assert [city.name for city in db.city] == ["Christiania", "Rome"]


def test_the_past_of_the_past_can_be_seen(db, cities):
    first = db.checkpoint
    cities[0].name = "a"
    second = db.checkpoint
    cities[0].name = "b"
    past = db.at(second)
    assert past.city[0].name == "a"
    assert past.at(first).city[0].name == "Oslo"
    with pytest.raises(joedb.Error):
        past.at(db.checkpoint)
    assert len(list(past.changes())) == len(list(db.changes())) - 1


def test_moments_are_positions_times_and_names(db, cities):
    now = datetime.datetime.now(datetime.timezone.utc)
    assert len(db.at(now + datetime.timedelta(hours=1)).city) == 3
    assert len(db.at("now").city) == 3
    assert len(db.at(str(db.checkpoint)).city) == 3
    with pytest.raises(joedb.Error):
        db.at("2 hours ago")
    with pytest.raises(joedb.Error, match="no tag"):
        db.at("v1")
    with pytest.raises(ValueError, match="2 hours ago"):
        db.at("..")
    with pytest.raises(TypeError):
        db.at([])
    with pytest.raises(joedb.Error, match="inside of an entry"):
        db.at(42)
    with pytest.raises(joedb.Error):
        db.at(10**9)


def test_changes_have_old_and_new_values(db, cities):
    start = db.checkpoint
    with db.transaction("moving"):
        cities[0].population = 5
        cities.insert(name="Bern", population=6)
        cities.delete(1)
    with db.transaction("people"):
        db.person.insert(name="Ada", home=cities[0], picture=b"x")
    moving, people = db.changes(start)
    assert moving.why == "moving"
    assert moving.begin == start
    assert people.end == db.checkpoint
    assert [(c.kind, c.table, c.id, c.before, c.after) for c in moving.changes] == [
        ("updated", "city", 0, {"population": 709000}, {"population": 5}),
        ("inserted", "city", 3, {}, {"name": "Bern", "population": 6}),
        ("deleted", "city", 1, {"name": "Lisbon", "population": 545796}, {}),
    ]
    assert people.changes[0].after == {"name": "Ada", "age": 0, "home": 0, "picture": b"x"}
    assert [t.why for t in db.changes(start, moving.end)] == ["moving"]
    assert [t.why for t in db.changes(start, table="person")] == ["people"]
    assert [t.why for t in db.changes(start, table=db.city)] == ["moving"]


def test_changes_of_the_schema_are_changes(db):
    start = db.checkpoint
    with db.transaction("schema"):
        db.city.add_field("area", float)
        db.city.rename_field("area", "size")
    (transaction,) = db.changes(start)
    assert [(c.kind, c.table, c.field, c.old_name) for c in transaction.changes] == [
        ("field_added", "city", "area", None),
        ("field_renamed", "city", "size", "area"),
    ]


def test_a_loop_over_changes_goes_on_while_the_database_is_written_and_closed(db, cities):
    transactions = db.changes()
    first = next(transactions)
    cities.insert(name="x")
    db.close()
    rest = list(transactions)
    assert first.end == rest[0].begin
    assert rest[-1].changes[0].kind == "inserted"


def test_a_record_has_a_history(db, cities):
    with db.transaction("renamed", author="Ann"):
        cities[0].name = "Christiania"
    cities.delete(0)
    first, second = cities[1].table[2].history() + [None]
    assert first.values == {"name": "Rome", "population": 2873000}
    assert first.until is None
    gone = joedb.Record.history(cities.insert(name="Bern"))
    assert [version.values["name"] for version in gone] == ["Oslo", "Christiania", "Bern"]
    assert gone[1].since.why == "renamed"
    assert gone[1].since.author == "Ann"
    assert gone[0].until.end == gone[1].since.end


def test_times_can_be_left_out(path):
    with joedb.open(path, timestamps=False) as db:
        db.create_table("t", x=int)
        (transaction,) = db.changes()
        assert transaction.time is None


def test_an_undo_stack_goes_back_and_forth(db, cities):
    names = lambda: [city.name for city in db.city]
    cities[0].name = "a"
    cities[0].name = "b"
    assert db.can_undo() and not db.can_redo()
    db.undo()
    assert cities[0].name == "a"
    db.undo()
    assert cities[0].name == "Oslo"
    db.redo()
    db.redo()
    assert cities[0].name == "b" and not db.can_redo()
    db.undo()
    cities[1].name = "c"
    assert not db.can_redo()
    with pytest.raises(joedb.Error, match="nothing to redo"):
        db.redo()
    while db.can_undo():
        db.undo()
    assert names() == []
    assert "city" in db.tables
    with pytest.raises(joedb.Error, match="tables or fields"):
        db.undo()
    db.undo(schema=True)


def test_an_undo_stack_of_an_author_is_about_his_transactions(db, cities):
    with db.transaction("hers", author="Ann"):
        cities[0].name = "Ann"
    with db.transaction("his", author="Bob"):
        cities[1].name = "Bob"
    db.undo(author="Ann")
    assert [cities[0].name, cities[1].name] == ["Oslo", "Bob"]
    assert not db.can_undo(author="Ann") and db.can_redo(author="Ann")
    with db.transaction("his", author="Bob"):
        cities[0].name = "Bob"
        with pytest.raises(joedb.Error, match="of their own"):
            db.undo()
    with pytest.raises(joedb.Error, match="others have changed"):
        db.redo(author="Ann")
    assert cities[0].name == "Bob"
    assert list(db.changes())[-1].author == "Bob"


@pytest.fixture
def new_york(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_moment_without_a_zone_is_in_local_time_whatever_it_is(db, cities, new_york):
    """Five hours from UTC: what is taken as UTC is before the first transaction."""
    now = datetime.datetime.now() + datetime.timedelta(seconds=2)
    for moment in (now, pd.Timestamp(now), now.astimezone(datetime.timezone.utc),
                   pd.Timestamp(now, tz="America/New_York"), now.date() + datetime.timedelta(2)):  # fmt: skip
        assert len(db.at(moment).city) == 3
        assert list(db.changes(moment)) == []
    with pytest.raises(joedb.Error, match="no time stamp"):
        db.at(now.date() - datetime.timedelta(1))


def test_tags_name_moments(db, cities):
    first = db.checkpoint
    db.tag("v1", author="Ann")
    cities.delete([0, 1])
    db.tag("v2")
    db.tag("again", "v1")
    db.tag("latest", datetime.datetime.now() + datetime.timedelta(seconds=2))
    assert db.tags() == db.at(db.checkpoint).tags()
    assert list(db.tags()) == ["again", "latest", "v1", "v2"]
    assert db.tags()["again"] == db.tags()["v1"] == first
    assert [len(db.at(name).city) for name in ("v1", "again", "v2", "latest")] == [3, 3, 1, 1]
    assert [one.author for one in db.log() if one.why.startswith("tag: v1")] == ["Ann"]
    with pytest.raises(joedb.Error, match="has a tag v1 of position .*: replace=True"):
        db.tag("v1")
    db.tag("v1", replace=True)
    assert len(db.at("v1").city) == 1
    db.remove_tag("v1")
    assert "v1" not in db.tags()
    with pytest.raises(joedb.Error, match="no tag"):
        db.remove_tag("v1")
    checkpoint = db.checkpoint
    with pytest.raises(joedb.Error):
        db.tag("2026-01-31")
    with pytest.raises(joedb.Error, match="inside of an entry"):
        db.tag("inside", 42)
    with db.transaction(), pytest.raises(joedb.Error, match="a tag is a transaction of its own"):
        db.tag("v3")
    with pytest.raises(joedb.Error):
        db.at("v2").tag("v3")
    assert db.checkpoint == checkpoint
    cities.insert(name="Bern")
