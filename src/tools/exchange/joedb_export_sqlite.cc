#include <filesystem>

#include "exchange/sqlite.h"
#include "kernel/io/new_file.h"
#include "tools/exchange/exchange_formats.h"
#include "tools/exchange/sqlite_output.h"
#include "tools/frame/arguments.h"
#include "tools/frame/output.h"

namespace joedb {

static const char* const export_sqlite_details =
    R"(Creates a table for each table, a column for each field, and a column "__id" INTEGER PRIMARY KEY for
the record ids. Dates and other values with a logical type are texts, decimals are numbers. Missing
values, null references, null blobs and nan become NULL; fields that cannot be missing are NOT NULL.
A string that is not UTF-8, or contains zero bytes, becomes a BLOB, and so does a decimal of which a
float would lose digits. joedb import sqlite restores the same database from OUT.

OUT appears only when it is complete and on disk. With --force, an existing SQLite file is updated
in one transaction, so that programs that have it open see the new content.

)";

namespace {

// Throws Exception if an earlier OUT has left sidecar files, because a program was killed. SQLite
// would treat them as a part of the new file, and show old pages.
void require_no_sidecars(const std::string& out) {
  const auto sidecars = sqlite_sidecars(out);
  if (sidecars.empty()) return;
  throw Exception(sidecars.front() + ": was left by another file " + out +
                  ", and SQLite would take it for a part of the new one; --force removes it");
}

void remove_sidecars(const std::string& path) {
  for (const std::string& sidecar : sqlite_sidecars(path))
    if (std::error_code error; !std::filesystem::remove(sidecar, error) && error)
      throw_io_error("removing", sidecar, -1, error.value());
}

// Returns true if the file is an SQLite database or empty.
bool is_database(const std::string& path) {
  std::error_code ignored;
  return is_sqlite_file(path) || (std::filesystem::is_regular_file(path, ignored) &&
                                  std::filesystem::file_size(path, ignored) == 0);
}

void replace(const Sqlite_Source& source, const std::string& out) {
  const std::string path = file_to_replace(out);
  New_File made(path, New_File::Existing::replace);
  write_sqlite(source, made.path(), out);
  if (is_database(path)) return copy_sqlite(made.path(), path, out);
  remove_sidecars(path);
  made.publish();
}

void write(const Sqlite_Source& source, const std::string& out) {
  require_no_sidecars(out);
  New_File made(out, New_File::Existing::refuse);
  write_sqlite(source, made.path(), out);
  require_no_sidecars(out);
  made.publish();
}

}  // namespace

int export_sqlite(std::vector<std::string> arguments) {
  Options options({"joedb export sqlite [options] FILE OUT",
                   "Writes the content of a database to an SQLite file.", export_sqlite_details,
                   "  joedb export sqlite people.joedb people.sqlite\n"
                   "  joedb export sqlite --options people.joedbc people.joedb people.sqlite\n"});
  Sqlite_Source source;
  bool force = false;
  options.add("--options", source.options_file,
              "a .joedbc file; its indexes are also created in OUT", kinds::options_file);
  add_force_option(options, force);
  add_reading_options(options, source.reading);
  add_source_options(options, source.source);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  source.name = words->take_name();
  const std::string out = words->take_last_name();
  require_absent(out, force);
  require_other_file(out, source.name);
  force ? replace(source, out) : write(source, out);
  return 0;
}

}  // namespace joedb
