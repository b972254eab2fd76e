#!/usr/bin/env python3
"""The help of the tools, their pages in docs/reference/, and what they accept are the same.

usage: help.py SOURCE_DIR TOOLS_DIR

  * Each option that --help lists is in a table of the tool's page, and the reverse. (The modes of files
    are in files.md.)
  * The tool accepts each of them, and no mode of a file that --help does not list.
  * So for the commands of joedbi and joedb_client, what may follow them, and what `help COMMAND` says they
    do; and for the lines of a .joedbc file, in joedbc --help, on its page, and in src/tools/compiler/options.cc.
"""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import shell  # noqa: E402 (from the folder above)

EVERYWHERE = {'--help', '--version'}
MODES = {'--read', '--write', '--new', '--write-or-new', '--shared', '--lock'}
# The first word is a command with options of its own.
WITH_COMMANDS = {'joedb_nats', 'joedb_wal', 'joedb_import', 'joedb_export'}
# What they do without words, or with any, takes long.
NOT_TRIED = {'joedb_crash_lab', 'joedb wal bench'}


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def run(tools, command, text=''):
    with shell.temporary_folder() as folder:
        return subprocess.run(command, cwd=folder, input=text, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=False,
                              env=shell.environment_of(tools, folder)).stdout


def cells(page, column=0):
    """The code in a column of the tables of a page."""
    for line in page.splitlines():
        if line.startswith('|'):
            row = re.split(r'(?<!\\)\|', line)[1:]
            if len(row) > column:
                yield from (code.replace('\\|', '|') for code in re.findall(r'`([^`]+)`', row[column]))


# ---- options

class Tool:
    def __init__(self, tools, name, page):
        self.tools, self.name, self.page = tools, name, page
        self.help = run(tools, [*name.split(), '--help'])
        # "-h,--help": the long one counts
        self.options = set(re.findall(r'^  (?:-\w,)?(--\w[\w-]*)', self.help, re.M)) - EVERYWHERE

    def accepts(self, option):
        if self.name in NOT_TRIED:
            return True
        return 'unknown option' not in run(self.tools, [*self.name.split(), option])

    def complaints(self):
        if 'Options:' not in self.help:
            yield f'{self.name} --help lists no option'
        for option in sorted(self.options):
            if not self.accepts(option):
                yield f'{self.name} does not accept {option}, which its --help lists'
        for mode in sorted(MODES - self.options):
            if self.name not in NOT_TRIED and self.accepts(mode) and 'file FILE' not in self.help:
                yield f'{self.name} accepts {mode}, which its --help does not list'


def documented(page):
    return {option for cell in cells(page) for option in re.findall(r'--\w[\w-]*', cell)
            if cell.startswith('--')} - EVERYWHERE - MODES


def check_options(top, tools):
    for path in sorted(glob.glob(os.path.join(top, 'docs/reference/joedb*.md'))):
        name = os.path.basename(path).removesuffix('.md')
        page = read(path)
        # Some tools have no name of their own.
        names = [name if os.path.exists(os.path.join(tools, name)) else name.replace('_', ' ', 1)]
        if name in WITH_COMMANDS:
            command = name.replace('_', ' ', 1)
            listed = run(tools, [*command.split(), '--help'])
            names = [f'{command} {word}' for word in re.findall(r'^  (\w+) ', listed, re.M)]
        known = set()
        for tool in [Tool(tools, n, page) for n in names]:
            known |= tool.options - MODES
            yield from tool.complaints() if name not in WITH_COMMANDS or tool.options else ()
        yield from (f'{name}.md does not have {o}, which --help lists' for o in sorted(known - documented(page)))
        yield from (f'{name}.md has {o}, which --help does not list' for o in sorted(documented(page) - known))


def check_modes(top):
    modes = {cell for cell in cells(read(top, 'docs/reference/files.md')) if cell in MODES}
    yield from (f'files.md does not have {mode}' for mode in sorted(MODES - modes))


# ---- commands

def shape(text):
    """What may follow a command, whatever it is called: brackets, =, and repetition."""
    return re.sub(r'[^[\]=…]', '', text.replace('...', '…'))


def commands_of_help(text):
    """name -> what may follow it, in each of its forms"""
    result = {}
    for line in re.findall(r'^ (\S.*)$', text, re.M):
        line = re.sub(r' \([^)]*\)$', '', line)
        words, _, rest = line.partition(' ')
        if re.fullmatch(r'[\w?|[\]]+', words):
            for name in {'[soft_]checkpoint': 'soft_checkpoint|checkpoint'}.get(words, words).split('|'):
                result.setdefault(name, set()).add(shape(rest))
    return result


