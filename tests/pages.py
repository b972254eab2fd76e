#!/usr/bin/env python3
"""Man pages and the completion of shells say what --help says, and work in the real programs.

usage: pages.py TOOLS_DIR

bash is always there; man, zsh and fish are asked if they are installed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.abspath(sys.argv[1])
JOEDB = os.path.join(TOOLS, 'joedb')
ENVIRONMENT = {**os.environ, 'PATH': f'{TOOLS}:/usr/bin:/bin', 'LC_ALL': 'C.UTF-8'}


def run(*words, folder=None, **variables):
    return subprocess.run(words, cwd=folder, env={**ENVIRONMENT, **variables}, text=True, check=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60).stdout


COMMANDS = json.loads(run(JOEDB, 'man', '--json'))
TOOLS_WITH_OPTIONS = [command for command in COMMANDS if 'options' in command]


def words_of(command):
    return command['page'].split('-', 1)[1]


def line_of(command):
    """How it is typed: joedb wal dump; joedb crash-lab."""
    name = words_of(command)
    parent = next((c for c in COMMANDS if 'options' not in c and name.startswith(words_of(c) + '-')), None)
    if parent is None:
        return ['joedb', name]
    return ['joedb', words_of(parent), name[len(words_of(parent)) + 1:]]


def options_of_help(command):
    text = run(*line_of(command), '--help')
    return {name for line in re.findall(r'^  (-[\w,-]+)', text[:text.find('\n\n', text.find('Options:'))], re.M)
            for name in line.split(',')}


def possible(*line):
    """word -> meaning"""
    return dict(row.split('\t') for row in run(JOEDB, 'completion', 'words', '--', *line).splitlines())


class Description(unittest.TestCase):
    def test_names_all_commands(self):
        listed = set(re.findall(r'^  ([\w-]+) ', run(JOEDB, '--help'), re.M))
        self.assertLess(15, len(listed))
        self.assertEqual(listed, {line_of(c)[1] for c in COMMANDS})

    def test_has_every_option_of_the_help(self):
        for command in TOOLS_WITH_OPTIONS:
            with self.subTest(command=command['page']):
                names = {name for option in command['options'] for name in option['names']}
                self.assertEqual(options_of_help(command), names)


class Man_Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        run(JOEDB, 'man', '--output', os.path.join(cls.folder.name, 'man1'))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def page(self, name):
        with open(os.path.join(self.folder.name, 'man1', name + '.1'), encoding='utf-8') as file:
            return file.read()

    def test_have_every_option(self):
        for command in TOOLS_WITH_OPTIONS:
            text = self.page(command['page']).replace('\\-', '-')
            for option in command['options']:
                for name in option['names']:
                    self.assertIn(f'\\fB{name}\\fR', text, command['page'])
                self.assertIn('\n' + option['help'].replace('\\', '\\e'), text)

    def test_exist_under_both_names_of_a_tool(self):
        for command in COMMANDS:
            self.assertIn(f".TH {command['page'].upper()}".replace('-', '\\-'), self.page(command['page']))
            if command['alias']:
                self.assertEqual(f".so man1/{command['page']}.1\n", self.page(command['alias']))
        self.assertIn('.SH COMMANDS', self.page('joedb'))

    @unittest.skipUnless(shutil.which('man') and shutil.which('groff'), 'no man')
    def test_are_shown_without_a_warning(self):
        for name in sorted(os.listdir(os.path.join(self.folder.name, 'man1'))):
            result = subprocess.run(['man', '--warnings', name.removesuffix('.1')], text=True, capture_output=True,
                                    env={**ENVIRONMENT, 'MANPATH': self.folder.name, 'MANPAGER': 'cat'},
                                    timeout=60, check=True)
            self.assertEqual('', result.stderr, name)
            self.assertIn('EXIT STATUS', result.stdout)


class Possible_Words(unittest.TestCase):
    def test_have_every_option(self):
        for command in TOOLS_WITH_OPTIONS:
            found = possible(*line_of(command), '-')
            for option in command['options']:
                for name in option['names']:
                    self.assertEqual(option['help'], found.get(name), f"{command['page']} {name}")
                if 'choices' in option:
                    self.assertEqual(set(option['choices']),
                                     set(possible(*line_of(command), option['names'][-1], '')))

    def test_of_an_option_that_is_given_do_not_have_it_again(self):
        self.assertNotIn('--force', possible('joedb_pack', '--force', '-'))

    def test_are_commands(self):
        self.assertEqual(['pack', 'push'], sorted(possible('joedb', 'p')))
        self.assertEqual(['dump'], list(possible('joedb', 'wal', 'd')))
        self.assertEqual(['dump'], list(possible('joedb_wal', 'd')))
        self.assertEqual(['verify'], list(possible('joedb', 'help', 'v')))
        self.assertEqual(['repair'], list(possible('joedb', 'man', 'wal', 'r')))
        self.assertEqual({}, possible('joedb', 'nonsense', ''))
        self.assertEqual({}, possible('joedb', 'wal', 'nonsense', ''))

    def test_are_files_of_the_kind_that_is_wanted(self):
        for line, pattern in (('joedb pack ', '*.joedb'), ('joedb pack --force a.joedb ', '*.joedb'),
                              ('joedbi --options ', '*.joedbc'), ('joedbi interpreted ', '*.joedbi'),
                              ('joedbc ', '*.joedbi'), ('joedb_client a.joedb local ', '*.sock'),
                              ('joedb_push a.joedb file ', '*.joedb'), ('joedb wal dump ', '*'),
                              ('joedb stats --json -- --a ', '*.joedb')):
            self.assertEqual(pattern, possible(*line.split(' ')).get(':files'), line)
        self.assertIn(':directories', possible('joedbc', '--output', ''))
        self.assertEqual({}, possible('joedb', 'logdump', '--at', ''))

    def test_are_tables_tags_and_positions_of_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'db.joedb')
            run('sh', '-c', 'printf "create_table city\ncreate_table country\n" | joedbi "$0"', path)
            run('joedb', 'tag', path, 'first')
            self.assertEqual(['city', 'country'], list(possible('joedb', 'blame', path, 'c')))
            self.assertEqual(['city'], list(possible('joedb', 'log', path, '--table', 'ci')))
            for line in ('show', path, ''), ('log', path, '--since', ''), ('branch', path, ''):
                self.assertIn('first', possible('joedb', *line), line)
                self.assertTrue(any(word.isdigit() for word in possible('joedb', *line)), line)

    def test_are_those_of_connections_behind_the_file(self):
        words = {'dummy', 'file', 'local', 'ssh', 'joedb://'}
        self.assertTrue(words <= possible('joedb_client', 'a.joedb', '').keys())
        self.assertTrue(words <= possible('joedb_client', '--db', 'dump', '--bail', 'interpreted', 'a', '').keys())
        self.assertFalse(words & possible('joedb_client', '').keys())
        self.assertIn('memory', possible('joedb_client', ''))

    def test_are_values_behind_an_equals_sign(self):
        self.assertEqual(['--recovery=keep'], list(possible('joedb_pack', '--recovery=k')))


class Shell(unittest.TestCase):
    """A folder with files, and a script that completes."""
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        for name in 'people.joedb', 'my people.joedb', 'notes.txt', 'people.joedbc':
            open(os.path.join(self.folder, name), 'w', encoding='utf-8').close()
        os.mkdir(os.path.join(self.folder, 'old'))
        run(JOEDB, 'completion', '--output', os.path.join(self.folder, 'share'))

    def tearDown(self):
        self.temporary.cleanup()


class Bash(Shell):
    def complete(self, *line):
        """As bash does it: = and : are words of their own. Returns what it would offer."""
        words = [part for word in line for part in re.findall('[=:]+|[^=:]+', word) or ['']]
        script = (f'. "share/bash-completion/completions/{os.path.basename(line[0])}"; compopt() {{ :; }}; '
                  'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  'function=$(complete -p "${1##*/}" | sed "s/.*-F //; s/ .*//"); '
                  '"$function"; printf "%s\\n" "${COMPREPLY[@]}"')
        return sorted(filter(None, run('bash', '-c', script, 'bash', *words, folder=self.folder).splitlines()))

    def test_completes_commands_options_and_values(self):
        self.assertEqual(['pack', 'push'], self.complete('joedb', 'p'))
        self.assertEqual(['load'], self.complete('joedb', 'wal', 'l'))
        self.assertEqual(['--recovery'], self.complete('joedb', 'pack', '--rec'))
        self.assertEqual(['keep'], self.complete('joedb_pack', '--recovery', 'k'))
        self.assertEqual(['keep'], self.complete('joedb_pack', '--recovery=k'))
        self.assertIn('hard', self.complete('joedb_pack', '--recovery='))

    def test_completes_names_of_files(self):
        self.assertEqual(['my people.joedb', 'old', 'people.joedb', 'share'], self.complete('joedb', 'pack', ''))
        self.assertEqual(['people.joedb'], self.complete('joedb', 'pack', 'p'))
        self.assertEqual(['people.joedbc'], self.complete('joedbi', '--options', 'p'))
        self.assertEqual(['old', 'share'], self.complete('joedbc', '--output', ''))

    def test_offers_other_files_where_none_has_the_usual_name(self):
        self.assertEqual(['notes.txt'], self.complete('joedb', 'pack', 'n'))

    def test_asks_the_program_beside_the_tool(self):
        self.assertEqual(['--force'], self.complete(f'{TOOLS}/joedb_pack', '--for'))

    def test_finds_a_script_for_each_name(self):
        for command in COMMANDS:
            if command['alias']:
                self.assertTrue(self.complete(command['alias'], ''), command['alias'])


@unittest.skipUnless(shutil.which('zsh'), 'no zsh')
class Zsh(Shell):
    def complete(self, *line):
        """With functions in place of those of zsh that show what is offered."""
        script = ('compdef() { :; }; _describe() { print -rl -- "${candidates[@]}" }; '
                  '_files() { print -- "files $*" }; '
                  'words=("$@"); CURRENT=$#; . share/zsh/site-functions/_joedb; _joedb')
        return run('zsh', '-f', '-c', script, 'zsh', *line, folder=self.folder).splitlines()

    def test_completes(self):
        self.assertEqual(['push:copy the history of a database to a file or server',
                          'pack:write a database without its history'], self.complete('joedb', 'p'))
        self.assertEqual(['keep:'], self.complete('joedb_pack', '--recovery', 'k'))
        self.assertEqual(['files -g *.joedb'], self.complete('joedb', 'pack', ''))
        self.assertEqual(['files -/'], self.complete(f'{TOOLS}/joedbc', '--output', ''))
        self.assertEqual(['joedb\\://:a server of another machine, over TLS'],
                         self.complete('joedb_push', 'people.joedb', 'jo'))

    def test_loads_the_script_by_its_first_line(self):
        script = ('fpath=(share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -d dump; '
                  'print ${_comps[joedb_pack]} ${_comps[joedb]}')
        self.assertEqual('_joedb _joedb\n', run('zsh', '-f', '-c', script, folder=self.folder))


@unittest.skipUnless(shutil.which('fish'), 'no fish')
class Fish(Shell):
    def complete(self, line):
        script = f'source share/fish/vendor_completions.d/joedb.fish; complete -C "{line}"'
        return run('fish', '--no-config', '-c', script, folder=self.folder, HOME=self.folder).splitlines()

    def test_completes(self):
        self.assertEqual(['pack\twrite a database without its history',
                          'push\tcopy the history of a database to a file or server'], self.complete('joedb p'))
        self.assertEqual(['keep'], [line.strip() for line in self.complete('joedb_pack --recovery k')])
        self.assertIn('people.joedb', [line.split('\t')[0] for line in self.complete('joedb pack peo')])
        self.assertEqual(['old/', 'share/'],
                         sorted(line.split('\t')[0] for line in self.complete('joedbc --output ')))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
