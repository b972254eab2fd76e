#!/usr/bin/env python3
"""Rules that no compiler checks; run as ./dev check.

Each rule is a function of a Tree that yields findings: (path, line, what to do).
Slow results (formatting, headers) are remembered by content in build/check_cache.json.

usage: check.py [--write-layers | --write-sizes]

--write-layers: write the tables of src/layers.txt into the documents. --write-sizes: record the lines of each folder
of src/ in scripts/sizes.json; a folder may only have grown if CHANGELOG.md has a new entry.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import typing

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAYERS = 'src/layers.txt'


class Layer(typing.NamedTuple):
    folder: str
    below: list[str]
    contents: str


def read_layers():
    with open(os.path.join(ROOT, LAYERS), encoding='utf-8') as f:
        rows = [[cell.strip() for cell in line.split('|', 2)] for line in f if not re.match('#|$', line)]
    return [Layer(folder, below.split(), contents) for folder, below, contents in rows]


# The folders of src/, and the folders directly below each: it may include these, what is below them, and itself.
ALL_LAYERS = read_layers()
BELOW = {layer.folder: layer.below for layer in ALL_LAYERS}
# include/joedb/NAME/ belongs to the lowest folder of that name.
PUBLIC = {os.path.basename(folder): folder for folder in reversed(BELOW)}
# Code that only tests include, and what that is made of.
TEST_CODE = 'tests/support|tests/fuzz'
BELOW_TEST_CODE = ['sim/lab', 'exchange', 'exchange/arrow', 'sql']

# Files that record output, or that others wrote: no rule about text applies to them.
DATA = re.compile(r'tests/(golden|network/(cases|rpc_service)/|conformance/.*/|transcripts/.*\.txt|fuzz/corpus|compat)'
                  r'|examples/\w+/(?!CMakeLists)\w+\.txt|docs/demo\.svg')

SYSTEM_HEADER = re.compile(
    r'(unistd|fcntl|poll|dirent|netdb|termios|pwd|grp|syslog|signal|pthread|sched|spawn|dlfcn|liburing)\.h$'
    r'|csignal$|(sys|net|netinet|arpa|linux|asm)/')
SYSTEM_HEADERS_OF_TOOLS = {'unistd.h', 'signal.h', 'csignal', 'poll.h'}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
MARKER = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X)\b|\bfor ' r'now\b')
ABSOLUTE = re.compile(r'(?<![\w.])/wo' r'rk/')
LINE_LIMIT = 120


class Tree:
    """The files of the project, as paths relative to its root."""

    def __init__(self, root, files=None):
        self.root = root
        self.files = sorted(files if files is not None else listed_files(root))
        self.exists = set(self.files)
        self.texts = {}
        self.found = {}

    def text(self, path):
        """The text of a file, or '' for a binary one."""
        if path not in self.texts:
            with open(os.path.join(self.root, path), 'rb') as f:
                data = f.read()
            try:
                self.texts[path] = '' if b'\0' in data else data.decode()
            except UnicodeDecodeError:
                self.texts[path] = ''
        return self.texts[path]

    def lines(self, path):
        return enumerate(self.text(path).splitlines(), 1)

    def select(self, pattern):
        return [f for f in self.files if re.match(pattern, f)]

    def cpp_files(self):
        return [f for f in self.files if f.endswith(('.h', '.cc')) and not DATA.match(f)]

    def includes(self, path):
        """A list of (line number, '<' or '"', included name); a raw string includes nothing."""
        if path not in self.found:
            code = RAW_STRING.sub(lambda match: '\n' * match[0].count('\n'), self.text(path))
            matches = ((number, INCLUDE.match(line)) for number, line in enumerate(code.splitlines(), 1))
            self.found[path] = [(number, match[1], match[2]) for number, match in matches if match]
        return self.found[path]

    def resolve(self, path, name):
        """The project's file that an include means, or None."""
        for folder in ('include', 'src', 'tests', os.path.dirname(path)):
            candidate = os.path.normpath(os.path.join(folder, name))
            if candidate in self.exists:
                return candidate
        return None


def listed_files(root):
    try:
        listing = subprocess.run(
            ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
            cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        names = listing.decode().split('\0')[:-1]
    except (OSError, subprocess.CalledProcessError):  # a source archive
        names = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, files in os.walk(root) for name in files]
        names = [name for name in names if not re.match(r'build/|\.git/|.*__pycache__/', name)]
    return [name for name in set(names) if os.path.isfile(os.path.join(root, name))]


