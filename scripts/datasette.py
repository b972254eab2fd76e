#!/usr/bin/env python3
"""Finds the program datasette, and installs it if it can.

usage: datasette.py [--install]            (prints its path; exit code 1: there is none)

The program is $JOEDB_DATASETTE; else build/datasette/bin/datasette, which --install makes of the versions in
tests/datasette/requirements.txt, from the Python package index; else datasette of $PATH.
"""
import os
import shutil
import sys

import virtual_environment

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REQUIREMENTS = os.path.join(ROOT, 'tests', 'datasette', 'requirements.txt')
FOLDER = os.path.join(ROOT, 'build', 'datasette')
INSTALLED = os.path.join(FOLDER, 'bin', 'datasette')
INSTALL_SECONDS = 120
HOW_TO_GET_ONE = 'run scripts/datasette.py --install, or set JOEDB_DATASETTE to the path of datasette'


def find():
    """The path of the program, or None."""
    given = os.environ.get('JOEDB_DATASETTE')
    if given:
        return given
    return INSTALLED if os.path.exists(virtual_environment.mark_of(FOLDER)) else shutil.which('datasette')


def install():
    """Makes INSTALLED, if it is not there. Returns what has kept it from that, or ''."""
    notice = 'installing Datasette in build/datasette/ (10 seconds, 2.5 MB to download)'
    problem = virtual_environment.make(FOLDER, REQUIREMENTS, notice, INSTALL_SECONDS)
    return f'Datasette could not be installed:\n{problem}' if problem else ''


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
