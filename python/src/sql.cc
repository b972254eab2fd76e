#include "sql/live_sql.h"

#include <sqlite3.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "objects.h"
#include "values.h"

// Runs SELECT on the tables of a session.

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

// The parameters of a statement. They own their values, so that no Python code runs while the
// statement exists.
struct Parameters {
  bool are_named = false;
  std::vector<std::pair<std::string, Cell>> values;
};

Cell to_cell(nb::handle value) {
  PyObject* const p = value.ptr();
  Record_Object* record = nullptr;
  if (value.is_none()) return std::monostate();
  if (PyFloat_Check(p)) return PyFloat_AsDouble(p);
  if (PyUnicode_Check(p)) return text_bytes(value);
  if (PyBytes_Check(p)) {
    const auto bytes = nb::borrow<nb::bytes>(value);
    return Bytes(bytes.c_str(), bytes.c_str() + bytes.size());
  }
  if (nb::try_cast(value, record) && record != nullptr) return std::int64_t{record->id.value()};
  if (PyIndex_Check(p)) {
    const nb::object index = nb::steal(PyNumber_Index(p));
    if (!index.is_valid()) throw nb::python_error();
    const long long number = PyLong_AsLongLong(index.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return std::int64_t{number};
  }
  fail(PyExc_TypeError, shown(value) + " is no value of SQL");
}

Parameters to_parameters(nb::handle object) {
  Parameters result;
  if (PyDict_Check(object.ptr())) {
    result.are_named = true;
    const nb::dict copy = nb::steal<nb::dict>(PyDict_Copy(object.ptr()));
    for (const auto& [name, value] : copy)
      result.values.emplace_back(name_text(name), to_cell(value));
  } else {
    const nb::tuple values(nb::borrow(object));
    for (const nb::handle value : values) result.values.emplace_back("", to_cell(value));
  }
  return result;
}

// Allows only statements that read the tables of the session.
int authorize(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

class Query {
 public:
  Query(sqlite3* connection, const std::string& text) : connection_(connection) {
    sqlite3_set_authorizer(connection, authorize, nullptr);
    const char* tail = nullptr;
    const char* const end = text.c_str() + text.size();
    int code = sqlite3_prepare_v2(connection, text.c_str(), static_cast<int>(text.size()),
                                  &statement_, &tail);
    sqlite3_stmt* next = nullptr;
    const bool is_one = code == SQLITE_OK && statement_ != nullptr;
    if (is_one)
      code = sqlite3_prepare_v2(connection, tail, static_cast<int>(end - tail), &next, nullptr);
    const std::string message = sqlite3_errmsg(connection);
    sqlite3_set_authorizer(connection, nullptr, nullptr);
    sqlite3_finalize(next);
    const bool is_reading = statement_ != nullptr && sqlite3_stmt_readonly(statement_) != 0;
    if (is_one && code == SQLITE_OK && next == nullptr && is_reading) return;
    sqlite3_finalize(statement_);
    if (is_one && code == SQLITE_OK && !is_reading)
      throw Sql_Failure("only SELECT can be run here");
    if (code == SQLITE_AUTH) throw Sql_Failure("only SELECT can be run here: " + message);
    if (is_one) throw Sql_Failure("only one statement can be run at a time");
    if (code == SQLITE_OK) throw Sql_Failure("there is no statement");
    throw Sql_Failure(message);
  }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  void bind(const Parameters& parameters) {
    const int count = sqlite3_bind_parameter_count(statement_);
    if (!parameters.are_named && static_cast<std::size_t>(count) != parameters.values.size())
      throw Sql_Failure("the statement has " + std::to_string(count) + " parameters, and " +
                        std::to_string(parameters.values.size()) + " values were given");
    for (int i = 1; i <= count; ++i) {
      if (!parameters.are_named) {
        bind_one(i, parameters.values[static_cast<std::size_t>(i - 1)].second);
        continue;
      }
      const char* const name = sqlite3_bind_parameter_name(statement_, i);
      if (name == nullptr) throw Sql_Failure("a dict has no value for the parameter ?");
      const auto found = std::find_if(parameters.values.begin(), parameters.values.end(),
                                      [&](const auto& value) { return value.first == name + 1; });
      if (found == parameters.values.end())
        throw Sql_Failure("there is no value for the parameter " + std::string(name));
      bind_one(i, found->second);
    }
  }

  nb::tuple columns() {
    nb::list names;
    for (int i = 0; i < sqlite3_column_count(statement_); ++i)
      names.append(text_object(sqlite3_column_name(statement_, i)));
    return nb::tuple(names);
  }

  // Returns all rows. Releases the GIL while SQLite runs, and signal handlers may end it.
  nb::list rows() {
    nb::list result;
    const auto width = static_cast<std::size_t>(sqlite3_column_count(statement_));
    bool is_done = false;
    std::vector<Cell> cells;
    while (!is_done) {
      cells.clear();
      in_long_call([&] { is_done = read(cells, width); });
      check_signals();
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

  void bind_one(int i, const Cell& cell) {
    check(std::visit(
        [&]<class T>(const T& v) {
          if constexpr (std::is_same_v<T, std::int64_t>)
            return sqlite3_bind_int64(statement_, i, v);
          else if constexpr (std::is_same_v<T, double>)
            return sqlite3_bind_double(statement_, i, v);
          else if constexpr (std::is_same_v<T, std::string>)
            return sqlite3_bind_text64(statement_, i, v.data(), v.size(), SQLITE_TRANSIENT,
                                       SQLITE_UTF8);
          else if constexpr (std::is_same_v<T, Bytes>)
            return sqlite3_bind_blob64(statement_, i, v.empty() ? "" : v.data(), v.size(),
                                       SQLITE_TRANSIENT);
          else
            return sqlite3_bind_null(statement_, i);
        },
        cell));
  }

  // Reads a batch of rows. Returns true if there are no more rows.
  bool read(std::vector<Cell>& cells, std::size_t width) {
    constexpr int many = 1024;
    for (int row = 0; row < many; ++row) {
      const int code = sqlite3_step(statement_);
      if (code == SQLITE_DONE) return true;
      if (code == SQLITE_INTERRUPT) return true;  // interruptibly() throws the cause
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

// While this object exists, a statement of the connection ends when look_for_interrupt() throws.
// What it has thrown is lost here; interruptibly() throws it again.
class Statement_Interrupts {
 public:
  explicit Statement_Interrupts(sqlite3* connection) : connection_(connection) {
    constexpr int steps = 1000;
    sqlite3_progress_handler(connection, steps, look, nullptr);
  }
  ~Statement_Interrupts() { sqlite3_progress_handler(connection_, 0, nullptr, nullptr); }
  Statement_Interrupts(const Statement_Interrupts&) = delete;
  Statement_Interrupts& operator=(const Statement_Interrupts&) = delete;

 private:
  static int look(void*) {
    try {
      look_for_interrupt();
      return 0;
    } catch (...) {
      return 1;
    }
  }

  sqlite3* const connection_;
};

}  // namespace

nb::object run_sql(Shared_Session& session, const std::string& statement, nb::handle parameters) {
  const Parameters values = to_parameters(parameters);
  const Shared_Session::Call call(session);
  std::unique_ptr<Sql_Connection>& kept = session.sql();
  if (kept == nullptr) kept = std::make_unique<Live_Connection>(session);
  session->flushed_file();
  sqlite3* const connection = static_cast<Live_Connection&>(*kept).sql.connection();
  const Statement_Interrupts interrupts(connection);
  Query query(connection, statement);
  query.bind(values);
  const nb::tuple columns = query.columns();
  return nb::make_tuple(columns, query.rows());
}

}  // namespace joedb::python