# --- the layer rule ---

def modules_below(module):
    result = {module}
    for lower in BELOW[module]:
        result |= modules_below(lower)
    return result


def folders_for_tests(module):
    """The folders that a unit test may include besides. Those of kernel are built alone."""
    if module.startswith('kernel/'):
        return modules_below('kernel/table') | {'sim/lab'}
    return set().union(*map(modules_below, BELOW_TEST_CODE))


def module_of(path):
    """The folder of a file in include/ or src/; 'umbrella' for the headers directly in include/joedb/."""
    folder = os.path.dirname(path)
    if folder.startswith('src/'):
        return folder.removeprefix('src/')
    if folder.startswith('include/joedb/'):
        name = folder.removeprefix('include/joedb/')
        return PUBLIC.get(name, name)
    if path == 'include/joedb_c.h':
        return 'bindings'
    return 'umbrella' if folder == 'include/joedb' else None


def check_layers(tree):
    for path in tree.select(r'(include|src)/.*\.(h|cc)$'):
        module = module_of(path)
        is_test = path.endswith('_test.cc')
        if module != 'umbrella' and module not in BELOW:
            yield path, 1, f'no such folder: move the file, or add the folder to {LAYERS}'
            continue
        allowed = modules_below(module) if module != 'umbrella' else (
            set(BELOW) - {'sim/lab'} | {'umbrella'})
        if is_test:
            allowed = allowed | folders_for_tests(module)
        for line, quote, name in tree.includes(path):
            target = tree.resolve(path, name)
            if is_test and target == f'tests/{name}':
                continue
            if target is None or module_of(target) is None:
                if quote == '"':
                    yield path, line, f'no such file in include/ or src/: {name}'
            elif target not in (f'include/{name}', f'src/{name}'):
                yield path, line, f'write the path from include/ or src/: {name}'
            elif path.startswith('include/') and not target.startswith('include/'):
                yield path, line, f'a public header must not include the private {name}'
            elif module_of(target) not in allowed:
                yield path, line, (f'{module} must not include {module_of(target)} ({name}): pass a value '
                                   'or an interface, or move the thing down')


def tables_of_layers():
    """{document: the lines of the table that is written from the list of layers}."""
    return {
        'ARCHITECTURE.md': ['| folder | contents |', '|---|---|',
                            *(f'| `{layer.folder}` | {layer.contents} |' for layer in ALL_LAYERS)],
        'CONTRIBUTING.md': ['| folder | includes these, and what they include |', '|---|---|',
                            *(f'| `{layer.folder}` | {", ".join(f"`{name}`" for name in layer.below)} |'
                              for layer in ALL_LAYERS)],
    }


LAYER_TABLE = re.compile(r'(?<=<!-- from src/layers\.txt -->\n\n).*?(?=\n\n)', re.S)


def check_layer_tables(tree):
    for path, lines in tables_of_layers().items():
        found = LAYER_TABLE.search(tree.text(path)) if path in tree.exists else None
        if path in tree.exists and (not found or found[0] != '\n'.join(lines)):
            yield path, 1, f'the table is not that of {LAYERS}: run scripts/check.py --write-layers'


def write_layers(tree):
    for path, lines in tables_of_layers().items():
        text = LAYER_TABLE.sub(lambda _: '\n'.join(lines), tree.text(path))
        with open(os.path.join(tree.root, path), 'w', encoding='utf-8') as f:
            f.write(text)


def check_system_headers(tree):
    for path in tree.select(r'(include|src)/.*\.(h|cc)$'):
        module = module_of(path)
        if module in ('kernel/io', 'sim/lab') or path.endswith('_test.cc'):
            continue
        for line, _, name in tree.includes(path):
            is_of_tools = module.startswith('tools/') and name in SYSTEM_HEADERS_OF_TOOLS
            if SYSTEM_HEADER.match(name) and not is_of_tools:
                yield path, line, f'only kernel/io makes system calls: move the use of <{name}> there'


