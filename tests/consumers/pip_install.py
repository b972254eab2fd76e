#!/usr/bin/env python3
"""`pip install .` in environments that have nothing else, as docs/python.md says; builds everything anew.

usage: pip_install.py [--tools]   (`./dev pip`; needs the Python package index)
  --tools  also with JOEDB_BUILD_TOOLS=1, and so with the program joedb
"""
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'scripts'))
from virtual_environment import PYTHON  # noqa: E402

# What each extra is for. Without it, the error names the package.
EXTRAS = {
    'arrow': ('pyarrow', 'db.t.to_arrow().num_rows'),
    'pandas': ('pandas', 'len(db.t.to_pandas())'),
    'duckdb': ('duckdb', 'db.duckdb().sql("select count(*) from t").fetchall()[0][0]'),
}
SQLALCHEMY = """
import joedb, pandas, sqlalchemy
with joedb.open("sqlalchemy.joedb") as db:
    db.create_table("t", name=str).insert(name="a")
engine = sqlalchemy.create_engine("joedb:///sqlalchemy.joedb")
assert pandas.read_sql("t", engine).name.tolist() == ["a"]
assert pandas.read_sql(sqlalchemy.text("select count(*) as n from t"), engine).n.tolist() == [1]
"""
PREPARE = '''
import joedb
db = joedb.open(":memory:")
db.create_table("t", name=str, value=int).insert_many([dict(name="a", value=1), dict(name="b", value=2)])
'''
PLAIN = PREPARE + '''
assert db.t.value.sum() == 3
assert db.sql("select count(*) from t") == [(2,)]
assert len(list(db.changes())) > 0
'''
WITHOUT = PREPARE + '''
try:
    {call}
except ImportError as error:
    assert "pip install" in str(error), error
else:
    raise AssertionError("it works without {package}")
'''
WITH = PREPARE + '''
assert {call} == 2
'''
WITHOUT_NUMPY = PREPARE + '''
try:
    db.t.value
except ImportError as error:
    assert "pip install numpy" in str(error), error
else:
    raise AssertionError("it works without numpy")
assert db.t[0].name == "a"
'''


class Environment:
    def __init__(self, folder):
        self.folder = folder
        self.run(PYTHON, '-m', 'venv', folder)

    def run(self, *command, **variables):
        print('+', ' '.join(command if len(command) < 3 or '\n' not in command[-1] else command[:-1]), flush=True)
        # The pip of the environment sees none of the packages of this one.
        environment = {name: value for name, value in os.environ.items() if not name.startswith(('PYTHON', 'PIP'))}
        return subprocess.run(command, cwd=os.path.dirname(self.folder), env={**environment, **variables}, check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def pip(self, *arguments, **variables):
        self.run(os.path.join(self.folder, 'bin', 'pip'), '--disable-pip-version-check', *arguments, **variables)

    def python(self, program):
        self.run(os.path.join(self.folder, 'bin', 'python'), '-c', program)


def main():
    if sys.argv[1:] not in ([], ['--tools']):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        plain = Environment(os.path.join(folder, 'plain'))
        plain.pip('wheel', '--no-deps', '--wheel-dir', folder, ROOT)  # once for all environments
        wheel, = glob.glob(os.path.join(folder, '*.whl'))
        plain.pip('install', wheel)
        plain.python(PLAIN)
        for package, call in EXTRAS.values():
            plain.python(WITHOUT.format(call=call, package=package))
        for extra, (_, call) in EXTRAS.items():
            environment = Environment(os.path.join(folder, extra))
            environment.pip('install', f'{wheel}[{extra}]')
            environment.python(WITH.format(call=call))
        pandas = Environment(os.path.join(folder, 'sqlalchemy'))
        pandas.pip('install', f'{wheel}[pandas,sqlalchemy]', 'pytest')
        pandas.python(SQLALCHEMY)
        pandas.run(os.path.join(pandas.folder, 'bin', 'python'), '-m', 'pytest', '-q', '-p', 'no:cacheprovider',
                   os.path.join(ROOT, 'python/tests/test_sqlalchemy.py'))
        plain.pip('uninstall', '--yes', 'numpy')
        plain.python(WITHOUT_NUMPY)
        if sys.argv[1:]:
            tools = Environment(os.path.join(folder, 'tools'))
            tools.pip('install', ROOT, JOEDB_BUILD_TOOLS='1')
            tools.python(PLAIN)
            print(tools.run(os.path.join(tools.folder, 'bin', 'joedb'), '--version'))
    print('pip install works')


if __name__ == '__main__':
    main()
