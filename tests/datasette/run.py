#!/usr/bin/env python3
"""Datasette serves a joedb file, as docs/sql.md says, while others write to it.

usage: run.py SOURCE_DIR TOOLS_DIR

Exit code 77: there is no Datasette (scripts/datasette.py --install).
"""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
from urllib.parse import urlencode

SOCKET = 'socket'
START_SECONDS = 60
SCHEMA = '''
create_table city
add_field city name string
create_table person
add_field person name string
add_field person home references city
add_field person age int32
insert_into city 0 "Oslo"
insert_into person 0 "Ada" 0 37
insert_into person 1 "Bob" -1 20
timestamp 1767225600
'''


def joedbi(tools, commands, *options):
    subprocess.run([os.path.join(tools, 'joedbi'), '--bail', *options, 'people.joedb'], input=commands, text=True,
                   check=True, stdout=subprocess.DEVNULL)


def check(what, found, expected):
    if found != expected:
        sys.exit(f'{what}: {found!r} instead of {expected!r}')


def documented(source):
    """The plugin, and the arguments of the command, that the document shows."""
    with open(os.path.join(source, 'docs/sql.md'), encoding='utf-8') as file:
        section = re.search(r'^## Datasette\n(.*?)^## ', file.read(), re.M | re.S).group(1)
    blocks = [textwrap.dedent(block) for block in re.findall(r'(?:^(?: {4}.*)?\n)+', section, re.M) if block.strip()]
    plugin = next(block for block in blocks if 'hookimpl' in block)
    command = next(block for block in blocks if block.strip().startswith('datasette '))
    return plugin.strip() + '\n', command.split()[1:]


@contextlib.contextmanager
def server(program, arguments, tools):
    """Runs until the end of the block."""
    environment = {**os.environ, 'LD_LIBRARY_PATH': tools, 'PYTHONUNBUFFERED': '1'}
    with subprocess.Popen([program, *arguments, '--uds', SOCKET], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        timer = threading.Timer(START_SECONDS, process.kill)
        timer.start()
        output = []
        for line in process.stdout:
            output.append(line)
            if 'Uvicorn running' in line:
                break
        else:
            timer.cancel()
            sys.exit('Datasette has not started:\n' + ''.join(output))
        timer.cancel()
        drain = threading.Thread(target=lambda: output.extend(process.stdout))
        drain.start()
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
            drain.join()


class Unix_Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(SOCKET)


def get(path, **arguments):
    """(status, text)"""
    with contextlib.closing(Unix_Connection('localhost')) as connection:
        connection.request('GET', path + ('?' + urlencode(arguments) if arguments else ''))
        response = connection.getresponse()
        return response.status, response.read().decode()


def rows(path, **arguments):
    status, text = get(path, _shape='array', **arguments)
    check(f'{path} {arguments}: {text}', status, 200)
    return json.loads(text)


def query(sql):
    return rows('/_memory.json', sql=sql)


def test_answers(tools):
    status, text = get('/_memory.json')
    check('the list', status, 200)
    check('tables', sorted(table['name'] for table in json.loads(text)['tables']), ['city', 'person'])
    ada = {'rowid': 0, 'name': 'Ada', 'home': 0, 'age': 37, '__moment': None, '__id': 0}
    bob = {'rowid': 1, 'name': 'Bob', 'home': None, 'age': 20, '__moment': None, '__id': 1}
    check('a table', rows('/_memory/person.json'), [ada, bob])
    check('a filter', rows('/_memory/person.json', age__gt=30), [ada])
    check('an order', rows('/_memory/person.json', _sort='age'), [bob, ada])
    check('a row', rows('/_memory/person/1.json'), [{'rowid': 1, 'name': 'Bob', 'home': None, 'age': 20}])
    status, text = get('/_memory/person', _facet='age')
    check('a page', (status, 'Bob' in text), (200, True))
    join = 'SELECT person.name, city.name AS home FROM person LEFT JOIN city ON city.__id = person.home'
    check('a query', query(join), [{'name': 'Ada', 'home': 'Oslo'}, {'name': 'Bob', 'home': None}])

    joedbi(tools, 'update person 1 age 21\ninsert_into person 2 "Eve" 0 50\n')
    # Each thread of the server has a connection of its own.
    for _ in range(10):
        check('what others have written', query('SELECT age FROM person ORDER BY age'),
              [{'age': 21}, {'age': 37}, {'age': 50}])
    check('a past state', query("SELECT age FROM person('2026-06-30')"), [{'age': 37}, {'age': 20}])
    check('a wrong moment', get('/_memory.json', sql="SELECT * FROM person('soon')")[0], 400)


def test_a_visitor_reads_these_tables_only():
    before = query('SELECT count(*) FROM person')
    for sql in ("SELECT joedb_open('people.joedb', '/etc/passwd')", "SELECT joedb_open('/etc/passwd')",
                "SELECT joedb_open('other.joedb')", "SELECT joedb_close('people.joedb')",
                "SELECT joedb_alter('people.joedb', 'drop_table person')", "SELECT load_extension('libjoedb_sqlite')",
                'WITH x AS (SELECT 1) DELETE FROM person', "WITH x AS (SELECT 1) UPDATE person SET name = 'x'"):
        for _ in range(4):
            status, text = get('/_memory.json', sql=sql)
            check(f'{sql}: {text}', (status, 'root' in text), (400, False))
    check('what a visitor has tried', query('SELECT count(*) FROM person'), before)


def main(source, tools):
    source, tools = os.path.abspath(source), os.path.abspath(tools)
    found = subprocess.run([sys.executable, os.path.join(source, 'scripts/datasette.py')], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode != 0:
        print('skipped: there is no Datasette')
        return 77
    plugin, arguments = documented(source)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        joedbi(tools, SCHEMA, '--new')
        os.mkdir('plugins')
        with open('plugins/joedb.py', 'w', encoding='utf-8') as file:
            file.write(plugin)
        with server(found.stdout.strip(), arguments, tools):
            test_answers(tools)
            test_a_visitor_reads_these_tables_only()
        os.chdir('/')
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