def check_classic(tree):
    """joedb 10's header paths only lead to our headers."""
    for path in tree.select(r'classic/.*'):
        lines = tree.text(path).splitlines()
        names = [name for _, _, name in tree.includes(path)]
        if len(names) != 1 or len(lines) != 2 or not lines[0].startswith('// '):
            yield path, 1, 'a forwarder is a line that says what is here, and an #include'
        elif f'include/{names[0]}' not in tree.exists:
            yield path, 2, f'no such file in include/: {names[0]}'


def check_guards(tree):
    """The include guard of a header is its path."""
    for path in tree.select(rf'(include/joedb|src|{TEST_CODE})/.*\.h$'):
        guard = re.search(r'^#ifndef (\w+)\n#define \1\n', tree.text(path), re.M)
        expected = 'JOEDB_' + re.sub(r'\W', '_', path.removeprefix('include/joedb/')).upper()
        if not guard or guard[1] != expected:
            yield path, 1, f'begin with the include guard {expected}'


# The name of a template that a source file instantiates for others.
INSTANTIATED = re.compile(r'^template (?!<)[^;(]*?(\w+)(?:<[^;(]*>)?[;(]', re.M)
CONSTRAINT = re.compile(r'(?:^|, )(?!class|typename|auto|bool|int|std::)\w|^$')


def check_instantiated_templates(tree):
    """A template that the library instantiates for users has no constraint: symbols would differ between compilers."""
    names = {name for path in tree.select(r'src/.*\.cc$') for name in INSTANTIATED.findall(tree.text(path))}
    for path in tree.select(r'include/.*\.h$'):
        text = tree.text(path)
        for match in re.finditer(r'template <(.*)>\s+(requires\b)?[^;{}]*?\b(\w+)\s*[({;]', text):
            if match[3] in names and (match[2] or CONSTRAINT.search(match[1])):
                yield (path, text.count('\n', 0, match.start()) + 1,
                       f'{match[3]} is instantiated in the library: check its parameters by static_assert, because g++ '
                       'and clang 18 give a template with constraints different symbols')


# --- includes that a unity build hides ---

# Most files are only compiled after others of their folder, which may have included what these lack.
STANDARD = {name: header for header, names in {
    'algorithm': 'all_of any_of find_if none_of sort stable_sort', 'array': 'array', 'atomic': 'atomic',
    'bit': 'bit_cast', 'charconv': 'from_chars to_chars', 'chrono': 'chrono', 'cmath': 'isnan',
    'condition_variable': 'condition_variable', 'cstring': 'memcmp memcpy strerror', 'deque': 'deque',
    'filesystem': 'filesystem', 'fstream': 'fstream ifstream ofstream', 'functional': 'function', 'future': 'future',
    'iomanip': 'setw', 'iostream': 'cerr cin cout', 'limits': 'numeric_limits', 'list': 'list', 'map': 'map',
    'memory': 'make_shared make_unique shared_ptr unique_ptr', 'mutex': 'mutex', 'numeric': 'accumulate iota',
    'optional': 'optional', 'regex': 'regex', 'set': 'set', 'span': 'span',
    'sstream': 'istringstream ostringstream stringstream', 'stdexcept': 'invalid_argument logic_error runtime_error',
    'thread': 'thread', 'unordered_map': 'unordered_map', 'unordered_set': 'unordered_set', 'variant': 'variant',
    'vector': 'vector'}.items() for name in names.split()}
TYPE = re.compile(r'^(?:template <.*>\n)?(?:class|struct|enum(?: class)?) (?:\[\[\w+\]\] )?(\w+)\b(?!;)', re.M)
USED_TYPE = re.compile(r'(?<!::)(?<!\.)(?<!->)\b[A-Z]\w+\b')
DECLARED_TYPE = re.compile(r'\b(?:class|typename|struct|enum|using|union)(?:\.\.\.)? (?:class )?(?:\[\[\w+\]\] )?(\w+)')


def check_missing_includes(tree):
    headers = tree.select(rf'(include|src|{TEST_CODE})/.*\.h$')
    homes = {}
    for header in headers:
        for name in TYPE.findall(tree.text(header)):
            homes.setdefault(name, []).append(header)
    declared, standard, code = {}, {}, {}
    for path in headers + tree.select(rf'(src|{TEST_CODE})/.*\.cc$'):
        code[path] = NOT_CODE.sub(' ', tree.text(path))
        declared[path] = set(DECLARED_TYPE.findall(code[path]))
        standard[path] = {name for _, quote, name in tree.includes(path) if quote == '<'}
    for path in code.keys() - set(headers):
        included = [file for file in included_files(tree, path) if file in code]
        here = set().union(*(declared[file] for file in included))
        for name in set(USED_TYPE.findall(code[path])) - here:
            if name in homes:
                yield path, 1, f'include {homes[name][0]}, for {name}: other files may stop including it'
        here = set().union(*(standard[file] for file in included))
        for name in set(re.findall(r'\bstd::(\w+)', code[path])):
            if STANDARD.get(name, name) not in here and name in STANDARD:
                yield path, 1, f'include <{STANDARD[name]}>, for std::{name}: other files may stop including it'


