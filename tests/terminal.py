#!/usr/bin/env python3
"""What somebody at a terminal is asked and shown, and a pipe is not.

usage: terminal.py TOOLS_DIR [TEST...]
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PATIENCE = 30  # seconds
CTRL_C, CTRL_D, TAB, UP = '\x03', '\x04', '\t', '\x1b[A'
ESCAPES = re.compile(r'\x1b\[[\d;?]*[a-zA-Z]')


class Terminal:
    """A program in a terminal of its own; a context manager. What it shows is kept in `shown`."""

    def __init__(self, tools, folder, command, rows=24, columns=80, **environment):
        self.shown, self.seen, self.code = '', 0, None
        ready, go = os.pipe()
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.close(go)
            os.read(ready, 1)  # the terminal has its size
            os.chdir(folder)
            for name in 'PAGER', 'LESS', 'NO_COLOR':
                os.environ.pop(name, None)
            os.environ.update({'TERM': 'dumb', 'HOME': folder, 'PATH': f'{tools}:/usr/bin:/bin',
                               'LC_ALL': 'C.UTF-8', **environment})
            os.execvp(command.split()[0], command.split())
        os.close(ready)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        os.write(go, b'x')
        os.close(go)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.code is None:
            os.kill(self.process, 9)
            os.waitpid(self.process, 0)
        os.close(self.terminal)

    def read(self):
        """More output; False at its end."""
        if not select.select([self.terminal], [], [], PATIENCE)[0]:
            raise AssertionError(f'nothing more is shown after:\n{self.shown[-3000:]!r}')
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b''
        self.shown += data.decode('utf-8', 'replace').replace('\r\n', '\n')
        return bool(data)

    def expect(self, text):
        """Waits until this is shown; returns what was shown before it, since the last time."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown[self.seen:]:
            if time.monotonic() > end or not self.read():
                raise AssertionError(f'{text!r} is not in:\n{self.shown[self.seen:][-3000:]!r}')
        place = self.shown.index(text, self.seen)
        before, self.seen = self.shown[self.seen:place], place + len(text)
        return before

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for_mode(self, is_editing):
        """Waits until a line is edited, or until one was accepted and its command runs."""
        end = time.monotonic() + PATIENCE
        while bool(termios.tcgetattr(self.terminal)[3] & termios.ICANON) == is_editing:
            if time.monotonic() > end:
                raise AssertionError(f'the terminal does not change its mode:\n{self.shown[-3000:]!r}')
            os.sched_yield()

    def expect_prompt(self):
        """Waits for a prompt behind which nothing is; returns what was shown before it, since the last time."""
        end = time.monotonic() + PATIENCE
        while True:
            shown = ESCAPES.sub('', self.shown[self.seen:])
            prompt = re.search(r'(^|[\n\r])[^\n\r]*("|\w|\)|\*)> $', shown)
            if prompt:
                self.wait_for_mode(is_editing=True)
                self.seen = len(self.shown)
                return shown[:prompt.start()]
            if time.monotonic() > end or not self.read():
                raise AssertionError(f'no prompt in:\n{shown[-3000:]!r}')

    def enter(self, line):
        """Types a line; returns what is shown up to the next prompt, without the line."""
        self.type(line + '\n')
        self.expect('\n')
        return self.expect_prompt()

    def end(self):
        """Waits for the end; returns the exit code."""
        while self.read():
            pass
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return self.code


def make_database(tools, folder, commands, name='db.joedb'):
    subprocess.run([os.path.join(tools, 'joedbi'), '--bail', '--new', name], cwd=folder, input=commands, text=True,
                   stdout=subprocess.DEVNULL, check=True)


CITIES = '''create_table city
add_field city name string
add_field city population int64
add_field city is_capital boolean
create_table person
add_field person name string
add_field person home references city
insert_into city 0 "Lyon" 522000 false
insert_into city 1 "Lisbon" 545000 true
insert_into city 2 "Oslo" 709000 true
insert_into person 0 "Ana" 1
insert_into person 1 "Noor" -1
'''


def joedbi(tools, folder, options='', **more):
    terminal = Terminal(tools, folder, f'joedbi {options} db.joedb', **more)
    terminal.expect_prompt()
    return terminal


# ---- tests: each gets an empty folder

