#!/usr/bin/env python3
"""The exit codes of all tools: 0 done, 1 failed or the answer is no, 2 the command line is wrong.

usage: exit_codes.py TOOLS_DIR
"""
import json
import os
import subprocess
import sys

import shell

TOOLS = os.path.abspath(sys.argv[1])

SETUP = r'''
printf 'create_table city\nadd_field city name string\ninsert_into city 0 "Rome"\n' > city.joedbi
joedbi --new city.joedb < city.joedbi > /dev/null
printf 'insert_into city\nabort\n' | joedbi city.joedb > /dev/null 2>&1; mv city.joedb tail.joedb
joedbi --new city.joedb < city.joedbi > /dev/null
cp city.joedb conflict.joedb
printf 'valid_data\nupdate city 0 name "Bonn"\nvalid_data\nupdate city 0 name "Oslo"\n' |
  joedbi conflict.joedb > /dev/null
cp city.joedb found_in.joedb; echo 'comment "in Rome"' | joedbi found_in.joedb > /dev/null
cp city.joedb other.joedb; echo 'insert_into city 1 "Bonn"' | joedbi other.joedb > /dev/null
cp city.joedb damaged.joedb; joedb_verify --protect damaged.joedb > /dev/null
printf X | dd of=damaged.joedb bs=1 seek=79 conv=notrunc status=none
echo '"one"' | joedb wal load log > /dev/null; head -c -100 log > torn; sed 's/one/two/' log > damaged
printf 'create_table city\nadd_field town name string\n' > bad.joedbi
echo text > text
'''

# command line -> exit code; $X is a name that nobody else has
CASES = '''
joedb --help                                        0
joedb --version                                     0
joedb help pack                                     0
joedb help nonsense                                 2
joedb nonsense                                      2
joedb                                               2
joedbi city.joedb                                   0
echo "insert_into city" | joedbi $X                 1
echo "nonsense" | joedbi city.joedb                 1
echo "abort" | joedbi city.joedb                    1
joedbi --read text                                  1
joedbi tail.joedb                                   1
joedbi --read city.joedb other.joedb                2
joedb_client city.joedb                             0
echo "nonsense" | joedb_client city.joedb           1
joedb_client text                                   1
joedb_client city.joedb pigeon                      2
joedbc city                                         0
joedbc bad                                          1
joedbc missing                                      1
joedbc                                              2
joedbc --python city                                0
joedbc --python bad                                 1
joedbc --python --check city                        2
joedbc --check city                                 0
joedbc --check bad                                  1
joedbc --check missing                              1
joedbc --json city                                  2
joedb_logdump city.joedb                            0
joedb_logdump --header text                         0
joedb_logdump text                                  1
joedb_logdump --until x city.joedb                  1
joedb_logdump --until a..b city.joedb               2
joedb_log city.joedb                                0
joedb_log text                                      1
joedb_log --since soon city.joedb                   1
joedb_log --since 2026-13-01 city.joedb             2
joedb_log --record 0 city.joedb                     2
joedb_show city.joedb                               0
joedb_show city.joedb 1000                          1
joedb_show city.joedb soon                          1
joedb_show city.joedb 12:00                         2
joedb_at city.joedb 41 to_json                      0
joedb_at city.joedb 41 diff --exit-code other.joedb 1
joedb_at city.joedb 42 to_json                      1
joedb_at city.joedb 1000 to_json                    1
joedb_at text 41 to_json                            1
joedb_at city.joedb soon to_json                    1
joedb_at city.joedb 41 pack out                     2
joedb_at city.joedb 41 nonsense                     2
joedb_at city.joedb 41                              2
joedb_branch city.joedb 41 branch.joedb              0
joedb_branch city.joedb 41 branch.joedb              1
joedb_branch --force city.joedb 41 branch.joedb      0
joedb_branch city.joedb 42 other_branch.joedb        1
joedb_branch city.joedb soon other_branch.joedb      1
joedb_branch city.joedb 41                          2
joedb_tag branch.joedb v1                           0
joedb_tag branch.joedb v1                           1
joedb_tag --force branch.joedb v1 41                0
joedb_tag branch.joedb                              0
joedb_tag branch.joedb v2 42                        1
joedb_tag branch.joedb v2 v3                        1
joedb_tag branch.joedb 12                           2
joedb_tag branch.joedb 'v 2'                        2
joedb_tag --read branch.joedb v2                    2
joedb_tag --delete branch.joedb v2                  1
joedb_tag --delete branch.joedb                     2
joedb_tag --delete branch.joedb v1                  0
joedb_tag text v1                                   1
joedb_tag missing.joedb v1                          1
joedb_tag                                           2
joedb_diff city.joedb 41                            0
joedb_diff city.joedb other.joedb                   0
joedb_diff --exit-code city.joedb other.joedb       1
joedb_diff --exit-code city.joedb city.joedb        0
joedb_diff city.joedb 1000                          1
joedb_diff city.joedb soon                          1
joedb_diff city.joedb 41 soon                       1
joedb_diff city.joedb 41 12:00                      2
joedb_diff city.joedb                               2
joedb_diff --patch --json city.joedb 41             2
joedb_blame city.joedb city                         0
joedb_blame city.joedb town                         1
joedb_blame city.joedb                              2
joedb_blame city.joedb city x                       2
joedb_undo --dry-run city.joedb                     0
joedb_undo city.joedb 1000                          1
joedb_undo missing.joedb                            1
joedb_undo --ours --theirs city.joedb               2
joedb_undo conflict.joedb 109                       1
joedb_undo --ours conflict.joedb 109                0
joedb_revert --dry-run city.joedb ..                0
joedb_revert city.joedb 1000..                      1
joedb_revert city.joedb                             2
joedb_restore --at 101 conflict.joedb city 0        0
joedb_restore --at 101 conflict.joedb city 9        1
joedb_restore conflict.joedb city 0                 2
joedb_forget --dry-run conflict.joedb city 0        0
joedb_forget conflict.joedb city 0                  0
joedb_forget conflict.joedb city 0                  0
joedb_forget --output found.joedb found_in.joedb city 0 1
joedb_forget --output found.joedb found_in.joedb city 0 1
joedb_forget --force --output found.joedb found_in.joedb city 1 0
joedb_forget city.joedb town 0                      1
joedb_forget city.joedb city town                   1
joedb_forget text city 0                            1
joedb_forget city.joedb city -1                     2
joedb_forget city.joedb city                        2
joedb_forget --force city.joedb city 0              2
joedb export parquet --python none city.joedb city $X 1
joedb export arrow text city $X                     1
joedb export feather city.joedb city text           1
joedb export feather city.joedb city                2
joedb_to_json city.joedb                            0
joedb_to_json text                                  1
joedb_stats city.joedb                              0
joedb_stats text                                    1
joedb_stats --by day city.joedb                     0
joedb_stats --by day text                           1
joedb_stats --by week city.joedb                    2
joedb_sql city.joedb 'SELECT * FROM city'           0
joedb_sql city.joedb 'SELECT * FROM town'           1
joedb_sql --mode x city.joedb 'SELECT 1'            2
joedb_pack city.joedb $X                            0
joedb_pack city.joedb other.joedb                   1
joedb_pack --keep-since 41 city.joedb $X            0
joedb_pack --keep-since 42 city.joedb $X            1
joedb_pack --keep-since soon city.joedb $X          1
joedb_pack missing $X                               1
joedb_pack city.joedb                               2
joedb_convert city.joedb $X                         0
joedb_convert text $X                               1
joedb_convert --until -1 city.joedb $X              2
joedb_push city.joedb file $X                       0
joedb_push text file $X                             1
joedb_push bad.joedbi file $X                       1
joedb_push city.joedb file                          2
joedb_verify city.joedb                             0
joedb_verify damaged.joedb                          1
joedb_verify --json damaged.joedb                   1
joedb_verify tail.joedb                             1
joedb_verify text                                   1
joedb_verify                                        2
joedb_recover city.joedb                            0
joedb_recover tail.joedb                            0
joedb_recover text                                  1
joedb_recover --recovery none city.joedb            2
joedb_snapshot --list city.joedb                    0
joedb_snapshot missing                              1
joedb_snapshot --list --remove city.joedb           2
joedb_sha256sum city.joedb                          0
joedb_sha256sum city.joedb text                     1
joedb_sha256sum                                     2
joedb_merge city.joedb other.joedb $X               0
joedb_merge city.joedb text $X                      1
joedb_merge                                         2
joedb_server --new-token ann                        0
joedb_server text                                   1
joedb_server --new-token ann:nobody                 2
joedb_multi_server text                             1
joedb_multi_server                                  2
joedb wal verify log                                0
joedb wal verify torn                               1
joedb wal verify damaged                            1
joedb wal verify text                               1
joedb wal dump log                                  0
joedb wal dump torn                                 1
joedb wal tail missing                              1
echo "nonsense" | joedb wal load log                1
joedb wal load log                                  0
joedb wal repair log                                0
joedb wal repair torn                               0
joedb wal repair text                               1
joedb wal bench --entries 10 $X                     0
joedb wal bench log                                 1
joedb wal bench --entries 0 $X                      2
joedb wal nonsense                                  2
joedb wal                                           2
joedb crash-lab --seeds 1 --attack kill --jobs 1    0
joedb crash-lab missing                             1
joedb crash-lab --seeds -1                          2
joedb init $X                                       0
joedb init text                                     1
joedb init 7up                                      2
joedb completion bash                               0
joedb completion csh                                2
joedb completion words -- joedb nonsense ""         0
joedb man                                           0
joedb man nonsense                                  2
joedb man --output text                             1
'''


