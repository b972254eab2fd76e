"""Feeds scripts/check.py small trees with one violation each."""
import json
import os
import tempfile
import unittest
import unittest.mock

import check


class Check_Test(unittest.TestCase):

    def findings(self, rule, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), 'w') as f:
                    f.write(text)
            return [f'{path}:{line}: {message}' for path, line, message in rule(check.Tree(root, files))]

    def assert_good(self, rule, files):
        self.assertEqual(self.findings(rule, files), [])

    def assert_bad(self, rule, files, start, *more):
        findings = self.findings(rule, files)
        self.assertEqual(len(findings), 1 + len(more), findings)
        for finding, expected in zip(findings, (start, *more)):
            self.assertTrue(finding.startswith(expected), finding)

    def including(self, path, *names):
        """A tree in which `path` includes `names`, all of which exist."""
        text = ''.join(f'#include "{name}"\n' for name in names)
        folders = {'joedb': 'include/', 'support': 'tests/'}
        return {path: text, **{folders.get(name.split('/')[0], 'src/') + name: '' for name in names}}

    def test_a_room_includes_rooms_below_it(self):
        self.assert_good(check.check_layers, self.including(
            'src/kernel/journal/a.cc', 'joedb/journal/a.h', 'joedb/io/a.h', 'kernel/schema/b.h', 'joedb/base/a.h'))

    def test_a_room_must_not_include_a_room_above_or_beside_it(self):
        self.assert_bad(check.check_layers, self.including('src/kernel/io/a.cc', 'joedb/journal/a.h'),
                        'src/kernel/io/a.cc:1: kernel/io must not include kernel/journal')
        self.assert_bad(check.check_layers, self.including('src/kernel/format/a.cc', 'joedb/base/a.h', 'joedb/io/a.h'),
                        'src/kernel/format/a.cc:2: kernel/format must not include kernel/io')
        self.assert_bad(check.check_layers, self.including('src/exchange/a.cc', 'sql/a.h'),
                        'src/exchange/a.cc:1: exchange must not include sql')
        self.assert_bad(check.check_layers, self.including('src/kernel/journal/a.cc', 'joedb/wal/a.h'),
                        'src/kernel/journal/a.cc:1: kernel/journal must not include wal')

    def test_the_umbrella_includes_all_and_no_room_includes_it(self):
        self.assert_good(check.check_layers, self.including('include/joedb/joedb.h', 'joedb/table/a.h'))
        self.assert_bad(check.check_layers, self.including('src/tools/file/a.cc', 'joedb/joedb.h'),
                        'src/tools/file/a.cc:1: tools/file must not include umbrella')

    def test_only_tests_include_the_support_of_tests(self):
        self.assert_good(check.check_layers, self.including('src/wal/a_test.cc', 'support/golden.h', 'sql/a.h'))
        self.assert_bad(check.check_layers, self.including('src/tools/file/a.cc', 'support/golden.h'),
                        'src/tools/file/a.cc:1: no such file in include/ or src/: support/golden.h')

    def test_the_tests_of_kernel_include_no_other_folder_but_the_simulated_disk(self):
        names = 'kernel/table/a.h', 'support/golden.h', 'sim/lab/a.h'
        self.assert_good(check.check_layers, self.including('src/kernel/io/a_test.cc', *names))
        self.assert_bad(check.check_layers, self.including('src/kernel/io/a_test.cc', *names, 'text/a.h'),
                        'src/kernel/io/a_test.cc:4: kernel/io must not include text')

    def test_of_the_modules_only_the_tools_include_the_crash_laboratory(self):
        self.assert_good(check.check_layers, self.including('src/tools/program/a.cc', 'sim/lab/crash_lab.h'))
        self.assert_bad(check.check_layers, self.including('src/share/replica/a.cc', 'sim/lab/crash_lab.h'),
                        'src/share/replica/a.cc:1: share/replica must not include sim/lab')

    def test_words_that_are_no_terms_are_refused(self):
        terms = {'docs/terms.md': '| term | meaning | not |\n|---|---|---|\n| invalidate | … | `bury`, `buried` |\n'}
        self.assert_good(check.check_terms, {**terms, 'src/kernel/io/a.cc': '// invalidated'})
        self.assert_bad(check.check_terms, {**terms, 'src/kernel/io/a.cc': '// It is buried.'},
                        "src/kernel/io/a.cc:1: say invalidate, not 'buried' (docs/terms.md)")

    def test_sentences_that_hide_their_noun_are_refused(self):
        self.assert_good(check.check_english, {'src/kernel/io/a.cc': 'f("what is");  // The size.\n'})
        self.assert_good(check.check_english, {'docs/a.md': '`goes on`\n'})
        self.assert_bad(check.check_english, {'src/kernel/io/a.cc': 'f();  // Keeps what was read.\n'},
                        "src/kernel/io/a.cc:1: 'what was': name the thing")
        self.assert_bad(check.check_english, {'docs/a.md': 'Then it goes on.\n'},
                        "docs/a.md:1: 'goes on': name the thing")

    def test_names_that_are_sentences_are_refused(self):
        self.assert_good(check.check_names, {'src/wal/a.cc': 'f("lie()", max_size);  // At most_one lie().\n'})
        for name in ('wanted_by_undo', 'Range_Of_Whens', 'comment_of_new_tag', 'has_told_failure', 'require_sense',
                     'take_cut_of', 'most_items', 'least_size'):
            self.assert_bad(check.check_names, {'src/wal/a.cc': f'int i;\n{name} = 0;\n'},
                            f'src/wal/a.cc:2: {name}: use the term of the field')
        self.assert_bad(check.check_names, {'src/sim/lab/a.h': 'disk.lie();\n'},
                        'src/sim/lab/a.h:1: lie: use the term of the field')

    def test_a_public_header_includes_no_private_one(self):
        self.assert_bad(check.check_layers, self.including('include/joedb/io/a.h', 'kernel/io/b.h'),
                        'include/joedb/io/a.h:1: a public header must not include the private kernel/io/b.h')

    def test_includes_are_written_from_the_root(self):
        self.assert_bad(check.check_layers, {'src/kernel/io/a.cc': '#include "b.h"', 'src/kernel/io/b.h': ''},
                        'src/kernel/io/a.cc:1: write the path from include/ or src/')
        self.assert_bad(check.check_layers, {'src/kernel/io/a.cc': '#include "kernel/io/b.h"'},
                        'src/kernel/io/a.cc:1: no such file')

    def test_a_raw_string_includes_nothing(self):
        self.assert_bad(check.check_layers, {'src/kernel/io/a.cc': 'R"x(\n#include "b.h"\n)x";\n#include "c.h"\n'},
                        'src/kernel/io/a.cc:4: no such file')

    def test_only_known_rooms(self):
        self.assert_bad(check.check_layers, {'src/attic/a.cc': ''}, 'src/attic/a.cc:1: no such folder')

    def test_only_io_makes_system_calls(self):
        source = '#include <vector>\n#include <sys/mman.h>\n#include <unistd.h>\n'
        self.assert_good(check.check_system_headers, {'src/kernel/io/a.cc': source, 'src/wal/a_test.cc': source})
        self.assert_bad(check.check_system_headers, {'src/kernel/table/a.cc': source},
                        'src/kernel/table/a.cc:2: only kernel/io', 'src/kernel/table/a.cc:3: only kernel/io')
        self.assert_bad(check.check_system_headers, {'src/tools/file/a.cc': source},
                        'src/tools/file/a.cc:2: only kernel/io')

    def test_classic_headers_only_forward(self):
        files = {'classic/joedb/A.h': '// A.\n#include "joedb/io/a.h"\n', 'include/joedb/io/a.h': ''}
        self.assert_good(check.check_classic, files)
        self.assert_bad(check.check_classic, {'classic/joedb/A.h': files['classic/joedb/A.h']},
                        'classic/joedb/A.h:2: no such file in include/: joedb/io/a.h')
        self.assert_bad(check.check_classic, {**files, 'classic/joedb/A.h': 'int a;\n'},
                        'classic/joedb/A.h:1: a forwarder is')

    def test_the_guard_of_a_header_is_its_path(self):
        guards = {'include/joedb/io/a.h': 'JOEDB_IO_A_H', 'src/kernel/io/b.h': 'JOEDB_SRC_KERNEL_IO_B_H',
                  'tests/support/c.h': 'JOEDB_TESTS_SUPPORT_C_H'}
        files = {path: f'#ifndef {guard}\n#define {guard}\n#endif\n' for path, guard in guards.items()}
        self.assert_good(check.check_guards, files)
        self.assert_bad(check.check_guards, {**files, 'src/wal/c.h': files['src/kernel/io/b.h']},
                        'src/wal/c.h:1: begin with the include guard JOEDB_SRC_WAL_C_H')

    def test_templates_that_the_library_instantiates_have_no_constraints(self):
        source = {'src/kernel/io/a.cc': 'template int f(int);\ntemplate class A<int>;\n'}
        header = 'include/joedb/io/a.h'
        self.assert_good(check.check_instantiated_templates, {
            **source, header: 'template <class T>\nint f(T t);\ntemplate <Number T>\nint g(T t);\n'})
        for text in ('template <Number T>\nint f(T t);\n', 'template <class T, Number U>\nclass A {\n};\n',
                     'template <class T>\nrequires Number<T>\nint f(T t);\n'):
            self.assert_bad(check.check_instantiated_templates, {**source, header: text},
                            f'{header}:1: {"A" if "class A" in text else "f"} is instantiated in the library')

    def test_a_source_includes_the_headers_of_its_names(self):
        files = {'include/joedb/io/a.h': '#include <vector>\nclass [[nodiscard]] Abc {\n};\n',
                 'src/wal/b.h': '#include "joedb/io/a.h"\n'}
        source = 'void f(const std::vector<Abc>&, asio::Xyz, x.Xyz);  // Xyz, std::map\n'
        self.assert_good(check.check_missing_includes, {**files, 'src/wal/b.cc': '#include "wal/b.h"\n' + source})
        self.assert_bad(check.check_missing_includes, {**files, 'src/wal/b.cc': source, 'src/wal/c.h': 'class Xyz {'},
                        'src/wal/b.cc:1: include include/joedb/io/a.h, for Abc',
                        'src/wal/b.cc:1: include <vector>, for std::vector')
        self.assert_good(check.check_missing_includes, {**files, 'src/wal/b.cc': 'class Abc;\nAbc& f();\n'})

    def test_one_version(self):
        files = {'CMakeLists.txt': 'project(joedb VERSION 1.2.3 LANGUAGES CXX)', 'vcpkg.json': '"version": "1.2.3"',
                 'include/joedb/base/version.h': 'inline constexpr char version[] = "1.2.3";'}
        self.assert_good(check.check_version, files)
        self.assert_bad(check.check_version, {**files, 'vcpkg.json': '"version": "1.2.2"'},
                        'vcpkg.json:1: the version is 1.2.3')

    def test_every_source_is_listed_once(self):
        self.assert_good(check.check_dead_files, {
            'src/kernel/io/a.cc': '', 'tests/b_test.cc': '',
            'src/CMakeLists.txt': 'add(kernel/io/a.cc)',
            'tests/CMakeLists.txt': 'add(${PROJECT_SOURCE_DIR}/tests/b_test.cc)'})
        self.assert_bad(check.check_dead_files, {'src/kernel/io/a.cc': '', 'src/CMakeLists.txt': '# kernel/io/a.cc'},
                        'src/kernel/io/a.cc:1: list this file')
        self.assert_bad(check.check_dead_files, {'src/a.cc': '', 'src/CMakeLists.txt': 'a.cc\na.cc'},
                        'src/CMakeLists.txt:2: src/a.cc is listed twice')

    def test_every_header_is_used(self):
        self.assert_bad(check.check_dead_files, {'include/joedb/io/a.h': ''},
                        'include/joedb/io/a.h:1: nothing includes this header')

    def test_names_of_tests(self):
        self.assert_good(check.check_test_names, {
            'src/kernel/io/a_test.cc': 'TEST(A, B) {}\nTYPED_TEST(Int_16_Test,\n  Of2ThingsIsRight) {}'})
        self.assert_bad(check.check_test_names, {'tests/a_test.cc': '\nTEST_F(AbcTest, Is_Right) {}'},
                        'tests/a_test.cc:2: AbcTest: write the name of a test suite Like_This',
                        'tests/a_test.cc:2: Is_Right: write the name of a test LikeThis')
        self.assert_bad(check.check_test_names, {'src/kernel/io/a.cc': '\nTEST(A, B) {}'}, 'src/kernel/io/a.cc:1: name')
        self.assert_bad(check.check_test_names, {'src/kernel/io/test_a.cc': ''}, 'src/kernel/io/test_a.cc:1: name')

    def test_text(self):
        for text, expected in (('TO' 'DO: more', 'leftover marker'), ('good for ' 'now', 'leftover marker'),
                               ('/wo' 'rk/main', 'path of one machine'), ('x' * 121, '121 characters')):
            self.assert_bad(check.check_text, {'src/a.cc': 'fine\n' + text}, f'src/a.cc:2: {expected}')
            self.assert_good(check.check_text, {'tests/golden/a.txt': text})
        self.assert_good(check.check_text, {'docs/a.md': '| ' + 'x' * 121, 'a.cc': 'mkstemp("XXXX' 'XX")'})

    def document(self, text, path='docs/reference/tools.md'):
        return {path: text, 'dev': 'task_build() {\n',
                'CMakeLists.txt': 'set(JOEDB_TOOL_NAMES\n  joedbi\n  joedb_pack)\nadd_library(joedb_tools)'}

    def test_documents_name_what_exists(self):
        rule = check.check_documents
        self.assert_good(rule, self.document('`./dev build`, `joedb_tools`\n```sh\n$ joedbi x | joedb_pack y\n```'))
        self.assert_bad(rule, self.document('see\n`./dev ship`'), 'docs/reference/tools.md:2: ./dev has no task')
        self.assert_bad(rule, self.document('`joedb_fly a`'), 'docs/reference/tools.md:1: there is no tool')
        self.assert_bad(rule, self.document('[a](b.md)', 'README.md'), 'README.md:1: the link b.md leads nowhere')

    def test_documents_name_options_that_exist(self):
        help_text = '#!/bin/sh\necho " --read  only"\n'
        files = self.document('## joedbi\n`joedbi --read x`, `--read`, `--write`\n`joedbi --reader x`')
        files['build/release/bin/joedbi'] = help_text

        def rule(tree):
            os.chmod(os.path.join(tree.root, 'build/release/bin/joedbi'), 0o755)
            return list(check.check_documents(tree))
        self.assert_bad(rule, files, 'docs/reference/tools.md:2: `joedbi --help` does not know --write',
                        'docs/reference/tools.md:3: `joedbi --help` does not know --reader')

    def test_headers_compile_alone_and_are_formatted(self):
        files = {'include/joedb/io/a.h': '#pragma once\nint f( );\n', 'include/joedb/io/b.h': 'string s;\n',
                 '.clang-format': 'BasedOnStyle: Google\n'}
        self.assert_bad(check.check_with_tools, files, 'include/joedb/io/a.h:2: run ./dev fmt',
                        'include/joedb/io/b.h:1: a header must compile alone')

    def test_a_header_compiles_after_another_one_only_if_it_includes_it(self):
        files = {'include/joedb/base/types.h': '#pragma once\n#include <string>\n',
                 'include/joedb/io/bad.h': 'inline std::string f() { return {}; }\n',
                 '.clang-format': 'DisableFormat: true\n'}
        for i in range(5):
            text = f'#include "joedb/base/types.h"\n\ninline std::string f{i}() {{ return {{}}; }}\n'
            files[f'include/joedb/io/good{i}.h'] = text
        files['include/joedb/io/wrong.h'] = '#include "joedb/base/types.h"\n\ninline std::vector<int> g();\n'
        self.assert_bad(check.check_with_tools, files, 'include/joedb/io/bad.h:1: a header must compile alone',
                        'include/joedb/io/wrong.h:3: a header must compile alone')

    def numbered(self, **numbers):
        return unittest.mock.patch.multiple(check, **numbers)

    def test_public_headers_do_not_become_more(self):
        files = {'include/joedb/io/a.h': '', 'include/joedb/wal.h': '', 'src/kernel/io/b.h': ''}
        with self.numbered(PUBLIC_HEADERS=2):
            self.assert_good(check.check_public_headers, files)
        with self.numbered(PUBLIC_HEADERS=1):
            self.assert_bad(check.check_public_headers, files, 'include/joedb:1: 2 public headers, and 1 are allowed')
        with self.numbered(PUBLIC_HEADERS=3):
            self.assert_bad(check.check_public_headers, files, 'include/joedb:1: only 2 public headers: write')

    FUNCTIONS = """namespace a {
// Between ' and ".
template <class T>
class A : public B {
 public:
  explicit A(T value)
      : value_{value} {
    if (value == '{') {
      fail("}");
    }
  }
  T value() const { return 1'000; }
};

constexpr int table[] = {
    1,
};

int f(int a,
      int b) {
  const auto g = [&](int c) {
    return R"({)" + c;
  };
  return g(a);
}
}  // namespace a
"""

    def test_functions_are_counted_by_their_braces(self):
        with tempfile.TemporaryDirectory() as root:
            with open(os.path.join(root, 'a.cc'), 'w') as f:
                f.write(self.FUNCTIONS)
            self.assertEqual(list(check.functions_of(check.Tree(root, ['a.cc']), 'a.cc')), [(6, 5), (19, 6)])

    def test_long_functions_do_not_become_more(self):
        files = {'src/wal/a.cc': self.FUNCTIONS, 'src/wal/a_test.cc': self.FUNCTIONS}
        with self.numbered(LONGEST_FUNCTION=5, LONG_FUNCTIONS=1):
            self.assert_good(check.check_long_functions, files)
        with self.numbered(LONGEST_FUNCTION=5, LONG_FUNCTIONS=0):
            self.assert_bad(check.check_long_functions, files, 'src:1: 1 functions of more than 5 lines, and 0 are')

    def test_folders_grow_only_with_the_changelog(self):
        files = {'src/wal/a.cc': 'a;\n' * 60, 'include/joedb/wal/a.h': 'a;\n' * 42, 'src/wal/a_test.cc': 'a;\n' * 9,
                 'CHANGELOG.md': '# 1\n\n* A.\n  B.\n'}
        recorded = '{"changelog_entries": 1, "lines": {"wal": %d}}'
        self.assert_good(check.check_sizes, {**files, check.SIZES: recorded % 100})
        self.assert_bad(check.check_sizes, {**files, check.SIZES: recorded % 99},
                        'src/wal:1: 102 lines, and scripts/sizes.json has 99: find something')

        def rule(tree):
            check.write_sizes(tree)
            return check.check_sizes(check.Tree(tree.root))
        with self.assertRaises(SystemExit):
            self.findings(rule, {**files, check.SIZES: recorded % 50})
        self.assert_good(rule, {**files, check.SIZES: recorded % 50, 'CHANGELOG.md': '* A.\n* B.\n'})
        self.assert_good(rule, {**files, check.SIZES: recorded % 300})

        def written(tree):
            check.write_sizes(tree)
            yield check.SIZES, json.loads(check.Tree(tree.root).text(check.SIZES))['lines']['wal'], ''
        for before, after in (101, 101), (300, 102):
            self.assert_bad(written, {**files, check.SIZES: recorded % before}, f'{check.SIZES}:{after}:')


if __name__ == '__main__':
    unittest.main()
