"""Logical types in Python: values, conditions, columns and data frames."""

import datetime
import decimal
import json
import math
import typing
import uuid

import joedb
import joedb.export
import numpy
import pytest

UTC = datetime.timezone.utc
NOON = datetime.datetime(2026, 1, 31, 12, 0, 0, 250000, tzinfo=UTC)
ID = uuid.UUID("2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77")


@pytest.fixture
def db():
    with joedb.open(":memory:") as database:
        yield database


@pytest.fixture
def invoice(db):
    return db.create_table(
        "invoice",
        born="date optional",
        at=datetime.datetime,
        late="duration(ms) optional",
        total="decimal(2)",
        state="enum(open,paid,late)",
        seal="bytes optional",
        key=uuid.UUID,
        doc="json optional",
        sent="boolean optional",
        count="int32 optional",
        weight="float64 optional",
        note="string optional",
    )


FULL = {
    "born": datetime.date(1815, 12, 10),
    "at": NOON,
    "late": datetime.timedelta(hours=1, milliseconds=5),
    "total": decimal.Decimal("12.50"),
    "state": "paid",
    "seal": b"\xff\xff",
    "key": ID,
    "doc": '{"a": 1}',
    "sent": True,
    "count": 7,
    "weight": 1.5,
    "note": "x",
}
EMPTY = {name: None for name in FULL} | {
    "at": datetime.datetime(1970, 1, 1, tzinfo=UTC),
    "total": decimal.Decimal("0.00"),
    "state": "open",
    "key": b"",
}


def test_values_come_back_as_they_were(invoice):
    assert invoice.insert(**FULL).as_dict() == FULL
    assert invoice.insert().as_dict() == EMPTY
    record = invoice[1]
    record.update(**FULL)
    assert record.as_dict() == FULL
    assert str(record.total) == "12.50"
    assert record.at.tzinfo is UTC
    record.born = record.sent = record.note = record.weight = None
    assert (record.born, record.sent, record.note, record.weight) == (None, None, None, None)


def test_a_reused_id_has_no_value(invoice):
    invoice.insert(**FULL).delete()
    assert invoice.insert().as_dict() == EMPTY


def test_types_are_shown(invoice):
    assert invoice.fields["born"] == "date optional"
    assert invoice.fields["at"] == "timestamp"
    assert invoice.fields["state"] == "enum(open,paid,late)"
    assert "total: decimal(2)" in repr(invoice)
    assert "state='paid'" in repr(invoice.insert(**FULL))


