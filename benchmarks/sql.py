"""SQL on a joedb file, by virtual tables, beside SQLite's own tables with the same content."""
import os
import sqlite3
import statistics
import subprocess
import sys
import time

from suite import remove, say

EXTENSION = 'libjoedb_sqlite.so'
CITIES = 10_000
SEARCHES = 100_000

MAKE = '''
PRAGMA synchronous = OFF;
PRAGMA journal_mode = OFF;
CREATE TABLE city("__id" INTEGER PRIMARY KEY, name TEXT, population BIGINT);
CREATE TABLE person("__id" INTEGER PRIMARY KEY, name TEXT, value INTEGER, score REAL, city INTEGER REFERENCES city);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {cities})
  INSERT INTO city SELECT i, 'city ' || i, i * 37 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {rows})
  INSERT INTO person SELECT i, printf('%08x person', (i * 2654435761) & 0xffffffff), (i * 7919) % 1000003, i * 0.5,
                            (i * 31337) % {cities} FROM n;
CREATE UNIQUE INDEX person_by_name ON person(name);
'''
KEYS = '''
CREATE TEMP TABLE keys(name TEXT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {searches})
  INSERT INTO keys SELECT printf('%08x person', ((i * 48271 % {rows}) * 2654435761) & 0xffffffff) FROM n;
'''
# What is measured, and what joedb's time may be of SQLite's.
QUERIES = (
    ('scan with sum', 0.8, 'SELECT sum(value) FROM person'),
    ('filter', 0.8, 'SELECT count(*), sum(score) FROM person WHERE value BETWEEN 100000 AND 200000'),
    ('group', 1.0, 'SELECT city, count(*), sum(value) FROM person GROUP BY city'),
    ('LIKE', 1.0, "SELECT count(*) FROM person WHERE name LIKE '%abc%'"),
    (f'{SEARCHES:,} searches of an indexed text', 1.0,
     'SELECT sum((SELECT value FROM person WHERE person.name = keys.name)) FROM keys'),
    ('join along a reference', 1.0,
     'SELECT sum(city.population) FROM person JOIN city ON city.__id = person.city'))


def make(programs, directory, rows):
    """A file of SQLite, and one of joedb that is made of it."""
    path = os.path.join(directory, 'sql.sqlite')
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(MAKE.format(rows=rows, cities=CITIES))
    connection.close()
    joedb = os.path.join(directory, 'sql.joedb')
    options = os.path.join(directory, 'sql.joedbc')
    subprocess.run([os.path.join(programs, 'joedb'), 'import', 'sqlite', '--new', '--write-options', options, path,
                    joedb], check=True, stdout=subprocess.DEVNULL)
    return path, joedb, options


def connect(path, rows):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript('PRAGMA mmap_size = 100000000000; PRAGMA cache_size = -1000000; '
                             'PRAGMA temp_store = MEMORY;' + KEYS.format(rows=rows, searches=SEARCHES))
    return connection


def seconds(connection, query):
    start = time.perf_counter()
    rows = connection.execute(query).fetchall()
    return time.perf_counter() - start, rows


def measure_sql(programs, directory, rounds, rows):
    say('')
    print(f'SQL: {rows:,} rows, joedb by a virtual table, beside a table of SQLite {sqlite3.sqlite_version}')
    if not hasattr(sqlite3.Connection, 'enable_load_extension'):
        print(f'{sys.executable} cannot load extensions of SQLite: run /usr/bin/python3 benchmarks/run sql')
        return []
    if not os.path.exists(os.path.join(programs, EXTENSION)):
        print(f'{EXTENSION} was not built: apt-get install libsqlite3-dev')
        return []
    path, joedb, options = make(programs, directory, rows)
    theirs, ours = connect(path, rows), connect(':memory:', rows)
    ours.enable_load_extension(True)
    ours.load_extension(os.path.join(programs, EXTENSION))
    start = time.perf_counter()
    ours.execute('SELECT joedb_open(?, ?)', (joedb, options))
    print(f'  opening the joedb file, without a snapshot: {time.perf_counter() - start:.2f} s')
    print('   ratio      joedb     SQLite  (medians)')
    figures = []
    for name, limit, query in QUERIES:
        times = {'joedb': [], 'SQLite': []}
        for _ in range(rounds):
            mine, my_rows = seconds(ours, query)
            other, other_rows = seconds(theirs, query)
            if my_rows != other_rows:
                raise RuntimeError(f'{name}: the rows differ')
            times['joedb'].append(mine)
            times['SQLite'].append(other)
        medians = [statistics.median(values) for values in times.values()]
        ratio = medians[0] / medians[1]
        mark = '' if ratio <= limit else f'  more than {limit}'
        print(f'{ratio:8.2f} {medians[0]:9.3f}s {medians[1]:9.3f}s  {name}{mark}', flush=True)
        figures.append({'name': name, 'unit': 's', 'ratio': ratio, 'limit': limit, **times})
    ours.close()
    theirs.close()
    for name in (path, joedb, options):
        remove(name)
    return figures
