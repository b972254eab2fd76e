"""What a user of a large schema waits for: joedbc, and the compiler for a file that uses it."""
import os
import statistics
import subprocess
import time

from suite import ROOT


def write_schema(base):
    """A schema of 20 tables and 200 fields, ten of each type or a little more, and 20 indexes."""
    types = ['string', 'int32', 'int64', 'boolean', 'float32', 'float64', 'int8', 'int16', 'blob']
    with open(base + '.joedbi', 'w', encoding='utf-8') as schema, \
            open(base + '.joedbc', 'w', encoding='utf-8') as options:
        options.write('namespace large\n')
        for table in range(20):
            schema.write(f'create_table t{table}\n')
            for field in range(9):
                schema.write(f'add_field t{table} f{field} {types[field]}\n')
            schema.write(f'add_field t{table} f9 references t{table // 2}\n')
            unique = 'unique_' if table % 2 else ''
            options.write(f'create_{unique}index t{table}_index t{table} f{table % 9},f9\n')


def measure_compiler(programs, directory, rounds):
    """Prints a table."""
    base = os.path.join(directory, 'large')
    write_schema(base)
    joedbc = [os.path.join(programs, 'joedbc'), '--output', directory, base]
    uses = {'its header included': '',
            'and a row of each table written and read': ''.join(
                f'  db.set_f1(db.new_t{t}(), 1); sum += db.get_f1(db.get_t{t}_table().first());\n'
                for t in range(20))}
    print(f'compile: 20 tables, 200 fields, 20 indexes ({rounds} rounds)\n\n   median      min')
    times = {}
    for _ in range(rounds):
        for name, lines in {'joedbc': None, **uses}.items():
            command = joedbc
            if lines is not None:
                source = base + '.cc'
                with open(source, 'w', encoding='utf-8') as f:
                    f.write('#include "large.h"\nint main() {\n  large::Memory_Database db;\n  long sum = 0;\n'
                            + lines + '  return static_cast<int>(sum);\n}\n')
                command = [os.environ.get('CXX', 'c++'), '-std=c++20', '-O2', '-c', source, '-o', base + '.o',
                           '-I', directory, '-I', os.path.join(ROOT, 'include')]
            start = time.perf_counter()
            subprocess.run(command, check=True)
            times.setdefault(name, []).append(time.perf_counter() - start)
    for name, seconds in times.items():
        text = name if name == 'joedbc' else f'c++ -O2: {name}'
        print(f'{statistics.median(seconds):8.3f}s {min(seconds):7.3f}s  {text}')
    with open(os.path.join(directory, 'large.h'), encoding='utf-8') as f:
        lines = len(f.readlines())
    print(f'\n{lines} generated lines: {lines / 20:.0f} for a table of 10 fields and an index\n', flush=True)
