#!/usr/bin/env python3
"""Projects that use joedb, each in its own way, are built as their authors would build them.

usage: run.py SOURCE_DIR BUILD_DIR          (everything happens in BUILD_DIR/consumers)

Each folder here is such a project. With an example, mostly examples/hello, it has a program and a schema;
what it has itself comes first.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE, BUILD = (os.path.abspath(path) for path in sys.argv[1:3])
WORK = os.path.join(BUILD, 'consumers')
PREFIX = os.path.join(WORK, 'prefix')
JOEDBC = os.path.join(PREFIX, 'bin/joedbc')
STRICT = '-Wall -Wextra -Wconversion -Werror'
CLANG = 'clang++-14'
# From 18 on, the constraints of a template are a part of its symbols; the library is built by g++ 12, which has none.
NEW_CLANG = next(filter(shutil.which, (f'clang++-{version}' for version in range(30, 17, -1))), None)
HAS_NATS = os.path.exists(os.path.join(BUILD, 'src/libjoedb_nats.a'))
OUTPUT = 'Ada is 37\nCharles is 44\n'

os.environ['PKG_CONFIG_PATH'] = os.path.join(PREFIX, 'lib/pkgconfig')
if shutil.which('ccache'):
    os.environ['CMAKE_CXX_COMPILER_LAUNCHER'] = 'ccache'


def attempt(folder, *command):
    """Runs a command in a folder. Returns the exit code and the output."""
    result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, encoding='utf-8')
    return result.returncode, result.stdout


def run(folder, *command):
    """The output of a command that must succeed."""
    code, output = attempt(folder, *command)
    if code != 0:
        raise AssertionError(f'in {folder}: {" ".join(command)}\n{output}')
    return output


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def changed(path):
    return os.stat(path).st_mtime_ns


class Project:
    """A consumer, copied to the work folder."""

    def __init__(self, name, example='hello'):
        self.folder = os.path.join(WORK, name)
        self.build_folder = os.path.join(self.folder, 'build')
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(os.path.join(SOURCE, 'examples', example), self.folder)
        shutil.copytree(os.path.join(HERE, name), self.folder, dirs_exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def configure(self, *options, generator='Ninja', compiler='g++'):
        run(self.folder, 'cmake', '-S.', '-Bbuild', f'-G{generator}', '-DCMAKE_BUILD_TYPE=None',
            f'-DCMAKE_PREFIX_PATH={PREFIX}', f'-DCMAKE_CXX_COMPILER={compiler}',
            f'-DCMAKE_CXX_FLAGS={STRICT}', *options)

    def failing_configure(self, *options):
        """The text of the error, in one line."""
        shutil.rmtree(self.build_folder, ignore_errors=True)
        code, output = attempt(self.folder, 'cmake', '-S.', '-Bbuild', '-GNinja',
                               f'-DCMAKE_PREFIX_PATH={PREFIX}', *options)
        assert code != 0, output
        return ' '.join(output.split())

    def build(self):
        run(self.folder, 'cmake', '--build', 'build', '--parallel', '2')

    def linked(self, program):
        """The command that links a program; only for Ninja."""
        return run(self.build_folder, 'ninja', '-t', 'commands', program).splitlines()[-1]


class Consumers(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(PREFIX, ignore_errors=True)
        run(BUILD, 'cmake', '--install', '.', '--prefix', PREFIX)

    def check_program(self, folder):
        for file in glob.glob(os.path.join(folder, '*.joedb')):
            os.remove(file)
        self.assertEqual(OUTPUT, run(folder, './hello'))

    def check_cmake_project(self, project):
        """It builds and runs, and builds again exactly what depends on what has changed."""
        project.build()
        self.check_program(project.build_folder)

        program, header, stamp = (
            os.path.join(project.build_folder, name)
            for name in ('hello', 'joedb_generated/hello.h', 'joedb_generated/hello_schema.stamp'))
        built = changed(program)
        project.build()
        self.assertEqual(built, changed(program), 'nothing has changed')

        for file in project.path('hello.joedbi'), project.path('hello.joedbc'), JOEDBC:
            with self.subTest(touched=file):
                compiled = changed(stamp)
                os.utime(file)
                project.build()
                self.assertLess(compiled, changed(stamp))
                self.assertEqual(built, changed(program), 'the header is the same')

        with open(project.path('hello.joedbi'), 'a', encoding='utf-8') as schema:
            schema.write('create_table town\n')
        project.build()
        self.assertIn('id_of_town', read(header))
        self.assertLess(built, changed(program))
        self.check_program(project.build_folder)

    def test_find_package(self):
        project = Project('find_package')
        project.configure(compiler=CLANG)
        self.check_cmake_project(project)
        self.assertNotIn('isal', project.linked('hello'), 'who needs no log needs no libisal-dev')

    def test_classic(self):
        project = Project('classic')
        project.configure(generator='Unix Makefiles')
        self.check_cmake_project(project)

    def test_add_subdirectory_for_another_system(self):
        """The compiler of schemas is the given one, and only what the program links is built."""
        project = Project('add_subdirectory')
        os.symlink(SOURCE, project.path('joedb'))
        project.configure('-DCMAKE_SYSTEM_NAME=Linux', f'-DJOEDB_JOEDBC={JOEDBC}')
        commands = run(project.build_folder, 'ninja', '-t', 'commands', 'hello')
        self.assertIn(f'{JOEDBC} ', commands)
        # The sources of these libraries are compiled in test_fetch_content, too.
        self.assertEqual({'libjoedb.a', 'libjoedb_io.a'}, set(re.findall(r'libjoedb\w*\.a', commands)))
        run(project.folder, 'cmake', '--build', 'build', '--target', 'joedb_generated/hello_schema.stamp')
        self.assertIn('class File_Database', read(os.path.join(project.build_folder, 'joedb_generated/hello.h')))

    def test_unity_builds_of_a_parent(self):
        """They combine no other source files of joedb than those that are combined anyway."""
        project = Project('add_subdirectory')
        os.symlink(SOURCE, project.path('joedb'))
        libraries = 'joedb', 'joedb_network', 'joedb_arrow', 'joedb_wal', 'joedb_joedbc'
        commands = []
        for is_unity in 'OFF', 'ON':
            project.configure(f'-DCMAKE_UNITY_BUILD={is_unity}')
            commands.append(run(project.build_folder, 'ninja', '-t', 'commands', *libraries))
        self.assertEqual(*commands)

    def test_fetch_content(self):
        project = Project('fetch_content')
        with tarfile.open(project.path('joedb.tar.gz'), 'w:gz') as archive:
            for name in 'CMakeLists.txt', 'classic', 'cmake', 'include', 'src':
                archive.add(os.path.join(SOURCE, name), f'joedb/{name}')
        project.configure()
        project.build()
        self.check_program(project.build_folder)

    def test_pkg_config(self):
        project = Project('pkg_config')
        for compiler in 'g++', CLANG:
            with self.subTest(compiler=compiler):
                run(project.folder, 'make', '-B', f'CXX={compiler}', f'CXXFLAGS={STRICT}')
                self.check_program(project.folder)
        built = changed(project.path('hello'))
        for file in 'hello.joedbi', 'hello.joedbc':
            os.utime(project.path(file))
            run(project.folder, 'make')
            self.assertLess(built, built := changed(project.path('hello')), file)

    @unittest.skipUnless(NEW_CLANG, 'no clang of version 18 or newer')
    def test_a_new_clang_links_what_gcc_has_compiled(self):
        """Code of every kind: it finds all symbols of joedb."""
        folder = os.path.join(WORK, 'new_clang')
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(SOURCE, 'tests/compiled'), folder)
        for schema in 'everything', 'geo_1', 'geo_2':
            run(folder, JOEDBC, schema)
        for test in 'client_test', 'index_test', 'observer_test':
            with self.subTest(test=test):
                run(folder, NEW_CLANG, '-std=c++20', f'-I{PREFIX}/include', f'-I{SOURCE}/tests', f'-I{SOURCE}/src',
                    '-c', f'{test}.cc')
        undefined = set(re.findall(r'U (_Z\S*5joedb2v1\S*)', run(folder, 'bash', '-c', 'nm -u *.o')))
        libraries = glob.glob(os.path.join(PREFIX, 'lib/libjoedb*.a')) + glob.glob(os.path.join(folder, '*.o'))
        defined = set(re.findall(r' (_Z\S+)', run(folder, 'nm', '--defined-only', *libraries)))
        self.assertLess(100, len(undefined))
        self.assertEqual(set(), {name for name in undefined - defined if '7testing' not in name})

    def check_log_program(self, folder):
        """It does what examples/wal does, and has nothing of the database."""
        for file in glob.glob(os.path.join(folder, '*.wal')):
            os.remove(file)
        shutil.rmtree(os.path.join(folder, 'parcels'), ignore_errors=True)
        first, expected = read(os.path.join(SOURCE, 'examples/wal/wal.txt')).split('\n', 1)
        self.assertEqual('$ wal', first)
        self.assertEqual(expected, run(folder, './shop'))
        symbols = run(folder, 'nm', '-C', 'shop')
        self.assertIn('joedb::v1::wal::Writer::append', symbols)
        self.assertNotRegex(symbols, r'\babsl::|joedb::v1::\w*(Journal|Database)')

    def check_log_libraries(self, project):
        self.assertEqual({'libjoedb_wal.a', 'libjoedb_io.a'},
                         set(re.findall(r'libjoedb\w*\.a', project.linked('shop'))))

    def test_only_the_log_find_package(self):
        project = Project('wal_find_package', 'wal')
        project.configure(compiler=CLANG)
        project.build()
        self.check_log_program(project.build_folder)
        self.check_log_libraries(project)

    def test_only_the_log_add_subdirectory(self):
        """Without a compiler of schemas; and nothing else is built."""
        project = Project('wal_add_subdirectory', 'wal')
        os.symlink(SOURCE, project.path('joedb'))
        project.configure()
        commands = run(project.build_folder, 'ninja', '-t', 'commands', 'shop')
        self.assertEqual({'libjoedb_io.a', 'libjoedb_wal.a'},
                         set(re.findall(r'libjoedb\w*\.a', commands)))

    def test_only_the_log_without_isal(self):
        project = Project('wal_add_subdirectory', 'wal')
        os.symlink(SOURCE, project.path('joedb'))
        project.configure('-DJOEDB_USE_ISAL=OFF')
        project.build()
        self.check_log_program(project.build_folder)
        self.assertNotIn('isal', project.linked('shop'))

    def test_only_the_log_pkg_config(self):
        project = Project('wal_pkg_config', 'wal')
        run(project.folder, 'make', '-B', 'CXX=g++', f'CXXFLAGS={STRICT}')
        self.check_log_program(project.folder)
        libraries = run(project.folder, 'pkg-config', '--libs-only-l', 'joedb_wal').split()
        self.assertEqual({'-ljoedb_wal', '-ljoedb_io', '-lisal'}, set(libraries))
        self.assertNotIn('-lisal', run(project.folder, 'pkg-config', '--libs', 'joedb').split())

    def check_arrow_program(self, folder):
        """It does what examples/arrow does."""
        first, expected = read(os.path.join(SOURCE, 'examples/arrow/arrow.txt')).split('\n', 1)
        self.assertEqual('$ arrow', first)
        self.assertEqual(expected, run(folder, './cities'))

    def test_tables_for_arrow_find_package(self):
        project = Project('arrow_find_package', 'arrow')
        project.configure(compiler=CLANG)
        project.build()
        self.check_arrow_program(project.build_folder)

    def test_tables_for_arrow_pkg_config(self):
        project = Project('arrow_pkg_config', 'arrow')
        run(project.folder, 'make', '-B', 'CXX=g++', f'CXXFLAGS={STRICT}')
        self.check_arrow_program(project.folder)

    def check_c_program(self, folder):
        """It does what examples/c does."""
        first, expected = read(os.path.join(SOURCE, 'examples/c/c_cities.txt')).split('\n', 1)
        self.assertEqual('$ c_cities', first)
        if os.path.exists(os.path.join(folder, 'cities.joedb')):
            os.remove(os.path.join(folder, 'cities.joedb'))
        self.assertEqual(expected.split('\n$ ')[0] + '\n', run(folder, './cities'))

    def test_the_c_interface_find_package(self):
        project = Project('c_find_package', 'c')
        project.configure()
        project.build()
        self.check_c_program(project.build_folder)

    def test_the_c_interface_pkg_config(self):
        project = Project('c_pkg_config', 'c')
        run(project.folder, 'make', '-B')
        self.check_c_program(project.folder)

    def check_rpc_programs(self, folder):
        """They do what examples/rpc does."""
        for file in glob.glob(os.path.join(folder, '*.joedb')):
            os.remove(file)
        output = run(folder, 'bash', '-ec', './shop_server 2> server.log &\n'
                     'until grep -sq serving server.log; do sleep 0.01; done\n'
                     './shop_client tea 2; kill $!; wait')
        self.assertEqual('8 tea left\nin stock: 8 tea 3 salt\n', output)

    def test_remote_procedure_calls_find_package(self):
        """And a build notices what changes in the folder of the service."""
        project = Project('rpc_find_package', 'rpc')
        project.configure(compiler=CLANG)
        project.build()
        self.check_rpc_programs(project.build_folder)

        stamp = os.path.join(project.build_folder, 'joedb_generated/shop_schema.stamp')
        for name in 'shop.rpc/Service.h', 'shop.rpc/order.joedbi', 'shop.rpc/order.joedbc':
            with self.subTest(touched=name):
                compiled = changed(stamp)
                with open(project.path(name), 'a', encoding='utf-8') as file:
                    file.write('\n')
                project.build()
                self.assertLess(compiled, changed(stamp))

    def test_remote_procedure_calls_pkg_config(self):
        project = Project('rpc_pkg_config', 'rpc')
        run(project.folder, 'make', '-B', 'CXX=g++', f'CXXFLAGS={STRICT}')
        self.check_rpc_programs(project.folder)

    def check_cluster_program(self, folder):
        code, output = attempt(folder, './city', 'nats://127.0.0.1:1/city')
        self.assertEqual(1, code)
        self.assertIn('nats://127.0.0.1:1/city: no server can be used', output)

    @unittest.skipUnless(HAS_NATS, 'needs libnats-dev')
    def test_journals_on_a_cluster_find_package(self):
        project = Project('nats_find_package', 'cluster')
        project.configure(compiler=CLANG)
        project.build()
        self.check_cluster_program(project.build_folder)

    @unittest.skipUnless(HAS_NATS, 'needs libnats-dev')
    def test_journals_on_a_cluster_pkg_config(self):
        project = Project('nats_pkg_config', 'cluster')
        run(project.folder, 'make', '-B', 'CXX=g++', f'CXXFLAGS={STRICT}')
        self.check_cluster_program(project.folder)

    def test_a_missing_compiler_of_schemas(self):
        project = Project('add_subdirectory')
        os.symlink(SOURCE, project.path('joedb'))
        self.assertIn('when cross-compiling, set JOEDB_JOEDBC',
                      project.failing_configure('-DCMAKE_SYSTEM_NAME=Linux'))

    def test_a_missing_package(self):
        project = Project('add_subdirectory')
        os.symlink(SOURCE, project.path('joedb'))
        self.assertIn('joedb needs absl (Debian: apt-get install libabsl-dev)',
                      project.failing_configure('-DCMAKE_DISABLE_FIND_PACKAGE_absl=ON'))

    def test_generated_code(self):
        """Without warnings, which a package's headers do not escape here; and for one version."""
        folder = os.path.join(WORK, 'generated')
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(SOURCE, 'tests/compiled'), folder)
        command = [*STRICT.split(), '-std=c++20', '-fsyntax-only', f'-I{PREFIX}/include', '-xc++']
        for name in 'everything', 'hard_names':
            run(folder, JOEDBC, name)
        for compiler in 'g++', CLANG:
            for name in 'everything', 'hard_names':
                with self.subTest(compiler=compiler, schema=name):
                    run(folder, compiler, *command, '-include', f'{name}.h', '/dev/null')

        with open(os.path.join(folder, 'old.h'), 'w', encoding='utf-8') as file:
            text, count = re.subn('(generated_code_version ==) [0-9]+', r'\1 0',
                                  read(os.path.join(folder, 'everything.h')))
            self.assertEqual(1, count)
            file.write(text)
        code, output = attempt(folder, 'g++', *command, '-include', 'old.h', '/dev/null')
        self.assertNotEqual(0, code)
        self.assertIn('this code was generated for another version of joedb: run joedbc again',
                      output)

    def test_a_copy_of_a_database_is_one_error(self):
        folder = os.path.join(WORK, 'copy')
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(SOURCE, 'examples/hello'), folder)
        run(folder, JOEDBC, 'hello')
        mistakes = {
            'hello::Memory_Database db; auto copy = db;': 'Memory_Database(const hello::Memory_Database&)',
            'hello::File_Database db("x"); auto copy = db;': 'File_Database(const hello::File_Database&)',
            'hello::File_Client client("x"); auto db = client.get_database();':
                'Database(const hello::Database&)',
            'hello::Memory_Database db; [](hello::Writable_Database) {}(db);':
                'Writable_Database(const hello::Writable_Database&)',
            'hello::File_Client client("x"); auto copy = client;': 'File_Client(const hello::File_Client&)',
            'hello::File_Client client("x"); client.transaction([](hello::Writable_Database) {});':
                'the function of a transaction takes a Writable_Database&'}
        for code, message in mistakes.items():
            with self.subTest(code=code):
                with open(os.path.join(folder, 'copy.cc'), 'w', encoding='utf-8') as file:
                    file.write(f'#include "hello.h"\nint main() {{ {code} }}\n')
                status, output = attempt(folder, 'g++', '-std=c++20', '-fsyntax-only',
                                         f'-I{PREFIX}/include', 'copy.cc')
                self.assertNotEqual(0, status)
                errors = [line for line in output.splitlines() if 'error:' in line]
                self.assertEqual(1, len(errors), output)
                self.assertIn(message, errors[0])

    def test_a_value_that_a_field_may_not_have_is_one_error(self):
        folder = os.path.join(WORK, 'narrowing')
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(SOURCE, 'tests/compiled'), folder)
        with open(os.path.join(folder, 'everything.joedbc'), 'a', encoding='utf-8') as file:
            file.write('create_index item_by_i8 item i8\n')
        run(folder, JOEDBC, 'everything')
        not_constant = (
            'int n = 3; db.set_i8(id, n);', "int n = 70'000; db.set_i16(id, n);", 'long n = 3; db.set_i32(id, n);',
            'unsigned n = 3; db.set_i32(id, n);', 'double d = 3.99; db.set_i32(id, d);',
            'double d = 3.99; db.set_i64(id, d);', 'float f = 3; db.set_i8(id, f);',
            'double d = 0.1; db.set_f32(id, d);', 'long n = 3; db.set_f64(id, n);', 'int n = 2; db.set_flag(id, n);',
            'int n = 3; db.new_item({.i16 = n});', 'double d = 3; db.new_city("x", 1, {}, d);',
            'int n = 3; db.find_item_by_i8(n);')
        too_large = (
            'db.set_i8(id, 128);', 'db.set_i8(id, -129);', "db.set_i16(id, 70'000);", 'db.set_i32(id, 3.99);',
            "db.set_i32(id, 3'000'000'000);", "db.set_i32(id, 3'000'000'000u);", 'db.set_flag(id, 2);',
            'db.set_i64(id, 0.5);', 'db.set_f32(id, 1e39);', "db.set_f32(id, 16'777'217);",
            "db.new_item({.i16 = 70'000});", 'const int n = 128; db.set_i8(id, n);')
        other = ('db.set_i32(id, "3");', 'db.set_flag(id, "true");', 'db.set_i32(id, nullptr);',
                 'enum class E { a }; db.set_i32(id, E::a);')
        for mistakes, text in (not_constant, 'constant expression'), (too_large, 'the_value_does_not_fit'), (other, ''):
            with open(os.path.join(folder, 'mistakes.cc'), 'w', encoding='utf-8') as file:
                file.write('#include "everything.h"\nusing namespace test::everything;\n')
                for number, code in enumerate(mistakes):
                    file.write(f'void f{number}(Memory_Database& db, id_of_item id) {{ {code} }}\n')
            for compiler in 'g++', CLANG:
                with self.subTest(compiler=compiler, text=text):
                    status, output = attempt(folder, compiler, '-std=c++20', '-fsyntax-only',
                                             '-Wno-unused-parameter', f'-I{PREFIX}/include', 'mistakes.cc')
                    self.assertNotEqual(0, status)
                    self.assertEqual(len(mistakes), len(re.findall(' error: ', output)), output)
                    for number, code in enumerate(mistakes):
                        self.assertRegex(output, f'mistakes.cc:{number + 3}:', code)
                    self.assertIn(text, output)
                    self.assertIn('No_Narrowing', output)

    def test_a_project_of_joedb_init(self):
        """The two commands that it shows build it and run it."""
        folder = os.path.join(WORK, 'init')
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for name in 'shop', 'time':  # the second means something in C, too
            with self.subTest(name=name):
                shown = run(folder, os.path.join(PREFIX, 'bin/joedb'), 'init', name)
                build, start = [line.strip() for line in shown.splitlines() if line.startswith('  ')]
                run(folder, 'env', f'CMAKE_PREFIX_PATH={PREFIX}', f'CXXFLAGS={STRICT}', 'bash', '-c', build)
                self.assertEqual('a note\n', run(folder, 'bash', '-c', start))
                self.assertEqual('a note\nanother\n', run(folder, 'bash', '-c', f'{start} another'))
                if name == 'shop':
                    run(folder, 'git', 'init', '-q', 'shop')
                    ignored = run(os.path.join(folder, 'shop'), 'git', 'check-ignore', 'build', 'shop.joedb')
                    self.assertEqual('build\nshop.joedb\n', ignored)

    def test_pages_and_completion_are_installed(self):
        for name in ('man/man1/joedb.1', 'man/man1/joedb-pack.1', 'man/man1/joedb_pack.1', 'joedb/joedb.magic',
                     'bash-completion/completions/joedb_pack', 'zsh/site-functions/_joedb',
                     'fish/vendor_completions.d/joedbi.fish', 'joedb/editors/vscode/package.json',
                     'joedb/gdb/joedb_printers.py'):
            self.assertTrue(os.path.isfile(os.path.join(PREFIX, 'share', name)), name)

    @unittest.skipUnless(shutil.which('gdb'), 'no gdb')
    def test_gdb_prints_ids_texts_and_tables(self):
        project = Project('gdb')
        script = os.path.join(PREFIX, 'share/joedb/gdb/joedb_printers.py')
        for compiler, flags in ('g++', '-g'), (CLANG, '-g -fstandalone-debug'):
            with self.subTest(compiler=compiler):
                shutil.rmtree(project.build_folder, ignore_errors=True)
                project.configure(f'-DCMAKE_CXX_FLAGS={flags}', compiler=compiler)
                project.build()
                output = run(project.build_folder, 'gdb', '-nx', '-batch', '-ex', 'set style enabled off',
                             '-ex', f'source {script}', '-ex', 'break stop', '-ex', 'run', '-ex', 'up',
                             '-ex', 'info locals', '-ex', 'print *owner', './hello')
                for line in read(project.path('expected.txt')).splitlines():
                    self.assertIn(line, output)
                self.assertNotIn('Python Exception', output)

    def test_a_schema_without_options(self):
        """Its name is the namespace; and a build notices when options appear."""
        project = Project('find_package')
        options = project.path('hello.joedbc')
        os.remove(options)
        project.configure()
        project.build()
        self.check_program(project.build_folder)
        header = os.path.join(project.build_folder, 'joedb_generated/hello.h')
        self.assertIn('{}, {}, false, false}', read(header))
        with open(options, 'w', encoding='utf-8') as file:
            file.write('timestamp_transactions\n')
        project.build()
        self.assertIn('{}, {}, true, false}', read(header))

    @unittest.skipUnless(shutil.which('dpkg-shlibdeps'), 'not Debian')
    def test_debian_package(self):
        folder = os.path.join(WORK, 'deb')
        shutil.rmtree(folder, ignore_errors=True)
        run(BUILD, 'cpack', '-G', 'DEB', '-B', folder)
        package, = glob.glob(os.path.join(folder, '*.deb'))

        depends = run(folder, 'dpkg-deb', '--field', package, 'Depends')
        for name in 'libabsl-dev', 'libedit2', 'libc6':
            self.assertIn(name, depends)
        run(folder, 'dpkg-deb', '--extract', package, 'root')
        self.assertEqual(files_below(PREFIX), files_below(os.path.join(folder, 'root/usr')))


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, _, names in os.walk(folder) for name in names)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
