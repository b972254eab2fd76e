#!/usr/bin/env python3
"""A tool that is interrupted leaves nothing under the name of the file that it writes.

usage: interrupted.py TOOLS_DIR

Each tool that writes a file runs under strace, which sends a signal at the first system call of a kind,
the second, and so on. Whatever the moment is, the name has the complete new file, or what it had
before; after SIGINT and SIGTERM nothing else is there either. After SIGKILL, the next run removes the rest.
Without a signal, the file is synced before it gets its name, and the directory afterwards. A tool that
replaces a file in place also sees these system calls fail.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import shell  # noqa: E402 (from the folder above)

CALLS = 'openat', 'pwrite64', 'copy_file_range', 'fsync', 'renameat2', 'rename', 'close', 'munmap'
SCHEMA = 'create_table t\nadd_field t name string\n'
BLOB = 'write_blob "bytes"\n'
ROWS = ''.join(f'insert_into t {i} "row {i}"\n' for i in range(20000))
MIDDLE = 118957  # an entry of in.joedb ends here
MOMENTS = 6  # of each kind of call, spread over the run after the program was loaded
IMPOSSIBLE = 77  # exit code: tracing is not allowed here
OLD = b'what was there before'


class Tool:
    """A command that writes OUT, from files that prepare() makes."""

    def __init__(self, command, out='out', text='', clock=0, start=0):
        self.command, self.out, self.text = command.split(), out, text
        self.start = start  # so many bytes at the beginning change after OUT has its name: checkpoints
        self.clock = clock  # so many bytes at the end of OUT are the time, and an integrity entry behind it

    def content(self, folder):
        found = content(os.path.join(folder, self.out))
        if found and found != OLD:
            found = found[self.start:len(found) - self.clock]
        return found


TOOLS = [
    Tool('joedb_pack in.joedb out'),
    Tool('joedb_pack --force in.joedb out'),
    Tool('joedb_pack --in-place in.joedb', out='in.joedb'),
    Tool('joedb_pack --in-place --keep old in.joedb', out='in.joedb'),
    Tool('joedb_pack --in-place --memory 1 in.joedb', out='in.joedb'),
    Tool(f'joedb_pack --keep-since {MIDDLE} in.joedb out'),
    Tool(f'joedb_pack --in-place --keep-since {MIDDLE} in.joedb', out='in.joedb'),
    Tool('joedb_forget --output out in.joedb t name', clock=34),
    Tool('joedb_forget in.joedb t name', out='in.joedb', clock=34),
    Tool('joedb_forget --backup old in.joedb t name', out='in.joedb', clock=34),
    Tool('joedb_convert in.joedb out'),
    Tool('joedb_convert --force in.joedb out'),
    Tool(f'joedb_branch in.joedb {MIDDLE} out'),
    Tool(f'joedb_branch --force in.joedb {MIDDLE} out'),
    Tool('joedb_merge in.joedb in.joedb out'),
    Tool('joedb_push in.joedb file out', start=41),
    Tool('joedbc schema', out='schema.h'),
    Tool('joedbi --read blob.joedb', text='read_blob 43,5 out\n'),
]


def run(command, folder, text='', **options):
    return subprocess.run(command, cwd=folder, input=text, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, **options)


def prepare(tools, folder):
    for name, text in ('in.joedb', SCHEMA + ROWS), ('blob.joedb', BLOB):
        result = run([f'{tools}/joedbi', '--new', name], folder, text)
        assert result.returncode == 0, result.stdout
    for name, text in ('schema.joedbi', SCHEMA), ('schema.joedbc', 'namespace schema\n'):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(text)


def content(path):
    if not os.path.exists(path):
        return None
    with open(path, 'rb') as file:
        return file.read()


def trace(tools, tool, folder, calls, *options, strace=shell.FAST_STRACE):
    """Runs the tool; returns the exit code."""
    command = [f'{tools}/{tool.command[0]}', *tool.command[1:]]
    return run([*strace, '-e', f'trace={calls}', *options, *command], folder, tool.text).returncode


def lines_of(log, files):
    """Of a trace: the lines before the first one that names a file, which are of the loader, and the others."""
    with open(log, encoding='utf-8', errors='replace') as file:
        lines = [line.split(None, 1)[1] for line in file]
    os.remove(log)
    first = next(i for i, line in enumerate(lines) if any(f'"{name}"' in line for name in files))
    return lines[:first], lines[first:]


def check_order(tool, lines):
    """The file is synced, renamed, and the directory is synced."""
    rename = next(i for i, line in enumerate(lines) if re.match('rename', line) and f'{tool.out}"' in line)
    syncs = [i for i, line in enumerate(lines) if line.startswith('fsync') and '.tmp-' in line and i < rename]
    after = [line for line in lines[rename:] if line.startswith('fsync')]
    assert syncs, 'the file is not synced before it gets its name'
    assert after and '.tmp-' not in after[0] and f'{tool.out}>' not in after[0], 'the directory is not synced'


def faults_of(tool):
    signals = ['signal=KILL', 'signal=TERM', 'signal=INT']
    return signals + ['error=EIO', 'error=ENOSPC'] if tool.out == 'in.joedb' else signals


def check_again(tools, tool, folder, complete, where):
    """What a killed run has left does not stop the next one, which removes it."""
    result = run([f'{tools}/{tool.command[0]}', *tool.command[1:]], folder, tool.text)
    assert result.returncode == 0 and tool.content(folder) == complete, f'{where}, and again: {result.stdout}'
    rest = [name for name in os.listdir(folder) if '.tmp-' in name]
    assert not rest, f'{where}, and again: {rest} was left'


def check(tools, tool, start):
    """Returns how many signals were sent, or calls have failed."""
    with shell.temporary_folder() as top:
        folder = os.path.join(top, 'clean')
        shutil.copytree(start, folder)
        before = OLD if '--force' in tool.command else tool.content(folder)
        if before == OLD:
            with open(os.path.join(folder, 'out'), 'wb') as file:
                file.write(before)
        files = set(os.listdir(folder))
        spare = os.path.join(top, 'spare')
        shutil.copytree(folder, spare)
        log = os.path.join(folder, 'trace')
        code = trace(tools, tool, folder, ','.join(CALLS), '-y', '-o', log)
        loading, lines = lines_of(log, files)
        complete = tool.content(folder)
        assert code == 0 and complete not in (None, before), 'the tool does not work'
        check_order(tool, lines)
        made = set(os.listdir(folder)) - files
        count = 0
        for call in CALLS:
            first, calls = (sum(line.startswith(call + '(') for line in part) for part in (loading, lines))
            for n in sorted({1 + i * calls // MOMENTS for i in range(MOMENTS)} | {calls}) if calls else ():
                for fault in faults_of(tool):
                    folder = os.path.join(top, 'run')
                    shutil.copytree(spare, folder)
                    code = trace(tools, tool, folder, call, '-o', '/dev/null', '-e',
                                 f'inject={call}:{fault}:when={first + n}',
                                 strace=shell.STRACE if 'signal' in fault else shell.FAST_STRACE)
                    found = tool.content(folder)
                    where = f'{" ".join(tool.command)}, {fault} at {call} {first + n}'
                    assert fault != 'signal=KILL' or code in (-9, 137), f'{where}: it was not killed'
                    assert found in (before, complete), f'{where}: {tool.out} is incomplete'
                    assert code != 0 or found == complete, f'{where}: {tool.out} is the old one'
                    rest = {name for name in set(os.listdir(folder)) - files - made
                            if fault != 'signal=KILL' or '.tmp-' not in name}
                    assert not rest, f'{where}: {sorted(rest)} was left'
                    if fault == 'signal=KILL' and found == before:
                        check_again(tools, tool, folder, complete, where)
                    shutil.rmtree(folder)
                    count += 1
        return count


def main(tools):
    if not shell.can_trace():
        print('strace does not work here')
        return IMPOSSIBLE
    failed = 0
    with shell.temporary_folder() as start, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        prepare(tools, start)
        for tool, job in [(tool, pool.submit(check, tools, tool, start)) for tool in TOOLS]:
            try:
                print(f'{" ".join(tool.command)}: {job.result()} interruptions')
            except AssertionError as error:
                print(f'FAIL {" ".join(tool.command)}: {error}')
                failed += 1
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(os.path.abspath(sys.argv[1])))
