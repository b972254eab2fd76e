#!/usr/bin/env python3
"""Real processes write and read one file, and are killed every few milliseconds.

usage: processes.py TOOLS_DIR [--seconds N] [--seed N] [--scenes N]

A scene has one file, written by one process that has it alone, or by several that share it:
crash_writer, joedbi and joedb_client, in turns. Each says when a transaction begins, and when its
checkpoint is there. A supervisor kills them at any time, with SIGKILL, and starts others, with
any recovery that makes sense. After each kill joedb_logdump must show

  * every transaction whose checkpoint was acknowledged,
  * of the others either everything or nothing,
  * exactly the rows that were sent, in their order, behind what was there before.

At the last hard checkpoint there is every transaction that was acknowledged as such.

Readers run all the time. They see no error, no less than what was there when they started, and
nothing that is not there afterwards. A reader that follows the file is killed, too, and a backup.

The seed decides everything but the instants, which are up to the machine.
"""
import argparse
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from journal import SCHEMA, Failure, Log, entries, insertion, require, run

LARGEST_LOG = 400_000  # characters; then there is another scene
PATIENCE = 60  # seconds: longer than any step takes

TAIL = 'ends with an unfinished transaction'
EMPTY = 'the file is empty; it is not a database'
DECODING = re.compile(r'entry at offset \d+|a tail to be rolled back was adopted')


class Totals:
    """What the supervisor has seen, to be printed at the end."""

    def __init__(self):
        self.scenes = self.kills = self.in_transaction = self.tails = self.refused = 0
        self.commits = self.rows = self.readers = self.started = 0

    def __str__(self):
        return (f'{self.scenes} scenes, {self.started} writers, {self.kills} kills '
                f'({self.in_transaction} in a transaction, {self.tails} left a tail), '
                f'{self.refused} refused to open, {self.commits} acknowledged transactions, '
                f'{self.rows} rows, {self.readers} readers')


class Writer:
    """A process that writes, and what it has said so far."""

    def __init__(self, scene, name, command, stdin=subprocess.DEVNULL):
        self.scene, self.name, self.command = scene, name, command
        self.is_open, self.has_begun = False, True
        self.unfinished = b''
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=self.errors, bufsize=0)
        os.set_blocking(self.process.stdout.fileno(), False)
        scene.totals.started += 1

    def fileno(self):
        return self.process.stdout.fileno()

    def read(self):
        """Takes in what there is. False at the end."""
        while True:
            data = self.process.stdout.read(1 << 16)
            if not data:
                return data is None
            *lines, self.unfinished = (self.unfinished + data).split(b'\n')
            for line in lines:
                self.hear(line.decode())

    def hear(self, line):
        raise NotImplementedError

    def kill(self):
        """Ends it, and takes in what it has said until then. Returns its exit code."""
        self.process.kill()
        code = self.process.wait()
        self.read()
        self.process.stdout.close()
        if self.process.stdin:
            self.process.stdin.close()
        return code

    def error(self):
        self.errors.seek(0)
        return self.errors.read().decode()


class Native(Writer):
    """crash_writer."""

    def __init__(self, scene, name, recovery):
        self.recovery = recovery
        random_ = scene.random
        more = ['--no-seals'] if random_.random() < 0.3 else []
        if scene.has_integrity:
            more.append('--integrity')
        if scene.is_shared:
            more.append('--shared')
        else:
            more += random_.choice(([], [], ['--threads', '3']))
            more += random_.choice(([], ['--mapped']))
            more += ['--preallocate', random_.choice(('0', '0', '4096', '70000', '1000000'))]
        super().__init__(scene, name, [
            scene.tool('crash_writer'), scene.path, '--writer', str(name), '--recovery', recovery,
            '--rows', str(scene.log.count(name) + random_.randint(1, 600)),
            '--per-commit', str(random_.choice((1, 3, 20, 60))),
            '--level', random_.choice(('soft', 'hard', 'mixed')),
            '--seed', str(random_.randrange(1 << 31)), *more])

    def hear(self, line):
        event, number = line.split()
        number = int(number)
        if event == '@':
            self.is_open, self.has_begun = True, False  # a tail may hold all that it is to write
            self.scene.note_open(self.name, number, self.recovery)
        elif event == '?':
            self.has_begun = True
            self.scene.begin(self.name, number)
        else:
            self.scene.acknowledge(self.name, number, event == '#')

    def may_fail(self, error):
        """A tail is refused, or makes no sense: a kill may let a page through, and not the next."""
        if self.recovery == 'none' and TAIL in error:
            return True
        return self.recovery == 'ignore_header' and DECODING.search(error)


