#include "values.h"

#include <cmath>
#include <limits>
#include <optional>

#include "joedb/format/entry.h"
#include "kernel/base/suggestion.h"
#include "logical.h"
#include "objects.h"

namespace joedb::python {

void fail(PyObject* type, const std::string& text) {
  PyErr_SetString(type, text.c_str());
  throw nb::python_error();
}

// Returns a view of a bytes object. If the object is null, throws the pending Python exception.
static std::string_view bytes_view(const nb::object& bytes) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (!bytes.is_valid() || PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0)
    throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

static nb::object encoded(nb::handle text) {
  return nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
}

std::string name_text(nb::handle name) {
  if (!PyUnicode_Check(name.ptr()))
    fail(PyExc_TypeError, "a name is a text, and not " + shown(name));
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

std::string full_name(const Table& table, const Field_Info& field) {
  return table.name() + '.' + name_text(field.name);
}

std::string shown(nb::handle object) {
  constexpr std::size_t longest = 60;
  std::string text;
  try {
    text = nb::repr(object).c_str();
  } catch (const std::exception&) {
    return "a value";
  }
  if (text.size() <= longest) return text;
  text.resize(longest);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
  return text + "…";
}

void throw_no_field(Shared_Session& session, const Table& table, nb::handle name, PyObject* type) {
  std::vector<std::string> names;
  for (const Field_Info& field : session.table_info(table).fields)
    names.push_back(name_text(field.name));
  std::string suggestion;
  if (PyUnicode_Check(name.ptr())) suggestion = did_you_mean(name_text(name), names);
  if (type == PyExc_AttributeError && suggestion.empty())
    suggestion = ", and no method of this name";
  fail(type, table.name() + " has no field " + shown(name) + suggestion);
}

static std::string type_text(const Database& database, const Type& type,
                             const Logical_Type& logical) {
  const Table* const table = database.find_table(type.referenced);
  return declared_type_text(type.code, logical, table ? table->name() : "a dropped table");
}

std::string type_text(const Database& database, const Type& type) {
  return type_text(database, type, {});
}

std::string type_text(const Database& database, const Field_Info& field) {
  return type_text(database, field.type, get(field.logical));
}

// ---- from Python --------------------------------------------------------------------------------

namespace {

// Throws the exceptions for a failed conversion, with the names of the table and field.
class Problem {
 public:
  Problem(const Database& database, const Table& table, const Field_Info& field)
      : name_(full_name(table, field)), type_(type_text(database, field)) {}
  [[noreturn]] void wrong_type(nb::handle object) const {
    fail(PyExc_TypeError, name_ + " is " + type_ + ", which " + shown(object) + " is not");
  }
  [[noreturn]] void out_of_range(nb::handle object, const std::string& range) const {
    fail(PyExc_OverflowError,
         name_ + " is " + type_ + ": " + shown(object) + " is not in " + range);
  }
  [[noreturn]] void other_table(nb::handle object) const {
    fail(PyExc_ValueError, name_ + " is " + type_ + ", and " + shown(object) +
                               " is a record of another table or database");
  }

 private:
  const std::string name_;
  const std::string type_;
};

// Converts an integer, or an object that can be used as one, such as a NumPy integer. Returns
// nullopt for any other object.
std::optional<std::int64_t> integer(nb::handle object, bool& is_too_large) {
  nb::object index;
  PyObject* number = object.ptr();
  if (!PyLong_Check(number)) {
    if (PyIndex_Check(number) == 0) return {};
    index = nb::steal(PyNumber_Index(number));
    if (!index.is_valid()) throw nb::python_error();
    number = index.ptr();
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  is_too_large = overflow != 0;
  return value;
}

// Returns a datetime in this zone if it has none; otherwise unchanged.
nb::object in_zone(nb::handle time, const nb::object& zone) {
  if (!nb::getattr(time, "tzinfo", zone).is_none()) return nb::borrow(time);
  return time.attr("replace")(nb::arg("tzinfo") = zone);
}

// Returns the seconds since 1970 of a datetime, a date, or a datetime64 of NumPy; nullopt for other
// objects. Without a time zone they are in UTC, as in arrays and data frames.
std::optional<std::int64_t> seconds(nb::handle object) {
  constexpr std::int64_t first_day = 719163;  // date(1970, 1, 1).toordinal()
  constexpr std::int64_t day = 24 * 60 * 60;
  nb::object exact;
  if (nb::hasattr(object, "timestamp"))
    exact = in_zone(object, nb::module_::import_("datetime").attr("timezone").attr("utc"))
                .attr("timestamp")();
  else if (nb::hasattr(object, "toordinal"))
    return (nb::cast<std::int64_t>(object.attr("toordinal")()) - first_day) * day;
  else if (name_text(nb::getattr(object.type(), "__name__")) == "datetime64")
    exact = object.attr("astype")("datetime64[us]").attr("astype")("int64") / nb::int_(1'000'000);
  else
    return {};
  const double value = nb::cast<double>(nb::float_(exact));
  if (std::floor(value) != value)
    fail(PyExc_ValueError, shown(object) + " has a fraction of a second, or is no time");
  return static_cast<std::int64_t>(value);
}

template <class T, class Fail>
T to_integer(nb::handle object, const Fail& problem) {
  bool is_too_large = false;
  auto value = integer(object, is_too_large);
  if constexpr (std::is_same_v<T, std::int64_t>)
    if (!value) value = seconds(object);
  if (!value) problem().wrong_type(object);
  using Limits = std::numeric_limits<T>;
  if (is_too_large || *value < Limits::min() || *value > Limits::max())
    problem().out_of_range(object,
                           std::to_string(Limits::min()) + " … " + std::to_string(Limits::max()));
  return static_cast<T>(*value);
}

template <class T, class Fail>
T to_number(nb::handle object, const Fail& problem) {
  PyObject* const p = object.ptr();
  if (PyUnicode_Check(p) || PyBytes_Check(p)) problem().wrong_type(object);
  const double value = PyFloat_AsDouble(p);
  if (value == -1 && PyErr_Occurred() != nullptr) {
    const bool is_overflow = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
    const bool is_type = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
    if (!is_overflow && !is_type) throw nb::python_error();
    PyErr_Clear();
    if (is_overflow) problem().out_of_range(object, "the range of the type");
    problem().wrong_type(object);
  }
  const T result = static_cast<T>(value);
  if (std::isinf(result) && !std::isinf(value))
    problem().out_of_range(object, "the range of the type");
  return result;
}

template <class Fail>
bool to_bool(nb::handle object, const Fail& problem) {
  if (object.ptr() == Py_True) return true;
  if (object.ptr() == Py_False) return false;
  const std::string type = name_text(nb::getattr(object.type(), "__name__"));
  if (type == "bool" || type == "bool_") {  // types of NumPy
    const int value = PyObject_IsTrue(object.ptr());
    if (value < 0) throw nb::python_error();
    return value != 0;
  }
  bool is_too_large = false;
  const auto value = integer(object, is_too_large);
  if (!value || is_too_large || (*value != 0 && *value != 1)) problem().wrong_type(object);
  return *value != 0;
}

template <class Fail>
std::string_view to_text(nb::handle object, nb::object& keep, const Fail& problem) {
  if (!PyUnicode_Check(object.ptr())) problem().wrong_type(object);
  Py_ssize_t size = 0;
  if (const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &size)) {
    keep = nb::borrow(object);
    return {text, static_cast<std::size_t>(size)};
  }
  if (PyErr_ExceptionMatches(PyExc_UnicodeError) == 0) throw nb::python_error();
  PyErr_Clear();
  keep = encoded(object);
  return bytes_view(keep);
}

template <class Fail>
Record_Id to_reference(Shared_Session& session, Table_Id referenced, nb::handle object,
                       const Fail& problem) {
  if (object.is_none()) return {};
  const Record_Object* record = nullptr;
  if (nb::try_cast(object, record) && record != nullptr) {
    if (record->session.get() != &session || record->table != referenced)
      problem().other_table(object);
    return record->id;
  }
  bool is_too_large = false;
  const auto value = integer(object, is_too_large);
  if (!value || PyBool_Check(object.ptr())) problem().wrong_type(object);
  if (is_too_large || *value < 0 || *value >= static_cast<std::int64_t>(max_compact))
    problem().out_of_range(object, "the ids of records, from 0");
  return Record_Id(*value);
}

template <class Fail>
void to_blob(nb::handle object, Input& input, const Fail& problem) {
  input.value = Blob();
  if (object.is_none()) return;
  if (PyUnicode_Check(object.ptr()) || PyObject_CheckBuffer(object.ptr()) == 0)
    problem().wrong_type(object);
  // Copy the object, because it may be mutable, like a bytearray.
  input.keep = nb::steal(PyBytes_FromObject(object.ptr()));
  input.bytes = bytes_view(input.keep);
}

}  // namespace

static Input to_stored_input(Shared_Session& session, const Table& table, const Field_Info& field,
                             nb::handle object) {
  Input input;
  input.field = field.id;
  // Copy these first, because the conversion may run Python code of the object, which may change
  // the schema.
  const Type type = field.type;
  const Table_Id table_id = table.id();
  const nb::object name = field.name;
  const auto problem = [&] {
    const Table& t = session->table(table_id);
    return Problem(session->database(), t, Field_Info{name, input.field, type});
  };
  visit_type(type.code, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, std::string_view>)
      input.value = to_text(object, input.keep, problem);
    else if constexpr (std::is_same_v<T, Record_Id>)
      input.value = to_reference(session, type.referenced, object, problem);
    else if constexpr (std::is_same_v<T, Blob>)
      to_blob(object, input, problem);
    else if constexpr (std::is_same_v<T, bool>)
      input.value = to_bool(object, problem);
    else if constexpr (std::is_floating_point_v<T>)
      input.value = to_number<T>(object, problem);
    else
      input.value = to_integer<T>(object, problem);
  });
  return input;
}

