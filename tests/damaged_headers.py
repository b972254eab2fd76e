#!/usr/bin/env python3
"""Headers with one flipped bit, and truncated files, of every kind of writer.

usage: damaged_headers.py TOOLS_DIR

With integrity entries, no bit of the checkpoint words hides what a writer has committed, from readers or
from the next writer. A truncated file is never read as an empty database, in whatever mode.

Thousands of files are read through libjoedb_c.so: its choice of a checkpoint is that of the tools, which
take 10 ms to be loaded.
"""
import concurrent.futures
import ctypes
import os
import shutil
import subprocess
import sys

import shell

WORDS_SIZE = 32
TOOLS = os.path.abspath(sys.argv[1])
NAMES = 'one', 'two', 'three', 'four'
SCHEMA = 'create_table city\nadd_field city name string\n'


def run(folder, *words, text=''):
    """(exit code, standard output)"""
    result = subprocess.run((f'{TOOLS}/{words[0]}', *words[1:]), cwd=folder, input=text, text=True,
                            capture_output=True, check=False, env=shell.environment_of(TOOLS, folder))
    return result.returncode, result.stdout


def succeed(*arguments, **options):
    code, out = run(*arguments, **options)
    assert code == 0, f'{arguments}: {out}'
    return out


def insert(name):
    return f'insert_into city {NAMES.index(name)} "{name}"\n'


def by_interpreter(folder, name):
    succeed(folder, 'joedbi', 'db.joedb', text=insert(name))


def by_client(folder, name):
    succeed(folder, 'joedb_client', 'db.joedb', text=f'transaction\n{insert(name)}quit\n')


def by_import(folder, name):
    with open(os.path.join(folder, 'city.csv'), 'w', encoding='utf-8') as file:
        file.write(f'name\n{name}\n')
    succeed(folder, 'joedb', 'import', 'csv', 'city.csv', 'db.joedb')


def by_sql(folder, name):
    succeed(folder, 'joedb', 'sql', 'db.joedb', f"INSERT INTO city(name) VALUES('{name}')")


def by_push(folder, name):
    shutil.copy(os.path.join(folder, 'db.joedb'), os.path.join(folder, 'source.joedb'))
    succeed(folder, 'joedbi', 'source.joedb', text=insert(name))
    succeed(folder, 'joedb_push', 'source.joedb', 'file', 'db.joedb')


def by_server(folder, name):
    with shell.Session(TOOLS, folder) as session:
        transaction = f'transaction\n{insert(name)}quit\n'
        for command in ('joedb_server --socket s.sock db.joedb & server=$!',
                        f"printf '%s' '{transaction}' | joedb_client --shared copy.joedb local s.sock",
                        'kill -TERM $server'):
            code, out = session.run(command)
            assert code == 0, f'{command}: {out}'


WRITERS = by_interpreter, by_client, by_import, by_sql, by_push, by_server


class Options(ctypes.Structure):
    """joedb_options"""
    _fields_ = [('size', ctypes.c_size_t), ('mode', ctypes.c_int32), ('recovery', ctypes.c_int32),
                ('others', ctypes.c_int64 * 7)]


class Value(ctypes.Structure):
    """joedb_value, of a string"""
    _fields_ = [('type', ctypes.c_int64), ('data', ctypes.c_char_p), ('size', ctypes.c_size_t)]


LIBRARY = ctypes.CDLL(os.path.join(TOOLS, 'libjoedb_c.so'))
READ = Options(ctypes.sizeof(Options), 4)
CITY, NAME = ctypes.c_uint16(1), ctypes.c_uint16(1)  # the first table and its first field


def library(function, *arguments):
    """Whether a function of the C interface succeeds."""
    return getattr(LIBRARY, f'joedb_{function}')(*arguments) == 0


def names(path):
    """What a reader finds; nothing if it refuses the file."""
    db, record, value = ctypes.c_void_p(), ctypes.c_int64(-1), Value()
    if not library('open', path.encode(), ctypes.byref(READ), ctypes.byref(db)):
        return None
    found = []
    while library('next', db, CITY, record, ctypes.byref(record)) and record.value >= 0:
        assert library('get', db, CITY, record, NAME, ctypes.byref(value))
        found.append(value.data.decode())
    LIBRARY.joedb_close(db)
    return found


def names_of_tool(folder):
    return succeed(folder, 'joedb', 'export', 'csv', 'db.joedb', 'city').split()[1:]


def check_protected_header(writer, folder):
    succeed(folder, 'joedbi', '--new', 'db.joedb', text=SCHEMA)
    succeed(folder, 'joedb_verify', '--protect', 'db.joedb')
    check_bits(writer, folder)


def check_header(writer, folder):
    succeed(folder, 'joedbi', '--new', 'db.joedb', text=SCHEMA)
    check_bits(writer, folder)


def check_bits(writer, folder):
    expected = list(NAMES[:3])
    for name in expected:
        writer(folder, name)
    original, path = (os.path.join(folder, name) for name in ('db.joedb', 'bit.joedb'))
    assert names(original) == names_of_tool(folder) == expected
    with open(original, 'rb') as file:
        good = file.read()
    for bit in range(8 * WORDS_SIZE):
        damaged = bytearray(good)
        damaged[bit // 8] ^= 1 << bit % 8
        with open(path, 'wb') as file:
            file.write(damaged)
        where = f'{writer.__name__}, bit {bit}'
        found = names(path)
        assert found in (None, expected), f'{where}: a reader finds {found}'
        if bit % 8 not in (0, 6, 7):
            continue  # the others take too long
        code, _ = run(folder, 'joedb_client', path, text=f'transaction\n{insert(NAMES[3])}quit\n')
        if code == 0:
            found = names(path)
            assert found == list(NAMES), f'{where}: behind the next writer stands {found}'
        else:
            with open(path, 'rb') as file:
                assert file.read() == bytes(damaged), f'{where}: a writer that refuses has written'


def check_cut(writer, folder):
    succeed(folder, 'joedbi', '--new', 'db.joedb', text=SCHEMA)
    for name in NAMES[:3]:
        writer(folder, name)
    size = os.path.getsize(os.path.join(folder, 'db.joedb'))
    for cut in size - 1, size - 10, size // 2, 60, 41, 40, 20:
        for command, text in ((('joedb_client', '--recovery', 'keep'), 'transaction\nquit\n'),
                              (('joedb_client', '--recovery', 'overwrite'), 'transaction\nquit\n'),
                              (('joedb_client',), 'transaction\nquit\n'), (('joedb_recover',), ''),
                              (('joedbi',), ''), (('joedb_to_json',), '')):
            path = os.path.join(folder, 'cut.joedb')
            shutil.copy(os.path.join(folder, 'db.joedb'), path)
            os.truncate(path, cut)
            code, out = run(folder, *command, 'cut.joedb', text=text)
            where = f'{writer.__name__}, cut at {cut}, {" ".join(command)}'
            assert code != 0, f'{where}: {out}'
            assert os.path.getsize(path) == cut, f'{where}: the file was changed'


def in_folder(check, writer):
    with shell.temporary_folder() as folder:
        check(writer, folder)


# A server does not read the entries of its file: it knows only those before each checkpoint.
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for done in [pool.submit(in_folder, check, writer) for check in (check_protected_header, check_header, check_cut)
                 for writer in WRITERS if (check, writer) != (check_header, by_server)]:
        done.result()
