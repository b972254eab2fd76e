#!/usr/bin/env python3
"""A database of SQLite becomes one of joedb and comes back, and a browser leaves nothing behind.

usage: sqlite.py TOOLS_DIR [MEGABYTES]

The database has about so many megabytes (default 4); from 100 on, times and memory are printed.
"""
import contextlib
import glob
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import shell

SCHEMA = '''
CREATE TABLE invoice(number INTEGER PRIMARY KEY, customer TEXT REFERENCES customer, day DATE, total DECIMAL(10,2),
                     paid BOOLEAN);
CREATE TABLE customer(code TEXT PRIMARY KEY, name TEXT NOT NULL, score REAL, photo BLOB) WITHOUT ROWID;
CREATE TABLE line(invoice INT REFERENCES invoice(number), sku TEXT, pieces SMALLINT, price REAL, note TEXT,
                  before INT UNIQUE REFERENCES line(id), id INT UNIQUE);
CREATE INDEX line_by_sku ON line(sku, pieces);
'''

# The rows of the original, and of the copy, where references are record ids.
COMPARED = (
    ('SELECT code, name, score, photo FROM customer ORDER BY code',
     'SELECT code, name, score, photo FROM customer ORDER BY __id'),
    ('SELECT number, customer, day, total, paid FROM invoice ORDER BY number',
     'SELECT number, c.code, day, total, paid FROM invoice i LEFT JOIN customer c ON c.__id = i.customer '
     'ORDER BY i.__id'),
    ('SELECT invoice, sku, pieces, price, note, before, id FROM line ORDER BY rowid',
     'SELECT i.number, l.sku, l.pieces, l.price, l.note, b.id, l.id FROM line l '
     'LEFT JOIN invoice i ON i.__id = l.invoice LEFT JOIN line b ON b.__id = l.before ORDER BY l.__id'))


def make(path, megabytes):
    """Writes a database of about this size: a customer has three invoices, with three lines each."""
    randomly = random.Random(1)
    count = max(int(megabytes * 600), 1)
    words = [''.join(randomly.choices('abcdefghij äß€"\'\n', k=40)) for _ in range(1000)]
    customers = ((f'C{i:07}', randomly.choice(words), randomly.random(), randomly.randbytes(i % 100) if i % 3 else None)
                 for i in range(count))
    invoices = ((i * 7, f'C{randomly.randrange(count):07}' if i % 50 else None, f'2026-02-{i % 28 + 1:02}',
                 i * 1.25, i % 2) for i in range(3 * count))
    lines = ((randomly.randrange(3 * count) * 7, f'SKU-{randomly.randrange(100000):06}', randomly.randrange(1000),
              randomly.random() * 100, randomly.choice(words), i + 100 if i % 2 else None, i + 99)
             for i in range(9 * count))
    with contextlib.closing(sqlite3.connect(path)) as out:
        out.executescript('PRAGMA synchronous = OFF;' + SCHEMA)
        out.executemany('INSERT INTO customer VALUES(?,?,?,?)', customers)
        out.executemany('INSERT INTO invoice VALUES(?,?,?,?,?)', invoices)
        out.executemany('INSERT INTO line VALUES(?,?,?,?,?,?,?)', lines)
        # The last of all refers to nothing.
        out.execute('UPDATE line SET before = NULL WHERE before NOT IN (SELECT id FROM line)')
        out.commit()


