"""What has changed in a database, as `Database.changes` and `Record.history` return it."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple


class Change(NamedTuple):
    """One change of a record, a table or a field."""

    #: "inserted", "updated" or "deleted"; "table_created", "table_renamed", "table_dropped",
    #: "field_added", "field_renamed", "field_dropped", "field_typed"; or "mark".
    kind: str
    table: str | None
    #: The id of the record; None for a change of a table or field.
    id: int | None
    #: Values by field name; for an update, only the changed ones. References are ids.
    before: dict[str, Any]
    after: dict[str, Any]
    #: The name of the field; None unless a field has changed.
    field: str | None
    #: The old name of a renamed table or field.
    old_name: str | None


class Transaction(NamedTuple):
    """Where a transaction is in the journal, and what it has changed."""

    begin: int
    end: int
    #: In UTC. If the transaction has no time, that of the last one before it that has; or None.
    time: datetime.datetime | None
    author: str
    comments: tuple[str, ...]
    #: False for entries after the end of the last complete transaction.
    is_complete: bool
    #: None if only the transaction itself was requested.
    changes: list[Change] | None

    @property
    def why(self) -> str:
        """The first comment."""
        return self.comments[0] if self.comments else ""


class Version(NamedTuple):
    """What a record was from one transaction to another one."""

    values: dict[str, Any]
    since: Transaction
    #: The transaction that changed or deleted it; None for the current version.
    until: Transaction | None


def _time(seconds: int) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    except (OverflowError, ValueError, OSError):
        return None  # out of the range of datetime
