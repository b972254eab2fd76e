#!/usr/bin/env python3
"""The tools with a journal on a cluster of three NATS servers, as users run them.

usage: tools_test.py TOOLS_DIR [TEST...]          (exit code 77: there is no nats-server)
"""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import servers

PATIENCE = 40  # seconds that anything may take
# Of a joedb file: what follows is the same in all copies.
HEADER = 41
SCHEMA = 'create_table person\nadd_field person name string\n'


def wait_for(condition, message):
    """Polls until condition() is true, and returns what it is."""
    end = time.monotonic() + PATIENCE
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(message() if callable(message) else message)
        time.sleep(0.02)


class Process:
    """A tool that runs in the background."""

    def __init__(self, folder, command):
        self.files = [tempfile.TemporaryFile('w+', dir=folder) for _ in range(2)]
        self.process = subprocess.Popen([*servers.mortal(), *command], cwd=folder, text=True, stdin=subprocess.PIPE,
                                        stdout=self.files[0], stderr=self.files[1])

    def write(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def text(self):
        """Standard output, then standard error, as far as they are."""
        return ''.join(os.pread(file.fileno(), 1 << 20, 0).decode() for file in self.files)

    def is_running(self):
        return self.process.poll() is None

    def wait_for(self, pattern):
        return wait_for(lambda: re.search(pattern, self.text()) or not self.is_running() and self.refuse(pattern),
                        lambda: self.refuse(pattern))

    def refuse(self, pattern):
        raise AssertionError(f'no {pattern!r} in:\n{self.text()}')

    def finish(self):
        """Closes its input. Returns the exit code."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def end(self, number=signal.SIGKILL):
        if self.is_running():
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        for file in self.files:
            file.close()
        return code


class Story(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cluster = servers.Cluster(folder.name)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.cluster.wait_until_ready()

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = os.path.realpath(directory.name)
        self.database = self.id().rpartition('.')[2].removeprefix('test_')
        self.url = self.cluster.url(self.database)
        self.monitor = '--monitor', self.cluster.monitor()

    # ---- tools

    def path(self, name):
        return os.path.join(self.folder, name)

    def content(self, name):
        return pathlib.Path(self.path(name)).read_bytes()

    def command(self, words):
        return [os.path.join(TOOLS, words[0]), *words[1:]]

    def run_tool(self, *words, text='', code=0):
        """What it prints, without what is another in each run."""
        done = subprocess.run(self.command(words), cwd=self.folder, input=text, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stdout)
        return self.short(done.stdout)

    def short(self, text):
        return text.replace(self.url, 'URL').replace(self.folder, 'FOLDER')

    def start(self, *words):
        process = Process(self.folder, self.command(words))
        self.addCleanup(process.end)
        return process

    def nats(self, command, *words, url='', options=(), **settings):
        return self.run_tool('joedb', 'nats', command, *options, *self.monitor, url or self.url, *words, **settings)

    def client(self, file, text, *words, code=0, url=''):
        return self.run_tool('joedb_client', '--shared', file, *self.monitor, *words, url or self.url, text=text,
                             code=code)

    def open_client(self, file, *words, log=()):
        return self.start('joedb_client', *log, '--shared', file, *self.monitor, *words, self.url)

    def create(self):
        self.nats('create')
        self.client('first.joedb', f'transaction\n{SCHEMA}quit\n')

    def insert(self, file, *rows, **settings):
        return self.client(file, ''.join(f'transaction\n{self.row(*row)}quit\n' for row in enumerate_rows(rows)),
                           **settings)

    @staticmethod
    def row(number, name):
        return f'insert_into person {number} "{name}"\n'

    def names(self, file, **settings):
        """Those that a client reads, which pulls first."""
        return names_of(self.client(file, 'pull\ndb\ntable person\nquit\n', **settings))

    def names_of_file(self, file):
        return names_of(self.run_tool('joedbi', '--read', file, text='table person\n'))

    def assert_same(self, one, other):
        self.assertEqual(self.content(one)[HEADER:], self.content(other)[HEADER:])

    # ---- servers

    def restart_later(self):
        """At the end of the test, all servers run."""
        def restart():
            for server in self.cluster.servers:
                if not server.is_running():
                    server.start()
            self.cluster.wait_until_ready()
        self.addCleanup(restart)

    def leader(self):
        return wait_for(lambda: self.cluster.leader(f'joedb_{self.database}'), 'the stream has no leader')

    def promise(self):
        if self.cluster.syncs:
            return 'survives a power cut of all machines: 3 replicas; all servers sync before they acknowledge'
        return 'survives the loss of a machine, not a power cut of all: 3 replicas; '


def enumerate_rows(rows):
    """Ada, (5, Bob) -> (0, Ada), (5, Bob)"""
    return [row if isinstance(row, tuple) else (i, row) for i, row in enumerate(rows)]


def names_of(text):
    return re.findall(r'^ *\d+ +"([^"]*)"', text, re.M)


# ---- one journal

class Journal(Story):
    def test_create_status_verify(self):
        made = self.nats('create')
        self.assertIn(f'made URL; what is acknowledged {self.promise()}', made)
        self.assertIn('\nUse it: joedb_client FILE URL\n', made)
        self.assertEqual(self.nats('verify'), 'URL: good: 1 messages, 0 pushes, positions 41 to 41\n')
        self.client('a.joedb', f'transaction\n{SCHEMA}quit\n')
        shown = self.nats('status')
        self.assertRegex(shown, r'^URL\n'
                         r'  journal     checkpoint 66\n'
                         r'  messages    1 to 3, \d+ bytes\n'
                         r'  servers     3 replicas; leader n\d(; n\d (current|\d+ operations behind)){2}\n'
                         rf'  durability  what is acknowledged {self.promise()}.*\n'
                         r'  lock        free\n$')
        status = json.loads(self.nats('status', options=['--json']))
        self.assertEqual((status['checkpoint'], status['first'], status['last'], status['missing'], status['replicas'],
                          status['durability'], status['lock'], status['archive'], status['atomic']),
                         (66, 1, 3, 0, 3, 'power' if self.cluster.syncs else 'machine', '', '', self.cluster.syncs))
        self.assertEqual({status['leader'], *(each['name'] for each in status['followers'])}, {'n1', 'n2', 'n3'})
        self.assertEqual(self.nats('verify', 'a.joedb'),
                         'URL: good: 3 messages, 1 pushes, positions 41 to 66\n'
                         'the same as the file up to position 66\n')
        self.assertEqual(json.loads(self.nats('verify', 'a.joedb', options=['--json'])),
                         {'first': 1, 'messages': 3, 'pushes': 1, 'abandoned_pieces': 0, 'damaged': 0, 'start': 41,
                          'checkpoint': 66, 'compared': 66})
        again = self.nats('create', code=1)
        self.assertEqual(again, 'joedb nats: URL has a journal already\n')
        self.run_tool('joedbi', '--new', 'other.joedb', text='create_table city\nadd_field city name string\n')
        self.assertEqual(self.nats('verify', 'other.joedb', code=1),
                         'joedb nats: other.joedb and URL have diverged\n')
        self.assertEqual(self.nats('verify', 'nothing.joedb', code=1),
                         'joedb nats: nothing.joedb: No such file or directory\n')

    def test_a_database_that_is_not_there(self):
        hint = ('URL: there is no stream joedb_a_database_that_is_not_there: `joedb nats create URL` makes it. '
                'If there was one: docs/cluster.md, Repair\n')
        self.assertEqual(self.nats('status', code=1), f'joedb nats: {hint}')
        self.assertEqual(self.nats('verify', code=1), f'joedb nats: {hint}')
        self.assertEqual(self.client('a.joedb', '', code=1), f'joedb_client: {hint}')

    def test_no_server_is_there(self):
        port, = servers.free_ports([0])
        url = f'nats://127.0.0.1:{port}/city'
        start = time.monotonic()
        for command in 'status', 'create', 'verify', 'mirror':
            words = [url + ('?stream=copy' if command == 'mirror' else '')]
            self.assertIn('no server can be used', self.run_tool('joedb', 'nats', command, *words, code=1))
        self.assertIn('no server can be used', self.client('a.joedb', '', url=url, code=1))
        self.assertLess(time.monotonic() - start, 10)

    def test_what_is_required_must_be_promised(self):
        self.nats('create')
        port, = servers.free_ports([0])
        refused = self.run_tool('joedb_client', '--new', 'a.joedb', '--monitor', str(port), '--require', 'power',
                                self.url, code=1)
        self.assertRegex(refused, r'^joedb_client: URL does not promise what is required: what is acknowledged '
                         r'survives the loss of a machine, not a power cut of all: .*no answer at the monitoring port')
        self.assertFalse(os.path.exists(self.path('a.joedb')) and os.path.getsize(self.path('a.joedb')))
        code = 0 if self.cluster.syncs else 1
        self.client('b.joedb', 'pull\n', '--require', 'power', code=code)
        self.client('c.joedb', 'pull\n', '--require', 'machine')
        self.nats('status', options=['--require', 'power'], code=code)
        self.assertIn('does not promise what is required',
                      self.run_tool('joedb', 'nats', 'status', '--monitor', str(port), '--require', 'power', self.url,
                                    code=1))
        self.assertIn('--require', self.nats('verify', options=['--require', 'power'], code=2))

    def test_clients_see_what_others_write(self):
        self.create()
        self.insert('ada.joedb', 'Ada')
        self.insert('bob.joedb', (1, 'Bob'))
        self.assertEqual(self.names('ada.joedb'), ['Ada', 'Bob'])
        self.assertEqual(self.names('bob.joedb'), ['Ada', 'Bob'])
        self.assert_same('ada.joedb', 'bob.joedb')
        # One that waits for what comes next.
        reader = self.open_client('reader.joedb')
        reader.write('pull\n')
        reader.wait_for('OK: pull')
        reader.write('pull 30\ndb\ntable person\nquit\nquit\n')
        self.insert('ada.joedb', (2, 'Cid'))
        self.assertEqual(reader.finish(), 0)
        self.assertEqual(names_of(reader.text()), ['Ada', 'Bob', 'Cid'], reader.text())

    def test_who_waits_for_the_lock_knows_who_has_it(self):
        self.create()
        holder = self.open_client('ada.joedb')
        holder.write('transaction\n' + self.row(0, 'Ada'))
        holder.wait_for('OK: insert_into')
        self.assertRegex(self.nats('status'), rf'lock        of process {holder.process.pid} on ')
        waiter = self.open_client('bob.joedb')
        waiter.write('transaction\n' + self.row(1, 'Bob') + 'quit\n')
        waiter.wait_for(rf'waiting for the lock, which process {holder.process.pid} on \S+ has\. It is free when')
        holder.write('quit\n')
        self.assertEqual((holder.finish(), waiter.finish()), (0, 0))
        self.assertEqual(self.names('cid.joedb'), ['Ada', 'Bob'])

    def test_a_killed_holder_loses_the_lock_after_its_lease(self):
        self.create()
        holder = self.open_client('ada.joedb', '--lease', '1.5')
        holder.write('transaction\n' + self.row(0, 'Ada'))
        holder.wait_for('OK: insert_into')
        holder.end()
        start = time.monotonic()
        self.assertIn('waiting for the lock', self.insert('bob.joedb', 'Bob'))
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(self.names('cid.joedb'), ['Bob'])
        # What it has not ended did not happen, there either.
        self.client('ada.joedb', 'pull\n')
        self.assertEqual(self.names('ada.joedb'), ['Bob'])
        self.assert_same('ada.joedb', 'bob.joedb')

    def test_a_holder_that_hangs_cannot_write_when_it_goes_on(self):
        self.create()
        holder = self.open_client('ada.joedb', '--lease', '1.5')
        holder.write('transaction\n' + self.row(0, 'Ada'))
        holder.wait_for('OK: insert_into')
        holder.process.send_signal(signal.SIGSTOP)
        self.insert('bob.joedb', 'Bob')
        holder.process.send_signal(signal.SIGCONT)
        holder.write('quit\n')
        self.assertEqual(holder.finish(), 1, holder.text())
        self.assertEqual(self.names('cid.joedb'), ['Bob'])

    def test_large_pushes_arrive_whole(self):
        self.nats('create')
        source = random.Random(1)
        blobs = [source.randbytes(17 << 20).hex(), source.randbytes(16 << 20).hex()]  # more than one batch has
        self.client('a.joedb', 'transaction\n' + ''.join(f'write_blob "{blob}"\n' for blob in blobs) + 'quit\n')
        self.client('b.joedb', 'pull\n')
        content = self.content('b.joedb')
        self.assertEqual(content[HEADER:], self.content('a.joedb')[HEADER:])
        self.assertTrue(all(blob.encode() in content for blob in blobs))
        self.assertIn(', 1 pushes, ', self.nats('verify', 'b.joedb'))

    def test_joedb_push_fills_a_journal(self):
        self.nats('create')
        self.run_tool('joedbi', '--new', 'old.joedb', text=SCHEMA + self.row(0, 'Ada') + self.row(1, 'Bob'))
        pushed = self.run_tool('joedb_push', '--json', 'old.joedb', 'nats', *self.monitor, self.url)
        size = len(self.content('old.joedb'))
        self.assertEqual(json.loads(pushed.splitlines()[-1]), {'pushed': size - HEADER, 'checkpoint': size})
        self.assertEqual(self.names('new.joedb'), ['Ada', 'Bob'])
        self.assert_same('old.joedb', 'new.joedb')
        # One with another history is refused, and nothing changes, also where it has less.
        self.run_tool('joedbi', '--new', 'small.joedb', text='create_table city\n')
        refused = self.run_tool('joedb_push', 'small.joedb', 'nats', *self.monitor, self.url, code=1)
        self.assertIn('diverged', refused)
        self.assertIn('have diverged: --replace', self.nats('repair', 'small.joedb', code=1))
        self.run_tool('joedbi', '--new', 'other.joedb',
                      text='create_table city\n' + SCHEMA + ''.join(self.row(i, 'Eve') for i in range(9)))
        refused = self.run_tool('joedb_push', 'other.joedb', 'nats', *self.monitor, self.url, code=1)
        self.assertIn('diverged', refused)
        self.assertEqual(self.names('new.joedb'), ['Ada', 'Bob'])


# ---- archives, mirrors

class Copies(Story):
    def test_archive(self):
        self.create()
        behind, up_to_date = 'behind.joedb', 'up_to_date.joedb'
        self.insert(behind, 'Ada')
        self.insert(up_to_date, (1, 'Bob'), (2, 'Cid'))
        self.run_tool('joedb_push', up_to_date, 'file', 'archive.joedb')
        self.insert(up_to_date, (3, 'Dan'))
        last = json.loads(self.nats('status', options=['--json']))['last']
        # It goes on all the time.
        running = self.open_client(up_to_date)
        running.write('pull\n')
        running.wait_for('OK: pull')
        self.assertRegex(self.nats('archive', 'archive.joedb'),
                         r'^URL: what is before position \d+ is in FOLDER/archive\.joedb; the first message is \d+\n$')
        status = json.loads(self.nats('status', options=['--json']))
        self.assertEqual((status['archive'], status['archive_end'], status['missing'], status['last']),
                         ('FOLDER/archive.joedb', len(self.content('archive.joedb')), 0, last + 1))
        self.assertGreater(status['first'], 1)

        running.write('transaction\n' + self.row(4, 'Eva') + 'quit\n')
        self.assertEqual(running.finish(), 0)
        everybody = ['Ada', 'Bob', 'Cid', 'Dan', 'Eva']
        self.assertEqual(self.names(behind), everybody)
        self.assertEqual(self.names('new.joedb'), everybody)
        self.assert_same('new.joedb', up_to_date)
        self.assertEqual(names_of(self.client('own.joedb', 'transaction\ntable person\nquit\n')), everybody)

        os.rename(self.path('archive.joedb'), self.path('moved.joedb'))
        refused = self.client('lost.joedb', 'pull\n', code=1)
        self.assertRegex(refused, r'URL begins behind position 41; what is before was moved to the archive '
                         r'FOLDER/archive\.joedb: .*No such file or directory\. Copy that file, and use the copy')
        # That is what to do.
        shutil.copy(self.path('moved.joedb'), self.path('copy.joedb'))
        self.assertEqual(self.names('copy.joedb'), everybody)
        self.assertEqual(self.names(up_to_date), everybody)  # these need none
        good = self.content('moved.joedb')
        pathlib.Path(self.path('archive.joedb')).write_bytes(good[:60] + b'?' + good[61:])
        self.assertRegex(self.client('lost.joedb', 'pull\n', code=1),
                         r'URL: the archive of what is before position \d+, FOLDER/archive\.joedb, is damaged')
        os.rename(self.path('moved.joedb'), self.path('archive.joedb'))
        self.assertEqual(self.names('lost.joedb'), everybody)

        self.assertRegex(self.nats('verify', up_to_date), r'^URL: good: .*\nthe same as the file up to position \d+\n$')
        self.assertRegex(self.nats('verify', code=1), r'^joedb nats: URL was shortened and begins at position \d+: '
                         r'name a file that has what is before, to compare with\n$')

    def test_a_second_archive(self):
        self.create()
        for i, name in enumerate(['one', 'two']):
            self.insert('a.joedb', (i, name))
            self.run_tool('joedb_push', 'a.joedb', 'file', f'{name}.joedb')
            self.nats('archive', f'{name}.joedb')
        self.insert('a.joedb', (2, 'three'))
        status = json.loads(self.nats('status', options=['--json']))
        self.assertEqual(status['archive'], 'FOLDER/two.joedb')
        os.remove(self.path('one.joedb'))
        self.assertEqual(self.names('new.joedb'), ['one', 'two', 'three'])
        self.assertEqual(self.names('first.joedb'), ['one', 'two', 'three'])
        self.assert_same('new.joedb', 'a.joedb')
        self.nats('verify', 'new.joedb')
        # The first one again has nothing more.
        shutil.copy(self.path('first.joedb'), self.path('old.joedb'))
        self.run_tool('joedb_push', '--check', 'none', 'two.joedb', 'file', 'again.joedb')
        self.nats('archive', 'again.joedb')
        self.assertEqual(self.names('newer.joedb'), ['one', 'two', 'three'])

    def test_an_archive_that_is_no_copy_is_refused(self):
        self.create()
        self.insert('a.joedb', 'Ada', (1, 'Bob'))
        self.run_tool('joedbi', '--new', 'other.joedb', text=SCHEMA + self.row(0, 'Eve') + self.row(1, 'Bob'))
        before = json.loads(self.nats('status', options=['--json']))
        self.assertEqual(self.nats('archive', 'other.joedb', code=1),
                         'joedb nats: other.joedb and URL have diverged: nothing was removed\n')
        after = json.loads(self.nats('status', options=['--json']))
        self.assertEqual(after, {**before, 'leader': after['leader'], 'followers': after['followers']})
        self.assertEqual(self.names('new.joedb'), ['Ada', 'Bob'])

    def test_mirror(self):
        self.create()
        self.insert('a.joedb', 'Ada')
        mirror = f'{self.url}?stream=copy_of_mirror'
        self.assertEqual(self.nats('mirror', url=mirror), 'made URL?stream=copy_of_mirror\n')
        self.assertIn('needs the name of the mirror', self.nats('mirror', code=2))
        reader = self.start('joedb_client', '--shared', 'reader.joedb', *self.monitor, mirror)
        reader.write('pull\n')
        reader.wait_for('OK: pull')
        self.insert('a.joedb', (1, 'Bob'))
        reader.write('pull 30\ndb\ntable person\nquit\n')
        reader.wait_for('OK: db')
        self.assertEqual(names_of(reader.text()), ['Ada', 'Bob'])
        reader.write('transaction\n')
        reader.finish()
        self.assertRegex(reader.text(), r'can only be (pulled from|read)|Unknown command|unknown command')
        self.assertEqual(self.names_of_file('reader.joedb'), ['Ada', 'Bob'])
        refused = self.run_tool('joedb_push', 'a.joedb', 'nats', *self.monitor, mirror, code=1)
        self.assertIn('can only be pulled from', refused)
        self.assertRegex(self.nats('status', url=mirror), r'mirror      of joedb_mirror, 0 messages behind')
        self.nats('verify', 'a.joedb', url=mirror)


# ---- servers that end

class Disasters(Story):
    def setUp(self):
        super().setUp()
        self.restart_later()

    def lose_all_disks(self):
        for server in self.cluster.servers:
            server.kill()
            shutil.rmtree(server.store)
        self.cluster.start()
        self.cluster.wait_until_ready()

    def test_repair(self):
        self.create()
        self.insert('a.joedb', 'Ada', (1, 'Bob'))
        self.run_tool('joedb_push', 'a.joedb', 'file', 'short.joedb')
        self.insert('a.joedb', (2, 'Cid'))
        shutil.copy(self.path('a.joedb'), self.path('b.joedb'))
        connected = self.open_client('connected.joedb')
        connected.write('pull\n')
        connected.wait_for('OK: pull')

        self.lose_all_disks()
        hint = 'there is no stream joedb_repair: `joedb nats create URL` makes it'
        self.assertIn(hint, self.nats('status', code=1))
        # A client that was connected says so, too, and loses nothing.
        connected.write('transaction\n')
        connected.wait_for(r'Error: .*joedb_repair')

        self.assertRegex(self.nats('repair', 'short.joedb'), r'^URL: checkpoint 100, 59 bytes were pushed\n$')
        self.assertIn('positions 41 to 100\n', self.nats('verify', 'short.joedb'))
        # A copy that has more gives the rest.
        self.assertIn('(push to sync)', self.run_tool('joedb_client', '--classic', 'a.joedb', *self.monitor, self.url))
        self.client('a.joedb', 'push\n')
        self.assertEqual(self.names('new.joedb'), ['Ada', 'Bob', 'Cid'])
        self.assertIn('the same as the file', self.nats('verify', 'a.joedb'))
        refused = self.nats('repair', 'short.joedb', options=['--replace'], code=1)
        self.assertIn('find a copy that has as much', refused)
        self.assertEqual(self.names('b.joedb'), ['Ada', 'Bob', 'Cid'])
        self.assertRegex(self.nats('repair', 'a.joedb'), r'^URL: checkpoint \d+, 0 bytes were pushed\n$')
        self.assertEqual(self.nats('repair', 'a.joedb', options=['--replace']),
                         'URL: checkpoint 116, 75 bytes were pushed\n')
        self.assertEqual(self.names('newer.joedb'), ['Ada', 'Bob', 'Cid'])
        # It has not lost what it has.
        connected.finish()
        self.assertEqual(self.names('connected.joedb'), ['Ada', 'Bob', 'Cid'])
        self.insert('connected.joedb', (3, 'Dan'))
        self.assertEqual(self.names('b.joedb'), ['Ada', 'Bob', 'Cid', 'Dan'])

    def test_repair_by_force(self):
        self.create()
        self.insert('a.joedb', 'Ada')
        self.run_tool('joedb_push', 'a.joedb', 'file', 'short.joedb')
        self.insert('a.joedb', (1, 'Bob'))
        self.assertRegex(self.nats('repair', 'short.joedb', options=['--force']),
                         r'short\.joedb ends at position \d+, and the journal of the cluster at \d+: the difference is '
                         r'lost\n')
        self.assertEqual(self.names('new.joedb'), ['Ada'])

    def test_a_server_that_is_silent(self):
        self.create()
        leader = self.leader()
        silent = next(server for server in self.cluster.servers if server is not leader)
        self.nats('status')
        silent.stop()
        self.addCleanup(silent.resume)

        def status():
            done = subprocess.run(self.command(['joedb', 'nats', 'status', *self.monitor, self.url]),
                                  capture_output=True, text=True, timeout=PATIENCE)
            return done.returncode == 1 and re.search(rf'{silent.name} (SILENT for \d+ s|OFFLINE)', done.stdout)
        wait_for(status, 'the status does not show it')
        if not self.cluster.syncs:
            return
        self.assertIn(f'not known of {silent.name}', self.client('a.joedb', 'pull\n', '--require', 'power', code=1))
        self.assertIn(f'of which {silent.name} is down; the others sync',
                      self.nats('status', options=['--require', 'power', '--require-of', 'running'], code=1))
        self.client('b.joedb', 'pull\n', '--require', 'power', '--require-of', 'running')

    def limit_messages(self, size):
        for server in self.cluster.servers:
            self.cluster.configure(server)
            if size:
                with open(server.folder / 'server.conf', 'a', encoding='utf-8') as file:
                    file.write(f'max_payload: {size}\n')
            server.process.send_signal(signal.SIGHUP)

    def test_the_servers_take_only_smaller_messages(self):
        self.create()
        writer = self.open_client('a.joedb', log=['--verbose'])
        text = 'transaction\n' + f'comment "{"x" * 300_000}"\n' + 'quit\n'
        writer.write(text)
        writer.wait_for('OK: transaction')
        self.addCleanup(self.limit_messages, None)
        self.limit_messages(128 << 10)
        time.sleep(1)  # the servers read their configuration
        writer.write(text + 'quit\n')
        self.assertEqual(writer.finish(), 0, writer.text()[-2000:])
        self.client('b.joedb', 'pull\n')
        self.assert_same('a.joedb', 'b.joedb')
        messages = int(re.search(r'good: (\d+) messages, 3 pushes', self.nats('verify', 'b.joedb'))[1])
        self.assertGreaterEqual(messages, 3 + 2 + 4)  # the last push has three parts

    def test_a_transaction_of_a_copy_that_has_more_pushes_the_rest(self):
        self.create()
        self.insert('a.joedb', 'Ada')
        self.run_tool('joedb_push', 'a.joedb', 'file', 'short.joedb')
        self.insert('a.joedb', (1, 'Bob'))
        connected = self.open_client('connected.joedb')
        connected.write('pull\n')
        connected.wait_for('OK: pull')
        self.lose_all_disks()
        self.nats('repair', 'short.joedb')
        self.insert('b.joedb', (1, 'Eve'))  # a new history begins
        # Those that know the old one are told, and keep it.
        connected.write('transaction\n' + self.row(2, 'Cid') + 'quit\nquit\n')
        self.assertEqual(connected.finish(), 1, connected.text())
        self.assertEqual(self.names_of_file('connected.joedb')[:2], ['Ada', 'Bob'])
        refused = self.insert('a.joedb', (2, 'Dan'), code=1)
        self.assertIn('a.joedb', refused)
        self.assertEqual(self.names_of_file('a.joedb'), ['Ada', 'Bob'])
        self.assertEqual(self.names('b.joedb'), ['Ada', 'Eve'])
        self.assertIn('have diverged', self.nats('repair', 'a.joedb', code=1))

    def test_joedb_server(self):
        self.create()
        self.insert('a.joedb', 'Ada')
        server = self.start('joedb_server', '--verbose', 'served.joedb', *self.monitor, self.url)
        server.wait_for('serving ')
        local = 'local', 'served.joedb.sock'
        reader = self.start('joedb_client', '--new', 'reader.joedb', *local)
        reader.write('pull\n')
        reader.wait_for('OK: pull')
        reader.write('pull 30\n')
        start = time.monotonic()
        self.insert('a.joedb', (1, 'Bob'))
        reader.wait_for('OK: pull 30')
        self.assertLess(time.monotonic() - start, 2)
        self.run_tool('joedb_client', '--new', 'writer.joedb', *local,
                      text='transaction\n' + self.row(2, 'Cid') + 'quit\n')
        self.assertEqual(self.names('a.joedb'), ['Ada', 'Bob', 'Cid'])
        self.leader().kill()
        self.run_tool('joedb_client', 'writer.joedb', *local, text='transaction\n' + self.row(3, 'Dan') + 'quit\n')
        self.insert('a.joedb', (4, 'Eva'))
        everybody = ['Ada', 'Bob', 'Cid', 'Dan', 'Eva']
        reader.write('transaction\ntable person\nquit\nquit\n')
        self.assertEqual(reader.finish(), 0)
        self.assertEqual(names_of(reader.text()), everybody)
        self.assertTrue(server.is_running())
        self.assertEqual(server.end(signal.SIGTERM), 0)

    def test_a_minority_acknowledges_nothing(self):
        self.create()
        writer = self.open_client('a.joedb', log=['--log', 'clog'])
        writer.write('pull\n')
        writer.wait_for('OK: pull')
        first, second, _ = self.cluster.servers
        first.kill()
        second.kill()
        writer.write('transaction\n' + self.row(0, 'Ada') + 'quit\n')
        writer.wait_for('trying again')
        self.assertNotIn('OK: transaction', writer.text())
        first.start()
        writer.wait_for('OK: transaction')
        self.assertEqual(writer.finish(), 0)
        self.assertEqual(self.names('new.joedb'), ['Ada'])
        self.nats('verify', 'a.joedb')
        second.start()


if __name__ == '__main__':
    TOOLS = os.path.abspath(sys.argv[1])
    if not servers.nats_server.find():
        print(f'skipped: {servers.nats_server.HOW_TO_GET_ONE}')
        sys.exit(servers.SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