def test_other_types_of_python_are_converted(invoice):
    record = invoice.insert(**FULL)
    record.at = "2026-01-31T12:00:00Z"
    assert record.at == NOON.replace(microsecond=0)
    record.at = datetime.datetime(2026, 1, 31, 12)  # in UTC
    assert record.at == NOON.replace(microsecond=0)
    record.at = NOON.astimezone(datetime.timezone(datetime.timedelta(hours=5)))
    assert record.at == NOON
    record.at = numpy.datetime64("2026-01-31T12:00", "s")
    assert record.at == NOON.replace(microsecond=0)
    record.at = datetime.date(2026, 1, 31)
    assert record.at == NOON.replace(hour=0, microsecond=0)
    record.born = numpy.datetime64("2026-01-31")
    assert record.born == datetime.date(2026, 1, 31)
    record.born = datetime.datetime(2026, 1, 30)
    assert record.born == datetime.date(2026, 1, 30)
    record.born = numpy.datetime64("NaT")
    assert record.born is None
    record.late = numpy.timedelta64(90, "s")
    assert record.late == datetime.timedelta(seconds=90)
    record.late = "PT1M"
    assert record.late == datetime.timedelta(seconds=60)
    for total, text in [(7, "7.00"), (0.1, "0.10"), ("-1.5", "-1.50"), (numpy.int8(3), "3.00")]:
        record.total = total
        assert str(record.total) == text
    record.key = str(ID)
    assert record.key == ID
    record.key = ID.bytes
    assert record.key == ID
    record.seal = bytearray(b"\0")
    assert record.seal == b"\0"
    record.doc = {"b": ["é", None]}
    assert json.loads(record.doc) == {"b": ["é", None]}
    record.sent = numpy.bool_(False)
    assert record.sent is False


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"state": "payed"}, ValueError, "enum.open,paid,late., which 'payed' is not: open, paid or late expected"),
        ({"state": 1}, TypeError, "which 1 is not"),
        ({"state": None}, TypeError, "which None is not"),
        ({"born": 5}, TypeError, "invoice.born is date optional, which 5 is not: date like 2026-01-31 expected"),
        ({"born": NOON}, ValueError, "cannot have all of"),
        ({"born": "tomorrow"}, ValueError, "date like"),
        ({"late": datetime.timedelta(microseconds=1)}, ValueError, "cannot have all of"),
        ({"total": decimal.Decimal("1.234")}, ValueError, "at most 2 digits"),
        ({"total": decimal.Decimal("1e40")}, OverflowError, "decimal"),
        ({"total": math.nan}, ValueError, "decimal"),
        ({"key": b"short"}, ValueError, "UUID like"),
        ({"seal": "text"}, TypeError, "bytes optional"),
        ({"seal": b"\xff"}, ValueError, "bytes optional"),
        ({"doc": "{"}, ValueError, "invoice.doc is json optional, which '{' is not: Expecting"),
        ({"at": numpy.datetime64("NaT")}, TypeError, "invoice.at is timestamp, which .*NaT.* is not"),
        ({"sent": 2}, TypeError, "true or false expected"),
        ({"count": -(2**31)}, ValueError, "int32 optional"),
    ],
)  # fmt: skip
def test_what_a_type_does_not_have_is_an_error(invoice, values, error, text):
    with pytest.raises(error, match=text):
        invoice.insert(**values)
    assert len(invoice) == 0


def test_times_of_numpy_do_not_overflow(db):
    table = db.create_table(
        "t", at="timestamp(ns)", late="duration(us)", day="date", slow="duration(s)"
    )
    for values, error in [
        ({"at": numpy.datetime64("9999-01-01")}, OverflowError),
        ({"at": numpy.datetime64(10**17, "Y")}, OverflowError),
        ({"late": numpy.timedelta64(9 * 10**9, "D")}, OverflowError),
        ({"late": numpy.timedelta64(1, "M")}, TypeError),
        ({"late": numpy.timedelta64(5)}, TypeError),
        ({"late": numpy.timedelta64(1, "ns")}, ValueError),
        ({"day": numpy.datetime64("2026-01-31T12")}, ValueError),
        ({"day": numpy.datetime64(2**31, "D")}, OverflowError),
    ]:
        with pytest.raises(error, match="t[.]"):
            table.insert(**values)
    assert len(table) == 0
    record = table.insert(
        at=numpy.datetime64("2026-01"),
        late=numpy.timedelta64(3, "W"),
        day=numpy.datetime64("1815"),
        slow=numpy.timedelta64(-2, "h"),
    )
    assert record.at == datetime.datetime(2026, 1, 1, tzinfo=UTC)
    assert record.late == datetime.timedelta(weeks=3)
    assert record.day == datetime.date(1815, 1, 1)
    assert record.slow == -datetime.timedelta(hours=2)
    record.late = numpy.timedelta64(7, ("s", 25))
    assert record.late == datetime.timedelta(seconds=175)
    record.late = numpy.timedelta64(-3000, "ns")
    assert record.late == -datetime.timedelta(microseconds=3)


