"""joedb from Python, beside the C++ program, sqlite3 and DuckDB. Each figure is that of a process of its own."""
import os
import statistics
import subprocess
import sys
import time

INTERPRETER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'build/python/venv/bin/python')

# What is measured; what it is compared with, the first of each; and what the ratio may be.
CASES = (
    ('open the file, sum of a column: C++', 'open_cpp', None, None),
    ('open the file, sum of a column: NumPy', 'open_numpy', 'open_cpp', 1.2),
    ('insert rows: sqlite3.executemany', 'insert_executemany', None, None),
    ('insert rows: insert(name=, value=)', 'insert_rows', 'insert_executemany', 1.0),
    ('insert rows: insert_many(dicts)', 'insert_dicts', 'insert_executemany', None),
    ('insert rows: insert_many(Arrow table)', 'insert_arrow', 'insert_executemany', 0.1),
    ('filter and group: DuckDB, its own table', 'group_duckdb', None, None),
    ('filter and group: DuckDB, a table of joedb by Arrow', 'group_arrow', 'group_duckdb', 1.5),
    ('filter and group: joedb, db.duckdb()', 'group_warehouse', 'group_duckdb', 1.5),
    ('filter and group: joedb, db.sql', 'group_sql', 'group_duckdb', None),
    ('a tenth of the rows to pandas: sqlite3, read_sql', 'frame_sqlite', None, None),
    ('a tenth of the rows to pandas: joedb, where(…)', 'frame_where', 'frame_sqlite', 0.5),
    ('update a tenth of the rows: sqlite3', 'update_sqlite', None, None),
    ('update a tenth of the rows: joedb, where(…).update', 'update_where', 'update_sqlite', 1.0),
    ('upsert, half of them new: sqlite3.executemany', 'upsert_sqlite', None, None),
    ('upsert, half of them new: joedb, upsert(dicts)', 'upsert_dicts', 'upsert_sqlite', 1.0),
    ('upsert, half of them new: joedb, upsert(Arrow table)', 'upsert_arrow', 'upsert_sqlite', 0.7),
    ('open the file: sqlite3, a row', 'open_sqlite', None, None),
    ('open the file with a snapshot, a row', 'open_snapshot', 'open_sqlite', None),
)
GROUP = 'SELECT value % 100 AS k, count(*), sum(value) FROM benchmark WHERE value % 3 = 0 GROUP BY k'


def make_rows(rows):
    return [('TOTO', i) for i in range(1, rows + 1)]


def sqlite_table(path):
    import sqlite3
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE benchmark(name TEXT, value INTEGER)')
    return connection