Input to_input(Shared_Session& session, const Table& table, const Field_Info& field,
               nb::handle object) {
  if (field.logical) return to_logical_input(session, table, field, object, to_stored_input);
  return to_stored_input(session, table, field, object);
}

// Throws Data_Error if the conversion has rounded the value.
static void require_exact(Shared_Session& session, Table_Id table, nb::handle name,
                          const Input& input, nb::handle object) {
  const auto require = [&](double value, const char* type) {
    const nb::object stored = nb::steal(PyFloat_FromDouble(value));
    if (!stored.is_valid()) throw nb::python_error();
    const int is_same = PyObject_RichCompareBool(stored.ptr(), object.ptr(), Py_EQ);
    if (is_same < 0) throw nb::python_error();
    if (is_same == 0 && !std::isnan(value))
      throw Data_Error(session->table(table).name() + '.' + name_text(name) + ": " + shown(object) +
                       " does not fit a field of type " + type +
                       ", if it is not rounded: round=True");
  };
  if (const auto* const single = std::get_if<float>(&input.value)) require(*single, "float32");
  if (const auto* const number = std::get_if<double>(&input.value)) require(*number, "float64");
}

static bool is_float(Type_Code type) {
  return type == Type_Code::float32 || type == Type_Code::float64;
}

static bool is_nan(nb::handle value) {
  return PyFloat_Check(value.ptr()) && std::isnan(nb::cast<double>(value));
}

