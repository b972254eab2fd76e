#include "cli/arguments.h"
#include "cli/exchange_formats.h"
#include "cli/output.h"
#include "cli/sqlite_output.h"

namespace joedb {

static const char* const details =
    R"(OUT gets a table for each table, a column for each field, and the record ids as "__id" INTEGER
PRIMARY KEY. Null references and blobs are NULL, and so is nan. A string that is not UTF-8, or has
zero bytes, becomes a BLOB. joedb import sqlite makes the same database of it.

OUT appears when it is complete and on the disk.

)";

int export_sqlite(std::vector<std::string> arguments) {
  Options options({"joedb export sqlite [options] FILE OUT",
                   "Writes the content of a database to a file of SQLite.", details,
                   "  joedb export sqlite people.joedb people.sqlite\n"
                   "  joedb export sqlite --options people.joedbc people.joedb people.sqlite\n"});
  Sqlite_Source source;
  bool force = false;
  options.add("--options", source.options_file, "a .joedbc file, whose indexes OUT gets, too");
  add_force_option(options, force);
  add_reading_options(options, source.reading);
  add_source_options(options, source.source);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  source.name = words->take_name();
  const std::string out = words->take_last_name();
  require_absent(out, force);
  require_other_file(out, source.name);
  const auto existing = force ? New_File::Existing::replace : New_File::Existing::refuse;
  fill_new_file(out, existing, [&](New_File& file) { write_sqlite(source, file.path(), out); });
  return 0;
}

}  // namespace joedb
