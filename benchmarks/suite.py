"""What is measured, and how: each figure is that of a whole process."""
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Case(NamedTuple):
    """One line of a table."""
    name: str
    program: str
    what: str           # the program's case; or, if it has {}, a command for the shell
    reads: str = ''     # program and case that made the file it reads
    changes: bool = False  # it changes that file: it gets a copy of its own
    removes: bool = False  # its file is removed at once: nothing of it stays in memory


class Group(NamedTuple):
    """Cases that do the same work, joedb first; they run in this order."""
    text: str
    divisor: int  # its share of the rows
    cases: list
    is_printing: bool = False  # the rate is that of the text: MB for a second of the processor, in the program


JOEDB, SQLITE, LMDB, LEVELDB, ROCKSDB, FLOOR, WAL, WAL_FLOOR = (
    name + '_benchmark'
    for name in ('joedb', 'sqlite', 'lmdb', 'leveldb', 'rocksdb', 'floor', 'wal', 'wal_floor'))

# The Debian packages of what a machine can do without.
PACKAGES = {LMDB: 'liblmdb-dev', LEVELDB: 'libleveldb-dev', ROCKSDB: 'librocksdb-dev', 'sqlite3': 'sqlite3'}


def peers(what, made_by=''):
    """The same case of the three stores of keys and values."""
    return [Case(name, program, what, made_by and f'{program} {made_by}')
            for name, program in (('LMDB', LMDB), ('LevelDB', LEVELDB), ('RocksDB', ROCKSDB))]


def of_words(what):
    return [Case('joedb', JOEDB, what, f'{JOEDB} insert_words'),
            Case('SQLite', SQLITE, what, f'{SQLITE} insert_words'), *peers(what, 'insert_words'),
            Case('std::map, read from a file', FLOOR, what, f'{FLOOR} insert_words')]


def changed(what):
    return [Case(name, program, what, f'{program} insert_rows', changes=True)
            for name, program in (('joedb', JOEDB), ('SQLite', SQLITE), ('no database', FLOOR))]


def log_case(name, program, what):
    return Case(name, program, what, removes=True)


def logs_of_stores(what):
    return [log_case(f'{name} (log + memtable)', program, what)
            for name, program in (('LevelDB', LEVELDB), ('RocksDB', ROCKSDB))]


BUFFERED_LOGS = [
    log_case('joedb', WAL, 'append'),
    log_case('joedb, flush of each', WAL, 'append_and_flush_each'),
    log_case('no library, a buffer', WAL_FLOOR, 'append'),
    log_case('no library, a write for each', WAL_FLOOR, 'append_and_write_each'),
    log_case('model of CWal: byte-wise CRC-32, buffered', WAL_FLOOR, 'model_of_cwal')]
SYNCED_LOGS = [
    log_case('joedb', WAL, 'append_and_sync_each'),
    log_case('joedb, preallocated', WAL, 'append_and_sync_each_preallocated'),
    log_case('no library, write + fsync', WAL_FLOOR, 'append_and_sync_each'),
    log_case('no library, write + fdatasync', WAL_FLOOR, 'append_and_datasync_each'),
    log_case('no library, zeros, pwrite + fdatasync', WAL_FLOOR, 'write_to_zeros_and_datasync_each'),
    log_case('joedb, every 10', WAL, 'append_and_sync_every_10'),
    log_case('joedb, every 10, preallocated', WAL, 'append_and_sync_every_10_preallocated'),
    log_case('no library, every 10, write + fdatasync', WAL_FLOOR, 'append_and_datasync_every_10'),
    log_case('no library, every 10, zeros, pwrite + fdatasync', WAL_FLOOR,
             'write_to_zeros_and_datasync_every_10')]

DUMPS = [
    Case('joedb_logdump', 'joedb_logdump', 'joedb_logdump {reads} > {file}', f'{JOEDB} insert_rows'),
    Case('joedbi, dump', 'joedbi', 'joedbi --read {reads} > {file} <<END\ndump\nEND', f'{JOEDB} insert_rows'),
    Case('joedbi, sql', 'joedbi', 'joedbi --read {reads} > {file} <<END\nsql\nEND', f'{JOEDB} insert_rows'),
    Case('sqlite3 .dump', 'sqlite3', 'sqlite3 {reads} .dump > {file}', f'{SQLITE} insert_rows'),
    Case('copying the file', 'cat', 'cat {reads} > {file}', f'{JOEDB} insert_rows')]
