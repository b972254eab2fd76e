#!/usr/bin/env python3
"""The network and the servers of the other tests of this folder do what they promise.

usage: servers_test.py          (exit code 77: there is no nats-server, and the tests that need one are skipped)
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
import proxy
import servers

SILENCE = 0.2  # nothing comes for so many seconds
PATIENCE = 30


class Echo:
    """Sends back what it gets."""

    def __init__(self):
        self.listener = socket.create_server((proxy.HOST, 0))
        threading.Thread(target=self.run, daemon=True).start()

    def port(self):
        return self.listener.getsockname()[1]

    def run(self):
        while True:
            try:
                end, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(end,), daemon=True).start()

    @staticmethod
    def serve(end):
        while block := end.recv(1 << 16):
            end.sendall(block)
        end.close()


class Network(unittest.TestCase):
    def setUp(self):
        self.network, self.echo = proxy.Network(), Echo()
        self.addCleanup(self.network.stop)
        self.addCleanup(self.echo.listener.close)
        self.link = self.network.link('a', 'b', self.echo.port)
        self.end = self.connect()

    def connect(self):
        end = socket.create_connection((proxy.HOST, self.link), timeout=PATIENCE)
        self.addCleanup(end.close)
        return end

    def receive(self, size):
        self.end.settimeout(PATIENCE)
        data = b''
        while len(data) < size and (block := self.end.recv(size - len(data))):
            data += block
        return data

    def expect_silence(self):
        self.end.settimeout(SILENCE)
        self.assertRaises(TimeoutError, self.end.recv, 1)

    def test_carries_all_bytes_in_their_order(self):
        data = os.urandom(20_000_000)
        threading.Thread(target=self.end.sendall, args=(data,), daemon=True).start()
        self.assertEqual(self.receive(len(data)), data)

    def test_tells_that_an_end_was_closed(self):
        self.end.sendall(b'last words')
        self.end.shutdown(socket.SHUT_WR)
        self.assertEqual(self.receive(100), b'last words')

    def test_holds_back_what_is_sent_over_a_cut_and_delivers_it_later(self):
        self.network.cut('a', 'b')
        self.end.sendall(b'one')
        self.expect_silence()
        self.network.heal()
        self.assertEqual(self.receive(3), b'one')

    def test_holds_back_one_direction(self):
        self.network.hold('b', 'a')
        self.end.sendall(b'question')
        self.expect_silence()
        self.network.heal()
        self.assertEqual(self.receive(8), b'question')

    def test_cuts_one_end_from_all_others(self):
        self.network.isolate('b')
        self.end.sendall(b'one')
        self.expect_silence()

    def test_does_not_tell_over_a_cut_that_an_end_was_closed(self):
        self.network.hold('a', 'b')
        self.end.shutdown(socket.SHUT_WR)
        self.expect_silence()
        self.network.heal()
        self.assertEqual(self.receive(1), b'')

    def test_leaves_other_links_alone(self):
        self.network.cut('a', 'c')
        self.end.sendall(b'one')
        self.assertEqual(self.receive(3), b'one')

    def test_closes_connections_and_refuses_new_ones(self):
        self.network.close('a', 'b')
        self.assertEqual(self.receive(1), b'')
        self.end = self.connect()
        self.assertEqual(self.receive(1), b'')
        self.network.heal()
        self.end = self.connect()
        self.end.sendall(b'again')
        self.assertEqual(self.receive(5), b'again')


@unittest.skipUnless(servers.nats_server.find(), 'there is no nats-server')
class Cluster(unittest.TestCase):
    def start(self, network=None):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        if network:
            self.addCleanup(network.stop)
        cluster = servers.Cluster(folder.name, network=network)
        self.addCleanup(cluster.stop)
        cluster.start()
        cluster.wait_until_ready()
        return cluster

    def test_a_killed_server_comes_back(self):
        cluster = self.start()
        cluster.servers[1].kill()
        self.assertFalse(cluster.is_ready())
        cluster.servers[1].start()
        cluster.wait_until_ready()

    def test_a_stopped_server_does_not_answer_until_it_goes_on(self):
        server = self.start().servers[0]
        server.stop()
        self.assertIsNone(server.ask('/healthz'))
        server.resume()
        self.assertEqual(server.ask('/healthz', PATIENCE)['status'], 'ok')

    def test_servers_reach_each_other_only_through_the_network(self):
        network = proxy.Network()
        cluster = self.start(network)
        names = {server.ask('/routez')['server_id']: server.name for server in cluster.servers}
        network.close('n1', proxy.EVERYBODY)
        for server, others in zip(cluster.servers, [set(), {'n3'}, {'n2'}]):
            def is_cut(server=server, others=others):
                answer = server.ask('/routez')
                return answer and {names[route['remote_id']] for route in answer.get('routes') or []} == others
            cluster.wait_for(is_cut, PATIENCE, f'{server.name} has other routes than to {others}')
        network.heal()
        cluster.wait_until_ready()

    def test_dev_cluster_says_what_to_do_and_ends_all(self):
        process = subprocess.Popen([sys.executable, os.path.join(HERE, 'servers.py'), '--ports', '0'],
                                   stdout=subprocess.PIPE, text=True)
        screen = ''
        for line in process.stdout:
            screen += line
            if line.startswith('A killed server'):
                break
        process.send_signal(signal.SIGINT)
        screen += process.communicate(timeout=PATIENCE)[0]
        self.assertRegex(screen, r'joedb nats create nats://127\.0\.0\.1:\d+,127\.0\.0\.1:\d+,127\.0\.0\.1:\d+/city')
        self.assertEqual((process.returncode, screen.splitlines()[-1]), (0, 'ended'))
        for number in re.findall(r'kill -KILL (\d+)', screen):
            self.assertRaises(ProcessLookupError, os.kill, int(number), 0)


if __name__ == '__main__':
    program = unittest.main(exit=False)
    if not program.result.wasSuccessful():
        sys.exit(1)
    sys.exit(servers.SKIPPED if program.result.skipped else 0)
