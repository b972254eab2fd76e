#!/usr/bin/env python3
"""Three nats-servers of this machine that keep one log.

usage: servers.py [--directory DIRECTORY]        (./dev cluster: in the foreground, until Ctrl-C)

Class Cluster is for tests: it starts, kills, stops and continues servers, and knows which one is the leader of
a stream. With a proxy.Network, everything that the servers and the clients say goes through it.
"""
import argparse
import glob
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / 'scripts')]
import nats_server  # noqa: E402 (from the folder above)

HOST = '127.0.0.1'
CLIENTS = 'clients'
# What ctest takes for a test that cannot be run here.
SKIPPED = 77

CONFIGURATION = '''\
server_name: {name}
listen: "127.0.0.1:{port}"
client_advertise: "127.0.0.1:{advertised_port}"
http: "127.0.0.1:{monitoring_port}"
ports_file_dir: "{ports}"
jetstream {{
  store_dir: "{store}"
{sync}}}
cluster {{
  name: joedb
  listen: "127.0.0.1:{cluster_port}"
{advertise}  no_advertise: true
  routes: [{routes}]
}}
'''


class Failure(Exception):
    pass


def mortal():
    """What makes a command that follows it end with this program."""
    return ['setpriv', '--pdeathsig', 'KILL'] if shutil.which('setpriv') else []


def is_free(port):
    with socket.socket() as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            end.bind((HOST, port))
        except OSError:
            return False
    return True


def free_ports(wanted):
    """These ports if all are free (0: any), or as many others."""
    if all(port and is_free(port) for port in wanted):
        return list(wanted)
    ends = [socket.create_server((HOST, 0)) for _ in wanted]
    ports = [end.getsockname()[1] for end in ends]
    for end in ends:
        end.close()
    return ports


