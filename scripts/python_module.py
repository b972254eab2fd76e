#!/usr/bin/env python3
"""Builds the module of Python in build/python/, as `pip install .` does, and what its tests need.

usage: python_module.py [--install | --test [ARGUMENT...]]
  (without)  prints the Python that has the module; exit code 1: there is none
  --install  makes build/python/venv/ with the versions of python/requirements.txt, from the Python package
             index, and installs the module there; exit code 77: these cannot be had, 1: it cannot be built
  --test     runs pytest on python/tests with these arguments, and mypy; exit code 77: it is not installed
"""
import os
import shutil
import subprocess
import sys

import virtual_environment
from virtual_environment import run

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REQUIREMENTS = os.path.join(ROOT, 'python', 'requirements.txt')
FOLDER = os.path.join(ROOT, 'build', 'python')
VENV = os.path.join(FOLDER, 'venv')
INTERPRETER = os.path.join(VENV, 'bin', 'python')
INSTALL_SECONDS = 300
BUILD_SECONDS = 1200
HOW_TO_GET_ONE = 'run ./dev python'
NOTICE = 'installing what the tests of the Python module need in build/python/ (170 MB to download)'


def install():
    """The exit code, and what has gone wrong."""
    if problem := virtual_environment.make(VENV, REQUIREMENTS, NOTICE, INSTALL_SECONDS):
        return 77, f'the tests of the Python module need packages that could not be installed:\n{problem}'
    # As in preset release, so that ccache has all of the library.
    settings = [f'--config-settings={setting}' for setting in
                ('build-dir=build/wheel', 'cmake.define.JOEDB_WERROR=ON', 'install.strip=false')]
    environment = {**os.environ, 'CXX': shutil.which('c++') or 'c++',
                   'CMAKE_BUILD_PARALLEL_LEVEL': str(os.cpu_count() or 1)}
    options = ['--no-build-isolation', '--no-deps', '--no-index', *settings]
    command = virtual_environment.pip_install(VENV, *options, '.')
    if problem := run(command, BUILD_SECONDS, cwd=ROOT, env=environment):
        return 1, f'the Python module could not be built:\n{problem}'
    return 0, ''


def is_installed():
    is_made = os.path.exists(virtual_environment.mark_of(VENV))
    return is_made and run([INTERPRETER, '-c', 'import joedb'], 60, cwd=FOLDER) == ''


def test(arguments):
    if not is_installed():
        print(f'no Python module: {HOW_TO_GET_ONE}', file=sys.stderr)
        return 77
    environment = {**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'}
    commands = [[INTERPRETER, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'python/tests', *arguments],
                [INTERPRETER, '-m', 'mypy', '--cache-dir', os.path.join(FOLDER, 'mypy'), '--strict', 'python/joedb',
                 'examples/python']]
    codes = [subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode for command in commands]
    return max(codes)


def main():
    task, *arguments = sys.argv[1:] or ['']
    if task == '--test':
        return test(arguments)
    if task not in ('', '--install') or arguments:
        sys.exit(__doc__)
    if task:
        code, problem = install()
        if problem:
            print(problem, file=sys.stderr)
            return code
    if not is_installed():
        print(f'no Python module: {HOW_TO_GET_ONE}', file=sys.stderr)
        return 1
    print(INTERPRETER)
    return 0


if __name__ == '__main__':
    sys.exit(main())