def run(folder, line):
    return subprocess.run(['bash', '-c', line], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False,
                          env={**os.environ, 'PATH': f'{TOOLS}:/usr/bin:/bin', 'LC_ALL': 'C.UTF-8'})


def all_cases(folder):
    """(command line, exit code)"""
    for number, line in enumerate(CASES.strip().splitlines()):
        command, code = line.rsplit(None, 1)
        yield command.replace('$X', f'x{number}'), int(code)
    commands = json.loads(run(folder, 'joedb man --json').stdout)
    groups = [command['page'] for command in commands if 'options' not in command]
    for command in commands:
        group = next((page for page in groups if command['page'].startswith(page + '-')), 'joedb')
        words = ' '.join([*group.split('-')[1:], command['page'][len(group) + 1:]])
        for name in filter(None, (f'joedb {words}', command['alias'])):
            yield f'{name} --help', 0
            yield f'{name} --nonsense', 2


def main():
    failed = count = 0
    with shell.temporary_folder() as folder:
        setup = run(folder, SETUP)
        assert setup.returncode == 0 and not setup.stderr, setup.stderr
        for line, expected in all_cases(folder):
            count += 1
            result = run(folder, line)
            is_good = result.returncode == expected
            # Who reads only standard error is told why; a result that is no is on standard output.
            if expected == 2:
                is_good = is_good and result.stderr and not result.stdout
            elif expected == 1:
                is_good = is_good and result.stderr + result.stdout
            if not is_good:
                failed += 1
                print(f'{line}: expected {expected}, got {result.returncode}\n{result.stdout}{result.stderr}')
    print(f'{count} command lines, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
