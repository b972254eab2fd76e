#!/usr/bin/env python3
"""The import of a database of SQLite, beside what copies it with SQLite's own tool (Debian: sqlite3).

usage: sqlite_import.py TOOLS_DIR [MEGABYTES]

Both work in turns, five times; the least times count: of the processor (in the programs and in the
system), and of the clock.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'tests'))
import sqlite  # noqa: E402 (from the folder above)

ROUNDS = 5
CASES = {'sqlite3 .dump | sqlite3': 'rm -f new.db; sqlite3 in.db .dump | sqlite3 new.db',
         'joedb import sqlite': 'rm -f new.joedb; joedb import sqlite --new in.db new.joedb > out.txt',
         'joedb export sqlite': 'joedb export sqlite --force new.joedb out.db'}


def measured(command, folder):
    """(seconds of the processor, seconds of the clock)"""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, shell=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start)


def measure_sqlite(tools, megabytes):
    os.environ['PATH'] = os.path.abspath(tools) + ':' + os.environ['PATH']
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'in.db')
        sqlite.make(source, megabytes)
        size = os.path.getsize(source) / 1e6
        times = {name: [] for name in CASES}
        for _ in range(ROUNDS):
            for name, command in CASES.items():
                times[name].append(measured(command, folder))
        best = {name: [min(column) for column in zip(*figures)] for name, figures in times.items()}
        for name, (processor, clock) in best.items():
            print(f'{name:26}{processor:7.2f} s CPU{clock:8.2f} s{size / processor:7.0f} MB/s')
        ratio = best['sqlite3 .dump | sqlite3'][0] / best['joedb import sqlite'][0]
        print(f'{size:.0f} MB: the import takes 1/{ratio:.1f} of the CPU time')


if __name__ == '__main__':
    measure_sqlite(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 50)
