#!/usr/bin/env python3
"""Code in the documents is code that is compiled and run.

usage: run.py SOURCE_DIR

Every C++ block of README.md and docs/*.md, every schema and build file in them must stand in one of
the files under examples/ or tests/consumers/, line by line and in this order (indentation aside; lines
between may be left out at blank lines of the block).
"""
import glob
import os
import re
import sys


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


def blocks(text):
    """(first line, text) of each block of C++, CMake, make or joedbi commands."""
    for match in re.finditer(r'^```(cpp|joedbi|cmake|make)\n(.*?)^```', text, re.M | re.S):
        yield text.count('\n', 0, match.start()) + 2, match.group(2)


def main(top):
    sources = []
    for folder in 'examples', 'tests/consumers':
        for path in glob.glob(os.path.join(top, folder, '**', '*'), recursive=True):
            if path.endswith(('.cc', '.h', '.joedbi', '.joedbc', 'CMakeLists.txt', 'Makefile')):
                with open(path, encoding='utf-8') as file:
                    sources.append(lines_of(file.read()))
    bad = count = 0
    for path in [os.path.join(top, 'README.md')] + sorted(
            glob.glob(os.path.join(top, 'docs', '**', '*.md'), recursive=True)):
        with open(path, encoding='utf-8') as file:
            text = file.read()
        for line, block in blocks(text):
            count += 1
            if not is_shown(block, sources):
                bad += 1
                print(f'{os.path.relpath(path, top)}:{line}: this code is not in any example')
    print(f'{count} blocks of code, {bad} not in examples')
    return 1 if bad or not count else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
