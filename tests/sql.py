#!/usr/bin/env python3
"""The extension of SQLite in Python and in sqlite3, on a file that other processes write meanwhile.

usage: sql.py TOOLS_DIR

Exit code 77: neither this Python nor sqlite3 can load extensions.
"""
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading

EXTENSION = 'libjoedb_sqlite.so'
SCHEMA = '''
create_table account
add_field account owner string
add_field account money int64
insert_into account 0 "Ada" 100
insert_into account 1 "Bob" 0
'''
OPTIONS = 'create_index account_by_owner account owner\n'


def joedbi(tools, commands, *options):
    subprocess.run([os.path.join(tools, 'joedbi'), '--bail', *options, 'bank.joedb'], input=commands, text=True,
                   check=True, stdout=subprocess.DEVNULL)


def check(what, found, expected):
    if found != expected:
        sys.exit(f'{what}: {found!r} instead of {expected!r}')


def connect(tools):
    connection = sqlite3.connect(':memory:', isolation_level=None, check_same_thread=False)
    connection.enable_load_extension(True)
    connection.load_extension(os.path.join(tools, EXTENSION))
    connection.enable_load_extension(False)
    return connection


def test_python(tools):
    with contextlib.closing(connect(tools)) as connection:
        def rows(sql, *values):
            return connection.execute(sql, values).fetchall()
        check('tables', rows('SELECT joedb_open(?, ?)', 'bank.joedb', 'bank.joedbc'), [(1,)])
        check('a row', rows('SELECT * FROM account WHERE owner = ?', 'Ada'), [('Ada', 100)])
        rows('CREATE TABLE note(owner TEXT, text TEXT)')
        rows("INSERT INTO note VALUES('Bob', 'new')")
        check('a join', rows('SELECT money, text FROM account JOIN note USING(owner)'), [(0, 'new')])
        try:
            rows('DELETE FROM account')
            sys.exit('a deletion has not failed')
        except sqlite3.OperationalError as error:
            check('a deletion', 'may not be modified' in str(error), True)
        try:
            rows("SELECT joedb_open('nothing.joedb')")
            sys.exit('a file that is not there was opened')
        except sqlite3.OperationalError as error:
            check('no file', 'No such file' in str(error), True)


# Money goes from one account to the other; each state that a statement sees has all of it.
def test_consistency(tools):
    def write():
        for i in range(30):
            joedbi(tools, f'update account 0 money {100 - i}\nupdate account 1 money {i}\n')
    writer = threading.Thread(target=write)
    with contextlib.closing(connect(tools)) as connection:
        connection.execute("SELECT joedb_open('bank.joedb')")
        writer.start()
        seen = set()
        while writer.is_alive():
            total, first = connection.execute('SELECT sum(money), min(money) FROM account').fetchone()
            check('the sum', total, 100)
            seen.add(first)
            with contextlib.closing(connection.execute('SELECT money FROM account')) as cursor:
                first = cursor.fetchone()[0]
                inner = connection.execute('SELECT sum(money) FROM account').fetchone()[0]
                check('the sum inside', inner, 100)
                check('the second row', cursor.fetchone()[0], 100 - first)
        writer.join()
        check('the last state', connection.execute('SELECT money FROM account').fetchall(), [(71,), (29,)])
        check('several states were seen', len(seen) > 1, True)


# Two connections, and one that is closed before.
def test_connections(tools):
    first = connect(tools)
    first.execute("SELECT joedb_open('bank.joedb')")
    with contextlib.closing(connect(tools)) as second:
        second.execute("SELECT joedb_open('bank.joedb')")
        first.close()
        check('the other connection', second.execute('SELECT count(*) FROM account').fetchall(), [(2,)])


def test_command(tools, command):
    for name in (os.path.join(tools, EXTENSION), os.path.join(tools, EXTENSION[:-3])):
        output = subprocess.run(
            [command, ':memory:', f'.load {name}', "SELECT joedb_open('bank.joedb', 'bank.joedbc')",
             "SELECT money FROM account WHERE owner = 'Ada'"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout
        check('sqlite3', output, '1\n71\n')


def main(tools):
    tools = os.path.abspath(tools)
    python = hasattr(sqlite3.Connection, 'enable_load_extension')
    command = shutil.which('sqlite3')
    if not python and not command:
        print('skipped: nothing can load extensions of SQLite')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        joedbi(tools, SCHEMA, '--new')
        with open('bank.joedbc', 'w', encoding='utf-8') as file:
            file.write(OPTIONS)
        if python:
            test_python(tools)
            test_consistency(tools)
            test_connections(tools)
        else:
            print('skipped: this Python cannot load extensions of SQLite')
            joedbi(tools, 'update account 0 money 71\n')
        if command:
            test_command(tools, command)
        os.chdir('/')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
