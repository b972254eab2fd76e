#!/usr/bin/env python3
"""What joedbc --python writes: mypy knows the fields by it, and programs run with it.

usage: python_types.py SOURCE_DIR TOOLS_DIR

The package joedb must be installed for the Python that JOEDB_TEST_PYTHON names, else that of ./dev python
(build/python/venv), else this one; and mypy, for what is about it. Exit code 77: there is no such package.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, TOOLS = map(os.path.abspath, sys.argv[1:3])
SCHEMAS = ('everything', 'geo_1', 'geo_2', 'hard_names', 'library', 'stamped', 'town')

PROGRAM = '''\
import numpy.typing

import everything
import joedb


def total(db: everything.Database) -> int:
    return sum(city.population for city in db.city)


def count(table: joedb.Table) -> int:
    return len(table)


with everything.open("new.joedb", hard=True) as db:
    with db.transaction("the first ones"):
        france = db.country.insert(name="France")
        lyon = db.city.insert(name="Lyon", country=france, population=5)
        lyon.country = None
        lyon.country = 0
        lyon.country = france
        lyon["population"] = 6
        lyon.update(code=7)
        item = db.item.insert(text="a", f64=1, flag=True, picture=b"abc", city=lyon)
    country = lyon.country
    name: str = lyon["name"] + (country.name if country is not None else "")
    populations: numpy.typing.NDArray[numpy.int32] = db.city.population
    found = db.city.where(country=france, population=6)
    picture = item.picture
    nowhere = db.city.get(7)
    assert (name, total(db), count(db.city)) == ("LyonFrance", 6, 1)
    assert populations.tolist() == [6] and db.city["name"].tolist() == ["Lyon"]
    assert [city.code for city in found] == [7] and found.column("code").tolist() == [7]
    assert picture is not None and picture.upper() == b"ABC"
    assert nowhere is None and item.city == lyon and lyon.table == db["city"]
    past = db.at(db.checkpoint)
    item.delete()
    assert past.item[0].text == "a" and len(db.item) == 0
with everything.open("new.joedb", "r") as db:
    assert db.city[0].name == "Lyon" and isinstance(db, joedb.Database)
'''

UNIQUE = '''\
import joedb
import library

for open in (lambda: library.open("unique.joedb"), lambda: library.open("shared.joedb", "shared")):
    with open() as db:
        db.person.insert(name="Ada")
    with open() as db:
        try:
            db.person.insert(name="Ada")
            raise SystemExit("two persons have a name")
        except joedb.UniqueViolation as error:
            assert "person_by_name" in str(error), error
        assert [person.name for person in db.person] == ["Ada"]
'''

# Each line but the first three is an error.
MISTAKES = '''\
import everything
db = everything.open("new.joedb")
city = db.city[0]
city.nam
city.population = "many"
city.country.name
city.country = city
city["nom"]
city.update(size=1)
db.cty
db.city.popu
db.city.insert(nme="x")
db.city.insert(name=3)
db.city.where(population="many")
db.city[0].name + 1
db["cty"]
db.at(41).cty
'''

# Attributes of the classes, and which of them the generated code knows.
RESERVED = '''\
import joedb
for kind in (joedb.Record, joedb.Table, joedb.Database):
    print(*(name for name in dir(kind) if not name.startswith("_")))
'''

with open(os.path.join(SOURCE, 'tests', 'docs', 'typed_staff.py'), encoding='utf-8') as example:
    EXAMPLE = example.read()


def python():
    own = os.path.join(SOURCE, 'build', 'python', 'venv', 'bin', 'python')
    return os.environ.get('JOEDB_TEST_PYTHON') or (own if os.path.exists(own) else sys.executable)


def run(*command, folder=None):
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=250, check=False)


def has(package):
    return run(python(), '-c', f'import {package}').returncode == 0


class Generated_Module(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for schema in SCHEMAS:
            cls.compile(os.path.join(SOURCE, 'tests', 'compiled', schema))
        cls.compile(os.path.join(SOURCE, 'tests', 'docs', 'staff'))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def compile(cls, base):
        result = run(os.path.join(TOOLS, 'joedbc'), '--python', '--output', '.', base, folder=cls.folder.name)
        assert result.returncode == 0, result.stdout

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), 'w', encoding='utf-8') as file:
            file.write(text)
        return name

    def run_program(self, text):
        self.write('program.py', text)
        result = run(python(), 'program.py', folder=self.folder.name)
        self.assertEqual(0, result.returncode, result.stdout)
        return result.stdout

    def mypy(self, *files):
        return run(python(), '-m', 'mypy', '--strict', '--follow-imports=silent', *files, folder=self.folder.name)

    def test_runs(self):
        self.run_program(PROGRAM)

    def test_writers_keep_unique_indexes(self):
        self.run_program(UNIQUE)

    def test_runs_the_example_of_the_documents(self):
        self.assertEqual("38.0 ['Ada']\n", self.run_program(EXAMPLE))

    def test_makes_the_schema_as_joedbi_does(self):
        for schema in ('everything', 'town'):
            self.run_program(f'import {schema}\n{schema}.open("{schema}.joedb")\n')
            with open(os.path.join(SOURCE, 'tests', 'compiled', schema + '.joedbi'), encoding='utf-8') as file:
                expected = [line.strip() for line in file if line.strip() and not line.startswith('#')]
            made = run(os.path.join(TOOLS, 'joedb_logdump'), schema + '.joedb', folder=self.folder.name).stdout
            made = [line for line in made.splitlines() if line and not re.match('comment |timestamp ', line)]
            self.assertEqual(expected, made)

    def test_leaves_out_what_classes_have_themselves(self):
        names = self.run_program(RESERVED).split('\n')
        records, tables, databases = (line.split() for line in names[:3])
        self.write('reserved.joedbi', ''.join(
            f'create_table {table}\n' + ''.join(f'add_field {table} {field} int32\n' for field in {*records, *tables})
            for table in databases))
        self.compile('reserved')
        with open(os.path.join(self.folder.name, 'reserved.py'), encoding='utf-8') as file:
            classes = file.read().split('\n    class ')[1:]
        for text in classes:
            base = re.match(r'\w+\(_joedb\.(\w+)\)', text)[1]
            attributes = set(re.findall(r'^        (\w+): (?!None)', text, re.M))
            used = {'Record': records, 'Table': tables, 'Database': databases}.get(base, ())
            self.assertEqual(set(), attributes.intersection(used), base)
        self.assertEqual(3 * len(databases) + 1, len(classes))

    @unittest.skipUnless(has('mypy'), 'no mypy')
    def test_is_right_for_mypy(self):
        programs = [self.write('good.py', PROGRAM), self.write('example.py', EXAMPLE)]
        files = [*programs, 'staff.py'] + [schema + '.py' for schema in SCHEMAS]
        result = self.mypy(*files)
        self.assertEqual(0, result.returncode, result.stdout)

    @unittest.skipUnless(has('mypy'), 'no mypy')
    def test_lets_mypy_find_mistakes(self):
        if '.pyi' not in run(python(), '-c', WHERE).stdout:
            self.skipTest('this joedb has no types')
        result = self.mypy(self.write('mistakes.py', MISTAKES))
        found = {int(line) for line in re.findall(r'^mistakes\.py:(\d+): error', result.stdout, re.M)}
        self.assertEqual(set(range(4, MISTAKES.count('\n') + 1)), found, result.stdout)


WHERE = 'import joedb, os; print(os.listdir(os.path.dirname(joedb.__file__)))'

if __name__ == '__main__':
    if not has('joedb.typed'):
        print(f'{python()} has no package joedb: run ./dev python')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
