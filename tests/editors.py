#!/usr/bin/env python3
"""The files for editors know the words that the tools know, and editors can read them.

usage: editors.py SOURCE_DIR TOOLS_DIR

The grammars are tried with Python's regular expressions, and with the real engine if node finds
vscode-textmate and vscode-oniguruma; the files of vim in vim, if it is there.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, TOOLS = map(os.path.abspath, sys.argv[1:3])
EDITORS = os.path.join(SOURCE, 'packaging/editors')
sys.path.insert(0, os.path.join(SOURCE, 'tests/docs'))
import help as help_test  # noqa: E402 (from the folder above)

TYPES = ('string blob int8 int16 int32 int64 float32 float64 boolean '
         'date timestamp duration decimal enum bytes uuid json').split()
# line -> the kinds of its words, as grammars name them
LINES = {
    'joedbi': {
        '# create_table city': 'comment',
        '  create_table city': 'keyword entity.name.type',
        'rename_table city town': 'keyword entity.name.type entity.name.type',
        'rename_field city name title': 'keyword entity.name.type variable variable',
        'add_field string string string': 'keyword entity.name.type variable storage',
        'add_field city mayor references person': 'keyword entity.name.type variable storage entity.name.type',
        'add_field city size int32 = -5': 'keyword entity.name.type variable storage keyword.operator constant.numeric',
        'add_field city founded date optional': 'keyword entity.name.type variable storage storage',
        'set_type city state enum(open,paid) optional': 'keyword entity.name.type variable storage storage',
        'retype_field city size decimal(2)': 'keyword entity.name.type variable storage',
        'custom move_phones': 'keyword entity.name.function',
        'create_unique_index by_name city name,size': 'keyword entity.name.function entity.name.type variable',
        'drop_index by_name': 'keyword entity.name.function',
        'update city 0 name "a \\"b\\" \\303\\204"': 'keyword entity.name.type constant.numeric variable string',
        'insert_into city 3 "x" 1.5e3 true': 'keyword entity.name.type constant.numeric string constant.numeric '
                                            'constant.language',
        'checkpoints': ''},
    'joedbc': {
        '# namespace': 'comment',
        'namespace company::geo': 'keyword entity.name.namespace',
        'create_unique_index by_name city name,size': 'keyword entity.name.function entity.name.type variable',
        'set_single_row city true': 'keyword entity.name.type constant.language',
        'timestamp_transactions': 'keyword',
        'unmarked_transactions': 'keyword',
        'set_table_storage city x': 'invalid'}}


def read(*path):
    with open(os.path.join(EDITORS, *path), encoding='utf-8') as file:
        return file.read()


def grammar(language):
    return json.loads(read('vscode/syntaxes', f'{language}.tmLanguage.json'))


# ---- a small engine

def flattened(patterns, repository):
    for pattern in patterns:
        if 'include' in pattern:
            yield from flattened([repository[pattern['include'][1:]]], repository)
        elif 'match' in pattern or 'begin' in pattern:
            yield pattern
        else:
            yield from flattened(pattern['patterns'], repository)


def scopes(rules, line):
    """The scopes of a line, from left to right; of a string only the whole."""
    result, position = [], 0
    while position < len(line):
        found = [(match.start(), number, match) for number, rule in enumerate(rules)
                 if (match := re.compile(rule.get('match', rule.get('begin'))).search(line, position)) and match[0]]
        if not found:
            break
        _, number, match = min(found, key=lambda item: item[:2])
        rule, position = rules[number], match.end()
        if 'begin' in rule:
            while position < len(line) and line[position] != '"':
                position += 2 if line[position] == '\\' else 1
            position += 1
        result += [rule['name']] if 'name' in rule else [
            rule['captures'][str(i)]['name'] for i, text in enumerate(match.groups(), 1) if text]
    return result


def words_of_tools():
    """The commands of joedbi and joedb_client."""
    with tempfile.TemporaryDirectory() as folder:
        script = ('printf "create_table t\\nadd_field t a string\\n" | joedbi --new a > out; '
                  'printf "namespace x\\ncreate_index i t a\\n" > x.joedbc; '
                  'echo help | joedbi --options x.joedbc a; echo help | joedb_client a')
        text = subprocess.run(['bash', '-c', script], cwd=folder, text=True, capture_output=True, check=True,
                              env={**os.environ, 'PATH': f'{TOOLS}:/usr/bin:/bin'}, timeout=60).stdout
    return set(help_test.commands_of_help(text))


def words_of_compiler():
    with open(os.path.join(SOURCE, 'src/tools/compiler/options.cc'), encoding='utf-8') as file:
        return set(re.findall(r'command == "(\w+)"', file.read()))


class Grammars(unittest.TestCase):
    def rules(self, language):
        json_grammar = grammar(language)
        self.assertEqual(f'source.{language}', json_grammar['scopeName'])
        return list(flattened(json_grammar['patterns'], json_grammar.get('repository', {})))

    def test_know_each_command(self):
        for language, words in ('joedbi', words_of_tools()), ('joedbc', words_of_compiler()):
            self.assertLess(4, len(words))
            rules = self.rules(language)
            for word in sorted(words):
                found = scopes(rules, f'{word} a b')
                self.assertTrue(found and re.match('keyword|invalid.deprecated', found[0]), f'{language}: {word}')

    def test_know_each_type(self):
        rules = self.rules('joedbi')
        for name in TYPES:
            self.assertEqual('storage.type.joedbi', scopes(rules, f'add_field t f {name}')[3])

    def test_see_what_a_line_means(self):
        for language, lines in LINES.items():
            for line, expected in lines.items():
                found, expected = scopes(self.rules(language), line), expected.split()
                self.assertEqual(len(expected), len(found), f'{line}: {found}')
                for scope, kind in zip(found, expected):
                    self.assertTrue(scope.startswith(kind) and scope.endswith(language), f'{line}: {found}')

    def test_are_those_of_the_extension(self):
        package = json.loads(read('vscode/package.json'))
        json.loads(read('vscode/language-configuration.json'))
        languages = {language['id'] for language in package['contributes']['languages']}
        self.assertEqual({'joedbi', 'joedbc'}, languages)
        for entry in package['contributes']['grammars']:
            self.assertEqual(entry['scopeName'], json.loads(read('vscode', entry['path']))['scopeName'])
            self.assertIn(entry['language'], languages)

    def test_in_the_real_engine(self):
        script = os.path.join(SOURCE, 'tests/textmate.js')
        cases = [[language, line] for language, lines in LINES.items() for line in lines]
        if not shutil.which('node') or subprocess.run(['node', script, '--check'], check=False,
                                                      capture_output=True).returncode:
            self.skipTest('no vscode-textmate')
        shown = subprocess.run(['node', script, os.path.join(EDITORS, 'vscode/syntaxes')], input=json.dumps(cases),
                               text=True, capture_output=True, check=True, timeout=60).stdout
        for (language, line), found in zip(cases, json.loads(shown)):
            expected = LINES[language][line].split()
            self.assertEqual(len(expected), len(found), f'{line}: {found}')
            self.assertTrue(all(f.startswith(e) for e, f in zip(expected, found)), f'{line}: {found}')


# ---- what an editor makes of errors

def check_errors(folder):
    with open(os.path.join(folder, 'geo.joedbi'), 'w', encoding='utf-8') as file:
        file.write('create_table city\nadd_field city näme strung\nadd_field town name string\n')
    with open(os.path.join(folder, 'geo.joedbc'), 'w', encoding='utf-8') as file:
        file.write('namespace geo\nset_table_storage city x\n')
    return [('geo.joedbc', 2, 1, 'w'), ('geo.joedbi', 2, 21, 'e'), ('geo.joedbi', 3, 11, 'e')]


class Problems(unittest.TestCase):
    def test_are_found_by_the_matcher_of_the_extension(self):
        pattern = json.loads(read('vscode/package.json'))['contributes']['problemMatchers'][0]['pattern']
        with tempfile.TemporaryDirectory() as folder:
            expected = check_errors(folder)
            result = subprocess.run([os.path.join(TOOLS, 'joedbc'), '--check', 'geo.joedbi'], cwd=folder, text=True,
                                    capture_output=True, check=False, timeout=60)
        self.assertEqual(1, result.returncode)
        found = [re.match(pattern['regexp'], line) for line in result.stdout.splitlines()]
        fields = 'file', 'line', 'column', 'severity'
        found = [tuple(match[pattern[field]] for field in fields) for match in found]
        severities = {'e': 'error', 'w': 'warning'}
        self.assertEqual([(f, str(l), str(c), severities[s]) for f, l, c, s in expected], found)


def vim_has_syntax():
    if not shutil.which('vim'):
        return False
    return '+syntax' in subprocess.run(['vim', '--version'], capture_output=True, text=True, check=True).stdout


@unittest.skipUnless(vim_has_syntax(), 'no vim')
class Vim(unittest.TestCase):
    def run_vim(self, folder, file, *commands):
        """What the commands write to the file `out`."""
        words = [word for command in commands for word in ('-c', command)]
        subprocess.run(['vim', '-u', 'NONE', '-N', '-es', '-c', f'set runtimepath^={EDITORS}/vim encoding=utf-8',
                        '-c', 'filetype plugin on', '-c', 'syntax on', '-c', f'edit {file}', *words, '-c', 'qa!'],
                       cwd=folder, check=False, timeout=60, stdin=subprocess.DEVNULL, capture_output=True,
                       env={**os.environ, 'PATH': f'{TOOLS}:/usr/bin:/bin', 'LC_ALL': 'C.UTF-8'})
        with open(os.path.join(folder, 'out'), encoding='utf-8') as output:
            return output.read().splitlines()

    def groups(self, language, lines):
        """The syntax group of the first character of each word."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, f'x.{language}'), 'w', encoding='utf-8') as file:
                file.write(''.join(line + '\n' for line in lines))
            places = [(number, match.start() + 1) for number, line in enumerate(lines, 1)
                      for match in re.finditer(r'\S+', line)]
            found = self.run_vim(folder, f'x.{language}',
                                 f'call writefile(map({[list(p) for p in places]}, '
                                 '{_, p -> synIDattr(synID(p[0], p[1], 1), "name")}), "out")')
        self.assertEqual(len(places), len(found))
        result = [[] for _ in lines]
        for (number, _), group in zip(places, found):
            result[number - 1].append(group)
        return result

    def test_knows_each_command(self):
        for language, words in ('joedbi', words_of_tools()), ('joedbc', words_of_compiler()):
            words = sorted(words)
            for word, (group, *_) in zip(words, self.groups(language, [f'{word} a' for word in words])):
                self.assertRegex(group, 'Define|Statement|Option|Old', word)

    def test_knows_tables_fields_and_types(self):
        lines = [f'add_field string blob {name}' for name in TYPES] + ['add_field a b references c = "x"']
        found = self.groups('joedbi', lines)
        for groups in found[:-1]:
            self.assertEqual(['joedbiDefine', 'joedbiNewFieldTable', 'joedbiNewField', 'joedbiType'], groups)
        self.assertEqual(['joedbiReferences', 'joedbiTable', 'joedbiOperator', 'joedbiString'], found[-1][3:])

    def test_jumps_to_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            expected = check_errors(folder)
            found = self.run_vim(
                folder, 'geo.joedbi', 'compiler joedbc', 'silent make',
                'call writefile(map(filter(getqflist(), {_, e -> e.valid}), {_, e -> join([bufname(e.bufnr), e.lnum, '
                'e.col, e.vcol, e.type], " ")}), "out")')
        self.assertEqual([f'{file} {line} {column} 1 {kind}' for file, line, column, kind in expected], found)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
