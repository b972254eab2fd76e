"""Reads and writes files of recorded cases: tests/conformance and tests/network.

    # Lines before the first case are comments.
    ==== NAME: what the case is about
    ---- PART: a text of one line
    ---- PART
    a text of several lines, up to the next line that begins with ---- or ====
    ---- PART, without newline at the end
    the same, but its last line does not end
    ---- PART = OTHER

The last form is for a part that equals another: of the same case, or CASE.PART of the file of shared
cases. A part is binary if its name ends with joedb or bytes, and a text otherwise.

Texts are exact, with these replacements: a control character other than newline is its picture (ESC is
␛, tab is ␉); ⟨ff⟩ is a byte in hexadecimal, for all that cannot stand for itself; ⟨300×ab⟩ is a
repetition. Binary parts have the notation of decode_bytes().
"""
import hashlib
import re

CASE = re.compile(r'==== ([\w/]+): (.*)')
PART = re.compile(r'---- ([^:=,]+?)(?:: (.+)| = (\S.*)|(, without newline at the end))?')
BINARY = re.compile(r'(?:.*\.)?(?:joedb|bytes)')

# ---- texts

SPECIAL = re.compile('[\0-\x09\x0b-\x1f\x7f\u2400-\u2421⟨⟩\udc80-\udcff]|^(?:====|----) ', re.M)
REPETITION = re.compile(r'([ -~]{1,4}?)\1{199,}')
ESCAPE = re.compile('⟨([0-9a-f]{2})⟩|⟨(\\d+)×([^⟩]+)⟩|([\u2400-\u2421])|⟨')


def encode_text(data):
    def replacement(match):
        text = match[0]
        if len(text) > 1:
            return f'⟨{ord(text[0]):02x}⟩{text[1:]}'
        if text < ' ' or text == '\x7f':
            return '␡' if text == '\x7f' else chr(0x2400 + ord(text))
        return ''.join(f'⟨{byte:02x}⟩' for byte in text.encode('utf-8', 'surrogateescape'))
    text = SPECIAL.sub(replacement, data.decode('utf-8', 'surrogateescape'))
    return REPETITION.sub(lambda match: f'⟨{len(match[0]) // len(match[1])}×{match[1]}⟩', text)


def decode_text(text):
    def original(match):
        byte, count, unit, picture = match.groups()
        if byte:
            return chr(int(byte, 16)) if byte < '80' else chr(0xdc00 + int(byte, 16))
        if count:
            return unit * int(count)
        if not picture:
            raise ValueError(f'not an escape: {text[match.start():match.start() + 20]!r}')
        return '\x7f' if picture == '␡' else chr(ord(picture) - 0x2400)
    return ESCAPE.sub(original, text).encode('utf-8', 'surrogateescape')


# ---- bytes

TOKEN = re.compile(r'#.*|(?P<offset>\d+):|int\((?P<int>-?\d+)\)|(?P<name>\w+)\((?P<arguments>[\w,]+)\)|'
                   r'(?:"(?P<text>[^"]*)"|(?P<hex>(?:[0-9a-f]{2})+))(?:\*(?P<count>\d+))?')
PIECE = re.compile(rb'(.)\1{63,}|(?:(?!(.)\2{63})[ !$-~]){3,64}|.', re.S)
LINE = 16  # bytes, after which a line ends
HEADER = 41


