#!/usr/bin/env python3
"""All tools and programs write one file, in any order: each transaction has its own changes, author and
reason in the history, and an undo takes back nothing else.

usage: run.py TOOLS_DIR MIXED_WRITER [--seed N] [--rounds N]

A failure prints the line that repeats it.
"""
import argparse
import dataclasses
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import shell  # noqa: E402 (from the folder above)


@dataclasses.dataclass
class Piece:
    """What the history must show as one transaction."""
    names: list
    author: str = None
    why: str = None
    is_complete: bool = True


class Mixture:
    def __init__(self, tools, program, folder, chance):
        self.tools, self.program, self.folder, self.chance = tools, program, folder, chance
        self.pieces = []
        self.count = 0
        self.steps = []
        self.tool('joedbi', '--new', 'f.joedb', given='create_table town\nadd_field town name string\n')

    def run(self, command, given='', code=0, env=None):
        result = subprocess.run(command, cwd=self.folder, input=given, text=True, capture_output=True,
                                env={**os.environ, **(env or {})}, timeout=60)
        if result.returncode != code:
            raise AssertionError(f'{command}: exit code {result.returncode}\n{result.stdout}{result.stderr}')
        return result.stdout

    def tool(self, name, *arguments, **options):
        return self.run([os.path.join(self.tools, name), *arguments], **options)

    def new_names(self, most=2):
        names = [f'n{self.count + i}' for i in range(self.chance.randint(1, most))]
        self.count += len(names)
        return names

    def expect(self, names, author=None, why=None, ends_others=True, has_end=True):
        if not ends_others and self.pieces and not self.pieces[-1].is_complete:
            self.pieces[-1].names += names
            self.pieces[-1].is_complete = has_end
        else:
            if self.pieces:
                self.pieces[-1].is_complete = True
            self.pieces.append(Piece(list(names), author, why, has_end))

    def inserts(self, names):
        first = self.count - len(names)
        return ''.join(f'insert_into town {first + i} "{name}"\n' for i, name in enumerate(names))

    # ---- the writers

    def joedbi(self):
        names = self.new_names()
        self.tool('joedbi', 'f.joedb', given=self.inserts(names))
        self.expect(names)

    def joedbi_with_checkpoints(self):
        for_each = [self.new_names(1) for _ in range(2)]
        self.count -= 2
        given = ''
        for names in for_each:
            self.count += 1
            given += self.inserts(names) + self.chance.choice(['checkpoint\n', 'hard_checkpoint\n'])
            self.expect(names)
        self.tool('joedbi', 'f.joedb', given=given)

    def joedbi_with_author(self):
        names = self.new_names()
        self.tool('joedbi', 'f.joedb', given=f'comment "why {names[0]}"\ncomment "author: Ann"\n' + self.inserts(names))
        self.expect(names, 'Ann', f'why {names[0]}')

    def classic_joedbi(self):
        names = self.new_names()
        self.tool('joedbi', '--classic', 'f.joedb', given=self.inserts(names))
        self.expect(names, ends_others=False, has_end=False)

    def joedb_client(self):
        for_each = [self.new_names(1) for _ in range(2)]
        self.count -= 2
        given = ''
        for names in for_each:
            self.count += 1
            given += f'transaction\n{self.inserts(names)}quit\n'
            self.expect(names)
        self.tool('joedb_client', 'f.joedb', given=given)

    def joedb_client_with_why(self):
        names = self.new_names()
        self.tool('joedb_client', 'f.joedb',
                  given=f'set_author "Bob"\ntransaction "why {names[0]}"\n{self.inserts(names)}quit\n')
        self.expect(names, 'Bob', f'why {names[0]}')

    def classic_client(self):
        names = self.new_names()
        self.tool('joedb_client', '--classic', '--shared', 'f.joedb', given=f'transaction\n{self.inserts(names)}quit\n')
        self.expect(names, ends_others=False, has_end=False)

    def import_csv(self):
        names = self.new_names()
        self.tool('joedb', 'import', 'csv', '--table', 'town', '-', 'f.joedb', given='name\n' + '\n'.join(names) + '\n')
        self.expect(names)

    def edit(self):
        names = self.new_names()
        lines = ''.join(f'+ "{name}"\\n' for name in names)
        with open(os.path.join(self.folder, 'editor'), 'w') as file:
            file.write(f"#!/bin/sh\nsed -i 's/^end$/{lines}end/' \"$1\"\n")
        os.chmod(file.name, 0o755)
        self.tool('joedb', 'edit', '--table', 'town', 'f.joedb', env={'EDITOR': file.name, 'VISUAL': file.name})
        self.expect(names)

    def sql(self):
        names = self.new_names()
        values = ', '.join(f"('{name}')" for name in names)
        self.tool('joedb', 'sql', 'f.joedb', f'INSERT INTO town(name) VALUES {values}')
        self.expect(names)

    def tag(self):
        self.tool('joedb', 'tag', 'f.joedb', f't{len(self.steps)}')
        if self.pieces and not self.pieces[-1].is_complete:
            self.pieces[-1].is_complete = True

    def client_program(self):
        kind = self.chance.choice(['marked_client', 'stamped_client'])
        names = self.new_names(3)
        self.run([self.program, kind, 'f.joedb', *names])
        for name in names:
            self.expect([name])

    def client_program_with_why(self):
        names = self.new_names(3)
        self.run([self.program, 'why_client', 'f.joedb', *names])
        for name in names:
            self.expect([name], 'Cid', f'why {name}')

    def unmarked_client(self):
        names = self.new_names(3)
        self.run([self.program, 'unmarked_client', 'f.joedb', *names])
        self.expect(names, ends_others=False, has_end=False)

    def program_alone(self):
        names = self.new_names(3)
        self.run([self.program, 'marked_alone', 'f.joedb', *names])
        self.expect(names, has_end=False)

    def stamped_program_alone(self):
        names = self.new_names(3)
        self.run([self.program, 'stamped_alone', 'f.joedb', *names])
        for name in names:
            self.expect([name])

    def unmarked_program_alone(self):
        names = self.new_names(3)
        self.run([self.program, 'unmarked_alone', 'f.joedb', *names])
        self.expect(names, ends_others=False, has_end=False)

    WRITERS = [joedbi, joedbi_with_checkpoints, joedbi_with_author, classic_joedbi, joedb_client,
               joedb_client_with_why, classic_client, import_csv, edit, sql, tag, client_program,
               client_program_with_why, unmarked_client, program_alone, stamped_program_alone,
               unmarked_program_alone]

    # ---- the checks

    def lines(self, *command):
        return [json.loads(line) for line in self.tool('joedb', *command).splitlines()]

    @staticmethod
    def inserted(transaction):
        return [value for change in transaction['changes'] if change['change'] == 'inserted'
                for field in change['fields'] for value in field['new']]

    def check(self):
        log = [t for t in self.lines('log', '-p', '--reverse', '--json', 'f.joedb') if self.inserted(t)]
        found = [Piece(self.inserted(t), t['author'], t['comments'][0] if t['comments'] else None, t['complete'])
                 for t in log]
        # What follows without a change may end the last one.
        assert found == self.pieces, f'log shows\n{found}\nand should\n{self.pieces}'
        writers = {line['record']: line['transaction']['position']
                   for line in self.lines('blame', '--json', 'f.joedb', 'town')}
        record = 0
        for piece, transaction in zip(self.pieces, log):
            for _ in piece.names:
                assert writers[record] == transaction['position'], f'blame of record {record}'
                record += 1
        some = self.chance.choice(log)
        shown, = self.lines('show', '--json', 'f.joedb', str(some['position']))
        assert shown['changes'] == some['changes'] and shown['author'] == some['author'], 'show'

    def rows(self):
        return self.tool('joedb', 'sql', '--mode', 'csv', 'f.joedb', 'SELECT name FROM town').split()[1:]

    def undo(self):
        before = self.rows()
        last = self.pieces[-1]
        self.tool('joedb', 'undo', 'f.joedb', code=0 if last.is_complete else 1)
        after = self.rows()
        gone = last.names if last.is_complete else []
        assert after == [name for name in before if name not in gone], f'undo has left {after} of {before}'

    def play(self, steps):
        for _ in range(steps):
            writer = self.chance.choice(self.WRITERS)
            self.steps.append(writer.__name__)
            writer(self)
        if self.pieces:
            self.check()
            self.undo()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('tools')
    parser.add_argument('program')
    parser.add_argument('--seed', type=int, default=None)
    parser.add_argument('--rounds', type=int, default=12)
    arguments = parser.parse_args()
    seeds = range(arguments.rounds) if arguments.seed is None else [arguments.seed]
    for seed in seeds:
        with shell.temporary_folder() as folder:
            chance = random.Random(seed)
            mixture = Mixture(os.path.abspath(arguments.tools), os.path.abspath(arguments.program), folder, chance)
            try:
                mixture.play(chance.randint(4, 14))
            except AssertionError as error:
                sys.exit(f'{error}\nafter {" ".join(mixture.steps)}\n'
                         f'repeat: {sys.argv[0]} {arguments.tools} {arguments.program} --seed {seed}')
    print(f'{len(seeds)} mixtures are right')


main()