class Tool(Writer):
    """joedbi or joedb_client: commands by a pipe, answers by another one."""

    def __init__(self, scene, name, command, recovery):
        super().__init__(scene, name, command, stdin=subprocess.PIPE)
        self.recovery = recovery
        self.count = scene.log.count(name)
        self.waits_for = ''
        self.send()

    def send(self):
        self.count += self.scene.random.randint(1, 12)
        rows = range(self.scene.sent(self.name) + 1, self.count + 1)
        text = '' if self.scene.log.text else SCHEMA
        text += ''.join(insertion(self.name, number) for number in rows)
        self.scene.begin(self.name, self.count)
        try:
            self.process.stdin.write(self.transaction(text).encode())
        except BrokenPipeError:
            pass  # it has ended: its exit code tells why

    def transaction(self, text):
        raise NotImplementedError

    def hear(self, line):
        # Another process may have made the table since we looked.
        bad = re.match(r'Line \d+: (?!create_table|add_field)', line)
        require(not bad, f'{self.command[0]}:', line)
        self.is_open = True
        if line == self.waits_for:
            self.scene.acknowledge(self.name, self.count, self.is_hard)
            self.send()

    def may_fail(self, error):
        """Also where a writer is just making the file, or was killed before it had written the header."""
        return self.recovery == 'none' and TAIL in error or not self.scene.log.text and EMPTY in error


class Interpreter(Tool):
    def __init__(self, scene, name):
        super().__init__(scene, name, [scene.tool('joedbi'), '--write-or-new', scene.path], 'none')

    def transaction(self, text):
        if self.scene.log.text and self.scene.random.random() < 0.2:
            text = insertion(-1, 5) * 5 + 'flush\nrollback\n' + text
        self.is_hard = self.scene.random.random() < 0.5
        command = 'hard_checkpoint' if self.is_hard else 'soft_checkpoint'
        self.waits_for = f'OK: {command}'
        return text + command + '\n'


class Client(Tool):
    def __init__(self, scene, name, recovery):
        self.is_hard = scene.random.random() < 0.5
        level = ['--hard-checkpoint'] if self.is_hard else []
        super().__init__(scene, name, [scene.tool('joedb_client'), '--recovery',
                                       recovery, *level, '--shared', scene.path], recovery)

    def transaction(self, text):
        self.waits_for = 'OK: transaction'
        return f'transaction\n{text}quit\n'


# ---- readers

class Reader:
    """Runs beside the writers; what it prints goes to a file."""

    def __init__(self, scene, command, text=''):
        self.scene, self.command = scene, command
        self.at_least, self.records = scene.log.text, scene.log.records
        self.output, self.errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.output,
                                        stderr=self.errors)
        self.process.stdin.write(text.encode())
        if text is not FOLLOW:
            self.process.stdin.close()
        scene.totals.readers += 1

    def finish(self):
        code = self.process.wait()
        self.errors.seek(0)
        error = self.errors.read().decode()
        require(code == 0 and not error, f'exit code {code} of a reader:', *self.command, error)

    def text(self):
        self.output.seek(0)
        return self.output.read().decode()


class Dump(Reader):
    def __init__(self, scene):
        super().__init__(scene, [scene.tool('joedb_logdump'), scene.path])

    def check(self, log):
        text = entries(self.text())
        require(text.startswith(self.at_least), 'a reader went back')
        require(log.text.startswith(text), 'a reader saw what was not there')


