#!/usr/bin/env python3
"""What somebody at a terminal is asked and shown, and a pipe is not.

usage: terminal.py TOOLS_DIR
"""
import os
import pty
import select
import signal
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


def check_edit(tools, folder):
    """joedb_edit asks after an error, and leaves no text behind that was not edited."""
    run = dict(cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    subprocess.run([os.path.join(tools, 'joedbi'), '--new', 'edit.joedb'], check=True,
                   input='create_table t\nadd_field t x int32\ninsert_into t 0 5\n', **run)
    texts = os.path.join(folder, 'texts')
    os.mkdir(texts)
    editor = os.path.join(folder, 'editor')  # the first time it makes an error, and corrects it the second
    with open(editor, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\nif grep -q many "$1"; then sed -i s/many/7/ "$1"; else sed -i "s/ 5/ many/" "$1"; fi\n')
    os.chmod(editor, 0o700)
    question = '[e]dit again, [q]uit and keep the text'

    command = f'env TMPDIR={texts} EDITOR={editor} joedb_edit edit.joedb'
    code, shown = session(tools, folder, command, 'what?', 'q')
    kept = os.listdir(texts)
    assert code == 1 and shown.count(question) == 2 and len(kept) == 1 and kept[0] in shown, shown
    os.remove(os.path.join(texts, kept[0]))
    code, shown = session(tools, folder, command, 'e')
    assert code == 0 and 'line 11: x: int32 expected, got `many`' in shown and '1 value changed' in shown, shown
    assert not os.listdir(texts), 'a text was left'

    # A signal while the editor runs. It ends when its pipe does.
    for signal_name in 'TERM', 'HUP':
        ready, waiting = os.path.join(folder, f'ready{signal_name}'), os.path.join(folder, f'wait{signal_name}')
        os.mkfifo(ready)
        os.mkfifo(waiting)
        process = subprocess.Popen(
            [os.path.join(tools, 'joedb_edit'), 'edit.joedb'], cwd=folder,
            env={**os.environ, 'TMPDIR': texts, 'EDITOR': f'echo > {ready}; cat {waiting}; true'})
        with open(ready, encoding='utf-8') as file:
            file.read()
        assert len(os.listdir(texts)) == 1
        process.send_signal(getattr(signal, 'SIG' + signal_name))
        code = process.wait(PATIENCE)
        assert code < 0 and not os.listdir(texts), f'{signal_name}: {code}, {os.listdir(texts)}'
        with open(waiting, 'w', encoding='utf-8'):
            pass


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as place:
        check(os.path.abspath(sys.argv[1]), place)
        check_edit(os.path.abspath(sys.argv[1]), place)
