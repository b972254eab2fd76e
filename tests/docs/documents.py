#!/usr/bin/env python3
"""Code in the documents is code that is compiled and run.

usage: documents.py SOURCE_DIR [TOOLS_DIR]

Every block of C, C++, Python, schemas and build files in README.md and docs/ must stand in one of the files under
examples/, tests/consumers/, tests/docs/ or tests/compiled/, line by line and in this order (indentation
aside; lines between may be left out at blank lines of the block).

The index of docs/how_do_i.md lists its questions. With JOEDB_UPDATE_GOLDEN=1, that index and the sessions of that page
are written anew.

With TOOLS_DIR, the terminal sessions in docs/ (blocks of the language `console`) are repeated, those of
a page in one folder, in which the first is that of docs/reference/README.md. (docs/tutorial.md has a
test of its own.)
"""
import difflib
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'transcripts'))
import run as transcripts  # noqa: E402 (from the folder above)

FOLDERS = 'examples', 'tests/consumers', 'tests/docs', 'tests/compiled'
CODE = 'c|cpp|joedbi|cmake|make|python'
QUESTIONS = 'docs/how_do_i.md'
PROMPT = r'\w+_client\([^>\n]*> '


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def blocks(text, language):
    """(first line, text) of each block of a language."""
    for match in re.finditer(rf'^```(?:{language})\n(.*?)^```', text, re.M | re.S):
        yield text.count('\n', 0, match.start()) + 2, match.group(1)


# ---- code

def lines_of(text):
    return [line.strip() for line in text.splitlines()]


def chunks(block):
    """Runs of lines without a blank one."""
    return [c.splitlines() for c in re.split(r'\n\s*\n', block.strip())]


def contains(source, wanted):
    n = len(wanted)
    return any(source[i:i + n] == wanted for i in range(len(source) - n + 1))


def is_shown(block, sources):
    """Whether one source has all chunks of the block."""
    parts = [[line.strip() for line in chunk] for chunk in chunks(block)]
    return any(all(contains(source, part) for part in parts) for source in sources)


def sources_below(top):
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(top, folder, '**', '*'), recursive=True):
            if path.endswith(('.c', '.cc', '.h', '.py', '.joedbi', '.joedbc', 'CMakeLists.txt', 'Makefile')):
                yield lines_of(read(path))


# ---- terminal sessions

def normal(text):
    """A session without what is different each time."""
    text = re.sub(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: GMT|Z| [+-]\d{4})|<time>', '<time>', text)
    text = re.sub(r'timestamp (\d+|<now>) <time>', 'timestamp <seconds> <time>', text)
    return [line.rstrip() for line in text.splitlines()]


def with_typed_lines(output, typed):
    """What a terminal shows: behind each prompt, the line that was typed there."""
    typed = iter(typed)
    return re.sub(rf'\\e\[36m({PROMPT})\\e\[0m', lambda m: f'{m[1]}{next(typed, "")}\n', output)


def repeat(shell, text):
    """A terminal session as it happens today, in a transcripts.shell.Session."""
    result = ''
    for part in re.split(r'^(?=\$ )', text, flags=re.M):
        if not part:
            continue
        _, ((first, *more),) = transcripts.remark_and_commands(part)
        typed = re.findall(rf'^{PROMPT}(.*)$', part, re.M)
        command = '\n'.join([first, *more])
        if typed:
            # Only a terminal has prompts, or a tool that behaves like that of joedb 10.
            command = re.sub(r'^(joedb\w+)', r'\1 --classic --log none', command)
            command += "<<'END'\n" + '\n'.join(typed) + '\nEND'
        code, output = shell.run(command)
        shown = transcripts.shown(output, code, shell.folder)
        result += f'$ {first}\n' + ''.join(f'> {line}\n' for line in more)
        result += with_typed_lines(shown, typed).replace('\n[no end of line]\n', '') if typed else shown
    return result


def differences(shell, text, name):
    return '\n'.join(difflib.unified_diff(normal(text), normal(repeat(shell, text)), name, 'actual',
                                          lineterm=''))


# ---- both

def documents(top):
    """(name, text) of each page."""
    for path in [os.path.join(top, 'README.md')] + sorted(
            glob.glob(os.path.join(top, 'docs', '**', '*.md'), recursive=True)):
        yield os.path.relpath(path, top), read(path)


def check_code(top):
    sources = list(sources_below(top))
    for name, text in documents(top):
        for line, block in blocks(text, CODE):
            yield None if is_shown(block, sources) else f'{name}:{line}: this code is not in any example'


def check_sessions(top, tools):
    first = [block for _, block in blocks(read(os.path.join(top, 'docs/reference/README.md')), 'console')]
    for name, text in documents(top):
        sessions = list(blocks(text, 'console'))
        if not sessions or name == 'docs/tutorial.md':
            continue
        with transcripts.shell.temporary_folder() as folder, transcripts.shell.Session(tools, folder) as shell:
            if name != 'docs/reference/README.md':
                for block in first:
                    repeat(shell, block)
            for line, block in sessions:
                yield differences(shell, block, f'{name}:{line}') or None


def anchor(heading):
    return re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-')


def with_index(text):
    """docs/how_do_i.md, with a line for each of its sections, and a link to each question."""
    lines = []
    for section in re.split(r'^## ', text, flags=re.M)[1:]:
        questions = re.findall(r'^### (.*)$', section, re.M)
        links = '\n'.join(f'  [{question}](#{anchor(question)}),' for question in questions)
        lines.append(f'* **{section.splitlines()[0]}:**\n{links[:-1]}')
    return re.sub(r'(?<=<!-- index -->\n).*?(?=^## )', lambda _: '\n' + '\n'.join(lines) + '\n\n', text,
                  count=1, flags=re.M | re.S)


def check_index(top, tools):
    path = os.path.join(top, QUESTIONS)
    text = read(path)
    new = with_index(text)
    if os.environ.get('JOEDB_UPDATE_GOLDEN') == '1' and tools:
        first = [block for _, block in blocks(read(os.path.join(top, 'docs/reference/README.md')), 'console')]
        with transcripts.shell.temporary_folder() as folder, transcripts.shell.Session(tools, folder) as shell:
            for block in first:
                repeat(shell, block)
            new = re.sub(r'(?<=^```console\n).*?(?=^```)', lambda match: repeat(shell, match[0]), new,
                         flags=re.M | re.S)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(new)
    elif new != text:
        yield f'{QUESTIONS}: the index is not that of its questions: JOEDB_UPDATE_GOLDEN=1 writes it'


def main(top, tools=None):
    results = list(check_index(top, tools and os.path.abspath(tools)))
    results += check_code(top)
    if tools:
        results += check_sessions(top, os.path.abspath(tools))
    found = [result for result in results if result]
    print('\n'.join(found))
    print(f'{len(results)} blocks, {len(found)} are not as they say')
    return 1 if found or not results else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