JSONS = [
    Case('joedb_to_json', 'joedb_to_json', 'joedb_to_json {reads} > {file}', f'{JOEDB} insert_rows'),
    Case('sqlite3 -json', 'sqlite3', 'sqlite3 -json {reads} "select * from benchmark" > {file}',
         f'{SQLITE} insert_rows'),
    Case('copying the file', 'cat', 'cat {reads} > {file}', f'{JOEDB} insert_rows')]

GROUPS = {
    'insert': Group('rows ("TOTO", i) inserted, one durable commit', 1, [
        Case('joedb, one by one', JOEDB, 'insert_rows'),
        Case('joedb, as vectors', JOEDB, 'insert_vectors'),
        Case('SQLite, prepared statement', SQLITE, 'insert_rows'),
        *peers('insert_rows'),
        Case('no database, rows', FLOOR, 'insert_rows'),
        Case('no database, vectors', FLOOR, 'insert_vectors')]),
    'reopen': Group('rows: open the file, add up a column', 1, [
        Case('joedb, written one by one', JOEDB, 'open_and_sum', f'{JOEDB} insert_rows'),
        Case('joedb, written as vectors', JOEDB, 'open_and_sum', f'{JOEDB} insert_vectors'),
        Case('SQLite', SQLITE, 'open_and_sum', f'{SQLITE} insert_rows'),
        *peers('open_and_sum', 'insert_rows'),
        Case('no database, rows made columns', FLOOR, 'open_rows_and_sum', f'{FLOOR} insert_rows'),
        Case('no database, vectors made columns', FLOOR, 'open_vectors_and_sum', f'{FLOOR} insert_vectors'),
        Case('no database, the column only', FLOOR, 'open_and_sum', f'{FLOOR} insert_vectors')]),
    'index': Group('words of 16 characters inserted, with a unique index', 10, [
        Case('joedb', JOEDB, 'insert_words'),
        Case('SQLite', SQLITE, 'insert_words'),
        *peers('insert_words'),
        Case('std::map, and the bytes written', FLOOR, 'insert_words')]),
    'find': Group('words: open the file, find each of them, in no order', 10, of_words('open_and_find')),
    'walk': Group('words: open the file, go through them in their order', 10, of_words('open_and_walk')),
    'update': Group('rows: open the file, change a tenth of them, in no order, one durable commit', 5,
                    changed('update_rows')),
    'delete': Group('rows: open the file, delete all, in no order, one durable commit', 5,
                    changed('delete_rows')),
    'hard': Group('rows, each in a commit that survives a power cut', 5000, [
        Case('joedb, hard checkpoint', JOEDB, 'hard_checkpoint_per_row'),
        Case('joedb, preallocated', JOEDB, 'hard_checkpoint_per_row_preallocated'),
        Case('joedb, 8 threads, group commit', JOEDB, 'group_commit_per_row'),
        Case('joedb, with two syncs', JOEDB, 'hard_checkpoint_per_row_without_seals'),
        Case('SQLite, WAL, synchronous=FULL', SQLITE, 'commit_per_row_wal_full'),
        *peers('durable_commit_per_row'),
        Case('no database, append + fdatasync', FLOOR, 'append_and_datasync_per_row'),
        Case('no database, row + end + fdatasync', FLOOR, 'two_writes_and_datasync_per_row'),
        Case('no database, the same in a file of zeros', FLOOR, 'two_writes_to_zeros_and_datasync_per_row')]),
    'soft': Group('rows, each in a commit that survives a killed process', 20, [
        Case('joedb, soft checkpoint', JOEDB, 'soft_checkpoint_per_row'),
        Case('joedb, mapped file', JOEDB, 'soft_checkpoint_per_row_mapped'),
        Case('SQLite, WAL, synchronous=NORMAL', SQLITE, 'commit_per_row_wal_normal'),
        *peers('commit_per_row_without_sync'),
        Case('no database, two writes', FLOOR, 'two_writes_per_row')]),
    'shared': Group('rows, each in a transaction of its own, in a file of two processes', 100, [
        Case('joedb, two processes', JOEDB, 'share_by_two'),
        Case('joedb, one process', JOEDB, 'share'),
        Case('SQLite, two processes, WAL, synchronous=NORMAL', SQLITE, 'share_by_two'),
        Case('SQLite, one process', SQLITE, 'share'),
        Case('LMDB, two processes', LMDB, 'share_by_two'),
        Case('LMDB, one process', LMDB, 'share'),
        Case('no database, two processes, lock + read + two writes', FLOOR, 'share_by_two')]),
    'log': Group('entries of 1,000 bytes appended to a log, no sync', 100, [
        *BUFFERED_LOGS, *logs_of_stores('append')]),
    'log_large': Group('entries of 1,000 bytes appended to a log, no sync', 10, BUFFERED_LOGS),
    'log_sync': Group('entries of 1,000 bytes appended to a log, each or every tenth synced', 10000, [
        *SYNCED_LOGS, *logs_of_stores('append_and_sync_each')]),
    'log_sync_large': Group('entries of 1,000 bytes appended to a log, each or every tenth synced', 100,
                            SYNCED_LOGS),
    'log_batches': Group('entries of 1,000 bytes in a log that is reset after some of them, synced', 100, [
        case for size in (31, 10) for case in (
            log_case(f'joedb, batches of {size}', WAL, f'sync_batches_of_{size}'),
            log_case(f'joedb, batches of {size}, with on_batch', WAL, f'rotate_batches_of_{size}'),
            log_case(f'no library, {size} in place', WAL_FLOOR, f'overwrite_batches_of_{size}'),
            log_case(f'no library, {size}, the file cut', WAL_FLOOR, f'cut_and_write_batches_of_{size}'))]),
    'log_threads': Group('entries of 1,000 bytes appended to a log by threads, each durable', 1000, [
        case for suffix, what in (('', ''), (', preallocated', '_preallocated')) for case in (
            log_case(f'joedb, 8 threads{suffix}', WAL, f'8_threads_wait{what}'),
            log_case(f'joedb, 8 threads, 16 callbacks each{suffix}', WAL, f'8_threads_with_callbacks{what}'),
            log_case(f'joedb, 1 thread{suffix}', WAL, f'one_thread_waits{what}'))] + [
        log_case('no library, 1 thread, write + fdatasync', WAL_FLOOR, 'append_and_datasync_each')]),
    'import': Group('rows: a text of commands made a file', 10, [
        Case('joedbi', 'joedbi', 'joedbi --log none {file} < {reads}', f'{FLOOR} write_commands'),
        Case('sqlite3', 'sqlite3', 'sqlite3 {file} < {reads}', f'{FLOOR} write_sql'),
        Case('copying the text', 'cat', 'cat {reads} > {file}', f'{FLOOR} write_commands')]),
    'dump': Group('rows: a file made a text of commands', 10, DUMPS, True),
    'dump_large': Group('rows: a file made a text of commands', 1, DUMPS, True),
    'json': Group('rows: a file made JSON', 10, JSONS, True),
    'json_large': Group('rows: a file made JSON', 1, JSONS, True),
    'pack': Group('rows: a file without its history', 10, [
        Case('joedb_pack', 'joedb_pack', 'joedb_pack {reads} {file}', f'{JOEDB} insert_rows'),
        Case('sqlite3, VACUUM INTO', 'sqlite3', 'sqlite3 {reads} "VACUUM INTO {file!r}"', f'{SQLITE} insert_rows'),
        Case('copying the file', 'cat', 'cat {reads} > {file}', f'{JOEDB} insert_rows')]),
}
TOOLS = ['import', 'dump', 'json', 'pack']
LOGS = [name for name in GROUPS if name.startswith('log')]


