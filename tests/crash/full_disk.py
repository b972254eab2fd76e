#!/usr/bin/env python3
"""A disk becomes full, again and again, and after something was deleted writing goes on.

usage: full_disk.py TOOLS_DIR [--rounds N] [--seed N]

The disk is a small ext4 image behind a loop device: without the right to mount it, the test is skipped.
Each round leaves a little space, and lets a program write until there is none. Then

  * the program has said so, with the name of the file, and has ended with 1; joedbi could still read,
  * on the full disk, all that was acknowledged can be read by others,
  * another writer fails in the same way, and does no harm,
  * when space is free, one that opens the file, if need be with --recovery overwrite, goes on.
"""
import argparse
import os
import random
import re
import sys

from journal import SCHEMA, SKIPPED, Failure, Log, insertion, require, run
from loop_disk import Impossible, Loop_Disk

MEGABYTES = 8
MANY = 5000  # rows: more than fit
FOUND = (880292,)  # seeds that have failed: preallocated zeros took the room of the content
FULL = 'No space left on device'
TAIL = 'ends with an unfinished transaction'


class Disk(Loop_Disk):
    def fill(self, left):
        """Leaves about so many bytes."""
        with open(os.path.join(self.path, 'ballast'), 'ab', buffering=0) as file:
            for size in 1 << 18, 1 << 12:
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass
            os.fsync(file.fileno())
            file.truncate(file.tell() // 4096 * 4096 - left)
            os.fsync(file.fileno())  # only then others can have the blocks

    def free(self):
        os.remove(os.path.join(self.path, 'ballast'))
        os.sync()


class Round:
    def __init__(self, tools, disk, seed):
        self.tools, self.disk = tools, disk
        self.random = random.Random(seed)
        self.path = os.path.join(disk.path, 'db.joedb')
        self.log = Log(tools, self.path)

    def tool(self, name):
        return os.path.join(self.tools, name)

    # each returns the number of rows that were promised, at most

    def write_natively(self, rows, recovery='none'):
        options = ['--level', self.random.choice(('soft', 'hard', 'mixed')),
                   '--per-commit', str(self.random.choice((1, 5, 60))),
                   '--seed', str(self.random.randrange(1 << 31)), '--recovery', recovery,
                   *self.random.choice(([], ['--shared'], ['--mapped'], ['--mapped', '--integrity']))]
        self.result = run([self.tool('crash_writer'), self.path, '--rows', str(rows), *options])
        said = [int(number) for number in re.findall(r'^[!#] (\d+)$', self.result[1], re.M)]
        return said[-1] if said else 0

    def write_commands(self, rows, _):
        """joedbi, one checkpoint for each row. At the end it shows the first row."""
        bail = self.random.choice(([], ['--bail']))
        numbers = range(self.log.count(1) + 1, rows + 1)
        text = '' if self.log.text else SCHEMA
        command = self.random.choice(('soft_checkpoint', 'hard_checkpoint'))
        text += ''.join(f'{insertion(1, number)}{command}\n' for number in numbers)
        self.result = run([self.tool('joedbi'), '--write-or-new', *bail, self.path],
                          text + 'record row 0\n')
        promised = self.result[1].count(f'OK: {command}\n')
        if promised and not bail:
            require('number: 1\n' in self.result[1], 'after the failure it could not read')
        return self.log.count(1) + promised

    def require_full(self):
        code, output, error = self.result
        said = re.search(f'{re.escape(self.path)}.*{FULL}', output + error)
        require(said and code == 1, f'exit code {code}, no word about the full disk:', output[-300:], error)

    def check(self, promised):
        before = self.log.count(1)
        self.log.update()
        require(self.log.count(1) >= max(before, promised), f'{self.log.count(1)} rows are there, but',
                promised, 'were promised')

    def open_on_full_disk(self):
        """What is to be cut off can be cut off, but then it fails as the one before."""
        recovery = self.random.choice(('none', 'overwrite'))
        promised = self.write_natively(self.log.count(1) + MANY, recovery)
        if not (recovery == 'none' and TAIL in self.result[2]):
            self.require_full()
        self.check(promised)

    def go_on(self):
        rows = self.log.count(1) + 10
        promised = self.write_natively(rows)
        require(self.result[0] == 0 and promised == rows, 'with space it does not go on:',
                *self.result)
        self.check(promised)

    def play(self):
        if self.random.random() < 0.7:
            self.write_natively(self.random.randint(1, 50))
            self.log.update()
        self.disk.fill(self.random.choice((0, 1, 2, 3, 5, 10, 30)) * 4096)
        try:
            write = self.random.choice((self.write_natively, self.write_commands))
            promised = write(self.log.count(1) + MANY, 'none')
            self.require_full()
            self.check(promised)
            for _ in range(self.random.randrange(3)):
                self.open_on_full_disk()
        finally:
            self.disk.free()
        self.go_on()
        os.remove(self.path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('tools', help='the folder of the programs')
    parser.add_argument('--rounds', type=int, default=25)
    parser.add_argument('--seed', type=int, default=random.randrange(1_000_000))
    arguments = parser.parse_args()
    seeds = [*FOUND, *range(arguments.seed, arguments.seed + arguments.rounds)]
    tools = os.path.abspath(arguments.tools)
    try:
        with Disk(MEGABYTES) as disk:
            for seed in seeds:
                try:
                    Round(tools, disk, seed).play()
                except Failure as failure:
                    print(f'seed {seed}: {failure}\n'
                          f'again: {sys.argv[0]} {arguments.tools} --rounds 1 --seed {seed}')
                    return 1
    except Impossible as reason:
        print(f'skipped: {reason}')
        return SKIPPED
    print(f'{len(seeds)} rounds, seeds from {arguments.seed} on')
    return 0


if __name__ == '__main__':
    sys.exit(main())