class Look(Reader):
    """joedbi --read: how many rows are in the tables?"""

    def __init__(self, scene):
        super().__init__(scene, [scene.tool('joedbi'), '--read', scene.path],
                         'dump\n')

    def check(self, log):
        match = re.search(r'^insert_vector row 0 (\d+)$', self.text(), re.M)
        rows = int(match[1]) if match else 0
        require(self.records <= rows <= log.records or (rows == 0 and self.records == 1),
                f'a reader saw {rows} rows, not from {self.records} to {log.records}')


FOLLOW = 'pull_every 0 0\n'


class Follower(Reader):
    """joedb_client, which prints what others write until it is killed."""

    NOISE = re.compile(r'\x1b\[36m.*?\x1b\[0m|^pulled \d+ bytes, checkpoint = \d+\n', re.M)
    EMPTY_LINE = re.compile(r'^\n', re.M)  # which may have held nothing but noise

    def __init__(self, scene):
        super().__init__(scene, [scene.tool('joedb_client'), '--db', 'dump',
                                 '--read', scene.path], FOLLOW)
        self.process.stdin.flush()

    def finish(self):
        early = self.process.poll()
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.errors.seek(0)
        require(early is None, 'a reader has ended:', early, self.errors.read().decode())

    def check(self, log):
        text = self.text()
        text = self.NOISE.sub('', text[:text.rfind('\n') + 1])
        text = entries(self.EMPTY_LINE.sub('', text))
        same = len(os.path.commonprefix((log.text, text)))
        require(same == len(text), 'a follower saw', repr(text[max(0, same - 100):same + 200]),
                'where there is', repr(log.text[max(0, same - 100):same + 200]))


class Backup(Reader):
    """joedb_push, which may be killed. Its target has whole transactions, and never fewer of them."""

    def __init__(self, scene):
        level = scene.random.choice(([], ['--hard-checkpoint']))
        super().__init__(scene, [scene.tool('joedb_push'), *level, scene.path, 'file',
                                 scene.backup.path])

    def finish(self):
        self.is_whole = False
        if self.scene.random.random() < 0.5:
            self.process.kill()
            self.process.wait()
            return
        code = self.process.wait()
        self.errors.seek(0)
        error = self.errors.read().decode()
        if code == 1 and TAIL in error:
            code, _, error = run([self.scene.tool('joedb_client'), '--recovery',
                                  'overwrite', self.scene.backup.path])
        else:
            self.is_whole = True
        require(code == 0 and not error, f'exit code {code} of a backup:', error)

    def check(self, log):
        backup = self.scene.backup
        backup.update()
        require(log.text.startswith(backup.text), 'the backup has what is not there')
        require(not self.is_whole or backup.text.startswith(self.at_least), 'the backup is too short')


# ---- the supervisor

def give_up(*_):
    raise Failure('nothing happens any more')