def test_makes_a_file_at_the_first_change(tools, folder):
    path = os.path.join(folder, 'db.joedb')
    notice = 'db.joedb does not exist; the first command that changes it makes it'
    for command in 'joedbi db.joedb', 'joedb_client db.joedb', 'joedb sql db.joedb':
        with Terminal(tools, folder, command) as t:
            t.expect(notice)
            t.expect('>')
            t.type('.quit\n' if 'sql' in command else 'quit\n')
            assert t.end() == 0, t.shown
            assert not os.path.exists(path), 'it was only looked at'
    with Terminal(tools, folder, 'joedbi db.joedb') as t:
        t.expect(notice)
        t.expect_prompt()
        assert 'OK: create_table city' in t.enter('create_table city')
        assert os.path.getsize(path) == 41
        t.type('quit\n')
        assert t.end() == 0 and os.path.getsize(path) > 41
    with Terminal(tools, folder, 'joedb_client db.joedb') as t:
        t.expect('writable_client(')
        t.type('quit\n')
        assert t.end() == 0 and notice not in t.shown, t.shown


def test_keeps_all_letters_without_a_locale(tools, folder):
    make_database(tools, folder, 'create_table t\nadd_field t v string\n')
    for locale in '', 'C', 'POSIX', 'xx_YY.UTF-8', 'C.UTF-8':
        with Terminal(tools, folder, 'joedbi db.joedb', LC_ALL=locale, LANG=locale) as t:
            t.expect_prompt()
            t.enter('insert_into t 0 "Müller 日本 🎈"')
            t.type('quit\n')
            assert t.end() == 0
        with Terminal(tools, folder, 'joedb sql db.joedb', LC_ALL=locale, LANG=locale) as t:
            t.expect_prompt()
            t.enter("INSERT INTO t(v) VALUES ('Zürich');")
            t.type('.quit\n')
            assert t.end() == 0
        texts = subprocess.run([os.path.join(tools, 'joedb'), 'export', 'csv', 'db.joedb', 't'], cwd=folder,
                               capture_output=True, check=True).stdout.decode()
        assert texts == 'v\nMüller 日本 🎈\nZürich\n', (locale, texts)
        subprocess.run([os.path.join(tools, 'joedbi'), 'db.joedb'], cwd=folder, check=True, capture_output=True,
                       input=b'delete_from t 0\ndelete_from t 1\n')


def test_takes_no_line_of_which_letters_are_lost(tools, folder):
    make_database(tools, folder, 'create_table t\nadd_field t v string\n')
    with Terminal(tools, folder, 'joedbi db.joedb') as t:
        t.expect_prompt()
        os.write(t.terminal, b'insert_into t 0 "M\xfcller"\n')
        t.expect('the line is not taken')
        t.expect_prompt()
        os.write(t.terminal, b'insert_into t 0 "M\xc3ller"\n')
        t.expect('the line is not taken')
        t.expect_prompt()
        assert 'OK: insert_into t 0 "new"' in t.enter('insert_into t 0 "new"')
        t.type('quit\n')
        assert t.end() == 0


def test_gives_up_all_lines_of_a_statement(tools, folder):
    make_database(tools, folder, CITIES)
    with Terminal(tools, folder, 'joedb sql db.joedb') as t:
        t.expect_prompt()
        t.type('DELETE FROM city\n')
        t.expect('...>')
        t.wait_for_mode(is_editing=True)
        t.type(CTRL_C)
        t.expect('sql>')
        t.wait_for_mode(is_editing=True)
        t.type(';\n')
        t.expect('sql>')
        t.wait_for_mode(is_editing=True)
        t.type('SELECT count(*) AS cities FROM city;\n')
        t.expect('3')
        t.expect('sql>')
        t.type('.quit\n')
        assert t.end() == 0


def test_shows_no_prompt_in_a_pipe(tools, folder):
    make_database(tools, folder, CITIES)
    for tool in 'joedbi', 'joedb_client':
        result = subprocess.run([os.path.join(tools, tool), 'db.joedb'], cwd=folder, input='about\n', text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=True)
        assert result.stdout.startswith('joedb ') and '\x1b' not in result.stdout, result.stdout


