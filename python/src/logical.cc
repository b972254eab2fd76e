#include "logical.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "joedb/table/writable_database.h"
#include "kernel/table/declaration.h"
#include "kernel/table/record_runs.h"
#include "kernel/table/retype.h"
#include "objects.h"

namespace joedb::python {

namespace {

using Kind = Logical_Type::Kind;
using namespace nb::literals;

constexpr std::int64_t first_day = 719163;  // date(1970, 1, 1).toordinal()
constexpr std::int64_t last_day = 3652059;  // date.max.toordinal()
constexpr std::int64_t day = 24 * 60 * 60;  // seconds
constexpr std::int64_t million = 1'000'000;

const char* unit_name(const Logical_Type& logical) {
  return logical.scale == 0 ? "s" : logical.scale == 3 ? "ms" : logical.scale == 6 ? "us" : "ns";
}

nb::object class_of(const char* module, const char* name) {
  return nb::module_::import_(module).attr(name);
}
nb::object datetime_class(const char* name) { return class_of("datetime", name); }
nb::object utc() { return datetime_class("timezone").attr("utc"); }

std::string type_of(nb::handle object) { return name_text(nb::getattr(object.type(), "__name__")); }

// ---- to Python ----------------------------------------------------------------------------------

struct Seconds {
  std::int64_t seconds;  // rounded down
  std::int64_t micros;   // 0 … 999999
};

// Nanoseconds are rounded down to microseconds.
Seconds split(std::int64_t value, const Logical_Type& logical) {
  const std::int64_t units = units_of(logical);
  std::int64_t seconds = value / units, rest = value % units;
  if (rest < 0) {
    --seconds;
    rest += units;
  }
  return {seconds, units <= million ? rest * (million / units) : rest / (units / million)};
}

nb::object date_object(std::int64_t days) {
  const std::int64_t ordinal = days + first_day;
  if (ordinal < 1 || ordinal > last_day) return nb::int_(days);
  return datetime_class("date").attr("fromordinal")(ordinal);
}

nb::object timestamp_object(std::int64_t value, const Logical_Type& logical) {
  const auto [seconds, micros] = split(value, logical);
  const std::int64_t ordinal = (seconds >= 0 ? seconds : seconds - day + 1) / day + first_day;
  if (ordinal < 1 || ordinal > last_day) return nb::int_(value);
  const nb::object start = datetime_class("datetime")(1970, 1, 1, "tzinfo"_a = utc());
  return start + datetime_class("timedelta")(0, seconds, micros);
}

nb::object duration_object(std::int64_t value, const Logical_Type& logical) {
  constexpr std::int64_t max_days = 999'999'999;
  const auto [seconds, micros] = split(value, logical);
  if (seconds / day >= max_days || seconds / day <= -max_days) return nb::int_(value);
  return datetime_class("timedelta")(0, seconds, micros);
}

nb::object number_object(const Logical_Type& logical, std::int64_t value) {
  switch (logical.kind) {
    case Kind::boolean:
      return nb::borrow(value != 0 ? Py_True : Py_False);
    case Kind::date:
      return date_object(value);
    case Kind::timestamp:
      return timestamp_object(value, logical);
    case Kind::duration:
      return duration_object(value, logical);
    case Kind::decimal: {
      std::string text;
      append_logical(text, logical, value);
      return class_of("decimal", "Decimal")(text.c_str());
    }
    case Kind::enumeration: {
      const auto place = static_cast<std::size_t>(value);
      if (place >= logical.names.size()) return nb::int_(value);
      return text_object(logical.names[place]);
    }
    default:
      return {};
  }
}

nb::object bytes_object(const Logical_Type& logical, std::string_view value) {
  if (logical.kind != Kind::bytes && logical.kind != Kind::uuid) return {};
  const nb::bytes bytes(value.data(), value.size());
  if (logical.kind == Kind::bytes || value.size() != 16) return bytes;
  return class_of("uuid", "UUID")("bytes"_a = bytes);
}

// ---- from Python --------------------------------------------------------------------------------

// Converts one object. Throws TypeError, ValueError or OverflowError, with the names of the table
// and field.
class Reader {
 public:
  Reader(std::string name, const Logical_Type& logical, Type_Code stored, nb::handle object)
      : name_(std::move(name)), logical_(logical), stored_(stored), object_(object) {}

  std::int64_t number() const {
    const std::optional<std::int64_t> value = find_number();
    if (!value) wrong(PyExc_TypeError);
    if (is_missing(logical_, *value)) wrong(PyExc_OverflowError);
    return *value;
  }

