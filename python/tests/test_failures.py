"""Disks that are full, programs that are killed, and files that are replaced."""

import os
import resource
import signal
import subprocess
import sys

import pytest

import joedb

FULL = """
import joedb, resource, sys
path, is_in_one = sys.argv[1], sys.argv[2] == "1"
db = joedb.open(path)
table = db.t
limit = db.checkpoint + 3000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
written = 0
try:
    if is_in_one:
        with db.transaction():
            for i in range(10_000):
                table.insert(x=i, s="a text of more than eleven bytes")
    else:
        for i in range(10_000):
            table.insert(x=i, s="a text of more than eleven bytes")
            written += 1
    raise AssertionError("there was room")
except joedb.IoError as error:
    assert isinstance(error, OSError)
    assert error.errno, error
assert not db.in_transaction
assert len(table) == written
try:
    table.insert(x=-1)
    raise AssertionError("it was written")
except joedb.Error as error:
    assert isinstance(error, (joedb.WriteDisabled, joedb.IoError)), repr(error)
db.close()
print(written)
"""


@pytest.mark.parametrize("is_in_one", ["0", "1"])
def test_what_was_promised_before_the_disk_was_full_is_there(path, is_in_one):
    with joedb.open(path) as db:
        db.create_table("t", x=int, s=str)
    result = subprocess.run(
        [sys.executable, "-c", FULL, path, is_in_one], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    written = int(result.stdout)
    assert (written > 0) == (is_in_one == "0")
    with joedb.open(path, recovery="keep") as db:
        assert db.t.x.tolist() == list(range(written))
        db.t.insert(x=-1)


KILLED = """
import joedb, sys
db = joedb.open(sys.argv[1], "shared")
i = len(db.t)
while True:
    with db.transaction():
        db.t.insert(x=i)
        db.t.insert(x=i + 1, s="of the same transaction")
    i += 2
    print(i, flush=True)
"""


def test_a_killed_program_loses_nothing_that_it_has_committed(path):
    with joedb.open(path) as db:
        db.create_table("t", x=int, s=str)
    promised = 0
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(50):
                promised = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            lines = process.stdout.read().splitlines()
            promised = max([promised] + [int(line) for line in lines[:-1]])
        with joedb.open(path, "r") as db:
            n = len(db.t)
            assert n >= promised
            assert n % 2 == 0
            assert db.t.x.tolist() == list(range(n))


def test_a_file_that_was_replaced_is_not_taken_for_the_old_one(path):
    with joedb.open(path) as db:
        db.create_table("t", x=int, s=str).insert(x=1)
    with joedb.open(path + ".new") as db:
        db.create_table("t", x=int)
    with joedb.open(path, "r") as db:
        os.replace(path + ".new", path)
        assert db.t.x.tolist() == [1]
        with pytest.raises(joedb.Error, match="replaced"):
            db.at(db.checkpoint)


def test_memory_that_is_not_there_is_an_error(path):
    with joedb.open(path) as db:
        table = db.create_table("t", x=int, s=str)
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000, hard))
        try:
            with pytest.raises((MemoryError, joedb.Error)):
                with db.transaction():
                    for _ in range(1_000):
                        table.insert(s="x" * 1_000_000)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        assert len(table) == 0
        table.insert(x=1)
        assert len(table) == 1
