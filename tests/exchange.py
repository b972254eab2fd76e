#!/usr/bin/env python3
"""Real data into a database and back: the package index of this machine and iso-codes, where they are.

usage: exchange.py TOOLS_DIR

Without them, made-up rows are used. Python's own csv and json read what is exported. Then: imports, scripts and
statements that are interrupted, and an import of more rows than fit in the memory that it may take for them.
"""
import csv
import fcntl
import glob
import io
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

TOOLS = os.path.abspath(sys.argv[1])
ISO_CODES = '/usr/share/iso-codes/json/iso_*.json'


def run(*words, data=b'', code=0):
    done = subprocess.run([f'{TOOLS}/{words[0]}', *words[1:]], input=data, capture_output=True, check=False)
    assert done.returncode == code, f'{words}: exit {done.returncode}: {done.stderr.decode()}'
    return done.stdout if code == 0 else done.stderr


def as_csv(rows):
    out = io.StringIO(newline='')
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def as_jsonl(rows):
    return ''.join(json.dumps(row, ensure_ascii=False) + '\n' for row in rows).encode()


def counts(output):
    return {name: count for name, count in json.loads(output).items() if count and name not in ('table', 'missing')}


# ---- data

def packages():
    """The package index: a row for each version, all of it strings and two numbers."""
    if not shutil.which('apt-cache'):
        return []
    text = subprocess.run(['apt-cache', 'dumpavail'], capture_output=True, check=True).stdout.decode('utf-8', 'replace')
    rows = []
    for paragraph in text.split('\n\n')[:20_000]:
        fields = {}
        name = ''
        for line in paragraph.split('\n'):
            if line.startswith((' ', '\t')):
                fields[name] += '\n' + line[1:]
            elif ': ' in line:
                name, _, value = line.partition(': ')
                fields[name] = value
            else:
                name = line.rstrip(':')
                fields[name] = ''
        if 'Package' in fields:
            rows.append({'name': fields['Package'], 'version': fields.get('Version', ''),
                         'architecture': fields.get('Architecture', ''), 'size': int(fields.get('Size', 0)),
                         'section': fields.get('Section', ''), 'depends': fields.get('Depends', ''),
                         'description': fields.get('Description', '')})
    unique = {(row['name'], row['version'], row['architecture']): row for row in rows}
    return list(unique.values())


def made_up():
    randomly = random.Random(1)
    letters = 'abc,"\n\r é\t;'
    return [{'name': f'{i}', 'version': ''.join(randomly.choices(letters, k=randomly.randrange(9))),
             'architecture': 'all', 'size': randomly.randrange(10 ** 12), 'section': f'section {i % 7}',
             'depends': '', 'description': ''.join(randomly.choices(letters, k=randomly.randrange(90)))}
            for i in range(5000)]


# ---- tests

def check_packages(folder, rows):
    """Imported twice, with changes, and exported: Python reads the same rows."""
    db = f'{folder}/packages.joedb'
    key = ['--table', 'package', '--key', 'name,version,architecture', '--enum', 'section', '--json']
    run('joedb', 'import', 'csv', '--new', *key, '-', db, data=as_csv(rows))
    for form, text in ('csv', as_csv(rows)), ('jsonl', as_jsonl(rows)):
        size = os.path.getsize(db)
        assert counts(run('joedb', 'import', form, *key, '-', db, data=text)) == {'unchanged': len(rows)}, form
        assert os.path.getsize(db) == size
    names = ['--reference', 'section=section.name']
    exported = run('joedb', 'export', 'csv', *names, db, 'package').decode()
    found = list(csv.DictReader(io.StringIO(exported, newline='')))
    assert found == [{name: str(value) for name, value in row.items()} for row in rows], 'CSV'
    exported = run('joedb', 'export', 'jsonl', *names, db, 'package').decode()
    assert [json.loads(line) for line in exported.split('\n')[:-1]] == rows, 'JSON lines'

    changed = [dict(row) for row in rows[1:]]
    changed[0]['size'] += 1
    changed.append({**rows[0], 'version': 'new'})
    done = counts(run('joedb', 'import', 'csv', *key, '--delete-missing', '-', db, data=as_csv(changed)))
    assert done == {'inserted': 1, 'updated': 1, 'unchanged': len(rows) - 2, 'deleted': 1}, done


