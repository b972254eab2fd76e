#!/usr/bin/env python3
"""A record that has the id of a deleted one begins with default values: for every tool.

usage: reused_ids.py TOOLS_DIR [SEED...]

Random histories are written by joedbi. A model, which is no more than a dictionary, says what programs see. Each tool
that shows the records must show this, and so must what each tool writes that rewrites a file.
"""
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys

import shell

TOOLS = os.path.abspath(sys.argv[1])
DEFAULTS = {'name': '', 'age': 0}
FIELDS = tuple(DEFAULTS)


def run(*words, data='', code=0):
    done = subprocess.run([f'{TOOLS}/{words[0]}', *words[1:]], input=data.encode(), capture_output=True, check=False)
    assert done.returncode == code, f'{words}: exit {done.returncode}: {(done.stdout + done.stderr).decode()}'
    return done.stdout.decode()


# ---- the model

def literal(value):
    return f'"{value}"' if isinstance(value, str) else str(value)


def write_history(chance, file):
    """Returns the records, by id."""
    records, size, serial = {}, 0, 0
    lines = ['create_table person', 'add_field person name string', 'add_field person age int32']

    def value_of(field):
        nonlocal serial
        serial += 1
        return f'name {serial}, of more than eleven letters' if field == 'name' and chance.random() < 0.8 else (
            f'n{serial}' if field == 'name' else serial)

    for _ in range(chance.randrange(5, 60)):
        what = chance.random()
        if what < 0.35:
            free = [i for i in range(size) if i not in records]
            record = chance.choice(free) if free and chance.random() < 0.8 else size
            count = chance.randrange(1, 4) if chance.random() < 0.3 else 1
            while any(i in records for i in range(record, record + count)):
                count -= 1
            lines.append(f'insert_into person {record}' if count == 1 else f'insert_vector person {record} {count}')
            for i in range(record, record + count):
                records[i] = dict(DEFAULTS)
            size = max(size, record + count)
        elif what < 0.65 and records:
            record, field = chance.choice(sorted(records)), chance.choice(FIELDS)
            records[record][field] = value_of(field)
            lines.append(f'update person {record} {field} {literal(records[record][field])}')
        elif what < 0.75 and size > 0:
            # Also of records that are not in use.
            record, field = chance.randrange(size), chance.choice(FIELDS)
            values = [value_of(field) for _ in range(chance.randrange(1, size - record + 1))]
            lines.append(f'update_vector person {record} {field} {len(values)} ' + ' '.join(map(literal, values)))
            for i, value in enumerate(values, record):
                if i in records:
                    records[i][field] = value
        elif what < 0.95 and records:
            record = chance.choice(sorted(records))
            del records[record]
            lines.append(f'delete_from person {record}')
        else:
            lines.append('timestamp 1000')
    run('joedbi', '--bail', '--new', file, data='\n'.join(lines + ['timestamp 2000', '']))
    return records


# ---- what there is in a file

def in_order(records):
    return [[record[field] for field in FIELDS] for _, record in sorted(records.items())]


def from_json(file):
    table = json.loads(run('joedb_to_json', file))['person']
    return [[table[field][i] for field in FIELDS] for i in range(table['__size'])]


def from_export(file):
    rows = [json.loads(line) for line in run('joedb_export', 'jsonl', file, 'person').splitlines()]
    return [[row[field] for field in FIELDS] for row in rows]


def select(file, statement):
    return json.loads(run('joedb_sql', '--mode', 'json', file, statement) or '[]')


def from_sql(file):
    return [[row[field] for field in FIELDS] for row in select(file, 'SELECT * FROM person ORDER BY __id')]


def from_joedbi(file):
    """The commands that make the database again, and what they make."""
    text = run('joedbi', '--read', file, data='dump\n').replace('OK: dump\n', '')
    copy = f'{file}.dump{len(os.listdir(os.path.dirname(file)))}'
    run('joedbi', '--bail', '--new', copy, data=text)
    return from_json(copy)


