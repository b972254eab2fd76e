#!/usr/bin/env python3
"""At a terminal, whatever takes longer than a second says how far it has come; nowhere else.

usage: progress.py TOOLS_DIR

strace makes reading slow. Exit code 77: it is not allowed to trace here.
"""
import concurrent.futures
import os
import pty
import re
import subprocess
import sys
import tempfile

import shell

TOOLS = os.path.abspath(sys.argv[1])
# Milliseconds for each of the 25 to 38 calls that most tools read a file with.
DELAY = 70


def slow(command, milliseconds=DELAY):
    return f'{" ".join(shell.FAST_STRACE)} -o /dev/null -e inject=pread64:delay_exit={milliseconds}000 {command}'


FORM = re.compile(r'\r\x1b\[K[\w .-]+: \d+ %, (\d+\.\d MB|\d+ (values|entries))/s, \d+ s left')
# Where standard output goes elsewhere, a tool that prints may show it, too. Some read the file more than once.
COMMANDS = (
    slow('joedb_verify big.joedb', 40),
    slow('joedb_recover alone.joedb'),
    slow('joedb_sha256sum big.joedb'),
    slow('joedb_stats big.joedb'),
    slow('joedb_pack big.joedb packed.joedb'),
    slow('joedb_convert big.joedb converted.joedb', 40),
    slow('joedb_push big.joedb file pushed.joedb', 15),
    slow('joedb_logdump big.joedb > logdump.out'),
    slow('joedb_to_json big.joedb > json.out'),
    'joedb_to_json big.joedb | (sleep 1.5; cat > slow.out)',
    slow('joedb wal verify log'),
    slow('joedb wal repair alone'),
    slow('joedb wal dump log > dump.out'),
    slow('joedb wal verify segments'))
IN_PIPE = slow('joedb_verify big.joedb', 40), slow('joedb_sha256sum big.joedb')


def environment():
    return {**os.environ, 'PATH': f'{TOOLS}:/usr/bin:/bin', 'LC_ALL': 'C.UTF-8'}


def run(folder, command, **options):
    return subprocess.run(['bash', '-c', command], cwd=folder, check=False, text=True, timeout=120,
                          env=environment(), **options)


def make_files(folder):
    with open(os.path.join(folder, 'commands'), 'w', encoding='utf-8') as file:
        file.write('create_table t\nadd_field t text string\n')
        file.writelines(f'insert_into t {i} "{i:0200}"\n' for i in range(40_000))
    with open(os.path.join(folder, 'entries'), 'w', encoding='utf-8') as file:
        file.writelines(f'"{i:01000}"\n' for i in range(5_000))
    run(folder, 'joedbi --new big.joedb < commands > out; joedb wal load log < entries > out; '
                'joedb wal load --segment-size 2000000 segments < entries > out; '
                'cp big.joedb alone.joedb; cp log alone')


def at_terminal(folder, command):
    """What the terminal shows."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(['bash', '-c', command], cwd=folder, stdin=end, stdout=end, stderr=end,
                               env={**environment(), 'TERM': 'dumb'})
    os.close(end)
    shown = b''
    try:
        while data := os.read(terminal, 65536):
            shown += data
    except OSError:  # it has ended
        pass
    process.wait()
    os.close(terminal)
    return shown.decode('utf-8', 'replace')


def complaint_at_terminal(folder, command):
    """What is wrong with the progress of a command at a terminal, if anything."""
    shown = at_terminal(folder, command)
    is_good = FORM.search(shown) and '\r\x1b[K' in shown.replace(FORM.findall(shown)[-1][0], '')
    # The last line is that of the result: the progress has disappeared.
    last = shown.rsplit('\r\x1b[K', 1)[-1]
    return '' if is_good and ' left' not in last else f'{command}: {shown[-300:]!r}'


def complaint_in_pipe(folder, command):
    result = run(folder, command, capture_output=True)
    is_good = 'left' not in result.stderr and '\r' not in result.stdout + result.stderr
    return '' if is_good else f'{command}, in a pipe: {result.stderr!r}'


def main():
    with tempfile.TemporaryDirectory() as folder:
        if not shell.can_trace():
            return 77
        make_files(folder)
        # All at once: they wait, most of the time. No two write the same file.
        with concurrent.futures.ThreadPoolExecutor(len(COMMANDS) + len(IN_PIPE)) as pool:
            jobs = [pool.submit(complaint, folder, command) for complaint, commands in
                    ((complaint_at_terminal, COMMANDS), (complaint_in_pipe, IN_PIPE)) for command in commands]
        failed = list(filter(None, (job.result() for job in jobs)))
    print(*failed, f'{len(jobs)} commands, {len(failed)} failed', sep='\n')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