def check_iso_codes(folder):
    """Each list of iso-codes through both formats; keys that only some objects have are null."""
    for path in glob.glob(ISO_CODES):
        with open(path, encoding='utf-8') as file:
            (rows,) = json.load(file).values()
        table = os.path.basename(path).removesuffix('.json').replace('-', '_')
        db, lines = f'{folder}/{table}.joedb', f'{folder}/{table}.jsonl'
        with open(lines, 'wb') as out:
            out.write(as_jsonl(rows))
        run('joedb', 'import', 'jsonl', '--new', lines, db)
        for form in 'csv', 'jsonl':
            text = run('joedb', 'export', form, db, table)
            assert counts(run('joedb', 'import', form, '--new', '--json', '--table', table, '-', f'{db}.{form}',
                              data=text)) == {'inserted': len(rows)}
        found = [json.loads(line) for line in text.decode().split('\n')[:-1]]
        assert [{name: value for name, value in row.items() if value} for row in found] == \
               [{name: value for name, value in row.items() if value} for row in rows], table


def is_sleeping(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
        return file.read().rpartition(')')[2].split()[0] == 'S'


def is_interrupted(process, message):
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    error = process.stderr.read()
    assert process.returncode == -signal.SIGINT, (process.returncode, error)
    assert message in error, error


def check_interrupted_commands(folder):
    """SIGINT in a script of joedbi or SQL: what has no checkpoint is taken back, so that others may write the file."""
    db = f'{folder}/script.joedb'
    run('joedb', 'import', 'csv', '--table', 't', db, '-',
        data=b'a,b\n' + b''.join(b'%d,"some text of this row"\n' % i for i in range(500_000)))
    before = run('joedb_logdump', db)
    process = subprocess.Popen([f'{TOOLS}/joedbi', db], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    process.stdin.write(b'update t 0 a 7\n' * 10_000)
    process.stdin.flush()
    while struct.unpack('i', fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)))[0] > 0 or \
            not is_sleeping(process.pid):
        time.sleep(0.01)
    is_interrupted(process, b'interrupted: the rest of the script was not run')
    for statement, message in (("UPDATE t SET b = 'x' || a", b'the statement has changed nothing'),
                               ("BEGIN; UPDATE t SET b = 'x' || a; UPDATE t SET b = 'y' || a",
                                b'the transaction has changed nothing')):
        size = os.path.getsize(db)
        process = subprocess.Popen([f'{TOOLS}/joedb', 'sql', db, statement], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        while os.path.getsize(db) <= size and process.poll() is None:
            time.sleep(0.001)  # until it writes
        is_interrupted(process, b'interrupted: ' + message)
    assert run('joedb_verify', db).startswith(f'{db}: good\n'.encode())
    assert run('joedb_logdump', db) == before
    run('joedb', 'tag', db, 'as_before')


def check_interruption(folder):
    """SIGINT in an import: the database is as before, also for the next writer."""
    db = f'{folder}/interrupted.joedb'
    run('joedb', 'import', 'csv', '--new', '--table', 't', '-', db, data=b'a\n1\n')
    before = run('joedb_logdump', db)
    process = subprocess.Popen([f'{TOOLS}/joedb', 'import', 'csv', '--table', 't', '-', db], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b'a\n' + b'7\n' * 1_000_000)
    process.stdin.flush()
    while struct.unpack('i', fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)))[0] > 0 or \
            not is_sleeping(process.pid):
        time.sleep(0.01)  # until it waits for more rows
    is_interrupted(process, b'interrupted: nothing was imported')  # the pipe is still open
    assert run('joedb_logdump', db) == before
    assert run('joedb', 'import', 'csv', '--table', 't', '-', db, data=b'a\n2\n') == \
           b't: inserted 1, updated 0, unchanged 0, deleted 0\n'


def check_memory(folder):
    """An import that changes nothing takes no memory for its rows: they are some 100 MB."""
    path, db = f'{folder}/t.csv', f'{folder}/memory.joedb'
    with open(path, 'w', encoding='utf-8') as out:
        out.write('name,note\n' + ''.join(f'{i},{"x" * 1000}\n' for i in range(1000)))
    run('joedb', 'import', 'csv', '--new', '--key', 'name', path, db)
    with open(path, 'a', encoding='utf-8') as out:
        out.write('\n' * 100_000_000)
    limit = 'ulimit -v 150000 && '
    done = subprocess.run(['bash', '-c', f'{limit} {TOOLS}/joedb import csv --key name {path} {db}'], check=True,
                          capture_output=True)
    assert b'unchanged 1000' in done.stdout, done


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check, *arguments in ((check_packages, packages() or made_up()), (check_iso_codes,), (check_interruption,),
                                  (check_interrupted_commands,), (check_memory,)):
            start = time.monotonic()
            check(folder, *arguments)
            print(f'{check.__name__}: {time.monotonic() - start:.1f} s')


main()
