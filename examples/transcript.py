#!/usr/bin/env python3
"""Repeats the terminal session in a file and compares the output; tests/transcripts/run.py has the form.

usage: transcript.py TOOLS_DIR FILE          (with JOEDB_UPDATE_GOLDEN=1: rewrites it instead)
"""
import difflib
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'transcripts'))
import run  # noqa: E402 (from the folder above)


def main():
    tools, path = os.path.abspath(sys.argv[1]), sys.argv[2]
    with open(path, encoding='utf-8') as f:
        expected = f.read()
    actual = run.repeat(tools, expected)
    if actual == expected:
        return 0
    if os.environ.get('JOEDB_UPDATE_GOLDEN') == '1':
        with open(path, 'w', encoding='utf-8') as f:
            f.write(actual)
        return 0
    sys.stdout.writelines(difflib.unified_diff(
        expected.splitlines(True), actual.splitlines(True), path, 'actual'))
    return 1


if __name__ == '__main__':
    sys.exit(main())