Inputs to_row(Shared_Session& session, Table_Id table, nb::handle dict, const Row_Options& options,
              std::optional<Record_Id>& id) {
  Inputs inputs;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  bool has_id = false;
  while (PyDict_Next(dict.ptr(), &position, &key, &value) != 0) {
    const Table& t = session->table(table);
    const Field_Info* const field = session.table_info(t).find(key);
    if (field == nullptr && PyUnicode_Check(key) &&
        PyUnicode_CompareWithASCIIString(key, "__id") == 0) {
      has_id = true;
      bool is_too_large = false;
      if (!options.use_ids) continue;
      const auto number = integer(value, is_too_large);
      if (!number || is_too_large || *number < 0)
        throw Data_Error(t.name() + ": " + shown(value) + " is no id of a record");
      id = Record_Id(*number);
      continue;
    }
    if (field == nullptr) {
      if (options.ignore_unknown) continue;
      throw_no_field(session, t, key, PyExc_TypeError);
    }
    const bool has_null =
        field->type.code == Type_Code::reference || field->type.code == Type_Code::blob;
    const bool is_missing = value == Py_None || (!is_float(field->type.code) && is_nan(value));
    if (options.null_is_default && !has_null && is_missing) continue;
    const nb::object name = field->name;
    Input input = to_input(session, t, *field, value);
    if (!options.round) require_exact(session, table, name, input, value);
    inputs.add(std::move(input));
  }
  if (options.use_ids && !has_id)
    throw Data_Error(session->table(table).name() + ": a record has no __id");
  return inputs;
}