  std::string bytes() const {
    if (logical_.kind == Kind::json) return json();
    PyObject* const p = object_.ptr();
    if (PyUnicode_Check(p)) {
      if (logical_.kind == Kind::bytes) wrong(PyExc_TypeError);
      auto value = parse_logical_bytes(name_text(object_), logical_);
      if (!value) wrong(PyExc_ValueError);
      return *std::move(value);
    }
    nb::object source = nb::borrow(object_);
    if (logical_.kind == Kind::uuid && nb::isinstance(object_, class_of("uuid", "UUID")))
      source = object_.attr("bytes");
    if (PyObject_CheckBuffer(source.ptr()) == 0) wrong(PyExc_TypeError);
    source = nb::steal(PyBytes_FromObject(source.ptr()));
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (!source.is_valid() || PyBytes_AsStringAndSize(source.ptr(), &data, &size) != 0)
      throw nb::python_error();
    const std::string_view value(data, static_cast<std::size_t>(size));
    if (logical_.kind == Kind::uuid && value.size() != 16) wrong(PyExc_ValueError);
    if (is_missing(logical_, value)) wrong(PyExc_ValueError);
    return std::string(value);
  }

  [[noreturn]] void wrong(PyObject* error) const {
    const std::string what = expected_text(logical_);
    fail(error, name_ + " is " + declared_type_text(stored_, logical_) + ", which " +
                    shown(object_) + " is not" + (what.empty() ? "" : ": " + what + " expected"));
  }

 private:
  std::optional<std::int64_t> find_number() const {
    if (logical_.kind == Kind::boolean) return boolean();
    if (PyUnicode_Check(object_.ptr())) {
      if (logical_.kind != Kind::enumeration) {
        const auto value = parse_logical_number(name_text(object_), logical_);
        if (!value) wrong(PyExc_ValueError);
        return value;
      }
      const std::string name = text_bytes(object_);
      for (std::size_t i = 0; i < logical_.names.size(); ++i)
        if (logical_.names[i] == name) return static_cast<std::int64_t>(i);
      wrong(PyExc_ValueError);
    }
    switch (logical_.kind) {
      case Kind::date:
        return date();
      case Kind::timestamp:
        return timestamp();
      case Kind::duration:
        return duration();
      case Kind::decimal:
        return decimal();
      default:
        return {};
    }
  }

  std::optional<std::int64_t> boolean() const {
    const std::string type = type_of(object_);
    if (type == "bool" || type == "bool_") return PyObject_IsTrue(object_.ptr());
    if (object_.equal(nb::int_(0))) return 0;
    if (object_.equal(nb::int_(1))) return 1;
    return {};
  }

  // The value of a datetime64 or timedelta64 of NumPy in units of 1/to seconds; nullopt for other
  // objects. NumPy itself would convert with silent overflows.
  std::optional<std::int64_t> numpy_value(const char* type, std::int64_t to) const {
    if (type_of(object_) != type) return {};
    nb::object object = nb::borrow(object_);
    const auto unit_of = [&]() -> nb::object {  // its name and a factor
      return nb::module_::import_("numpy").attr("datetime_data")(object.attr("dtype"));
    };
    const auto count = [&](const nb::object& unit) -> nb::object {
      const nb::int_ number(nb::object(object.attr("astype")("int64")));
      return nb::object(number) * nb::int_(nb::object(unit[1]));
    };
    nb::object unit = unit_of();
    std::string name = name_text(nb::object(unit[0]));
    if (name == "Y" || name == "M") {  // they have no fixed length
      if (std::string_view(type) == "timedelta64") wrong(PyExc_TypeError);
      constexpr std::int64_t limit = 1'000'000'000;
      const std::int64_t months = to_int64(count(unit));
      if (months < -limit || months > limit) wrong(PyExc_OverflowError);
      object = object.attr("astype")("datetime64[D]");
      unit = unit_of();
      name = "D";
    }
    static constexpr struct {
      std::string_view name;
      std::int64_t seconds, per_second;
    } units[] = {{"W", 7 * day, 1},
                 {"D", day, 1},
                 {"h", 3600, 1},
                 {"m", 60, 1},
                 {"s", 1, 1},
                 {"ms", 1, 1000},
                 {"us", 1, million},
                 {"ns", 1, 1000 * million},
                 {"ps", 1, million * million},
                 {"fs", 1, 1000 * million * million},
                 {"as", 1, million * million * million}};
    for (const auto& u : units)
      if (u.name == name) return in_units(count(unit) * nb::int_(u.seconds), u.per_second, to);
    wrong(PyExc_TypeError);
  }

