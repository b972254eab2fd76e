#!/usr/bin/env python3
"""Clients of a cluster, all of which is killed, stopped, cut off and damaged meanwhile.

usage: chaos.py [--seconds S] [--seed N] [--acknowledged N] [--kills N] [--server-kills N] [--partitions N]
                [--writers N] [--keep] TOOLS_DIR          (./dev sim --cluster)

Writers (cluster_writer.cc) push transactions to three servers, and readers follow. Writers are killed at random
moments, and stopped for longer than the lease of the lock. One fault of the servers follows the other: they are
killed, stopped, cut off, and bits of one of them are flipped. The run goes on for S seconds, and until there were
as many acknowledged pushes, kills and partitions as asked for.

Then all are well again, and a new client pulls everything and compares it. Its journal must have each acknowledged
transaction, once, whole and in the order of its writer, and every other one at most once; the files of all clients
must be equal up to the end of the shorter one. Prints counts; exit code 1 if something is wrong, 77 if there is no
server that syncs what it acknowledges.
"""
import argparse
import collections
import glob
import heapq
import itertools
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import proxy
import servers

MODES = 'optimistic', 'lock', 'several', 'large'
DATABASE = 'city'
STREAM = 'joedb_city'
# Shorter than for users: a lock of a killed writer makes others wait, and a failing server breaks some that are not
# abandoned, which must do no harm.
LEASE = 4.0
HEADER = 41  # bytes of a file that are its own
PATIENCE = 120


class Client:
    """A process that is started again when it was killed, with the copy that it had."""

    def __init__(self, chaos, name, mode):
        self.chaos, self.name, self.mode = chaos, name, mode
        self.file = chaos.folder / f'{name}.joedb'
        self.lives = 0
        self.process = None
        self.is_stopped = False

    def command(self):
        url = [self.chaos.cluster.url(DATABASE), str(self.file)]
        if self.mode == 'read':
            return ['read', *url]
        return ['write', *url, str(self.chaos.folder / f'{self.name}.acknowledged'), f'{self.name}-{self.lives}',
                self.mode, '--lease', str(int(LEASE * 1000)), '--seed', str(self.chaos.random.randrange(1 << 30))]

    def start(self):
        self.lives += 1
        self.is_stopped = False
        with open(self.chaos.folder / f'{self.name}.log', 'ab') as log:
            self.process = subprocess.Popen([*servers.mortal(), self.chaos.tool('cluster_writer'), *self.command(),
                                             *self.chaos.monitor()], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.chaos.folder)

    def look(self):
        """Starts it again. An end of its own is an error."""
        code = self.process.poll()
        if code is None:
            return
        if code != -signal.SIGKILL:
            self.chaos.fail(f'{self.name} has ended with exit code {code}:\n{self.last_lines()}')
        self.start()

    def last_lines(self, count=8):
        lines = (self.chaos.folder / f'{self.name}.log').read_text(errors='replace').splitlines()
        return '\n'.join(lines[-count:])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)
        self.is_stopped = True

    def resume(self):
        if self.is_stopped:
            self.process.send_signal(signal.SIGCONT)
            self.is_stopped = False

    def end(self):
        if self.process.poll() == -signal.SIGKILL:
            return  # killed a moment ago
        self.process.send_signal(signal.SIGTERM)
        self.process.send_signal(signal.SIGCONT)
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = f'none in {PATIENCE} s'
        if code not in (0, -signal.SIGTERM):
            self.chaos.fail(f'{self.name}: exit code {code}:\n{self.last_lines()}')

    def acknowledged(self):
        try:
            return (self.chaos.folder / f'{self.name}.acknowledged').read_text().split()
        except FileNotFoundError:
            return []


