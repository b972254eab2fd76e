#!/usr/bin/env python3
"""Every system call of an unmodified program fails once, or is its last one.

usage: injected.py TOOLS_DIR [--only TEXT] [--jobs N]

A clean run under strace tells how often a program calls fsync, pwrite64, ... on its database. Then it
runs again and again: with an error, or SIGKILL, at the first of these calls, the second, and so on
(strace --inject). And with a limit of the file's size at every few bytes, so that a write is cut in
its middle. After each run

  * the program has said which file and why, and its exit code is not 0 (an interrupted call is made
    again, and an unlock may fail: then all the work is done),
  * what it had acknowledged is there, and of any other transaction everything or nothing,
  * after a failed write, sync or truncation it has written and synced nothing any more,
  * another process can open the file and go on, if need be with --recovery overwrite.
"""
import argparse
import concurrent.futures
import os
import re
import resource
import signal
import subprocess
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import shell  # noqa: E402 (from the folder above)
from journal import SCHEMA, SKIPPED, Failure, Log, insertion, require, run  # noqa: E402

CLOSING = 'joedb destructor warning: '
ZEROS = re.compile(r'pwrite64\(\d+, "(\\0){8}')
ERASING = re.compile(r'pwrite64\(\d+, "(\\0)+"')
WRITING = ('fsync', 'fdatasync', 'pwrite64', 'ftruncate')
# What happens once, or, with a +, from then on.
FAULTS = {
    'fsync': ('error=EIO', 'error=EIO+', 'signal=KILL'),
    'fdatasync': ('error=EIO', 'signal=KILL'),
    'pwrite64': ('error=ENOSPC', 'error=ENOSPC+', 'error=EINTR', 'retval=0', 'signal=KILL'),
    'ftruncate': ('error=EIO', 'error=EINTR', 'signal=KILL'),
    'fcntl': ('error=ENOLCK', 'error=EINTR'),
    'pread64': ('error=EIO', 'error=EINTR'),
}
# The first program also sees other errors, which differ only by their message.
MORE_FAULTS = {'fsync': ('error=ENOSPC',), 'pwrite64': ('error=EIO', 'error=EDQUOT')}
CAUSES = {'EIO': 'Input/output error', 'ENOSPC': 'No space left on device', 'EDQUOT': 'Disk quota exceeded',
          'ENOLCK': 'No locks available'}
LIMITS = 8  # sizes at which a file is cut, for each program
TAIL = 'ends with an unfinished transaction'


# ---- programs

class Program:
    """What is run, and how much of it was acknowledged."""
    input = ''
    rows = {}  # of each writer at the end
    goes_on = False  # after a command that has failed, and ends as if none had

    def __init__(self, tools):
        self.tools = tools

    def tool(self, name):
        return os.path.join(self.tools, name)

    def prepare(self, path):
        """Makes the file that the program opens, if it does not make it itself."""

    def command(self, path):
        raise NotImplementedError

    def check(self, output, log):
        """Compares what it said with what is there."""
        raise NotImplementedError

    def go_on(self, path, before, after):
        """Another process writes to the file."""
        command = [self.tool('crash_writer'), path, '--writer', '99', '--rows', '2', '--level', 'mixed']
        code, _, error = run(command)
        if code != 0:
            require(TAIL in error, 'opening it again:', error)
            code, _, error = run([*command, '--recovery', 'overwrite'])
        require(code == 0, 'going on:', error)
        after.update()
        require(after.count(99) == 2 and after.records == before.records + 2, 'going on has made',
                after.text[-300:])


class Native(Program):
    """crash_writer: the last line that begins with ! or # is a promise, one with ? may have come true."""
    arguments = ()

    def __init__(self, tools):
        super().__init__(tools)
        self.rows = {1: int(self.arguments[1])}

    def command(self, path):
        return [self.tool('crash_writer'), path, *self.arguments]

    def check(self, output, log):
        said = {event: int(count) for event, count in
                re.findall(r'^([@?!]) (\d+)$', output.replace('#', '!'), re.M)}
        count, least = log.count(1), said.get('!', said.get('@', 0))
        require(count in (least, said.get('?', least)), f'{count} rows are there, said was:', output)


