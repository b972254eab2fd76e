#!/usr/bin/env python3
"""Servers and clients as users run them: TCP, TLS, tokens, several databases, relays, followers.

usage: servers.py TOOLS_DIR
"""
import json
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = ''
PATIENCE = 20  # seconds that anything may take


class Process:
    """A tool that runs in the background. Its log lines can be waited for."""

    def __init__(self, folder, *words):
        self.process = subprocess.Popen([os.path.join(TOOLS, words[0]), *words[1:]], cwd=folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = []

    def wait_for(self, pattern):
        for line in self.process.stderr:
            self.lines.append(line)
            if match := re.search(pattern, line):
                return match
        raise AssertionError(f'no line {pattern!r} in:\n{"".join(self.lines)}')

    def write(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def read_until(self, text):
        for line in self.process.stdout:
            if text in line:
                return
        raise AssertionError(f'no line {text!r}')

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        return code


class Servers(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name
        self.run_tool('joedbi', '--new', 'city.joedb', text='create_table city\nadd_field city name string\n')

    def path(self, name):
        return os.path.join(self.folder, name)

    def content(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def run_tool(self, *words, text='', code=0):
        result = subprocess.run([os.path.join(TOOLS, words[0]), *words[1:]], cwd=self.folder, input=text, text=True,
                                capture_output=True, timeout=PATIENCE)
        if code is not None:
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def start(self, *words):
        process = Process(self.folder, *words)
        self.addCleanup(process.end)
        return process

    def serve(self, *words):
        server = self.start('joedb_server', '--verbose', *words)
        server.wait_for(r'serving .* at ')
        return server

    def insert(self, name, *connection, code=0, city=0):
        return self.run_tool('joedb_client', 'memory', *connection, code=code,
                             text=f'transaction\ninsert_into city {city}\nupdate city {city} name "{name}"\nquit\n')

    def names(self, *connection):
        return re.findall(r'"(\w+)"', self.run_tool('joedb_client', 'memory', *connection,
                                                     text='pull\ndb\ntable city\nquit\n'))

    # ---- SSH

    def serve_ssh(self):
        server = subprocess.Popen([os.path.join(os.path.dirname(__file__), 'ssh_server.py'), self.folder], text=True,
                                  stdout=subprocess.PIPE)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.ssh_port = server.stdout.readline().strip()
        self.assertRegex(self.ssh_port, r'^\d+$')

    def ssh(self, key='id', known='known_hosts', socket='city.joedb.sock'):
        return ('ssh', '--port', self.ssh_port, '--key', key, '--known_hosts', known, 'ann@127.0.0.1',
                self.path(socket))

    def require_ssh(self):
        if 'without libssh' in self.run_tool('joedb_client', 'memory', 'ssh', 'host', 'socket', code=None):
            self.skipTest('built without libssh')

    def test_a_client_reads_and_writes_through_ssh(self):
        self.require_ssh()
        self.serve('city.joedb')
        self.serve_ssh()
        self.insert('Oslo', *self.ssh())
        self.assertEqual(self.names(*self.ssh()), ['Oslo'])
        # More than the window of the channel.
        big = 'x' * 3_000_000
        self.insert(big, *self.ssh(), city=1)
        self.run_tool('joedb_client', '--new', 'copy.joedb', *self.ssh(), text='pull\nquit\n')
        self.assertTrue(big.encode() in self.content('city.joedb'))
        self.assertTrue(self.content('copy.joedb')[41:] == self.content('city.joedb')[41:])

    def test_ssh_needs_a_known_host_a_key_that_is_let_in_and_a_socket(self):
        self.require_ssh()
        self.serve('city.joedb')
        self.serve_ssh()
        open(self.path('nobody'), 'w').close()
        self.assertIn('is not known yet: log in once', self.insert('x', *self.ssh(known='nobody'), code=1))
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', self.path('other')], check=True)
        self.assertIn('no key of this user lets in there', self.insert('x', *self.ssh(key='other'), code=1))
        client = self.start('joedb_client', '--verbose', 'memory', *self.ssh(socket='no.sock'))
        client.wait_for('there is no server at the socket')
        self.assertIn('not a port: x', self.run_tool('joedb_client', 'memory', 'ssh', '--port', 'x', 'a', 'b', code=2))

    # ---- TCP

    def serve_tls(self, *words):
        self.run_tool('joedb_server', '--init', 'keys')
        server = self.start('joedb_server', '--verbose', '--listen', '127.0.0.1:0', '--certificate', 'keys/server.crt',
                            '--key', 'keys/server.key', '--access', 'keys/access', *words, 'city.joedb')
        self.port = server.wait_for(r'listening at port (\d+)').group(1)
        server.wait_for(r'serving .* at ')
        return server

    def tls(self, token='ann', database='city'):
        return ('--authority', 'keys/server.crt', '--token', f'keys/{token}.token',
                f'joedb://localhost:{self.port}/{database}')

    def add_client(self, name, role):
        text = self.run_tool('joedb_server', '--new_token', f'{name}:{role}')
        line, token = re.search(rf'({name} {role} token \w+ \w+)\n.*\n  ({name}:\w+)', text).groups()
        with open(self.path('keys/access'), 'a') as f:
            f.write(line + '\n')
        self.write_secret(f'keys/{name}.token', token + '\n')

    def write_secret(self, name, text):
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'w') as f:
            f.write(text)

    def raw(self, port=None):
        peer = socket.create_connection(('127.0.0.1', int(port or self.port)), PATIENCE)
        self.addCleanup(peer.close)
        return peer

    def test_a_client_with_a_token_reads_and_writes_over_tls(self):
        self.serve_tls()
        self.insert('Oslo', *self.tls())
        self.assertEqual(self.names(*self.tls()), ['Oslo'])
        self.assertEqual(os.stat(self.path('keys/server.key')).st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(self.path('keys/ann.token')).st_mode & 0o777, 0o600)

    def test_a_log_of_json_objects_names_the_clients(self):
        server = self.serve_tls('--log', 'json')
        self.insert('Oslo', *self.tls())
        server.wait_for('"(disconnected|quits)"')
        events = [json.loads(text) for text in server.lines]
        connected = next(event for event in events if event['event'] == 'connected')
        self.assertEqual((connected['session'], connected['client'], connected['database']), (0, 'ann', 'city'))
        self.assertRegex(connected['time'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$')

    def test_who_shows_nothing_or_something_wrong_is_refused(self):
        self.serve_tls()
        authority, token, address = self.tls()[:2], self.tls()[2:4], self.tls()[4:]
        self.assertIn('unknown name, or wrong token', self.insert('x', *authority, *address, code=1))
        self.assertIn('certificate is not accepted', self.insert('x', *token, *address, code=1))
        self.write_secret('keys/bad.token', 'ann:0000')
        self.assertIn('unknown name, or wrong token', self.insert('x', *self.tls('bad'), code=1))
        self.assertIn('there is no database town', self.insert('x', *self.tls(database='town'), code=1))

    def test_a_client_that_may_only_pull_gets_no_lock(self):
        server = self.serve_tls()
        self.add_client('bob', 'pull')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('were read again')
        self.insert('Oslo', *self.tls())
        self.assertEqual(self.names(*self.tls('bob')), ['Oslo'])
        self.assertIn('unknown command', self.insert('x', *self.tls('bob'), code=1).lower())

    def test_who_is_removed_from_the_list_or_gets_another_line_is_disconnected(self):
        server = self.serve_tls()
        for name in ('bob', 'eve', 'max'):
            self.add_client(name, 'push')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('were read again')
        for name in ('ann', 'bob', 'eve', 'max'):
            client = self.start('joedb_client', 'memory', *self.tls(name))
            server.wait_for(f'connected session=.* client="{name}"')
            if name == 'bob':  # has the lock, for which others wait
                client.write('transaction\nschema\n')
                client.read_until('create_table')
        with open(self.path('keys/access')) as f:
            lines = f.read().splitlines(keepends=True)
        lines = [line.replace('max push', 'max pull') for line in lines if not line.startswith('bob')]
        lines = [line[:-2] + '0123456789abcdef'[line[-2] == '0'] + '\n' if line.startswith('eve') else line
                 for line in lines]  # another token
        with open(self.path('keys/access'), 'w') as f:
            f.writelines(lines)
        server.process.send_signal(signal.SIGHUP)
        ended = {server.wait_for('has lost its access rights session=. client="(.*?)"').group(1) for _ in range(3)}
        self.assertEqual(ended, {'bob', 'eve', 'max'})
        self.insert('Oslo', *self.tls())  # the lock is free
        self.assertIn('unknown name, or wrong token', self.insert('x', *self.tls('bob'), code=1))

    def test_refusals_are_logged_with_address_and_name_but_not_all_of_many(self):
        server = self.serve_tls()
        self.write_secret('keys/bad.token', 'bob:0000')
        self.insert('x', *self.tls('bad'), code=1)
        server.wait_for('was refused address="127.0.0.1" client="bob" error="unknown name')
        for _ in range(100):
            self.raw().close()
        self.insert('Oslo', *self.tls())
        server.wait_for('(disconnected|quits)')
        lines = [line for line in server.lines if 'was refused' in line]
        self.assertLess(len(lines), 30)

    def test_a_secret_that_others_can_read_is_refused(self):
        server = self.serve_tls()
        os.chmod(self.path('keys/ann.token'), 0o644)
        self.assertIn('chmod 600 keys/ann.token', self.insert('x', *self.tls(), code=1))
        self.assertEqual(server.end(), 0)
        os.chmod(self.path('keys/server.key'), 0o644)
        text = self.run_tool('joedb_server', '--listen', '0', '--certificate', 'keys/server.crt', '--key',
                             'keys/server.key', 'city.joedb', code=1)
        self.assertIn('chmod 600 keys/server.key', text)

    def test_a_token_is_not_sent_to_another_machine_without_tls(self):
        self.write_secret('ann.token', 'ann:0000')
        text = self.insert('x', '--token', 'ann.token', 'joedb+tcp://192.0.2.1:1/city', code=1)
        self.assertIn('a token is not sent to another machine', text)
        self.assertIn('the address needs joedb://', text)
        server = self.start('joedb_server', '--verbose', '--listen', '0', 'city.joedb')
        port = server.wait_for(r'listening at port (\d+)').group(1)
        self.insert('Oslo', '--token', 'ann.token', f'joedb+tcp://127.0.0.1:{port}')

    def test_a_session_with_a_client_certificate_is_resumed(self):
        if not shutil.which('openssl'):
            self.skipTest('without the program openssl')
        server = self.serve_with_authority()
        context = ssl.create_default_context(cafile=self.path('keys/server.crt'))
        context.load_cert_chain(self.path('ann.crt'), self.path('ann.key'))
        session = None
        for is_resumed in (False, True, True):
            with context.wrap_socket(self.raw(), server_hostname='localhost', session=session) as peer:
                peer.sendall(b'joedb-access 1 city\njoedb' + struct.pack('<q', 19))
                self.assertEqual(peer.recv(3), b'ok\n')
                self.assertEqual(peer.recv(5), b'joedb')
                self.assertEqual(peer.session_reused, is_resumed)
                session = peer.session
            server.wait_for('connected session=. client="ann"')
        # The rights are those of now, not those of the first connection.
        with open(self.path('keys/access'), 'w') as f:
            f.write('bob push certificate\n')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('were read again')
        with context.wrap_socket(self.raw(), server_hostname='localhost', session=session) as peer:
            peer.sendall(b'joedb-access 1 city\n')
            self.assertTrue(peer.recv(100).startswith(b'no unknown name'))

    def test_who_has_shown_a_certificate_of_an_authority_that_is_replaced_is_disconnected(self):
        if not shutil.which('openssl'):
            self.skipTest('without the program openssl')
        server = self.serve_with_authority()
        self.start('joedb_client', 'memory', '--authority', 'keys/server.crt', '--certificate', 'ann.crt', '--key',
                   'ann.key', f'joedb://localhost:{self.port}/city')
        server.wait_for('connected session=0 client="ann"')
        self.make_certificate('authority')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('has lost its access rights session=0 client="ann"')

    def serve_with_authority(self):
        """A server, and a certificate of its authority for ann."""
        self.make_certificate('authority')
        self.make_certificate('ann', '-CA', 'authority.crt', '-CAkey', 'authority.key')
        os.mkdir(self.path('keys'))
        self.make_certificate('keys/server', '-addext', 'subjectAltName=DNS:localhost')
        with open(self.path('keys/access'), 'w') as f:
            f.write('ann push certificate\n')
        server = self.start('joedb_server', '--verbose', '--listen', '0', '--certificate', 'keys/server.crt', '--key',
                            'keys/server.key', '--access', 'keys/access', '--client_authority', 'authority.crt',
                            'city.joedb')
        self.port = server.wait_for(r'listening at port (\d+)').group(1)
        server.wait_for(r'serving .* at ')
        return server

    def make_certificate(self, name, *options):
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
                        '-subj', f'/CN={os.path.basename(name)}', '-keyout', f'{name}.key', '-out', f'{name}.crt',
                        *options], cwd=self.folder, check=True, capture_output=True)

    # ---- texts of others

    def test_what_a_server_says_does_not_reach_the_terminal_raw(self):
        listener = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listener.close)
        client = self.start('joedb_client', 'memory', f'joedb+tcp://127.0.0.1:{listener.getsockname()[1]}')
        peer, _ = listener.accept()
        self.addCleanup(peer.close)
        peer.recv(100)
        peer.sendall(b'no \x1b]0;x\x07 \xc2\x9b2J \xff\n')
        client.wait_for(re.escape(r'\033]0;x\007 \302\2332J \377'))

    def test_what_a_client_calls_itself_does_not_reach_terminals_and_logs_raw(self):
        server = self.start('joedb_server', '--verbose', '--listen', '0', 'city.joedb')
        port = server.wait_for(r'listening at port (\d+)').group(1)
        self.raw(port).sendall(b'joedb-access 1 \x1b[2J \x1b[31m x\n')
        server.wait_for(re.escape(r'there is no database \033[2J') + '|' + re.escape(r'no database \\033[2J'))
        holder = self.raw(port)
        holder.sendall(b'joedb-access 1 city \x1b[31m\xc2\x9b x\njoedb' + struct.pack('<q', 19) +
                       b'E' + struct.pack('<2q', 0, 0))
        line = server.wait_for('connected session=0').string
        self.assertIn(r'client="\\033[31m\\302\\233"', line)
        waiter = self.start('joedb_client', 'memory', 'local', 'city.joedb.sock')
        waiter.write('transaction\ncomment "second"\nquit\n')
        waiter.wait_for(re.escape(r'waiting for the lock: session 0 (\033[31m\302\233) has had it'))
        waiter.end(signal.SIGKILL)

    def test_ports_are_checked(self):
        for address in ('65536', '-1', '80x', ':', 'localhost:', 'localhost:http', '[::1]'):
            for option in ('--listen', '--metrics'):
                text = self.run_tool('joedb_server', f'{option}={address}', 'new.joedb', code=2)
                self.assertIn(f'{option}: {address}: [HOST:]PORT is needed, with a port from 0 to 65535', text)
        self.assertFalse(os.path.exists(self.path('new.joedb')))
        self.assertIn('not an address', self.insert('x', 'joedb+tcp://localhost:65536', code=None))

    def test_a_broken_access_list_changes_nothing(self):
        server = self.serve_tls()
        with open(self.path('keys/access'), 'a') as f:
            f.write('eve everything\n')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('the old certificate and access list stay: keys/access: line 2')
        self.insert('Oslo', *self.tls())

    def test_other_machines_need_tls(self):
        text = self.run_tool('joedb_server', '--listen', '0.0.0.0:0', 'city.joedb', code=1)
        self.assertIn('needs TLS', text)

    def test_garbage_is_no_client(self):
        server = self.start('joedb_server', '--verbose', '--listen', '0', 'city.joedb')
        port = int(server.wait_for(r'listening at port (\d+)').group(1))
        for garbage in (b'GET / HTTP/1.1\r\n\r\n', b'x' * 5000, b'joedb-access 1\n', b'joedb-access 1 city a b c\n'):
            with socket.create_connection(('127.0.0.1', port), PATIENCE) as peer:
                peer.sendall(garbage)
                try:
                    while peer.recv(4096):
                        pass
                except ConnectionResetError:
                    pass
            server.wait_for('was refused')
        self.insert('Oslo', f'joedb+tcp://127.0.0.1:{port}')

    def test_several_databases_have_names(self):
        self.run_tool('joedbi', '--new', 'town.joedb', text='create_table city\nadd_field city name string\n')
        server = self.start('joedb_multi_server', '--verbose', '--listen', '0', 'city.joedb', 'town.joedb')
        port = server.wait_for(r'listening at port (\d+)').group(1)
        self.insert('Oslo', f'joedb+tcp://localhost:{port}/city')
        self.insert('Ely', f'joedb+tcp://localhost:{port}/town')
        self.assertEqual(self.names('local', 'city.joedb.sock'), ['Oslo'])
        self.assertEqual(self.names('local', 'town.joedb.sock'), ['Ely'])
        self.assertIn('there is no database', self.insert('x', f'joedb+tcp://localhost:{port}', code=1))
        self.assertEqual(server.end(), 0)

    # ---- around it

    def test_a_socket_of_systemd_is_used(self):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.path('given.sock'))
        listener.listen()
        # What systemd does: descriptor 3, and the number of the process that is to take it.
        script = 'exec 3<&%d; export LISTEN_FDS=1 LISTEN_PID=$$; exec "%s/joedb_server" city.joedb' % (
            listener.fileno(), TOOLS)
        server = subprocess.Popen(['bash', '-c', script], cwd=self.folder, pass_fds=[listener.fileno()])
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.insert('Oslo', 'local', 'given.sock')
        server.terminate()
        self.assertEqual(server.wait(PATIENCE), 0)
        self.assertTrue(os.path.exists(self.path('given.sock')))

    def test_metrics_are_served(self):
        server = self.start('joedb_server', '--verbose', '--metrics', '0', 'city.joedb')
        port = int(server.wait_for(r'metrics at port (\d+)').group(1))
        server.wait_for(r'serving .* at ')
        self.insert('Oslo', 'local', 'city.joedb.sock')
        with socket.create_connection(('127.0.0.1', port), PATIENCE) as peer:
            peer.sendall(b'GET /metrics HTTP/1.1\r\n\r\n')
            text = b''.join(iter(lambda: peer.recv(4096), b'')).decode()
        self.assertIn('joedb_pushes_total{database="city"} 1\n', text)
        size = os.path.getsize(self.path('city.joedb'))
        self.assertIn(f'joedb_checkpoint_bytes{{database="city"}} {size}\n', text)

    def test_names_of_databases_are_escaped_in_metrics(self):
        os.rename(self.path('city.joedb'), self.path('a"b\\c\n.joedb'))
        server = self.start('joedb_server', '--verbose', '--metrics', '0', '--socket', 's', 'a"b\\c\n.joedb')
        port = int(server.wait_for(r'metrics at port (\d+)').group(1))
        server.wait_for(r'serving .* at ')
        peer = self.raw(port)
        peer.sendall(b'GET /metrics HTTP/1.1\r\n\r\n')
        text = b''.join(iter(lambda: peer.recv(4096), b'')).decode()
        self.assertIn('joedb_sessions{database="a\\"b\\\\c\\n"} 0\n', text)

    def test_who_waits_for_the_lock_is_told_who_has_it(self):
        self.serve('city.joedb')
        holder = self.start('joedb_client', 'memory', 'local', 'city.joedb.sock')
        holder.write('transaction\nschema\n')
        holder.read_until('create_table city')
        waiter = self.start('joedb_client', 'memory', 'local', 'city.joedb.sock')
        waiter.write('transaction\ncomment "second"\nquit\n')
        waiter.wait_for(r'waiting for the lock: session 0 has had it for \d+ s')
        holder.write('quit\n')
        waiter.process.stdin.close()
        self.assertEqual(waiter.process.wait(PATIENCE), 0)

    def test_the_lock_is_taken_from_who_keeps_it(self):
        self.serve('city.joedb')
        holder = self.start('joedb_client', 'memory', 'local', 'city.joedb.sock')
        holder.write('transaction\nschema\n')
        holder.read_until('create_table city')
        text = self.run_tool('joedb_client', 'memory', 'local', 'city.joedb.sock', text='break_lock\nquit\n')
        self.assertRegex(text, r'session 0 had it for \d+ s')
        self.insert('Oslo', 'local', 'city.joedb.sock')
        self.assertEqual(self.names('local', 'city.joedb.sock'), ['Oslo'])

    def test_only_an_admin_takes_the_lock_over_tcp(self):
        server = self.serve_tls()
        self.add_client('eve', 'admin')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('were read again')
        for name, answer in (('ann', 'the role admin is needed'), ('eve', 'nobody has the lock')):
            self.assertIn(answer, self.run_tool('joedb_client', 'memory', *self.tls(name), code=None,
                                                text='break_lock\nquit\n'))

    def wait_until_equal(self, one, other):
        deadline = time.monotonic() + PATIENCE
        while not os.path.exists(self.path(one)) or self.content(one)[41:] != self.content(other)[41:]:
            self.assertLess(time.monotonic(), deadline, 'the copies stay different')
            time.sleep(0.01)

    def test_a_relay_has_what_is_pushed_to_either_side(self):
        self.serve('city.joedb')
        self.serve('--new', 'relay.joedb', 'local', 'city.joedb.sock')
        self.insert('Oslo', 'local', 'relay.joedb.sock')
        self.assertEqual(self.names('local', 'city.joedb.sock'), ['Oslo'])
        waiter = self.start('joedb_client', 'memory', 'local', 'relay.joedb.sock')
        waiter.write('pull\n')
        waiter.read_until('OK: pull')
        waiter.write('pull 20\n')
        self.run_tool('joedb_client', 'memory', 'local', 'city.joedb.sock',
                      text='transaction\nupdate city 0 name "Ulm"\nquit\n')
        waiter.read_until('pulled')  # it is woken by the other server
        self.wait_until_equal('relay.joedb', 'city.joedb')

    def test_a_relay_whose_hub_hangs_ends_nevertheless(self):
        hub = self.serve('city.joedb')
        relay = self.serve('memory', 'local', 'city.joedb.sock')
        self.insert('Oslo', 'local', 'joedb.sock')
        hub.process.send_signal(signal.SIGSTOP)
        try:
            waiter = self.start('joedb_client', 'memory', 'local', 'joedb.sock')
            waiter.write('transaction\n')
            self.assertEqual(relay.end(), 0)
            self.assertFalse(os.path.exists(self.path('joedb.sock')))
        finally:
            hub.process.send_signal(signal.SIGCONT)
            waiter.end(signal.SIGKILL)
        self.assertEqual(self.names('local', 'city.joedb.sock'), ['Oslo'])

    def test_a_large_push_leaves_no_file_and_does_not_stumble_over_one(self):
        name = 'city.joedb.sock.push-1'
        with open(self.path(name), 'w'):
            pass
        self.serve('city.joedb')
        self.insert('x' * 3_000_000, 'local', 'city.joedb.sock')
        self.assertGreater(len(self.content('city.joedb')), 3_000_000)
        self.assertFalse(os.path.exists(self.path(name)))

    def test_a_follower_keeps_a_backup(self):
        self.serve('city.joedb')
        self.start('joedb_push', '--follow', 'city.joedb', 'file', '--new', 'backup.joedb')
        self.insert('Oslo', 'local', 'city.joedb.sock')
        self.wait_until_equal('backup.joedb', 'city.joedb')

    def test_a_follower_prints_what_a_server_gets(self):
        self.serve('city.joedb')
        follower = self.start('joedb_push', '--follow', '--db', 'dump', 'server', 'local', 'city.joedb.sock')
        follower.read_until('create_table city')
        self.insert('Oslo', 'local', 'city.joedb.sock')
        follower.read_until('"Oslo"')

    def test_work_goes_on_when_the_server_is_restarted(self):
        first = self.serve('city.joedb')
        client = self.start('joedb_client', '--verbose', 'memory', 'local', 'city.joedb.sock')
        client.write('pull\n')
        client.read_until('OK: pull')
        first.process.kill()
        first.process.wait()
        client.write('transaction\ninsert_into city 0\nupdate city 0 name "Oslo"\nquit\n')
        client.wait_for('trying again')
        self.serve('city.joedb')
        client.process.stdin.close()
        client.read_until('OK: transaction')
        self.assertEqual(self.names('local', 'city.joedb.sock'), ['Oslo'])


if __name__ == '__main__':
    TOOLS = os.path.abspath(sys.argv.pop(1))
    unittest.main()