class Chaos:
    def __init__(self, arguments, folder):
        self.tools, self.folder = pathlib.Path(arguments.tools).resolve(), pathlib.Path(folder)
        self.wanted = arguments
        self.random = random.Random(arguments.seed)
        self.wrong, self.counts = [], collections.Counter()
        self.events, self.order = [], itertools.count()
        self.network = proxy.Network()
        self.cluster = servers.Cluster(self.folder / 'servers', network=self.network)
        self.damaged = self.random.choice(self.cluster.servers)
        self.writers = [Client(self, f'w{i}', MODES[i % len(MODES)]) for i in range(arguments.writers)]
        self.readers = [Client(self, f'r{i}', 'read') for i in range(2)]
        self.clients = self.writers + self.readers
        self.faults = [self.kill_leader, self.kill_a_server, self.stop_leader, self.part_leader_from_servers,
                       self.damage_a_block, self.isolate_a_server, self.part_clients_from_leader, self.kill_all,
                       self.part_one_way, self.part_all, self.close_connections, self.stop_a_server, self.kill_two]
        self.next_faults = []
        self.begin = time.monotonic()

    def tool(self, name):
        return str(self.tools / name)

    def monitor(self):
        return ['--monitor', self.cluster.monitor()]

    def fail(self, text):
        print(text, flush=True)
        self.wrong.append(text)

    def say(self, text):
        print(f'{time.monotonic() - self.begin:7.1f} s  {text}', flush=True)

    def uniform(self, low, high):
        return self.random.uniform(low, high)

    # ---- time

    def after(self, seconds, function):
        heapq.heappush(self.events, (time.monotonic() + seconds, next(self.order), function))

    def run(self):
        self.cluster.start()
        self.cluster.wait_until_ready()
        self.create()
        self.begin = time.monotonic()
        for client in self.clients:
            client.start()
            self.after(self.uniform(1, 4), lambda c=client: self.kill_client(c))
        self.after(self.uniform(1, 3), self.next_fault)
        self.after(self.uniform(2, 10), self.stop_client)
        self.after(30, self.report)
        while not self.is_over() and not self.wrong:
            moment, _, function = heapq.heappop(self.events)
            while (rest := moment - time.monotonic()) > 0:
                for client in self.clients:
                    client.look()
                    if self.wrong:
                        return
                time.sleep(min(rest, 0.05))
            function()

    def create(self):
        """The first requests to new servers may find no leader yet: they are repeated, as a user would."""
        for _ in range(10):
            done = self.joedb('create')
            if done.returncode == 0:
                return
        raise servers.Failure(f'joedb nats create: exit code {done.returncode}: {done.stdout}')

    def joedb(self, command):
        return subprocess.run([self.tool('joedb'), 'nats', command, *self.monitor(), self.cluster.url(DATABASE)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=PATIENCE)

    def acknowledged(self):
        """The number of acknowledged pushes, without reading them all: a line of each file has about the same size."""
        return sum(len(client.acknowledged()) for client in self.writers)

    def is_over(self):
        wanted, elapsed = self.wanted, time.monotonic() - self.begin
        if elapsed < wanted.seconds:
            return False
        if (self.counts['writers killed'] >= wanted.kills and
                self.counts['servers killed'] >= wanted.server_kills and
                self.counts['partitions'] >= wanted.partitions and self.acknowledged() >= wanted.acknowledged):
            return True
        if elapsed > 4 * wanted.seconds + 60:
            self.fail(f'less was done in {elapsed:.0f} s than asked for')
        return False

    def report(self):
        self.say(self.summary())
        self.after(30, self.report)

    def summary(self):
        parts = [f'{self.acknowledged()} acknowledged']
        return ', '.join(parts + [f'{count} {name}' for name, count in sorted(self.counts.items())])

    # ---- clients

    def kill_client(self, client):
        if client.process.poll() is None:
            client.kill()
            self.counts['writers killed' if client in self.writers else 'readers killed'] += 1
        self.after(self.random.expovariate(1 / 6), lambda: self.kill_client(client))

    def stop_client(self):
        client = self.random.choice(self.writers)
        if client.process.poll() is None:
            client.stop()
            self.counts['writers stopped'] += 1
            self.after(LEASE + self.uniform(0, LEASE), client.resume)
        self.after(self.uniform(5, 20), self.stop_client)

    # ---- faults of the servers

    def next_fault(self):
        """Each kind once, in the order above; then at random, the killing of servers more often."""
        if not self.next_faults:
            self.next_faults = list(self.faults)
            if self.counts['faults']:
                self.next_faults += [self.kill_leader, self.kill_a_server] * 4 + [self.kill_all]
                self.random.shuffle(self.next_faults)
        self.counts['faults'] += 1
        seconds = self.next_faults.pop(0)()
        self.after(seconds, self.end_fault)

    def end_fault(self):
        self.network.heal()
        for server in self.cluster.servers:
            if server.is_stopped:
                server.resume()
            if not server.is_running():
                server.start()
        self.after(self.uniform(0.5, 6), self.next_fault)

    def leader(self):
        return self.cluster.leader(STREAM) or self.random.choice(self.cluster.servers)

    def kill_server(self, server):
        if server.is_running():
            server.kill()
            self.counts['servers killed'] += 1

    def kill_leader(self):
        server = self.leader()
        self.say(f'{server.name}, the leader, is killed')
        self.kill_server(server)
        return self.uniform(0, 6)

    def kill_a_server(self):
        server = self.random.choice(self.cluster.servers)
        self.say(f'{server.name} is killed')
        self.kill_server(server)
        return self.uniform(0, 6)

    def kill_two(self):
        self.say('two servers are killed')
        for server in self.random.sample(self.cluster.servers, 2):
            self.kill_server(server)
        return self.uniform(0, 6)

    def kill_all(self):
        self.say('all servers are killed')
        for server in self.cluster.servers:
            self.kill_server(server)
        return self.uniform(0, 3)

    def stop_server(self, server):
        server.stop()
        self.counts['servers stopped'] += 1
        return LEASE + self.uniform(2, 8)

    def stop_leader(self):
        server = self.leader()
        self.say(f'{server.name}, the leader, is stopped')
        return self.stop_server(server)

    def stop_a_server(self):
        server = self.random.choice(self.cluster.servers)
        self.say(f'{server.name} is stopped')
        return self.stop_server(server)

    def part(self, text):
        self.say(text)
        self.counts['partitions'] += 1
        return self.uniform(3, 14)

    def others(self, server):
        return [other for other in self.cluster.servers if other is not server]

    def part_leader_from_servers(self):
        server = self.leader()
        for other in self.others(server):
            self.network.cut(server.name, other.name)
        return self.part(f'{server.name}, the leader, is cut off from the others, not from clients')

    def isolate_a_server(self):
        server = self.random.choice(self.cluster.servers)
        self.network.isolate(server.name)
        return self.part(f'{server.name} is cut off')

    def part_clients_from_leader(self):
        server = self.leader()
        self.network.cut(servers.CLIENTS, server.name)
        return self.part(f'clients are cut off from {server.name}, the leader')

    def part_one_way(self):
        server = self.leader()
        is_mute = self.random.random() < 0.5
        for other in self.others(server):
            self.network.hold(*((server.name, other.name) if is_mute else (other.name, server.name)))
        return self.part(f'{server.name}, the leader, does not reach the others' if is_mute else
                         f'{server.name}, the leader, is not reached by the others')

    def part_all(self):
        for a, b in itertools.combinations(self.cluster.servers, 2):
            self.network.cut(a.name, b.name)
        return self.part('no server reaches another one')

    def close_connections(self):
        server = self.leader()
        self.network.close(server.name, proxy.EVERYBODY)
        return self.part(f'all connections of {server.name}, the leader, are closed')

    def damage_a_block(self):
        """Always of the same server: what is damaged there, two others have. Not of the newest block: a server that
        reads that one when it starts takes the damage for the end of its data."""
        server = self.damaged
        self.kill_server(server)
        blocks = self.cluster.block_files(server, STREAM)[:-1]
        if not blocks:
            self.say(f'{server.name} is killed; it has no block to damage yet')
            return 0
        path = self.random.choice(blocks)
        with open(path, 'r+b') as file:
            offset = self.random.randrange(os.path.getsize(path))
            file.seek(offset)
            byte = file.read(1)[0] ^ 1 << self.random.randrange(8)
            file.seek(offset)
            file.write(bytes([byte]))
        self.counts['damaged blocks'] += 1
        self.say(f'{server.name} is killed, and a bit of {path.name} is flipped at {offset}')
        return 0

    # ---- the end

    def execute(self, task, *arguments):
        """(exit code, output) of a task of cluster_writer; the last argument is the time it may take."""
        *words, seconds = arguments
        with open(self.folder / f'{task}.log', 'ab') as log:
            try:
                done = subprocess.run([self.tool('cluster_writer'), task, *words, *self.monitor()],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, timeout=seconds,
                                      text=True)
            except subprocess.TimeoutExpired:
                return f'none in {seconds} s', ''
        return done.returncode, done.stdout

    def check(self):
        self.end_fault()
        self.cluster.wait_until_ready()
        for client in self.clients:
            client.resume()
        self.say('all are well again')
        for client in self.clients:
            client.end()
        code, output = self.execute('list', self.cluster.url(DATABASE), str(self.folder / 'list.joedb'), 600)
        if code != 0:
            return self.fail(f'a new client: exit code {code}; see {self.folder}/list.log')
        self.check_history(output.split())
        self.check_copies()
        self.check_tool()

    def check_history(self, found):
        count = collections.Counter(found)
        acknowledged = [name for client in self.writers for name in client.acknowledged()]
        for name in acknowledged:
            if not count[name]:
                self.fail(f'lost: {name}')
        for name, times in count.items():
            if times > 1:
                self.fail(f'{times} times: {name}')
        if len(set(acknowledged)) < len(acknowledged):
            self.fail('acknowledged twice')
        last = {}
        for name in found:
            writer, number = name.rsplit('.', 1)
            if last.get(writer, -1) >= int(number):
                self.fail(f'in another order: {name}')
            last[writer] = int(number)
        self.counts['transactions'] = len(found)
        self.counts['acknowledged lost'] = sum(not count[name] for name in acknowledged)

    def check_copies(self):
        """Files of clients are equal up to the end of the shorter one."""
        whole = (self.folder / 'list.joedb').read_bytes()
        for client in self.clients:
            if not client.file.exists():
                continue
            code, output = self.execute('pull', self.cluster.url(DATABASE), str(client.file), PATIENCE)
            if code == 3:
                continue  # it had a transaction that was never acknowledged, and others have gone on
            if code != 0:
                self.fail(f'{client.name} cannot pull: exit code {code}; see {self.folder}/pull.log')
                continue
            end = min(int(output.split()[1]), len(whole))
            self.counts['equal copies'] += 1
            if client.file.read_bytes()[HEADER:end] != whole[HEADER:end]:
                self.fail(f'{client.file.name} and list.joedb differ')
        self.counts['diverged copies'] = len(glob.glob(str(self.folder / '*.diverged-*')))

    def check_tool(self):
        done = self.joedb('verify')
        if done.returncode != 0:
            self.fail(f'joedb nats verify: exit code {done.returncode}: {done.stdout}')

    def stop(self):
        for client in self.clients:
            if client.process and client.process.poll() is None:
                client.kill()
        self.cluster.stop()
        self.network.stop()


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seconds', type=float, default=300)
    parser.add_argument('--seed', type=int, default=random.randrange(1_000_000))
    parser.add_argument('--acknowledged', type=int, default=0)
    parser.add_argument('--kills', type=int, default=0)
    parser.add_argument('--server-kills', type=int, default=0)
    parser.add_argument('--partitions', type=int, default=0)
    parser.add_argument('--writers', type=int, default=5)
    parser.add_argument('--keep', action='store_true', help='the folder with all files and logs')
    parser.add_argument('tools')
    return parser.parse_args()


def main():
    arguments = parse()
    program = servers.nats_server.find()
    if not program or not servers.nats_server.is_recommended(program):
        print(f'skipped: no nats-server that syncs; {servers.nats_server.HOW_TO_GET_ONE}')
        return servers.SKIPPED
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    folder = tempfile.mkdtemp(prefix='joedb-chaos-')
    print(f'seed {arguments.seed}, {folder}', flush=True)
    chaos = Chaos(arguments, folder)
    try:
        chaos.run()
        if not chaos.wrong:
            chaos.check()
    except servers.Failure as error:
        chaos.fail(str(error))
    finally:
        chaos.stop()
    print(f'{chaos.summary()}, {len(chaos.wrong)} lost or wrong, {time.monotonic() - chaos.begin:.0f} s')
    if not chaos.wrong and not arguments.keep:
        shutil.rmtree(folder)
    return 1 if chaos.wrong else 0


if __name__ == '__main__':
    sys.exit(main())
