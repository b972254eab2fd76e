#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/database_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "interpreter/pack.h"

namespace joedb {

namespace {

// Blob fields say where in the file the bytes are, which would not be true of the new file.
class Blobless_Database : public Database {
 public:
  using Database::operator();
  void operator()(const Blob_Data&) { throw Exception("can't pack blobs"); }
};

const char* const details =
    R"(OUT gets the changes of tables and fields as they were, then the records
that exist now. Record ids stay the same. Old values, deleted records, comments and time
stamps are left out. A database with blobs cannot be packed. An OUT that ends
with .zst is compressed.
)";

}  // namespace

int run_pack(std::vector<std::string> arguments) {
  Options options({"joedb_pack [options] IN OUT",
                   "Writes the content of a database to a new file, without its history.", details,
                   "  joedb_pack people.joedb small.joedb\n"});
  Reading_Options reading;
  bool force = false;
  add_reading_options(options, reading);
  Source_Options source;
  add_source_options(options, source);
  add_force_option(options, force);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string in = words->take_name();
  const std::string out = words->take_last_name();
  const auto file = open_source(in, source);
  write_new_file(out, force, [&](Writable_Journal& packed) {
    name_file_in_errors(file->get_name(), [&] {
      Readonly_Journal journal(*file, reading.get_recovery());
      Blobless_Database database;
      database.limit_to_journal_of(journal.get_checkpoint());
      reading.replay(journal, database, "loading " + file->get_name());
      pack(database, packed);
    });
  });
  return 0;
}

}  // namespace joedb
