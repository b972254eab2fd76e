#!/usr/bin/env python3
"""Finds the program nats-server, and builds it if it can.

usage: nats_server.py [--build]            (prints its path; exit code 1: there is none)

The program is, in this order:

* $JOEDB_NATS_SERVER;
* build/nats/nats-server, which --build makes of its Go module, where Go is recent enough;
* nats-server of $PATH. That of Debian 12, 2.9, is good for trying, but does not survive a power cut.

What is not as good as it could be is said on standard error.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

MODULE, VERSION = 'github.com/nats-io/nats-server/v2', '2.12.15'
NEEDED_GO = 1, 25  # by go.mod of that version
# Syncs what it acknowledges, and appends several messages at once.
RECOMMENDED = 2, 12
BUILD_SECONDS = 240

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(ROOT, 'build', 'nats', 'nats-server')
HOW_TO_GET_ONE = (f'install Go {".".join(map(str, NEEDED_GO))} or newer (https://go.dev/dl) and run '
                  'scripts/nats_server.py --build, or set JOEDB_NATS_SERVER to the path of '
                  f'nats-server {".".join(map(str, RECOMMENDED))} or newer')


def find():
    """The path of the program, or None."""
    given = os.environ.get('JOEDB_NATS_SERVER')
    if given:
        return given
    return BUILT if os.access(BUILT, os.X_OK) else shutil.which('nats-server')


def version(program):
    """A tuple such as (2, 12, 15); () if the program does not say."""
    return number(run([program, '--version'], 20)[1], r'v(\d+)\.(\d+)\.(\d+)')


def is_recommended(program):
    return version(program) >= RECOMMENDED


def number(text, pattern):
    match = re.search(pattern, text)
    return tuple(map(int, match.groups())) if match else ()


def run(command, seconds, **environment):
    """(whether it has succeeded, its output); ends it, and what it has started, after so long."""
    try:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True)
    except OSError as error:
        return False, str(error)
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode == 0, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return False, f'{process.communicate()[0]}\nnot ready after {seconds} seconds'


def find_go():
    """(path, version) of the newest Go."""
    programs = [shutil.which('go'), '/usr/local/go/bin/go', *glob.glob('/usr/lib/go-*/bin/go')]
    found = [(number(run([go, 'version'], 20)[1], r'\bgo(\d+)\.(\d+)'), go)
             for go in programs if go and os.access(go, os.X_OK)]
    newest, go = max(found, default=((), None))
    return go, newest


def build():
    """Makes BUILT, if it is not there. Returns what has kept it from that, or ''."""
    if os.access(BUILT, os.X_OK) and version(BUILT) == number(VERSION, r'(\d+)\.(\d+)\.(\d+)'):
        return ''
    go, found = find_go()
    if found < NEEDED_GO:
        has = f'{go} is Go {".".join(map(str, found))}' if found else 'there is no Go'
        return f'nats-server is not built: {has}; {HOW_TO_GET_ONE}'
    target = os.path.dirname(BUILT)
    print(f'building nats-server {VERSION} with {go} (half a minute)', file=sys.stderr, flush=True)
    os.makedirs(target, exist_ok=True)
    parts = os.path.join(target, f'parts-{os.getpid()}')
    # The toolchain that is here, or none: nothing else is downloaded in its place.
    succeeded, output = run([go, 'install', '-trimpath', f'{MODULE}@v{VERSION}'], BUILD_SECONDS,
                            GOBIN=parts, GOFLAGS='', GOTOOLCHAIN='local', CGO_ENABLED='0')
    if succeeded:
        os.replace(os.path.join(parts, 'nats-server'), BUILT)
    shutil.rmtree(parts, ignore_errors=True)
    return '' if succeeded else f'nats-server {VERSION} could not be built:\n{output.strip()}'


def main():
    if sys.argv[1:] not in ([], ['--build']):
        sys.exit(__doc__)
    remark = build() if sys.argv[1:] and not os.environ.get('JOEDB_NATS_SERVER') else ''
    if remark:
        print(remark, file=sys.stderr)
    program = find()
    if not program:
        print(f'no nats-server: {HOW_TO_GET_ONE}', file=sys.stderr)
        return 1
    found = version(program)
    if not found:
        print(f'{program} does not say its version: {run([program, "--version"], 20)[1].strip()}',
              file=sys.stderr)
        return 1
    if found < RECOMMENDED:
        print(f'{program} is {".".join(map(str, found))}: good for trying only, for it cannot sync what it '
              f'acknowledges; {HOW_TO_GET_ONE}', file=sys.stderr)
    print(program)
    return 0


if __name__ == '__main__':
    sys.exit(main())