def plain(text):
    """A text without marks, in one line."""
    return ' '.join(re.sub(r'\[([^]]*)\]\(\S*?\)', r'\1', text.replace('\\|', '|')).replace('`', '').split())


class Page:
    """The commands that a page lists: name -> what may follow; what is written about it."""

    def __init__(self, text):
        section = text[text.index('\n## Commands'):]
        section = section[:section.find('\n## ', 5) if '\n## ' in section[5:] else None]
        self.forms, self.texts = {}, {}
        for line in section.splitlines():
            row = re.split(r'(?<!\\)\|', line)
            for cell in re.findall(r'`([^`]+)`', row[1]) if len(row) > 3 else ():
                if cell.startswith('--'):
                    continue
                self.forms.setdefault(cell.split()[0], set()).add(shape(cell.partition(' ')[2]))
                self.texts[cell.split()[0]] = plain(row[2])


def check_texts(page, name, texts):
    """What `help COMMAND` says is on the page, word by word."""
    for command, text in texts.items():
        if 'examples:' not in text:
            yield f'{name}: help {command} shows no examples'
        if plain(page.texts.get(command, '?')) not in plain(text):
            yield f'{name}.md says something else about {command} than its help:\n{page.texts.get(command)}\n{text}'


def help_texts(tools, command, names):
    """name -> what `help NAME` says"""
    shown = run(tools, command, ''.join(f'help {name}\n' for name in names))
    return dict(zip(names, re.split(r'^OK: help \S+\n', shown, flags=re.M)))


def check_commands(top, tools):
    joedbi = Page(read(top, 'docs/reference/joedbi.md'))
    client = Page(read(top, 'docs/reference/joedb_client.md'))
    both = Page(read(top, 'docs/reference/joedbi.md'))
    both.forms.update(client.forms)
    both.texts.update(client.texts)
    index = 'create_table t\nadd_field t a string\n', 'namespace x\ncreate_index i t a\n'
    command = 'printf "%s" "$0" | joedbi --new a > out; printf "%s" "$1" > x.joedbc; ' \
              'cat - | joedbi --options x.joedbc a'
    with_index = ['bash', '-c', command, *index]
    shown = commands_of_help(run(tools, with_index, 'help\n'))
    shown_by_client = commands_of_help(run(tools, ['joedb_client', '--new', 'a'], 'help\n'))
    for tool, page, help_lines, line in (('joedbi', joedbi, shown, with_index),
                                         ('joedb_client', both, shown_by_client, ['joedb_client', '--new', 'a'])):
        if len(help_lines) < 10:
            yield f'{tool}: no commands are listed by help'
        for name, forms in help_lines.items():
            if name not in page.forms:
                yield f'{tool}.md does not have the command {name}'
            elif not forms <= page.forms[name]:
                yield f'{tool}.md: {name} is followed by something else than help says: {page.forms[name]}, {forms}'
        yield from check_texts(page, tool, help_texts(tools, line, list(help_lines)))
    yield from (f'joedbi.md has the command {name}, which help does not list'
                for name in sorted(joedbi.forms.keys() - shown))
    yield from (f'joedb_client.md has the command {name}, which help does not list'
                for name in sorted(client.forms.keys() - shown_by_client))


# ---- lines of a .joedbc file

def check_compiler(top, tools):
    parsed = set(re.findall(r'command == "(\w+)"', read(top, 'src/tools/compiler/options.cc')))
    text = run(tools, ['joedbc', '--help'])
    shown = set(re.findall(r'^  (\w+)(?: \S+)* {2,}\S', text, re.M)) - {'joedbc'}
    page = read(top, 'docs/reference/joedbc.md')
    section = page[page.index('\n## Options'):]
    written = {cell.split()[0] for cell in cells(section[:section.index('\n## ', 5)]) if re.match(r'\w+( |$)', cell)}
    if len(parsed) < 4:
        yield 'src/tools/compiler/options.cc: its commands are not found'
    for where, found in (('joedbc --help', shown), ('joedbc.md', written)):
        yield from (f'{where} does not have the line {word}' for word in sorted(parsed - found))
        yield from (f'{where} has the line {word}, which is not read' for word in sorted(found - parsed))


def main(top, tools):
    found = [*check_options(top, tools), *check_modes(top), *check_commands(top, tools), *check_compiler(top, tools)]
    print(*found, sep='\n')
    print(f'help: {len(found)} complaints')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(*map(os.path.abspath, sys.argv[1:])))
