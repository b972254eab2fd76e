#include "tools/exchange/exchange_formats.h"
#include "tools/exchange/sql_command.h"
#include "tools/frame/command.h"
#include "tools/frame/parser.h"

// Stubs for the commands that need SQLite, for a build without SQLite.

namespace joedb {

[[noreturn]] static void refuse() {
  throw Exception("this program was built without SQLite (Debian: libsqlite3-dev)");
}

int import_sqlite(std::vector<std::string>) { refuse(); }
int export_sqlite(std::vector<std::string>) { refuse(); }
int run_browser(std::vector<std::string>) { refuse(); }
int run_sql(std::vector<std::string>) { refuse(); }

void add_sql_commands(Command_Loop&, Database&, Abstract_File&, std::function<void()>) {}

}  // namespace joedb
