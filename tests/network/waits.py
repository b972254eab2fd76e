#!/usr/bin/env python3
"""Clients of servers that hang, answer slowly, or are gone: every wait ends.

usage: waits.py TOOLS_DIR
"""
import json
import os
import signal
import socket
import struct
import sys
import threading
import time
import unittest

import servers

HEADER = 41  # of a joedb file: where the journal begins
VERSION = 19


class Peer:
    """A server of the test, in a thread: talk(connection) for each connection."""

    def __init__(self, listener, talk):
        self.listener, self.talk, self.ended = listener, talk, threading.Event()
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.run, args=[connection], daemon=True).start()

    def run(self, connection):
        try:
            self.talk(connection)
        except OSError:
            pass

    def end(self):
        self.ended.set()
        self.listener.close()
        for connection in self.connections:
            connection.close()


def receive(connection, size):
    data = b''
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ConnectionError
        data += piece
    return data


def say_hello(connection, checkpoint=HEADER):
    receive(connection, 5 + 8)
    connection.sendall(b'joedb' + struct.pack('<qqq', VERSION, 0, checkpoint) + b'W')


def next_request(connection):
    """Answers comparisons. Returns the code of another request, and its first number."""
    while True:
        code = receive(connection, 1)
        if code not in b'HI':
            return code, *struct.unpack('<q', receive(connection, 8))
        receive(connection, 8 + 32)
        connection.sendall(code)


def drip(connection, data, pause):
    for byte in data:
        connection.sendall(bytes([byte]))
        time.sleep(pause)


