"""Runs the tools in a shell, as the conformance cases and the transcripts need it."""
import os
import re
import signal
import subprocess
import tempfile

TIME = re.compile(rb'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT')
TIMEOUT_SECONDS = 60


def run(tools, command, folder, merged=False):
    """Runs a command in a folder with the tools in the search path and an empty standard input.

    Returns (exit code, stdout, stderr). Merged, stderr goes to stdout. Output goes through files,
    so that a server left in the background holds nobody up; it is ended with the command.
    """
    environment = {'PATH': f'{tools}:/usr/bin:/bin', 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', 'HOME': folder}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        # A limit of memory, so that a damaged size cannot take the machine down.
        process = subprocess.Popen(
            ['bash', '-c', f'ulimit -v 6000000; {command}'], cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT if merged else err,
            start_new_session=True)
        try:
            code = process.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            code = 124
            err.write(b'timeout\n')
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # nothing was left behind
        process.wait()
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()
