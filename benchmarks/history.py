"""The history of a database: differences beside opening; log, blame and diff beside an SQLite database whose triggers
write a history (as sqlite-history-json and its like do), and beside git diff of a text."""
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time


def commands_of_rows(rows):
    yield 'create_table benchmark\nadd_field benchmark name string\nadd_field benchmark value int64\n'
    for i in range(rows):
        yield f'insert_into benchmark {i} "TOTO" {i}\n'


def chosen_rows(rows, divisor):
    chosen = random.Random(1)
    return [(i, chosen.getrandbits(40)) for i in chosen.sample(range(rows), rows // divisor)]


# What people do today: a table that triggers fill, with the new values as JSON, and its indexes.
TRIGGERS = '''
create table history(id integer primary key, record integer, time integer default (unixepoch()), kind text,
                     old_values text, new_values text);
create index history_of_record on history(record, id);
create trigger inserted after insert on benchmark begin
  insert into history(record, kind, new_values)
  values (new.id, 'insert', json_object('name', new.name, 'value', new.value));
end;
create trigger updated after update on benchmark begin
  insert into history(record, kind, old_values, new_values)
  values (new.id, 'update', json_object('name', old.name, 'value', old.value),
          json_object('name', new.name, 'value', new.value));
end;
'''


def write_sqlite(path, rows, updates):
    """In two transactions, the rows and the updates. Returns the last id of the history between them."""
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript('pragma journal_mode = wal; pragma synchronous = normal;'
                     'create table benchmark(id integer primary key, name text, value integer);' + TRIGGERS)
    for statement, values in (('insert into benchmark values (?, ?, ?)', ((i, 'TOTO', i) for i in range(rows))),
                              ('update benchmark set value = ?2 where id = ?1', updates)):
        db.execute('begin')
        db.executemany(statement, values)
        db.execute('commit')
    db.close()
    return rows


# What is asked of it, as programs of their own.
QUERIES = {
    'log': 'select id, time, kind, record from history order by id desc limit 20',
    'blame': 'select kind, time, new_values from history where record = 1234 order by id',
    'diff': 'select record, kind, first_value(old_values) over w, last_value(new_values) over w from history '
            'where id > {middle} window w as (partition by record order by id '
            'rows between unbounded preceding and unbounded following)',
}
ASK = ('import sqlite3, sys\n'
       'for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): sys.stdout.write(f"{row}\\n")')


class History_Benchmark:
    def __init__(self, programs, directory, rounds, rows):
        self.programs, self.directory, self.rounds, self.rows = programs, directory, rounds, rows

    def run(self, *words, **options):
        program = os.path.join(self.programs, words[0])
        command = [program if os.path.exists(program) else words[0], *words[1:]]
        return subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.directory, **options)

    def measure(self, text, *words, beside=None, **options):
        seconds = []
        for _ in range(self.rounds):
            start = time.perf_counter()
            self.run(*words, stdin=subprocess.DEVNULL, **options)
            seconds.append(time.perf_counter() - start)
        median = statistics.median(seconds)
        ratio = '' if beside is None else f'{median / beside:8.2f}'
        print(f'  {text:68}{median:8.3f} s{ratio}', flush=True)
        return median

    def write(self, name, commands, *options):
        process = subprocess.Popen([os.path.join(self.programs, 'joedbi'), '--log', 'none', *options, name],
                                   cwd=self.directory, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        with process.stdin as out:
            out.writelines(commands)
        if process.wait() != 0:
            raise RuntimeError(f'{name} could not be written')

    def path(self, name):
        return os.path.join(self.directory, name)

    def measure_joedb(self):
        self.write('old.joedb', commands_of_rows(self.rows), '--new')
        middle = os.path.getsize(self.path('old.joedb'))
        for divisor in 1000, 100:
            new = f'new{divisor}.joedb'
            self.run('joedb_branch', 'old.joedb', str(middle), new)
            self.write(new, ['timestamp\ncomment "changes"\n',
                             *(f'update benchmark {i} value {v}\n' for i, v in chosen_rows(self.rows, divisor)),
                             'timestamp\n'])
            name = f'{100 / divisor:g} % of the rows, in no order'
            opening = self.measure(f'{name}: opening', 'joedbi', '--read', new)
            for text, words in (('joedb diff FILE FROM', (new, str(middle))),
                                ('joedb diff FILE1 FILE2', ('old.joedb', new))):
                self.measure(f'{name}: {text}, beside opening', 'joedb_diff', '--stat', *words, beside=opening)
        self.measure('joedb branch', 'joedb_branch', '--force', 'old.joedb', str(middle), 'branch.joedb')
        return middle

    def measure_others(self, middle):
        updates = chosen_rows(self.rows, 100)
        joedb = {'log': ('joedb_log', '--max', '20', 'new100.joedb'),
                 'blame': ('joedb_blame', 'new100.joedb', 'benchmark', '1234'),
                 'diff': ('joedb_diff', '--all', 'new100.joedb', str(middle))}
        last = write_sqlite(self.path('history.sqlite'), self.rows, updates)
        sizes = [os.path.getsize(self.path(name)) for name in ('new100.joedb', 'history.sqlite')]
        print(f'\n  bytes for a row: joedb {sizes[0] / self.rows:.0f}, SQLite with its history '
              f'{sizes[1] / self.rows:.0f}')
        times = {}
        for what, words in joedb.items():
            times[what] = self.measure(f'{what}: joedb', *words)
            self.measure(f'{what}: SQLite with triggers', sys.executable, '-c', ASK, 'history.sqlite',
                         QUERIES[what].format(middle=last), beside=times[what])
        # The text of each state, in two commits of git.
        repository = self.path('repository')
        os.makedirs(repository)
        git = ['git', '-C', repository, '-c', 'user.name=joedb', '-c', 'user.email=joedb@localhost']
        self.run(*git, 'init', '-q')
        for database in 'old.joedb', 'new100.joedb':
            with open(os.path.join(repository, 'benchmark.csv'), 'w') as out:
                subprocess.run([os.path.join(self.programs, 'joedb_export'), 'csv', database, 'benchmark'],
                               stdout=out, check=True, cwd=self.directory)
            self.run(*git, 'add', '.')
            self.run(*git, 'commit', '-q', '-m', database)
        self.measure('diff: git diff of two commits of a CSV file', *git, 'diff', 'HEAD~1', beside=times['diff'])
        self.measure('blame: git blame of one line', *git, 'blame', '-L', '1235,1235', 'benchmark.csv',
                     beside=times['blame'])

    def clean(self):
        for name in ('old.joedb', 'new1000.joedb', 'new100.joedb', 'branch.joedb', 'history.sqlite'):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        shutil.rmtree(self.path('repository'), ignore_errors=True)


def measure_history(programs, directory, rounds, rows):
    print(f'history: {rows:,} rows ({rounds} rounds)\n')
    benchmark = History_Benchmark(programs, directory, rounds, rows)
    try:
        benchmark.measure_others(benchmark.measure_joedb())
    finally:
        benchmark.clean()
    print(flush=True)
