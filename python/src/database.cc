#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "history/tags.h"
#include "joedb/arrow/arrow.h"
#include "kernel/base/suggestion.h"
#include "kernel/schema/logical_type.h"
#include "logical.h"
#include "objects.h"
#include "stub_docs.h"
#include "values.h"

// The database itself, its schema, and transactions.

namespace joedb::python {

using namespace nb::literals;

namespace {

nb::object find_table(const Database_Object& self, const std::string& name, PyObject* error) {
  Shared_Session& session = *self.session;
  const Shared_Session::Use use(session);
  if (const Table* const table = session->database().find_table(name))
    return make_table(self.session, table->id());
  std::vector<std::string> names;
  for (const auto& table : session->database().tables())
    if (table != nullptr) names.push_back(table->name());
  fail(error, session.name() + " has no table " + name + did_you_mean(name, names));
}

nb::dict tables(const Database_Object& self) {
  Shared_Session& session = *self.session;
  const Shared_Session::Use use(session);
  const Shared_Session::Call call(session);
  nb::dict result;
  for (const auto& table : session->database().tables())
    if (table != nullptr)
      result[nb::str(table->name().c_str(), table->name().size())] =
          make_table(self.session, table->id());
  return result;
}

void add_fields(Shared_Session& session, Table_Id table, const nb::dict& fields) {
  for (const auto& [field, type] : fields) {
    const std::string name = name_text(field);
    add_field(session, table, name, type);
  }
}

nb::object create_table(const Database_Object& self, const std::string& name,
                        const nb::dict& fields) {
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  const Table_Id id = session.change([&] {
    session->store().write(Create_Table{name});
    const Table_Id table = session->database().find_table(name)->id();
    add_fields(session, table, fields);
    return table;
  });
  return make_table(self.session, id);
}

// The Arrow schema in a capsule. The capsule contains a schema or a stream.
class Capsule_Schema {
 public:
  explicit Capsule_Schema(nb::handle capsule) {
    if (PyCapsule_IsValid(capsule.ptr(), "arrow_schema") != 0) {
      schema_ = static_cast<ArrowSchema*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_schema"));
      return;
    }
    ArrowArrayStream* const stream = stream_of(capsule);
    if (stream->release == nullptr || stream->get_schema(stream, &own_) != 0)
      throw Exception("the stream has no schema");
  }
  ~Capsule_Schema() {
    if (own_.release != nullptr) own_.release(&own_);
  }
  Capsule_Schema(const Capsule_Schema&) = delete;
  Capsule_Schema& operator=(const Capsule_Schema&) = delete;
  const ArrowSchema& get() const { return *schema_; }

