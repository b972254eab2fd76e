#!/usr/bin/env python3
"""Finds the program datasette, and installs it if it can.

usage: datasette.py [--install]            (prints its path; exit code 1: there is none)

The program is $JOEDB_DATASETTE; else build/datasette/bin/datasette, which --install makes of the versions in
tests/datasette/requirements.txt, from the Python package index; else datasette of $PATH.
"""
import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REQUIREMENTS = os.path.join(ROOT, 'tests', 'datasette', 'requirements.txt')
FOLDER = os.path.join(ROOT, 'build', 'datasette')
INSTALLED = os.path.join(FOLDER, 'bin', 'datasette')
MARK = os.path.join(FOLDER, 'requirements.sha256')
# That of Debian loads extensions of SQLite; others may not.
PYTHON = next((path for path in ('/usr/bin/python3', sys.executable) if os.path.exists(path)), 'python3')
INSTALL_SECONDS = 120
HOW_TO_GET_ONE = 'run scripts/datasette.py --install, or set JOEDB_DATASETTE to the path of datasette'


def find():
    """The path of the program, or None."""
    given = os.environ.get('JOEDB_DATASETTE')
    if given:
        return given
    return INSTALLED if os.path.exists(MARK) else shutil.which('datasette')


def read(path):
    try:
        with open(path, 'rb') as file:
            return file.read()
    except OSError:
        return b''


def install():
    """Makes INSTALLED, if it is not there. Returns what has kept it from that, or ''."""
    wanted = hashlib.sha256(read(REQUIREMENTS)).hexdigest().encode()
    if read(MARK) == wanted:
        return ''
    print('installing Datasette in build/datasette/ (10 seconds, 2.5 MB to download)', file=sys.stderr, flush=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    # All dependencies are listed. Without a network, one retry is enough.
    for command in ([PYTHON, '-m', 'venv', FOLDER],
                    [os.path.join(FOLDER, 'bin', 'pip'), 'install', '--quiet', '--disable-pip-version-check',
                     '--retries', '1', '--only-binary', ':all:', '--no-deps', '--require-hashes', '-r', REQUIREMENTS]):
        try:
            result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True, timeout=INSTALL_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f'Datasette could not be installed: {error}'
        if result.returncode != 0:
            return f'Datasette could not be installed:\n{result.stdout.strip()}'
    with open(MARK, 'wb') as file:
        file.write(wanted)
    return ''


def main():
    if sys.argv[1:] not in ([], ['--install']):
        sys.exit(__doc__)
    remark = install() if sys.argv[1:] and not os.environ.get('JOEDB_DATASETTE') else ''
    if remark:
        print(remark, file=sys.stderr)
    program = find()
    if not program:
        print(f'no datasette: {HOW_TO_GET_ONE}', file=sys.stderr)
        return 1
    print(program)
    return 0


if __name__ == '__main__':
    sys.exit(main())
