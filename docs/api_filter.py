#!/usr/bin/env python3
"""Shows a header to Doxygen as if its comments were written for it; see docs/Doxyfile.

usage: api_filter.py HEADER

In our headers a plain `//` comment stands above what it is about, or behind it in the same line.
Here it becomes `///` or `///<`, where declarations are: not inside of functions. A comment before
the first namespace is about the whole file. The namespace v1 is left out, as programs leave it out;
so are specialisations of templates of std, which Doxygen cannot place.
No line is added or removed, so that line numbers stay right.
"""
import re
import sys

COMMENT = re.compile(r'(\s*)//(?!/)( ?)(.*)')
HEADING = re.compile(r'\s*// ----')
TRAILING = re.compile(r'(.*[;,{}\w)]\s*)(?<!:)//(?!/) (.*)')
TOKEN = re.compile(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|[{};]')
STD_SPECIALISATION = re.compile(r'template <>$|struct std::')
SCOPE = re.compile(r'\b(namespace|class|struct|enum|union)\b(?!.*\))')


def escaped(text):
    """Text as Doxygen understands it; code in backticks stays as it is."""
    parts = re.split(r'(`[^`]*`)', text)
    return ''.join(part if part.startswith('`') else re.sub(r'([\\@<>#%&])', r'\\\1', part)
                   for part in parts)


def shown(text):
    """A line of a comment; one that is indented is code."""
    return text if text.startswith('    ') else escaped(text)


class Scopes:
    """Follows braces, to tell declarations from the bodies of functions."""

    def __init__(self):
        self.open = []  # for each brace: what it is the beginning of
        self.before = ''  # the text since the last brace or semicolon

    def read(self, line):
        position = 0
        for token in TOKEN.finditer(line):
            self.before += line[position:token.start()]
            position = token.end()
            if token[0] == '{':
                found = SCOPE.search(re.sub(r'template\s*<[^{}]*?>\s', ' ', self.before))
                self.open.append(found[1] if found and '=' not in self.before else 'body')
            elif token[0] == '}' and self.open:
                self.open.pop()
            if token[0] in '{};':
                self.before = ''
        self.before += line[position:] + ' '

    def is_inside_something(self):
        return bool(self.open)

    def has_declarations(self):
        return 'body' not in self.open

    def is_open(self):
        """Whether the place is in a namespace, class or enum, and not in a function."""
        return self.is_inside_something() and self.has_declarations()


def kind_of_comment(scopes, lines, i):
    """What the comment that begins at line i is about."""
    if not scopes.is_inside_something():
        return 'file'
    while i < len(lines) and COMMENT.match(lines[i]):
        i += 1
    is_followed = i < len(lines) and lines[i].strip() != ''
    return 'declaration' if is_followed and scopes.has_declarations() else 'nothing'


def filtered(name, lines):
    scopes = Scopes()
    kind = None  # of the comment that goes on
    for i, line in enumerate(lines):
        comment = COMMENT.match(line)
        if line.startswith('#'):
            yield line
        elif not scopes.is_inside_something() and STD_SPECIALISATION.match(line):
            yield ''
        elif not comment or HEADING.match(line):
            kind = None
            trailing = TRAILING.match(line) if not comment and scopes.is_open() else None
            scopes.read(line)
            if trailing and scopes.is_open():
                line = f'{trailing[1]}///< {escaped(trailing[2])}'
            yield line.replace('namespace joedb::inline v1', 'namespace joedb')
        else:
            is_first = kind is None
            kind = kind or kind_of_comment(scopes, lines, i)
            start = f'@file {name} ' if is_first and kind == 'file' else ''
            yield (line if kind == 'nothing' else
                   f'{comment[1]}///{comment[2]}{start}{shown(comment[3])}')


def main(path):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    name = path[path.rfind('joedb/'):]
    print('\n'.join(filtered(name, text.splitlines())))


if __name__ == '__main__':
    main(sys.argv[1])