class Hard(Native):
    arguments = '--rows', '3', '--level', 'hard'


class Classic(Native):
    """Two syncs for each hard checkpoint, as joedb 10."""
    arguments = '--rows', '3', '--level', 'mixed', '--no-seals', '--seed', '4'


class Covered(Native):
    arguments = '--rows', '3', '--level', 'mixed', '--integrity', '--seed', '5'


class Ahead(Native):
    """The file is preallocated, by two blocks; where that fails, it grows as usual."""
    arguments = '--rows', '45', '--per-commit', '20', '--level', 'mixed', '--seed', '10', \
        '--preallocate', '8192'


class Mapped(Native):
    """What is written is copied to memory; where the file cannot be preallocated, it is written."""
    arguments = '--rows', '45', '--per-commit', '20', '--level', 'mixed', '--seed', '10', '--mapped'


class Pieces(Native):
    """Transactions that reach the file in several writes, and some of them are rolled back."""
    arguments = '--rows', '45', '--per-commit', '20', '--level', 'mixed', '--seed', '10'


class Shared(Native):
    """Together with the tail of a dead writer, which is cut off."""
    arguments = '--rows', '4', '--per-commit', '2', '--level', 'mixed', '--seed', '3', '--shared', \
        '--recovery', 'overwrite'

    def prepare(self, path):
        run([self.tool('joedbi'), '--write-or-new', path],
            SCHEMA + insertion(7, 1) + 'soft_checkpoint\n' + insertion(7, 2) + 'abort\n')


class Commands(Program):
    """A tool that acknowledges each command. Transaction N writes the rows of writer N."""

    def __init__(self, tools):
        super().__init__(tools)
        self.rows = {name: 2 for name in range(1, 1 + len(self.commands))}
        self.input = ''.join(self.transaction(name, command)
                             for name, command in enumerate(self.commands, 1))

    def insertions(self, name):
        return (SCHEMA if name == 1 else '') + insertion(name, 1) + insertion(name, 2)

    def check(self, output, log):
        """Rows that were inserted are promised by the next checkpoint."""
        waiting, promised = [], []
        for line in output.splitlines():
            if match := re.search(r'OK: insert_into row -1 (\d+)', line):
                waiting.append(int(match[1]))
            elif re.search(r'OK: rollback|Line \d+: transaction', line):
                waiting = []
            elif re.search(rf'OK: ({"|".join(self.commands)})$', line):
                promised += waiting
                waiting = []
        for name in self.rows:
            require(log.count(name) >= promised.count(name) and log.count(name) in (0, 2),
                    f'{log.count(name)} rows of transaction {name} are there, said was:', output)


class Interpreter(Commands):
    goes_on = True
    commands = 'soft_checkpoint', 'hard_checkpoint', 'hard_checkpoint', 'soft_checkpoint'

    def command(self, path):
        return [self.tool('joedbi'), '--write-or-new', path]

    def transaction(self, name, command):
        nothing = insertion(-1, 5) + 'flush\nrollback\n' if name == 3 else ''
        return nothing + self.insertions(name) + command + '\n'


class Script(Interpreter):
    goes_on = False

    def command(self, path):
        return [self.tool('joedbi'), '--bail', '--write-or-new', path]


class Client(Commands):
    goes_on = True
    commands = ('transaction',) * 3

    def command(self, path):
        return [self.tool('joedb_client'), '--hard-checkpoint', '--shared', path]

    def transaction(self, name, command):
        return f'transaction\n{self.insertions(name)}quit\n'