Inputs to_inputs(Shared_Session& session, Table_Id table, nb::handle dict) {
  Inputs inputs;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  inputs.reserve(static_cast<std::size_t>(PyDict_Size(dict.ptr())));
  while (PyDict_Next(dict.ptr(), &position, &key, &value) != 0) {
    const Table& t = session->table(table);
    const Field_Info* const field = session.table_info(t).find(key);
    if (field == nullptr) throw_no_field(session, t, key, PyExc_TypeError);
    inputs.add(to_input(session, t, *field, value));
  }
  return inputs;
}

// ---- to Python ----------------------------------------------------------------------------------

nb::object text_object(std::string_view text) {
  PyObject* const object =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

std::string text_bytes(nb::handle text) { return std::string(bytes_view(encoded(text))); }

template <class T>
static nb::object number_object(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return nb::borrow(value ? Py_True : Py_False);
  else if constexpr (std::is_floating_point_v<T>)
    return nb::steal(PyFloat_FromDouble(double{value}));
  else
    return nb::steal(PyLong_FromLongLong(value));
}

// reference(record) converts a reference that is not null. read(blob) returns the bytes of a blob.
template <class Reference, class Read>
static nb::object convert(const Value& value, Reference reference, Read read) {
  return std::visit(
      [&]<class T>(const T& v) -> nb::object {
        if constexpr (std::is_same_v<T, std::string_view>) {
          return text_object(v);
        } else if constexpr (std::is_same_v<T, Record_Id>) {
          if (v.is_null()) return nb::none();
          return reference(v);
        } else if constexpr (std::is_same_v<T, Blob>) {
          if (v.is_null()) return nb::none();
          const std::string bytes = read(v);
          return nb::bytes(bytes.data(), bytes.size());
        } else {
          return number_object(v);
        }
      },
      value);
}

nb::object to_object(const std::shared_ptr<Shared_Session>& session, const Field_Info& field,
                     const Value& value) {
  if (field.logical)
    if (nb::object object = to_logical_object(*field.logical, value); object.is_valid())
      return object;
  return convert(
      value,
      [&](Record_Id record) {
        return nb::cast(Record_Object{session, field.type.referenced, record});
      },
      [&](Blob blob) { return (*session)->read_blob(blob); });
}

nb::object to_plain_object(const Shared_Logical_Type& logical, const Value& value,
                           const Abstract_File& file) {
  if (logical)
    if (nb::object object = to_logical_object(*logical, value); object.is_valid()) return object;
  return convert(
      value, [](Record_Id record) -> nb::object { return nb::int_(record.value()); },
      [&](Blob blob) { return file.read_blob(blob); });
}

Value read_value(const Table& table, Field_Id field, const Type& type, Record_Id record) {
  return visit_type(type.code, [&]<class T>(std::type_identity<T>) -> Value {
    return T(table.column<T>(field).get(record.value()));
  });
}

}  // namespace joedb::python
