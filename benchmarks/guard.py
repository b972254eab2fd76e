"""benchmarks/run --check: fails if joedb is slower than it was, beside what the machine needs.

Each figure is joedb's time of the processor, in the program and in the system, divided by that of the floor,
minima over rounds in turns: so it is the same on a slow machine, and noise, which only ever adds time, has
to hit all rounds to be seen. What waits for the disk is for benchmarks/flushes.py to count.
"""
import json
import os
import statistics
import subprocess

from suite import FLOOR, JOEDB, ROOT, WAL, WAL_FLOOR, Case, say

EXPECTED = os.path.join(ROOT, 'benchmarks/expected.json')
TOLERANCE = 1.25
ROUNDS = 4, 4, 6  # what seems slow is measured again

# The header of a file is mapped to memory only on some file systems (size_to_map in src/kernel/io/posix_file.cc).
SOFT = 'soft commit'
MAPPED = ['ext2/ext3', 'xfs', 'overlayfs', 'tmpfs']

# It has programs of its own.
LOG = 'log, buffered'

# Name: rows, case of joedb, case of the floor, and the case that made the file both read. What is
# measured takes 0.1 s or more, so that starting a process does not count.
CHECKS = {
    'insert, one by one': (4_000_000, 'insert_rows', 'insert_rows', None),
    'insert, as vectors': (6_000_000, 'insert_vectors', 'insert_vectors', None),
    'reopen, written one by one': (4_000_000, 'open_and_sum', 'open_rows_and_sum', 'insert_rows'),
    'reopen, written as vectors': (10_000_000, 'open_and_sum', 'open_vectors_and_sum', 'insert_vectors'),
    'update': (2_000_000, 'update_rows', 'update_rows', 'insert_rows'),
    SOFT: (100_000, 'soft_checkpoint_per_row', 'two_writes_per_row', None),
    'index': (200_000, 'insert_words', 'insert_words', None),
    'find': (200_000, 'open_and_find', 'open_and_find', 'insert_words'),
    LOG: (400_000, 'append', 'append', None),
}


class Check:
    def __init__(self, name):
        self.name = name
        self.rows, ours, floor, made_by = CHECKS[name]
        programs = (WAL, WAL_FLOOR) if name == LOG else (JOEDB, FLOOR)
        self.cases = [Case('', program, what, made_by and f'{program} {made_by}', changes=what == 'update_rows',
                           removes=name == LOG)
                      for program, what in zip(programs, (ours, floor))]
        self.best = [float('inf')] * 2

    def floor(self):
        """What the ratio is of: no other may be compared with it."""
        return f'{self.cases[1].what}, {self.rows} rows'

    def ratio(self):
        return self.best[0] / self.best[1]

    def measure(self, runner, rounds):
        for _ in range(rounds):
            for number, case in enumerate(self.cases):
                self.best[number] = min(self.best[number], runner.run(case, self.rows)['processor'])
        return self.ratio()


def run_checks(runner, update, only):
    """Compares with what is expected, or writes that; returns the exit code."""
    with open(EXPECTED, encoding='utf-8') as f:
        expected = json.load(f)
    checks = [Check(name) for name in CHECKS if not only or any(text in name for text in only)]
    failed = compared = 0
    print('  ratio  expected')
    kind = subprocess.run(['stat', '-f', '-c', '%T', runner.directory], capture_output=True, text=True,
                          check=True).stdout.strip()
    for check in checks:
        if check.name == SOFT and kind not in MAPPED:
            print(f'                   {check.name}: not compared on {kind}')
            continue
        say(f'check: {check.name}')
        if update:
            runs = [Check(check.name).measure(runner, ROUNDS[0]) for _ in range(7)]
            expected[check.name] = {'ratio': round(statistics.median(runs), 2), 'floor': check.floor()}
            say('')
            print(f'{statistics.median(runs):7.2f}            {check.name} '
                  f'({min(runs):.2f} to {max(runs):.2f})', flush=True)
            continue
        wanted = expected.get(check.name)
        if not wanted or wanted['floor'] != check.floor():
            print(f'{check.name}: {EXPECTED} is of another floor: run benchmarks/run --check --update')
            return 1
        compared += 1
        for rounds in ROUNDS:
            if check.measure(runner, rounds) <= wanted['ratio'] * TOLERANCE:
                verdict = ''
                break
        else:
            verdict = f'   TOO SLOW: more than {TOLERANCE} times what is expected'
            failed += 1
        say('')
        print(f'{check.ratio():7.2f} {wanted["ratio"]:9.2f}  {check.name}{verdict}', flush=True)
    if update:
        with open(EXPECTED, 'w', encoding='utf-8') as f:
            json.dump(expected, f, indent=1)
            f.write('\n')
    elif not compared:
        print('nothing was compared')
        return 1
    return 1 if failed else 0
