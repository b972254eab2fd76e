#include "sql/live_sql.h"

#include <sqlite3.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "objects.h"
#include "values.h"

// SELECT on the tables of a session.

namespace joedb::python {

namespace {

class Live_Connection final : public Sql_Connection {
 public:
  explicit Live_Connection(Shared_Session& session)
      : sql(session->database(), session->flushed_file()) {}
  Live_Sql sql;
};

using Bytes = std::vector<char>;
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Bytes>;

nb::object cell_object(const Cell& cell) {
  return std::visit(
      []<class T>(const T& v) -> nb::object {
        if constexpr (std::is_same_v<T, std::int64_t>)
          return nb::int_(v);
        else if constexpr (std::is_same_v<T, double>)
          return nb::float_(v);
        else if constexpr (std::is_same_v<T, std::string>)
          return text_object(v);
        else if constexpr (std::is_same_v<T, Bytes>)
          return nb::bytes(v.data(), v.size());
        else
          return nb::none();
      },
      cell);
}

class Query {
 public:
  Query(sqlite3* connection, const std::string& text) : connection_(connection) {
    const char* tail = nullptr;
    check(sqlite3_prepare_v2(connection, text.c_str(), static_cast<int>(text.size()), &statement_,
                             &tail));
    sqlite3_stmt* next = nullptr;
    const char* const end = text.c_str() + text.size();
    const int code =
        sqlite3_prepare_v2(connection, tail, static_cast<int>(end - tail), &next, nullptr);
    sqlite3_finalize(next);
    if (statement_ == nullptr) throw Sql_Failure("there is no statement");
    if (code != SQLITE_OK || next != nullptr) {
      sqlite3_finalize(statement_);
      throw Sql_Failure("only one statement can be run at a time");
    }
  }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  void bind(nb::handle parameters) {
    const int count = sqlite3_bind_parameter_count(statement_);
    if (PyDict_Check(parameters.ptr())) {
      for (int i = 1; i <= count; ++i) {
        const char* const name = sqlite3_bind_parameter_name(statement_, i);
        if (name == nullptr) throw Sql_Failure("a dict has no value for the parameter ?");
        PyObject* const value = PyDict_GetItemString(parameters.ptr(), name + 1);
        if (value == nullptr)
          throw Sql_Failure("there is no value for the parameter " + std::string(name));
        bind_one(i, value);
      }
      return;
    }
    const nb::tuple values(nb::borrow(parameters));
    if (static_cast<std::size_t>(count) != values.size())
      throw Sql_Failure("the statement has " + std::to_string(count) + " parameters, and " +
                        std::to_string(values.size()) + " values were given");
    for (int i = 0; i < count; ++i) bind_one(i + 1, values[static_cast<std::size_t>(i)]);
  }

  nb::tuple columns() {
    nb::list names;
    for (int i = 0; i < sqlite3_column_count(statement_); ++i)
      names.append(text_object(sqlite3_column_name(statement_, i)));
    return nb::tuple(names);
  }

  // All rows, without the lock of the interpreter while SQLite works.
  nb::list rows() {
    nb::list result;
    const auto width = static_cast<std::size_t>(sqlite3_column_count(statement_));
    bool is_done = false;
    std::vector<Cell> cells;
    while (!is_done) {
      cells.clear();
      without_interpreter([&] { is_done = read(cells, width); });
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      for (std::size_t i = 0; i + width <= cells.size() && width > 0; i += width) {
        const nb::object row = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(width)));
        if (!row.is_valid()) throw nb::python_error();
        for (std::size_t j = 0; j < width; ++j)
          if (PyTuple_SetItem(row.ptr(), static_cast<Py_ssize_t>(j),
                              cell_object(cells[i + j]).release().ptr()) != 0)
            throw nb::python_error();
        result.append(row);
      }
    }
    return result;
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) throw Sql_Failure(sqlite3_errmsg(connection_));
  }

  void bind_one(int i, nb::handle value) {
    PyObject* const p = value.ptr();
    Record_Object* record = nullptr;
    if (value.is_none()) {
      check(sqlite3_bind_null(statement_, i));
    } else if (PyFloat_Check(p)) {
      check(sqlite3_bind_double(statement_, i, PyFloat_AsDouble(p)));
    } else if (PyUnicode_Check(p)) {
      const std::string text = name_text(value);
      check(sqlite3_bind_text64(statement_, i, text.data(), text.size(), SQLITE_TRANSIENT,
                                SQLITE_UTF8));
    } else if (PyBytes_Check(p)) {
      const auto bytes = nb::borrow<nb::bytes>(value);
      check(sqlite3_bind_blob64(statement_, i, bytes.c_str(), bytes.size(), SQLITE_TRANSIENT));
    } else if (nb::try_cast(value, record) && record != nullptr) {
      check(sqlite3_bind_int64(statement_, i, record->id.value()));
    } else if (PyIndex_Check(p)) {
      const nb::object index = nb::steal(PyNumber_Index(p));
      if (!index.is_valid()) throw nb::python_error();
      const long long number = PyLong_AsLongLong(index.ptr());
      if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
      check(sqlite3_bind_int64(statement_, i, number));
    } else {
      PyErr_SetString(PyExc_TypeError, (shown(value) + " is no value of SQL").c_str());
      throw nb::python_error();
    }
  }

  // Some rows; returns whether there are no more.
  bool read(std::vector<Cell>& cells, std::size_t width) {
    constexpr int many = 1024;
    for (int row = 0; row < many; ++row) {
      const int code = sqlite3_step(statement_);
      if (code == SQLITE_DONE) return true;
      if (code == SQLITE_INTERRUPT) return true;  // an exception of Python is set
      if (code != SQLITE_ROW) check(code);
      for (std::size_t i = 0; i < width; ++i) cells.push_back(cell(static_cast<int>(i)));
    }
    return false;
  }

  Cell cell(int i) {
    const auto size = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(statement_, i)); };
    switch (sqlite3_column_type(statement_, i)) {
      case SQLITE_INTEGER:
        return std::int64_t{sqlite3_column_int64(statement_, i)};
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement_, i);
      case SQLITE_TEXT: {
        const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, i));
        return std::string(text, size());
      }
      case SQLITE_BLOB: {
        const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement_, i));
        return Bytes(bytes, bytes + size());
      }
      default:
        return std::monostate();
    }
  }

  sqlite3* const connection_;
  sqlite3_stmt* statement_ = nullptr;
};

// Ctrl-C ends a statement.
int look_for_signals(void*) {
  const nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0 ? 1 : 0;
}

}  // namespace

nb::object run_sql(Shared_Session& session, const std::string& statement, nb::handle parameters) {
  std::unique_ptr<Sql_Connection>& kept = session.sql();
  if (kept == nullptr) kept = std::make_unique<Live_Connection>(session);
  session->flushed_file();
  sqlite3* const connection = static_cast<Live_Connection&>(*kept).sql.connection();
  constexpr int steps = 100'000;
  sqlite3_progress_handler(connection, steps, look_for_signals, nullptr);
  Query query(connection, statement);
  query.bind(parameters);
  const nb::tuple columns = query.columns();
  return nb::make_tuple(columns, query.rows());
}

}  // namespace joedb::python