def run(*command, is_shown=False):
    """Returns what a command prints; shows what it took."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    assert process.returncode == 0, f'{command}: {text}'
    if is_shown:
        print(f'{" ".join(command[:3]):24}{time.monotonic() - start:8.1f} s{usage.ru_utime + usage.ru_stime:8.1f} s CPU'
              f'{usage.ru_maxrss / 1000:8.0f} MB at the peak')
    return text


def rows(path, query):
    with contextlib.closing(sqlite3.connect(path)) as database:
        yield from database.execute(query)


def check_same(first, second):
    for mine, theirs in COMPARED:
        others = rows(second, theirs)
        for number, row in enumerate(rows(first, mine)):
            other = next(others, None)
            assert row == other, f'row {number} of {mine}: {row}, {other}'
        assert next(others, None) is None, mine


def check_round_trip(megabytes):
    is_large = megabytes >= 100
    make('shop.sqlite', megabytes)
    if is_large:
        print(f'shop.sqlite has {os.path.getsize("shop.sqlite") / 1e6:.0f} MB')
    run('joedb', 'import', 'sqlite', '--new', '--write-options', 'shop.joedbc', 'shop.sqlite', 'shop.joedb',
        is_shown=is_large)
    if is_large:
        print(f'shop.joedb has {os.path.getsize("shop.joedb") / 1e6:.0f} MB')
    run('joedb', 'export', 'sqlite', '--options', 'shop.joedbc', 'shop.joedb', 'copy.sqlite', is_shown=is_large)
    check_same('shop.sqlite', 'copy.sqlite')

    size = os.path.getsize('shop.joedb')
    text = run('joedb', 'import', 'sqlite', 'copy.sqlite', 'shop.joedb', is_shown=is_large)
    assert 'inserted 0, updated 0' in text and os.path.getsize('shop.joedb') == size, text
    run('joedb', 'import', 'sqlite', '--new', 'copy.sqlite', 'again.joedb')
    assert run('joedb', 'export', 'csv', '--id', 'shop.joedb', 'line') == \
        run('joedb', 'export', 'csv', '--id', 'again.joedb', 'line')


def check_damage():
    """A file that is cut or has other bytes gives an error or other values, and no database in halves."""
    make('good.sqlite', 0.2)
    with open('good.sqlite', 'rb') as file:
        good = file.read()
    randomly = random.Random(2)
    for number in range(40):
        bad = bytearray(good[:randomly.randrange(len(good))] if number % 4 == 0 else good)
        for _ in range(randomly.randrange(1, 20)):
            if bad:
                bad[randomly.randrange(len(bad))] = randomly.randrange(256)
        with open('bad.sqlite', 'wb') as file:
            file.write(bad)
        result = subprocess.run(['joedb', 'import', 'sqlite', '--new', 'bad.sqlite', 'bad.joedb'], timeout=60,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert result.returncode in (0, 1), (number, result)
        assert os.path.exists('bad.joedb') == (result.returncode == 0), (number, result)
        if result.returncode == 0:
            run('joedb_verify', 'bad.joedb')
            os.remove('bad.joedb')
        assert not glob.glob('*.tmp-*')


def without_sleep():
    """Before a command: SQLite counts its attempts, and does not look at a clock when it waits ten seconds."""
    return [*shell.FAST_STRACE, '-o', '/dev/null', '-e', 'inject=nanosleep,clock_nanosleep:retval=0'] \
        if shell.can_trace() else []


def fail(*command):
    """Returns what a command prints that ends with 1."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 1, (command, done)
    return done.stdout.decode()


def make_old(mode, page_size=4096):
    """Makes old.sqlite, with a table that no export has; returns a connection to it."""
    for path in glob.glob('old.sqlite*'):
        os.remove(path)
    old = sqlite3.connect('old.sqlite', isolation_level=None)
    old.execute(f'PRAGMA page_size = {page_size}')
    old.execute(f'PRAGMA journal_mode = {mode}')
    old.execute('CREATE TABLE old(a)')
    old.executemany('INSERT INTO old VALUES(?)', [('x' * 1000,)] * 100)
    return old


