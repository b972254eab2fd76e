import pathlib
from collections.abc import Iterator

import pytest

import joedb


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    return str(tmp_path / "city.joedb")


@pytest.fixture
def db(path: str) -> Iterator[joedb.Database]:
    """A database of cities and people."""
    with joedb.open(path) as database:
        city = database.create_table("city", name=str, population=int)
        database.create_table("person", name=str, age="int8", home=city, picture=bytes)
        yield database


@pytest.fixture
def cities(db: joedb.Database) -> joedb.Table:
    with db.transaction():
        for name, population in (("Oslo", 709000), ("Lisbon", 545796), ("Rome", 2873000)):
            db.city.insert(name=name, population=population)
    return db.city
