"""Copies of what a server has. $JOEDB_TOOLS is the folder of the tools."""

import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator

import pytest

import joedb

TOOLS = os.environ.get("JOEDB_TOOLS", "")

pytestmark = pytest.mark.skipif(not TOOLS, reason="JOEDB_TOOLS is not set")


@pytest.fixture
def server(tmp_path: pathlib.Path) -> Iterator[str]:
    """The socket of a server."""
    with joedb.open(tmp_path / "served.joedb") as db:
        db.create_table("city", name=str).insert(name="Oslo")
    with subprocess.Popen(
        [os.path.join(TOOLS, "joedb_server"), "--verbose", "served.joedb"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "served.joedb.sock" in line:
                break
        yield str(tmp_path / "served.joedb.sock")
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == 0


def test_copies_follow_each_other(server, tmp_path):
    with (
        joedb.open(tmp_path / "a.joedb", server=server) as a,
        joedb.open(":memory:", server=server) as b,
    ):
        assert [city.name for city in a.city] == ["Oslo"]
        a.city.insert(name="Rome")
        with b.transaction("from b"):
            assert len(b.city) == 2
            b.city[0].name = "Christiania"
        assert a.pull() > 0
        assert [city.name for city in a.city] == ["Christiania", "Rome"]
        assert a.pull(0.01) == 0
        with pytest.raises(RuntimeError):
            with a.transaction():
                a.city.insert(name="x")
                raise RuntimeError
        b.pull()
        assert len(b.city) == 2


def test_a_copy_of_something_else_is_an_error(server, tmp_path):
    with joedb.open(tmp_path / "other.joedb") as other:
        other.create_table("something_else", x=int)
    with pytest.raises(joedb.ContentMismatch):
        joedb.open(tmp_path / "other.joedb", server=server)


def test_a_server_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ConnectionError):
        joedb.open(tmp_path / "a.joedb", server=str(tmp_path / "nobody.sock"))
    with pytest.raises(joedb.Error, match="reading only"):
        joedb.open(tmp_path / "a.joedb", "r", server="x")
