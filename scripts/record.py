#!/usr/bin/env python3
"""Runs a command in a terminal, and draws what it shows, as it comes, as an animated SVG.

usage: record.py OUT.svg COMMAND [ARGUMENT...]

The output is also shown. The picture is only written if the command succeeds. Long waits are cut short.
"""
import html
import os
import pty
import re
import sys
import time

COLUMNS, ROWS = 100, 28
FONT, LINE, CHARACTER, MARGIN = 13, 18, 7.82, 12
LEAST_WAIT, LONGEST_WAIT, LAST_WAIT = 0.12, 1.5, 5.0  # seconds between two lines, and at the end

STYLE = '''text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c9d1d9;\
white-space:pre}.b{fill:#fff;font-weight:bold}.r{fill:#ff7b72}'''


def run(command):
    """Runs it in a terminal of COLUMNS x ROWS; returns (exit code, [(seconds, bytes)])."""
    pieces, start = [], time.monotonic()

    def read(descriptor):
        data = os.read(descriptor, 65536)
        pieces.append((time.monotonic() - start, data))
        return data

    os.environ.update(TERM='xterm', COLUMNS=str(COLUMNS), LINES=str(ROWS))
    return os.waitstatus_to_exitcode(pty.spawn(command, read)), pieces


def lines_of(pieces):
    """[(seconds, line)]: each line when it is complete, with its colours."""
    lines, rest = [], b''
    for seconds, data in pieces:
        *complete, rest = (rest + data).split(b'\n')
        lines += [(seconds, line.decode('utf-8', 'replace')) for line in complete]
    return [(seconds, last_version(line)) for seconds, line in lines]


def last_version(line):
    """A line that is written again and again: what is left of it."""
    return re.split(r'\r|\x1b\[K', line.rstrip('\r'))[-1]


def drawn(line):
    """A line as SVG text; its colours are bold and red."""
    result, style, room = '', '', COLUMNS
    for part in re.split(r'(\x1b\[[0-9;]*m)', line):
        if part.startswith('\x1b['):
            style = {'\x1b[1m': 'b', '\x1b[31m': 'r'}.get(part, '')
        elif part and room > 0:
            text = part if len(part) <= room else part[:room - 1] + '…'
            room -= len(text)
            text = html.escape(text, quote=False)
            result += f'<tspan class="{style}">{text}</tspan>' if style else text
    return result


def svg(lines):
    """The last line is always at the bottom; what is above scrolls."""
    moments, now, before = [], 0.0, lines[0][0]
    for seconds, _ in lines:
        now += min(max(seconds - before, LEAST_WAIT), LONGEST_WAIT)
        before = seconds
        moments.append(now)
    total = now + LAST_WAIT
    width, height = round(COLUMNS * CHARACTER + 2 * MARGIN), ROWS * LINE + 2 * MARGIN
    scroll = [(0.0, ROWS)] + [(moment / total, ROWS - 1 - i) for i, moment in enumerate(moments)]
    frames = ''.join(f'{share:.2%}{{transform:translateY({rows * LINE}px)}}' for share, rows in scroll)
    end = (ROWS - len(lines)) * LINE
    texts = ''.join(f'<text x="0" y="{i * LINE + FONT}">{drawn(line)}</text>\n'
                    for i, (_, line) in enumerate(lines) if line)
    return f'''<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<style>{STYLE % FONT}
@keyframes s{{{frames}}}
.s{{transform:translateY({end}px)}}
@media (prefers-reduced-motion:no-preference){{.s{{animation:s {total:.1f}s step-end infinite}}}}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117" stroke="#30363d"/>
<svg x="{MARGIN}" y="{MARGIN}" width="{width - 2 * MARGIN}" height="{ROWS * LINE}"><g class="s" xml:space="preserve">
{texts}</g></svg></svg>
'''


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    code, pieces = run(sys.argv[2:])
    lines = lines_of(pieces)
    if code != 0 or not lines:
        sys.exit(f'record.py: no picture: {sys.argv[2]} has ended with {code}')
    with open(sys.argv[1], 'w', encoding='utf-8') as file:
        file.write(svg(lines))
    return 0


if __name__ == '__main__':
    sys.exit(main())
