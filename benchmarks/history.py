"""Two states of a database that are some percent apart: the difference, beside opening the later one."""
import os
import random
import statistics
import subprocess
import time


def commands_of_rows(rows):
    yield 'create_table benchmark\nadd_field benchmark name string\nadd_field benchmark value int64\n'
    for i in range(rows):
        yield f'insert_into benchmark {i} "TOTO" {i}\n'


def measure_history(programs, directory, rounds, rows):
    def tool(*words, **options):
        return subprocess.run([os.path.join(programs, words[0]), *words[1:]], check=True, stdout=subprocess.DEVNULL,
                              cwd=directory, **options)

    def measure(text, *words):
        seconds = []
        for _ in range(rounds):
            start = time.perf_counter()
            tool(*words, stdin=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
        median = statistics.median(seconds)
        print(f'  {text:68}{median:8.3f} s', flush=True)
        return median

    def write(name, commands, *options):
        process = subprocess.Popen([os.path.join(programs, 'joedbi'), '--log', 'none', *options, name], cwd=directory,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        with process.stdin as out:
            out.writelines(commands)
        if process.wait() != 0:
            raise RuntimeError(f'{name} could not be written')

    print(f'history: {rows:,} rows ({rounds} rounds)\n')
    write('old.joedb', commands_of_rows(rows), '--new')
    middle = os.path.getsize(os.path.join(directory, 'old.joedb'))
    chosen = random.Random(1)
    for divisor in 1000, 100:
        new = f'new{divisor}.joedb'
        tool('joedb_branch', 'old.joedb', str(middle), new)
        write(new, (f'update benchmark {i} value {chosen.getrandbits(40)}\n'
                    for i in chosen.sample(range(rows), rows // divisor)))
        name = f'{100 / divisor:g} % of the rows, in no order'
        opening = measure(f'{name}: opening', 'joedbi', '--read', new)
        for text, words in (('joedb diff FILE FROM', (new, str(middle))),
                            ('joedb diff FILE1 FILE2', ('old.joedb', new))):
            seconds = measure(f'{name}: {text}', 'joedb_diff', '--stat', *words)
            print(f'{"":70}{seconds / opening:8.2f} times opening')
    measure('joedb branch', 'joedb_branch', '--force', 'old.joedb', str(middle), 'branch.joedb')
    for name in 'old', 'new1000', 'new100', 'branch':
        os.remove(os.path.join(directory, f'{name}.joedb'))
    print(flush=True)
