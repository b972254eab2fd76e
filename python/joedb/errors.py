"""What goes wrong. The texts are those of the engine."""

from __future__ import annotations


class Error(Exception):
    """The base of all errors of joedb."""


class Closed(Error):
    """The database was closed, or was opened before a fork of the process."""


class IoError(Error, OSError):
    """A system call has failed: `errno` and `filename` say which."""

    def __init__(self, text: str = "") -> None:
        OSError.__init__(self, text)

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class FileMissing(IoError, FileNotFoundError):
    """There is no such file."""


class FileExists(IoError, FileExistsError):
    """There is a file of this name already."""


class NoPermission(IoError, PermissionError):
    """The system does not allow it."""


class FileLocked(IoError, BlockingIOError):
    """Another program is writing the file alone."""


class LockTimeout(Error, TimeoutError):
    """Somebody else, or another thread, has written for longer than `timeout`. Try again.
    `filename` is the file, `process` and `holder` say who writes (0 and "" if that is unknown), and
    `waited` has the seconds."""

    process: int
    holder: str
    waited: float

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DiskFull(IoError):
    """There is no room on the disk. What was written before is there; open the file again."""


class WriteDisabled(Error):
    """A write has failed before (`failure`): nothing is written any more. Open the file again."""

    failure: str


class CorruptionError(Error):
    """Bytes of the file, at `offset`, are not what they should be."""

    offset: int


class UnfinishedTransaction(Error):
    """The file goes on behind its checkpoint: a program was killed in a transaction. Open it with
    recovery="keep" (the bytes are saved in another file) or "overwrite"."""

    checkpoint: int
    size: int


class DataError(Error, ValueError):
    """What does not fit the content: a table, a name or a record that is not there, or is."""


class UniqueViolation(DataError):
    """A key that another record has already: `index` is the name of the unique index, `record` the
    record that would get the key, and `other` the one that has it; both are ids, or None for a row
    that has no record."""

    index: str
    record: int | None
    other: int | None


class ConnectionLost(Error, ConnectionError):
    """The server cannot be reached."""


class Disconnection(Error):
    """The server refuses."""


class ContentMismatch(Disconnection):
    """The file and that of the server are not copies of each other."""


class Conflict(Disconnection):
    """Somebody else has pushed meanwhile."""


class SqlError(Error):
    """SQLite does not understand the statement, or cannot run it."""


class SchemaMismatch(Error):
    """The file lacks tables or fields that the program knows (`joedbc --python`)."""
