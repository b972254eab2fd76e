"""Files with a snapshot: opened, searched, changed, beside other databases."""
import os
import statistics
import subprocess
import sys
import time

from suite import FLOOR, JOEDB, LMDB, SQLITE, remove, say

SNAPSHOT = 'snapshot_benchmark'
DUCKDB = '''
import duckdb, sys, time
file, rows = sys.argv[1], int(sys.argv[2])
if rows:
    duckdb.connect(file).execute("create table benchmark as select 'TOTO' as name, range + 1 as value "
                                 f"from range({rows})")
else:
    start = time.perf_counter()
    duckdb.connect(file, read_only=True).execute("select sum(value) from benchmark").fetchall()
    print(1e3 * (time.perf_counter() - start))
'''


class Measurement:
    def __init__(self, programs, directory, rounds):
        self.programs, self.directory, self.rounds = programs, directory, rounds
        self.figures = []

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, program, what, rows, name):
        """What the program prints, and the milliseconds of the whole process."""
        command = [os.path.join(self.programs, program), what, str(rows), self.path(name)]
        start = time.perf_counter()
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return float(output or 'nan'), 1e3 * (time.perf_counter() - start)

    def has(self, program):
        return os.access(os.path.join(self.programs, program), os.X_OK)

    def report(self, text, unit, values):
        self.figures.append({'name': text, 'unit': unit, 'values': values})
        print(f'{text:68}{min(values):12.2f} {unit:4} (median {statistics.median(values):.2f})', flush=True)

    def step(self, text, unit, what, rows, name, rounds=None, before=lambda: None):
        """A step of snapshot_benchmark, which measures itself."""
        values = []
        for _ in range(rounds or self.rounds):
            before()
            values.append(self.run(SNAPSHOT, what, rows, name)[0])
        self.report(text, unit, values)

    def process(self, text, program, what, rows, name, divisor=1.0, unit='ms'):
        values = [self.run(program, what, rows, name)[1] / divisor for _ in range(self.rounds)]
        self.report(text, unit, values)

    def forget(self, name):
        """Out of the page cache."""
        for path in (self.path(name), self.path(name) + '.snapshot'):
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)

    def limited(self, limit, command):
        """Seconds of a command that has so many bytes of memory, the page cache included: in a cgroup."""
        group = '/sys/fs/cgroup/memory/joedb_benchmark'
        os.makedirs(group, exist_ok=True)
        with open(f'{group}/memory.limit_in_bytes', 'w', encoding='ascii') as file:
            file.write(str(limit))
        os.sync()
        with open('/proc/sys/vm/drop_caches', 'w', encoding='ascii') as file:
            file.write('3')  # pages in the cache count for the group that has read them
        start = time.perf_counter()
        subprocess.run(['sh', '-c', f'echo $$ > {group}/cgroup.procs; exec "$0" "$@"',
                        os.path.join(self.programs, command[0]), *command[1:]],
                       check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        os.rmdir(group)
        return seconds

    def can_limit(self):
        if os.geteuid() == 0 and os.path.exists('/sys/fs/cgroup/memory/memory.limit_in_bytes'):
            return True
        print('  with limited memory: needs root, and the memory controller of cgroup v1')
        return False

    def finds_with_limited_memory(self, rows):
        """Finds with memory for a quarter of the file."""
        if not self.can_limit():
            return
        limit = os.path.getsize(self.path('words') + '.snapshot') // 4
        finds = 20_000
        for text, command in (('joedb', (SNAPSHOT, 'find_20000', str(rows), self.path('words'))),
                              ('LMDB', (LMDB, 'find_20000', str(rows), self.path('words.lmdb')))):
            self.report(f'  find, {text}, {limit >> 20} MiB of memory, nothing in it at first', 'us',
                        [1e6 * self.limited(limit, command) / finds for _ in range(min(self.rounds, 2))])

    def all_with_limited_memory(self, rows, limit):
        """What people do with a file that is larger than memory."""
        if not self.can_limit():
            return
        words = self.path('words')
        memory = str((limit >> 20) // 2)
        for text, command in (
                ('open, and find one', (SNAPSHOT, 'find_one', str(rows), words)),
                ('open, and find 20,000 in no order', (SNAPSHOT, 'find_20000', str(rows), words)),
                ('open, change 10,000 rows in no order, hard checkpoint, close',
                 (SNAPSHOT, 'change', str(rows), words)),
                ('joedb_verify --memory ' + memory, ('joedb_verify', '--memory', memory, words)),
                ('joedb_snapshot --memory ' + memory, ('joedb_snapshot', '--memory', memory, words))):
            self.report(f'  {limit >> 20} MiB of memory: {text}', 's', [self.limited(limit, command)])

    def duckdb(self, rows):
        name = self.path('rows.duckdb')
        make = [sys.executable, '-c', DUCKDB, name, str(rows)]
        if subprocess.run(make, stderr=subprocess.DEVNULL).returncode != 0:
            print('DuckDB is not there: pip install duckdb')
            return
        read = [sys.executable, '-c', DUCKDB, name, '0']
        self.report('  DuckDB, in the process', 'ms', [
            float(subprocess.run(read, check=True, stdout=subprocess.PIPE, text=True).stdout)
            for _ in range(self.rounds)])
        remove(name)

    def sums(self, rows):
        print(f'open, and add up a column of {rows:,} rows')
        self.run(JOEDB, 'insert_rows', rows, 'rows')
        self.step('  joedb, without a snapshot', 'ms', 'sum', rows, 'rows')
        self.step('  writing a snapshot, durable', 'ms', 'write', rows, 'rows')
        self.step('  joedb, with a snapshot', 'ms', 'sum', rows, 'rows')
        self.step('  joedb, with a snapshot, nothing of it in memory', 'ms', 'sum', rows, 'rows',
                  before=lambda: self.forget('rows'))
        self.duckdb(rows)
        self.run(SQLITE, 'insert_rows', rows, 'rows.sqlite')
        self.process('  SQLite, whole process', SQLITE, 'open_and_sum', rows, 'rows.sqlite')
        self.run(FLOOR, 'insert_vectors', rows, 'rows.floor')
        self.process('  no database, the column only, whole process', FLOOR, 'open_and_sum', rows, 'rows.floor')
        self.clean()

    def words(self, rows):
        print(f'{rows:,} words of 16 characters with a unique index, and a number')
        self.run(JOEDB, 'insert_words', rows, 'words')
        few = min(self.rounds, 3)
        self.step('  find, in no order, key made in the loop, without a snapshot', 'ns', 'find', rows, 'words', few)
        self.step('  writing a snapshot, durable', 'ms', 'write', rows, 'words', few)
        size = os.path.getsize(self.path('words') + '.snapshot')
        print(f'  the snapshot has {size / rows:.1f} bytes a row')
        self.step('  open, and find one', 'ms', 'find_one', rows, 'words')
        self.step('  open, and find one, nothing in memory', 'ms', 'find_one', rows, 'words',
                  before=lambda: self.forget('words'))
        self.step('  find, with a snapshot', 'ns', 'find', rows, 'words')
        if self.has(LMDB) and rows <= 10_000_000:
            self.run(LMDB, 'insert_words', rows, 'words.lmdb')
            self.process('  find, LMDB, a process for all', LMDB, 'open_and_find', rows, 'words.lmdb', rows / 1e6, 'ns')
            self.finds_with_limited_memory(rows)
            remove(self.path('words.lmdb'))
        self.step('  open, change 10,000 rows in no order, hard checkpoint, close', 'ms', 'change', rows, 'words', few)
        self.step('  longest of a million changes', 'us', 'longest_change_alone', rows, 'words', few)
        self.step('  the same, while a snapshot is written in the background', 'us', 'longest_change_with_snapshot',
                  rows, 'words', few)
        self.step('  memory of one reader', 'MiB', 'one_reader', rows, 'words', 1)
        self.step('  memory of ten readers, together', 'MiB', 'ten_readers', rows, 'words', 1)
        if rows >= 100_000_000:
            self.all_with_limited_memory(rows, 512 << 20)
        self.clean()

    def clean(self):
        for name in os.listdir(self.directory):
            remove(self.path(name))


def measure_snapshots(programs, directory, rounds, rows, is_large):
    say('')
    measurement = Measurement(programs, directory, rounds)
    measurement.sums(rows)
    for words in (rows // 10, rows, *((10 * rows,) if is_large else ())):
        measurement.words(words)
    return measurement.figures