class Server:
    """One of them. A killed server can be started again, and has what it had."""

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.folder = cluster.folder / name
        self.store = self.folder / 'data'
        self.process = None
        self.ports = None
        self.is_stopped = False
        self.advertised_port = self.monitor_port = None  # for clients

    def start(self):
        assert not self.is_running()
        for old in glob.glob(str(self.folder / '*.ports')):
            os.remove(old)
        self.ports = None
        command = [*mortal(), self.cluster.program, '-c', str(self.folder / 'server.conf')]
        with open(self.folder / 'server.log', 'ab') as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """As a crash: nothing is written any more."""
        self.process.kill()
        self.wait()

    def end(self):
        self.process.terminate()
        self.resume()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.wait()

    def wait(self):
        self.process.wait()
        self.is_stopped = False
        self.ports = None

    def stop(self):
        """It hangs, until resume()."""
        self.process.send_signal(signal.SIGSTOP)
        self.is_stopped = True

    def resume(self):
        self.process.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def port(self, kind):
        """The port of 'nats', 'cluster' or 'monitoring'; None if it does not listen yet."""
        if self.cluster.fixed_ports:
            return self.cluster.fixed_ports[self.name][kind]
        if self.ports is None and self.is_running():
            for path in glob.glob(str(self.folder / f'*_{self.process.pid}.ports')):
                try:
                    with open(path, encoding='utf-8') as file:
                        found = json.load(file)
                    self.ports = {each: int(urls[0].rsplit(':', 1)[1]) for each, urls in found.items()}
                except (ValueError, OSError, IndexError):
                    pass  # it is being written
        return self.ports and self.ports.get(kind)

    def ask(self, path, seconds=1.0):
        """The JSON that the monitoring port answers; None without an answer."""
        port = self.port('monitoring')
        if port is None or not self.is_running() or self.is_stopped:
            return None
        connection = http.client.HTTPConnection(HOST, port, timeout=seconds)
        try:
            connection.request('GET', path)
            return json.loads(connection.getresponse().read())
        except (OSError, ValueError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def log(self):
        return (self.folder / 'server.log').read_text(encoding='utf-8', errors='replace')


class Cluster:
    """Servers n1, n2, n3. End with stop(), or use it in a with statement.

    `wanted_ports` are those of clients, which are free in most cases; without them, the servers choose."""

    def __init__(self, folder, program=None, network=None, wanted_ports=None, count=3):
        self.program = program or nats_server.find()
        if not self.program:
            raise Failure(f'no nats-server: {nats_server.HOW_TO_GET_ONE}')
        self.syncs = nats_server.is_recommended(self.program)
        self.folder = pathlib.Path(folder).resolve()
        self.network = network
        self.servers = [Server(self, f'n{i + 1}') for i in range(count)]
        self.fixed_ports = None
        if network:
            self.link()
        else:
            self.fix_ports(wanted_ports or [])
        for server in self.servers:
            self.configure(server)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- who listens where

    def fix_ports(self, wanted):
        wanted = wanted or [0] * len(self.servers)
        kinds = {'nats': 0, 'cluster': 2000, 'monitoring': 4000}
        ports = iter(free_ports([port and port + above for above in kinds.values() for port in wanted]))
        self.fixed_ports = {server.name: {} for server in self.servers}
        for kind in kinds:
            for server in self.servers:
                self.fixed_ports[server.name][kind] = next(ports)

    def link(self):
        """A link from each server to each other one, and from clients to each."""
        self.routes = {}
        for server in self.servers:
            server.advertised_port = self.network.link(CLIENTS, server.name, lambda s=server: s.port('nats'))
            server.monitor_port = self.network.link(CLIENTS, server.name, lambda s=server: s.port('monitoring'))
            for other in self.servers:
                if other is not server:
                    self.routes[server.name, other.name] = self.network.link(
                        server.name, other.name, lambda s=other: s.port('cluster'))
        # Servers tell each other addresses of third ones. This one leads nowhere: only links are used.
        self.nowhere = self.network.link('nobody', 'nowhere', lambda: None)

    def configure(self, server):
        os.makedirs(server.folder, exist_ok=True)
        if self.network:
            ports = {'nats': -1, 'cluster': -1, 'monitoring': -1}
            routes = [self.routes[server.name, other.name] for other in self.servers if other is not server]
            advertise = f'  advertise: "{HOST}:{self.nowhere}"\n'
        else:
            ports = self.fixed_ports[server.name]
            server.advertised_port, server.monitor_port = ports['nats'], ports['monitoring']
            routes = [self.fixed_ports[other.name]['cluster'] for other in self.servers if other is not server]
            advertise = ''
        text = CONFIGURATION.format(
            name=server.name, port=ports['nats'], cluster_port=ports['cluster'],
            monitoring_port=ports['monitoring'], advertised_port=server.advertised_port,
            ports=server.folder, store=server.store, advertise=advertise,
            sync='  sync_interval: always\n' if self.syncs else '',
            routes=', '.join(f'"nats-route://{HOST}:{port}"' for port in routes))
        (server.folder / 'server.conf').write_text(text, encoding='utf-8')

    def url(self, database=''):
        """Where clients connect to."""
        hosts = ','.join(f'{HOST}:{server.advertised_port}' for server in self.servers)
        return f'nats://{hosts}/{database}' if database else f'nats://{hosts}'

    def monitor(self):
        """Where clients ask what the servers do, for the option of this name."""
        return ','.join(f'http://{HOST}:{server.monitor_port}' for server in self.servers)

    # ---- all of them

    def start(self):
        for server in self.servers:
            server.start()

    def stop(self):
        for server in self.servers:
            if server.is_running():
                server.process.terminate()
                server.resume()
        for server in self.servers:
            if server.is_running():
                server.end()

    def wait_until_ready(self, seconds=60):
        """Until all servers of the cluster know each other, and one leads them."""
        self.wait_for(self.is_ready, seconds, 'the servers do not form a cluster')

    def wait_for(self, condition, seconds, message):
        end = time.monotonic() + seconds
        while True:
            result = condition()
            if result:
                return result
            dead = [server for server in self.servers if server.process and not server.is_running()]
            if time.monotonic() > end or len(dead) == len(self.servers):
                raise Failure(f'{message} ({seconds} s)\n' + ''.join(
                    f'{server.name}: {"ended" if server in dead else "runs"}; {server.folder}/server.log: '
                    f'{server.log()[-600:]}\n' for server in self.servers))
            time.sleep(0.1)

    def is_ready(self):
        for server in self.servers:
            health = server.ask('/healthz')
            if not health or health.get('status') != 'ok':
                return False
        for server in self.servers:
            meta = (server.ask('/jsz') or {}).get('meta_cluster') or {}
            others = [each for each in meta.get('replicas') or [] if each.get('current')]
            if len(others) == len(self.servers) - 1:  # only the leader has this list
                return True
        return False

    # ---- streams

    def streams(self, server):
        """{name: what /jsz says} of a server; {} without an answer."""
        answer = server.ask('/jsz?accounts=true&streams=true&config=true') or {}
        return {stream['name']: stream for account in answer.get('account_details') or []
                for stream in account.get('stream_detail') or []}

    def leader(self, stream):
        """The server that leads a stream, or None."""
        for server in self.servers:
            found = self.streams(server).get(stream)
            name = ((found or {}).get('cluster') or {}).get('leader')
            if name == server.name:
                return server
        return None

    def block_files(self, server, stream):
        """The files in which a server has the messages of a stream, the oldest first."""
        return sorted(server.store.glob(f'jetstream/*/streams/{stream}/msgs/*.blk'),
                      key=lambda path: int(path.stem))


# ---- ./dev cluster

def screen(cluster, is_kept):
    url = cluster.url('city')
    lines = [f'Three servers run ({cluster.program}, '
             f'{".".join(map(str, nats_server.version(cluster.program)))}). Ctrl-C ends them.', '']
    if not cluster.syncs:
        lines += ['This version does not sync what it acknowledges: it does not survive a power cut of all three.', '']
    lines += ['  URL       ' + url,
              f'  data      {cluster.folder}' + ('' if is_kept else ' (removed at the end; --directory keeps it)'),
              f'  monitors  {cluster.monitor()}',
              '',
              'Try, in other terminals, with build/release/bin in the PATH:',
              '',
              f'  joedb nats create {url}',
              f'  joedb_client --new city.joedb nats {url}',
              f'  joedb_client --new other.joedb nats {url}',
              f'  joedb nats status {url}',
              '',
              f'With --monitor {cluster.monitor()} before the URL, the tools can ask',
              'whether all of these servers sync, and say that what is acknowledged survives a power cut.',
              '',
              'What happens when a server dies, or hangs, while a client writes:',
              '']
    for server in cluster.servers:
        lines.append(f'  kill -KILL {server.process.pid:<8}# {server.name}; kill -STOP, kill -CONT')
    lines += ['', 'A killed server is started again after 5 seconds.']
    print('\n'.join(lines), flush=True)


def watch(cluster):
    """Until a signal comes: starts killed servers again."""
    while True:
        for server in cluster.servers:
            if not server.is_running():
                print(f'{server.name} has ended', flush=True)
                time.sleep(5)
                server.start()
                print(f'{server.name} runs again: {server.process.pid}', flush=True)
        time.sleep(0.2)


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(prog='./dev cluster', description='Starts three local servers for trying.')
    parser.add_argument('directory', nargs='?', metavar='DIRECTORY', help='keeps the data here')
    parser.add_argument('--directory', dest='option', metavar='DIRECTORY', help='the same')
    parser.add_argument('--ports', type=int, default=4222, metavar='N',
                        help='N, N+1 and N+2 for clients, if free; 0: any')
    arguments = parser.parse_args()
    kept = arguments.directory or arguments.option
    folder = kept or tempfile.mkdtemp(prefix='joedb-cluster-')
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
    try:
        ports = [arguments.ports and arguments.ports + i for i in range(3)]
        with Cluster(folder, wanted_ports=ports) as cluster:
            cluster.start()
            cluster.wait_until_ready()
            screen(cluster, kept)
            watch(cluster)
    except KeyboardInterrupt:
        print('\nended')
        return 0
    except Failure as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
