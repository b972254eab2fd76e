#!/usr/bin/env python3
"""What file(1) says of our files, with packaging/joedb.magic.

usage: magic.py TOOLS_DIR
"""
import os
import subprocess
import sys
import tempfile

MAGIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'packaging', 'joedb.magic')


def run(folder, *words, text=''):
    return subprocess.run(words, cwd=folder, input=text, text=True, check=True, capture_output=True).stdout


def check(tools, folder):
    run(folder, f'{tools}/joedbi', '--new', 'city.joedb', text='create_table city\n')
    run(folder, f'{tools}/joedb_wal', 'bench', '--keep', '--entries', '1', 'log')
    database = 'joedb database, format 5, checkpoints 82 82 82 82'
    for name, text, mime in (('city.joedb', database, 'application/x-joedb'),
                             ('log', 'joedb write-ahead log, format 1', 'application/x-joedb-wal')):
        for option, expected in ('--brief', text), ('--mime-type', mime):
            said = run(folder, 'file', '--magic-file', MAGIC, '--brief', option, name).strip()
            assert said == expected, f'{name}: {said}'


with tempfile.TemporaryDirectory() as place:
    check(os.path.abspath(sys.argv[1]), place)
