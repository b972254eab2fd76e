"""Clients of one server: small transactions, a first pull, and many who wait."""
import os
import statistics
import subprocess
import tempfile
import time

CLIENTS = (1, 2, 4, 8, 64)
TRANSACTIONS = 40_000
DURABLE_TRANSACTIONS = 2_000
MEGABYTES = 1_000
WAITING = 10_000


class Network:
    """Runs programs in a directory of their own, on the disk that is measured."""

    def __init__(self, programs, directory):
        self.programs, self.directory = programs, directory

    def program(self, name):
        return os.path.join(self.programs, name)

    def measure(self, *words):
        result = subprocess.run([self.program('network_benchmark'), *map(str, words)], cwd=self.directory,
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        return [float(word) for word in result.stdout.split()]

    def remove(self, name):
        for suffix in ('', '-wal', '-shm'):
            if os.path.exists(os.path.join(self.directory, name + suffix)):
                os.remove(os.path.join(self.directory, name + suffix))

    def serve(self, options, measure, file='db.joedb'):
        """Returns what measure() returns, with a server beside it."""
        socket = os.path.join(self.directory, file + '.sock')
        server = subprocess.Popen([self.program('joedb_server'), *options, file], cwd=self.directory)
        while not os.path.exists(socket):
            time.sleep(0.01)
            if server.poll() is not None:
                raise RuntimeError('the server has ended')
        try:
            return measure()
        finally:
            server.terminate()
            server.wait()

    def joedb(self, mode, clients, transactions, *options, address=()):
        self.remove('db.joedb')
        return self.serve(['--new', *options],
                          lambda: self.measure(mode, clients, transactions, *(address or ['db.joedb.sock'])))[0]

    def tls(self, mode, clients, transactions):
        if not os.path.exists(os.path.join(self.directory, 'keys')):
            subprocess.run([self.program('joedb_server'), '--init', 'keys'], cwd=self.directory, check=True,
                           stdout=subprocess.DEVNULL)
        return self.joedb(mode, clients, transactions, '--listen', '127.0.0.1:5618', '--certificate', 'keys/server.crt',
                          '--key', 'keys/server.key', '--access', 'keys/access',
                          address=['joedb://localhost:5618/db', 'keys/server.crt', 'keys/ann.token'])

    def sqlite(self, clients, transactions, level):
        self.remove('sqlite.db')
        return self.measure('sqlite', clients, transactions, 'sqlite.db', level)[0]

    def messages(self, clients, transactions, trips):
        return self.measure('messages', clients, transactions, 'messages.sock', trips)[0]


def print_rows(title, rows, rounds):
    """rows: (name, function of the number of clients). They take turns."""
    print(f'{title}: thousands in a second, by so many clients ({rounds} rounds)\n')
    print('   ' + ''.join(f'{clients:8}' for clients in CLIENTS))
    figures = {(name, clients): [] for name, _ in rows for clients in CLIENTS}
    for _ in range(rounds):
        for clients in CLIENTS:
            for name, measure in rows:
                figures[name, clients].append(measure(clients))
    for name, _ in rows:
        print('   ' + ''.join(f'{statistics.median(figures[name, clients]) / 1000:8.1f}' for clients in CLIENTS) +
              '  ' + name)
    print(flush=True)


def measure_network(programs, directory, rounds):
    """Prints tables."""
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        net = Network(programs, folder)
        print_rows('small transactions that survive a killed server', [
            ('joedb, unix socket', lambda c: net.joedb('joedb', c, TRANSACTIONS)),
            ('joedb, unix socket, always with the lock', lambda c: net.joedb('joedb_lock', c, TRANSACTIONS)),
            ('joedb, TLS', lambda c: net.tls('joedb', c, TRANSACTIONS)),
            ('SQLite, WAL, synchronous=NORMAL, without a server', lambda c: net.sqlite(c, TRANSACTIONS, 'normal')),
            ('messages alone, one round trip, all at a time', lambda c: net.messages(c, TRANSACTIONS, 1)),
            ('messages alone, two round trips, all at a time', lambda c: net.messages(c, TRANSACTIONS, 2)),
        ], rounds)
        print_rows('small transactions that survive a power cut', [
            ('joedb, unix socket', lambda c: net.joedb('joedb', c, DURABLE_TRANSACTIONS, '--hard-checkpoint')),
            ('SQLite, WAL, synchronous=FULL, without a server',
             lambda c: net.sqlite(c, DURABLE_TRANSACTIONS, 'full')),
        ], rounds)
        net.measure('fill', 'big.joedb', MEGABYTES)
        net.serve([], lambda: net.measure('pull', 'big.joedb.sock'), 'big.joedb')  # the file was just written
        pulls = [net.serve([], lambda: net.measure('pull', 'big.joedb.sock')[0], 'big.joedb') for _ in range(rounds)]
        copies = [net.measure('copy', 'big.joedb', 'copy.sock')[0] for _ in range(rounds)]
        print(f'first pull of {MEGABYTES} MB: {statistics.median(pulls):.0f} MB/s; a plain copy through a socket: '
              f'{statistics.median(copies):.0f} MB/s\n')
        net.remove('db.joedb')
        options = ['--new', '--max-clients', str(WAITING + 10)]
        count, pushed, woken = net.serve(options, lambda: net.measure('wait', WAITING, 'db.joedb.sock'))
        print(f'{count:.0f} waiting clients: a push is acknowledged after {pushed:.1f} ms, all have it after '
              f'{woken:.1f} ms\n', flush=True)