class Push(Program):
    """joedb_push, to a file with few rows: all or nothing, and then the rest. (interrupted.py: to a new file)"""
    rows = {1: 2000}
    first = 50  # rows that are in both files

    def command(self, path):
        return [self.tool('joedb_push'), '--hard-checkpoint', path + '.source', 'file', path]

    def prepare(self, path):
        for rows in self.first, self.rows[1]:
            run([self.tool('crash_writer'), path + '.source', '--rows', str(rows), '--per-commit', '50'])
            if rows == self.first:
                run(self.command(path))

    def check(self, output, log):
        require(log.count(1) in (self.first, self.rows[1]), 'it has pushed only', log.count(1), 'rows')

    def go_on(self, path, before, after):
        code, _, error = run(self.command(path))
        if code != 0:
            require(TAIL in error, 'pushing again:', error)
            run([self.tool('joedb_client'), '--recovery', 'overwrite', path])
            code, _, error = run(self.command(path))
        require(code == 0, 'pushing again:', error)
        after.update()
        require(after.counts == self.rows, 'pushing again has made', after.counts)


PROGRAMS = Hard, Classic, Covered, Ahead, Mapped, Pieces, Shared, Interpreter, Script, Client, Push


# ---- one run

class Run:
    """A program in a folder of its own."""

    def __init__(self, program):
        self.program = program
        self.place = shell.temporary_folder('joedb-injected-')
        self.folder = self.place.name
        self.path = os.path.join(self.folder, 'db.joedb')
        self.trace = os.path.join(self.folder, 'trace')
        program.prepare(self.path)

    def trace_with(self, *options):
        """Only calls on the file, and on its folder, are seen and counted."""
        strace = shell.STRACE if any('signal=' in option for option in options) else shell.FAST_STRACE
        command = [*strace, '-o', self.trace, '-P', self.path, '-P', self.folder, '-e',
                   'trace=' + ','.join(FAULTS), *options, *self.program.command(self.path)]
        self.result = run(command, self.program.input)

    def limit(self, size):
        """A file that would be larger cannot be written: the write before it is cut."""
        def begin():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        process = subprocess.run(self.program.command(self.path), input=self.program.input,
                                 capture_output=True, encoding='utf-8', preexec_fn=begin)
        self.result = process.returncode, process.stdout, process.stderr

    def calls(self):
        """The system calls in their order: name and line."""
        with open(self.trace, encoding='utf-8', errors='replace') as file:
            return [(match[1], line) for line in file
                    if (match := re.match(r'\d+ +(\w+)\(', line))]

    def check_message(self, cause):
        """The world failed, and the program tells."""
        code, output, error = self.result
        said = re.search(re.escape(self.path) + '.*' + re.escape(cause), output + error)
        require(said and (code == 1 or self.program.goes_on and code == 0),
                f'no word about it, exit code {code}: {output}{error}')

    def check_done(self):
        """It did not matter."""
        code, output, error = self.result
        require(code == 0, 'it did not go on:', code, output, error)
        require(self.log().counts.items() >= self.program.rows.items(), 'not everything is done:',
                output)

    def check_end(self):
        """Nothing is written after a failure; closing removes what the failed transaction has left."""
        calls = self.calls()
        failed = next((i for i, (name, line) in enumerate(calls) if '(INJECTED)' in line
                       and name in WRITING and not ZEROS.search(line)), None)
        if failed is None:
            return  # a lock, a read, or room ahead
        later = [line for name, line in calls[failed + 1:] if name in WRITING and name != 'ftruncate']
        while later and ERASING.search(later[0]):  # what is cut off, where integrity entries are used
            del later[:2]  # with its sync
            if later and re.search(r'\bfsync\(', later[0]):  # of the folder, with the first sync of the file
                del later[0]
        require(not later, 'after', calls[failed][1], 'came', *later)

    def log(self):
        log = Log(self.program.tools, self.path)
        log.update()
        return log

    def check_file(self):
        """What was acknowledged is there, and anybody can go on."""
        before = self.log()
        self.program.check(self.result[1], before)
        after = self.log()
        self.program.go_on(self.path, before, after)
        require(after.text.startswith(before.text), 'going on has changed what was there')

    def remove(self):
        self.place.cleanup()


