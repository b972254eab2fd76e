"""Cost as it grows: what a row, a table, a field or a transaction costs, at several sizes.

Time is that of the processor, in the program and in the system: other work on the machine adds less to it.
What a program needs for size 1 is taken off first. The last column is the cost at the last size divided by
that at the first: about 1 is flat.
"""
import os
import shlex
from typing import Callable, NamedTuple, Optional

from suite import remove, say


class Series(NamedTuple):
    text: str
    sizes: list
    more: list     # with --large
    steps: dict    # name: command; the steps of a size run one after the other, on the same {file}
    write_text: Optional[Callable] = None  # write_text(size) is what stands in {text}.joedbi


def tables(count):
    """So many tables, with a row of two fields each."""
    schema = ''.join(f'create_table t{i}\nadd_field t{i} name string\nadd_field t{i} value int64\n'
                     for i in range(count))
    return schema, ''.join(f'insert_into t{i} 0 "TOTO" {i}\n' for i in range(count))


def fields(count):
    """A table of so many fields, with 10,000 rows."""
    schema = 'create_table t\n' + ''.join(f'add_field t f{i} int64\n' for i in range(count))
    row = ' '.join(map(str, range(count)))
    return schema, ''.join(f'insert_into t {i} {row}\n' for i in range(10_000))


def case(name):
    return f'joedb_benchmark {name} {{size}} {{file}}'


OPEN = 'joedbi {file} < /dev/null'
OF_SCHEMAS = {
    'joedbi makes the file': 'joedbi --new {file} < {text}.commands',
    'joedbi opens it': OPEN,
    'joedb_logdump': 'joedb_logdump {file} > /dev/null',
    'joedb_pack': 'joedb_pack {file} {file}-packed',
    'joedbc': 'joedbc --output {text}.generated {text}'}

MILLIONS = [1_000_000, 3_000_000, 10_000_000], [30_000_000, 100_000_000]
SERIES = [
    Series('a row', *MILLIONS, {'inserted one by one': case('insert_rows'),
                                'opened and added up': case('open_and_sum')}),
    Series('a row of a vector', *MILLIONS, {'inserted': case('insert_vectors'),
                                            'opened and added up': case('open_and_sum')}),
    Series('a word, with a unique index', [100_000, 300_000, 1_000_000], [3_000_000, 10_000_000], {
        'inserted': case('insert_words'), 'opened and found': case('open_and_find')}),
    Series('a row, nine of ten deleted in no order', *MILLIONS, {
        'inserted and deleted': case('make_holes'), 'opened and added up': case('open_and_sum_between_holes')}),
    Series('a row, each deleted before the next comes', *MILLIONS, {
        'inserted and deleted': case('insert_and_delete'), 'joedbi opens it': OPEN}),
    Series('a soft checkpoint', [30_000, 100_000, 300_000], [1_000_000, 3_000_000], {
        'made': case('soft_checkpoint_per_row'), 'opened and added up': case('open_and_sum')}),
    Series('a hard checkpoint', [1000, 3000, 10_000], [30_000, 100_000], {
        'made': case('hard_checkpoint_per_row'), 'opened and added up': case('open_and_sum')}),
    Series('a transaction of a client of a shared file', [10_000, 30_000, 100_000], [300_000, 1_000_000], {
        'made': case('share'), 'opened and added up': case('open_and_sum')}),
    Series('a table', [100, 300, 1000, 3000], [10_000], OF_SCHEMAS, tables),
    Series('a field, in 10,000 rows', [10, 30, 100, 300], [1000], OF_SCHEMAS, fields),
]
UNITS = {'time': (1e9, 'ns'), 'memory': (1e6, 'B')}


def run(runner, series, size, rounds):
    """The best figures of each step."""
    file, text = (os.path.join(runner.directory, name) for name in ('grows', 'schema'))
    if series.write_text:
        schema, rows = series.write_text(size)
        for name, content in (('.joedbi', schema), ('.joedbc', 'namespace grows\n'),
                              ('.commands', 'echo off\n' + schema + rows)):
            with open(text + name, 'w', encoding='utf-8') as f:
                f.write(content)
        os.makedirs(text + '.generated', exist_ok=True)
    best = {}
    for _ in range(rounds):
        remove(file)
        remove(file + '-packed')
        for step, command in series.steps.items():
            figures = runner.measure(['sh', '-c', 'exec ' + command.format(
                size=size, file=shlex.quote(file), text=shlex.quote(text))])
            cost = {'time': figures['processor'], 'memory': figures['memory_mb']}
            best[step] = {key: min(cost[key], best.get(step, cost)[key]) for key in UNITS}
    return best


def measure_growth(runner, rounds, large, only):
    """Prints a table for each series; if there are texts in `only`, of those with one in their name."""
    for series in SERIES:
        if only and not any(text in series.text for text in only):
            continue
        sizes = series.sizes + (series.more if large else [])
        figures = {}
        for size in [1, *sizes]:
            say(f'grow: {series.text}, {size:,}')
            figures[size] = run(runner, series, size, 3 * rounds if size == 1 else rounds)  # 1 is soon done
        say('')
        print(f'grow: {series.text}\n\n' + ''.join(f'{size:13,}' for size in sizes) + '   growth')
        for step in series.steps:
            for key, (factor, unit) in UNITS.items():
                costs = [max(0, figures[size][step][key] - figures[1][step][key]) * factor / size
                         for size in sizes]
                growth = f'{costs[-1] / costs[0]:9.2f}' if costs[0] >= 1 else '         '
                print(''.join(f'{cost:10,.0f} {unit:2}' for cost in costs) + f'{growth}  {step}')
        print(flush=True)
