#!/usr/bin/env python3
"""At a terminal, whatever takes longer than a second says how far it has come; nowhere else.

usage: progress.py TOOLS_DIR

strace makes reading slow. Exit code 77: it is not allowed to trace here.
"""
import os
import pty
import re
import subprocess
import sys
import tempfile

TOOLS = os.path.abspath(sys.argv[1])
SLOW = 'strace -f -o /dev/null -e trace=pread64 -e inject=pread64:delay_exit=70000'
FORM = re.compile(r'\r\x1b\[K[\w .-]+: \d+ %, (\d+\.\d MB|\d+ (values|entries))/s, \d+ s left')
# Where standard output goes elsewhere, a tool that prints may show it, too.
COMMANDS = (
    f'{SLOW} joedb_verify big.joedb',
    f'{SLOW} joedb_recover big.joedb',
    f'{SLOW} joedb_sha256sum big.joedb',
    f'{SLOW} joedb_stats big.joedb',
    f'{SLOW} joedb_pack big.joedb packed.joedb',
    f'{SLOW} joedb_convert big.joedb converted.joedb',
    f'{SLOW} joedb_push big.joedb file pushed.joedb',
    f'{SLOW} joedb_logdump big.joedb > out',
    f'{SLOW} joedb_to_json big.joedb > out',
    'joedb_to_json big.joedb | (sleep 1.5; cat > out)',
    f'{SLOW} joedb wal verify log',
    f'{SLOW} joedb wal repair log',
    f'{SLOW} joedb wal dump log > out',
    f'{SLOW} joedb wal verify segments')


def run(folder, command, **options):
    return subprocess.run(['bash', '-c', command], cwd=folder, check=False, text=True, timeout=120,
                          env={**os.environ, 'PATH': f'{TOOLS}:/usr/bin:/bin', 'LC_ALL': 'C.UTF-8'}, **options)


def make_files(folder):
    with open(os.path.join(folder, 'commands'), 'w', encoding='utf-8') as file:
        file.write('create_table t\nadd_field t text string\n')
        file.writelines(f'insert_into t {i} "{i:0200}"\n' for i in range(40_000))
    with open(os.path.join(folder, 'entries'), 'w', encoding='utf-8') as file:
        file.writelines(f'"{i:01000}"\n' for i in range(5_000))
    run(folder, 'joedbi --new big.joedb < commands > out; joedb wal load log < entries > out; '
                'joedb wal load --segment-size 2000000 segments < entries > out')


def at_terminal(folder, command):
    """What the terminal shows."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ.update(TERM='dumb', PATH=f'{TOOLS}:/usr/bin:/bin', LC_ALL='C.UTF-8')
        os.execvp('bash', ['bash', '-c', command])
    shown = ''
    try:
        while data := os.read(terminal, 65536):
            shown += data.decode('utf-8', 'replace')
    except OSError:  # it has ended
        pass
    os.waitpid(process, 0)
    os.close(terminal)
    return shown


def main():
    with tempfile.TemporaryDirectory() as folder:
        if run(folder, f'{SLOW} true').returncode != 0:
            return 77
        make_files(folder)
        failed = 0
        for command in COMMANDS:
            shown = at_terminal(folder, command)
            is_good = FORM.search(shown) and '\r\x1b[K' in shown.replace(FORM.findall(shown)[-1][0], '')
            # The last line is that of the result: the progress has disappeared.
            last = shown.rsplit('\r\x1b[K', 1)[-1]
            if not is_good or ' left' in last:
                failed += 1
                print(f'{command}: {shown[-300:]!r}')
        for command in ('joedb_verify big.joedb', 'joedb_sha256sum big.joedb'):
            result = run(folder, f'{SLOW} {command}', capture_output=True)
            if 'left' in result.stderr or '\r' in result.stdout + result.stderr:
                failed += 1
                print(f'{command}, in a pipe: {result.stderr!r}')
    print(f'{len(COMMANDS)} commands, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
