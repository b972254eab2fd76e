#include <iostream>

#include "text/json.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"

namespace joedb {

static const char* const to_json_details =
    R"(For each table: "__size", the number of records, and for each field the array of its values, in
the order of record ids. A reference is an index into these arrays, or -1. A blob is
[position,size]. nan and infinities become 0, and strings that are not UTF-8 are truncated, with a
warning.
)";

int run_to_json(std::vector<std::string> arguments) {
  Options options({"joedb_to_json [options] FILE", "Prints all tables of a database as JSON.",
                   to_json_details, "  joedb_to_json people.joedb | jq .person.age\n"});
  bool base64 = false;
  options.add_flag("--base64", base64, "write all strings as base64");
  Reading_Options reading;
  add_reading_options(options, reading);
  Source_Options source;
  add_source_options(options, source);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_last_name();
  const auto file = open_source(name, source);
  Database database(deleted_values());
  name_file_in_errors(file->get_name(), [&] {
    Readonly_Journal journal(*file, reading.get_recovery());
    reading.load(journal, database);
  });
  {
    Progress progress("writing", 0, count_values(database), Progress::Output::printing,
                      Progress::Unit::values);
    write_json(database, std::cout, base64, [&](std::int64_t done) { progress.update(done); });
  }
  finish_standard_output();
  return 0;
}

}  // namespace joedb
