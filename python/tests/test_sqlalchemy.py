"""The dialect of SQLAlchemy. `./dev pip` also runs this, with SQLAlchemy."""

import pandas as pd
import pytest

import joedb

sqlalchemy = pytest.importorskip("sqlalchemy")


@pytest.fixture
def engine(db, cities, path):
    db.person.insert(name="Ada", age=36, home=cities[1], picture=b"\0")
    db.close()
    sqlalchemy.dialects.registry.register("joedb", "joedb.sqlalchemy", "Dialect")
    engine = sqlalchemy.create_engine(f"joedb:///{path}")
    yield engine
    engine.dispose()


def test_pandas_reads_a_table_and_a_query(engine):
    table = pd.read_sql("city", engine, index_col="__id")
    assert table.name.tolist() == ["Oslo", "Lisbon", "Rome"]
    query = sqlalchemy.text("select name from city where population > :least order by name")
    assert pd.read_sql(query, engine, params={"least": 600000}).name.tolist() == ["Oslo", "Rome"]


def test_tables_are_reflected(engine):
    tables = sqlalchemy.MetaData()
    tables.reflect(engine)
    city, person = tables.tables["city"], tables.tables["person"]
    assert [column.name for column in person.columns] == ["__id", "name", "age", "home", "picture"]
    names = sqlalchemy.select(person.c.name, city.c.name).join_from(person, city)
    with engine.connect() as connection:
        assert connection.execute(names).all() == [("Ada", "Lisbon")]
        assert connection.execute(sqlalchemy.select(person.c.picture)).scalar() == b"\0"
    with pytest.raises(sqlalchemy.exc.NoSuchTableError):
        sqlalchemy.Table("town", sqlalchemy.MetaData(), autoload_with=engine)


def test_a_transaction_begins_with_what_others_have_written(engine, path):
    count = sqlalchemy.text("select count(*) from city")
    with engine.connect() as connection:
        assert connection.execute(count).scalar() == 3
        connection.rollback()
        with joedb.open(path) as other:
            other.city.insert(name="Riga")
        assert connection.execute(count).scalar() == 4


def test_nothing_is_written(engine):
    with engine.connect() as connection, pytest.raises(sqlalchemy.exc.ProgrammingError, match="SELECT"):
        connection.execute(sqlalchemy.text("delete from city"))
