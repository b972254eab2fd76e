#!/usr/bin/env python3
"""Repeats the terminal sessions in tests/transcripts/*.txt and compares their output.

usage: run.py TOOLS_DIR [NAME...]          (with JOEDB_UPDATE_GOLDEN=1: rewrites them instead)

A transcript is a terminal session in a fresh folder. Lines before the first command are a remark.

    $ joedbi db.joedb <<END
    > create_table city
    > END
    OK: create_table city
    $ joedbi missing/db.joedb
    Exception caught: ...
    [exit 1]

A line "> ..." directly after a command continues it. A server is started by a line

    $ joedb_server db.joedb & server=$!

and can be connected to in the next one (shell.Session says more). The output is stdout and stderr together, with
times as <time>, time stamps of this day as "timestamp <now> <time>", the folder as <folder> and ESC as
\\e; [no end of line] follows when there is none.
"""
import concurrent.futures
import difflib
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shell  # noqa: E402 (from the folder above)


def remark_and_commands(text):
    """Returns the lines before the first command, and the commands, each a list of lines."""
    remark, commands, may_continue = [], [], False
    for line in text.splitlines():
        if line.startswith('$ '):
            commands.append([line[2:]])
            may_continue = True
        elif may_continue and re.match(r'>( |$)', line):
            commands[-1].append(line[2:])
        elif commands:
            may_continue = False
        else:
            remark.append(line)
    return remark, commands


def without_clock(match):
    """A time stamp, unless it is of another day."""
    return b'timestamp <now>' if abs(int(match[1]) - time.time()) < 24 * 60 * 60 else match[0]


def shown(output, code, folder):
    output = re.sub(rb'\btimestamp (\d+)', without_clock, output)
    output = re.sub(rb'\bprocess \d+ \(', b'process <pid> (', output)
    output = shell.TIME.sub(b'<time>', output).replace(folder.encode(), b'<folder>')
    text = output.decode('utf-8', 'replace').replace('\x1b', '\\e').replace('\0', '\\0')
    if text and not text.endswith('\n'):
        text += '\n[no end of line]\n'
    return text + (f'[exit {code}]\n' if code else '')


def repeat(tools, text):
    """The transcript as it happens today."""
    remark, commands = remark_and_commands(text)
    result = ''.join(line + '\n' for line in remark)
    with shell.temporary_folder() as folder, shell.Session(tools, folder) as session:
        for first, *more in commands:
            code, output = session.run('\n'.join([first, *more]))
            result += f'$ {first}\n' + ''.join(f'> {line}'.rstrip() + '\n' for line in more)
            result += shown(output, code, folder)
    return result


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tools, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    update = os.environ.get('JOEDB_UPDATE_GOLDEN') == '1'
    paths = sorted(os.path.join(HERE, file) for file in os.listdir(HERE)
                   if file.endswith('.txt') and (not names or file.removesuffix('.txt') in names))
    texts = []
    for path in paths:
        with open(path, encoding='utf-8', newline='') as f:
            texts.append(f.read())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda text: repeat(tools, text), texts))

    failed = 0
    for path, text, result in zip(paths, texts, results):
        if text != result and update:
            with open(path, 'w', encoding='utf-8', newline='') as f:
                f.write(result)
        elif text != result:
            failed += 1
            sys.stdout.writelines(difflib.unified_diff(
                text.splitlines(True), result.splitlines(True), path, 'actual'))
    print(f'{len(paths)} transcripts, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
