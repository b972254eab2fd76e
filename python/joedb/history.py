"""What has changed in a database, as `Database.changes` and `Record.history` return it."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple


class Change(NamedTuple):
    """One change of a record, a table or a field."""

    #: "inserted", "updated" or "deleted"; "table_created", "table_renamed", "table_dropped",
    #: "field_added", "field_renamed", "field_dropped"; or "mark".
    kind: str
    table: str | None
    #: Of the record; None if it is a change of a table or field.
    id: int | None
    #: Values by field: of an update those that have changed. References are ids.
    before: dict[str, Any]
    after: dict[str, Any]
    #: The name of the field, if it is a change of one.
    field: str | None
    #: The name that the table or field had before.
    old_name: str | None


class Transaction(NamedTuple):
    """Where a transaction is in the journal, and what it has changed."""

    begin: int
    end: int
    #: In UTC: that of the transaction, else the last one before; None if there is none.
    time: datetime.datetime | None
    author: str
    comments: tuple[str, ...]
    #: False for what follows the last one that has an end.
    is_complete: bool
    #: None where only the transaction itself was asked for.
    changes: list[Change] | None

    @property
    def why(self) -> str:
        """The first comment."""
        return self.comments[0] if self.comments else ""


class Version(NamedTuple):
    """What a record was from one transaction to another one."""

    values: dict[str, Any]
    since: Transaction
    #: None: it is so now.
    until: Transaction | None


def _time(seconds: int) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    except (OverflowError, ValueError, OSError):
        return None  # beyond what a datetime can be
