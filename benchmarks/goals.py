"""The goals of this version relative to joedb 10.4.2, which need not be here to be compared with.

joedb 10.4.2 was measured once, in turns with SQLite, and with the floor: what the machine needs without
a database. `original` is its time divided by that of such a reference; the reference is measured again
in this run, and so tells what the original would take on this machine. Here the least times count:
other work on the machine hits ours and the reference at different moments.
"""
from typing import NamedTuple, Optional


class Goal(NamedTuple):
    text: str
    group: str
    ours: str
    reference: Optional[str]  # none: `original` is the figure itself
    original: float
    wanted: float  # at most this share of the original
    figure: str = 'min'
    reference_group: Optional[str] = None  # if it is another one


SQLITE_FULL = 'SQLite, WAL, synchronous=FULL'
DATASYNC = 'no database, append + fdatasync'
TWO_WRITES = 'no database, two writes'
CWAL = 'model of CWal: byte-wise CRC-32, buffered'

GOALS = [
    # 1.108 s (one by one), 0.446 s (vectors), SQLite 5.433 s for 10 M rows; 586 MB at the peak
    Goal('insert one by one', 'insert', 'joedb, one by one', 'SQLite, prepared statement', 1 / 4.90, 0.4),
    Goal('insert as vectors', 'insert', 'joedb, as vectors', 'SQLite, prepared statement', 1 / 12.2, 0.45),
    Goal('memory for a row', 'insert', 'joedb, one by one', None, 58, 0.6, 'bytes_per_row'),
    # 1.307 s (one by one), 0.484 s (vectors), SQLite's SUM() 0.711 s
    Goal('reopen, written one by one', 'reopen', 'joedb, written one by one', 'SQLite', 1 / 0.54, 0.35),
    Goal('reopen, written as vectors', 'reopen', 'joedb, written as vectors', 'SQLite', 0.37 / 0.54, 0.4),
    # 1 M words with a unique index: 2.38 s to open, 2.83 s to find each; SQLite 3.20 s
    Goal('open and find by unique string', 'find', 'joedb', 'SQLite', (2.38 + 2.83) / 3.20, 0.5),
    # 8385 commits in a second; append + fdatasync took 0.53 of that time, SQLite 0.71;
    # 22,000 commits in a second are wanted in a preallocated file
    Goal('hard commit', 'hard', 'joedb, hard checkpoint', DATASYNC, 1 / 0.53, 1 / 1.8),
    Goal('hard commit, preallocated', 'hard', 'joedb, preallocated', DATASYNC, 1 / 0.53, 8385 / 22000),
    Goal('hard commit, beside SQLite', 'hard', 'joedb, hard checkpoint', SQLITE_FULL, 1, 1),
    Goal('group commit, beside one writer', 'hard', 'joedb, 8 threads, group commit',
         'joedb, hard checkpoint', 1, 1 / 5),
    # 0.533 M commits in a second; two writes without locks took 0.37 of that time
    Goal('soft commit', 'soft', 'joedb, soft checkpoint', TWO_WRITES, 1 / 0.37, 1 / 4),
    Goal('soft commit, mapped', 'soft', 'joedb, mapped file', TWO_WRITES, 1 / 0.37, 1 / 20),
    # What has no goal of its own shall not be worse. 100,000 transactions: 0.30 and 0.47 of SQLite's time;
    # sqlite3 imported a million rows in 3.21 s, the tools took 1.49 s, 0.76 s, 0.44 s and 0.19 s
    Goal('transaction of one process', 'shared', 'joedb, one process', 'SQLite, one process', 0.30, 1),
    Goal('transaction of one of two', 'shared', 'joedb, two processes',
         'SQLite, two processes, WAL, synchronous=NORMAL', 0.47, 1),
    Goal('import', 'import', 'joedbi', 'sqlite3', 1.49 / 3.21, 1),
    Goal('dump', 'dump', 'joedb_logdump', 'sqlite3', 0.76 / 3.21, 1, reference_group='import'),
    Goal('JSON', 'json', 'joedb_to_json', 'sqlite3', 0.44 / 3.21, 1, reference_group='import'),
    Goal('dump of 10 M rows: 400 MB/s', 'dump_large', 'joedbi, dump', None, 1 / 400, 1, 'user_per_mb'),
    Goal('JSON of 10 M rows: 400 MB/s', 'json_large', 'joedb_to_json', None, 1 / 400, 1, 'user_per_mb'),
    Goal('pack', 'pack', 'joedb_pack', 'sqlite3', 0.19 / 3.21, 1, reference_group='import'),
    # joedb 10.4.2 has no log: these are shares of what is named. CWal itself: 0.26 M entries in a second
    Goal('log: 1.2 M entries in a second', 'log_large', 'joedb', None, 1 / 1.2e6, 1, 'min_per_row'),
    Goal('log, beside a plain buffer', 'log_large', 'joedb', 'no library, a buffer', 1, 1.3),
    Goal('log, beside the model of CWal', 'log_large', 'joedb', CWAL, 1, 1 / 4.5),
    Goal('log, each synced, beside write + fsync', 'log_sync', 'joedb, preallocated',
         'no library, write + fsync', 1, 1 / 1.4),
    Goal('log, each synced, beside write + fsync, 100 times as many', 'log_sync_large', 'joedb, preallocated',
         'no library, write + fsync', 1, 1 / 1.4),
    Goal('log, 8 threads, beside one', 'log_threads', 'joedb, 8 threads', 'joedb, 1 thread', 1, 1 / 5),
    Goal('log, 8 threads, preallocated, beside one', 'log_threads', 'joedb, 8 threads, preallocated',
         'joedb, 1 thread, preallocated', 1, 1 / 5),
]


def measured(goal, results):
    """Our share of the original; None if this was not measured."""
    def figure(group, name):
        return next((result.get(goal.figure) for result in results.get(group, []) if result['name'] == name), None)

    ours = figure(goal.group, goal.ours)
    reference = figure(goal.reference_group or goal.group, goal.reference)
    if ours is None or (goal.reference and reference is None):
        return None
    return ours / (goal.original * (reference if goal.reference else 1))


def print_goals(results):
    """Prints a line for each goal about which there are results."""
    lines = []
    for goal in GOALS:
        share = measured(goal, results)
        if share is not None:
            verdict = 'reached' if share <= goal.wanted else 'missed'
            lines.append(f'{goal.wanted:6.2f} {share:9.2f}  {verdict:8} {goal.text}')
    if lines:
        print('goals: share of the time or memory of joedb 10.4.2 (or of what is named), at most\n\n'
              '  goal  measured', *lines, '', sep='\n', flush=True)
