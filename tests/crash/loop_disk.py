"""A small ext4 disk of our own: an image in a file, in memory if possible, behind a loop device."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile


MEMORY = '/dev/shm'


class Impossible(Exception):
    """There is no right to mount here, or no loop device."""


def do(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8')
    if result.returncode != 0:
        raise Impossible(f'{" ".join(command)}: {result.stdout.strip()}')
    return result.stdout.strip()


class Loop_Disk:
    """Made by `with`, and gone afterwards, whatever happens."""

    def __init__(self, megabytes):
        self.megabytes = megabytes
        self.undo = []

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        if os.geteuid() != 0:
            raise Impossible('only root can mount a disk')
        for program in 'mkfs.ext4', 'losetup', 'mount':
            if not shutil.which(program):
                raise Impossible(f'there is no {program}')
        signal.signal(signal.SIGTERM, lambda *_: sys.exit('ended by a signal'))  # after __exit__
        memory = MEMORY if os.access(MEMORY, os.W_OK) else None
        folder = tempfile.mkdtemp(prefix='joedb-disk-', dir=memory)
        self.undo.append(lambda: shutil.rmtree(folder))
        image = os.path.join(folder, 'image')
        self.path = os.path.join(folder, 'disk')
        os.mkdir(self.path)
        with open(image, 'wb') as file:
            file.truncate(self.megabytes << 20)
        # Nothing is left to be done in the background.
        do('mkfs.ext4', '-q', '-F', '-b', '4096', '-m', '0', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image)
        self.device = do('losetup', '--find', '--show', image)
        self.undo.append(lambda: do('losetup', '--detach', self.device))
        do('mount', self.device, self.path)
        self.undo.append(lambda: do('umount', self.path))

    def __exit__(self, *_):
        failures = []
        while self.undo:
            try:
                self.undo.pop()()
            except Exception as failure:  # the rest is to be undone, too
                failures.append(str(failure))
        if failures:
            sys.exit('\n'.join(failures))

    def statistics(self):
        """Numbers of the block device, as Documentation/block/stat.rst of Linux names them."""
        with open(f'/sys/block/{os.path.basename(self.device)}/stat', encoding='ascii') as file:
            fields = [int(word) for word in file.read().split()]
        return {'writes': fields[4], 'bytes': 512 * fields[6], 'flushes': fields[15]}