def test_conditions(invoice):
    full, empty = invoice.insert(**FULL), invoice.insert()
    late = invoice.insert(**{**FULL, "state": "late", "total": 20, "born": "1990-01-01"})
    for name, value in FULL.items():
        assert full in list(invoice.where(**{name: value})), name
        assert empty not in list(invoice.where(**{name: value})), name
    for name, value in EMPTY.items():
        if value is None:
            assert list(invoice.where(**{name: None})) == [empty], name
            assert list(invoice.where(**{name + "__ne": None})) == [full, late], name
    assert list(invoice.where(state=["open", "late"])) == [empty, late]
    assert list(invoice.where(born=[None, datetime.date(1990, 1, 1)])) == [empty, late]
    assert list(invoice.where(weight=[None, 2.5])) == [empty]
    assert list(invoice.where(total__gt=decimal.Decimal("12.50"))) == [late]
    # Records without a value are not less or greater.
    assert list(invoice.where(born__lt=datetime.date(1900, 1, 1))) == [full]
    assert list(invoice.where(note__gt="a")) == [full, late]
    assert list(invoice.where(note__startswith="")) == [full, late]
    assert list(invoice.where(weight__lt=2)) == [full, late]
    assert list(invoice.where(count=range(-(10**10), 10))) == [full, late]
    with pytest.raises(TypeError, match="None has no order"):
        invoice.where(born__lt=None)
    with pytest.raises(ValueError, match="open, paid or late"):
        invoice.where(state="payed")


def test_conditions_of_plain_fields(db):
    table = db.create_table("t", n="int32", x=float, s=str, done=bool)
    table.insert_many([{"n": i, "x": i / 2, "s": str(i), "done": i > 1} for i in range(4)])
    for conditions in (
        {"n": 2},
        {"n": [2, 10**30]},
        {"n__gt": 1, "n__lt": 3},
        {"n": range(2, 3)},
        {"x": 1.0},
        {"s": ["2"]},
        {"done": True, "n__ne": 3},
    ):
        assert table.where(**conditions).ids.tolist() == [2], conditions
    assert len(table.where(n=10**30)) == 0


def test_columns(invoice):
    invoice.insert(**FULL)
    invoice.insert()
    assert invoice.born.dtype == "datetime64[D]"
    assert invoice.born[0] == numpy.datetime64("1815-12-10")
    assert numpy.isnat(invoice.born[1])
    assert invoice.at.dtype == "datetime64[us]"
    assert invoice.at[0] == numpy.datetime64("2026-01-31T12:00:00.25")
    assert not invoice.at.flags.owndata and not invoice.at.flags.writeable
    assert invoice.late.dtype == "timedelta64[ms]"
    assert numpy.isnat(invoice.late[1])
    assert math.isnan(invoice.weight[1]) and invoice.weight.dtype == "float64"
    for name in ("total", "state", "seal", "key", "doc", "sent", "count", "note"):
        assert list(invoice[name]) == [FULL[name], EMPTY[name]], name
    assert list(invoice.where(state="paid").column("born")) == [numpy.datetime64("1815-12-10")]
    assert invoice[invoice.at > numpy.datetime64("2000-01-01")].ids.tolist() == [0]


def test_types_of_new_fields(db):
    city = db.create_table("city")
    table = db.create_table(
        "t",
        a=typing.Optional[int],
        b=typing.Optional[bool],
        c=datetime.date,
        d=datetime.timedelta,
        e=typing.Optional[datetime.datetime],
        f=typing.Optional[bytes],
        g="enum(a, b) optional",
        h=bytes,
    )
    assert table.fields == {
        "a": "int64 optional", "b": "boolean optional", "c": "date", "d": "duration",
        "e": "timestamp optional", "f": "blob", "g": "enum(a,b) optional", "h": "blob",
    }  # fmt: skip
    table.insert(a=1)
    table.add_field("i", "date optional")
    assert table[0].i is None
    city.add_field("name", "string")
    for wrong in ("dat", "enum()", "decimal", "timestamp(h)", "blob optional", decimal.Decimal, dict):
        with pytest.raises((ValueError, TypeError)):
            city.add_field("x", wrong)
    with pytest.raises(ValueError, match="Did you mean date"):
        city.add_field("x", "dat")
    assert list(city.fields) == ["name"]
    assert db.create_table("t", c=datetime.date, exist_ok=True) == table
    with pytest.raises(joedb.SchemaMismatch):
        db.create_table("t", c="date optional", exist_ok=True)


