"""What a file written by crash_writer must hold, as joedb_logdump shows it.

Row N of a writer is always the same, so that the numbers of rows tell all bytes of a journal.
"""
import os
import re
import subprocess
import tempfile

SKIPPED = 77  # the exit code of a test that is not possible here

SCHEMA = ('create_table row\nadd_field row writer int64\n'
          'add_field row number int64\nadd_field row text string\n')
ROW = re.compile(r'insert_into row (\d+)\nupdate row \1 writer (\d+)\n'
                 r'update row \1 number (\d+)\nupdate row \1 text "([a-z]*)((?:\\000)*)"\n')
INTEGRITY = re.compile(r'^# Blob: \d+,24\n', re.M)
END = re.compile(r'^(?:timestamp .*|valid_data)\n', re.MULTILINE)  # of a transaction


class Failure(Exception):
    """A promise was broken."""


def require(condition, *message):
    if not condition:
        raise Failure(' '.join(str(part) for part in message))


def text_of(number):
    """As in writer.cc."""
    return chr(ord('a') + number % 26) * (9000 if number % 40 == 0 else 1 + number * 37 % 300)


def insertion(writer, number):
    """The command that writes a row."""
    return f'insert_into row -1 {writer} {number} "{text_of(number)}"\n'


def row_lines(record, writer, number):
    """The lines of joedb_logdump for a row."""
    return (f'insert_into row {record}\nupdate row {record} writer {writer}\n'
            f'update row {record} number {number}\nupdate row {record} text "{text_of(number)}"\n')


def run(command, text=''):
    """Runs a command to its end. Returns the exit code, stdout and stderr."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, \
            tempfile.TemporaryFile() as errors:
        given.write(text.encode())
        given.seek(0)
        # Through files, which need no loop, and so are faster than pipes.
        code = subprocess.Popen(command, stdin=given, stdout=output, stderr=errors).wait()
        output.seek(0)
        errors.seek(0)
        return code, output.read().decode(errors='replace'), errors.read().decode(errors='replace')


def entries(output):
    """What joedb_logdump prints, without the empty line at its end, integrity entries and ends of transactions."""
    output = output[:-1] if output.endswith('\n\n') or output == '\n' else output
    return END.sub('', INTEGRITY.sub('', output) if '#' in output else output)


class Log:
    """All that is known to be in a file for ever."""

    def __init__(self, tools, path):
        self.path = path
        self.logdump = os.path.join(tools, 'joedb_logdump')
        self.text = ''
        self.records = 0
        self.counts = {}  # rows of each writer
        # A tail was adopted. A process that was killed while it copied an entry to a preallocated or mapped file
        # leaves zeros for the rest of it, which nothing can tell from a text that ends with zeros.
        self.may_have_zeros = False

    def count(self, writer):
        return self.counts.get(writer, 0)

    def update(self):
        """Reads the file. It must still begin with what was there, and go on with whole rows."""
        if not self.text and (not os.path.exists(self.path) or os.path.getsize(self.path) == 0):
            return  # a writer was killed before it wrote the header
        code, output, error = run([self.logdump, self.path])
        require(code == 0 and not error, 'joedb_logdump:', error)
        output = entries(output)
        require(output.startswith(self.text), 'what was there is gone:', tail(self.text), 'is now',
                tail(output))
        self.add(output)

    def add(self, output):
        position = len(self.text)
        if position == 0 and output:
            require(output.startswith(SCHEMA), 'not the schema:', output[:200])
            position = len(SCHEMA)
        while position < len(output):
            match = ROW.match(output, position)
            require(match, 'not a whole row:', repr(output[position:position + 200]))
            record, writer, number = (int(match[i]) for i in (1, 2, 3))
            is_text = match[4] == text_of(number) if not match[5] else (
                self.may_have_zeros and text_of(number).startswith(match[4])
                and len(match[4]) + len(match[5]) // 4 == len(text_of(number)))
            require(record == self.records and number == self.count(writer) + 1 and is_text,
                    f'record {record} cannot be row {number} of writer {writer}, after '
                    f'{self.records} records, {self.counts}')
            self.records += 1
            self.counts[writer] = number
            position = match.end()
        self.text = output


def tail(text):
    return repr(text[-200:])
