#!/usr/bin/env python3
"""What an editor with clangd shows about generated code: the comments of joedbc, and those of the schema.

usage: hover.py SOURCE_DIR TOOLS_DIR          exit code 77: there is no clangd
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'support'))
import lsp  # noqa: E402 (from the folder support)

SCHEMA = '''# Somebody who borrows books.
create_table person
# As on the card: surname first.
add_field person name string
'''
OPTIONS = '''# Names are different.
create_unique_index person_by_name person name
'''
PROGRAM = '''#include "staff.h"
int main() {
  staff::Memory_Database db;
  const auto ada = db.new_person("Ada");
  db.new_person({.name = "Grace"});
  db.set_name(ada, "Lovelace, Ada");
  const staff::values_of_person values;
  return static_cast<int>(db.get_name(ada).size() + values.name.size() + db.find_person_by_name("").get_id() +
                          db.get_person_table().get_size());
}
'''
# What is shown where the cursor is on a word of the program.
EXPECTED = {
    'Memory_Database': ['A database in memory'],
    'new_person("Ada")': ['A new record of person with a value for each field.'],
    'name = "Grace"': ['As on the card: surname first.'],
    'set_name': ['As on the card: surname first.', 'Sets person.name: string'],
    'values_of_person': ['Somebody who borrows books.', 'A value for each field of person. Owns its strings.'],
    'get_name': ['As on the card: surname first.', 'person.name: string'],
    'name.size': ['As on the card: surname first.'],
    'find_person_by_name': ['Names are different.', 'The record with this key, or null.'],
    'get_person_table': ['Somebody who borrows books.', 'All records of person, in insertion order.'],
}


def main(top, tools):
    clangd = shutil.which('clangd') or shutil.which('clangd-14')
    if not clangd:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ('staff.joedbi', SCHEMA), ('staff.joedbc', OPTIONS), ('main.cc', PROGRAM):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        with open(os.path.join(folder, 'compile_flags.txt'), 'w', encoding='utf-8') as file:
            file.write(f'-std=c++20\n-I.\n-I{top}/include\n')
        subprocess.run([os.path.join(tools, 'joedbc'), 'staff'], cwd=folder, check=True)
        document = {'uri': f'file://{folder}/main.cc'}
        requests = [{'method': 'textDocument/didOpen',
                     'params': {'textDocument': {**document, 'languageId': 'cpp', 'version': 1, 'text': PROGRAM}}}]
        for number, word in enumerate(EXPECTED, 2):
            line, character = place_of(word)
            requests.append({'id': number, 'method': 'textDocument/hover',
                             'params': {'textDocument': document, 'position': {'line': line, 'character': character}}})
        output = subprocess.run([clangd, '--log=error', '--background-index=0', '--sync'], input=lsp.session(*requests),
                                stdout=subprocess.PIPE, cwd=folder, timeout=120, check=True).stdout
    shown = {r['id']: r.get('result') for r in lsp.messages(output) if 'id' in r}
    bad = 0
    for number, (word, texts) in enumerate(EXPECTED.items(), 2):
        value = (shown.get(number) or {}).get('contents', {}).get('value', '').replace('\\_', '_')
        missing = [text for text in texts if text not in value]
        if missing:
            bad += 1
            print(f'{word}: {missing} is not in {value!r}')
    print(f'{len(EXPECTED)} words, {bad} are not documented')
    return 1 if bad else 0


def place_of(word):
    before = PROGRAM[:PROGRAM.index(word)]
    return before.count('\n'), len(before) - before.rfind('\n') - 1


if __name__ == '__main__':
    sys.exit(main(*map(os.path.abspath, sys.argv[1:])))
