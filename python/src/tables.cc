#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "joedb/arrow/arrow.h"
#include "kernel/table/declaration.h"
#include "logical.h"
#include "objects.h"
#include "search.h"
#include "stub_docs.h"
#include "values.h"

// Tables, records, and lists of records.

namespace joedb::python {

using namespace nb::literals;

namespace {

Record_Object* as_record(nb::handle object) {
  Record_Object* record = nullptr;
  return nb::try_cast(object, record) ? record : nullptr;
}

// ---- records ------------------------------------------------------------------------------------

void require_used(const Table& table, Record_Id record) {
  if (table.is_used(record)) return;
  fail(PyExc_KeyError, table.name() + " has no record " + std::to_string(record.value()));
}

nb::object get_field(const Record_Object& record, const Table& table, const Field_Info& field) {
  require_used(table, record.id);
  const Value value = read_value(table, field.id, field.type, record.id);
  return to_object(record.session, field, value);
}

nb::object make_records(const std::shared_ptr<Shared_Session>& session, Table_Id table,
                        std::vector<index_t> ids) {
  return nb::cast(
      Records_Object{session, table, std::make_shared<std::vector<index_t>>(std::move(ids))});
}

// Returns the records whose field refers to this one.
nb::object get_referrers(const Record_Object& record, const Table& table,
                         const Back_Reference& reference) {
  require_used(table, record.id);
  const Table_Id referrer = reference.table;
  nb::dict condition;
  condition[reference.field] = record.id.value();
  return make_records(record.session, referrer, search(*record.session, referrer, condition));
}

void update_record(const Record_Object& record, const Inputs& inputs) {
  Shared_Session& session = *record.session;
  require_used(session->table(record.table), record.id);
  session.change([&] { session->update(record.table, record.id, inputs.values()); });
}

PyObject* record_get(PyObject* self, PyObject* name) noexcept {
  try {
    if (!nb::inst_ready(self)) fail(PyExc_TypeError, "this record was made by no table");
    const Record_Object& record = *nb::inst_ptr<Record_Object>(self);
    Shared_Session& session = *record.session;
    {
      const Shared_Session::Use use(session);
      const Table& table = session->table(record.table);
      const Field_Info* const field = session.table_info(table).find(name);
      if (field != nullptr && !field->is_hidden)
        return get_field(record, table, *field).release().ptr();
    }
    PyObject* const result = PyObject_GenericGetAttr(self, name);
    if (result != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return result;
    std::string text = name_text(name);
    if (text.starts_with("__")) return nullptr;
    PyErr_Clear();
    const Shared_Session::Use use(session);
    const Table& table = session->table(record.table);
    if (const auto* const found = session.table_info(table).find_back_reference(name))
      return get_referrers(record, table, *found).release().ptr();
    throw_no_field(session, table, name, PyExc_AttributeError);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (...) {
    set_python_error(std::current_exception());
  }
  return nullptr;
}

void set_field(Record_Object& record, nb::handle name, nb::handle value, PyObject* error) {
  Shared_Session& session = *record.session;
  const Shared_Session::Turn turn(session);
  const Table& table = session->table(record.table);
  const Field_Info* const field = session.table_info(table).find(name.ptr());
  if (field == nullptr) throw_no_field(session, table, name, error);
  Inputs inputs;
  inputs.add(to_input(session, table, *field, value));
  update_record(record, inputs);
}

int record_set(PyObject* self, PyObject* name, PyObject* value) noexcept {
  try {
    if (!nb::inst_ready(self)) fail(PyExc_TypeError, "this record was made by no table");
    Record_Object& record = *nb::inst_ptr<Record_Object>(self);
    if (value == nullptr) fail(PyExc_TypeError, "a field of a record cannot be deleted");
    if (is_attribute_of_records(nb::borrow(name)))
      fail(PyExc_AttributeError, name_text(name) +
                                     " is not a field, or has a name that records use themselves: "
                                     "record[\"" +
                                     name_text(name) + "\"] = … sets the field");
    set_field(record, name, value, PyExc_AttributeError);
    return 0;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (...) {
    set_python_error(std::current_exception());
  }
  return -1;
}

PyType_Slot record_slots[] = {
    {Py_tp_getattro, reinterpret_cast<void*>(record_get)},
    {Py_tp_setattro, reinterpret_cast<void*>(record_set)},
    {0, nullptr},
};

nb::object record_item(const Record_Object& record, nb::handle name) {
  Shared_Session& session = *record.session;
  const Shared_Session::Use use(session);
  const Table& table = session->table(record.table);
  const Field_Info* const field = session.table_info(table).find(name.ptr());
  if (field == nullptr) throw_no_field(session, table, name, PyExc_KeyError);
  return get_field(record, table, *field);
}

nb::dict record_dict(const Record_Object& record) {
  Shared_Session& session = *record.session;
  const Shared_Session::Use use(session);
  const Shared_Session::Call call(session);
  const Table& table = session->table(record.table);
  nb::dict result;
  for (const Field_Info& field : session.table_info(table).fields)
    result[field.name] = get_field(record, table, field);
  return result;
}

// Formats a record as a user would write it. References are shown as ids; long values are
// truncated.
std::string record_repr(const Record_Object& record) {
  Shared_Session& session = *record.session;
  const Shared_Session::Use use(session);
  const Shared_Session::Call call(session);
  if (session->database().find_table(record.table) == nullptr)
    return "<a record of a table that was dropped>";
  const Table& table = session->table(record.table);
  std::string text = table.name() + '[' + std::to_string(record.id.value()) + ']';
  if (!table.is_used(record.id)) return '<' + text + ", which was deleted>";
  text += '(';
  bool is_first = true;
  for (const Field_Info& field : session.table_info(table).fields) {
    if (!is_first) text += ", ";
    is_first = false;
    text += name_text(field.name) + '=';
    const Value value = read_value(table, field.id, field.type, record.id);
    if (const auto* const reference = std::get_if<Record_Id>(&value))
      text += reference->is_null() ? "None" : std::to_string(reference->value());
    else if (const auto* const blob = std::get_if<Blob>(&value))
      text += blob->is_null() ? "None" : "<" + std::to_string(blob->get_size()) + " bytes>";
    else
      text += shown(to_object(record.session, field, value));
  }
  return text + ')';
}

void delete_record(Shared_Session& session, Table_Id table, Record_Id record) {
  const Shared_Session::Turn turn(session);
  require_used(session->table(table), record);
  session.change([&] { session->erase(table, record); });
}

// ---- tables -------------------------------------------------------------------------------------

// Converts the argument of `table[key]`, `in` or delete(), which is an id, or a record of this
// table.
Record_Id to_id(const Table_Object& table, nb::handle key) {
  if (const Record_Object* const record = as_record(key)) {
    if (record->session != table.session || record->table != table.id)
      fail(PyExc_ValueError, "a record of another table or database");
    return record->id;
  }
  const Py_ssize_t id = PyNumber_AsSsize_t(key.ptr(), PyExc_KeyError);
  if (id == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return Record_Id(id);
}

// Throws TypeError if a function of named values got others, with how it is written.
void require_names(const nb::args& others, const char* how) {
  if (others.size() > 0) fail(PyExc_TypeError, std::string("values need names: ") + how);
}

nb::object insert(const Table_Object& self, const nb::args& others, const nb::kwargs& values) {
  require_names(others, "insert(name=value), or insert(**row) for a dict");
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  const Inputs inputs = to_inputs(session, self.id, values);
  const Record_Id record =
      session.change([&] { return session->insert(self.id, inputs.values()); });
  return nb::cast(Record_Object{self.session, self.id, record});
}

// Inserts a record for each dict: all or none.
nb::object insert_rows(const Table_Object& self, nb::handle rows, bool null_is_default,
                       bool ignore_unknown, bool use_ids, bool round) {
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  nb::list ids;
  std::vector<index_t> inserted;
  const auto write = [&] {
    Signal_Check check;
    for (const nb::handle row : nb::iter(rows)) {
      check();
      if (!PyDict_Check(row.ptr()))
        fail(PyExc_TypeError, "a dict is needed for each record, not " + shown(row));
      // Copy the dict, because Python code of a value may change it during the conversion.
      const nb::object copy = nb::steal(PyDict_Copy(row.ptr()));
      if (!copy.is_valid()) throw nb::python_error();
      std::optional<Record_Id> id;
      const Inputs inputs =
          to_row(session, self.id, copy, {null_is_default, ignore_unknown, use_ids, round}, id);
      inserted.push_back(session->insert(self.id, inputs.values(), id).value());
      ids.append(inserted.back());
    }
  };
  session.change_together(write, [&] {
    for (; !inserted.empty(); inserted.pop_back())
      session->erase(self.id, Record_Id(inserted.back()));
  });
  return ids;
}

nb::object where(const Table_Object& self, const nb::args& others, const nb::kwargs& conditions) {
  require_names(others, "where(name=value); table[mask] and table[ids] select records");
  Shared_Session& session = *self.session;
  const Shared_Session::Use use(session);
  return make_records(self.session, self.id, search(session, self.id, conditions));
}

// Throws TypeError for several values that do not belong to one record each.
void require_order(nb::handle name, nb::handle values) {
  const nb::module_ abc = nb::module_::import_("collections.abc");
  for (const char* const type : {"Set", "Mapping"})
    if (nb::isinstance(values, abc.attr(type)))
      fail(PyExc_TypeError, name_text(name) + ": " + shown(values) +
                                " has no order: a list has a value for each record");
}

// Sets fields of these records. A list or an array has a value for each record.
void update_records(const Records_Object& self, const nb::args& others, const nb::kwargs& values) {
  require_names(others, "update(name=value), or update(**values) for a dict");
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  nb::dict common;
  std::vector<std::pair<nb::object, nb::list>> columns;
  for (const auto& [name, value] : values) {
    if (!is_several(value)) {
      common[name] = value;
      continue;
    }
    require_order(name, value);
    columns.emplace_back(nb::borrow(name), to_list(value));
    if (nb::len(columns.back().second) != self.ids->size())
      fail(PyExc_ValueError, name_text(name) + " has " +
                                 std::to_string(nb::len(columns.back().second)) + " values for " +
                                 std::to_string(self.ids->size()) + " records");
  }
  const Inputs inputs = to_inputs(session, self.table, common);
  session.change_together([&] {
    const Shared_Session::Call call(session);
    Signal_Check check;
    for (std::size_t i = 0; i < self.ids->size(); ++i) {
      const Record_Id record((*self.ids)[i]);
      require_used(session->table(self.table), record);
      if (!inputs.values().empty()) session->update(self.table, record, inputs.values());
      if (!columns.empty()) {
        nb::dict own;
        for (const auto& [name, list] : columns) own[name] = list[i];
        session->update(self.table, record, to_inputs(session, self.table, own).values());
      }
      check();
    }
  });
}

// Deletes the records together, from the end, so that new records get the ids in ascending order.
void delete_records(const Records_Object& self) {
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  session.change_together([&] {
    const Shared_Session::Call call(session);
    const Table& table = session->table(self.table);
    std::vector<Record_Id> records;
    for (auto id = self.ids->rbegin(); id != self.ids->rend(); ++id) {
      records.emplace_back(*id);
      require_used(table, records.back());
    }
    std::vector<index_t> sorted = *self.ids;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      fail(PyExc_KeyError, table.name() + " has record " + std::to_string(*twice) + " only once");
    static const std::function<void()> look = give_way;
    interruptibly(look, [&] { session->erase(self.table, records); });
  });
}

// ---- columns as arrays --------------------------------------------------------------------------

// Throws ImportError.
void require_numpy() {
  try {
    nb::module_::import_("numpy");
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    fail(PyExc_ImportError, "columns are arrays of NumPy, which is missing: pip install numpy");
  }
}

template <class T>
nb::object array(const T* data, std::size_t size, nb::handle owner) {
  require_numpy();
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data, {size}, owner),
                  nb::rv_policy::reference);
}

// Creates a read-only array that owns its memory.
template <class T>
nb::object array(std::vector<T> values) {
  auto* const memory = new std::vector<T>(std::move(values));
  const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return array<T>(memory->data(), memory->size(), owner);
}

nb::object object_array(const nb::list& values) {
  require_numpy();
  const nb::object numpy = nb::module_::import_("numpy");
  nb::object result = numpy.attr("empty")(nb::len(values), "dtype"_a = "O");
  if (nb::len(values) > 0) result[nb::slice(nb::none(), nb::none(), nb::none())] = values;
  result.attr("flags").attr("writeable") = false;
  return result;
}

// The stored values; references are ids. `ids` is null for all records.
nb::object stored_array(const std::shared_ptr<Shared_Session>& shared, const Table& table,
                        const Field_Info& field, const std::vector<index_t>* ids) {
  Shared_Session& session = *shared;
  const Shared_Session::Call call(session);
  const Record_Ids& records = table.records();
  const bool is_whole = ids == nullptr && records.used_count() == records.size();
  const auto size = static_cast<std::size_t>(records.size());
  return visit_type(field.type.code, [&]<class T>(std::type_identity<T>) -> nb::object {
    const Column<T>& column = table.column<T>(field.id);
    if constexpr (std::is_arithmetic_v<T>) {
      const auto is_bool_memory = [&] {  // a snapshot may contain bytes other than 0 and 1
        const auto* const bytes = reinterpret_cast<const unsigned char*>(column.data());
        return std::none_of(bytes, bytes + size, [](unsigned char byte) { return byte > 1; });
      };
      bool is_in_place = is_whole && size > 0;
      if constexpr (std::is_same_v<T, bool>) is_in_place = is_in_place && is_bool_memory();
      if (is_in_place) {
        using Pin = std::shared_ptr<const Arrow_Pin>;
        auto* const pin = new Pin(session->pins().pin(table.id(), field.id));
        const nb::capsule owner(pin, [](void* p) noexcept { delete static_cast<Pin*>(p); });
        return array<T>(reinterpret_cast<const T*>((*pin)->values()), size, owner);
      }
    }
    std::vector<index_t> own;
    if (ids == nullptr) {
      own = all_ids(table);
      ids = &own;
    }
    if constexpr (std::is_arithmetic_v<T>) {
      using Item = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
      std::vector<Item> values(ids->size());
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<Item>(column.get((*ids)[i]));
      nb::object result = array<Item>(std::move(values));
      return std::is_same_v<T, bool> ? nb::object(result.attr("view")("bool")) : result;
    } else if constexpr (std::is_same_v<T, Record_Id>) {
      std::vector<std::int64_t> values(ids->size());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = column.get((*ids)[i]).value();
      return array<std::int64_t>(std::move(values));
    } else {
      nb::list values;
      Signal_Check check;
      for (const index_t id : *ids) {
        check();
        values.append(to_object(shared, field, Value(std::in_place_type<T>, T(column.get(id)))));
      }
      return object_array(values);
    }
  });
}

// True if the objects of the values are not those of an array of the stored type.
bool has_object_array(const Field_Info& field) {
  if (!field.logical) return false;
  if (field.logical->kind != Logical_Type::Kind::plain) return true;
  if (!field.logical->is_optional) return false;  // a reference with a rule
  return field.type.code != Type_Code::float32 && field.type.code != Type_Code::float64;
}

// Returns the values of the records `ids`; if `ids` is null, of all records.
nb::object column_array(const std::shared_ptr<Shared_Session>& shared, const Table& table,
                        const Field_Info& field, const std::vector<index_t>* ids) {
  using Kind = Logical_Type::Kind;
  const Kind kind = get(field.logical).kind;
  if (kind == Kind::date || kind == Kind::timestamp || kind == Kind::duration)
    return time_array(*field.logical, stored_array(shared, table, field, ids));
  if (!has_object_array(field)) return stored_array(shared, table, field, ids);
  const Shared_Session::Call call(*shared);
  const std::vector<index_t> all = ids == nullptr ? all_ids(table) : std::vector<index_t>();
  nb::list values;
  Signal_Check check;
  for (const index_t id : ids == nullptr ? all : *ids) {
    check();
    values.append(to_object(shared, field, read_value(table, field.id, field.type, Record_Id(id))));
  }
  return object_array(values);
}

// Returns the column, for `table.name` and `table["name"]`.
nb::object get_column(const Table_Object& self, nb::handle name, PyObject* error) {
  Shared_Session& session = *self.session;
  const Shared_Session::Use use(session);
  const Table& table = session->table(self.id);
  const Field_Info* const field = session.table_info(table).find(name.ptr());
  if (field == nullptr) throw_no_field(session, table, name, error);
  return column_array(self.session, table, *field, nullptr);
}

std::vector<index_t> at_positions(const std::vector<index_t>& ids,
                                  const std::vector<std::size_t>& positions) {
  std::vector<index_t> result;
  result.reserve(positions.size());
  for (const std::size_t position : positions) result.push_back(ids[position]);
  return result;
}

// `table[key]` for a slice, a mask or several ids.
nb::object get_records(const Table_Object& self, nb::handle key) {
  Shared_Session& session = *self.session;
  const Shared_Session::Use use(session);
  const std::vector<index_t> all = all_ids(session->table(self.id));
  std::vector<std::size_t> positions;
  if (to_positions(key, all.size(), positions))
    return make_records(self.session, self.id, at_positions(all, positions));
  std::vector<index_t> ids;
  Signal_Check check;
  for (const nb::handle one : to_list(key)) {
    check();
    ids.push_back(to_id(self, one).value());
    require_used(session->table(self.id), Record_Id(ids.back()));
  }
  return make_records(self.session, self.id, std::move(ids));
}

nb::object get_item(const Table_Object& self, nb::handle key) {
  if (PyUnicode_Check(key.ptr())) return get_column(self, key, PyExc_KeyError);
  if (PySlice_Check(key.ptr()) || is_several(key)) return get_records(self, key);
  Shared_Session& session = *self.session;
  const Record_Id id = to_id(self, key);
  const Shared_Session::Use use(session);
  require_used(session->table(self.id), id);
  return nb::cast(Record_Object{self.session, self.id, id});
}

// ---- Arrow --------------------------------------------------------------------------------------

nb::object make_capsule(ArrowArrayStream* stream) {
  const PyCapsule_Destructor destroy = [](PyObject* capsule) {
    auto* const item = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, stream_name));
    if (item->release != nullptr) item->release(item);
    delete item;
  };
  PyObject* const capsule = PyCapsule_New(stream, stream_name, destroy);
  if (capsule == nullptr) throw nb::python_error();
  return nb::steal(capsule);
}

// `records`: null for all.
nb::object arrow_stream(const Table_Object& self,
                        const std::optional<std::vector<std::string>>& fields, bool has_ids,
                        bool has_views, const std::vector<index_t>* records = nullptr) {
  Shared_Session& session = *self.session;
  const Shared_Session::Use use(session);
  const Table& table = session->table(self.id);
  Arrow_Options options;
  if (records != nullptr) {
    for (const index_t id : *records) require_used(table, Record_Id(id));
    options.records = *records;
  }
  options.with_ids = has_ids;
  if (has_views) options.text = Arrow_Text::utf8_view;
  bool has_blobs = false;
  if (fields) options.fields.emplace();
  const Table_Info& info = session.table_info(table);
  if (fields)
    for (const std::string& name : *fields) {
      const nb::str text(name.c_str(), name.size());
      const Field_Info* const field = info.find(text.ptr());
      if (field == nullptr) throw_no_field(session, table, text, PyExc_KeyError);
      options.fields->push_back(field->id);
      has_blobs = has_blobs || field->type.code == Type_Code::blob;
    }
  else
    has_blobs = std::any_of(info.fields.begin(), info.fields.end(), [](const Field_Info& field) {
      return field.type.code == Type_Code::blob;
    });
  if (has_blobs) options.blob_file = session->open_blob_reader();
  auto stream = std::make_unique<ArrowArrayStream>();
  std::memset(stream.get(), 0, sizeof(ArrowArrayStream));
  without_interpreter([&] { export_table(session->pins(), self.id, options, stream.get()); });
  return make_capsule(stream.release());
}

// Inserts the rows of an Arrow stream.
nb::object insert_stream(const Table_Object& self, nb::handle capsule, bool null_is_default,
                         bool ignore_unknown, bool use_ids, bool round,
                         std::map<std::string, std::string> rename) {
  ArrowArrayStream* const stream = stream_of(capsule);
  if (stream->release == nullptr) fail(PyExc_ValueError, "the stream was read already");
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  Arrow_Import_Options options;
  options.null_is_default = null_is_default;
  options.ignore_unknown = ignore_unknown;
  options.use_ids = use_ids;
  options.round = round;
  options.rename = std::move(rename);
  // The code of the stream may use the session, but not a signal handler in the middle of the
  // import.
  options.check = [&session] {
    const Shared_Session::Call call(session);
    check_signals();
  };
  const Arrow_Imported imported =
      without_interpreter([&] { return session->import(self.id, stream, options); });
  const index_t first = imported.rows > 0 ? imported.first.value() : 0;
  return nb::borrow(reinterpret_cast<PyObject*>(&PyRange_Type))(first, first + imported.rows);
}

// ---- the schema ---------------------------------------------------------------------------------

template <class F>
void change_schema(const Table_Object& self, F write) {
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  session.change([&] { write(session, session->table(self.id)); });
}

Field_Id require_field(Shared_Session& session, const Table& table, const std::string& name) {
  const Field_Id id = table.find_field(name);
  if (id.is_null())
    throw_no_field(session, table, nb::str(name.c_str(), name.size()), PyExc_KeyError);
  return id;
}

std::string table_repr(const Table_Object& self) {
  Shared_Session& session = *self.session;
  const Shared_Session::Use use(session);
  const Shared_Session::Call call(session);
  const Table& table = session->table(self.id);
  std::string text = "<joedb.Table " + table.name() + '(';
  bool is_first = true;
  for (const Field_Info& field : session.table_info(table).fields) {
    text += (is_first ? "" : ", ") + name_text(field.name) + ": " +
            type_text(session->database(), field);
    is_first = false;
  }
  return text + "), " + std::to_string(table.records().used_count()) +
         (table.records().used_count() == 1 ? " record>" : " records>");
}

nb::dict table_fields(const Table_Object& self) {
  Shared_Session& session = *self.session;
  const Shared_Session::Use use(session);
  const Shared_Session::Call call(session);
  nb::dict result;
  for (const Field_Info& field : session.table_info(session->table(self.id)).fields)
    result[field.name] = nb::cast(type_text(session->database(), field));
  return result;
}

// ---- iterating ----------------------------------------------------------------------------------

// Iterates over the records in the order of their ids. Changes made during the iteration are
// visible if their ids have not been reached yet.
struct Table_Iterator {
  Table_Object table;
  index_t next = 0;
};

nb::object next_record(Table_Iterator& self) {
  Shared_Session& session = *self.table.session;
  const Shared_Session::Use use(session);
  const Record_Ids& records = session->table(self.table.id).records();
  while (self.next < records.size() && !records.is_used(self.next)) ++self.next;
  if (self.next >= records.size()) throw nb::stop_iteration();
  return nb::cast(Record_Object{self.table.session, self.table.id, Record_Id(self.next++)});
}

struct Records_Iterator {
  Records_Object records;
  std::size_t next = 0;
};

}  // namespace

bool is_attribute_of_records(const nb::object& name) {
  return PyObject_HasAttr(nb::type<Record_Object>().ptr(), name.ptr()) != 0;
}

ArrowArrayStream* stream_of(nb::handle capsule) {
  auto* const stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), stream_name));
  if (stream == nullptr) throw nb::python_error();
  return stream;
}

