#!/usr/bin/env python3
"""The servers of packaging/nats/ on one machine: what docs/cluster.md promises about users and TLS.

usage: packaging.py TOOLS_DIR          (exit code 77: no nats-server that syncs, or no openssl)
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
import nats_client
import servers

TEMPLATE = HERE.parents[1] / 'packaging' / 'nats' / 'nats-server.conf'
CERTIFICATES = '''
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority \
    -keyout ca.key -out ca.crt
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server -keyout server.key -out request
echo subjectAltName=IP:127.0.0.1 > extensions
openssl x509 -req -in request -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out server.crt
'''
NAMES = 'abc'

# What a reader may ask, and all forms of a request for a consumer.
READS = 'INFO', 'STREAM.INFO.{}', 'STREAM.MSG.GET.{}', 'DIRECT.GET.{}'
CONSUMERS = ('CONSUMER.CREATE.{}', 'CONSUMER.CREATE.{}.spy', 'CONSUMER.CREATE.{}.spy.joedb.>',
             'CONSUMER.DURABLE.CREATE.{}.spy')
OF_CONSUMERS = 'CONSUMER.LIST.{}', 'CONSUMER.NAMES.{}', 'CONSUMER.INFO.{}.spy', 'CONSUMER.MSG.NEXT.{}.spy'
# What only an admin may do.
CHANGES = ('STREAM.CREATE.{}_2', 'STREAM.UPDATE.{}', 'STREAM.DELETE.{}', 'STREAM.PURGE.{}', 'STREAM.MSG.DELETE.{}',
           'STREAM.SNAPSHOT.{}', 'STREAM.RESTORE.{}', 'STREAM.LEADER.STEPDOWN.{}', 'STREAM.PEER.REMOVE.{}',
           'META.LEADER.STEPDOWN', 'SERVER.REMOVE', 'ACCOUNT.PURGE.JOURNALS')


def with_another_database(text):
    """Accounts of a writer and a reader of the database town, as the template says."""
    def account(name):
        block = re.search(rf'^  {name} \{{\n.*?^  \}}\n', text, re.MULTILINE | re.DOTALL)[0]
        for old, new in ((name, f'TOWN_{name}'), ('user: ', 'user: town_'), ('PASSWORD-OF-', 'PASSWORD-OF-TOWN_'),
                         ('subject: "joedb.>"', 'subject: "joedb.town.>"'), ('.*" }', '.joedb_town" }')):
            block = block.replace(old, new)
        return block
    return text.replace('accounts {\n', 'accounts {\n' + account('WRITERS') + account('READERS'))


class Three_Machines:
    """Each has the template, with its own addresses and folders in the place of those of a machine."""

    def __init__(self, program, folder):
        self.program, self.folder, self.processes = program, pathlib.Path(folder), []
        subprocess.run(['sh', '-ec', CERTIFICATES], cwd=folder, check=True, capture_output=True)
        ports = servers.free_ports([0] * 9)
        self.clients, self.routes, self.monitors = ports[:3], ports[3:6], ports[6:]
        self.authority = str(self.folder / 'ca.crt')
        self.monitor = ','.join(f'http://127.0.0.1:{port}' for port in self.monitors)

    def configuration(self, i):
        words = {'0.0.0.0:4222': f'127.0.0.1:{self.clients[i]}', '0.0.0.0:6222': f'127.0.0.1:{self.routes[i]}',
                 '0.0.0.0:8222': f'127.0.0.1:{self.monitors[i]}', '/etc/joedb-nats': str(self.folder),
                 '/var/lib/joedb-nats': str(self.folder / NAMES[i]),
                 **{f'{name}.example.net:6222': f'127.0.0.1:{port}' for name, port in zip(NAMES, self.routes)}}
        text = TEMPLATE.read_text(encoding='utf-8')
        for old, new in words.items():
            assert old in text, old
            text = text.replace(old, new)
        return with_another_database(text)

    def start(self):
        for i, name in enumerate(NAMES):
            path = self.folder / f'{name}.conf'
            path.write_text(self.configuration(i), encoding='utf-8')
            with open(self.folder / f'{name}.log', 'wb') as log:
                self.processes.append(subprocess.Popen(
                    [*servers.mortal(), self.program, '-c', str(path)], env={**os.environ, 'NATS_NAME': name},
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()

    def connect(self, user):
        return nats_client.Nats_Client(self.clients[0], user, f'PASSWORD-OF-{user.upper()}', self.authority)

    def url(self, user, stream='', database='city'):
        hosts = ','.join(f'127.0.0.1:{port}' for port in self.clients)
        password = f':PASSWORD-OF-{user.upper()}@' if user else ''
        return f'tls://{user}{password}{hosts}/{database}' + (f'?stream={stream}' if stream else '')


class Packaging(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = os.path.abspath(sys.argv[1])
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.machines = Three_Machines(servers.nats_server.find(), cls.folder.name)
        cls.addClassCleanup(cls.machines.stop)
        cls.machines.start()
        for _ in range(20):  # until the servers have found each other
            done = cls.nats('create', 'admin')
            if done.returncode == 0:
                return
        raise AssertionError(done.stdout)

    @classmethod
    def run_tool(cls, *words, text=''):
        return subprocess.run([os.path.join(cls.tools, words[0]), *words[1:]], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd=cls.folder.name, timeout=120)

    @classmethod
    def options(cls, user, **url):
        machines = cls.machines
        return ['--authority', machines.authority, '--monitor', machines.monitor, machines.url(user, **url)]

    @classmethod
    def nats(cls, command, user, **url):
        return cls.run_tool('joedb', 'nats', command, *cls.options(user, **url))

    def write(self, user, file, database='city'):
        return self.run_tool('joedb_client', '--new', file, 'nats', *self.options(user, database=database),
                             text='transaction\ncomment "by the writer"\nquit\n')

    def test_what_is_acknowledged_survives_a_power_cut(self):
        status = self.nats('status', 'reader')
        self.assertEqual(status.returncode, 0, status.stdout)
        self.assertIn('survives a power cut of all machines', status.stdout)

    def test_a_writer_writes_and_a_reader_reads(self):
        written = self.write('writer', 'writer.joedb')
        self.assertEqual(written.returncode, 0, written.stdout)
        read = self.run_tool('joedb_client', '--new', 'reader.joedb', 'nats', *self.options('reader'), text='pull\n')
        self.assertEqual(read.returncode, 0, read.stdout)
        dump = self.run_tool('joedb_logdump', 'reader.joedb')
        self.assertIn('by the writer', dump.stdout)
        self.assertEqual(self.nats('verify', 'reader').returncode, 0)

    def pull(self, user, **url):
        """What a new client of this user has then, as text."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, 'copy.joedb')
            pulled = self.run_tool('joedb_client', '--new', file, 'nats', *self.options(user, **url), text='pull\n')
            self.assertEqual(pulled.returncode, 0, pulled.stdout)
            return self.run_tool('joedb_logdump', file).stdout

    def mirror(self):
        """The name of a mirror of the journal."""
        if not hasattr(type(self), 'has_mirror'):
            made = self.nats('mirror', 'admin', stream='city_d')
            self.assertEqual(made.returncode, 0, made.stdout)
            type(self).has_mirror = True
        return 'city_d'

    @contextlib.contextmanager
    def nothing_changes(self):
        """Around an attack: then all streams are what they were, and the journal can be written and read."""
        def look(admin):
            found = admin.api('STREAM.LIST')['streams']
            return {stream['config']['name']: [stream['config'], stream['created']] + (
                [] if 'mirror' in stream else [stream['state']['first_seq'], stream['state']['last_seq']])
                    for stream in found}

        self.mirror()
        with self.machines.connect('admin') as admin:
            before = look(admin)
            yield before['joedb_city'][0]['subjects'][0]
            self.assertEqual(look(admin), before)
        written = self.write('writer', f'{self.id()}.joedb')
        self.assertEqual(written.returncode, 0, written.stdout)
        self.assertIn('by the writer', self.pull('reader'))
        verified = self.nats('verify', 'admin')
        self.assertEqual(verified.returncode, 0, verified.stdout)

    def attack(self, user, subject):
        """Tries to send something to a subject of a journal: as a message, as an answer, as what a consumer
        delivers, and as a trace of a message. `user` may know all names."""
        with self.machines.connect(user) as attacker:
            def attempt(*words, **more):
                with contextlib.suppress(nats_client.Refused):
                    attacker.publish(*words, **more)
                    attacker.flush()

            attempt(subject, b'no journal')
            for stream in 'joedb_city', self.mirror():
                for what in READS + CONSUMERS + OF_CONSUMERS:
                    attempt('$JS.API.' + what.format(stream), b'{"seq":1}', reply=subject)
                    attempt('$JS.API.' + what.format(stream), b'', reply=subject)
                for what in READS:
                    attempt('$JS.API.' + what.format(stream), b'', headers={'Nats-Trace-Dest': subject})
                for what in CONSUMERS:
                    # A heartbeat is a message, too.
                    config = {'deliver_subject': subject, 'ack_policy': 'none', 'idle_heartbeat': 100_000_000}
                    config |= {'durable_name': 'spy'} if 'DURABLE' in what else {'name': 'spy'} if 'spy' in what else {}
                    config |= {'filter_subject': 'joedb.>'} if '>' in what else {}
                    with contextlib.suppress(nats_client.Refused):
                        answer = attacker.api(what.format(stream), {'stream_name': stream, 'config': config})
                        self.assertIn('error', answer, what)

    def test_a_reader_writes_to_no_journal(self):
        with self.nothing_changes() as subject:
            self.attack('reader', subject)

    def test_users_of_another_database_write_to_no_journal_of_this_one(self):
        made = self.nats('create', 'admin', database='town')
        self.assertEqual(made.returncode, 0, made.stdout)
        written = self.write('town_writer', 'town.joedb', 'town')
        self.assertEqual(written.returncode, 0, written.stdout)
        self.assertIn('by the writer', self.pull('town_reader', database='town'))
        with self.nothing_changes() as subject:
            for user in 'town_reader', 'town_writer':
                self.attack(user, subject)
        for user in 'town_reader', 'town_writer':
            with self.machines.connect(user) as attacker:
                self.assertRaises(nats_client.Refused, attacker.api, 'STREAM.INFO.joedb_city')

    def test_nobody_but_an_admin_removes_a_journal_by_an_answer_of_the_servers(self):
        with self.nothing_changes():
            for user in 'reader', 'writer':
                for change in 'STREAM.DELETE', 'STREAM.PURGE', 'STREAM.LEADER.STEPDOWN':
                    self.attack(user, f'$JS.API.{change}.joedb_city')

    def test_readers_and_writers_cannot_make_change_or_remove_a_journal(self):
        with self.nothing_changes():
            for user in 'reader', 'writer':
                for change in CHANGES:
                    with self.subTest(user=user, change=change), self.machines.connect(user) as attacker:
                        self.assertRaises(nats_client.Refused, attacker.api, change.format('joedb_city'))

    def test_a_reader_hears_neither_messages_nor_answers_of_others(self):
        with self.machines.connect('reader') as spy:
            for subject in '>', 'joedb.>', '$JS.>', '$SYS.>':
                spy.subscribe(subject)
                self.assertRaises(nats_client.Refused, spy.flush)
            spy.subscribe('_INBOX.>')
            spy.flush()
            self.assertEqual(self.write('writer', 'heard.joedb').returncode, 0)
            spy.flush()
            self.assertEqual(spy.messages, [])

    def test_a_reader_reads_a_mirror(self):
        self.assertEqual(self.write('writer', 'mirrored.joedb').returncode, 0)
        self.assertIn('by the writer', self.pull('reader', stream=self.mirror()))
        status = self.nats('status', 'reader', stream=self.mirror())
        self.assertEqual(status.returncode, 0, status.stdout)

    def test_a_reader_is_told_which_message_is_missing(self):
        with self.machines.connect('admin') as admin:
            made = admin.api('STREAM.CREATE.holes', {
                'name': 'holes', 'mirror': {'name': 'joedb_city'}, 'num_replicas': 3, 'storage': 'file',
                'retention': 'limits', 'discard': 'new', 'allow_direct': True})
            self.assertNotIn('error', made)
            self.assertEqual(self.write('writer', 'holes.joedb').returncode, 0)
            last = admin.api('STREAM.INFO.joedb_city')['state']['last_seq']
            end = time.monotonic() + 60
            while admin.api('STREAM.INFO.holes').get('state', {}).get('last_seq', 0) < last:
                self.assertLess(time.monotonic(), end, 'the mirror does not follow')
            self.assertIn('by the writer', self.pull('reader', stream='holes'))
            self.assertTrue(admin.api('STREAM.MSG.DELETE.holes', {'seq': 2})['success'])
            verified = self.nats('verify', 'reader', stream='holes')
            self.assertEqual(verified.returncode, 1, verified.stdout)
            self.assertIn('message 2', verified.stdout)
            self.assertTrue(admin.api('STREAM.DELETE.holes')['success'])

    def test_without_a_user_nothing_is_allowed(self):
        refused = self.nats('status', '')
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn('check user, password', refused.stdout)

    def test_a_client_that_does_not_know_the_authority_refuses_the_servers(self):
        refused = self.run_tool('joedb', 'nats', 'status', self.machines.url('reader'))
        self.assertEqual(refused.returncode, 1, refused.stdout)


if __name__ == '__main__':
    server = servers.nats_server.find()
    if not server or not servers.nats_server.is_recommended(server) or not shutil.which('openssl'):
        print(f'skipped: openssl and a nats-server that syncs are needed; {servers.nats_server.HOW_TO_GET_ONE}')
        sys.exit(servers.SKIPPED)
    unittest.main(argv=sys.argv[:1])
