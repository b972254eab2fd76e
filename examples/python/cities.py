"""A database of cities, as cells of a notebook (Jupyter and editors know `# %%`)."""

# %% Ten lines that work

import joedb

db = joedb.open("city.joedb")
city = db.create_table("city", name=str, population=int)
with db.transaction("the first cities"):
    city.insert(name="Oslo", population=709000)
    city.insert(name="Lisbon", population=545796)
print(city[0].name, city.population.sum())
print(db.sql("select name from city where population > ?", (600000,)))
print(db.log(1)[0].why)

# %% Records

oslo = city[0]
oslo.population += 1000
print(oslo)

person = db.create_table("person", name=str, age="int8", home=city, picture=bytes)
ada = person.insert(name="Ada", age=36, home=oslo, picture=b"\x89PNG")
person.insert(name="Bob", age=30)
print(ada.home.name, person[1].home)

for p in person.where(home=oslo, age=36):
    print(p.name)

print(city.where(population__ge=600000, name__startswith="O")[0].name)
print(len(person.where(home=city.where(population__lt=10**6))))
person.where(name=["Bob", "Eve"], age__lt=40).update(age=40, home=oslo)
print(city[-1:][0].name, len(city[city.population > 600000]))

try:
    person.insert(name="Cy", age=300)
except OverflowError as error:
    print(error)

# %% Transactions

try:
    with db.transaction("moving", author="Ann"):
        ada.home = city.insert(name="Rome", population=2873000)
        raise RuntimeError("no flat there")
except RuntimeError:
    print(ada.home.name, len(city))

with db.transaction("moving", author="Ann", hard=True):
    ada.home = city.insert(name="Rome", population=2873000)

# %% The past

before = list(db.changes())[-1].begin
print(db.at(before).person[0].home.name, "->", ada.home.name)

for transaction in db.changes(before):
    print(transaction.author, transaction.why)
    for change in transaction.changes or []:
        print(" ", change.kind, change.table, change.id, change.before, change.after)

for version in ada.history():
    print(version.values["home"], version.since.why)

# %% Columns

population = city.population
print(population.dtype, population.mean(), population.flags.writeable)
oslo.population = 0
print(population[0], city.population[0])

# %% Data frames

import pandas
import polars
import pyarrow

city.insert_many(pandas.DataFrame({"name": ["Bern", "Riga"], "population": [134000, 605000]}))
city.insert_many(polars.DataFrame({"name": ["Nice"], "population": [342000]}))
city.insert_many({"name": ["Turin"], "population": [841000]})
city.insert_many([{"name": "Vaduz"}, {"name": "Bruges", "population": 118000}])

rows: pyarrow.Table = city.to_arrow()
print(rows.num_rows, rows.schema.field("population"))
print(polars.DataFrame(city).filter(polars.col("population") > 600000)["name"].to_list())
print(city.to_pandas().query("population < 150000"))

frame = city.where(population__lt=200000).to_pandas()
frame["population"] += 1
city.upsert(frame, "__id")
city.insert_many({"Stadt": ["Chur"], "Jahr": [1464]}, rename={"Stadt": "name"}, ignore_unknown=True)

import duckdb

print(duckdb.connect().execute("select count(*), max(population) from city").fetchall())

warehouse = db.duckdb(blobs=False)
print(warehouse.execute("select count(*), max(population) from city").fetchall())
with joedb.connect(db) as connection:
    print(connection.cursor().execute("select name from city order by name limit 1").fetchone())

# %% References

person.set_type("home", "references city on_delete clear")
ada.home = city.insert(name="Rome", population=2873000)
print([p.name for p in ada.home.person_by_home])
ada.home.delete()
print(ada.home)

# %% The end

db.close()
try:
    print(oslo.name)
except joedb.Closed as error:
    print(error)
