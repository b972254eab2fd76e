#!/usr/bin/env python3
"""CSV and JSON lines into and out of a database, beside sqlite3 (Debian: sqlite3).

usage: exchange.py TOOLS_DIR [ROWS]

Rows of a unique word, a number, a text and a float are made; each program imports them into an empty
table with a unique index, three times in turn. What counts is the least user CPU time of each, for the
machine may do other things. The rates are in bytes of CSV or JSON.
"""
import os
import random
import resource
import subprocess
import sys
import tempfile

ROUNDS = 3
SCHEMA = '''create_table word
add_field word name string
add_field word count int64
add_field word note string
add_field word ratio float64
'''
SQL = '''CREATE TABLE word(name TEXT, count INTEGER, note TEXT, ratio REAL);
CREATE UNIQUE INDEX word_by_name ON word(name);
'''


def make_rows(path, count):
    randomly = random.Random(1)
    with open(path, 'w', encoding='utf-8') as out:
        out.write('name,count,note,ratio\n')
        for i in range(count):
            word = f'{randomly.getrandbits(40):x}-{i}'
            out.write(f'{word},{randomly.randrange(10 ** 9)},a note of {i % 977} words,{randomly.random():.12g}\n')


def user_time(folder, command, text=''):
    """Runs a command of the shell; returns the seconds of CPU time of the user."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(['bash', '-c', command], cwd=folder, input=text, text=True, check=True,
                   stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure_exchange(tools, rows):
    os.environ['PATH'] = os.path.abspath(tools) + ':' + os.environ['PATH']
    with tempfile.TemporaryDirectory() as folder:
        make_rows(os.path.join(folder, 'word.csv'), rows)
        user_time(folder, 'joedbi --new empty.joedb', SCHEMA)
        with open(os.path.join(folder, 'word.joedbc'), 'w', encoding='utf-8') as out:
            out.write('namespace word\ncreate_unique_index word_by_name word name\n')
        cases = {
            'CSV import, joedb, unique index': ('cp empty.joedb a.joedb && joedb import csv --options word.joedbc '
                                                'word.csv a.joedb', '', 'word.csv'),
            'CSV import, joedb, --key': ('cp empty.joedb b.joedb && joedb import csv --key name word.csv b.joedb', '',
                                         'word.csv'),
            'CSV import, joedb, new table': ('rm -f c.joedb; joedb import csv --new word.csv c.joedb', '', 'word.csv'),
            'CSV import, sqlite3, unique index': (
                'rm -f a.db; sqlite3 a.db', SQL + '.mode csv\n.import --skip 1 word.csv word\n', 'word.csv'),
            'CSV export, joedb': ('joedb export csv a.joedb word > out.csv', '', 'word.csv'),
            'CSV export, sqlite3': ('sqlite3 -csv -header a.db "SELECT * FROM word" > out2.csv', '', 'word.csv'),
            'JSON lines export, joedb': ('joedb export jsonl a.joedb word > out.jsonl', '', 'out.jsonl'),
            'JSON lines import, joedb, --key': (
                'cp empty.joedb d.joedb && joedb import jsonl --table word --key name out.jsonl d.joedb', '',
                'out.jsonl'),
            'loading, joedb': ('echo | joedbi --read a.joedb', '', 'a.joedb'),
        }
        times = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, (command, text, _) in cases.items():
                times[name].append(user_time(folder, command, text))
        for name, (_, _, path) in cases.items():
            size = os.path.getsize(os.path.join(folder, path))
            print(f'{name:36}{min(times[name]):8.2f} s{size / 1e6 / max(min(times[name]), 1e-3):8.0f} MB/s')
        ratio = min(times['CSV import, sqlite3, unique index']) / min(times['CSV import, joedb, unique index'])
        print(f'import into an indexed table: {ratio:.1f} times as fast as sqlite3')
        subprocess.run(['cmp', 'out.csv', 'word.csv'], cwd=folder, check=False)


if __name__ == '__main__':
    measure_exchange(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
