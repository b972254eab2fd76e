"""Random commands, compared with dicts."""

import pathlib
import tempfile
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

import joedb

TYPES: dict[str, Any] = {
    "text": str,
    "small": "int8",
    "large": "int64",
    "single": "float32",
    "double": float,
    "flag": bool,
    "bytes_": bytes,
    "parent": "references t",
}
DEFAULTS = {
    "text": "",
    "small": 0,
    "large": 0,
    "single": 0.0,
    "double": 0.0,
    "flag": False,
    "bytes_": None,
    "parent": None,
}
VALUES = {
    "text": st.text(max_size=30),
    "small": st.integers(-128, 127),
    "large": st.integers(-(2**63), 2**63 - 1),
    "single": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "flag": st.booleans(),
    "bytes_": st.binary(max_size=30) | st.none(),
    "parent": st.integers(0, 20) | st.none(),
}
SOME_VALUES = st.fixed_dictionaries({}, optional=VALUES)


class Database_Against_Dicts(RuleBasedStateMachine):
    """A table of all types, in a file that is closed and opened, against a dict of dicts."""

    ids = Bundle("ids")

    @initialize()
    def begin(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.path = str(pathlib.Path(self.directory.name) / "t.joedb")
        self.db = joedb.open(self.path)
        self.table = self.db.create_table("t", text=str)
        for name, kind in TYPES.items():
            if name != "text":
                self.table.add_field(name, kind)
        self.model: dict[int, dict[str, Any]] = {}
        self.saved: dict[int, dict[str, Any]] | None = None
        self.transaction: joedb.Transaction | None = None
        self.states: list[tuple[int, dict[int, dict[str, Any]]]] = []
        self.arrays: list[tuple[Any, list[int]]] = []

    def teardown(self) -> None:
        if hasattr(self, "db"):
            self.db.close()
            self.directory.cleanup()

    def copy(self) -> dict[int, dict[str, Any]]:
        return {id: dict(values) for id, values in self.model.items()}

    @rule(target=ids, values=SOME_VALUES)
    def insert(self, values: dict[str, Any]) -> int:
        record = self.table.insert(**values)
        assert record.id not in self.model
        self.model[record.id] = {**DEFAULTS, **values}
        return record.id

    @rule(id=ids, values=SOME_VALUES)
    def update(self, id: int, values: dict[str, Any]) -> None:
        if id in self.model:
            self.table[id].update(**values)
            self.model[id].update(values)
        else:
            assert id not in self.table

    @rule(id=consumes(ids))
    def delete(self, id: int) -> None:
        if self.model.pop(id, None) is not None:
            self.table.delete(id)

    @rule(rows=st.lists(st.fixed_dictionaries({"text": VALUES["text"], "large": VALUES["large"]})))
    def insert_many(self, rows: list[dict[str, Any]]) -> None:
        schema = pa.schema({"text": pa.string(), "large": pa.int64()})
        new = list(self.table.insert_many(pa.Table.from_pylist(rows, schema)))
        assert len(new) == len(rows)
        for id, row in zip(new, rows):
            assert id not in self.model
            self.model[id] = {**DEFAULTS, **row}

    @precondition(lambda self: self.transaction is None)
    @rule()
    def begin_transaction(self) -> None:
        self.transaction = self.db.transaction()
        self.transaction.__enter__()
        self.saved = self.copy()

    @precondition(lambda self: self.transaction is not None)
    @rule(is_commit=st.booleans())
    def end_transaction(self, is_commit: bool) -> None:
        assert self.transaction is not None and self.saved is not None
        if is_commit:
            self.transaction.__exit__(None, None, None)
        else:
            self.transaction.__exit__(RuntimeError, RuntimeError(), None)
            self.model = self.saved
        self.transaction = None

    @precondition(lambda self: self.transaction is None)
    @rule()
    def open_again(self) -> None:
        self.db.close()
        self.db = joedb.open(self.path)
        self.table = self.db.t

    @precondition(lambda self: self.transaction is None)
    @rule()
    def remember_state(self) -> None:
        self.states.append((self.db.checkpoint, self.copy()))

    @rule()
    def take_array(self) -> None:
        self.arrays.append((self.table.large, [self.model[id]["large"] for id in sorted(self.model)]))

    @rule(value=VALUES["small"])
    def find(self, value: int) -> None:
        expected = [id for id in sorted(self.model) if self.model[id]["small"] == value]
        assert self.table.where(small=value).ids.tolist() == expected
        found = self.db.sql("select __id from t where small = ? order by __id", [value])
        assert [row[0] for row in found] == expected

    @invariant()
    def content_is_the_same(self) -> None:
        if not hasattr(self, "db"):
            return
        self.compare(self.table, self.model)
        for array, values in self.arrays:
            assert array.tolist() == values

    @staticmethod
    def compare(table: joedb.Table, model: dict[int, dict[str, Any]]) -> None:
        assert table.ids.tolist() == sorted(model)
        assert len(table) == len(model)
        for record in table:
            values = record.as_dict()
            if values["parent"] is not None:
                values["parent"] = values["parent"].id
            assert values == model[record.id]
        for name in ("small", "large", "single", "double", "flag"):
            expected = np.array([model[id][name] for id in sorted(model)], table[name].dtype)
            assert np.array_equal(table[name], expected)

    @precondition(lambda self: self.states)
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        position, model = data.draw(st.sampled_from(self.states))
        with self.db.at(position) as past:
            self.compare(past.t, model)

    @precondition(lambda self: self.states and self.transaction is None)
    @rule()
    def replay_changes(self) -> None:
        position, model = self.states[-1]
        state = {id: dict(values) for id, values in model.items()}
        for transaction in self.db.changes(position):
            for change in transaction.changes or []:
                assert change.id is not None
                if change.kind == "inserted":
                    state[change.id] = dict(change.after)
                elif change.kind == "updated":
                    for name, value in change.before.items():
                        assert state[change.id][name] == value
                    state[change.id].update(change.after)
                else:
                    assert state.pop(change.id) == change.before
        assert state == self.model


TestModel = Database_Against_Dicts.TestCase
TestModel.settings = hypothesis.settings(
    max_examples=60, stateful_step_count=30, deadline=None, derandomize=False
)
