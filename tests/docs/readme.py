#!/usr/bin/env python3
"""Installs joedb as README.md says, pastes its program into a shell, and looks at what it prints.

usage: readme.py SOURCE_DIR BUILD_DIR          (everything happens in BUILD_DIR/readme, the home of the shell)
"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import documents  # noqa: E402 (from this folder)

INSTALL = '`./dev build && cmake --install build/release --prefix ~/.local`'
EXAMPLE = 'examples/hello'


def execute(folder, *command):
    result = subprocess.run(command, cwd=folder, env={**os.environ, 'HOME': folder}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8')
    if result.returncode != 0:
        sys.exit(f'{" ".join(command)}\n{result.stdout}')
    return result.stdout


def main(top, build):
    folder = os.path.join(build, 'readme')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)

    text = documents.read(os.path.join(top, 'README.md'))
    pasted = [block for _, block in documents.blocks(text, 'sh')]
    if len(pasted) != 1 or INSTALL not in text:
        sys.exit(f'README.md should have {INSTALL} and one block to paste, has {len(pasted)}')
    execute(folder, 'cmake', '--install', build, '--prefix', os.path.join(folder, '.local'))
    for _ in range(2):
        output = execute(folder, 'bash', '-ec', pasted[0])
        if output != 'Ada is 37\nCharles is 44\n':
            sys.exit(f'it prints:\n{output}')
    different = [name for name in ('hello.joedbc', 'hello.joedbi', 'main.cc')
                 if documents.read(os.path.join(folder, name)) != documents.read(os.path.join(top, EXAMPLE, name))]
    if different:
        sys.exit(f'not as in {EXAMPLE}: {different}')
    return 0


if __name__ == '__main__':
    sys.exit(main(*map(os.path.abspath, sys.argv[1:])))
