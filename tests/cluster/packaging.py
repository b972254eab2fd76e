#!/usr/bin/env python3
"""The servers of packaging/nats/ on one machine: what docs/cluster.md promises about users and TLS.

usage: packaging.py TOOLS_DIR          (exit code 77: no nats-server that syncs, or no openssl)
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import servers  # noqa: E402 (from this folder)

TEMPLATE = HERE.parents[1] / 'packaging' / 'nats' / 'nats-server.conf'
CERTIFICATES = '''
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority \
    -keyout ca.key -out ca.crt
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server -keyout server.key -out request
echo subjectAltName=IP:127.0.0.1 > extensions
openssl x509 -req -in request -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out server.crt
'''
NAMES = 'abc'


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
        return text

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

    def url(self, user):
        hosts = ','.join(f'127.0.0.1:{port}' for port in self.clients)
        password = f':PASSWORD-OF-{user.upper()}@' if user else ''
        return f'tls://{user}{password}{hosts}/city'


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
    def options(cls, user):
        machines = cls.machines
        return ['--authority', machines.authority, '--monitor', machines.monitor, machines.url(user)]

    @classmethod
    def nats(cls, command, user):
        return cls.run_tool('joedb', 'nats', command, *cls.options(user))

    def write(self, user, file):
        return self.run_tool('joedb_client', '--new', file, 'nats', *self.options(user),
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
