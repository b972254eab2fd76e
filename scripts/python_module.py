#!/usr/bin/env python3
"""Builds the module of Python in build/python/, as `pip install .` does, and what its tests need.

usage: python_module.py [--install | --test [ARGUMENT...]]
  (without)  prints the Python that has the module; exit code 1: there is none
  --install  makes build/python/venv/ with the versions of python/requirements.txt, from the Python package
             index, and installs the module there; exit code 77: these cannot be had, 1: it cannot be built
  --test     runs pytest on python/tests with these arguments, and mypy; exit code 77: it is not installed
"""
import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REQUIREMENTS = os.path.join(ROOT, 'python', 'requirements.txt')
FOLDER = os.path.join(ROOT, 'build', 'python')
VENV = os.path.join(FOLDER, 'venv')
INTERPRETER = os.path.join(VENV, 'bin', 'python')
MARK = os.path.join(VENV, 'requirements.sha256')
BASE = next((path for path in ('/usr/bin/python3', sys.executable) if os.path.exists(path)), 'python3')
INSTALL_SECONDS = 300
BUILD_SECONDS = 1200
HOW_TO_GET_ONE = 'run ./dev python'


def read(path):
    try:
        with open(path, 'rb') as file:
            return file.read()
    except OSError:
        return b''


def run(command, seconds, **options):
    """Returns what has gone wrong, or ''."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, timeout=seconds, check=False, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return '' if result.returncode == 0 else result.stdout.strip()


def pip(*arguments):
    return [INTERPRETER, '-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', *arguments]


def make_venv():
    wanted = hashlib.sha256(read(REQUIREMENTS)).hexdigest().encode()
    if read(MARK) == wanted:
        return ''
    print('installing what the tests of the Python module need in build/python/ (170 MB to download)', file=sys.stderr,
          flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    # All dependencies are listed. Without a network, one retry is enough.
    for command in ([BASE, '-m', 'venv', VENV],
                    pip('--retries', '1', '--only-binary', ':all:', '--no-deps', '--require-hashes',
                        '-r', REQUIREMENTS)):
        if problem := run(command, INSTALL_SECONDS):
            return problem
    with open(MARK, 'wb') as file:
        file.write(wanted)
    return ''


def install():
    """The exit code, and what has gone wrong."""
    if problem := make_venv():
        return 77, f'the tests of the Python module need packages that could not be installed:\n{problem}'
    # As in the other builds, so that ccache has most of it.
    settings = [f'--config-settings={setting}' for setting in
                ('build-dir=build/wheel', 'cmake.define.JOEDB_WERROR=ON', 'install.strip=false')]
    environment = {**os.environ, 'CXX': shutil.which('c++') or 'c++',
                   'CMAKE_BUILD_PARALLEL_LEVEL': str(os.cpu_count() or 1)}
    command = pip('--no-build-isolation', '--no-deps', '--no-index', *settings, '.')
    if problem := run(command, BUILD_SECONDS, cwd=ROOT, env=environment):
        return 1, f'the Python module could not be built:\n{problem}'
    return 0, ''


def is_installed():
    return os.path.exists(MARK) and run([INTERPRETER, '-c', 'import joedb'], 60, cwd=FOLDER) == ''


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