def test_completes_what_fits(tools, folder):
    """A word that can only become one thing is completed; else all are shown."""
    make_database(tools, folder, CITIES)
    completed = (
        ('delete_f', 'delete_from '), ('table ci', 'table city '),
        ('drop_field city po', 'drop_field city population '),
        ('add_field city x int6', 'add_field city x int64 '), ('add_field city x ref', 'add_field city x references '),
        ('add_field city x references per', 'add_field city x references person '),
        ('help upd', 'help update'), ('set ref', 'set references '), ('set references n', 'set references names '),
        ('update person 0 home 2', 'update person 0 home 2 '),
        ('update city 0 is_capital t', 'update city 0 is_capital true '),
        ('update person 0 home Li', 'update person 0 home 1 '), ('record city Os', 'record city 2 '),
        ('find city name beg', 'find city name begins '), ('insert_into person ', 'insert_into person 2 '),
        ('insert_into city 3 "New York" 8000000 f', 'insert_into city 3 "New York" 8000000 false '),
    )
    listed = (
        ('table ', ['city', 'person']), ('record city ', ['0 (Lyon)', '1 (Lisbon)', '2 (Oslo)']),
        ('update person 1 home ', ['-1 (none)', '0 (Lyon)', '2 (Oslo)']), ('echo o', ['on', 'off']),
        ('find city population ', ['<=', 'begins']), ('insert_into person 2 "x" ', ['-1 (none)', '0 (Lyon)']),
    )
    with joedbi(tools, folder) as t:
        for typed, wanted in completed:
            t.type(typed + TAB)
            t.type('\x01#\x05|\n')  # a remark, and its end is marked
            t.expect(f'OK: #{wanted}|\n')
            t.expect_prompt()
        for typed, wanted in listed:
            t.type(typed + TAB)
            for word in wanted:
                t.expect(word)
            t.type('\x15#\n')  # Ctrl-U forgets the line
            t.expect('OK: #\n')
            t.expect_prompt()


def test_lists_no_million_of_records(tools, folder):
    make_database(tools, folder, 'create_table t\ninsert_vector t 0 1000000\n')
    with joedbi(tools, folder) as t:
        t.type('record t 99' + TAB)
        shown = t.expect('…')
        assert '9988' in shown and '9989' not in shown, shown


def test_keeps_a_history(tools, folder):
    make_database(tools, folder, CITIES)
    with joedbi(tools, folder) as t:
        t.enter('record city 2')
        t.type('quit\n')
        t.end()
    with joedbi(tools, folder) as t:
        t.type(UP + UP + '\n')
        t.expect('OK: record city 2')


def test_continues_a_string_on_the_next_line(tools, folder):
    make_database(tools, folder, CITIES)
    with joedbi(tools, folder) as t:
        t.enter('update city 0 name "first')
        assert 'OK: update' in t.enter('second \\" third"')
        assert 'first\\012second \\" third' in t.enter('table city 0')
        t.enter('update city 0 name "given up')
        t.type('more')
        t.expect('more')
        t.type(CTRL_C)
        t.expect('^C\n')
        t.expect_prompt()
        assert 'given up' not in t.enter('table city 0')
        assert 'Error' not in t.enter('# no "string')
        t.type(CTRL_D)
        assert t.end() == 0


def test_stops_what_is_shown_and_loses_nothing(tools, folder):
    make_database(tools, folder, 'create_table t\nadd_field t name string\ninsert_vector t 0 3000000\n')
    for command in 'dump', 'json', 'table t', 'find t name ""', 'sql':
        with joedbi(tools, folder) as t:
            t.enter('set limit 0')
            t.enter('update t 5 name "unsaved"')
            t.type(command + '\n')
            t.expect('\n')
            t.wait_for_mode(is_editing=False)
            t.read()
            t.type(CTRL_C)
            t.expect('\nstopped\n')
            t.expect_prompt()
            assert '"unsaved"' in t.enter('record t 5'), command
            t.type('quit\n')
            assert t.end() == 0
    assert '"unsaved"' in subprocess.run([os.path.join(tools, 'joedbi'), '--read', 'db.joedb'], cwd=folder, text=True,
                                         input='record t 5\n', stdout=subprocess.PIPE, check=True).stdout


def test_sends_long_answers_through_the_pager(tools, folder):
    make_database(tools, folder, CITIES + 'insert_vector city 3 2000\n')
    with open(os.path.join(folder, 'pager'), 'w', encoding='utf-8') as pager:
        pager.write('#!/bin/sh\nsed "s/^/paged: /"\n')
    os.chmod(os.path.join(folder, 'pager'), 0o755)
    with joedbi(tools, folder, TERM='xterm', PAGER='./pager', rows=12) as t:
        assert 'paged' not in t.enter('describe city')
        shown = t.enter('table city')
        assert '1003 more' in shown and shown.count('paged: ') == 1004, shown[-2000:]
        t.enter('set pager off')
        assert 'paged: ' not in t.enter('table city')


def test_shows_what_no_pager_can(tools, folder):
    make_database(tools, folder, CITIES + 'insert_vector city 3 100\n')
    with joedbi(tools, folder, TERM='xterm', PAGER='/missing', rows=12) as t:
        assert 'Oslo' in t.enter('table city')