# --- the build files ---

def listed_sources(tree):
    """Yields (build file, line, source path) for every source a build file names."""
    for path in tree.select(r'(.*/)?(CMakeLists\.txt|[^/]*\.cmake)$'):
        for number, line in tree.lines(path):
            for word in re.findall(r'[\w./${}+-]+\.cc\b', line.split('#')[0]):
                name = re.sub(r'^\$\{PROJECT_SOURCE_DIR\}/', '', word)
                if name == word:
                    name = re.sub(r'^\$\{CMAKE_CURRENT_SOURCE_DIR\}/', '', word)
                    name = os.path.normpath(os.path.join(os.path.dirname(path), name))
                yield path, number, name


def check_dead_files(tree):
    listed = {}
    for path, line, name in listed_sources(tree):
        if name in listed:
            yield path, line, f'{name} is listed twice, see {listed[name]}'
        listed[name] = f'{path}:{line}'
    for path in tree.select(r'(src|tests|examples|benchmarks)/.*\.cc$'):
        if not DATA.match(path) and path not in listed:
            yield path, 1, 'list this file in a CMakeLists.txt, or delete it'
    included = {tree.resolve(path, name) for path in tree.cpp_files() for _, _, name in tree.includes(path)}
    for path in tree.select(rf'(include|src|{TEST_CODE})/.*\.h$'):
        if path not in included and module_of(path) != 'umbrella':
            yield path, 1, 'nothing includes this header: use it, or delete it'


def check_version(tree):
    """The version is written where each reader looks for it, and is the same."""
    version = re.search(r'project\(joedb VERSION ([\d.]+)', tree.text('CMakeLists.txt'))
    for path, pattern in (('include/joedb/base/version.h', r'version\[\] = "([^"]*)"'),
                          ('vcpkg.json', r'"version": "([^"]*)"')):
        found = re.search(pattern, tree.text(path))
        if not found or found[1] != version[1]:
            yield path, 1, f'the version is {version[1]} in CMakeLists.txt'


TEST = re.compile(r'^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)', re.M)


def check_test_names(tree):
    for path in tree.select(r'(src|tests)/.*\.cc$'):
        if DATA.match(path):
            continue
        tests = list(TEST.finditer(tree.text(path)))
        if not path.endswith('_test.cc') and (tests or re.search(r'/test_[^/]*$|_tests\.\w+$', path)):
            yield path, 1, 'name a file of tests NAME_test.cc'
        for test in tests:
            suite, name = test.groups()
            line = tree.text(path).count('\n', 0, test.start()) + 1
            if not re.fullmatch(r'[A-Z][a-z0-9]*(_[A-Z0-9][a-z0-9]*)*', suite):
                yield path, line, f'{suite}: write the name of a test suite Like_This'
            if not re.fullmatch(r'[A-Z][A-Za-z0-9]*', name):
                yield path, line, f'{name}: write the name of a test LikeThis'


# --- text ---

def check_text(tree):
    for path in tree.files:
        if DATA.match(path):
            continue
        for number, line in tree.lines(path):
            if MARKER.search(line):
                yield path, number, f'leftover marker: {MARKER.search(line)[0]!r}'
            if ABSOLUTE.search(line):
                yield path, number, 'path of one machine: use a relative one'
            may_be_long = path == LAYERS or path.endswith('.tmLanguage.json') or (
                path.endswith('.md') and re.match(r'\s*\||.*https?://', line))
            if len(line) > LINE_LIMIT and not may_be_long:
                yield path, number, f'{len(line)} characters: break the line before {LINE_LIMIT}'


# --- terms ---

TERMS = 'docs/terms.md'