def digits(seed, until):
    """Digits that do not repeat, for large contents."""
    blocks = (hashlib.sha256(f'{seed}:{i}'.encode()).hexdigest() for i in range((until + 63) // 64))
    return ''.join(blocks).encode()[:until]


def decode_bytes(notation, initial=b''):
    """The bytes of a notation. Its elements are separated by blanks:

    0a1b         bytes in hexadecimal
    "text"       ASCII
    "a"*300      a repetition of one of these
    int(-65)     a number of 64 bits, little-endian
    digits(c0,30000), digits(c0,100,30000)   digits made from a seed: the first ones, or a range
    initial(65,73)   a range of `initial`
    41:          so many bytes come before, which is checked
    # text       a comment
    """
    result, place = bytearray(), 0
    while True:
        place += len(notation[place:]) - len(notation[place:].lstrip())
        if place == len(notation):
            return bytes(result)
        match = TOKEN.match(notation, place)
        if not match or not re.match(r'\s|$', notation[match.end():match.end() + 1]):
            raise ValueError(f'not a notation of bytes: {notation[place:place + 40]!r}')
        place = match.end()
        if match['offset'] and int(match['offset']) != len(result):
            raise ValueError(f'{len(result)} bytes come before {match[0]}')
        if match['int']:
            result += int(match['int']).to_bytes(8, 'little', signed=True)
        elif match['name'] == 'digits':
            seed, *numbers = match['arguments'].split(',')
            *start, until = map(int, numbers)
            result += digits(seed, until)[start[0] if start else 0:]
        elif match['name'] == 'initial':
            start, until = map(int, match['arguments'].split(','))
            result += initial[start:until]
        elif match['name']:
            raise ValueError(f'not a function: {match[0]}')
        elif match['hex'] or match['text'] is not None:
            unit = bytes.fromhex(match['hex']) if match['hex'] else match['text'].encode()
            result += unit * int(match['count'] or 1)


def pieces(data):
    """(element of the notation, its bytes) for some bytes."""
    for match in PIECE.finditer(data):
        piece = match[0]
        if match[1]:
            unit = f'"{match[1].decode()}"' if re.match(rb'[ !$-~]', match[1]) else match[1].hex()
            yield f'{unit}*{len(piece)}', piece
        else:
            yield (f'"{piece.decode()}"' if len(piece) > 1 else piece.hex()), piece


def encode_bytes(data):
    """The notation of some bytes: the checkpoints of a header as numbers, and offsets at each line."""
    lines, place = [], 0
    words = [int.from_bytes(data[i:i + 8], 'little', signed=True) for i in range(0, 32, 8)]
    if len(data) >= HEADER and all(abs(word) < 1 << 31 for word in words):
        rest = ' '.join(element for element, _ in pieces(data[32:HEADER]))
        lines.append(f'{0:5}: ' + ' '.join(f'int({word})' for word in words) + ' ' + rest)
        place = HEADER
    used = LINE
    for element, piece in pieces(data[place:]):
        if used >= LINE:
            lines.append(f'{place:5}:')
            used = 0
        lines[-1] += ' ' + element
        used += len(piece)
        place += len(piece)
    return lines


# ---- cases

class Case:
    """The parts of a case by name. A part keeps its lines, so that a file is written back as it was read."""

    def __init__(self, name, about, shared):
        self.name, self.about, self.shared = name, about, shared
        self.lines = {}

    def __contains__(self, part):
        return part in self.lines

    def parts(self, prefix):
        """The names of the parts that begin so, without the prefix."""
        return [part[len(prefix):] for part in self.lines if part.startswith(prefix)]

    def read(self, part, default=b''):
        if part not in self.lines:
            return default
        first, *lines = self.lines[part]
        _, value, other, unended = PART.fullmatch(first).groups()
        if other:
            return self.other(other)
        if BINARY.fullmatch(part):
            return decode_bytes('\n'.join(lines))
        if value:
            return decode_text(value + '\n')
        return decode_text('\n'.join(lines) + ('\n' if lines and not unended else ''))

    def other(self, name):
        if name in self.lines:
            return self.read(name)
        case, part = name.split('.', 1)
        return self.shared[case].read(part)

    def text(self, part):
        return self.read(part).decode()

    def write(self, part, data, after=None):
        """Adds or replaces a part; a new one comes behind the part `after`, or last."""
        self.lines[part] = encode_part(part, data)
        if self.read(part) != data:
            raise ValueError(f'{self.name}: {part} is not read as it was written')
        names = [name for name in self.lines if name != part]
        names.insert(names.index(after) + 1 if after in names else len(names), part)
        self.lines = {name: self.lines[name] for name in names}

    def remove(self, part):
        del self.lines[part]


def encode_part(part, data):
    if BINARY.fullmatch(part):
        return [f'---- {part}', *encode_bytes(data)]
    text = encode_text(data)
    if re.fullmatch(r'\S(.{,100}\S)?\n', text):
        return [f'---- {part}: {text[:-1]}']
    if text and not text.endswith('\n'):
        return [f'---- {part}, without newline at the end', *text.split('\n')]
    return [f'---- {part}', *text.split('\n')[:-1]]


class Case_File:
    """A file of cases; `shared` are cases by name, to whose parts these may refer."""

    def __init__(self, path, shared=None):
        self.path = path
        self.introduction, self.cases = [], []
        lines = None
        with open(path, encoding='utf-8', newline='\n') as f:
            content = f.read()
        for line in content.removesuffix('\n').split('\n'):
            if match := CASE.fullmatch(line):
                self.cases.append(Case(match[1], match[2], shared))
                lines = None
            elif self.cases and (match := PART.fullmatch(line)):
                if match[1] in self.cases[-1]:
                    raise ValueError(f'{path}: {self.cases[-1].name} has two parts {match[1]}')
                lines = self.cases[-1].lines[match[1]] = [line]
            elif not self.cases:
                self.introduction.append(line)
            elif lines is None:
                raise ValueError(f'{path}: this line is in no part: {line}')
            else:
                lines.append(line)

    def save(self):
        lines = list(self.introduction)
        for case in self.cases:
            lines.append(f'==== {case.name}: {case.about}')
            for part in case.lines.values():
                lines += part
        with open(self.path, 'w', encoding='utf-8', newline='\n') as f:
            f.write('\n'.join(lines) + '\n')