def test_goes_on_when_the_pager_is_left(tools, folder):
    make_database(tools, folder, CITIES + 'insert_vector city 3 500000\n')
    with joedbi(tools, folder, TERM='xterm', PAGER='head -n 2', rows=12) as t:
        t.type('dump\n')
        t.expect('create_table person')
        t.expect_prompt()
        assert 'Oslo' in t.enter('record city 2')
        t.type('quit\n')
        assert t.end() == 0


def test_shows_a_history_in_the_pager_and_in_colours(tools, folder):
    make_database(tools, folder, CITIES + 'comment "many"\ninsert_vector city 3 2000\n')
    with open(os.path.join(folder, 'pager'), 'w', encoding='utf-8') as pager:
        pager.write('#!/bin/sh\nsed "s/^/paged: /"\n')
    os.chmod(os.path.join(folder, 'pager'), 0o755)
    for command, lines in ('joedb_log db.joedb', 2), ('joedb_show --all db.joedb', 2004):
        with Terminal(tools, folder, command, TERM='xterm', PAGER='./pager') as t:
            assert t.end() == 0
            assert t.shown.count('paged: ') == lines and '\x1b[32m' in t.shown, (command, t.shown[-2000:])
    with Terminal(tools, folder, 'joedb_log db.joedb', TERM='xterm', PAGER='/missing', NO_COLOR='1') as t:
        assert t.end() == 0
        assert '+2000 city' in t.shown and '\x1b' not in t.shown, t.shown
    with Terminal(tools, folder, 'joedb_show --all db.joedb', TERM='xterm', PAGER='head -n 2') as t:
        assert t.end() == 0
    with Terminal(tools, folder, 'joedb_log --json db.joedb', TERM='xterm', PAGER='./pager') as t:
        assert t.end() == 0 and 'paged' not in t.shown, t.shown


def test_shows_the_names_of_references(tools, folder):
    make_database(tools, folder, CITIES)
    with joedbi(tools, folder) as t:
        assert '1 (Lisbon)' in t.enter('table person')
        assert 'home: 1 (Lisbon)' in t.enter('record person 0')
        t.enter('set references ids')
        assert 'Lisbon' not in t.enter('table person')
    shown = subprocess.run([os.path.join(tools, 'joedbi'), 'db.joedb'], cwd=folder, input='table person\n', text=True,
                           stdout=subprocess.PIPE, check=True).stdout
    assert 'Lisbon' not in shown, 'a script gets ids'


def test_fits_tables_to_the_screen(tools, folder):
    fields = ''.join(f'add_field t field_{i} string\n' for i in range(9))
    values = ' '.join(['"a long text that is cut"'] * 9)
    make_database(tools, folder, f'create_table t\n{fields}insert_into t 0 {values}\n')
    with joedbi(tools, folder, columns=60) as t:
        shown = t.enter('table t')
        assert max(map(len, shown.splitlines())) <= 60, shown
        assert 'not shown, for lack of room: ' in shown and 'field_8' in shown, shown
        assert len(t.enter('table t 25').splitlines()[0]) > 100


def test_suggests_what_was_meant(tools, folder):
    make_database(tools, folder, CITIES)
    with joedbi(tools, folder) as t:
        assert 'Did you mean table?' in t.enter('tabel city')
        assert 'No such table: ctiy. Did you mean city?' in t.enter('table ctiy')
        assert 'Did you mean population?' in t.enter('find city popluation 5')
        assert 'Did you mean' not in t.enter('table xyzzy')
    with joedbi(tools, folder, '--classic') as t:
        assert 'Did you mean' not in t.enter('tabel city')


def test_knows_the_words_of_sqlite(tools, folder):
    make_database(tools, folder, CITIES)
    with joedbi(tools, folder) as t:
        assert 'person' in t.enter('.tables') and 'create_table city' in t.enter('.schema')
        assert 'examples:' in t.enter('.help update')
        t.type('.exit\n')
        assert t.end() == 0
    with joedbi(tools, folder) as t:
        t.type('exit\n')
        assert t.end() == 0


