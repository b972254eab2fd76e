#include "objects.h"

namespace joedb::python {

nb::object run_sql(Shared_Session&, const std::string&, nb::handle) {
  throw Exception("this joedb was built without SQLite (Debian: libsqlite3-dev)");
}

}  // namespace joedb::python
