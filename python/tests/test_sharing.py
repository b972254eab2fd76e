"""Several programs, threads and processes."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

import joedb


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60
    )


def start(program: str, *arguments: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_second_writer_is_told_what_to_do(db, path):
    with pytest.raises(joedb.FileLocked, match='mode="shared"') as error:
        joedb.open(path)
    assert isinstance(error.value, OSError)
    assert error.value.filename == path


@pytest.mark.parametrize(
    ("mode", "error"),
    [("r", FileNotFoundError), ("r+", FileNotFoundError)],
)
def test_a_file_that_is_not_there_is_an_error(path, mode, error):
    with pytest.raises(error) as caught:
        joedb.open(path, mode)
    assert isinstance(caught.value, joedb.Error)
    assert not os.path.exists(path)


def test_a_file_that_is_there_is_an_error(db, path):
    with pytest.raises(FileExistsError):
        joedb.open(path, "x")
    with pytest.raises(ValueError, match="mode"):
        joedb.open(path, "rw")


def test_no_joedb_file_is_an_error(tmp_path: pathlib.Path):
    file = tmp_path / "x"
    file.write_bytes(b"hello, world" * 10)
    for mode in ("r", "r+"):
        with pytest.raises(joedb.CorruptionError):
            joedb.open(file, mode)
    assert file.read_bytes() == b"hello, world" * 10


INCREMENT = """
import joedb, sys
db = joedb.open(sys.argv[1], "shared")
for i in range(int(sys.argv[2])):
    with db.transaction():
        db.counter[0].value += 1
"""


def test_programs_share_a_file(path):
    with joedb.open(path) as db:
        db.create_table("counter", value=int).insert()
    processes = [
        subprocess.Popen([sys.executable, "-c", INCREMENT, path, "50"]) for _ in range(3)
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    with joedb.open(path, "r") as db:
        assert db.counter[0].value == 150


HOLD = """
import joedb, sys
db = joedb.open(sys.argv[1], "shared")
with db.transaction():
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def shared(path: str) -> str:
    with joedb.open(path) as db:
        db.create_table("city", name=str)
    return path


