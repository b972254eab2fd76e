#!/usr/bin/env python3
"""Clients that mean harm: the memory of the server stays bounded, and others are served meanwhile.

usage: hostile.py TOOLS_DIR
"""
import glob
import os
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = ''
PATIENCE = 30  # seconds that anything may take
PROMPT = 5     # seconds in which another client is served
MOST_MEMORY = 64 << 20
HELLO = b'joedb' + struct.pack('<q', 19)
START = 41     # where a journal begins
COMMENT = b'\x0a\x1e' + b'x' * 30


def numbers(code, *values):
    return code + struct.pack(f'<{len(values)}q', *values)


class Peer:
    """A connection that sends what it likes."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)

    def read(self, size):
        data = b''
        while len(data) < size:
            piece = self.socket.recv(min(size - len(data), 1 << 20))
            if not piece:
                raise EOFError(f'the server has closed the connection after {data!r}')
            data += piece
        return data

    def ask(self, request, size):
        self.socket.sendall(request)
        return self.read(size)

    def hello(self):
        reply = self.ask(HELLO, 30)
        return struct.unpack('<q', reply[21:29])[0]

    def checkpoint(self):
        return struct.unpack('<q', self.ask(numbers(b'D', 0, 0), 9)[1:])[0]

    def push(self, start, data):
        return self.ask(numbers(b'O', start, start + len(data)) + data, 1)

    def send_what_is_taken(self, data, at_most):
        """Without reading, until the server takes no more. Returns the number of bytes."""
        self.socket.setblocking(False)
        sent = 0
        while sent < at_most and select.select([], [self.socket], [], 1)[1]:
            sent += self.socket.send(data[sent % len(data):])
        self.socket.settimeout(PATIENCE)
        return sent

    def is_closed_by_server(self):
        try:
            return not self.socket.recv(1)
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()


class Hostile(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name

    def serve(self, *words, files=None):
        """`files`: how many it may open."""
        start = [] if files is None else ['prlimit', f'--nofile={files}:{files}']
        self.server = subprocess.Popen([*start, os.path.join(TOOLS, 'joedb_server'), '--verbose', *words, 'db.joedb'],
                                       cwd=self.folder, text=True, stderr=subprocess.PIPE)
        self.addCleanup(self.end)
        self.ports = {}
        for line in self.server.stderr:
            if match := re.search(r'(metrics|listening) at port (\d+)', line):
                self.ports[match[1]] = int(match[2])
            if re.search('serving .* at ', line):
                break
        # Nobody reads the other lines: they go to a file, for a full pipe would stop the server.
        self.drain = subprocess.Popen(['cat'], stdin=self.server.stderr, stdout=subprocess.DEVNULL)
        self.memory_at_start = self.memory()

    def end(self):
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(PATIENCE), 0)
        self.drain.wait()
        self.server.stderr.close()

    def peer(self):
        peer = Peer(os.path.join(self.folder, 'db.joedb.sock'))
        self.addCleanup(peer.close)
        return peer

    def guest(self):
        """After the hello."""
        peer = self.peer()
        peer.hello()
        return peer

    def memory(self):
        with open(f'/proc/{self.server.pid}/status', encoding='ascii') as file:
            return int(re.search(r'VmRSS:\s*(\d+) kB', file.read())[1]) << 10

    def fill(self, size):
        """Gives the journal so many bytes. Returns its checkpoint."""
        peer, end = self.guest(), START
        while end < START + size:
            self.assertEqual(peer.push(end, COMMENT * 50_000), b'O')
            end += len(COMMENT) * 50_000
        peer.close()
        return end

    def check(self):
        """Somebody else writes and reads, soon, and the server has not grown."""
        start = time.monotonic()
        peer = self.peer()
        end = peer.hello()
        self.assertEqual(peer.push(end, COMMENT), b'O')
        self.assertEqual(peer.checkpoint(), end + len(COMMENT))
        peer.close()
        self.assertLess(time.monotonic() - start, PROMPT)
        self.assertLess(self.memory() - self.memory_at_start, MOST_MEMORY)

    def test_one_byte_a_second_is_no_hello(self):
        self.serve()
        peer = self.peer()
        start = time.monotonic()
        for byte in HELLO:
            peer.socket.send(bytes([byte]))
            if select.select([peer.socket], [], [], 1)[0]:
                break
        self.assertTrue(peer.is_closed_by_server())
        self.assertLess(time.monotonic() - start, 12)
        self.check()

    def test_who_does_not_read_gets_no_more_than_a_block(self):
        self.serve()
        self.fill(20 << 20)
        self.memory_at_start = self.memory()
        peers = [self.guest() for _ in range(50)]
        for peer in peers:
            peer.socket.sendall(numbers(b'F', 0, START) * 1000)
        self.check()
        self.assertEqual(peers[0].read(9)[:1], b'F')  # it is still served
        for peer in peers:
            peer.close()
        self.check()

    def test_requests_without_end_are_not_kept(self):
        self.serve()
        self.fill(5 << 20)
        self.memory_at_start = self.memory()
        taken = [self.guest().send_what_is_taken(numbers(b'F', 0, START) * 1000, 1 << 30) for _ in range(10)]
        self.assertLess(max(taken), 4 << 20)
        self.check()

    def test_the_length_of_a_push_takes_no_memory(self):
        self.serve()
        before = glob.glob(self.folder + '/*')
        for end in (1 << 40, (1 << 62), (1 << 63) - 1):
            peer = self.guest()
            self.assertEqual(peer.ask(numbers(b'E', 0, 0), 9)[:1], b'E')
            peer.socket.sendall(numbers(b'N', START, end) + COMMENT * 400_000)
            self.assertLess(self.memory() - self.memory_at_start, MOST_MEMORY)
            peer.close()
        peer = self.guest()
        self.assertEqual(peer.checkpoint(), START)
        for start, end in ((-1, 100), (START, -1), (-(1 << 63), (1 << 63) - 1)):
            bad = self.guest()
            bad.socket.sendall(numbers(b'N', start, end))
            self.assertTrue(bad.is_closed_by_server())
        self.check()
        self.assertEqual(glob.glob(self.folder + '/*'), before)

    def test_a_thousand_connections_that_say_nothing(self):
        self.serve()
        strangers = [self.peer() for _ in range(500)]
        guests = [self.guest() for _ in range(500)]
        self.check()
        for peer in strangers + guests:
            peer.close()
        self.check()

    def test_more_connections_than_allowed_are_closed(self):
        self.serve('--max_clients', '10')
        peers = [self.guest() for _ in range(10)]
        self.assertTrue(self.peer().is_closed_by_server())
        peers[0].socket.sendall(b'Q')
        self.assertTrue(peers[0].is_closed_by_server())
        self.check()

    def test_who_keeps_the_lock_loses_it(self):
        self.serve('--timeout', '1')
        for peer in [self.guest() for _ in range(2)]:
            peer.socket.sendall(numbers(b'E', 0, 0))
        hoarder = self.guest()
        hoarder.socket.sendall(numbers(b'E', 0, 0) + numbers(b'N', START, 1 << 40) + COMMENT)
        # In the order of asking: 1 second for each of them.
        other = self.guest()
        start = time.monotonic()
        self.assertEqual(other.ask(numbers(b'E', 0, 0), 9)[:1], b'E')
        self.assertLess(time.monotonic() - start, 3 + PROMPT)
        self.assertEqual(other.push(START, COMMENT), b'O')
        self.assertEqual(hoarder.read(9)[:1], b'E')
        self.check()

    def stranger_at(self, port):
        peer = socket.create_connection(('127.0.0.1', port), PATIENCE)
        self.addCleanup(peer.close)
        return peer

    def wait_for_strangers(self):
        """Until the server has accepted all who have come. Each door lets in one after the other, so the last
        one, who speaks, is then answered or, for want of room, closed."""
        doors = ((self.peer().socket, HELLO),
                 (self.stranger_at(self.ports['listening']), b'joedb-access 1 -\n'),
                 (self.stranger_at(self.ports['metrics']), b'GET /metrics HTTP/1.1\r\n\r\n'))
        for door, words in doors:
            try:
                door.sendall(words)
                door.recv(1)
            except ConnectionError:
                pass
            door.close()

    def ask_over_tcp(self):
        peer = self.stranger_at(self.ports['listening'])
        peer.sendall(b'joedb-access 1 -\n')
        self.assertEqual(peer.recv(3), b'ok\n')
        peer.sendall(HELLO)
        self.assertEqual(peer.recv(5), b'joedb')

    def ask_for_metrics(self):
        peer = self.stranger_at(self.ports['metrics'])
        peer.sendall(b'GET /metrics HTTP/1.1\r\n\r\n')
        self.assertIn(b'200 OK', peer.recv(100))

    def assert_all_are_served_promptly(self):
        start = time.monotonic()
        self.ask_over_tcp()
        self.ask_for_metrics()
        self.check()
        self.assertLess(time.monotonic() - start, PROMPT)

    def test_strangers_keep_nobody_out(self):
        self.serve('--listen', '0', '--metrics', '0')
        for _ in range(1100):
            self.stranger_at(self.ports['listening'])
        for _ in range(200):
            self.stranger_at(self.ports['metrics'])
        self.assert_all_are_served_promptly()

    def test_who_finds_no_free_file_is_told_and_the_others_are_served(self):
        self.serve('--listen', '0', '--metrics', '0', files=64)
        guests = [self.guest() for _ in range(30)]
        for _ in range(100):
            self.peer()
            self.stranger_at(self.ports['listening'])
            self.stranger_at(self.ports['metrics'])
        self.wait_for_strangers()  # among more newcomers than there is room for, one may be closed before it speaks
        self.assert_all_are_served_promptly()
        refused = 0
        for _ in range(60):
            peer = self.peer()
            try:
                peer.hello()
            except (EOFError, ConnectionError):
                refused += 1
        self.assertGreater(refused, 0)
        self.assertEqual(guests[0].checkpoint(), START + len(COMMENT))

    def test_many_hashes_hold_up_nobody(self):
        self.serve()
        end = self.fill(20 << 20)
        self.memory_at_start = self.memory()
        request = b'I' + struct.pack('<q', end) + b'x' * 32
        peers = [self.guest() for _ in range(20)]
        for peer in peers:
            peer.socket.sendall(request * 500)
        self.check()
        self.assertEqual(peers[0].read(1), b'h')
        for peer in peers:
            peer.close()
        self.check()


if __name__ == '__main__':
    TOOLS = os.path.abspath(sys.argv.pop(1))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 2500:
        sys.exit(77)  # too few descriptors are allowed here
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1 << 16) if hard > 0 else 1 << 16, hard))
    unittest.main()