def is_after_sync(calls, name, when):
    """Whether that call, or the lock before it, replaces the seal of a checkpoint that is durable."""
    index = [i for i, (call, _) in enumerate(calls) if call == name][when - 1]
    return any(call == 'fdatasync' for call, _ in calls[max(0, index - 3):index])


def inject(program, call, fault, when):
    run_ = Run(program)
    fault, ever, _ = fault.partition('+')
    run_.trace_with('-e', f'inject={call}:{fault}:when={when}{ever}')
    calls = [line for name, line in run_.calls() if name == call]
    if fault == 'signal=KILL':
        require(run_.result[0] in (-9, 137), 'it was not killed:', run_.result)
    else:
        require(len(calls) >= when and 'INJECTED' in calls[when - 1], 'nothing was injected')
        error = fault.split('=')[1]
        cause = CAUSES.get(error, CAUSES['ENOSPC'])
        if error == 'EINTR' or 'F_UNLCK' in calls[when - 1]:  # closing the file will unlock it
            run_.check_done()
        elif run_.result[0] == 0 and not program.goes_on and (
                ZEROS.search(calls[when - 1]) or CLOSING in run_.result[2]):
            run_.check_done()  # nothing depends on it
        elif run_.result[0] == 0 and cause not in ''.join(run_.result[1:]) and is_after_sync(
                run_.calls(), call, when):
            run_.check_done()  # the seal stays
        elif run_.result[0] == 0 and 'F_RDLCK' in calls[when - 1]:
            run_.check_done()  # a reader needs no lock
        elif call == 'pread64' and run_.result[0] == 0 and not program.goes_on:
            run_.check_done()  # a transaction was rolled back, which read the file once more
        else:
            run_.check_message(cause)
            run_.check_end()
    run_.check_file()
    return run_


def cut(program, size):
    run_ = Run(program)
    run_.limit(size)
    run_.check_message('File too large')
    run_.check_file()
    return run_


def cases_of(program):
    """Yields (name, function that does it). A clean run tells how many there are."""
    clean = Run(program)
    before = os.path.getsize(clean.path) if os.path.exists(clean.path) else 41
    clean.trace_with()
    code, output, error = clean.result
    require(code == 0 and clean.log().counts.items() >= program.rows.items(), 'the clean run of',
            *program.command(clean.path), code, output, error)
    names = [name for name, _ in clean.calls()]
    title = type(program).__name__
    for call, faults in FAULTS.items():
        for when in range(1, names.count(call) + 1):
            for fault in faults + (MORE_FAULTS.get(call, ()) if isinstance(program, Hard) else ()):
                yield (f'{title} {call}:{fault}:when={when}',
                       lambda c=call, f=fault, w=when: inject(program, c, f, w))
    end = os.path.getsize(clean.path)
    for size in range(before, end, max(1, (end - before) // LIMITS)):
        yield f'{title} size={size}', lambda s=size: cut(program, s)
    clean.remove()


def do(case, again):
    """True if it went as it should."""
    name, function = case
    try:
        function().remove()
        return True
    except Exception as error:
        if not isinstance(error, Failure):
            traceback.print_exc()
        print(f'{name}: {error}\nagain: {again} --only "{name}"', flush=True)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('tools', help='the folder of the programs')
    parser.add_argument('--only', default='', help='only cases whose name begins so')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if not shell.can_trace():
        print('skipped: strace is missing, or may not trace here')
        return SKIPPED
    tools = os.path.abspath(arguments.tools)
    cases = [case for program in PROGRAMS for case in cases_of(program(tools))
             if (case[0] + ' ').startswith(arguments.only + ' ') or not arguments.only]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda case: do(case, f'{sys.argv[0]} {arguments.tools}'), cases))
    print(f'{len(results)} cases, {results.count(False)} failed')
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