def test_set_type(db):
    table = db.create_table("t", at=int, state="int8")
    table.insert(at=0, state=1)
    table.set_type("at", "timestamp(s)")
    table.set_type("state", "enum(open,paid)")
    assert table[0].as_dict() == {"at": datetime.datetime(1970, 1, 1, tzinfo=UTC), "state": "paid"}
    with pytest.raises(joedb.Error, match="is stored as int64"):
        table.set_type("at", "date")
    with pytest.raises(joedb.Error, match="names can only be added"):
        table.set_type("state", "enum(open)")
    table.set_type("at", "int64")
    assert table[0].at == 0


def test_retype(db):
    table = db.create_table("t", age=int, born=str)
    table.insert(age=300, born="2026-01-31")
    with pytest.raises(joedb.Error, match="does not fit int8; the first is record 0, with 300"):
        table.retype("age", "int8")
    table.retype("age", "decimal(2)")
    table.retype("born", "date optional")
    assert table[0].as_dict() == {
        "age": decimal.Decimal("300.00"),
        "born": datetime.date(2026, 1, 31),
    }
    table.retype("age", str)
    assert table[0].age == "300.00"
    with pytest.raises(KeyError):
        table.retype("size", "int8")
    with pytest.raises(joedb.Error, match="is string already"):
        table.retype("age", str)


def test_values_that_python_does_not_have_are_stored_values(db):
    table = db.create_table("t", day="int32")
    table.insert(day=-800_000)  # of the year -221
    table.set_type("day", "date")
    assert table[0].as_dict() == {"day": -800_000}


def test_history_has_the_values(invoice, db):
    record = invoice.insert(**FULL)
    record.state = "late"
    change = list(db.changes())[-1].changes[0]
    assert (change.before, change.after) == ({"state": "paid"}, {"state": "late"})
    assert record.history()[0].values == FULL


def test_upsert(invoice):
    invoice.insert(**FULL)
    invoice.upsert([{"key": ID, "state": "late", "born": None}, {"key": uuid.UUID(int=1)}], "key")
    assert invoice[0].state == "late" and invoice[0].born is None
    assert invoice[0].total == decimal.Decimal("12.50")
    assert invoice[1].born is None and invoice[1].key == uuid.UUID(int=1)


def test_rows_of_dicts(invoice):
    invoice.insert_many([{"total": "1.25"}, {"born": None, **{k: FULL[k] for k in ("at", "note")}}])
    assert invoice[0].total == decimal.Decimal("1.25")
    assert invoice[1].note == "x" and invoice[1].count is None


def test_pyarrow(invoice, db):
    pyarrow = pytest.importorskip("pyarrow")
    invoice.insert(**FULL)
    invoice.insert()
    table = invoice.to_arrow()
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert types["born"] == "date32[day]"
    assert types["at"] == "timestamp[us, tz=UTC]"
    assert types["late"] == "duration[ms]"
    assert types["total"] == "decimal128(19, 2)"
    assert types["sent"] == "bool"
    assert types["state"].startswith("dictionary<values=string, indices=int8")
    table.validate(full=True)
    rows = table.to_pylist()
    assert rows[0] == FULL
    assert rows[1] == {**EMPTY, "key": None}
    copy = db.create_table("copy", like=table.slice(0, 1))
    assert copy.fields == invoice.fields
    with pytest.raises(joedb.DataError, match="null"):  # a UUID without 16 bytes
        copy.insert_many(table)
    copy.insert_many(table.slice(0, 1))
    assert copy[0].as_dict() == FULL


def test_nulls_of_a_column_make_a_field_optional(db):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(
        {
            "a": [1, None], "b": [1, 2], "c": ["x", None], "d": [True, None],
            "e": [decimal.Decimal("1.5"), None], "f": [datetime.date(2026, 1, 1), None],
        }
    )  # fmt: skip
    made = db.create_table("made", like=table)
    assert made.fields == {
        "a": "int64 optional", "b": "int64", "c": "string optional", "d": "boolean optional",
        "e": "decimal(1) optional", "f": "date optional",
    }  # fmt: skip
    made.insert_many(table)
    assert [record.as_dict() for record in made] == table.to_pylist()