def test_uses_colours_only_where_they_are_wanted(tools, folder):
    make_database(tools, folder, CITIES)
    commands = 'table person\nnonsense\nquit\n'
    for environment, options, has_colours in (({'TERM': 'xterm'}, '', True),
                                              ({'TERM': 'xterm', 'NO_COLOR': '1'}, '', False),
                                              ({'TERM': 'dumb'}, '', False),
                                              ({'TERM': 'xterm'}, '--color never', False),
                                              ({'TERM': 'dumb'}, '--color always', True)):
        with joedbi(tools, folder, options, **environment) as t:
            t.type(commands)
            t.end()
            for sequence in '\x1b[36m', '\x1b[1;31m', '\x1b[2m':  # prompt, error, dim
                assert (sequence in t.shown) == has_colours, (environment, options, t.shown)
    shown = subprocess.run([os.path.join(tools, 'joedbi'), '--color', 'always', 'db.joedb'], cwd=folder, text=True,
                           input=commands, stdout=subprocess.PIPE, check=False).stdout
    assert '\x1b[1;31m' in shown and '\x1b[36m' not in shown, shown


def test_gives_a_client_the_same(tools, folder):
    make_database(tools, folder, CITIES)
    with Terminal(tools, folder, 'joedb_client db.joedb') as t:
        t.expect_prompt()
        t.enter('set limit 1')
        t.type('tra' + TAB + '\n')
        t.expect_prompt()
        assert '… 2 more' in t.enter('table city')
        t.enter('update city 1 name "Porto"')
        assert 'OK: transaction' in t.enter('quit')
        t.enter('db')
        assert 'Did you mean city?' in t.enter('table ctiy')
        t.enter('quit')
        t.type('pull 1000\n')
        t.wait_for_mode(is_editing=False)
        t.type(CTRL_C)
        t.expect('OK: pull 1000')
        t.type('exit\n')
        assert t.end() == 0


def make_editable(tools, folder):
    """A database, and a folder for texts."""
    make_database(tools, folder, 'create_table t\nadd_field t x int32\ninsert_into t 0 5\n')
    texts = os.path.join(folder, 'texts')
    os.mkdir(texts)
    return texts


def test_asks_after_an_error_in_an_edited_text(tools, folder):
    texts = make_editable(tools, folder)
    editor = os.path.join(folder, 'editor')  # the first time it makes an error, and corrects it the second
    with open(editor, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\nif grep -q many "$1"; then sed -i s/many/7/ "$1"; else sed -i "s/ 5/ many/" "$1"; fi\n')
    os.chmod(editor, 0o700)
    environment = {'TMPDIR': texts, 'EDITOR': editor}
    question = '[e]dit again, [q]uit and keep the text'

    with Terminal(tools, folder, 'joedb_edit db.joedb', **environment) as t:
        t.expect(question)
        t.type('what?\n')
        t.expect(question)
        t.type('q\n')
        assert t.end() == 1
        kept, = os.listdir(texts)
        assert kept in t.shown, t.shown
    os.remove(os.path.join(texts, kept))
    with Terminal(tools, folder, 'joedb_edit db.joedb', **environment) as t:
        assert 'line 11: x: int32 expected, got `many`' in t.expect(question)
        t.type('e\n')
        assert t.end() == 0 and '1 value changed' in t.shown, t.shown
    assert not os.listdir(texts), 'a text was left'


def test_keeps_the_text_when_a_signal_ends_an_edit(tools, folder):
    texts = make_editable(tools, folder)
    for signal_name in 'TERM', 'HUP':
        ready, waiting = os.path.join(folder, f'ready{signal_name}'), os.path.join(folder, f'wait{signal_name}')
        os.mkfifo(ready)
        os.mkfifo(waiting)
        process = subprocess.Popen(
            [os.path.join(tools, 'joedb_edit'), 'db.joedb'], cwd=folder,
            env={**os.environ, 'TMPDIR': texts, 'EDITOR': f'echo > {ready}; cat {waiting}; true'})
        # The editor runs, and ends when its pipe does.
        with open(ready, encoding='utf-8') as file:
            file.read()
        assert len(os.listdir(texts)) == 1
        process.send_signal(getattr(signal, 'SIG' + signal_name))
        code = process.wait(PATIENCE)
        kept, = os.listdir(texts)  # the editor may have saved something in it
        with open(os.path.join(texts, kept), encoding='utf-8') as file:
            assert code < 0 and 'table t' in file.read(), f'{signal_name}: {code}'
        os.remove(os.path.join(texts, kept))
        with open(waiting, 'w', encoding='utf-8'):
            pass


if __name__ == '__main__':
    tests = {name: f for name, f in globals().items() if name.startswith('test_')}
    wanted = sys.argv[2:] or list(tests)
    for test in wanted:
        with tempfile.TemporaryDirectory() as place:
            tests[test](os.path.abspath(sys.argv[1]), place)
    print(f'{len(wanted)} tests passed')