def check(what, actual, expected):
    assert actual == expected, f'{what}:\n  {actual}\ninstead of\n  {expected}'


def check_shown(file, expected):
    check('joedb_to_json', from_json(file), expected)
    check('joedb sql', from_sql(file), expected)
    check('joedb export', from_export(file), expected)
    check('joedbi', from_joedbi(file), expected)
    check('joedb_log -p', from_log(file), expected)


def from_log(file):
    """The last values of each record that a history of all changes leads to."""
    records = {}
    for line in run('joedb_log', '-p', '--json', '--reverse', file).splitlines():
        for change in json.loads(line)['changes']:
            apply(records, change)
    return in_order(records)


def apply(records, change):
    if 'record' not in change:
        return
    first = change['record']
    for i in range(first, first + change['size']):
        if change['change'] == 'deleted':
            del records[i]
            continue
        if change['change'] == 'inserted':
            records[i] = {}
        for field in change['fields']:
            records[i][field['name']] = field['new'][i - first]


# ---- tools that write

def rewritten(file, chance):
    """Yields names of files that tools have made of it."""
    since = chance.choice(re.findall(r'(?m)^\d+', run('joedb_log', file)))
    for tool, *options in (('pack',), ('pack', '--keep-since', since), ('merge',), ('convert',)):
        copy = f'{file}.{tool}{len(options)}'
        run(f'joedb_{tool}', *options, file, copy)
        yield copy
    run('joedbi', '--new', f'{file}.typed', data=run('joedb_logdump', file))
    yield f'{file}.typed'
    in_place = f'{file}.in_place'
    run('joedb_convert', file, in_place)
    run('joedb_pack', '--in-place', in_place)
    yield in_place


def check_history(seed):
    chance = random.Random(seed)
    with shell.temporary_folder() as folder:
        file = os.path.join(folder, 'a.joedb')
        records = write_history(chance, file)
        expected = in_order(records)
        check_shown(file, expected)
        for copy in rewritten(file, chance):
            check(copy, from_json(copy), expected)
            run('joedb_diff', '--exit-code', file, copy)
        # With a snapshot, for programs and tools.
        run('joedbi', file, data='hard_checkpoint\n')
        run('joedb_snapshot', file)
        check_shown(file, expected)
        check_undo(file, expected)


def check_undo(file, expected):
    """What is deleted and inserted again, and taken back, is as it was."""
    ids = select(file, 'SELECT __id FROM person')
    if not ids:
        return
    lines = [f'{command} person {row["__id"]}' for row in ids for command in ('delete_from', 'insert_into')]
    run('joedbi', '--bail', file, data='\n'.join(lines + ['timestamp 3000', '']))
    check('all new', from_json(file), [list(DEFAULTS.values())] * len(ids))
    run('joedb_undo', file)
    check('joedb_undo', from_json(file), expected)


def check_classic():
    """With --classic, tools show and write what those of joedb 10 do."""
    with shell.temporary_folder() as folder:
        file = os.path.join(folder, 'a.joedb')
        run('joedbi', '--new', file, data='create_table t\nadd_field t n int32\ninsert_into t 0 7\n'
                                          'delete_from t 0\ninsert_into t 0\n')
        run('joedb_pack', file, f'{file}.pack')
        run('joedb_pack', '--classic', file, f'{file}.classic')
        for words, value in (((file,), 0), (('--classic', file), 7), ((f'{file}.pack',), 0), ((f'{file}.classic',), 7)):
            check(words, json.loads(run('joedb_to_json', *words))['t']['n'], [value])
        out = run('joedb_diff', '--exit-code', f'{file}.pack', f'{file}.classic', code=1)
        assert '7' in out, out


def main():
    seeds = [int(word) for word in sys.argv[2:]] or range(25)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {seed: pool.submit(check_history, seed) for seed in seeds}
    for seed, job in jobs.items():
        if error := job.exception():
            sys.exit(f'seed {seed}: {type(error).__name__} {error}')
    check_classic()
    print(f'{len(seeds)} histories: every tool shows and writes what programs see')


if __name__ == '__main__':
    main()
