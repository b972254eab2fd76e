"""What tests of the tools share: a place for files, tracing, and a shell, as the conformance cases and the
transcripts need it."""
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

TIME = re.compile(rb'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: GMT|Z| [+-]\d{4})')
TIMEOUT_SECONDS = 60
MEMORY = '/dev/shm'
MEMORY_BYTES = 500_000_000  # more than all tests together have at a time; a container may have only 64 MB
STRACE = 'strace', '-f', '-qq'
# The kernel stops the program only at the system calls that are asked for. Then strace cannot inject signals.
FAST_STRACE = *STRACE, '--seccomp-bpf'


def temporary_folder(prefix='joedb-'):
    """A folder for some megabytes, a context manager. It is in memory if there is room, so that no tool waits for a
    disk: a sync takes 4 ms there."""
    has_room = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_BYTES
    return tempfile.TemporaryDirectory(prefix=prefix, dir=MEMORY if has_room else None)


def can_trace():
    return shutil.which('strace') and subprocess.run(
        [*FAST_STRACE, '-o', '/dev/null', '-e', 'inject=fsync:error=EIO', 'true'],
        stderr=subprocess.DEVNULL).returncode == 0


def environment_of(tools, folder):
    # The extension of SQLite is beside the tools.
    return {'PATH': f'{tools}:/usr/bin:/bin', 'LD_LIBRARY_PATH': tools, 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC',
            'HOME': folder}


def run(tools, command, folder, merged=False, variables=()):
    """Runs a command in a folder with the tools in the search path and an empty standard input.

    Returns (exit code, stdout, stderr). Merged, stderr goes to stdout. Output goes through files,
    so that a server left in the background holds nobody up; it is ended with the command.
    """
    environment = {**environment_of(tools, folder), **dict(variables)}
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


def accepts(path):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            return False
        return True


class Session:
    """Commands one after the other in a folder, and servers beside them; a context manager.

    The command `joedb_server ... & NAME=$!` starts a server. It is done when there is one more socket in
    the folder that accepts connections. Later commands have the process id in $NAME. After a command in
    which $NAME is killed, the session waits until the server has ended. At the end, the others are killed.
    """
    SERVER = re.compile(r'(joedb_server .*) & (\w+)=\$!')

    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.servers = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.servers.values():
            process.kill()
            process.wait()

    def run(self, command):
        """Returns (exit code, stdout and stderr together)."""
        match = self.SERVER.fullmatch(command)
        if match:
            return self.start(match[1], match[2])
        variables = {name: str(process.pid) for name, process in self.servers.items()}
        code, output, _ = run(self.tools, command, self.folder, merged=True, variables=variables)
        for name in [name for name in self.servers if re.search(rf'\bkill .*\${name}\b', command)]:
            self.servers.pop(name).wait(TIMEOUT_SECONDS)
        return code, output

    def open_sockets(self):
        return sum(accepts(path) for path in glob.glob(os.path.join(self.folder, '*.sock')))

    def start(self, command, name):
        before = self.open_sockets()
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(['bash', '-c', f'exec {command}'], cwd=self.folder, stdout=out,
                                       env=environment_of(self.tools, self.folder),
                                       stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
            self.servers[name] = process
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while process.poll() is None and self.open_sockets() == before:
                if time.monotonic() > deadline:
                    return 124, b'timeout\n'
                time.sleep(0.005)
            if process.poll() is None:
                return 0, b''
            out.seek(0)
            return self.servers.pop(name).returncode, out.read()
