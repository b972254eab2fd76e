"""Ctrl-C in long calls, and what can be done after a full disk."""

import resource
import signal
import time

import numpy as np
import pyarrow as pa
import pytest

import joedb

ROWS = 3_000_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("large") / "large.joedb")
    with joedb.open(path) as db:
        table = db.create_table("t", name=str, value=int)
        names = pa.array([f"name {i}" for i in range(ROWS // 10)])
        table.insert_many(
            pa.table({"name": pa.chunked_array([names] * 10), "value": np.arange(ROWS)})
        )
        yield db


def test_ctrl_c_is_heard_in_long_calls(large):
    def stop(*_):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, stop)
    try:
        for call in (
            lambda: joedb.open(large.name, "r"),
            lambda: large.at(large.checkpoint),
            lambda: large.t.name,
            lambda: large.sql("select count(*) from t a, t b where a.value < b.value"),
            lambda: large.t.where().update(value=1),
        ):
            start = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            with pytest.raises(KeyboardInterrupt):
                call()
                time.sleep(1)  # it was faster than the signal
            assert time.monotonic() - start < 2  # 0.1 s on an idle machine
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert large.t.value.sum() == ROWS * (ROWS - 1) // 2
    assert joedb.open(large.name, "r").t.value.sum() == ROWS * (ROWS - 1) // 2


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
