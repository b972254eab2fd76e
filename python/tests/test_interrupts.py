"""Ctrl-C in long calls, and what can be done after a full disk."""

import contextlib
import datetime
import os
import resource
import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import joedb

ROWS = 3_000_000
TRANSACTIONS = 50_000
#: Seconds of CPU time, as others may use the machine: when the signal comes, and how much later the
#: handler must have run.
SIGNAL = 0.02
LONGEST = 0.5


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A large table, whose values one transaction has changed, and many short transactions."""
    path = str(tmp_path_factory.mktemp("large") / "large.joedb")
    with joedb.open(path) as db:
        table = db.create_table("t", name=str, value=int)
        other = db.create_table("s", value=int)
        for i in range(TRANSACTIONS):
            other.insert(value=i)
        table.insert_many(frame(0))
        with db.transaction("all values"):
            table.where().update(value=1)
        yield db


def frame(first_id):
    names = pa.chunked_array([pa.array([f"name {i}" for i in range(ROWS // 10)])] * 10)
    ids = np.arange(first_id, first_id + ROWS)
    return pa.table({"__id": ids, "name": names, "value": np.arange(ROWS)})


#: Each takes long on the database `large`. What it changes is taken back.
CALLS = {
    "open": lambda db, rows: joedb.open(db.name, "r"),
    "at": lambda db, rows: db.at(db.checkpoint),
    "at a time": lambda db, rows: db.at(datetime.datetime.now(datetime.timezone.utc)),
    "texts": lambda db, rows: db.t.name,
    "slice": lambda db, rows: db.t[::-1].ids,
    "mask": lambda db, rows: db.t[np.arange(ROWS) % 3 > 0],
    "ids": lambda db, rows: db.t[np.arange(ROWS)],
    "where": lambda db, rows: db.t.where(name__lt="o", value__ge=0, name__startswith="name"),
    "where one of": lambda db, rows: db.t.where(name=rows["name"]),
    "update": lambda db, rows: db.t.where().update(value=2),
    "update of each": lambda db, rows: db.t.where().update(value=rows["value"]),
    "delete": lambda db, rows: db.t.where().delete(),
    "insert columns": lambda db, rows: db.t.insert_many(rows.drop_columns(["__id"])),
    "insert ids": lambda db, rows: db.t.insert_many(rows, ids=True),
    "insert dicts": lambda db, rows: db.s.insert_many({"value": i} for i in range(ROWS)),
    "insert a table": lambda db, rows: db.t.insert_many(db.t),
    "upsert": lambda db, rows: db.t.upsert(rows, "__id"),
    "upsert dicts": lambda db, rows: db.s.upsert(
        [{"value": i} for i in range(TRANSACTIONS, 3 * TRANSACTIONS)], "value"
    ),
    "sql: a join": lambda db, rows: db.sql(
        "select count(*) from t a, t b where a.value < b.value"
    ),
    "sql: an index": lambda db, rows: db.sql("select count(*) from t join s on name = s.value"),
    "sql: an order": lambda db, rows: db.sql("select value from t order by name desc limit 1"),
    "sql: groups": lambda db, rows: db.sql("select name, sum(value) from t group by name"),
    "sql: rows": lambda db, rows: db.sql("select * from t"),
    "changes": lambda db, rows: list(db.changes()),
    "changes since": lambda db, rows: list(db.changes(since=db.checkpoint)),
    "log": lambda db, rows: db.log(),
    "log of changes": lambda db, rows: db.log(changes=True),
    "history": lambda db, rows: db.s[0].history(),
    "can_undo": lambda db, rows: db.can_undo(),
    "to_arrow": lambda db, rows: db.t.to_arrow(),
    "to_arrow of some": lambda db, rows: db.t.where(value=1).to_arrow(["name"], ids=True),
}
#: These are transactions of their own.
TRANSACTION_CALLS = {
    "undo": lambda db: db.undo(),
    "write_snapshot": lambda db: db.write_snapshot(),
}


def interrupt(call):
    """Runs this until a signal comes. Returns the CPU time between the signal and its handler."""
    heard = []

    def stop(*_):
        heard.append(time.process_time())
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGPROF, stop)
    try:
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SIGNAL)
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
    return heard[0] - start - SIGNAL


def require_unchanged(db):
    assert (db.t.value.sum(), len(db.t), len(db.s)) == (ROWS, ROWS, TRANSACTIONS)
    with pytest.raises(ZeroDivisionError), db.transaction():
        db.t[0].value = 7
        db.s.insert(value=1)
        1 / 0
    assert (db.t[0].value, db.t[0].name) == (1, "name 0")


class TakenBack(Exception):
    pass


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_is_heard_in_a_long_call(large, name):
    rows = frame(ROWS)
    checkpoint = large.checkpoint
    is_change = name.startswith(("update", "delete", "insert", "upsert"))

    def call():
        while True:  # until the signal comes
            with contextlib.suppress(TakenBack):
                with large.transaction() if is_change else contextlib.nullcontext():
                    CALLS[name](large, rows)
                    raise TakenBack

    assert interrupt(call) < LONGEST
    assert large.checkpoint == checkpoint
    require_unchanged(large)


@pytest.mark.parametrize("name", [name for name in CALLS if name.startswith(("up", "de", "in"))])
def test_ctrl_c_from_another_thread_leaves_no_transaction(large, name):
    """The thread needs the interpreter to send the signal."""
    rows = frame(ROWS)
    checkpoint = large.checkpoint
    sent = []

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(SIGNAL, send)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        CALLS[name](large, rows)
        timer.join()  # the call was shorter
        pytest.fail("no signal")
    duration = time.process_time() - sent[0]
    assert large.checkpoint == checkpoint, f"the change stayed, after {duration} s"
    assert duration < LONGEST
    require_unchanged(large)


@pytest.mark.parametrize("name", TRANSACTION_CALLS)
def test_ctrl_c_is_heard_in_a_long_transaction(large, name):
    assert interrupt(lambda: TRANSACTION_CALLS[name](large)) < LONGEST
    require_unchanged(large)
    folder, file = os.path.split(large.name)
    assert os.listdir(folder) == [file]  # and no part of a snapshot
    assert joedb.open(large.name, "r").t.value.sum() == ROWS


def test_reading_goes_on_after_a_full_disk(tmp_path):
    path = str(tmp_path / "full.joedb")
    db = joedb.open(path)
    table = db.create_table("t", name=str)
    table.insert(name="before")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limit[1]))
    try:
        with pytest.raises(joedb.DiskFull, match="close the database, and open it again"):
            with db.transaction():
                for i in range(10_000):
                    table.insert(name=f"{i:0100}")
        assert [record.name for record in table] == ["before"]
        assert db.sql("select name from t") == [("before",)]
        assert table.to_arrow().num_rows == 1
        assert len(table.where(name="before")) == 1
        with pytest.raises(joedb.WriteDisabled, match="close the database, and open it again"):
            table.insert(name="x")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    db.close()
    with joedb.open(path, recovery="overwrite") as again:
        again.t.insert(name="after")
        assert [record.name for record in again.t] == ["before", "after"]
