"""Transactions on a cluster of three NATS servers of this machine, which sync before they acknowledge."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'cluster'))
from servers import Cluster, Failure  # noqa: E402 (from the folder above)

SECONDS = 10


def measure_cluster(programs, directory):
    try:
        with Cluster(os.path.join(directory, 'cluster')) as cluster:
            cluster.start()
            cluster.wait_until_ready()
            urls = [cluster.url(database) for database in ('journal', 'raw')]
            for url in urls:
                subprocess.run([os.path.join(programs, 'joedb'), 'nats', 'create', url], check=True,
                               stdout=subprocess.DEVNULL)
            result = subprocess.run([os.path.join(programs, 'cluster_benchmark'), *urls, str(SECONDS)],
                                    check=True, capture_output=True, text=True)
    except Failure as error:
        print(error)
        return
    rates = json.loads(result.stdout)
    print('transactions of 100 bytes on three servers, each of which syncs:')
    print(f'  raw publish, one at a time    {rates["raw"]:8.0f} /s')
    print(f'  one client                    {rates["one"]:8.0f} /s   {rates["raw"] / rates["one"]:.2f} of the time')
    print(f'  eight threads, one push       {rates["group_of_8"]:8.0f} /s   '
          f'{rates["group_of_8"] / rates["one"]:.1f} times one client')