  std::int64_t whole_days(std::int64_t seconds) const {
    if (seconds % day != 0) inexact();
    return seconds / day;
  }

  std::optional<std::int64_t> date() const {
    if (const auto seconds = numpy_value("datetime64", 1)) return whole_days(*seconds);
    if (!nb::hasattr(object_, "toordinal")) return {};
    if (nb::hasattr(object_, "timestamp"))
      return whole_days(in_units(micros_since_1970(), million, 1));
    return nb::cast<std::int64_t>(object_.attr("toordinal")()) - first_day;
  }

  // Without a time zone, it is in UTC.
  nb::int_ micros_since_1970() const {
    nb::object time = nb::borrow(object_);
    if (nb::getattr(time, "tzinfo", nb::none()).is_none())
      time = time.attr("replace")("tzinfo"_a = utc());
    if (nb::hasattr(time, "to_pydatetime"))  // a Timestamp of pandas: without its nanoseconds
      time = time.attr("replace")("nanosecond"_a = 0).attr("to_pydatetime")();
    const nb::object start = datetime_class("datetime")(1970, 1, 1, "tzinfo"_a = utc());
    return nb::int_(nb::object((time - start).floor_div(datetime_class("timedelta")(0, 0, 1))));
  }

  std::optional<std::int64_t> timestamp() const {
    if (const auto value = numpy_value("datetime64", units_of(logical_))) return value;
    if (nb::hasattr(object_, "timestamp"))
      return with_nanoseconds(micros_since_1970(), "nanosecond");
    if (!nb::hasattr(object_, "toordinal")) return {};
    const std::int64_t days = nb::cast<std::int64_t>(object_.attr("toordinal")()) - first_day;
    return in_units(nb::int_(days * day), 1, units_of(logical_));
  }

  std::optional<std::int64_t> duration() const {
    if (const auto value = numpy_value("timedelta64", units_of(logical_))) return value;
    if (!nb::hasattr(object_, "total_seconds") || !nb::hasattr(object_, "microseconds")) return {};
    const nb::object days = object_.attr("days");
    const nb::object seconds = days * nb::int_(day) + object_.attr("seconds");
    const nb::object micros = seconds * nb::int_(million) + object_.attr("microseconds");
    return with_nanoseconds(nb::int_(micros), "nanoseconds");
  }

  // Adds the nanoseconds of a time of pandas.
  std::int64_t with_nanoseconds(const nb::int_& micros, const char* attribute) const {
    const nb::object more = nb::getattr(object_, attribute, nb::int_(0));
    const nb::object nanos = nb::object(micros) * nb::int_(1000) + more;
    return in_units(nb::int_(nanos), 1000 * million, units_of(logical_));
  }

  // Converts a number of units of 1/from seconds to units of 1/to seconds.
  std::int64_t in_units(const nb::object& value, std::int64_t from, std::int64_t to) const {
    const nb::object scaled = value * nb::int_(to);
    const nb::object result = scaled.floor_div(nb::int_(from));
    if (!(result * nb::int_(from)).equal(scaled)) inexact();
    return to_int64(result);
  }

  std::int64_t to_int64(const nb::object& number) const {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    if (overflow != 0) wrong(PyExc_OverflowError);
    return value;
  }

  // A float has the digits that Python shows.
  std::optional<std::int64_t> decimal() const {
    const nb::object type = class_of("decimal", "Decimal");
    nb::object exact = nb::borrow(object_);
    if (PyBool_Check(object_.ptr())) return {};
    if (PyFloat_Check(object_.ptr()))
      exact = type(nb::repr(nb::float_(object_)));
    else if (PyIndex_Check(object_.ptr()) != 0)
      exact = type(nb::steal(PyNumber_Index(object_.ptr())));
    else if (!nb::isinstance(object_, type))
      return {};
    if (!nb::cast<bool>(exact.attr("is_finite")())) wrong(PyExc_ValueError);
    if (nb::cast<int>(exact.attr("adjusted")()) > 19) wrong(PyExc_OverflowError);
    const nb::object context = class_of("decimal", "Context")("prec"_a = 60);
    const nb::object scaled = exact.attr("scaleb")(int{logical_.scale}, context);
    const nb::object whole = scaled.attr("to_integral_value")();
    if (!whole.equal(scaled)) wrong(PyExc_ValueError);
    return to_int64(nb::steal(PyNumber_Long(whole.ptr())));
  }