def say(text):
    """What is being done, on standard error: on a terminal in one line that changes."""
    if sys.stderr.isatty():
        print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def remove(path):
    """Removes a database: a file, or a folder, and what stands beside it."""
    if os.path.isdir(path):
        shutil.rmtree(path)
    for name in (path, path + '-wal', path + '-shm', path + '-journal', path + '-lock',
                 path + '.snapshot'):
        if os.path.exists(name):
            os.remove(name)


def size_of(path):
    if os.path.isdir(path):
        return sum(entry.stat().st_size for entry in os.scandir(path))
    return os.path.getsize(path)


class Runner:
    """Runs cases in a temporary folder of `directory`, by default after what others have to write is written."""

    def __init__(self, programs, directory, sync=True):
        self.sync = sync
        self.programs = programs
        self.search = programs + os.pathsep + os.environ['PATH']
        self.temporary = tempfile.TemporaryDirectory(prefix='benchmark-', dir=directory)
        self.directory = self.temporary.name
        self.made = {}  # file: number of its rows
        self.empty_memory = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.temporary.cleanup()

    def has(self, case):
        return shutil.which(case.program, path=self.search) is not None

    def path(self, program, what):
        return os.path.join(self.directory, re.sub(r'\W+', '.', f'{program} {what}'))

    def run(self, case, rows):
        """Runs a case in a process of its own and returns its figures."""
        reads = self.need(case.reads, rows) if case.reads else None
        is_shell = '{' in case.what
        path = self.path(case.program, case.what)
        if reads and not is_shell and not case.changes:
            path = reads
        else:
            remove(path)
        if case.changes:
            shutil.copyfile(reads, path)
        if is_shell:
            command = ['sh', '-c', 'exec ' + case.what.format(file=path, reads=reads)]
        else:
            command = [os.path.join(self.programs, case.program), case.what, str(rows), path]
        figures = self.measure(command)
        if not reads:
            self.made[path] = rows
        figures['file_mb'] = size_of(path) / 1e6
        if case.removes:
            remove(path)
        return figures

    def measure(self, command):
        result = os.path.join(self.directory, 'result')
        if self.sync:
            os.sync()
        if subprocess.run([os.path.join(self.programs, 'launch'), result, *command],
                          env={**os.environ, 'PATH': self.search}, check=False).returncode != 0:
            sys.exit(f'{shlex.join(command)} failed')
        with open(result, encoding='utf-8') as f:
            seconds, user, system, memory = map(float, f.read().split())
        return {'seconds': seconds, 'user': user, 'system': system,
                'processor': user + system, 'memory_mb': memory * 1024 / 1e6}

    def need(self, reads, rows):
        """The file that program and case `reads` make, with so many rows."""
        path = self.path(*reads.split())
        if self.made.get(path) != rows:
            say(f'making a file: {reads}')
            self.run(Case('', *reads.split()), rows)
        return path

    def bytes_per_row(self, case, figures, rows):
        """What a row takes of memory, at the peak: what the program needs without rows is not its."""
        if not case.program.endswith('_benchmark') or case.removes:
            return None
        if case.program not in self.empty_memory:
            path = self.path(case.program, 'empty')
            empty = self.measure([os.path.join(self.programs, case.program), 'insert_rows', '1', path])
            self.empty_memory[case.program] = empty['memory_mb']
        return max(0, figures['memory_mb'] - self.empty_memory[case.program]) * 1e6 / rows


def measure(runner, cases, rows, rounds, title):
    """Runs cases in turns, and returns a result for each; `rounds` is empty for what is not installed."""
    results = [{'group': title, 'name': case.name, 'rows': rows, 'rounds': []} for case in cases]
    for case in cases:
        if case.reads and runner.has(case):
            runner.need(case.reads, rows)
    for number in range(rounds):
        for result, case in zip(results, cases):
            if runner.has(case):
                say(f'{title}, round {number + 1} of {rounds}: {case.name}')
                result['rounds'].append(runner.run(case, rows))
    say('')
    for result, case in zip(results, cases):
        figures = result['rounds']
        if not figures:
            result['missing'] = PACKAGES.get(case.program, case.program)
            continue
        result['min'] = min(figure['seconds'] for figure in figures)
        result['min_per_row'] = result['min'] / rows
        for key in figures[0]:
            result['median' if key == 'seconds' else key] = statistics.median(f[key] for f in figures)
        result['user_per_mb'] = result['user'] / max(result['file_mb'], 1e-6)
        result['bytes_per_row'] = runner.bytes_per_row(case, result, rows)
        result['ratio'] = result['median'] / results[0]['median']
    return results