class Scene:
    def __init__(self, tools, folder, seed, totals):
        self.tools, self.totals = tools, totals
        self.random = random.Random(seed)
        self.path = os.path.join(folder, 'db.joedb')
        self.log, self.backup = Log(tools, self.path), Log(tools, self.path + '.backup')
        self.names = range(1, 1 + self.random.choice((1, 1, 2, 3)))
        self.is_shared = len(self.names) > 1 or self.random.random() < 0.3
        self.has_integrity = self.random.random() < 0.3
        self.announced = {name: [0] for name in self.names}
        self.acknowledged = {name: 0 for name in self.names}
        self.hard = {name: 0 for name in self.names}
        self.reach = {name: 0 for name in self.names}  # no tail can have more rows
        self.writers = {}
        self.follower = None
        self.next_recovery = None

    def tool(self, name):
        return os.path.join(self.tools, name)

    # what writers say

    def note_open(self, name, count, recovery):
        """Tails are adopted only by those that are asked to."""
        require(count >= self.acknowledged[name], f'writer {name} found {count} rows, not',
                self.acknowledged[name])
        if recovery == 'ignore_header':
            require(count <= self.reach[name], f'writer {name} found {count} rows, not',
                    self.reach[name])
            if self.has_integrity:  # the first integrity entry comes with a checkpoint of its own
                self.announced[name].append(count)
        else:
            require(count in self.announced[name], f'writer {name} found {count} rows of',
                    self.announced[name][-3:])

    def begin(self, name, count):
        self.announced[name].append(count)
        self.reach[name] = max(self.reach[name], count)

    def acknowledge(self, name, count, is_hard):
        self.acknowledged[name] = count
        if is_hard:
            self.hard[name] = count
        self.totals.commits += 1

    def sent(self, name):
        return max(self.announced[name])

    # what the supervisor does

    def start(self, name):
        """A writer of any kind, with any recovery that loses nothing."""
        recovery = self.next_recovery or self.random.choice(('none', 'none', 'overwrite'))
        if not self.is_shared and self.random.random() < 0.2:
            recovery = 'ignore_header'
            self.log.may_have_zeros = True
        self.next_recovery = None
        kind = self.random.random()
        # A transaction that was killed cannot come back, but as a tail.
        self.announced[name] = [n for n in self.announced[name] if n <= self.log.count(name)]
        if kind < 0.6 or recovery == 'ignore_header':
            self.writers[name] = Native(self, name, recovery)
        elif kind < 0.8 and not self.is_shared and recovery == 'none':
            self.writers[name] = Interpreter(self, name)
        else:
            self.writers[name] = Client(self, name, recovery)

    def listen(self, seconds, until=lambda: False):
        """Hears what the writers say."""
        end = time.monotonic() + seconds
        while not until():
            left = end - time.monotonic()
            if left <= 0:
                return
            alive = [w for w in self.writers.values() if not w.process.stdout.closed]
            ready, _, _ = select.select(alive, [], [], left)
            for writer in ready:
                if not writer.read():
                    return  # it has ended

    def kill(self, name):
        writer = self.writers.pop(name)
        code = writer.kill()
        if code == -9:
            self.totals.kills += 1
            self.totals.in_transaction += self.sent(name) > self.acknowledged[name]
        elif code == 0:
            require(self.acknowledged[name] == self.sent(name) or not writer.has_begun,
                    'this has ended without saying '
                    f'that it has {self.sent(name)} rows, not only {self.acknowledged[name]}:',
                    *writer.command, writer.error())
        else:
            error = writer.error()
            require(writer.may_fail(error), f'exit code {code}:', *writer.command, error)
            self.totals.refused += 1
            self.next_recovery = 'overwrite'
        return code

    def check(self):
        """What is there now lies between what was acknowledged and what was announced."""
        least = dict(self.acknowledged)
        self.log.update()
        for writer in self.writers.values():
            writer.read()
        for name in self.names:
            count = self.log.count(name)
            require(count >= least[name], f'writer {name} has {count} rows, but {least[name]} were '
                    'acknowledged')
            require(count in self.announced[name], f'writer {name} has {count} rows, but its '
                    f'transactions ended at {self.announced[name][-3:]}')
            if name not in self.writers:
                self.acknowledged[name] = count  # what was seen once must stay

    def check_tail(self):
        """Nobody writes: what is behind the checkpoint was sent, too, as far as it can be read."""
        if self.writers or not self.log.text:
            return
        code, output, _ = run([self.tool('joedb_logdump'), '--ignore-header', self.path])
        output = entries(output)
        require(output.startswith(self.log.text), 'the tail hides what is before it')
        if code != 0 or output != self.log.text:
            self.totals.tails += 1

    def check_hard(self):
        """What a power cut may leave: the last hard checkpoint."""
        if self.writers or self.random.random() < 0.5 or not self.log.text:
            return
        copy = self.path + '.copy'
        shutil.copy(self.path, copy)
        for name in self.names:
            code, output, error = run([self.tool('crash_writer'), copy, '--writer', str(name),
                                       '--rows', '0', '--recovery', 'hard'])
            match = re.match(r'@ (\d+)\n', output)
            require(code == 0 and match and self.hard[name] <= int(match[1]) <= self.log.count(name),
                    f'the hard checkpoint of writer {name} was at {self.hard[name]} rows:', output, error)
        os.remove(copy)

    def intrude(self, name):
        """A second writer is refused, if the first one has the file for itself."""
        writer = self.writers[name]
        if self.is_shared or isinstance(writer, Client) or not writer.is_open:
            return
        if self.random.random() < 0.9:
            return
        code, _, error = run([self.tool('joedbi'), self.path])
        writer.read()
        sent = self.sent(name)
        if writer.process.poll() is not None:
            return
        if code == 0:  # the first one is done, and has closed the file, or it should not have been
            writer.process.wait(timeout=10)
            writer.read()
            require(sent == self.sent(name), 'a second writer was let in')
        else:
            require(code == 1 and 'another program writes it' in error, code, error)

    def readers(self):
        if not self.log.text or self.random.random() < 0.6:
            return []
        if self.follower is None:
            self.follower = Follower(self)
        return [self.random.choice((Dump, Look, Backup))(self)]

    def step(self):
        for name in self.names:
            if name not in self.writers:
                self.start(name)
        victim = self.random.choice(self.names)
        if self.random.random() < 0.7:
            self.listen(PATIENCE, lambda: self.writers[victim].is_open)
            self.listen(self.random.uniform(0, 0.004))
        else:
            self.listen(self.random.uniform(0, 0.012))
        readers = self.readers()
        self.intrude(victim)
        for name in [victim] if self.random.random() < 0.8 else self.names:
            self.kill(name)
        for name, writer in list(self.writers.items()):
            if writer.process.poll() is not None:
                self.kill(name)
        for reader in readers:
            reader.finish()
        follower = self.follower if self.follower and self.random.random() < 0.1 else None
        if follower:
            follower.finish()
            self.follower = None
        self.check()
        for reader in [*readers, *([follower] if follower else [])]:
            reader.check(self.log)
        self.check_tail()
        self.check_hard()

    def play(self, end):
        signal.signal(signal.SIGALRM, give_up)
        while time.monotonic() < end and len(self.log.text) < LARGEST_LOG:
            signal.alarm(PATIENCE)
            self.step()
        self.close()
        signal.alarm(0)

    def close(self):
        """At the end anyone can go on."""
        for name in list(self.writers):
            self.kill(name)
        if self.follower:
            self.follower.finish()
        self.check()
        if self.follower:
            self.follower.check(self.log)
        before = self.log.text
        code, _, error = run([self.tool('joedb_client'), '--recovery', 'overwrite',
                              self.path], 'transaction\ncomment "the end"\nquit\n')
        require(code == 0, 'joedb_client --recovery overwrite:', error)
        code, output, error = run([self.tool('joedb_logdump'), '--load', self.path])
        require(code == 0 and entries(output) == before + 'comment "the end"\n',
                'after the last transaction:', error, output[-200:])
        self.totals.scenes += 1
        self.totals.rows += self.log.records

    def end_processes(self):
        for process in [*self.writers.values(), *([self.follower] if self.follower else [])]:
            process.process.kill()
            process.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('tools', help='the folder of the programs')
    parser.add_argument('--seconds', type=float, default=20)
    parser.add_argument('--seed', type=int, default=random.randrange(1_000_000))
    parser.add_argument('--scenes', type=int, default=1_000_000_000, help='at most so many')
    arguments = parser.parse_args()
    tools = os.path.abspath(arguments.tools)

    totals = Totals()
    end = time.monotonic() + arguments.seconds
    for seed in range(arguments.seed, arguments.seed + arguments.scenes):
        if time.monotonic() >= end:
            break
        folder = tempfile.mkdtemp(prefix='joedb-crash-')
        scene = Scene(tools, folder, seed, totals)
        try:
            scene.play(end)
        except Exception as error:
            print(f'seed {seed}: {"" if isinstance(error, Failure) else type(error).__name__} {error}\n'
                  f'the files are in {folder}\n'
                  f'again: {sys.argv[0]} {arguments.tools} --seed {seed} --scenes 1')
            if isinstance(error, Failure):
                return 1
            raise
        finally:
            scene.end_processes()
        shutil.rmtree(folder)
    print(f'seeds from {arguments.seed} on: {totals}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