  std::string json() const {
    const nb::module_ module = nb::module_::import_("json");
    if (!PyUnicode_Check(object_.ptr()))
      return text_bytes(module.attr("dumps")(object_, "ensure_ascii"_a = false));
    try {
      module.attr("loads")(object_);
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_ValueError)) throw;
      fail(PyExc_ValueError, name_ + " is " + declared_type_text(stored_, logical_) + ", which " +
                                 shown(object_) +
                                 " is not: " + name_text(nb::str(nb::handle(error.value()))));
    }
    return text_bytes(object_);
  }

  [[noreturn]] void inexact() const {
    fail(PyExc_ValueError, name_ + " is " + declared_type_text(stored_, logical_) +
                               ", which cannot have all of " + shown(object_));
  }

  const std::string name_;
  const Logical_Type& logical_;
  const Type_Code stored_;
  const nb::handle object_;
};

// Keeps bytes in a Python object that Input owns.
void keep(Input& input, const std::string& bytes) {
  const nb::bytes kept(bytes.data(), bytes.size());
  input.value = std::string_view(kept.c_str(), kept.size());
  input.keep = kept;
}

}  // namespace

nb::object to_logical_object(const Logical_Type& logical, const Value& value) {
  return std::visit(
      [&]<class T>(const T& v) -> nb::object {
        if constexpr (!std::is_same_v<T, Blob>)
          if (is_missing(logical, v)) return nb::none();
        if constexpr (std::is_same_v<T, std::string_view>)
          return bytes_object(logical, v);
        else if constexpr (std::is_integral_v<T>)
          return number_object(logical, v);
        else
          return {};
      },
      value);
}

bool is_none(nb::handle object) {
  if (object.is_none()) return true;
  const std::string type = type_of(object);
  if (type == "NaTType" || type == "NAType") return true;
  return (type == "datetime64" || type == "timedelta64") && name_text(nb::str(object)) == "NaT";
}

Value missing_value_of(Type_Code type, const Logical_Type& logical) {
  return visit_type(type, [&]<class T>(std::type_identity<T>) -> Value {
    return Value(std::in_place_type<T>, missing_value<T>(logical));
  });
}

Input to_logical_input(Shared_Session& session, const Table& table, const Field_Info& field,
                       nb::handle object,
                       Input (*to_stored)(Shared_Session&, const Table&, const Field_Info&,
                                          nb::handle)) {
  // Copied, because the code of the object may change the schema.
  const Shared_Logical_Type shared = field.logical;
  const Logical_Type& logical = get(shared);
  const std::string name = full_name(table, field);
  const Type_Code stored = field.type.code;
  Input input;
  input.field = field.id;
  if (logical.is_optional && is_none(object)) {
    input.value = missing_value_of(stored, logical);
    return input;
  }
  const Reader reader(name, logical, stored, object);
  // NaT has the methods of a time, and a NumPy NaT the number of the smallest one.
  if (logical.kind != Kind::plain && logical.kind != Kind::json && is_none(object))
    reader.wrong(PyExc_TypeError);
  if (logical.kind == Kind::plain) {
    input = to_stored(session, table, field, object);
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (!std::is_floating_point_v<T> && !std::is_same_v<T, Blob>)
            if (is_missing(logical, value)) reader.wrong(PyExc_ValueError);
        },
        input.value);
    return input;
  }
  if (stored == Type_Code::string) {
    keep(input, reader.bytes());
    return input;
  }
  visit_type(stored, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const std::int64_t value = reader.number();
      if (!std::in_range<T>(value) || is_missing(logical, static_cast<T>(value)))
        reader.wrong(PyExc_OverflowError);
      input.value = static_cast<T>(value);
    }
  });
  return input;
}

nb::object time_array(const Logical_Type& logical, const nb::object& numbers) {
  if (logical.kind != Kind::date)
    return numbers.attr("view")(
        ((logical.kind == Kind::timestamp ? "datetime64[" : "timedelta64[") +
         std::string(unit_name(logical)) + ']')
            .c_str());
  const nb::object days = numbers.attr("astype")("int64");
  if (logical.is_optional)  // NaT is the smallest int64
    days[numbers.attr("__eq__")(std::numeric_limits<std::int32_t>::min())] =
        nb::int_(std::numeric_limits<std::int64_t>::min());
  days.attr("flags").attr("writeable") = false;
  return days.attr("view")("datetime64[D]");
}

// ---- types --------------------------------------------------------------------------------------

