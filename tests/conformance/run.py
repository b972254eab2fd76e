#!/usr/bin/env python3
"""Compares the tools with the recorded results of joedb 10.4.2.

usage: run.py TOOLS_DIR [--improve] [NAME...]

README.md describes the cases. Where we deliberately differ, the case holds an improved result behind
the expected one; --improve writes these from the actual output, for review.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import recorded_case  # noqa: E402 (from the folder above)
import shell  # noqa: E402

COMPATIBILITY_PAGE = os.path.join(HERE, '../../docs/compatibility.md')

PROBES = {
    'header': 'joedb_logdump --header db.joedb',
    'logdump': 'joedb_logdump db.joedb',
    'raw': 'joedb_logdump --raw db.joedb',
    'schema': 'joedb_logdump --schema_only db.joedb',
    'sql': 'joedb_logdump --sql db.joedb',
    'json': 'joedb_to_json db.joedb',
    'base64.json': 'joedb_to_json --base64 db.joedb',
}

# Texts that name a source line or a library function of the original: any such text will do.
INTERNAL = re.compile(rb'Exception caught: (joedb/\S+:\d+:.*|vector::.*|std::.*|basic_string.*)')


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def write(path, data):
    with open(path, 'wb') as f:
        f.write(data)


def classic(command):
    """Every tool is told to be like that of joedb 10."""
    return re.sub(r'(^|[|;] *)(joedbi|joedb_\w+) ', r'\1\2 --classic ', command)


def same(a, b):
    blurred = b'Exception caught: <internal>'
    return INTERNAL.sub(blurred, a) == INTERNAL.sub(blurred, b)


class Case:
    """Recorded results: expected(), and improved() where we differ. run() returns the actual ones, by name."""

    def __init__(self, path, tools):
        self.file, self.tools = recorded_case.Case_File(path), tools
        self.data, = self.file.cases
        self.name = self.data.name

    def results(self, prefix):
        return collections.defaultdict(bytes, {
            name: self.data.read(prefix + name) for name in self.data.parts(prefix)})

    def expected(self):
        return self.results('expected.')

    def improved(self):
        return self.results('improved.')

    def shell(self, command, folder):
        code, out, err = shell.run(self.tools, classic(command), folder)
        return code, out, re.sub(rb'(?m)^' + shell.TIME.pattern + b' ', b'<time> ', err)

    def compare(self):
        """Returns (names of results that are wrong, complaints about improved files)."""
        expected, improved, actual = self.expected(), self.improved(), self.run()
        wrong = [name for name in sorted({*expected, *improved, *actual})
                 if not (same(improved[name], actual[name]) if name in improved
                         else self.as_expected(expected[name], actual[name]))]
        needless = [f'the improved {name} equals the expected one: remove it'
                    for name in improved if self.as_expected(expected[name], improved[name])]
        return wrong, needless

    def improve(self):
        expected, actual = self.expected(), self.run()
        for name in sorted({*expected, *actual, *self.improved()}):
            part = f'improved.{name}'
            if self.as_expected(expected[name], actual[name]):
                if part in self.data:
                    self.data.remove(part)
            elif part not in self.data or self.data.read(part) != actual[name]:
                self.data.write(part, actual[name], f'expected.{name}')
        self.file.save()

    @staticmethod
    def as_expected(expected, actual):
        return same(expected, actual)


class Session_Case(Case):
    """Commands run one after the other in one folder; a result is an output or a file."""

    def run(self):
        results = collections.defaultdict(bytes)
        with tempfile.TemporaryDirectory() as folder:
            for file in self.data.parts(''):
                if file != 'command' and not file.startswith(('expected.', 'improved.')):
                    write(os.path.join(folder, file), self.data.read(file))
            for command in self.data.text('command').splitlines():
                code, out, err = self.shell(command, folder)
                results['stdout'] += out
                results['stderr'] += err
                results['rc'] += b'%d\n' % code
            if os.path.exists(os.path.join(folder, 'db.joedb')):
                results['joedb'] = read(os.path.join(folder, 'db.joedb'))
                self.probe(folder, results)
        return results

    def probe(self, folder, results):
        for name, command in PROBES.items():
            code, results[name], err = self.shell(command, folder)
            if code or err:
                results[f'{name}.error'] = b'rc=%d\n' % code + err
        code, out, err = self.shell('rm -f p.joedb; joedb_pack db.joedb p.joedb', folder)
        if code or err:
            results['packed.joedb.error'] = b'rc=%d\n' % code + out + err
        else:
            results['packed.joedb'] = read(os.path.join(folder, 'p.joedb'))


class Crash_Case(Case):
    """Steps, each on a fresh copy of a damaged file; a result is the output of a step."""

    def run(self):
        return collections.defaultdict(bytes, {
            name: self.run_step(expected) for name, expected in self.expected().items()})

    def run_step(self, expected):
        command = expected.decode().split('\n')[0].removeprefix('$ ')
        with tempfile.TemporaryDirectory() as folder:
            write(os.path.join(folder, 'db.joedb'), self.data.read('input.joedb'))
            code, out, err = self.shell(command, folder)
            text = f'$ {command}\nrc={code}\n'
            text += 'stdout\n' + visible(out) if out else ''
            text += 'stderr\n' + visible(err) if err else ''
            if b'\nafter: ' in expected:
                text += self.aftermath('fixed.joedb' if 'fixed.joedb' in command else 'db.joedb', folder)
        return text.rstrip('\n').encode() + b'\n'

    def aftermath(self, file, folder):
        """What a step that writes has left."""
        path = os.path.join(folder, file)
        if not os.path.exists(path):
            return f'after: no {file}\n'
        data = read(path)
        if file == 'db.joedb' and data == self.data.read('input.joedb'):
            return 'after: db.joedb unchanged\n'
        text = f'after: {file} size={len(data)}'
        if len(data) >= 41:
            text += ' checkpoints=' + ' '.join(map(str, struct.unpack('<4q', data[:32])))
        code, out, err = self.shell(f'joedb_logdump {file}', folder)
        text += f'\nafter logdump rc={code}\n' + visible(out)
        return text + ('after logdump stderr\n' + visible(err) if err else '')

    @staticmethod
    def as_expected(expected, actual):
        """Where the original shows uninitialised memory, any line will do."""
        lines = actual.split(b'\n')
        for i, line in enumerate(expected.split(b'\n')):
            if b'<undefined>' in line and i < len(lines):
                lines[i] = line
        return same(expected, b'\n'.join(lines))


def visible(data):
    lines = data.replace(b'\x1b', b'\\e').replace(b'\0', b'\\0').decode('utf-8', 'replace').splitlines()
    return ''.join(f'  | {line}\n' for line in lines)


def find_cases(tools, names):
    cases = [kind(path, tools) for kind, folder in ((Session_Case, 'sessions'), (Crash_Case, 'crash'))
             for path in sorted(glob.glob(os.path.join(HERE, folder, '*.txt')))]
    unknown = set(names) - {case.name for case in cases}
    if unknown:
        sys.exit(f'no such case: {" ".join(sorted(unknown))}')
    return [case for case in cases if not names or case.name in names]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('tools', type=os.path.abspath)
    parser.add_argument('names', nargs='*')
    parser.add_argument('--improve', action='store_true')
    arguments = parser.parse_intermixed_args()
    cases = find_cases(arguments.tools, arguments.names)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        if arguments.improve:
            list(pool.map(Case.improve, cases))
        results = list(pool.map(lambda case: case.compare(), cases))

    page = read(COMPATIBILITY_PAGE).decode()
    failed = 0
    for case, (wrong, complaints) in zip(cases, results):
        if case.improved() and not re.search(rf'`{re.escape(case.name)}`', page):
            complaints.append(f'docs/compatibility.md does not name `{case.name}`')
        failed += bool(wrong or complaints)
        if wrong:
            print(f'FAIL {case.name}: {" ".join(wrong)}')
        for complaint in complaints:
            print(f'FAIL {case.name}: {complaint}')
    improved = sum(bool(case.improved()) for case in cases)
    print(f'{len(cases)} cases, {improved} of them improved, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
