#!/usr/bin/env python3
"""Counts what a durable commit costs the disk: flushes of the device, writes, bytes.

usage: flushes.py [--rows N] [--programs DIR] [--only TEXT]

The disk is an ext4 image in memory, behind a loop device that nobody else uses, so the counts are
without noise; it needs the right to mount it. How long a flush takes is another question. Each figure is
the difference between a run with 2 N rows and one with N, divided by N: what a program does once does
not count. With less than 1000 rows, SQLite's WAL is still growing, and costs one flush more.
"""
import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests/crash'))
from loop_disk import Impossible, Loop_Disk  # noqa: E402

# name, program, case: those of benchmarks/run
CASES = [
    ('joedb, hard checkpoint', 'joedb_benchmark', 'hard_checkpoint_per_row'),
    ('joedb, preallocated', 'joedb_benchmark', 'hard_checkpoint_per_row_preallocated'),
    ('joedb, 8 threads, group commit', 'joedb_benchmark', 'group_commit_per_row'),
    ('joedb, with two syncs', 'joedb_benchmark', 'hard_checkpoint_per_row_without_seals'),
    ('joedb, soft checkpoint', 'joedb_benchmark', 'soft_checkpoint_per_row'),
    ('SQLite, WAL, synchronous=FULL', 'sqlite_benchmark', 'commit_per_row_wal_full'),
    ('no database, append + fdatasync', 'floor_benchmark', 'append_and_datasync_per_row'),
    ('log, each synced', 'wal_benchmark', 'append_and_sync_each'),
    ('log, each synced, preallocated', 'wal_benchmark', 'append_and_sync_each_preallocated'),
    ('log, 8 threads', 'wal_benchmark', '8_threads_wait'),
    ('log, batches of 10, synced', 'wal_benchmark', 'sync_batches_of_10'),
    ('log, batches of 10, with on_batch', 'wal_benchmark', 'rotate_batches_of_10'),
    ('no library, write + fsync', 'wal_floor_benchmark', 'append_and_sync_each'),
    ('no library, zeros, pwrite + fdatasync', 'wal_floor_benchmark', 'write_to_zeros_and_datasync_each'),
]


def run(disk, command, case, rows):
    """What the device says about a run, on a disk with nothing else to do."""
    os.sync()
    before = disk.statistics()
    subprocess.run([command, case, str(rows), os.path.join(disk.path, 'database')], check=True)
    after = disk.statistics()
    for name in os.listdir(disk.path):
        if name.startswith('database'):
            os.remove(os.path.join(disk.path, name))
    return {key: after[key] - before[key] for key in after}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rows', type=int, default=2000, help='default 2000')
    parser.add_argument('--programs', default=os.path.join(ROOT, 'build/release/bin'))
    parser.add_argument('--only', default='', help='only what has this in its name')
    arguments = parser.parse_args()
    try:
        with Loop_Disk(256) as disk:
            print('flushes   writes    bytes     for one commit of')
            for name, program, case in CASES:
                if arguments.only in name:
                    command = os.path.join(arguments.programs, program)
                    once, twice = (run(disk, command, case, n * arguments.rows) for n in (1, 2))
                    if 'threads' in name:  # how many share a commit is another number each time
                        once = {key: value / 2 for key, value in twice.items()}
                    flushes, writes, size = ((twice[key] - once[key]) / arguments.rows
                                             for key in ('flushes', 'writes', 'bytes'))
                    print(f'{flushes:7.2f}  {writes:7.2f}  {size:7.0f}     {name}', flush=True)
    except Impossible as reason:
        sys.exit(f'not possible here: {reason}')


if __name__ == '__main__':
    main()