// Converts `int | None` and Optional[int] to int; null for other types.
static nb::object without_none(nb::handle type) {
  if (PyType_Check(type.ptr()) != 0 || PyUnicode_Check(type.ptr())) return {};
  const nb::object arguments = nb::getattr(type, "__args__", nb::none());
  if (!nb::isinstance<nb::tuple>(arguments) || nb::len(arguments) != 2) return {};
  const nb::object none = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(Py_None)));
  if (nb::object(arguments[1]).is(none)) return nb::object(arguments[0]);
  if (nb::object(arguments[0]).is(none)) return nb::object(arguments[1]);
  return {};
}

static const char* name_of_class(nb::handle type) {
  static constexpr struct {
    const char* module;
    const char* name;
    const char* type;
  } classes[] = {{"datetime", "date", "date"},
                 {"datetime", "datetime", "timestamp"},
                 {"datetime", "timedelta", "duration"},
                 {"uuid", "UUID", "uuid"}};
  if (PyType_Check(type.ptr()) == 0) return nullptr;
  for (const auto& c : classes)
    if (type.is(class_of(c.module, c.name))) return c.type;
  if (type.is(class_of("decimal", "Decimal")))
    fail(PyExc_TypeError,
         "a Decimal needs the number of its digits behind the point: \"decimal(2)\"");
  return nullptr;
}

// Converts "references city", or "references city on_delete clear".
static Field_Type to_reference(Shared_Session& session, const std::string& text) {
  const auto parts = split_rule(text);
  if (!parts)
    fail(PyExc_ValueError,
         shown(nb::str(text.c_str(), text.size())) +
             " is no type of a field: clear, cascade or refuse is expected behind "
             "on_delete");
  Field_Type result{to_type(session, nb::str(parts->type.data(), parts->type.size())), {}};
  result.logical.on_delete = parts->rule;
  return result;
}

Field_Type to_field_type(Shared_Session& session, nb::handle type) {
  if (const nb::object other = without_none(type); other.is_valid()) {
    Field_Type result = to_field_type(session, other);
    const Type_Code code = result.type.code;
    if (code == Type_Code::reference || code == Type_Code::blob) return result;
    result.logical.is_optional = true;
    if (code == Type_Code::boolean)
      result = {{Type_Code::int8, {}}, {.kind = Kind::boolean, .is_optional = true}};
    return result;
  }
  std::string text;
  if (const char* const name = name_of_class(type)) text = name;
  if (PyUnicode_Check(type.ptr())) text = name_text(type);
  if (text.starts_with("references ")) return to_reference(session, text);
  if (text.empty()) return {to_type(session, type), {}};
  if (const std::size_t open = text.find('('); open < text.rfind(')')) {  // enum(open, paid)
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(open);
    const auto end =
        text.begin() + static_cast<std::ptrdiff_t>(std::min(text.rfind(')'), text.size()));
    text.erase(std::remove(begin, end, ' '), end);
  }
  std::string problem;
  const auto declared = parse_declared_type(text, problem);
  if (declared) return {{declared->stored, {}}, declared->logical};
  if (problem.starts_with("unknown type")) to_type(session, type);  // its error has the types
  fail(PyExc_ValueError, shown(type) + " is no type of a field: " + problem);
}

void add_field(Shared_Session& session, Table_Id table_id, const std::string& name,
               nb::handle type) {
  const Field_Type field_type = to_field_type(session, type);
  Writable_Database& database = session->store();
  database.write(Add_Field{table_id, name, field_type.type});
  if (field_type.logical.is_plain()) return;
  const Table& table = session->table(table_id);
  const Field_Id field = table.find_field(name);
  declare_type(database, table_id, field, field_type.logical);
  for_each_run(table, [&](index_t first, index_t size) {
    write_missing(database, table, field, Record_Id(first), size);
  });
}

void set_type(Shared_Session& session, Table_Id table_id, Field_Id field, nb::handle type) {
  const Field_Type field_type = to_field_type(session, type);
  const Field& found = *session->table(table_id).find_field(field);
  const Type stored = found.column->type();
  if (field_type.logical.kind == Kind::plain && stored != field_type.type)
    throw Data_Error(session->table(table_id).name() + "." + found.name + " is stored as " +
                     type_text(session->database(), stored) + ", not as " +
                     type_text(session->database(), field_type.type));
  declare_type(session->store(), table_id, field, field_type.logical);
}

void retype(Shared_Session& session, Table_Id table, Field_Id field, nb::handle type) {
  const Field_Type field_type = to_field_type(session, type);
  retype_field(session->store(), table, field, field_type.type, field_type.logical);
}

}  // namespace joedb::python