def terms_to_avoid(tree):
    """{word: the term to use}, from the table in docs/terms.md."""
    result = {}
    for _, line in tree.lines(TERMS) if TERMS in tree.exists else []:
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if len(cells) == 3:
            result.update({word: cells[0] for word in re.findall(r'`([^`]+)`', cells[2])})
    return result


def check_terms(tree):
    terms = terms_to_avoid(tree)
    if not terms:
        return
    pattern = re.compile(r'\b(' + '|'.join(map(re.escape, sorted(terms, key=len, reverse=True))) + r')\b', re.I)
    for path in tree.files:
        if DATA.match(path) or path in (TERMS, 'scripts/check_test.py'):
            continue
        for number, line in tree.lines(path):
            match = pattern.search(line)
            if match:
                yield path, number, f'say {terms[match[1].lower()]}, not {match[1]!r} ({TERMS})'


# --- English ---

# Phrases of sentences that must be read twice: they hide their noun.
RIDDLES = re.compile(
    r'\b(what is|what was|whoever|those that|is told|so long,|so many|the one that there is|goes on)\b', re.I)


def prose_of(tree, path):
    """(number, text) of the lines of a document outside of code, and of the comments of C++."""
    if path.endswith('.md'):
        is_code = False
        for number, line in tree.lines(path):
            if line.lstrip().startswith('```'):
                is_code = not is_code
            elif not is_code and not line.startswith(('    ', '|', '#', '* [')):
                yield number, re.sub(r'`[^`]*`', '', line)
    elif path.endswith(('.cc', '.h')):
        for number, line in tree.lines(path):
            comment = re.search(r'(?<!:)//(.*)', line)
            if comment:
                yield number, comment[1]


def check_english(tree):
    for path in tree.files:
        if path in (TERMS, 'CHANGELOG.md') or not re.match(
                rf'(src|include|benchmarks|python|docs|{TEST_CODE})/|[A-Z]+\.md', path):
            continue
        for number, text in prose_of(tree, path):
            match = RIDDLES.search(text)
            if match:
                yield path, number, f'{match[0]!r}: name the thing, so that the sentence is read once'


# Identifiers that are relative clauses or sentences: the field has a shorter word for each.
RIDDLING_NAMES = re.compile(
    r'\b(wanted_by_\w+|\w+_Of_Whens|comment_of_(?:new|removed)_tag|has_told_\w+|is_told|require_sense|take_cut_of|'
    r'(?:most|least)_\w+|lie(?=\())')


def check_names(tree):
    for path in tree.cpp_files():
        for number, line in tree.lines(path):
            match = RIDDLING_NAMES.search(re.sub(r'"(?:\\.|[^"\\])*"|(?<!:)//.*', '', line))
            if match:
                yield path, number, f'{match[0]}: use the term of the field (max_, min_ for limits)'


# --- documents ---

def tool_names(tree):
    match = re.search(r'set\(JOEDB_TOOL_NAMES([^)]*)\)', tree.text('CMakeLists.txt'))
    return {'joedb', *match[1].split()} if match else {'joedb'}


def code_in(tree, path):
    """Yields (line number, code, heading) for code spans and lines of shell blocks."""
    heading, language = os.path.splitext(os.path.basename(path))[0], None
    for number, line in tree.lines(path):
        fence = re.match(r'\s*```\s*(\w*)', line)
        if fence:
            language = fence[1] if language is None else None
        elif language is not None:
            if language in ('', 'sh', 'bash', 'console', 'shell'):
                yield number, re.sub(r'^\s*\$ ', '', line), heading
        else:
            if line.startswith('#'):
                heading = line
            for span in re.findall(r'`([^`]+)`', line):
                yield number, span, heading


def help_of(tree, command, cache):
    """What COMMAND --help prints; where it lists commands, with what it prints about each."""
    if command not in cache:
        program = os.path.join(tree.root, 'build/release/bin', command.split()[0])
        try:
            result = subprocess.run([program, *command.split()[1:], '--help'], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=10)
            cache[command] = result.stdout.decode(errors='replace')
            listed = command != 'joedb' and re.search(r'^Commands:\n((?:  .*\n)+)', cache[command], re.M)
            for name in re.findall(r'^  (\w+)', listed[1] if listed else '', re.M):
                cache[command] += help_of(tree, f'{command} {name}', cache) or ''
        except (OSError, subprocess.TimeoutExpired):
            cache[command] = None  # not built
    return cache[command]


