"""Virtual environments of Python below build/, with the versions that a file lists."""
import hashlib
import os
import shutil
import subprocess
import sys

# That of Debian loads extensions of SQLite; others may not.
PYTHON = next((path for path in ('/usr/bin/python3', sys.executable) if os.path.exists(path)), 'python3')


def read(path):
    try:
        with open(path, 'rb') as file:
            return file.read()
    except OSError:
        return b''


def mark_of(folder):
    """A file that is there if the environment is complete."""
    return os.path.join(folder, 'requirements.sha256')


def run(command, seconds, **options):
    """Returns what has gone wrong, or ''."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, timeout=seconds, check=False, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return '' if result.returncode == 0 else result.stdout.strip() or f'exit code {result.returncode}'


def pip_install(folder, *arguments):
    return [os.path.join(folder, 'bin', 'python'), '-m', 'pip', '--disable-pip-version-check', 'install', '--quiet',
            *arguments]


def make(folder, requirements, notice, seconds):
    """Makes it, if it is not there, from the Python package index; all dependencies are listed. Prints the notice
    before. Returns what has gone wrong, or ''."""
    wanted = hashlib.sha256(read(requirements)).hexdigest().encode()
    if read(mark_of(folder)) == wanted:
        return ''
    print(notice, file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    # Without a network, one retry is enough.
    for command in ([PYTHON, '-m', 'venv', folder],
                    pip_install(folder, '--retries', '1', '--only-binary', ':all:', '--no-deps', '--require-hashes',
                                '-r', requirements)):
        if problem := run(command, seconds):
            return problem
    with open(mark_of(folder), 'wb') as file:
        file.write(wanted)
    return ''
