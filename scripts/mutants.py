#!/usr/bin/env python3
"""Plants the errors of tests/crash/mutants.py in the code, one at a time, and shows by which attack
of the crash laboratory each is found, and after how many seeds: a table in Markdown. The attacks are tried
in turn, until one finds it; for errors of servers and clients only the network laboratory, and for those of
journals on a cluster only that of replicated logs.

usage: mutants.py [--check] [--seconds N] [NAME...]

--check: only that each text to be replaced stands in its file exactly once. --seconds: per attack.
Needs build/release/bin/joedb; what it makes is in build/mutants/. Exit code 1: a mutant was not found.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests/crash'))
from mutants import MUTANTS  # noqa: E402 (from the folder above)

BUILD = os.path.join(ROOT, 'build/release')
OUT = os.path.join(ROOT, 'build/mutants')
USER_OF_HEADERS = 'src/sim/lab/scenario.cc'  # what is in a header is compiled with it
ATTACKS = 'kill', 'power', 'error'
NETWORK = 'network'  # instead of these, for servers and clients
CLUSTER = 'replicated_log'  # and for journals on a cluster
SNAPSHOTS = 'snapshots'  # and for snapshots


def source_of(mutant):
    with open(os.path.join(ROOT, mutant.file), encoding='utf-8') as f:
        return f.read()


def check():
    wrong = [m for m in MUTANTS if source_of(m).count(m.old) != 1]
    for m in wrong:
        print(f'{m.name}: {source_of(m).count(m.old)} times in {m.file}, and should be there once:\n{m.old}')
    print(f'{len(MUTANTS)} mutants, {len(wrong)} of which do not fit the code')
    return 1 if wrong else 0


def link_command():
    lines = subprocess.run(['ninja', '-C', BUILD, '-t', 'commands', 'bin/joedb'], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines()
    command = next(line for line in reversed(lines) if re.search(r' -o bin/joedb ', line))
    return re.sub(r'^: && | && .*$', '', command)


def unit_of(path):
    """The compiled file that includes a source file, the source files of its folder being compiled as one
    (or the source file itself), and its command."""
    with open(f'{BUILD}/compile_commands.json', encoding='utf-8') as f:
        commands = {c['file']: c['command'] for c in json.load(f) if ' -o src/' in c['command']}
    for file, command in commands.items():
        if file == path:
            return file, command
        if '/Unity/' in file:
            with open(file, encoding='utf-8') as f:
                if f'#include "{path}"' in f.read():
                    return file, command
    raise LookupError(path)


def build(mutant, number):
    """The program with the error in it."""
    os.makedirs(OUT, exist_ok=True)
    source, output, folder = f'{OUT}/{number}.cc', f'{OUT}/{number}', f'{OUT}/{number}.include'
    is_header = mutant.file.endswith('.h')
    changed = f'{folder}/{mutant.file.removeprefix("include/")}' if is_header else f'{OUT}/{number}.part.cc'
    os.makedirs(os.path.dirname(changed), exist_ok=True)
    with open(changed, 'w', encoding='utf-8') as f:
        f.write(source_of(mutant).replace(mutant.old, mutant.new))
    part = os.path.join(ROOT, USER_OF_HEADERS if is_header else mutant.file)
    unit, command = unit_of(part)
    with open(unit, encoding='utf-8') as f:
        text = f.read()
    if not is_header:
        text = text.replace(f'"{part}"', f'"{changed}"') if unit != part else f'#include "{changed}"\n'
    with open(source, 'w', encoding='utf-8') as f:
        f.write(text)
    command = re.sub(r' -c \S+', f' -c {source}', command).replace(' -Werror ', ' ')
    if is_header:
        command = command.replace(' -I', f' -I{folder} -I', 1)
    command = re.sub(r'-o \S+', f'-o {output}.o', command)
    subprocess.run(shlex.split(command) + ['-w'], cwd=BUILD, check=True)
    # Before the library, which then need not give its own.
    link = link_command().replace(' -o bin/joedb ', f' {output}.o -o {output} ')
    subprocess.run(shlex.split(link), cwd=BUILD, check=True)
    return output


def attack(program, kind, seconds, of_logs):
    """The seed that finds the error, or None."""
    try:
        what = ([f'--{kind}'] if kind in (NETWORK, CLUSTER, SNAPSHOTS)
                else ['--attack', kind, *(['--wal'] if of_logs else [])])
        result = subprocess.run([program, 'crash-lab', *what, '--jobs', '1', '--seconds', str(seconds)],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                timeout=2 * seconds + 60)
    except subprocess.TimeoutExpired:
        return 'hangs'
    if result.returncode == 0:
        return None
    seed = re.search(r'^FAILURE: seed (\d+)', result.stdout, re.M)
    return seed[1] if seed else 'crashes'


def kinds_for(mutant):
    if re.match('server:|client:|relay:', mutant.name):
        return [NETWORK]
    if mutant.name.startswith('snapshot:'):
        return [SNAPSHOTS]
    return [CLUSTER] if mutant.name.startswith('cluster:') else ATTACKS


def main():
    arguments = sys.argv[1:]
    if '--check' in arguments:
        return check()
    seconds = 20
    if '--seconds' in arguments:
        i = arguments.index('--seconds')
        seconds = int(arguments[i + 1])
        del arguments[i:i + 2]
    print('| error | attack | seeds |\n|---|---|--:|')
    missed = 0
    for number, mutant in enumerate(MUTANTS):
        if arguments and not any(a in mutant.name for a in arguments):
            continue
        program = build(mutant, number)
        of_logs = re.match('log:|copies:|segments:', mutant.name)
        for kind in kinds_for(mutant):
            found = attack(program, kind, seconds, of_logs)
            if found:
                break
        print(f'| {mutant.name} | {kind} | {found} |' if found else f'| {mutant.name} | - | - |', flush=True)
        missed += not found
    if missed:
        print(f'\n{missed} not found')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