def has_commands(tree, command, cache):
    """joedb wal: the next word chooses one of several commands."""
    return f'{command} COMMAND' in (help_of(tree, command, cache) or 'joedb COMMAND')


def unknown_options(tree, command, words, cache):
    text = help_of(tree, command, cache)
    for word in words[:words.index('--')] if '--' in words else words:
        option = re.match(r'--[a-z][\w-]*', word)
        if option and text is not None and option[0] not in ('--help', '--version') and not re.search(
                re.escape(option[0]) + r'(?![\w-])', text):
            yield f'`{command} --help` does not know {option[0]}'


def check_documents(tree):
    tools, cache = tool_names(tree), {}
    header = 'include/joedb_c.h'
    functions = set(re.findall(r'\bjoedb_\w+', tree.text(header) if header in tree.exists else ''))
    # Functions, tables and collating sequences of SQL.
    functions |= {name for f in tree.select(r'src/sql/[^/]*\.cc$')
                  for name in re.findall(r'"(joedb_\w+)"', tree.text(f))}
    tasks = {'help', *re.findall(r'^task_(\w+)\(', tree.text('dev') if 'dev' in tree.exists else '', re.M)}
    build_words = {word for f in tree.select(r'(.*/)?(CMakeLists\.txt|[^/]*\.cmake)$')
                   for word in re.findall(r'\w+', tree.text(f))}
    for path in tree.select(r'(README|CONTRIBUTING|ARCHITECTURE)\.md$|docs/.*\.md$'):
        is_reference = path.startswith('docs/reference/')
        for number, code, heading in code_in(tree, path):
            for part in re.split(r'[|;&<>]+', code):
                words = part.split()
                if not words:
                    continue
                first = os.path.basename(words[0]) if words[0] != './dev' else words[0]
                if first == './dev' and len(words) > 1 and re.match(r'\w+$', words[1]) and words[1] not in tasks:
                    yield path, number, f'./dev has no task {words[1]}'
                if first in tools:
                    command, more = first, words[1:]
                    while more and re.match(r'[a-z][\w-]*$', more[0]) and has_commands(tree, command, cache):
                        command += ' ' + more.pop(0)
                    for message in unknown_options(tree, command, words, cache):
                        yield path, number, message
                elif re.match(r'joedb([ic]|_\w+)$', first) and first not in build_words | functions:
                    yield path, number, f'there is no tool {first}'
                elif is_reference and first.startswith('--'):
                    named = re.findall(r'^# (joedb [\w-]+)$', heading) or [
                        word for word in re.findall(r'\w+', heading) if word in tools]
                    for message in unknown_options(tree, named[0], words, cache) if named else ():
                        yield path, number, message
        for number, line in tree.lines(path):
            for link in re.findall(r'\]\(([^)#:\s]+)(?:#[^)]*)?\)', line):
                if not os.path.exists(os.path.join(tree.root, os.path.dirname(path), link)):
                    yield path, number, f'the link {link} leads nowhere'


# --- numbers that may only fall ---

PUBLIC_HEADERS = 45
LONG_FUNCTIONS = 10
LONGEST_FUNCTION = 60  # lines, without the line of its closing brace
SIZES = 'scripts/sizes.json'
SIZE_TOLERANCE = 0.02


def check_number(path, name, found, allowed, advice):
    """A number of things that we want fewer of, as a finding unless it is the allowed one."""
    if found > allowed:
        yield path, 1, f'{found} {name}, and {allowed} are allowed: {advice}'
    elif found < allowed:
        yield path, 1, f'only {found} {name}: write this number in scripts/check.py, so that it stays'


def check_public_headers(tree):
    yield from check_number(
        'include/joedb', 'public headers', len(tree.select(r'include/joedb/.*\.h$')), PUBLIC_HEADERS,
        'move the new one to src/ if no program includes it, or add its content to the header that needs it')


NOT_CODE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
NO_FUNCTION = re.compile(r'\s*((inline )?namespace|class|struct|union|enum)\b(?!.*>$)')


