"""Tables as files of Parquet, Arrow and Feather: `python -m joedb.export parquet FILE TABLE OUT`."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import signal
import stat
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow
from pyarrow import ipc

from . import _joedb, _methods
from .errors import Error

FORMATS = ("parquet", "arrow", "feather")


def write(
    table: _joedb.Table,
    path: str | os.PathLike[str],
    format: str = "parquet",
    *,
    fields: Sequence[str] | None = None,
    ids: bool = False,
    times: Sequence[str] = (),
    replace: bool = False,
) -> int:
    """Writes a table to a new file, which appears when it is complete and on the disk. Returns the
    number of records. Their order is that of their ids; a reference is an id, or null.

    format   "parquet"; "arrow", the file format of Arrow, which can be mapped into memory; or
             "feather", the same, compressed with LZ4.
    fields   only these.
    ids      with a first column `__id`.
    times    these fields are times, in seconds since 1970.
    replace  a file that is there; otherwise it raises FileExistsError.
    """
    if format not in FORMATS:
        raise ValueError(f"{format!r} is no format: {', '.join(FORMATS)}")
    stream = _methods._Stream(table._arrow_stream(fields, ids, False))
    reader = pyarrow.RecordBatchReader.from_stream(stream)
    schema = _methods._schema_with_times(reader.schema, table, times)
    count = 0
    with _new_file(path, replace) as file, _writer(file, schema, format) as writer:
        for batch in reader:
            columns = [
                array if array.type == field.type else array.cast(field.type)
                for array, field in zip(batch.columns, schema)
            ]
            writer.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
            count += batch.num_rows
    return count


def _writer(file: BinaryIO, schema: Any, format: str) -> Any:
    if format == "parquet":
        from pyarrow import parquet

        return parquet.ParquetWriter(file, schema)
    compression = "lz4" if format == "feather" else None
    options = ipc.IpcWriteOptions(compression=compression)
    return ipc.new_file(file, schema, options=options)


@contextlib.contextmanager
def _new_file(path: str | os.PathLike[str], replace: bool) -> Iterator[BinaryIO]:
    """Opens a file under a temporary name, and renames it when it is complete and on the disk."""
    name = os.path.realpath(path) if replace else os.fspath(path)
    if os.path.lexists(name):
        if not replace:
            raise FileExistsError(f"{name}: exists")
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise FileExistsError(f"{name}: is no regular file, and cannot be replaced")
    temporary = f"{name}.tmp-{os.getpid()}-{secrets.token_hex(4)}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)  # left by a killed process
    try:
        old = os.stat(name) if replace and os.path.exists(name) else None
        mode = 0o666 if old is None else 0o600
        with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            if old is not None:
                _keep_permissions(file.fileno(), old)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(temporary, name)
        else:
            _rename_to_new(temporary, name)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(os.path.dirname(name) or ".")


def _keep_permissions(descriptor: int, old: os.stat_result) -> None:
    """Copies the permissions of the replaced file, and its owner and group if this user may."""
    mode = stat.S_IMODE(old.st_mode)
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except PermissionError:
        mode &= 0o777
        try:
            os.fchown(descriptor, -1, old.st_gid)
        except PermissionError:  # another group gets only the permissions of others
            mode &= ~0o070 | (mode & 0o007) << 3
    os.fchmod(descriptor, mode)


def _rename_to_new(temporary: str, name: str) -> None:
    try:
        os.link(temporary, name)
    except FileExistsError:
        raise FileExistsError(f"{name}: exists") from None
    except OSError:  # the file system has no hard links
        if os.path.lexists(name):
            raise FileExistsError(f"{name}: exists") from None
        os.rename(temporary, name)
    else:
        os.unlink(temporary)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# ---- the command line ------------------------------------------------------------------------------


class _Stopped(BaseException):
    def __init__(self, signal_number: int) -> None:
        self.signal_number = signal_number


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _stop(signal_number: int, _frame: types.FrameType | None) -> None:
    # The terminal and the parent process may both send a signal: only the first one counts.
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise _Stopped(signal_number)


def _list(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _parse(arguments: Sequence[str], program: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("out", metavar="OUT")
    parser.add_argument("--id", action="store_true", help="begin with a column __id")
    parser.add_argument("--skip", type=_list, default=[], metavar="FIELD,...", help="leave these out")
    parser.add_argument(
        "--time", type=_list, default=[], metavar="FIELD,...", help="seconds since 1970: times"
    )
    parser.add_argument(
        "--until", metavar="P", help="the file as it was: a position, a time, or the name of a tag"
    )
    parser.add_argument("--force", action="store_true", help="replace what is there")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> None:
    if os.path.exists(options.out) and os.path.samefile(options.file, options.out):
        raise FileExistsError(f"{options.out}: is the database itself")
    with _methods.open(options.file, "r") as database:
        until = options.until
        if until is not None:
            database = database.at(int(until) if until.isdigit() else until)
        table = database[options.table]
        known = table.fields
        for name in options.skip:
            if name not in known:
                raise ValueError(f"{options.table} has no field {name}")
        write(
            table,
            options.out,
            options.format,
            fields=[name for name in known if name not in options.skip],
            ids=options.id,
            times=options.time,
            replace=options.force,
        )


def main(arguments: Sequence[str], program: str = "python -m joedb.export") -> int:
    """Runs the command. Returns the exit code: 0 success, 1 failure. Raises SystemExit with code 2
    if the command line is wrong."""
    options = _parse(arguments, program)
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # ignored under nohup
            signal.signal(number, _stop)
    try:
        _run(options)
    except _Stopped as stopped:
        signal.signal(stopped.signal_number, signal.SIG_DFL)
        os.kill(os.getpid(), stopped.signal_number)
    except KeyError as error:
        print(f"{program}: {error.args[0]}", file=sys.stderr)
        return 1
    except UnicodeEncodeError:
        print(f"{program}: a name that is not UTF-8 cannot be opened", file=sys.stderr)
        return 1
    except (Error, OSError, ValueError, MemoryError, pyarrow.ArrowException) as error:
        print(f"{program}: {error or 'out of memory'}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