class Waits(servers.Servers):
    def serve_peer(self, talk):
        """A server at the socket "peer"."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path('peer'))
        listener.listen()
        peer = Peer(listener, talk)
        self.addCleanup(peer.end)
        return peer

    def assert_quick(self, start, seconds):
        self.assertLess(time.monotonic() - start, seconds)

    def client(self, *options, text='pull\nquit\n', code=1):
        return self.run_tool('joedb_client', '--bail', 'memory', 'local', *options, 'peer', text=text, code=code)

    # ---- control-C

    def interrupted(self, text):
        """Interrupts a client that waits for a peer. Returns its exit code, and how long it took to end."""
        asked = threading.Event()

        def talk(connection):
            say_hello(connection)
            while next_request(connection)[0] not in b'DEFG':
                pass
            asked.set()

        self.serve_peer(talk)
        self.run_tool('joedbi', '--new', 'copy.joedb')
        before = self.content('copy.joedb')
        client = self.start('joedb_client', 'copy.joedb', 'local', 'peer')
        client.write(text)
        self.assertTrue(asked.wait(servers.PATIENCE))
        time.sleep(1)  # by now, it should have been answered
        start = time.monotonic()
        client.process.send_signal(signal.SIGINT)
        code = client.process.wait(servers.PATIENCE)
        seconds = time.monotonic() - start
        self.assertEqual(self.content('copy.joedb'), before)
        return code, seconds

    def test_one_interrupt_ends_a_pull_from_a_server_that_hangs(self):
        code, seconds = self.interrupted('pull\n')
        self.assertEqual(code, -signal.SIGINT)
        self.assertLess(seconds, 0.5)

    def test_one_interrupt_ends_a_pull_that_waits_at_a_server_that_hangs(self):
        code, seconds = self.interrupted('pull 60\npull 60\n')
        self.assertEqual(code, -signal.SIGINT)
        self.assertLess(seconds, 0.5)

    def test_an_interrupt_ends_only_the_pull_that_waits_at_a_server_that_is_well(self):
        self.serve('city.joedb')
        client = self.start('joedb_client', 'memory', 'local', 'city.joedb.sock')
        client.write('pull\n')
        client.read_until('OK: pull')
        client.write('pull 60\nset_timestamp true\nquit\n')
        time.sleep(0.5)
        client.process.send_signal(signal.SIGINT)
        client.read_until('OK: set_timestamp')
        self.assertEqual(client.process.wait(servers.PATIENCE), 0)

    # ---- lost servers

    def test_a_lost_server_is_given_up_after_the_retry_time(self):
        def talk(connection):
            say_hello(connection)
            next_request(connection)
            peer.end()

        peer = self.serve_peer(talk)
        start = time.monotonic()
        text = self.client('--retry_time', '1')
        self.assert_quick(start, 5)
        self.assertEqual(text.count('peer cannot be reached; trying again. Ctrl-C gives up. The reason: peer: '), 1)
        self.assertRegex(text, r'peer: given up after 1 s without a connection: peer: Connection refused')

    def test_a_server_that_hangs_is_lost(self):
        self.serve_peer(lambda connection: say_hello(connection) or next_request(connection))
        text = self.client('--retry_time', '0', '--answer_time', '1')
        self.assertIn('peer: no answer after 1 s', text)

    def test_a_server_that_says_nothing_is_no_server(self):
        self.serve_peer(lambda connection: None)
        self.assertIn('peer: no answer after 1 s', self.client('--answer_time', '1'))

    def test_a_socket_where_nobody_accepts_is_given_up(self):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.path('peer'))
        listener.listen(0)
        waiting = []
        for _ in range(3):
            waiting.append(socket.socket(socket.AF_UNIX))
            self.addCleanup(waiting[-1].close)
            waiting[-1].setblocking(False)
            try:
                waiting[-1].connect(self.path('peer'))
            except BlockingIOError:
                break
        self.assertIn('peer: no answer after 1 s', self.client('--answer_time', '1'))

    # ---- slow servers

    def test_a_reply_has_a_deadline_and_not_each_of_its_bytes(self):
        def talk(connection):
            say_hello(connection)
            drip(connection, next_request(connection)[0] + struct.pack('<q', HEADER), 0.4)

        self.serve_peer(talk)
        start = time.monotonic()
        self.assertIn('no answer after 1 s', self.client('--retry_time', '0', '--answer_time', '1'))
        self.assert_quick(start, 3)

    def test_the_first_answer_over_tcp_has_a_deadline(self):
        listener = socket.create_server(('127.0.0.1', 0))
        peer = Peer(listener, lambda connection: drip(connection, b'ok' + b' ' * 100, 0.4))
        self.addCleanup(peer.end)
        start = time.monotonic()
        text = self.run_tool('joedb_client', 'memory', '--answer_time', '1',
                             f'joedb+tcp://127.0.0.1:{listener.getsockname()[1]}', code=1)
        self.assertIn('no answer after 1 s', text)
        self.assert_quick(start, 3)

    def test_a_long_reply_that_goes_on_arrives(self):
        self.run_tool('joedbi', 'city.joedb', text='insert_into city 0\nupdate city 0 name "%s"\n' % ('x' * 20_000))
        journal = self.content('city.joedb')

        def talk(connection):
            say_hello(connection, len(journal))
            while True:
                code, _ = next_request(connection)
                start, = struct.unpack('<q', receive(connection, 8))
                connection.sendall(code + struct.pack('<q', len(journal)))
                for position in range(start, len(journal), 1000):
                    connection.sendall(journal[position:min(position + 1000, len(journal))])
                    time.sleep(0.1)

        self.serve_peer(talk)
        start = time.monotonic()
        text = self.client('--retry_time', '0', '--answer_time', '1', code=0)
        self.assertIn(f'checkpoint = {len(journal)}', text)
        self.assertGreater(time.monotonic() - start, 1.5)

    def test_a_long_reply_that_stops_is_given_up(self):
        def talk(connection):
            say_hello(connection, 100_000)
            connection.sendall(next_request(connection)[0] + struct.pack('<q', 100_000) + b'x' * 50_000)

        self.serve_peer(talk)
        start = time.monotonic()
        self.assertIn('no answer after 1 s', self.client('--retry_time', '0', '--answer_time', '1'))
        self.assert_quick(start, 3)

    # ---- locks

    def test_a_lock_that_another_client_keeps_is_given_up(self):
        self.serve('city.joedb')
        holder = self.start('joedb_client', 'memory', 'local', 'city.joedb.sock')
        holder.write('transaction\ninsert_into city 0\n')
        holder.read_until('OK: insert_into')
        text = self.run_tool('joedb_client', '--bail', 'memory', 'local', '--lock_time', '1', 'city.joedb.sock',
                             text='transaction\n', code=1)
        self.assertRegex(text, r'city\.joedb\.sock is locked by another client: waited 1(\.\d+)? seconds?')
        holder.write('quit\nquit\n')
        self.assertEqual(holder.process.wait(servers.PATIENCE), 0)
        self.insert('Oslo', 'local', '--lock_time', '1', 'city.joedb.sock', city=1)

    def test_what_a_tool_waits_for_is_a_line_of_its_json_log(self):
        self.serve('city.joedb')
        holder = self.start('joedb_client', 'memory', 'local', 'city.joedb.sock')
        holder.write('transaction\ninsert_into city 0\n')
        holder.read_until('OK: insert_into')
        waiter = self.start('joedb_client', '--log', 'json', 'memory', 'local', 'city.joedb.sock')
        waiter.write('transaction\n')
        waiter.wait_for('waiting for the lock: session')
        for line in waiter.lines:
            json.loads(line)

    # ---- a shared file

    def hold_file(self):
        """Returns a server of a shared file, the program that has the file, and a client that waits for it."""
        server = self.serve('--shared', '--busy_timeout', '2', 'city.joedb')
        holder = self.start('joedb_client', '--shared', 'city.joedb')
        holder.write('transaction\ninsert_into city 0\n')
        holder.read_until('OK: insert_into')
        writer = self.start('joedb_client', 'memory', 'local', 'city.joedb.sock')
        writer.write('transaction\ninsert_into city 1\nquit\nquit\n')
        server.wait_for('waits for another program.*joedb_client')
        return server, holder, writer

    def test_a_client_of_a_server_waits_for_a_program_that_has_the_file_and_readers_do_not(self):
        _, holder, writer = self.hold_file()
        reader = self.start('joedb_client', 'memory', 'local', 'city.joedb.sock')
        end = time.monotonic() + 2.5  # more than the busy timeout
        while time.monotonic() < end:
            start = time.monotonic()
            reader.write('pull\n')
            reader.read_until('OK: pull')
            self.assert_quick(start, 0.5)
        self.assertIn('is locked by another client', self.run_tool(
            'joedb_client', '--bail', 'memory', 'local', '--lock_time', '0.5', 'city.joedb.sock',
            text='transaction\n', code=1))
        self.assertIsNone(writer.process.poll())
        holder.write('quit\nquit\n')
        self.assertEqual(writer.process.wait(servers.PATIENCE), 0)
        self.assertIn('insert_into city 1', self.run_tool('joedb_logdump', 'city.joedb'))

    def test_a_server_that_waits_for_its_file_ends_at_a_signal(self):
        server, _, _ = self.hold_file()
        start = time.monotonic()
        self.assertEqual(server.end(), 0)
        self.assert_quick(start, 0.5)

    # ---- relays

    def test_a_relay_waits_for_its_hub(self):
        relay = self.start('joedb_server', '--new', 'relay.joedb', 'local', 'city.joedb.sock')
        relay.wait_for('city.joedb.sock cannot be reached; trying again')
        self.assertFalse(os.path.exists(self.path('relay.joedb.sock')))
        self.serve('city.joedb')
        end = time.monotonic() + servers.PATIENCE
        while not os.path.exists(self.path('relay.joedb.sock')):
            self.assertLess(time.monotonic(), end, 'the relay does not begin')
            time.sleep(0.02)
        self.insert('Oslo', 'local', 'relay.joedb.sock')
        self.assertEqual(self.names('local', 'city.joedb.sock'), ['Oslo'])

    def test_a_relay_that_waits_for_its_hub_ends_at_a_signal(self):
        relay = self.start('joedb_server', '--new', 'relay.joedb', 'local', 'city.joedb.sock')
        relay.wait_for('cannot be reached; trying again')
        self.assertEqual(relay.end(), -signal.SIGTERM)

    def test_a_relay_with_a_retry_time_gives_its_hub_up(self):
        for seconds in '0', '0.5':
            text = self.run_tool('joedb_server', '--new', f'relay{seconds}.joedb', 'local', '--retry_time', seconds,
                                 'city.joedb.sock', code=1)
            self.assertIn('city.joedb.sock: No such file or directory', text)


def load_tests(*_):
    """Those of this file, without the inherited ones."""
    names = [name for name in vars(Waits) if name.startswith('test_')]
    return unittest.TestSuite(map(Waits, names))


if __name__ == '__main__':
    servers.TOOLS = os.path.abspath(sys.argv.pop(1))
    unittest.main()
