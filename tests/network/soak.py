#!/usr/bin/env python3
"""A server and its clients for a long time, in which they are killed again and again.

usage: soak.py [--seconds S] [--clients N] [--seed N] TOOLS_DIR

Each client writes transactions of two comments, which have a number. Clients and the server are killed at
random moments, and start again; with --hard_checkpoint, a killed server loses nothing that it would not lose
in a power cut. In the end the journal must have each transaction that was acknowledged, once, whole, and in
its client's order; others at most once, and whole. Prints counts; exit code 1 if something is wrong.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time


class Client(threading.Thread):
    """Starts a client again as often as it is killed. Each has a number of its own."""

    def __init__(self, soak, seed):
        super().__init__()
        self.soak, self.random = soak, random.Random(seed)

    def run(self):
        while not self.soak.is_over():
            self.run_client(self.soak.new_number())

    def run_client(self, number):
        process = subprocess.Popen([self.soak.tool('joedb_client'), 'memory', 'local', 'db.joedb.sock'],
                                   cwd=self.soak.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        end = time.monotonic() + self.random.expovariate(1 / 2)
        killer = threading.Timer(end - time.monotonic(), process.kill)
        killer.start()
        try:
            for i in range(1_000_000):
                if self.soak.is_over():
                    break
                name = f'{number}.{i}'
                self.soak.begun.add(name)
                process.stdin.write(f'transaction\ncomment "{name} begins"\ncomment "{name} ends"\nquit\n')
                process.stdin.flush()
                if not self.wait_for(process, 'OK: transaction'):
                    break
                self.soak.acknowledged.append(name)
        except BrokenPipeError:
            pass
        killer.cancel()
        self.soak.kills['clients'] += process.poll() != 0
        process.kill()
        process.communicate()

    @staticmethod
    def wait_for(process, text):
        return any(line.startswith(text) for line in iter(process.stdout.readline, ''))


class Soak:
    def __init__(self, tools, folder, seconds, clients, seed):
        self.tools, self.folder = os.path.abspath(tools), folder
        self.random = random.Random(seed)
        self.end = time.monotonic() + seconds
        self.begun, self.acknowledged, self.kills = set(), [], {'clients': 0, 'servers': 0}
        self.numbers = iter(range(10**9))
        self.clients = [Client(self, self.random.random()) for _ in range(clients)]

    def tool(self, name):
        return os.path.join(self.tools, name)

    def is_over(self):
        return time.monotonic() >= self.end

    def new_number(self):
        return next(self.numbers)

    def start_server(self):
        server = subprocess.Popen([self.tool('joedb_server'), '--hard_checkpoint', '--recovery', 'keep', '--log',
                                   'none', '--timeout', '5', 'db.joedb'], cwd=self.folder)
        while server.poll() is None and not os.path.exists(os.path.join(self.folder, 'db.joedb.sock')):
            time.sleep(0.01)
        return server

    def run(self):
        subprocess.run([self.tool('joedbi'), '--new', 'db.joedb'], cwd=self.folder, input='', text=True, check=True)
        server = self.start_server()
        for client in self.clients:
            client.start()
        while not self.is_over():
            time.sleep(min(self.random.expovariate(1 / 3), max(0, self.end - time.monotonic())))
            if self.is_over():
                break
            server.kill()
            server.wait()
            self.kills['servers'] += 1
            os.remove(os.path.join(self.folder, 'db.joedb.sock'))
            server = self.start_server()
        for client in self.clients:
            client.join()
        server.send_signal(signal.SIGTERM)
        return [] if server.wait(20) == 0 else ['the server did not end well']

    def check(self):
        """What is wrong with the journal."""
        text = subprocess.run([self.tool('joedb_logdump'), 'db.joedb'], cwd=self.folder, check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        comments = re.findall(r'^comment "(\S+) (begins|ends)"$', text, re.M)
        found, last, wrong = set(), {}, []
        for (name, begins), (other, ends) in zip(comments[::2], comments[1::2]):
            client, number = map(int, name.split('.'))
            if (name, begins, ends) != (other, 'begins', 'ends'):
                wrong.append(f'half of a transaction: {name}')
            if name in found:
                wrong.append(f'twice: {name}')
            if last.get(client, -1) >= number:
                wrong.append(f'in another order: {name}')
            if name not in self.begun:
                wrong.append(f'never written: {name}')
            found.add(name)
            last[client] = number
        wrong += [f'lost: {name}' for name in self.acknowledged if name not in found]
        wrong += ['half of a transaction at the end'] * (len(comments) % 2)
        print(f'{len(found)} transactions, {len(self.acknowledged)} acknowledged, {self.kills["servers"]} servers '
              f'and {self.kills["clients"]} clients killed, {len(wrong)} lost or wrong')
        return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seconds', type=float, default=600)
    parser.add_argument('--clients', type=int, default=4)
    parser.add_argument('--seed', type=int, default=random.randrange(1_000_000))
    parser.add_argument('tools')
    arguments = parser.parse_args()
    print(f'seed {arguments.seed}')
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(arguments.tools, folder, arguments.seconds, arguments.clients, arguments.seed)
        wrong = soak.run() + soak.check()
    print(*wrong[:20], sep='\n', end='')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
