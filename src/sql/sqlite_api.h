#ifndef JOEDB_SRC_SQL_SQLITE_API_H
#define JOEDB_SRC_SQL_SQLITE_API_H

// The functions of SQLite. These sources are compiled twice: an extension calls the functions
// through a table that it receives when it is loaded; a program that links SQLite calls them
// directly, with SQLITE_CORE.
#include <sqlite3ext.h>

#include <exception>
#include <new>
#include <string>

#include "joedb/base/error.h"

#ifndef SQLITE_CORE
extern "C" {
SQLITE_EXTENSION_INIT3
}
#endif

namespace joedb {

// Returns true if SQLite has sqlite3_vtab_rhs_value, sqlite3_vtab_in and sqlite3_vtab_distinct.
inline bool has_sqlite_3_38() {
  static const bool result = sqlite3_libversion_number() >= 3'038'000;
  return result;
}

// An error with an SQLite result code.
class Sql_Error : public Exception {
 public:
  Sql_Error(int code_of_sqlite, const std::string& what) : Exception(what), code(code_of_sqlite) {}
  int code;
};

// Calls f(), which returns an SQLite result code. If f() throws, returns a code for the exception,
// and calls `fail` with its text, because SQLite cannot handle exceptions.
template <class F, class Fail>
int without_exceptions(F f, Fail fail) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const Sql_Error& error) {
    fail(error.what());
    return error.code;
  } catch (const File_Locked& error) {
    fail(error.what());
    return SQLITE_BUSY;
  } catch (const Io_Error& error) {
    fail(error.what());
    return SQLITE_IOERR;
  } catch (const std::exception& error) {
    fail(error.what());
    return SQLITE_ERROR;
  } catch (...) {
    fail("unknown error");
    return SQLITE_ERROR;
  }
}

}  // namespace joedb

#endif
