#!/usr/bin/env python3
"""What somebody at a terminal is asked and shown, and a pipe is not.

usage: terminal.py TOOLS_DIR
"""
import os
import pty
import select
import subprocess
import sys
import tempfile
import time

PATIENCE = 20  # seconds


def session(tools, folder, command, *lines):
    """Types each line when the tool has become quiet. Returns (exit code, what the terminal shows)."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ.update(TERM='dumb', HOME=folder, PATH=f'{tools}:/usr/bin:/bin')
        os.execvp(command.split()[0], command.split())
    shown, waiting, end = b'', list(lines), time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if select.select([terminal], [], [], 0.3)[0]:
                data = os.read(terminal, 65536)
                if not data:
                    break
                shown += data
            elif waiting and shown:
                os.write(terminal, waiting.pop(0).encode() + b'\n')
        except OSError:  # it has ended
            break
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(terminal)
    return code, shown.decode('utf-8', 'replace')


def check(tools, folder):
    path = os.path.join(folder, 'db.joedb')
    question = 'db.joedb does not exist. Create it? [y/N]'

    for answer in 'n', '':
        code, shown = session(tools, folder, 'joedbi db.joedb', answer)
        assert question in shown and 'was not created' in shown and code == 1, shown
        assert not os.path.exists(path), 'the answer was no'
    code, shown = session(tools, folder, 'joedb_client db.joedb', 'n')
    assert question in shown and code == 1 and not os.path.exists(path), shown

    code, shown = session(tools, folder, 'joedbi db.joedb', 'y', 'create_table city', 'quit')
    assert code == 0 and os.path.getsize(path) > 41, shown
    assert 'joedbi' in shown.split('Create it?')[1] and 'OK: create_table city' in shown, shown

    code, shown = session(tools, folder, 'joedb_client db.joedb', 'quit')
    assert code == 0 and question not in shown and 'writable_client' in shown, shown

    for tool in 'joedbi', 'joedb_client':
        result = subprocess.run([os.path.join(tools, tool), 'db.joedb'], cwd=folder, input='about\n', text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=True)
        assert result.stdout.startswith('joedb ') and '\x1b' not in result.stdout, result.stdout


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as place:
        check(os.path.abspath(sys.argv[1]), place)
