#!/usr/bin/env python3
"""Does what docs/tutorial.md says, from an empty folder on.

usage: tutorial.py SOURCE_DIR BUILD_DIR          (everything happens in BUILD_DIR/tutorial)

Installs joedb, writes the files of the page (a block behind "`NAME`:"), runs its commands (blocks of
the language `sh`), and repeats its terminal sessions (`console`).
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import documents  # noqa: E402 (from this folder)

# The files of the page are also here.
ORIGINALS = 'examples/tutorial', 'tests/docs/tutorial'


def execute(folder, command, **environment):
    result = subprocess.run(command, shell=True, cwd=folder, env={**os.environ, **environment},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, encoding='utf-8')
    if result.returncode != 0:
        sys.exit(f'{command}\n{result.stdout}')


def files_of(text):
    return {match[1]: match[2] for match in
            re.finditer(r'`([\w.]+)`:\n\n```\w+\n(.*?)^```', text, re.M | re.S)}


def originals(top, names):
    """The same files as they stand in the project."""
    found = {}
    for folder in ORIGINALS[::-1]:  # the first one has another CMakeLists.txt, which is not meant
        for name in names - found.keys():
            path = os.path.join(top, folder, name)
            if os.path.exists(path):
                found[name] = documents.read(path)
    return found


def main(top, build):
    work = os.path.join(build, 'tutorial')
    prefix, folder = os.path.join(work, 'prefix'), os.path.join(work, 'cities')
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(folder)
    execute(build, f'cmake --install . --prefix "{prefix}"')

    text = documents.read(os.path.join(top, 'docs/tutorial.md'))
    files = files_of(text)
    different = [name for name, original in originals(top, files.keys()).items()
                 if original != files[name]]
    if len(files) != 4 or different:
        sys.exit(f'the page has {sorted(files)}; not as in {ORIGINALS}: {different}')
    for name, content in files.items():
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(content)

    for _, commands in documents.blocks(text, 'sh'):
        for command in commands.splitlines():
            execute(folder, command, CMAKE_PREFIX_PATH=prefix,
                    CXXFLAGS='-Wall -Wextra -Wconversion -Wshadow -Werror')
    sessions = list(documents.blocks(text, 'console'))
    with documents.transcripts.shell.Session(os.path.join(prefix, 'bin'), folder) as shell:
        found = [documents.differences(shell, session, f'docs/tutorial.md:{line}')
                 for line, session in sessions]
    print(f'{len(sessions)} sessions', *filter(None, found), sep='\n')
    return 1 if any(found) or not sessions else 0


if __name__ == '__main__':
    sys.exit(main(*map(os.path.abspath, sys.argv[1:])))