 private:
  ArrowSchema own_{};
  const ArrowSchema* schema_ = &own_;
};

// Creates a table with the columns of an Arrow schema, and then `fields`.
nb::object create_table_like(const Database_Object& self, const std::string& name,
                             nb::handle capsule, const nb::dict& fields,
                             const std::vector<std::string>& optional) {
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  const Capsule_Schema schema(capsule);
  const Table_Id id = session.change([&] {
    const Table_Id table = create_table_for(session->store(), name, schema.get(), optional);
    add_fields(session, table, fields);
    return table;
  });
  return make_table(self.session, id);
}

// Returns the whole seconds since 1970 of a datetime or a date. Without a time zone it is in local
// time, also if it is a Timestamp of pandas, whose own timestamp() then means UTC.
std::int64_t local_seconds(nb::handle time) {
  const nb::object datetime = nb::module_::import_("datetime").attr("datetime");
  nb::object exact = nb::borrow(time);
  if (!nb::hasattr(time, "timestamp"))
    exact = datetime(time.attr("year"), time.attr("month"), time.attr("day"));
  else if (nb::hasattr(time, "to_pydatetime") && nb::getattr(time, "tzinfo", nb::none()).is_none())
    exact = time.attr("replace")(nb::arg("nanosecond") = 0).attr("to_pydatetime")();
  return nb::cast<std::int64_t>(
      nb::borrow(reinterpret_cast<PyObject*>(&PyLong_Type))(exact.attr("timestamp")()));
}

// Converts a position, a time, or the name of a tag.
Moment to_moment(Abstract_File& file, nb::handle when) {
  if (PyLong_Check(when.ptr())) return at(nb::cast<Offset>(when));
  if (nb::hasattr(when, "timestamp") || nb::hasattr(when, "toordinal"))
    return at_time(local_seconds(when));
  if (!PyUnicode_Check(when.ptr()))
    fail(PyExc_TypeError, "a position, a time or the name of a tag is needed, not " + shown(when));
  const std::string text = name_text(when);
  const auto parsed = parse_when(text, std::time(nullptr));
  if (!parsed)
    fail(PyExc_ValueError,
         shown(when) +
             " is no position, no time like \"2026-01-31\" or \"2 hours ago\", and no "
             "name of a tag");
  return in_long_call([&] { return resolve(file, *parsed); });
}

void require_no_transaction(Shared_Session& session, const char* what) {
  if (session->is_in_transaction())
    throw Exception(session.name() + ": " + what +
                    " is a transaction of its own: end this one before");
}

// Writes the comment that makes_text() returns, in a transaction.
template <class F>
void write_comment(Shared_Session& session, const std::string& author, F make_text) {
  session.begin("", author, session->is_hard());
  try {
    const std::string text = make_text();
    session->store().write(Comment{text});
    session.commit();
  } catch (...) {
    session.roll_back_after_error();
    throw;
  }
}

void write_tag(const Database_Object& self, const std::string& name, nb::handle when,
               const std::string& author, bool replace) {
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  require_no_transaction(session, "a tag");
  require_tag_name(name);
  write_comment(session, author, [&] {
    const auto file = session->open_reader();
    const Offset end = session->checkpoint();
    const Offset position =
        when.is_none() ? end : in_long_call([&, moment = to_moment(*file, when)] {
          return find_moment(*file, moment);
        });
    in_long_call([&] {
      const Tags tags = read_tags(*file);
      const auto old = tags.by_name().find(name);
      if (old != tags.by_name().end() && !replace)
        throw Exception(session.name() + " has a tag " + name + " of position " +
                        std::to_string(old->second.position) + ": replace=True replaces it");
      if (position == end) return;
      Readonly_Journal journal(*file);
      journal.replay(Ignore_Entries(), position);
      require_entry_end(journal, position);
    });
    return tag_text(name, position);
  });
}

void remove_tag(const Database_Object& self, const std::string& name, const std::string& author) {
  Shared_Session& session = *self.session;
  const Shared_Session::Turn turn(session);
  require_no_transaction(session, "the removal of a tag");
  write_comment(session, author, [&] {
    const auto file = session->open_reader();
    in_long_call([&] { read_tags(*file).at(name); });
    return tag_removal_text(name);
  });
}

nb::dict tags(const Database_Object& self) {
  Shared_Session& session = *self.session;
  std::shared_ptr<Abstract_File> file;
  {
    const Shared_Session::Use use(session);
    file = session->open_reader();
  }
  const Tags found = in_long_call([&] { return read_tags(*file); });
  nb::dict result;
  for (const auto& [name, tag] : found.by_name()) result[text_object(name)] = tag.position;
  return result;
}

void enter(Transaction_Object& self) {
  const Shared_Session::Turn turn(*self.session);
  if (self.state != Transaction_Object::State::made)
    throw Exception("this transaction has begun already: make another one");
  self.session->begin(self.why, self.author, self.is_hard);
  self.state = Transaction_Object::State::begun;
  const nb::tuple outer = outer_transactions();
  set_outer_transactions(nb::tuple(outer + nb::make_tuple(self.session->bind_to_task())));
  self.outer = outer;
}

void end_transaction(Transaction_Object& self, bool is_commit) {
  using State = Transaction_Object::State;
  if (self.state != State::begun) return;
  const Shared_Session::Use use(*self.session);
  if (self.outer.is_valid() && (*self.session)->is_in_transaction_of_this_thread()) {
    set_outer_transactions(nb::borrow<nb::tuple>(self.outer));
    self.outer.reset();
  }
  try {
    if (is_commit)
      self.session->commit();
    else
      self.session->rollback();
  } catch (...) {
    if (!(*self.session)->is_in_transaction()) self.state = State::ended;
    throw;
  }
  self.state = State::ended;
}

nb::object repr(const Database_Object& self) {
  return text_object("<joedb.Database " + self.session->name() +
                     (self.session->is_closed() ? ", closed>" : ">"));
}

nb::object open(const nb::bytes& path, const std::string& mode, const std::string& server,
                const std::string& authority_file, const std::string& token_file,
                const std::string& recovery, double timeout, bool hard, bool timestamps,
                nb::handle unique) {
  Session_Options options;
  options.is_hard = hard;
  options.has_timestamps = timestamps;
  if (!std::isnan(timeout)) options.timeout = timeout;
  options.server = server;
  options.authority_file = authority_file;
  options.token_file = token_file;
  for (const nb::handle one : unique) {
    Unique_Index index{nb::cast<std::string>(one[0]),
                       nb::cast<std::string>(one[1]),
                       {},
                       Table_Id(nb::cast<std::uint16_t>(one[3]))};
    for (const nb::handle field : one[2]) index.fields.push_back(nb::cast<std::string>(field));
    for (const nb::handle id : one[4]) index.field_ids.emplace_back(nb::cast<std::uint16_t>(id));
    options.unique_indexes.push_back(std::move(index));
  }
  return nb::cast(Database_Object{Shared_Session::open(std::string(path.c_str(), path.size()), mode,
                                                       recovery, std::move(options))});
}

}  // namespace

Transaction_Object::~Transaction_Object() {
  if (session == nullptr || state != State::begun) return;
  try {
    session->drop_transaction();
  } catch (const std::exception&) {  // the session is closed
  }
}

Type to_type(Shared_Session& session, nb::handle type) {
  Table_Object* table = nullptr;
  if (nb::try_cast(type, table) && table != nullptr) {
    if (table->session.get() != &session) fail(PyExc_ValueError, "a table of another database");
    return {Type_Code::reference, table->id};
  }
  const auto is = [&](PyTypeObject& python_type) {
    return type.ptr() == reinterpret_cast<PyObject*>(&python_type);
  };
  if (is(PyUnicode_Type)) return {Type_Code::string, {}};
  if (is(PyLong_Type)) return {Type_Code::int64, {}};
  if (is(PyFloat_Type)) return {Type_Code::float64, {}};
  if (is(PyBool_Type)) return {Type_Code::boolean, {}};
  if (is(PyBytes_Type)) return {Type_Code::blob, {}};
  if (!PyUnicode_Check(type.ptr())) {
    const bool is_time = PyType_Check(type.ptr()) != 0 &&
                         (nb::hasattr(type, "timestamp") || nb::hasattr(type, "toordinal"));
    fail(PyExc_TypeError, shown(type) + " is no type of a field" +
                              (is_time ? ": datetime.datetime makes a field of times" : ""));
  }
  const std::string text = name_text(type);
  constexpr std::string_view references = "references ";
  if (text.starts_with(references)) {
    const std::string name = text.substr(references.size());
    const Table* const found = session->database().find_table(name);
    if (found == nullptr) throw Data_Error("there is no table " + name + " to refer to");
    return {Type_Code::reference, found->id()};
  }
  const Type_Code code = type_named(text);
  if (code == Type_Code::none || code == Type_Code::reference) {
    std::vector<std::string> names = {"string",  "int8",    "int16",   "int32", "int64",
                                      "float32", "float64", "boolean", "blob"};
    for (const std::string_view name : logical_type_names()) names.emplace_back(name);
    fail(PyExc_ValueError, shown(type) + " is no type of a field" + did_you_mean(text, names) +
                               ": string, int8, int16, int32, int64, float32, float64, boolean, "
                               "blob, date, timestamp, duration, decimal(2), enum(open, paid), "
                               "bytes, uuid, json, or \"references TABLE\"");
  }
  return {code, {}};
}

void add_database(nb::module_& module) {
  nb::class_<Transaction_Object>(module, "Transaction", docs::Transaction)
      .def("__enter__",
           [](nb::object self) {
             enter(nb::cast<Transaction_Object&>(self));
             return self;
           })
      .def(
          "__exit__",
          [](Transaction_Object& self, nb::handle type, nb::handle, nb::handle) {
            try {
              end_transaction(self, type.is_none());
            } catch (const Exception&) {
              if (type.is_none()) throw;  // the exception of the block is the cause
            }
            return false;
          },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none())
      .def(
          "rollback", [](Transaction_Object& self) { end_transaction(self, false); },
          docs::Transaction_rollback);

  nb::class_<Database_Object>(module, "Database", docs::Database)
      .def_prop_ro(
          "name", [](const Database_Object& self) { return text_object(self.session->name()); },
          docs::Database_name)
      .def_prop_ro("tables", &tables, docs::Database_tables)
      .def_prop_ro("closed", [](const Database_Object& self) { return self.session->is_closed(); })
      .def_prop_ro(
          "checkpoint",
          [](const Database_Object& self) {
            const Shared_Session::Use use(*self.session);
            return (*self.session)->checkpoint();
          },
          docs::Database_checkpoint)
      .def_prop_ro("in_transaction",
                   [](const Database_Object& self) {
                     const Shared_Session::Use use(*self.session);
                     return (*self.session)->is_in_transaction();
                   })
      .def_prop_ro("_in_own_transaction",
                   [](const Database_Object& self) {
                     const Shared_Session::Use use(*self.session);
                     return (*self.session)->is_in_transaction_of_this_thread();
                   })
      .def_prop_ro(
          "is_past",
          [](const Database_Object& self) {
            const Shared_Session::Use use(*self.session);
            return (*self.session)->is_past();
          },
          docs::Database_is_past)
      .def("_run_sql",
           [](const Database_Object& self, const std::string& statement, nb::handle parameters) {
             const Shared_Session::Use use(*self.session);
             return run_sql(*self.session, statement, parameters);
           })
      .def("__getattr__",
           [](const Database_Object& self, nb::handle name) {
             const std::string text = name_text(name);
             if (text.starts_with("__")) fail(PyExc_AttributeError, text);
             return find_table(self, text, PyExc_AttributeError);
           })
      .def("__getitem__",
           [](const Database_Object& self, const std::string& name) {
             return find_table(self, name, PyExc_KeyError);
           })
      .def("__contains__",
           [](const Database_Object& self, const std::string& name) {
             const Shared_Session::Use use(*self.session);
             return (*self.session)->database().find_table(name) != nullptr;
           })
      .def("__iter__", [](const Database_Object& self) { return nb::iter(tables(self)); })
      .def("_create_table", &create_table)
      .def("_create_table_like", &create_table_like)
      .def(
          "transaction",
          [](const Database_Object& self, const std::string& why, const std::string& author,
             const nb::object& hard) {
            const Shared_Session::Use use(*self.session);
            return Transaction_Object{
                self.session, why, author,
                hard.is_none() ? (*self.session)->is_hard() : nb::cast<bool>(hard)};
          },
          "why"_a = "", "author"_a = "", nb::kw_only(), "hard"_a = nb::none(),
          docs::Database_transaction)
      .def(
          "pull",
          [](const Database_Object& self, double wait) {
            // Wait in parts, so that other threads can use the session in between.
            using Clock = std::chrono::steady_clock;
            constexpr double part = 0.2;
            const Clock::time_point start = Clock::now();
            for (;;) {
              const std::chrono::duration<double> waited = Clock::now() - start;
              const double left = wait - waited.count();
              const Shared_Session::Use use(*self.session);
              const Offset size = self.session->pull(std::min(left, part));
              if (size > 0 || !(left > part)) return size;
            }
          },
          "wait"_a = 0.0, docs::Database_pull)
      .def(
          "hard_checkpoint",
          [](const Database_Object& self) {
            const Shared_Session::Turn turn(*self.session);
            self.session->hard_checkpoint();
          },
          docs::Database_hard_checkpoint)
      .def(
          "write_snapshot",
          [](const Database_Object& self) {
            const Shared_Session::Turn turn(*self.session);
            if (!self.session->write_snapshot())
              throw Exception(self.session->name() +
                              ": there is no snapshot: it cannot be stored beside this kind of "
                              "file, or another process is writing one");
          },
          docs::Database_write_snapshot)
      .def(
          "undo",
          [](const Database_Object& self, const std::string& author, bool schema) {
            const Shared_Session::Turn turn(*self.session);
            self.session->undo({.author = author, .may_change_schema = schema});
          },
          nb::kw_only(), "author"_a = "", "schema"_a = false, docs::Database_undo)
      .def(
          "redo",
          [](const Database_Object& self, const std::string& author, bool schema) {
            const Shared_Session::Turn turn(*self.session);
            self.session->redo({.author = author, .may_change_schema = schema});
          },
          nb::kw_only(), "author"_a = "", "schema"_a = false, docs::Database_redo)
      .def(
          "can_undo",
          [](const Database_Object& self, const std::string& author, bool schema) {
            const Shared_Session::Use use(*self.session);
            return self.session->can_undo({.author = author, .may_change_schema = schema});
          },
          nb::kw_only(), "author"_a = "", "schema"_a = false, docs::Database_can_undo)
      .def(
          "can_redo",
          [](const Database_Object& self, const std::string& author, bool schema) {
            const Shared_Session::Use use(*self.session);
            return self.session->can_redo({.author = author, .may_change_schema = schema});
          },
          nb::kw_only(), "author"_a = "", "schema"_a = false, docs::Database_can_redo)
      .def(
          "at",
          [](const Database_Object& self, nb::handle when) {
            const Shared_Session::Use use(*self.session);
            const auto file = (*self.session)->open_reader();
            return nb::cast(Database_Object{self.session->past(to_moment(*file, when))});
          },
          "when"_a, docs::Database_at)
      .def("tag", &write_tag, "name"_a, "when"_a = nb::none(), nb::kw_only(), "author"_a = "",
           "replace"_a = false, docs::Database_tag)
      .def("remove_tag", &remove_tag, "name"_a, nb::kw_only(), "author"_a = "",
           docs::Database_remove_tag)
      .def("tags", &tags, docs::Database_tags)
      .def(
          "_position",
          [](const Database_Object& self, nb::handle when) {
            const Shared_Session::Use use(*self.session);
            const auto file = (*self.session)->open_reader();
            const Moment moment = to_moment(*file, when);
            return in_long_call([&] { return find_moment(*file, moment); });
          },
          "when"_a)
      .def(
          "close",
          [](Database_Object& self) {
            if (self.session->is_closed()) return;
            const Shared_Session::Use use(*self.session, true);
            self.session->close();
          },
          docs::Database_close)
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__exit__",
          [](Database_Object& self, nb::handle, nb::handle, nb::handle) {
            if (self.session->is_closed()) return;
            const Shared_Session::Use use(*self.session, true);
            self.session->close();
          },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none())
      .def("__repr__", &repr);

  module.def("_open", &open, "path"_a, "mode"_a, "server"_a, "authority_file"_a, "token_file"_a,
             "recovery"_a, "timeout"_a, "hard"_a, "timestamps"_a, "unique"_a);
  module.def("_close_all", &Shared_Session::close_all);
}

}  // namespace joedb::python