nb::object make_table(const std::shared_ptr<Shared_Session>& session, Table_Id id) {
  return nb::cast(Table_Object{session, id});
}

void add_tables(nb::module_& module) {
  nb::class_<Record_Object>(module, "Record", nb::type_slots(record_slots), docs::Record)
      .def_prop_ro("id", [](const Record_Object& self) { return self.id.value(); })
      .def_prop_ro("table",
                   [](const Record_Object& self) { return make_table(self.session, self.table); })
      .def("__getitem__", &record_item)
      .def("__setitem__", [](Record_Object& self, nb::handle name,
                             nb::handle value) { set_field(self, name, value, PyExc_KeyError); })
      .def(
          "update",
          [](const Record_Object& self, const nb::args& others, const nb::kwargs& values) {
            require_names(others, "update(name=value), or update(**values) for a dict");
            Shared_Session& session = *self.session;
            const Shared_Session::Turn turn(session);
            const Inputs inputs = to_inputs(session, self.table, values);
            update_record(self, inputs);
          },
          docs::Record_update)
      .def("delete",
           [](const Record_Object& self) { delete_record(*self.session, self.table, self.id); })
      .def("as_dict", &record_dict)
      .def("exists",
           [](const Record_Object& self) {
             const Shared_Session::Use use(*self.session);
             const Table* const table = (*self.session)->database().find_table(self.table);
             return table != nullptr && table->is_used(self.id);
           })
      .def("history", &record_history, docs::Record_history)
      .def("__repr__", &record_repr)
      .def("__eq__",
           [](const Record_Object& self, nb::handle other) -> nb::object {
             const Record_Object* const b = as_record(other);
             if (b == nullptr) return nb::borrow(Py_NotImplemented);
             return nb::bool_(self.session == b->session && self.table == b->table &&
                              self.id == b->id);
           })
      .def("__hash__", [](const Record_Object& self) {
        return static_cast<Py_hash_t>(
                   (static_cast<std::uint64_t>(self.id.value()) * 0x9e3779b97f4a7c15) ^
                   self.table.value()) >>
               1;
      });

  nb::class_<Table_Iterator>(module, "_TableIterator")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &next_record);
  nb::class_<Records_Iterator>(module, "_RecordsIterator")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", [](Records_Iterator& self) {
        if (self.next >= self.records.ids->size()) throw nb::stop_iteration();
        return nb::cast(Record_Object{self.records.session, self.records.table,
                                      Record_Id((*self.records.ids)[self.next++])});
      });

  nb::class_<Records_Object>(module, "Records", docs::Records)
      .def_prop_ro("table",
                   [](const Records_Object& self) { return make_table(self.session, self.table); })
      .def("__len__", [](const Records_Object& self) { return self.ids->size(); })
      .def("__iter__", [](const Records_Object& self) { return Records_Iterator{self}; })
      .def("__getitem__",
           [](const Records_Object& self, nb::handle key) -> nb::object {
             std::vector<std::size_t> positions;
             if (to_positions(key, self.ids->size(), positions))
               return make_records(self.session, self.table, at_positions(*self.ids, positions));
             const auto size = static_cast<Py_ssize_t>(self.ids->size());
             Py_ssize_t i = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
             if (i == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
             if (i < 0) i += size;
             if (i < 0 || i >= size)
               fail(PyExc_IndexError, "there are " + std::to_string(size) + " records");
             return nb::cast(Record_Object{self.session, self.table,
                                           Record_Id((*self.ids)[static_cast<std::size_t>(i)])});
           })
      .def_prop_ro(
          "ids",
          [](const Records_Object& self) {
            using Ids = std::shared_ptr<const std::vector<index_t>>;
            auto* const memory = new Ids(self.ids);
            const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<Ids*>(p); });
            return array<std::int64_t>(self.ids->data(), self.ids->size(), owner);
          },
          docs::Records_ids)
      .def(
          "column",
          [](const Records_Object& self, nb::handle name) {
            Shared_Session& session = *self.session;
            const Shared_Session::Use use(session);
            const Table& table = session->table(self.table);
            const Field_Info* const field = session.table_info(table).find(name.ptr());
            if (field == nullptr) throw_no_field(session, table, name, PyExc_KeyError);
            for (const index_t id : *self.ids) require_used(table, Record_Id(id));
            return column_array(self.session, table, *field, self.ids.get());
          },
          docs::Records_column)
      .def("update", &update_records, docs::Records_update)
      .def("delete", &delete_records, docs::Records_delete)
      .def(
          "_arrow_stream",
          [](const Records_Object& self, const std::optional<std::vector<std::string>>& fields,
             bool has_ids, bool has_views) {
            return arrow_stream({self.session, self.table}, fields, has_ids, has_views,
                                self.ids.get());
          },
          "fields"_a.none(), "ids"_a, "views"_a)
      .def(
          "__arrow_c_stream__",
          [](const Records_Object& self, nb::handle) {
            return arrow_stream({self.session, self.table}, std::nullopt, false, false,
                                self.ids.get());
          },
          "requested_schema"_a = nb::none())
      .def("__repr__", [](const Records_Object& self) {
        const Shared_Session::Use use(*self.session);
        const std::size_t size = self.ids->size();
        return "<" + std::to_string(size) + (size == 1 ? " record of " : " records of ") +
               (*self.session)->table(self.table).name() + ">";
      });

  nb::class_<Table_Object> table_class(module, "Table", docs::Table);
  table_class
      .def_prop_ro("table_name",
                   [](const Table_Object& self) {
                     const Shared_Session::Use use(*self.session);
                     return (*self.session)->table(self.id).name();
                   })
      .def_prop_ro("fields", &table_fields, docs::Table_fields)
      .def_prop_ro(
          "ids",
          [](const Table_Object& self) {
            const Shared_Session::Use use(*self.session);
            return array<std::int64_t>(all_ids((*self.session)->table(self.id)));
          },
          docs::Table_ids)
      .def("__getattr__",
           [](const Table_Object& self, nb::handle name) {
             if (name_text(name).starts_with("__")) fail(PyExc_AttributeError, name_text(name));
             return get_column(self, name, PyExc_AttributeError);
           })
      .def("__getitem__", &get_item)
      .def("__len__",
           [](const Table_Object& self) {
             const Shared_Session::Use use(*self.session);
             return (*self.session)->table(self.id).records().used_count();
           })
      // Without this function, an empty table would be false.
      .def("__bool__", [](const Table_Object&) { return true; })
      .def("__iter__",
           [](const Table_Object& self) {
             const Shared_Session::Use use(*self.session);
             (*self.session)->table(self.id);
             return Table_Iterator{self};
           })
      .def("__contains__",
           [](const Table_Object& self, nb::handle key) {
             if (const Record_Object* const record = as_record(key))
               if (record->session != self.session || record->table != self.id) return false;
             if (as_record(key) == nullptr && PyIndex_Check(key.ptr()) == 0) return false;
             const Record_Id id = to_id(self, key);
             const Shared_Session::Use use(*self.session);
             return (*self.session)->table(self.id).is_used(id);
           })
      .def(
          "get",
          [](const Table_Object& self, nb::handle key, nb::handle fallback) {
            const Record_Id id = to_id(self, key);
            const Shared_Session::Use use(*self.session);
            if (!(*self.session)->table(self.id).is_used(id)) return nb::borrow(fallback);
            return nb::cast(Record_Object{self.session, self.id, id});
          },
          "key"_a, "default"_a = nb::none())
      .def("insert", &insert, docs::Table_insert)
      .def(
          "delete",
          [](const Table_Object& self, nb::handle key) {
            if (!PySlice_Check(key.ptr()) && !is_several(key))
              return delete_record(*self.session, self.id, to_id(self, key));
            const Shared_Session::Turn turn(*self.session);
            delete_records(nb::cast<Records_Object&>(get_records(self, key)));
          },
          docs::Table_delete)
      .def("where", &where, docs::Table_where)
      .def(
          "_arrow_stream",
          [](const Table_Object& self, const std::optional<std::vector<std::string>>& fields,
             bool has_ids,
             bool has_views) { return arrow_stream(self, fields, has_ids, has_views); },
          "fields"_a.none(), "ids"_a, "views"_a)
      .def(
          "__arrow_c_stream__",
          [](const Table_Object& self, nb::handle) {
            return arrow_stream(self, std::nullopt, false, false);
          },
          "requested_schema"_a = nb::none())
      .def_prop_ro("_back_references",
                   [](const Table_Object& self) {
                     const Shared_Session::Use use(*self.session);
                     const Table& table = (*self.session)->table(self.id);
                     nb::list names;
                     for (const auto& reference : self.session->table_info(table).back_references)
                       names.append(reference.name);
                     return names;
                   })
      .def_prop_ro("_database",
                   [](const Table_Object& self) { return nb::cast(Database_Object{self.session}); })
      .def("_insert_stream", &insert_stream)
      .def("_insert_rows", &insert_rows)
      .def("_add_field",
           [](const Table_Object& self, const std::string& name, nb::handle type) {
             change_schema(self, [&](Shared_Session& session, const Table&) {
               add_field(session, self.id, name, type);
             });
           })
      .def(
          "set_type",
          [](const Table_Object& self, const std::string& name, nb::handle type) {
            change_schema(self, [&](Shared_Session& session, const Table& table) {
              set_type(session, self.id, require_field(session, table, name), type);
            });
          },
          docs::Table_set_type)
      .def(
          "retype",
          [](const Table_Object& self, const std::string& name, nb::handle type) {
            change_schema(self, [&](Shared_Session& session, const Table& table) {
              retype(session, self.id, require_field(session, table, name), type);
            });
          },
          docs::Table_retype)
      .def(
          "create_index",
          [](const Table_Object& self, const std::string& name, const nb::args& fields,
             bool is_unique) {
            change_schema(self, [&](Shared_Session& session, const Table& table) {
              Index_Definition index{name, self.id, {}, is_unique};
              for (const nb::handle field : fields)
                index.fields.push_back(require_field(session, table, name_text(field)));
              declare_index(session->store(), index);
            });
          },
          "name"_a, "fields"_a, nb::kw_only(), "unique"_a = false, docs::Table_create_index)
      .def(
          "drop_index",
          [](const Table_Object& self, const std::string& name) {
            change_schema(self, [&](Shared_Session& session, const Table& table) {
              const Index* const index = session->database().find_declared_index(name);
              if (index == nullptr || index->definition().table != self.id)
                fail(PyExc_KeyError, table.name() + " has no declared index " + name);
              drop_index(session->store(), name);
            });
          },
          docs::Table_drop_index)
      .def("drop_field",
           [](const Table_Object& self, const std::string& name) {
             change_schema(self, [&](Shared_Session& session, const Table& table) {
               session->store().write(Drop_Field{self.id, require_field(session, table, name)});
             });
           })
      .def("rename_field",
           [](const Table_Object& self, const std::string& name, const std::string& new_name) {
             change_schema(self, [&](Shared_Session& session, const Table& table) {
               session->store().write(
                   Rename_Field{self.id, require_field(session, table, name), new_name});
             });
           })
      .def("rename",
           [](const Table_Object& self, const std::string& name) {
             change_schema(self, [&](Shared_Session& session, const Table&) {
               session->store().write(Rename_Table{self.id, name});
             });
           })
      .def("drop",
           [](const Table_Object& self) {
             change_schema(self, [&](Shared_Session& session, const Table&) {
               session->store().write(Drop_Table{self.id});
             });
           })
      .def("__repr__", &table_repr)
      .def("__eq__",
           [](const Table_Object& self, nb::handle other) -> nb::object {
             const Table_Object* b = nullptr;
             if (!nb::try_cast(other, b) || b == nullptr) return nb::borrow(Py_NotImplemented);
             return nb::bool_(self.session == b->session && self.id == b->id);
           })
      .def("__hash__", [](const Table_Object& self) { return Py_hash_t{self.id.value()}; });
  add_upsert(table_class);
}

}  // namespace joedb::python