def functions_of(tree, path):
    """Yields (first line, number of lines) of each function of a formatted file, found by counting braces."""
    code = NOT_CODE.sub(lambda match: '' if match[0].startswith('//') else '""' + '\n' * match[0].count('\n'),
                        tree.text(path))
    depth, start, outside, statement = 0, None, 0, []
    for number, line in enumerate(code.splitlines(), 1):
        if start is None:
            statement = statement + [line] if line and not line.startswith('#') else []
            opens = line.endswith('{') and any('(' in part for part in statement)
            if opens and not any(NO_FUNCTION.match(part) for part in statement):
                start, outside = number - len(statement) + 1, depth
        depth += line.count('{') - line.count('}')
        if start is not None and depth <= outside:
            yield start, number - start
            start = None
        if start is None and line.endswith((';', '{', '}', ':')):
            statement = []


def check_long_functions(tree):
    long = [(size, path, line) for path in tree.select(r'(include|src)/.*\.(h|cc)$') if not path.endswith('_test.cc')
            for line, size in functions_of(tree, path) if size > LONGEST_FUNCTION]
    places = ', '.join(f'{path}:{line} ({size})' for size, path, line in sorted(long, reverse=True))
    yield from check_number('src', f'functions of more than {LONGEST_FUNCTION} lines', len(long), LONG_FUNCTIONS,
                            f'make a function of a part of the new one; they are {places}')


def sizes_of(tree):
    """{folder of src/: lines of its code, public headers included and tests left out}, and the entries of the log."""
    folders = {}
    for path in tree.select(r'(include|src)/.*\.(h|cc)$'):
        module = module_of(path)
        if module in BELOW and not path.endswith('_test.cc'):
            folders[module] = folders.get(module, 0) + tree.text(path).count('\n')
    entries = len(re.findall(r'^\* ', tree.text('CHANGELOG.md'), re.M)) if 'CHANGELOG.md' in tree.exists else 0
    return {'changelog_entries': entries, 'lines': folders}


def grown_folders(recorded, found):
    for folder, lines in found['lines'].items():
        before = recorded['lines'].get(folder, 0)
        if lines > before * (1 + SIZE_TOLERANCE):
            yield folder, before, lines


def check_sizes(tree):
    if SIZES not in tree.exists:
        return
    for folder, before, lines in grown_folders(json.loads(tree.text(SIZES)), sizes_of(tree)):
        yield f'src/{folder}', 1, (f'{lines} lines, and {SIZES} has {before}: find something to merge or to remove, or '
                                   'say in CHANGELOG.md what is new, and run scripts/check.py --write-sizes')


def write_sizes(tree):
    found = sizes_of(tree)
    if SIZES in tree.exists:
        recorded = json.loads(tree.text(SIZES))
        if found['changelog_entries'] <= recorded['changelog_entries']:
            grown = [f'src/{folder}' for folder, _, _ in grown_folders(recorded, found)]
            if grown:
                sys.exit(f'{", ".join(grown)}: add to CHANGELOG.md an entry that says what is new')
            # Keeps the recorded number of a folder that grew a little: it would grow a little each time.
            found['lines'] = {folder: min(lines, recorded['lines'][folder])
                              for folder, lines in found['lines'].items()}
    with open(os.path.join(tree.root, SIZES), 'w', encoding='utf-8') as f:
        json.dump(found, f, indent=1, sort_keys=True)
        f.write('\n')


# --- formatting and headers, remembered by content ---

def digest(tree, *parts_and_paths):
    state = hashlib.sha256()
    for part in parts_and_paths:
        state.update((tree.text(part) if part in tree.exists else part).encode() + b'\0')
    return state.hexdigest()


def included_files(tree, path, found=None):
    found = {path} if found is None else found
    for _, _, name in tree.includes(path):
        target = tree.resolve(path, name)
        if target and target not in found:
            found.add(target)
            included_files(tree, target, found)
    return found


FORMAT = ['clang-format-14', '--dry-run', '-Werror']
FORMAT_BATCH = 40  # files: a program starts slower than it formats one

COMPILE = 'g++ -std=c++20 -Wall -Wextra -Wconversion -Wshadow -Werror -Iinclude'.split()
# A header that includes one of these proves as much after it as alone, so it is compiled after the precompiled one.
PRECOMPILED = [f'include/joedb/{name}.h' for name in (
    'base/types', 'io/file', 'journal/readonly_journal', 'table/database', 'table/writable_database')]


class Job(typing.NamedTuple):
    """Files to be checked with one command; each file has a key, known if the result is known to be good."""
    keys: dict[str, str]
    command: list[str]
    message: str


