#!/usr/bin/env python3
"""joedb export parquet|arrow|feather: which Python it starts, with what, and what it says when that fails.

usage: python_export.py SOURCE_DIR TOOLS_DIR

What needs the packages joedb and pyarrow is done if the Python that JOEDB_TEST_PYTHON names has them, else that of
./dev python (build/python/venv), else this one.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE, TOOLS = map(os.path.abspath, sys.argv[1:3])
JOEDB = os.path.join(TOOLS, 'joedb')
OWN = os.path.join(SOURCE, 'build', 'python', 'venv', 'bin', 'python')
PYTHON = os.environ.get('JOEDB_TEST_PYTHON') or (OWN if os.path.exists(OWN) else sys.executable)
HAS_PACKAGES = subprocess.run([PYTHON, '-c', 'import joedb.export'], capture_output=True, check=False).returncode == 0

SCHEMA = '''\
create_table city
add_field city name string
add_field city population int64
insert_into city 0 "Rome" 2873000
insert_into city 1 "Oslo" 709000
'''
READ = 'import sys, pyarrow.{0} as f; print({1}.to_pylist())'
READERS = {'parquet': READ.format('parquet', 'f.read_table(sys.argv[1])'),
           'arrow': READ.format('ipc', 'f.open_file(sys.argv[1]).read_all()'),
           'feather': READ.format('feather', 'f.read_table(sys.argv[1])')}
ROWS = [{'name': 'Rome', 'population': 2873000}, {'name': 'Oslo', 'population': 709000}]


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        subprocess.run([JOEDB, 'interpreter', '--new', 'city.joedb'], input=SCHEMA, text=True, cwd=self.folder,
                       check=True, stdout=subprocess.DEVNULL)

    def run_joedb(self, *words, **variables):
        return subprocess.run([JOEDB, *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False, env={**os.environ, **variables})

    def assert_fails(self, text, *words, **variables):
        before = sorted(os.listdir(self.folder))
        result = self.run_joedb(*words, **variables)
        self.assertEqual((1, ''), (result.returncode, result.stdout))
        self.assertIn(text, result.stderr)
        self.assertNotIn('Traceback', result.stderr)
        self.assertEqual(before, sorted(os.listdir(self.folder)))

    def script(self, text, name='python3'):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\n' + text)
        os.chmod(path, 0o755)
        return path

    # ---- with any Python

    def test_a_missing_python_is_named(self):
        for format in READERS:
            self.assert_fails('no-python: No such file or directory: this needs Python 3', 'export', format, '--python',
                              'no-python', 'city.joedb', 'city', 'out')
        self.assert_fails('python3: No such file or directory', 'export', 'arrow', 'city.joedb', 'city', 'out',
                          PATH=self.folder)

    def test_missing_packages_are_named(self):
        for package in ('joedb', 'pyarrow'):
            os.makedirs(os.path.join(self.folder, package, package))
            with open(os.path.join(self.folder, package, package, '__init__.py'), 'w', encoding='utf-8') as file:
                file.write(f'raise ImportError("no {package} here")')
        for path in ('joedb:pyarrow', 'pyarrow:joedb'):
            folders = ':'.join(os.path.join(self.folder, name) for name in path.split(':'))
            self.assert_fails('-m pip install pyarrow, and pip install . in the sources of joedb', 'export', 'parquet',
                              '--python', sys.executable, 'city.joedb', 'city', 'out', PYTHONPATH=folders)

    def test_modules_in_the_current_directory_are_not_run(self):
        for name in ('pyarrow', 'joedb'):
            with open(os.path.join(self.folder, name + '.py'), 'w', encoding='utf-8') as file:
                file.write('open("hacked", "w")')
        self.run_joedb('export', 'parquet', '--python', PYTHON, 'city.joedb', 'city', 'out')
        self.assertNotIn('hacked', os.listdir(self.folder))

    def test_names_are_arguments(self):
        names = ["-a '\"$(touch hacked)`touch hacked`\n.joedb", 'a"b\';', '--out $HOME']
        os.rename(os.path.join(self.folder, 'city.joedb'), os.path.join(self.folder, names[0]))
        fake = self.script('shift 2; printf "%s\\0" "$@" > arguments; touch -- "--out \\$HOME"\n', 'my python')
        result = self.run_joedb('export', 'feather', '--python', fake, '--skip', 'x y,-z', '--id', '--until', '41',
                                '--', *names)
        self.assertEqual((0, ''), (result.returncode, result.stderr))
        with open(os.path.join(self.folder, 'arguments'), encoding='utf-8') as file:
            arguments = file.read().split('\0')[:-1]
        self.assertEqual(['joedb export feather', '--id', '--skip=x y,-z', '--until=41', '--', 'feather', *names],
                         arguments)

    def test_a_python_that_fails_or_writes_nothing_is_a_failure(self):
        for text, message in (('exit 1', ''), ('exit 3', ''), ('exit 0', 'has not written out'),
                              ('kill -9 $$', 'was ended by signal 9')):
            self.assert_fails(message, 'export', 'arrow', '--python', self.script(text), 'city.joedb', 'city', 'out')

    def test_what_is_wrong_is_said_before_python_is_started(self):
        fake = self.script('touch started')
        export = ('export', 'arrow', '--python', fake)
        with open(os.path.join(self.folder, 'there'), 'w', encoding='utf-8'):
            pass
        self.assert_fails('No such file', *export, 'none.joedb', 'city', 'out')
        self.assert_fails('exists; --force replaces it', *export, 'city.joedb', 'city', 'there')
        self.assert_fails('works on this file', *export, '--force', 'city.joedb', 'city', 'city.joedb')
        self.assert_fails('not compressed', *export, 'http://localhost/city.joedb', 'city', 'out')
        self.assert_fails('has no position', *export, '--until', '9999', 'city.joedb', 'city', 'out')

    def start(self, text):
        """The tool, in a process group of its own, once the fake Python has begun."""
        fake = self.script(text)
        process = subprocess.Popen([JOEDB, 'export', 'arrow', '--python', fake, 'city.joedb', 'city', 'out'],
                                   cwd=self.folder, stdin=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 30
        while not os.path.exists(os.path.join(self.folder, 'started')) and time.monotonic() < deadline:
            time.sleep(0.01)
        return process

    def test_a_signal_ends_both(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for send in (os.kill, os.killpg):
                # Python ends itself by the signal when it has cleaned up.
                name = signal.Signals(number).name.removeprefix('SIG')
                process = self.start(f'trap "touch cleaned; trap - {name}; kill -{name} $$" {name}\n'
                                     'touch started; while :; do sleep 0.05; done\n')
                send(process.pid, number)
                self.assertEqual(-number, process.wait(30))
                for file in ('started', 'cleaned'):
                    os.remove(os.path.join(self.folder, file))

    # ---- with the packages

    @unittest.skipUnless(HAS_PACKAGES, 'no packages joedb and pyarrow')
    def test_writes_files_that_pyarrow_reads(self):
        for format, reader in READERS.items():
            result = self.run_joedb('export', format, '--python', PYTHON, 'city.joedb', 'city', 'my out')
            self.assertEqual((0, '', ''), (result.returncode, result.stdout, result.stderr))
            rows = subprocess.run([PYTHON, '-c', reader, 'my out'], cwd=self.folder, capture_output=True, text=True,
                                  check=True).stdout
            self.assertEqual(str(ROWS), rows.strip())
            os.remove(os.path.join(self.folder, 'my out'))

    @unittest.skipUnless(HAS_PACKAGES, 'no packages joedb and pyarrow')
    def test_takes_the_options(self):
        subprocess.run([JOEDB, 'tag', 'city.joedb', 'before'], cwd=self.folder, check=True)
        subprocess.run([JOEDB, 'interpreter', 'city.joedb'], input='insert_into city 2 "Bonn" 1\n', text=True,
                       cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        result = self.run_joedb('export', 'arrow', '--python', PYTHON, '--id', '--skip', 'name', '--until', 'before',
                                'city.joedb', 'city', 'out')
        self.assertEqual((0, ''), (result.returncode, result.stderr))
        result = self.run_joedb('export', 'arrow', '--python', PYTHON, '--force', '--id', '--skip', 'name', '--until',
                                'before', 'city.joedb', 'city', 'out')
        self.assertEqual((0, ''), (result.returncode, result.stderr))
        rows = subprocess.run([PYTHON, '-c', READERS['arrow'], 'out'], cwd=self.folder, capture_output=True, text=True,
                              check=True).stdout
        result = self.run_joedb('at', 'city.joedb', 'before', 'export', 'arrow', '--python', PYTHON, 'city', 'past')
        self.assertEqual((0, ''), (result.returncode, result.stderr))
        past = subprocess.run([PYTHON, '-c', READERS['arrow'], 'past'], cwd=self.folder, capture_output=True, text=True,
                              check=True).stdout
        self.assertEqual(str(ROWS), past.strip())
        self.assertEqual([{'__id': i, 'population': row['population']} for i, row in enumerate(ROWS)], eval(rows))

    @unittest.skipUnless(HAS_PACKAGES, 'no packages joedb and pyarrow')
    def test_errors_are_those_of_the_tool(self):
        export = ('export', 'parquet', '--python', PYTHON)
        self.assert_fails('joedb export parquet: city.joedb has no table cty. Did you mean city?', *export,
                          'city.joedb', 'cty', 'out')
        self.assert_fails('joedb export parquet: city has no field nom', *export, '--skip', 'nom', 'city.joedb',
                          'city', 'out')
        self.assert_fails('joedb export parquet: ', *export, 'city.joedb', 'city', 'no/out')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