def test_pandas(invoice, db):
    pandas = pytest.importorskip("pandas")
    invoice.insert(**FULL)
    frame = invoice.to_pandas()
    assert str(frame["at"].dtype) == "datetime64[us, UTC]"
    assert frame["state"].dtype == "category"
    frame = pandas.DataFrame(
        {
            "at": pandas.to_datetime(["2026-01-31", None]),
            "n": pandas.array([1, None], dtype="Int64"),
            "x": [1.5, math.nan],
            "s": ["x", None],
        }
    )
    made = db.create_table("made", like=frame)
    kinds = made.fields
    assert kinds["at"].startswith("timestamp") and kinds["at"].endswith("optional")
    assert (kinds["n"], kinds["x"], kinds["s"]) == ("int64 optional", "float64", "string optional")
    made.insert_many(frame)
    assert made[1].at is None and made[1].n is None and made[1].s is None
    assert made[0].at == datetime.datetime(2026, 1, 31, tzinfo=UTC)


def test_times_keep_their_type_under_another_name(db):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {
            "At": numpy.array(["2026-01-31T12:00", "NaT"], "datetime64[ms]"),
            "Late": numpy.array([90, 5], "timedelta64[s]"),
        }
    )
    options = {"rename": {"At": "at"}, "ignore_unknown": True}
    made = db.create_table("made", like=frame, **options)
    assert made.fields == {"at": "timestamp(ms) optional", "Late": "duration(s)"}
    assert db.create_table("made", like=frame, exist_ok=True, **options) == made
    made.insert_many(frame, **options)
    assert made[0].at == datetime.datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert (made[1].at, made[1].Late) == (None, datetime.timedelta(seconds=5))


def test_nan_is_no_value_of_an_optional_field(db):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = db.create_table("t", total="decimal(2) optional", x="float64 optional")
    columns = {"total": [12.5, math.nan], "x": [math.nan, 1.0]}
    rows = [{"total": decimal.Decimal("12.50"), "x": None}, {"total": None, "x": 1.0}]
    arrays = {name: numpy.array(values) for name, values in columns.items()}
    for given in (pandas.DataFrame(columns), arrays):
        table.insert_many(given)
        assert [record.as_dict() for record in table] == rows
        table.delete(slice(None))


def test_polars(invoice):
    polars = pytest.importorskip("polars")
    invoice.insert(**{**FULL, "key": ID})
    invoice.insert()
    frame = polars.DataFrame(invoice)
    assert frame["born"].to_list() == [FULL["born"], None]
    assert frame["state"].to_list() == ["paid", "open"]
    assert frame["total"].to_list() == [FULL["total"], EMPTY["total"]]
    assert frame["at"].to_list()[0] == NOON


def test_duckdb(invoice, db):
    pytest.importorskip("duckdb")
    invoice.insert(**FULL)
    invoice.insert()
    found = db.duckdb().execute(
        "select born, late, total, state::varchar, key, sent, count, note from invoice"
    )
    names = ("born", "late", "total", "state", "key", "sent", "count", "note")
    rows = found.fetchall()
    assert rows[0] == tuple(FULL[name] for name in names)
    assert rows[1] == tuple({**EMPTY, "key": None}[name] for name in names)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "feather"])
def test_files_keep_the_types(invoice, db, tmp_path, kind):
    pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    invoice.insert(**FULL)
    invoice.insert(key=ID)
    path = str(tmp_path / f"invoice.{kind}")
    joedb.export.write(invoice, path, kind)
    table = (parquet if kind == "parquet" else feather).read_table(path)
    copy = db.create_table("copy", like=table)
    copy.insert_many(table)
    assert copy.fields == invoice.fields
    assert [record.as_dict() for record in copy] == [record.as_dict() for record in invoice]