class Child:
    """The cases, run by the Python that has the module. Each returns the seconds that it took."""

    def __init__(self, rows, path):
        self.rows, self.path = rows, path

    def joedb_table(self, name):
        import joedb
        db = joedb.open(name)
        return db, db.create_table('benchmark', name=str, value=int)

    def timed(self, function):
        start = time.perf_counter()
        function()
        return time.perf_counter() - start

    def open_numpy(self):
        import joedb
        import numpy  # what is measured is not how long this takes  # noqa: F401

        def run():
            with joedb.open(self.path, 'r') as db:
                if int(db.benchmark.value.sum()) != self.rows * (self.rows + 1) // 2:
                    sys.exit('wrong sum')
        return self.timed(run)

    def insert_executemany(self):
        connection, rows = sqlite_table('insert.sqlite'), make_rows(self.rows)

        def run():
            connection.executemany('INSERT INTO benchmark VALUES(?, ?)', rows)
            connection.commit()
        return self.timed(run)

    def insert_rows(self):
        db, table = self.joedb_table('insert.joedb')
        rows = make_rows(self.rows)

        def run():
            with db.transaction(hard=True):
                insert = table.insert
                for name, value in rows:
                    insert(name=name, value=value)
        return self.timed(run)

    def insert_dicts(self):
        db, table = self.joedb_table('insert.joedb')
        rows = [{'name': name, 'value': value} for name, value in make_rows(self.rows)]

        def run():
            with db.transaction(hard=True):
                table.insert_many(rows)
        return self.timed(run)

    def insert_arrow(self):
        import pyarrow
        db, table = self.joedb_table('insert.joedb')
        rows = make_rows(self.rows)
        frame = pyarrow.table({'name': [row[0] for row in rows], 'value': [row[1] for row in rows]})

        def run():
            with db.transaction(hard=True):
                table.insert_many(frame)
        return self.timed(run)

    def group_duckdb(self):
        import duckdb
        import joedb
        with joedb.open(self.path, 'r') as db:
            source = db.benchmark.to_arrow()  # noqa: F841 (DuckDB finds it by its name)
            connection = duckdb.connect()
            connection.execute('CREATE TABLE benchmark AS SELECT * FROM source')
            return self.best(lambda: connection.execute(GROUP).fetchall())

    def group_arrow(self):
        import duckdb
        import joedb
        with joedb.open(self.path, 'r') as db:
            benchmark = db.benchmark  # noqa: F841
            connection = duckdb.connect()

            def run():
                columns = benchmark.to_arrow(['value'])  # noqa: F841
                connection.execute(GROUP.replace('benchmark', 'columns')).fetchall()
            return self.best(run)

    def group_sql(self):
        import joedb
        with joedb.open(self.path, 'r') as db:
            return self.best(lambda: db.sql(GROUP))

    def group_warehouse(self):
        import joedb
        with joedb.open(self.path, 'r') as db:
            connection = db.duckdb()
            return self.best(lambda: connection.execute(GROUP).fetchall())

    def filled_sqlite(self):
        connection = sqlite_table('insert.sqlite')
        connection.executemany('INSERT INTO benchmark VALUES(?, ?)', make_rows(self.rows))
        connection.commit()
        return connection

    def filled_joedb(self):
        import numpy
        import pyarrow
        db, table = self.joedb_table('insert.joedb')
        names = pyarrow.array(['TOTO'] * self.rows)
        table.insert_many({'name': names, 'value': numpy.arange(1, self.rows + 1)})
        return db, table

    def frame_sqlite(self):
        import pandas
        connection = self.filled_sqlite()
        query = f'SELECT * FROM benchmark WHERE value <= {self.rows // 10}'
        return self.best(lambda: pandas.read_sql(query, connection))

    def frame_where(self):
        _, table = self.filled_joedb()
        return self.best(lambda: table.where(value__le=self.rows // 10).to_pandas())

    def update_sqlite(self):
        connection = self.filled_sqlite()

        def run():
            connection.execute("UPDATE benchmark SET name = 'TATA' WHERE value <= ?", (self.rows // 10,))
            connection.commit()
        return self.best(run)

    def update_where(self):
        db, table = self.filled_joedb()

        def run():
            with db.transaction(hard=True):
                table.where(value__le=self.rows // 10).update(name='TATA')
        return self.best(run)

    def upsert_sqlite(self):
        connection = self.filled_sqlite()
        connection.execute('CREATE UNIQUE INDEX by_value ON benchmark(value)')
        rows = [(name, value + self.rows // 2) for name, value in make_rows(self.rows)]
        statement = 'INSERT INTO benchmark VALUES(?, ?) ON CONFLICT(value) DO UPDATE SET name = excluded.name'

        def run():
            connection.executemany(statement, rows)
            connection.commit()
        return self.timed(run)

    def upsert_dicts(self):
        db, table = self.filled_joedb()
        rows = [{'name': name, 'value': value + self.rows // 2} for name, value in make_rows(self.rows)]

        def run():
            with db.transaction(hard=True):
                table.upsert(rows, 'value')
        return self.timed(run)

    def upsert_arrow(self):
        import numpy
        import pyarrow
        db, table = self.filled_joedb()
        values = numpy.arange(1, self.rows + 1) + self.rows // 2
        rows = pyarrow.table({'name': pyarrow.array(['TOTO'] * self.rows), 'value': values})

        def run():
            with db.transaction(hard=True):
                table.upsert(rows, 'value')
        return self.timed(run)

    def open_sqlite(self):
        import sqlite3
        self.filled_sqlite().close()
        query = 'SELECT * FROM benchmark LIMIT 1'
        return self.timed(lambda: sqlite3.connect('insert.sqlite').execute(query).fetchone())

    def open_snapshot(self):
        import joedb
        db, _ = self.filled_joedb()
        db.write_snapshot()
        db.close()

        def run():
            if joedb.open('insert.joedb', 'r').benchmark[0].value != 1:
                sys.exit('wrong value')
        return self.timed(run)

    def best(self, function):
        return min(self.timed(function) for _ in range(3))


def measure_python(programs, directory, rounds, rows):
    if not os.path.exists(INTERPRETER):
        print('python: the module is not built: ./dev python\n')
        return
    print(f'python: {rows:,} rows ("TOTO", i) ({rounds} rounds)\n')
    benchmark = os.path.join(programs, 'joedb_benchmark')
    path = os.path.join(directory, 'python.joedb')
    subprocess.run([benchmark, 'insert_rows', str(rows), path], check=True)
    seconds = {case: [] for _, case, _, _ in CASES}
    for _ in range(rounds):
        for _, case, _, _ in CASES:
            for name in ('insert.joedb', 'insert.joedb.snapshot', 'insert.sqlite'):
                if os.path.exists(os.path.join(directory, name)):
                    os.remove(os.path.join(directory, name))
            if case == 'open_cpp':
                start = time.perf_counter()
                subprocess.run([benchmark, 'open_and_sum', str(rows), path], check=True)
                seconds[case].append(time.perf_counter() - start)
                continue
            output = subprocess.run([INTERPRETER, os.path.abspath(__file__), case, str(rows), path], cwd=directory,
                                    check=True, stdout=subprocess.PIPE, text=True).stdout
            seconds[case].append(float(output))
    median = {case: statistics.median(values) for case, values in seconds.items()}
    print('  ratio   median      min')
    for text, case, beside, limit in CASES:
        ratio = '' if beside is None else f'{median[case] / median[beside]:.2f}'
        goal = '' if limit is None else f'  (at most {limit:g})'
        print(f'{ratio:>7} {median[case]:7.3f}s {min(seconds[case]):7.3f}s  {text}{goal}')
    print(flush=True)


if __name__ == '__main__':
    print(getattr(Child(int(sys.argv[2]), sys.argv[3]), sys.argv[1])())