def hold(path: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_lock_is_waited_for_only_until_the_timeout(shared):
    with joedb.open(shared, "shared", timeout=0.05) as db, hold(shared) as holder:
        pattern = rf"is locked by process {holder.pid} \(.*\): waited 0\.\d"
        with pytest.raises(joedb.LockTimeout, match=pattern):
            db.city.insert(name="x")
        assert db.pull() == 0
        holder.communicate()
        db.city.insert(name="y")
        assert [city.name for city in db.city] == ["y"]


def test_control_c_ends_the_wait_of_opening(shared):
    with hold(shared) as holder:
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            joedb.open(shared, "shared", timeout=None)
        timer.join()
        with pytest.raises(joedb.LockTimeout):
            joedb.open(shared, "shared", timeout=0.05)
        pattern = f"another program writes it: process {holder.pid} "
        with pytest.raises(joedb.FileLocked, match=pattern):
            joedb.open(shared)
        holder.communicate()


def test_control_c_ends_the_wait_for_a_lock(shared):
    with joedb.open(shared, "shared") as db, hold(shared) as holder:
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            db.city.insert(name="x")
        timer.join()
        holder.communicate()
        db.city.insert(name="y")
        assert [city.name for city in db.city] == ["y"]


def test_a_killed_writer_leaves_nothing_of_its_transaction(shared):
    with joedb.open(shared, "shared") as db:
        holder = hold(shared)
        holder.kill()
        holder.wait()
        db.city.insert(name="x")
        assert len(db.city) == 1


def test_pull_waits_for_others(shared):
    with joedb.open(shared, "r") as reader, joedb.open(shared, "shared") as writer:
        timer = threading.Timer(0.05, lambda: writer.city.insert(name="x"))
        timer.start()
        assert reader.pull(30) > 0
        timer.join()
        assert len(reader.city) == 1


def test_threads_take_turns(db):
    def insert(first: int) -> None:
        for i in range(200):
            db.city.insert(name=str(first + i), population=first + i)
            db.city.where(population=first)
            db.city.population.sum()

    threads = [threading.Thread(target=insert, args=(1000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(db.city) == 800
    assert sorted(db.city.population.tolist()) == sorted(
        1000 * n + i for n in range(4) for i in range(200)
    )


def test_a_thread_can_close_what_another_one_uses(path):
    for _ in range(20):
        db = joedb.open(path)
        table = db["t"] if "t" in db else db.create_table("t", x=int)

        def use(table=table):
            try:
                while True:
                    table.insert(x=1)
                    list(table.where(x=1))
                    table.x.sum()
            except joedb.Closed:
                pass

        thread = threading.Thread(target=use)
        thread.start()
        time.sleep(0.002)
        db.close()
        thread.join(30)
        assert not thread.is_alive()


def test_the_child_of_a_fork_cannot_use_it_and_does_no_harm(db, cities, path):
    array = cities.population
    with db.transaction():
        cities[0].population = 1
        process = os.fork()
        if process == 0:
            code = 1
            try:
                assert array.tolist() == [709000, 545796, 2873000]
                for use in (
                    lambda: cities[0].name,
                    lambda: cities.insert(name="x"),
                    lambda: db.city,
                    lambda: db.checkpoint,
                ):
                    try:
                        use()
                    except joedb.Closed as error:
                        assert "fork" in str(error)
                    else:
                        raise AssertionError
                assert db.closed
                db.close()
                del db, cities
                gc.collect()
                with joedb.open(path, "r") as own:
                    assert own.city[0].population == 709000
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(process, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        cities[1].population = 2
    db.close()
    with joedb.open(path, "r") as again:
        assert again.city.population.tolist() == [1, 2, 2873000]


def test_what_is_open_at_the_end_of_a_program_is_closed(path):
    program = """
import joedb, sys
db = joedb.open(sys.argv[1])
table = db.create_table("t", x=int)
table.insert(x=1)
array = table.x
keep = [db, table, table[0], table.where(), db.changes(), iter(table)]
transaction = db.transaction()
transaction.__enter__()
table.insert(x=2)
"""
    result = run(program, path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    with joedb.open(path) as db:
        assert db.t.x.tolist() == [1]


def test_objects_can_be_used_after_closing_which_is_an_error(db, cities):
    rows = cities.where(name="Oslo")
    record, iterator, array = cities[0], iter(cities), cities.population
    transaction = db.transaction()
    db.close()
    db.close()
    assert db.closed
    for use in (
        lambda: db.city,
        lambda: db.tables,
        lambda: db.at(41),
        lambda: db.changes(),
        lambda: db.sql("select 1"),
        lambda: db.create_table("t"),
        lambda: db.transaction().__enter__(),
        lambda: transaction.__enter__(),
        lambda: len(cities),
        lambda: cities[0],
        lambda: cities.population,
        lambda: cities.insert(name="x"),
        lambda: cities.to_arrow(),
        lambda: cities.where(),
        lambda: next(iterator),
        lambda: record.name,
        lambda: record.table.fields,
        lambda: record.history(),
        lambda: rows.column("name"),
        lambda: rows[0].name,
    ):
        with pytest.raises(joedb.Closed, match="is closed"):
            use()
    with pytest.raises(joedb.Closed):
        record.name = "x"
    assert array.sum() == 4127796
    assert "closed" in repr(db)


def test_closing_in_a_transaction_rolls_it_back(db, cities, path):
    with pytest.raises(joedb.Closed):
        with db.transaction():
            cities[0].population = 1
            db.close()
            cities[0].population = 2
    with joedb.open(path, "r") as again:
        assert again.city[0].population == 709000


def test_memory_is_given_back(path):
    def use() -> None:
        with joedb.open(path) as db:
            table = db["t"] if "t" in db else db.create_table("t", x=int, s=str)
            table.insert_many({"x": list(range(1000)), "s": ["a text of some length"] * 1000})
            arrays = [table.x, table.s, table.to_arrow()]
            for record in table.where(x=5):
                record.x = 6
                record.history()
            for transaction in db.changes():
                transaction.changes[-1]
            db.at(db.checkpoint).t.x.sum()
            db.sql("select sum(x) from t")
            for record in list(table):
                record.delete()
            try:
                table.insert(x="x")
            except TypeError:
                pass
            del arrays

    def memory() -> int:
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(5):
        use()
        os.remove(path)
    # What is kept by each use shows in each round; what the allocator keeps for later, not in all.
    growth = []
    while not growth or growth[-1] >= 8_000_000:
        assert len(growth) < 5, growth
        before = memory()
        for _ in range(20):
            use()
            os.remove(path)
        growth.append(memory() - before)


def test_a_call_of_python_inside_of_a_call_may_close_the_database(path):
    def attempt(use):
        with joedb.open(path) as db:
            table = db["t"] if "t" in db else db.create_table("t", x=int, f=float)

            class Closes:
                def __index__(self):
                    db.close()
                    return 1

                def __float__(self):
                    db.close()
                    return 1.0

            def rows():
                yield {"x": 1}
                db.close()
                yield {"x": 2}

            use(db, table, Closes, rows)
            assert db.closed
        with pytest.raises(joedb.Closed):
            len(table)

    for use in (
        lambda db, table, closes, rows: table.insert(x=closes()),
        lambda db, table, closes, rows: table.insert(f=closes()),
        lambda db, table, closes, rows: table.where(x=closes()),
        lambda db, table, closes, rows: table.insert_many(rows()),
        lambda db, table, closes, rows: db.sql("select ?", [closes()]),
    ):
        attempt(use)


def test_a_signal_may_close_the_database(shared):
    with joedb.open(shared, "r") as db:
        old = signal.signal(signal.SIGALRM, lambda *_: db.close())
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            db.pull(0.1)
        finally:
            signal.signal(signal.SIGALRM, old)
        assert db.closed


def test_objects_that_nobody_has_made_are_errors(db):
    for kind in (joedb.Record, joedb.Table, joedb.Transaction, joedb.Database, joedb.Records):
        with pytest.raises(TypeError):
            kind()
    for kind in (joedb.Record, joedb.Transaction):
        with pytest.raises((TypeError, AttributeError)):
            kind.__new__(kind).x
    with pytest.raises(TypeError):
        joedb.Transaction.__enter__(42)


def test_control_c_ends_the_wait_for_another_thread(shared):
    with joedb.open(shared, "shared") as db, hold(shared) as holder:
        thread = threading.Thread(target=lambda: db.city.insert(name="x"))
        thread.start()
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            while True:
                len(db.city)  # waits for `thread`, which waits for the other program
        timer.join()
        holder.communicate()
        thread.join(30)
        assert len(db.city) == 1


def test_arguments_of_another_type_are_type_errors(db):
    for use in (
        lambda: db.at(10**30),
        lambda: db.changes(10**30),
        lambda: db.changes(table=5),
        lambda: db.transaction(hard=2),
        lambda: db.create_table("t", {1: int}),
        lambda: db.city.insert(**{"population": 10**30}),
    ):
        with pytest.raises((TypeError, OverflowError)):
            use()
    assert db.pull(float("nan")) == 0
    record = db.create_table("t", x=int).insert()
    db.t.drop()
    assert repr(record) == "<a record of a table that was dropped>"


def test_a_handler_of_a_signal_cannot_use_what_it_interrupts(shared):
    errors = []

    def use(*_):
        try:
            len(db.city)
        except joedb.Error as error:
            errors.append(str(error))

    with joedb.open(shared, "r") as db:
        old = signal.signal(signal.SIGALRM, use)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            db.pull(0.1)
        finally:
            signal.signal(signal.SIGALRM, old)
        assert len(db.city) == 0
    assert not errors or "in the middle of another call" in errors[0]


def test_names_of_files_are_those_of_the_system(tmp_path):
    name = tmp_path / os.fsdecode(b"caf\xe9")
    with joedb.open(name) as db:
        assert db.name == str(name)
        assert repr(db)
        db.create_table("t", x=int)
    assert b"caf\xe9" in os.listdir(os.fsencode(tmp_path))
    with pytest.raises(ValueError, match="null"):
        joedb.open(str(tmp_path / "a\0b"))
    with pytest.raises(FileNotFoundError) as error:
        joedb.open(tmp_path / os.fsdecode(b"n\xf6"), "r")
    assert error.value.filename == str(tmp_path / os.fsdecode(b"n\xf6"))


def test_a_daemon_thread_may_be_waiting_at_the_end_of_the_program(path):
    program = """
import joedb, sys, threading, time
db = joedb.open(sys.argv[1])
db.create_table("t", x=int)
reader = joedb.open(sys.argv[1], "r")
started = threading.Event()
def wait():
    started.set()
    reader.pull(100)
threading.Thread(target=wait, daemon=True).start()
started.wait()
"""
    for _ in range(3):
        result = run(program, path)
        assert (result.returncode, result.stderr) == (0, "")
        os.remove(path)
