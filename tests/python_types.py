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
SCHEMAS = ('everything', 'geo_1', 'geo_2', 'hard_names', 'library', 'stamped', 'town', 'typed')

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

TYPED = '''\
import datetime
import decimal
import typing
import uuid

import numpy.typing

import joedb
import typed

STATES: list[typed.InvoiceState] = ["open", "paid", "late"]
NOON = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc)


def owed(db: typed.Database, state: typed.InvoiceState) -> decimal.Decimal:
    return sum((invoice.total for invoice in db.invoice.where(state=state)), decimal.Decimal(0))


with typed.open("typed.joedb") as db:
    ada = db.person.insert(name="Ada", born=datetime.date(1815, 12, 10), is_member=True)
    bob = db.person.insert(name="Bob", size=1.5)
    born: datetime.date | None = ada.born
    member: bool | None = ada.is_member
    invoice = db.invoice.insert(customer=ada, total=decimal.Decimal("12.50"), state="paid")
    invoice.update(total=7, reason="new", discount=None)
    invoice.state = STATES[2]
    visit = db.visit.insert(at=NOON, length=datetime.timedelta(minutes=5), id=uuid.UUID(int=1), data=b"a")
    visit.notes = {"a": [1]}
    visit.data = bytearray(b"b")
    notes: str = visit.notes
    days: numpy.typing.NDArray[numpy.datetime64] = db.person.born
    lengths: numpy.typing.NDArray[numpy.timedelta64] = db.visit.length
    assert (born, member, bob.born, bob.is_member, bob.age) == (datetime.date(1815, 12, 10), True, None, None, None)
    assert (str(owed(db, "late")), invoice.reason, invoice.discount) == ("7.00", "new", None)
    assert (visit.at + visit.length, visit["id"].int) == (NOON + datetime.timedelta(minutes=5), 1)
    assert (notes, visit.data, visit.other, visit.seen) == (\'{"a": [1]}\', b"b", None, None)
    assert [person.name for person in db.person.where(born=None)] == ["Bob"]
    assert str(days[0]) == "1815-12-10" and lengths[0] == numpy.timedelta64(300, "s")
    assert typing.get_args(typed.InvoiceState) == ("open", "paid", "late")
    settings = db.settings[0]
    assert (settings.since, settings.until) == (datetime.date(2026, 1, 31), None)
    assert (str(settings.limit), settings.mode, settings.owner) == ("12.50", "dark", "Ada")
    db.invoice.set_type("state", "enum(open, paid, late, cancelled)")
with typed.open("typed.joedb") as db:
    db.person.drop_field("born")
    db.person.add_field("born", "int32")
try:
    typed.open("typed.joedb")
    raise SystemExit("a number is taken for a date")
except joedb.SchemaMismatch as error:
    assert "person.born is int32, not date optional" in str(error), error
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

# The same with logical types.
TYPED_MISTAKES = '''\
import decimal, typed
db = typed.open("typed.joedb")
invoice, person, visit = db.invoice[0], db.person[0], db.visit[0]
invoice.state = "payed"
invoice.state = None
invoice.total = 12.5
invoice.total = None
invoice.issued = 5
invoice.total + 0.5
person.born.year
person.born = "1815-12-10"
person.age + 1
person.is_member = "yes"
visit["id"] = "2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77"
visit.length = 5
visit.data = "text"
visit.at = None
db.invoice.insert(state="later")
db.invoice.where(reason="bad")
db.invoice.insert(issued="today")
state: typed.InvoiceState = "shut"
if invoice.state == "ajar": pass
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

    def test_runs_with_logical_types(self):
        self.run_program(TYPED)

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

    def test_declares_types_as_joedbi_does(self):
        self.run_program('import typed\ntyped.open("made.joedb")\n')
        with open(os.path.join(SOURCE, 'tests', 'compiled', 'typed.joedbi'), encoding='utf-8') as file:
            subprocess.run([os.path.join(TOOLS, 'joedbi'), 'wanted.joedb'], cwd=self.folder.name, stdin=file,
                           stdout=subprocess.DEVNULL, timeout=60, check=True)
        result = run(os.path.join(TOOLS, 'joedb_diff'), 'made.joedb', 'wanted.joedb', folder=self.folder.name)
        self.assertEqual((0, ''), (result.returncode, result.stdout))

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
        programs = [self.write('good.py', PROGRAM), self.write('example.py', EXAMPLE), self.write('dated.py', TYPED)]
        files = [*programs, 'staff.py'] + [schema + '.py' for schema in SCHEMAS]
        result = self.mypy(*files)
        self.assertEqual(0, result.returncode, result.stdout)

    @unittest.skipUnless(has('mypy'), 'no mypy')
    def test_lets_mypy_find_mistakes(self):
        if '.pyi' not in run(python(), '-c', WHERE).stdout:
            self.skipTest('this joedb has no types')
        for mistakes in (MISTAKES, TYPED_MISTAKES):
            result = self.mypy(self.write('mistakes.py', mistakes))
            found = {int(line) for line in re.findall(r'^mistakes\.py:(\d+): error', result.stdout, re.M)}
            self.assertEqual(set(range(4, mistakes.count('\n') + 1)), found, result.stdout)


WHERE = 'import joedb, os; print(os.listdir(os.path.dirname(joedb.__file__)))'

if __name__ == '__main__':
    if not has('joedb.typed'):
        print(f'{python()} has no package joedb: run ./dev python')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
