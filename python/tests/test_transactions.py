"""Transactions: all or nothing, with a reason, and what is on the disk."""

import asyncio
import errno
import gc
import os
import pathlib
import struct
import threading
import time

import pytest

import joedb


class Stop(Exception):
    pass


def content(db):
    return {
        name: [record.as_dict() for record in table] for name, table in db.tables.items()
    }


def test_a_transaction_is_rolled_back_by_an_exception(db, cities, path):
    before = content(db)
    checkpoint = db.checkpoint
    with pytest.raises(Stop):
        with db.transaction("nothing of this counts"):
            cities[0].population = 1
            cities[0].name = "a text that is longer than eleven bytes"
            cities.delete(1)
            cities.insert(name="x")
            cities.insert(name="y")
            db.person.insert(name="Ada", picture=b"123")
            raise Stop
    assert content(db) == before
    assert db.checkpoint == checkpoint
    cities.insert(name="Bern")
    db.close()
    with joedb.open(path, "r") as again:
        assert [city.name for city in again.city] == ["Oslo", "Lisbon", "Rome", "Bern"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_so_do_exceptions_that_are_no_errors(db, error):
    with pytest.raises(error):
        with db.transaction():
            db.city.insert(name="x")
            raise error
    assert len(db.city) == 0


def test_changes_of_the_schema_are_rolled_back_too(db, cities):
    before = content(db)
    with pytest.raises(Stop):
        with db.transaction():
            cities[0].population = 1
            cities.add_field("area", float)
            cities[0].area = 2.0
            cities.insert(name="x", area=1.0)
            db.create_table("t", x=int).insert(x=3)
            cities.drop_field("name")
            raise Stop
    assert content(db) == before
    assert list(db.tables) == ["city", "person"]
    assert cities.fields == {"name": "string", "population": "int64"}


def test_rows_of_a_data_frame_are_rolled_back_too(db, cities):
    before = content(db)
    with pytest.raises(Stop):
        with db.transaction():
            cities[0].population = 1
            cities.insert_many({"name": ["a", "b"], "population": [1, 2]})
            cities.delete(4)
            raise Stop
    assert content(db) == before


def test_a_caught_error_leaves_the_rest_of_the_transaction(db):
    with db.transaction():
        db.city.insert(name="Oslo")
        with pytest.raises(TypeError):
            db.city.insert(name=5)
        db.city.insert(name="Rome")
    assert [city.name for city in db.city] == ["Oslo", "Rome"]


def test_a_transaction_sees_its_own_changes(db):
    with db.transaction():
        db.city.insert(name="Oslo", population=5)
        assert db.city.population.tolist() == [5]
        assert db.sql("select name from city") == [("Oslo",)]
        assert len(db.city.where(name="Oslo")) == 1


def test_others_see_it_when_it_has_ended(db, path):
    with joedb.open(path, "r") as reader:
        with db.transaction():
            db.city.insert(name="Oslo")
            reader.pull()
            assert len(reader.city) == 0
        assert len(reader.city) == 0
        assert reader.pull() > 0
        assert len(reader.city) == 1
        assert reader.pull() == 0


def test_it_says_why_who_and_when(db):
    with db.transaction("the first delivery", author="Ann"):
        db.city.insert(name="Oslo")
    last = list(db.changes())[-1]
    assert (last.why, last.author) == ("the first delivery", "Ann")
    assert last.time is not None


def test_without_changes_nothing_is_written(db):
    checkpoint = db.checkpoint
    with db.transaction():
        pass
    assert db.checkpoint == checkpoint


def test_it_can_be_ended_without_an_exception(db):
    with db.transaction() as transaction:
        db.city.insert(name="Oslo")
        transaction.rollback()
        assert len(db.city) == 0
    assert not db.in_transaction


def test_there_is_one_at_a_time(db):
    with db.transaction():
        assert db.in_transaction
        with pytest.raises(joedb.Error, match="already"):
            with db.transaction():
                pass
        db.city.insert(name="Oslo")
    assert len(db.city) == 1
    transaction = db.transaction()
    with transaction:
        pass
    with pytest.raises(joedb.Error, match="another one"):
        with transaction:
            pass


def in_thread(function):
    """Runs it in another thread; returns what it has thrown."""
    errors = []

    def run():
        try:
            function()
        except joedb.Error as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return errors


def test_other_threads_wait_for_it_only_until_the_timeout(path):
    with joedb.open(path, timeout=0.02) as db:
        db.create_table("city", name=str)
        city = db.city.insert(name="Oslo")
        with db.transaction():
            for write in (
                lambda: db.city.insert(name="x"),
                lambda: db.city.insert_many([{"name": "x"}]),
                lambda: db.city.insert_many({"name": ["x"]}),
                lambda: city.update(name="x"),
                city.delete,
                lambda: db.create_table("x"),
                lambda: db.city.add_field("x", int),
                db.hard_checkpoint,
                lambda: db.transaction().__enter__(),
            ):
                (error,) = in_thread(write)
                assert isinstance(error, joedb.LockTimeout)
                assert "is locked by another thread, in a transaction: waited 0.0" in str(error)
        assert [city.name for city in db.city] == ["Oslo"]
        assert in_thread(lambda: db.city.insert(name="Rome")) == []


def test_threads_take_turns(db):
    def work(number):
        for _ in range(30):
            with db.transaction():
                first = db.city.insert(name=str(number))
                time.sleep(0)
                second = db.city.insert(name=str(number))
                assert second.id == first.id + 1

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        db.city.insert(name="4")
    for thread in threads:
        thread.join()
    names = [city.name for city in db.city]
    assert len(names) == 4 * 60 + 30
    assert sorted(set(names)) == ["0", "1", "2", "3", "4"]


def test_a_thread_that_waits_learns_that_the_database_was_closed(db):
    waiting = threading.Event()
    errors = []

    def write():
        waiting.set()
        try:
            db.city.insert(name="x")
        except joedb.Error as error:
            errors.append(error)

    thread = threading.Thread(target=write)
    with pytest.raises(joedb.Closed):
        with db.transaction():
            thread.start()
            waiting.wait()
            db.close()
    thread.join()
    assert [type(error) for error in errors] == [joedb.Closed]


def test_a_task_never_writes_into_the_transaction_of_another_one(db):
    async def one():
        with db.transaction():
            db.city.insert(name="one")
            begun.set()
            await ended.wait()
            db.city.insert(name="one")

    async def two():
        await begun.wait()
        for write in (
            lambda: db.city.insert(name="two"),
            lambda: db.city.insert_many({"name": ["two"]}),
            lambda: db.transaction().__enter__(),
        ):
            with pytest.raises(joedb.Error, match="another task is in a transaction"):
                write()
        # Waiting for the other task would be a deadlock: that task waits for `ended`.
        ended.set()

    async def both():
        nonlocal begun, ended
        begun, ended = asyncio.Event(), asyncio.Event()
        await asyncio.gather(one(), two())
        db.city.insert(name="three")

    begun = ended = None
    asyncio.run(both())
    assert [city.name for city in db.city] == ["one", "one", "three"]


def test_a_task_cannot_wait_for_a_thread_that_waits_for_its_transaction(db):
    async def work():
        with db.transaction():
            with pytest.raises(joedb.Error, match="waits for this one"):
                await asyncio.to_thread(db.city.insert, name="x")
            db.city.insert(name="y")
        await asyncio.to_thread(db.city.insert, name="z")

    asyncio.run(work())
    assert [city.name for city in db.city] == ["y", "z"]


def test_a_program_of_tasks_may_be_in_a_transaction(db):
    async def work():
        db.city.insert(name="x")

    with db.transaction():
        asyncio.run(work())
    assert len(db.city) == 1


def test_a_reader_cannot_write(db, path):
    with joedb.open(path, "r") as reader:
        with pytest.raises(joedb.Error, match="for reading only"):
            reader.city.insert(name="x")
        with pytest.raises(joedb.Error, match="for reading only"):
            reader.create_table("t")


def test_a_hard_transaction_is_synced(db):
    with db.transaction(hard=True):
        db.city.insert(name="Oslo")
    db.city.insert(name="Rome")
    db.hard_checkpoint()


def test_a_file_that_a_killed_program_has_left_is_opened_with_recovery(db, path):
    db.city.insert(name="Oslo")
    db.close()
    with open(path, "ab") as file:
        file.write(b"\x01\x02\x03")
    with pytest.raises(joedb.UnfinishedTransaction, match="recovery") as error:
        joedb.open(path)
    assert error.value.size == error.value.checkpoint + 3
    with joedb.open(path, recovery="keep") as again:  # before anything is written
        with open(f"{path}.tail-{error.value.checkpoint}", "rb") as tail:
            assert tail.read() == b"\x01\x02\x03"
        assert os.path.getsize(path) == error.value.checkpoint
        assert len(again.city) == 1
    joedb.open(path).close()
    with pytest.raises(ValueError, match="recovery"):
        joedb.open(path, recovery="x")


def test_a_transaction_that_nobody_has_any_more_is_rolled_back(db):
    transaction = db.transaction()
    transaction.__enter__()
    db.city.insert(name="x")
    del transaction
    gc.collect()
    assert not db.in_transaction
    assert len(db.city) == 0
    db.city.insert(name="y")


def test_one_whose_thread_has_ended_is_rolled_back_too(db):
    def work():
        transaction = db.transaction()
        transaction.__enter__()
        db.city.insert(name="x")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    gc.collect()
    assert len(db.city) == 0
    db.city.insert(name="y")


def test_another_thread_cannot_end_it(db):
    errors = []

    def end(transaction):
        for function in (transaction.rollback, lambda: transaction.__exit__(None, None, None)):
            try:
                function()
            except joedb.Error as error:
                errors.append(str(error))

    with db.transaction() as transaction:
        db.city.insert(name="x")
        thread = threading.Thread(target=end, args=(transaction,))
        thread.start()
        thread.join()
        assert db.in_transaction
    assert len(errors) == 2
    assert not db.in_transaction
    assert len(db.city) == 1


def words_of(path):
    return struct.unpack("<4q", pathlib.Path(path).read_bytes()[:32])


@pytest.mark.parametrize("mode", ["w", "shared"])
def test_what_was_written_is_hard_when_it_is_closed(path, mode):
    with joedb.open(path, mode) as db:
        db.create_table("city", name=str).insert(name="Oslo")
    size = os.path.getsize(path)
    assert words_of(path).count(size) >= 2
    with joedb.open(path, mode) as db:
        assert [city.name for city in db.city] == ["Oslo"]
    assert os.path.getsize(path) == size


@pytest.mark.parametrize("mode", ["w", "r+", "r", "shared"])
def test_a_truncated_file_is_no_empty_database(path, mode):
    with joedb.open(path) as db:
        db.create_table("number", n=int).insert_many({"n": list(range(1000))})
    file = pathlib.Path(path)
    whole = file.read_bytes()
    for size in (len(whole) - 1, len(whole) - 100, len(whole) // 2, 60, 41, 40, 20):
        file.write_bytes(whole[:size])
        with pytest.raises(joedb.Error):
            joedb.open(path, mode)
        assert file.read_bytes() == whole[:size]


@pytest.mark.parametrize("recovery", ["keep", "overwrite"])
def test_recovery_of_a_shared_file_releases_its_lock(db, path, recovery):
    db.close()
    with joedb.open(path, "shared") as first:
        with joedb.open(path, "shared", recovery=recovery, timeout=0) as second:
            assert len(second.city) == 0
            with first.transaction():
                first.city.insert(name="Oslo")
                with pytest.raises(joedb.LockTimeout):
                    second.city.insert(name="x")
                first.city.insert(name="Rome")
    assert len(joedb.open(path, "r").city) == 2
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]


@pytest.mark.parametrize("changes_schema", [False, True])
def test_a_call_that_fails_in_a_transaction_leaves_nothing(db, cities, changes_schema):
    """Each of these calls changes several records, and fails at the last one."""
    person = db.person
    person.insert_many([{"name": "Ann", "age": 1}, {"name": "Bob", "age": 2}])
    gone = cities[:]
    cities.delete(0)
    with db.transaction():
        if changes_schema:
            db.create_table("other")
        person.insert(name="Cy")
        with pytest.raises(TypeError):
            person.insert_many([{"name": "Dan"}, {"name": 3}])
        with pytest.raises(TypeError):
            person.insert_many({"name": name} for name in ("Dan", "Eve", None))
        if not changes_schema:  # otherwise they end the transaction
            with pytest.raises(OverflowError):
                person[:].update(age=[5, 6, 1000])
            with pytest.raises(KeyError):
                gone.delete()
            with pytest.raises(KeyError):
                gone.update(population=1)
        person.insert(name="Fay")
    assert [one.as_dict()["name"] for one in person] == ["Ann", "Bob", "Cy", "Fay"]
    assert [one.age for one in person] == [1, 2, 0, 0]
    assert [one.population for one in cities] == [545796, 2873000]
    db.close()
    with joedb.open(db.name, "r") as again:
        assert [one.name for one in again.person] == ["Ann", "Bob", "Cy", "Fay"]
        assert len(again.city) == 2


def test_a_call_that_cannot_be_taken_back_ends_the_transaction(db, cities):
    with pytest.raises(joedb.Error, match="has failed in the middle: everything is taken back"):
        with db.transaction():
            db.create_table("other")
            with pytest.raises(OverflowError):
                cities[:].update(population=[5, 6, 2**70])
    assert list(db) == ["city", "person"]
    assert [one.population for one in cities] == [709000, 545796, 2873000]


def test_rows_may_end_the_transaction_that_they_are_in(db):
    def rows(transaction):
        yield {"name": "Oslo"}
        transaction.rollback()
        yield {"name": 3}

    with db.transaction() as transaction:
        with pytest.raises(TypeError):
            db.city.insert_many(rows(transaction))
    assert len(db.city) == 0
    db.city.insert(name="Rome")


def test_a_lock_timeout_says_who_and_how_long(db, path):
    db.close()
    with joedb.open(path, "shared") as first, joedb.open(path, "shared", timeout=0.1) as second:
        with first.transaction(), pytest.raises(joedb.LockTimeout) as caught:
            second.city.insert(name="x")
    error = caught.value
    assert error.filename == path and error.errno == errno.EAGAIN
    assert error.waited >= 0.1 and isinstance(error.process, int) and error.holder != ""
