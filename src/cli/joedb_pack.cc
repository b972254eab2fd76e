#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "interpreter/pack.h"
#include "joedb/io/posix_file.h"

namespace joedb {

namespace {

// Blob fields say where in the file the bytes are, which would not be true of the new file.
class Blobless_Database : public Database {
 public:
  using Database::operator();
  void operator()(const Blob_Data&) { throw Exception("can't pack blobs"); }
};

const char* const details =
    R"(OUT must not exist. It gets the changes of tables and fields as they were, then the records
that exist now. Record ids stay the same. Old values, deleted records, comments and time
stamps are left out. A database with blobs cannot be packed.
)";

}  // namespace

int run_pack(std::vector<std::string> arguments) {
  Options options({"joedb_pack [options] IN OUT",
                   "Writes the content of a database to a new file, without its history.", details,
                   "  joedb_pack people.joedb small.joedb\n"});
  bool ignore_header = false;
  std::int64_t until = std::numeric_limits<std::int64_t>::max();
  options.add_flag("--ignore_header", ignore_header,
                   "believe everything up to the end of IN, not only up to the checkpoint");
  options.add("--until", until, "the content as it was at this position of IN");
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string in = words->take();
  const std::string out = words->take();
  words->require_end();
  File file(in, Open_Mode::read_existing);
  write_new_file(out, [&](Writable_Journal& packed) {
    Readonly_Journal journal(file, ignore_header ? Recovery::ignore_header : Recovery::none);
    Blobless_Database database;
    database.limit_to_journal_of(journal.get_checkpoint());
    replay_with_progress(journal, database, "loading " + in, until);
    pack(database, packed);
  });
  return 0;
}

}  // namespace joedb
