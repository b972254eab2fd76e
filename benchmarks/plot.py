"""A chart of the main groups, as SVG. Its colours are good on a light and on a dark page."""
from xml.sax.saxutils import escape

PEERS = {name: name for name in ('LMDB', 'LevelDB', 'RocksDB')}

# Group, title, and the cases with their names in the chart, from above.
PANELS = [
    ('insert', '{:,} rows inserted, one durable commit', {
        'joedb, one by one': 'joedb', 'joedb, as vectors': 'joedb, as vectors',
        'SQLite, prepared statement': 'SQLite', **PEERS, 'no database, rows': 'no database'}),
    ('reopen', 'the file opened again, a column added up', {
        'joedb, written one by one': 'joedb', 'joedb, written as vectors': 'joedb, as vectors',
        'SQLite': 'SQLite', **PEERS, 'no database, rows made columns': 'no database'}),
    ('soft', '{:,} commits that survive a killed process', {
        'joedb, soft checkpoint': 'joedb', 'SQLite, WAL, synchronous=NORMAL': 'SQLite', **PEERS,
        'no database, two writes': 'no database'}),
    ('hard', '{:,} commits that survive a power cut', {
        'joedb, hard checkpoint': 'joedb', 'joedb, preallocated': 'joedb, preallocated',
        'SQLite, WAL, synchronous=FULL': 'SQLite', **PEERS, 'no database, append + fdatasync': 'no database'}),
    ('find', 'a file of {:,} words opened, each found', {
        'joedb': 'joedb', 'SQLite': 'SQLite', **PEERS, 'std::map, read from a file': 'std::map'}),
]
WIDTH, LABEL, VALUE, BAR, STEP, TITLE = 400, 150, 56, 13, 19, 34
COLUMN, MARGIN = WIDTH + 32, 16
TEXT, OURS, OTHERS, FLOOR = '#768390', '#2f81f7', '#9aa4af', '#57ab5a'


def colour(name):
    if name.startswith('joedb'):
        return OURS
    return FLOOR if name in ('no database', 'std::map') else OTHERS


def panel(results, title, names, x, y):
    """The elements of one group."""
    shown = {result['name']: result for result in results if 'min' in result}
    bars = [(name, shown[case]['min']) for case, name in names.items() if case in shown]
    longest = max(seconds for _, seconds in bars)
    yield f'<text x="{x}" y="{y + 12}" class="title">{escape(title.format(results[0]["rows"]))}</text>'
    for number, (name, seconds) in enumerate(bars):
        top = y + TITLE - 10 + number * STEP
        width = max(1.5, seconds / longest * (WIDTH - LABEL - VALUE))
        weight = ' class="ours"' if name.startswith('joedb') else ''
        yield f'<text x="{x + LABEL - 8}" y="{top + 11}" text-anchor="end"{weight}>{escape(name)}</text>'
        yield (f'<rect x="{x + LABEL}" y="{top}" width="{width:.1f}" height="{BAR}" rx="2" '
               f'fill="{colour(name)}"/>')
        yield f'<text x="{x + LABEL + width + 6:.1f}" y="{top + 11}"{weight}>{seconds:.2f} s</text>'


def svg(results):
    """The chart of what was measured: two columns of panels."""
    parts, bottoms = [], [MARGIN, MARGIN]
    for group, title, names in PANELS:
        if any('min' in result and result['name'] in names for result in results.get(group, [])):
            column = bottoms.index(min(bottoms))
            parts += panel(results[group], title, names, MARGIN + column * COLUMN, bottoms[column])
            bottoms[column] += TITLE + STEP * len(names)
    width, height = 2 * MARGIN + COLUMN + WIDTH, max(bottoms) + 20
    parts.append(f'<text x="{MARGIN}" y="{height - 12}">'
                 'Whole processes, best of some rounds; shorter is better.</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}"\n role="img" aria-label="joedb and other databases: times">\n'
            f'<style>text {{ font: 12px system-ui, sans-serif; fill: {TEXT} }}\n'
            f'.title {{ font-weight: 600; font-size: 13px }} .ours {{ fill: {OURS}; font-weight: 600 }}'
            '</style>\n' + '\n'.join(parts) + '\n</svg>\n')