def errors_of(tree, job):
    """{path: finding} of the first error in each file; all other files of the job are good."""
    result = subprocess.run(job.command, cwd=tree.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = {}
    if result.returncode != 0:
        output = result.stdout.decode(errors='replace')
        for path, line, text in re.findall(r'^([^\s:]+):(\d+):(?:\d+:)? (?:\w+ )*error: (.*)$', output, re.M):
            path = os.path.normpath(path)
            found.setdefault(path, (path, int(line), job.message.format(text)))
        if not found:
            path = next(iter(job.keys))
            found[path] = path, 1, job.message.format(output.strip() or 'failed')
    return found


def format_jobs(tree, known):
    keys = {path: digest(tree, 'format', '.clang-format', path) for path in tree.cpp_files()}
    new = [path for path in keys if keys[path] not in known]
    for i in range(0, len(new), FORMAT_BATCH):
        batch = new[i:i + FORMAT_BATCH]
        yield Job({path: keys[path] for path in batch}, [*FORMAT, *batch], 'run ./dev fmt')


def precompile(tree, header, directory):
    """Returns the options that start a compilation with a public header."""
    name = os.path.join(directory, header.replace('/', '_'))
    with open(name, 'w', encoding='utf-8') as f:
        f.write(f'#include "{header.removeprefix("include/")}"\n')
    # If it cannot be compiled, the files that include it show why.
    subprocess.run([*COMPILE, '-x', 'c++-header', name, '-o', f'{name}.gch'], cwd=tree.root,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ['-include', name]


def header_jobs(tree, known, directory, pool):
    """Jobs for the headers that are not known to compile alone. Precompiled headers are made in the directory."""
    closures = {path: included_files(tree, path)
                for path in tree.select(rf'(include|src|classic|{TEST_CODE})/.*\.h$')}
    keys = {path: digest(tree, 'header', *COMPILE, *sorted(closure)) for path, closure in closures.items()}
    users = {}
    for path in closures:
        if keys[path] not in known:
            first = [p for p in PRECOMPILED if p in closures[path] and p != path]
            users.setdefault(max(first, key=lambda p: len(closures[p]), default=None), []).append(path)
    worthwhile = [first for first in users if first and len(users[first]) >= 4]
    starts = dict(zip(worthwhile, pool.map(lambda first: precompile(tree, first, directory), worthwhile)))
    for first, paths in users.items():
        for path in paths:
            private = ['-Isrc', '-Itests'] if path.startswith(('src/', 'tests/')) else []
            yield Job({path: keys[path]}, [*COMPILE, *private, '-fsyntax-only', '-x', 'c++', *starts.get(first, []),
                                           '-include', path, '/dev/null'], 'a header must compile alone: {}')


def check_with_tools(tree):
    cache_path = os.path.join(tree.root, 'build/check_cache.json')
    try:
        with open(cache_path) as f:
            known = set(json.load(f))
    except (OSError, ValueError):
        known = set()
    os.makedirs(os.path.dirname(cache_path), exist_ok=True)
    good = set()
    with tempfile.TemporaryDirectory(dir=os.path.dirname(cache_path)) as directory, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [*format_jobs(tree, known), *header_jobs(tree, known, directory, pool)]
        for job, errors in zip(jobs, pool.map(lambda job: errors_of(tree, job), jobs)):
            yield from errors.values()
            if not errors.keys() - job.keys.keys():  # an error elsewhere says nothing about these
                good |= {key for path, key in job.keys.items() if path not in errors}
    with open(cache_path, 'w') as f:
        json.dump(sorted(known | good), f)


RULES = [check_layers, check_layer_tables, check_system_headers, check_classic, check_guards,
         check_instantiated_templates, check_missing_includes, check_dead_files, check_version, check_test_names,
         check_terms, check_english, check_names, check_text, check_documents,
         check_public_headers, check_long_functions, check_sizes, check_with_tools]


def main():
    tree = Tree(ROOT)
    commands = {'--write-layers': write_layers, '--write-sizes': write_sizes}
    if len(sys.argv) == 2 and sys.argv[1] in commands:
        commands[sys.argv[1]](tree)
        return 0
    findings = sorted({finding for rule in RULES for finding in rule(tree)})
    for path, line, message in findings:
        print(f'{path}:{line}: {message}')
    print(f'check: {len(tree.files)} files, {len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