def tables(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
        return sorted(name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"))


def export(*options):
    return ('joedb', 'export', 'sqlite', *options, 'shop.joedb', 'old.sqlite')


def check_export_beside_what_sqlite_left():
    """A write-ahead log or a journal of another file is never taken for a part of an export."""
    shop = ['customer', 'invoice', 'line']
    for mode, suffix in ('wal', '-wal'), ('persist', '-journal'):
        for is_missing in False, True:
            old = make_old(mode)
            if suffix == '-journal':
                old.execute('BEGIN')
                old.execute('PRAGMA cache_size = 1')
                old.execute('UPDATE old SET a = a || a')
            for path in ('old.sqlite', 'old.sqlite' + suffix):
                shutil.copy(path, path.replace('old', 'killed'))
            old.close()
            for path in glob.glob('old.sqlite*'):
                os.remove(path)
            os.rename('killed.sqlite', 'old.sqlite')
            os.rename('killed.sqlite' + suffix, 'old.sqlite' + suffix)
            if is_missing:
                os.remove('old.sqlite')
                assert f'old.sqlite{suffix}: was left by another file' in fail(*export())
            else:
                assert 'exists; --force replaces it' in fail(*export())
            assert os.path.exists('old.sqlite') != is_missing
            run(*export('--force'))
            assert tables('old.sqlite') == shop, (mode, is_missing)
            assert glob.glob('old.sqlite*') == ['old.sqlite'], glob.glob('*')


def check_export_to_a_file_in_use():
    """Programs that have the file open see the export, and what they write then is in the file."""
    shop = ['customer', 'invoice', 'line']
    for mode in 'wal', 'delete', 'persist':
        for page_size in 4096, 1024:
            with contextlib.closing(make_old(mode, page_size)) as old:
                assert old.execute('SELECT count(*) FROM old').fetchall() == [(100,)]
                if mode == 'wal' and page_size != 4096:
                    assert 'end that first' in fail(*export('--force'))
                    continue
                run(*export('--force'))
                assert old.execute('SELECT count(*) FROM customer').fetchone()[0] > 0
                assert tables('old.sqlite') == shop
                old.execute('CREATE TABLE mine(a)')
                assert tables('old.sqlite') == [*shop[:3], 'mine']
            assert tables('old.sqlite') == [*shop, 'mine']
    old = make_old('delete')
    old.execute('BEGIN EXCLUSIVE')
    assert 'another program is reading or writing the file' in fail(*without_sleep(), *export('--force'))
    old.close()
    assert tables('old.sqlite') == ['old'] and not glob.glob('*.tmp-*')


def check_definitions():
    """What SQL makes and drops is in a file, or is refused: never in nothing."""
    os.mkdir('sql')
    os.chdir('sql')
    subprocess.run(['joedbi', '--new', 'c.joedb'], input=b'create_table city\nadd_field city name string\n',
                   stdout=subprocess.DEVNULL, check=True)
    for number, schema in enumerate(('', 'c.', 'main.')):
        run('joedb', 'sql', 'c.joedb',
            f'CREATE TABLE {schema}made{number}(a TEXT); INSERT INTO made{number} VALUES (1)')
        assert 'a' in run('joedb', 'sql', 'c.joedb', f'SELECT * FROM made{number}')
        assert 'that is not given' in fail('joedb', 'sql', 'c.joedb', f'CREATE TABLE {schema}visit(a)')
    for statement in ('CREATE TABLE visit AS SELECT * FROM city',
                      'CREATE VIEW visit AS SELECT 1', 'CREATE VIRTUAL TABLE visit USING fts5(a)'):
        text = fail('joedb', 'sql', 'c.joedb', statement)
        ways = ('VIEW', 'VIRTUAL', 'is made by CREATE TABLE')
        assert 'would be lost' in text and any(way in text for way in ways), text
    assert "joedb_alter('c.joedb', 'drop_table city')" in fail('joedb', 'sql', 'c.joedb', 'DROP TABLE city')
    run('joedb', 'sql', 'c.joedb', "SELECT joedb_alter('c.joedb', 'create_table visit'); SELECT * FROM visit")
    run('joedb', 'sql', 'c.joedb', 'CREATE TEMP TABLE t(a); CREATE TABLE temp.u(a); INSERT INTO t VALUES (1); '
        'CREATE TEMP VIEW v AS SELECT * FROM t; SELECT * FROM v; DROP VIEW v; DROP TABLE t')
    with contextlib.closing(sqlite3.connect('shop.sqlite')) as shop:
        shop.execute('CREATE TABLE a(x)')
    run('joedb', 'sql', 'shop.sqlite', 'CREATE TABLE b(x); INSERT INTO b VALUES (1); CREATE VIEW v AS SELECT * FROM b')
    run('joedb', 'sql', 'c.joedb', 'shop.sqlite', 'CREATE TABLE shop.c AS SELECT * FROM city; DROP TABLE shop.a')
    assert 'with shop. in front' in fail('joedb', 'sql', 'c.joedb', 'shop.sqlite', 'CREATE VIEW d AS SELECT 1')
    assert 'drop_table city' in fail('joedb', 'sql', 'shop.sqlite', 'c.joedb', 'DROP TABLE city')
    assert tables('shop.sqlite') == ['b', 'c']
    assert list(rows('shop.sqlite', 'SELECT * FROM v')) == [(1,)]
    os.chdir('..')


def check_scripts():
    """Scripts may have commands, and begin with a byte order mark; a statement needs no space."""
    os.mkdir('script')
    os.chdir('script')

    def script(program, text, code=0):
        done = subprocess.run([*program, 'c.joedb'], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        assert done.returncode == code, done
        return done.stdout.decode()
    mark = b'\xef\xbb\xbf'
    script(['joedbi', '--new'], mark + b'create_table city\r\nadd_field city name string\r\n')
    script(['joedbi'], mark + b'insert_into city 0 "Lyon"\n')
    sql = ['joedb', 'sql']
    assert script(sql, b'.mode json\nselect name from city;\n') == '[{"name": "Lyon"}]\n'
    assert script(sql, mark + b'.mode csv\n-- a remark\n.tables\nselect name\n from city;\n') == 'city\nname\nLyon\n'
    text = b".mode csv\nselect '\n.quit\n' as a;\n.quit\nwrong;\n"
    assert script(sql, text) == 'a\n"\n.quit\n"\n'
    assert '.mode xml: no such command' in script(sql, b'.mode xml\nselect 1;\n', 1)
    assert 'line 4: near' in script(sql, b'.mode csv\nselect 1;\n\nwrong;\n', 1)
    for statement in "values(1,'x')", 'select(1)', 'SELECT"name"from(city)':
        run('joedb', 'sql', 'c.joedb', statement)
    assert 'does not exist' in fail('joedb', 'sql', 'c.joedb', 'select.joedb')
    os.chdir('..')


def check_browser():
    """The temporary file is there while the program runs, and only then, whatever ends it."""
    place = os.path.join(os.getcwd(), 'temporary')
    os.mkdir(place)
    os.environ['TMPDIR'] = place
    reads, writes = os.pipe()
    for end in (signal.SIGTERM, signal.SIGHUP, None):
        program = f'cat <&{reads}; ls -l'
        browser = subprocess.Popen(['joedb_browser', '--program', program, 'shop.joedb'], pass_fds=[reads],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert browser.stdout.readline() == b'this is a copy of shop.joedb: changes are not written back\n'
        (name,) = glob.glob(os.path.join(place, '*', 'shop.sqlite'))
        assert os.stat(os.path.dirname(name)).st_mode & 0o777 == 0o700
        assert os.stat(name).st_mode & 0o777 == 0o400
        if end is not None:
            browser.send_signal(end)
        else:
            os.close(writes)
            assert b'shop.sqlite' in browser.stdout.read()
        assert browser.wait() == (0 if end is None else -end)
        browser.stdout.close()
        assert not os.listdir(place)
    os.close(reads)


def main(tools, megabytes):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and a browser that it starts would, too
    os.environ['PATH'] = os.path.abspath(tools) + ':/usr/bin:/bin'
    with shell.temporary_folder() if megabytes < 100 else tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_round_trip(megabytes)
        check_damage()
        check_export_beside_what_sqlite_left()
        check_export_to_a_file_in_use()
        check_definitions()
        check_scripts()
        check_browser()
        os.chdir('/')


if __name__ == '__main__':
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 4)
