#include <cstdio>
#include <iostream>
#include <optional>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "interpreter/merge.h"
#include "interpreter/pack.h"
#include "joedb/io/posix_file.h"

namespace joedb {

namespace {

// Blob fields say where in a file the bytes are, which would not be true of the merged file.
class Blobless_Database : public Database {
 public:
  using Database::operator();
  void operator()(const Blob_Data&) { throw Exception("can't merge blobs"); }
};

std::vector<std::string> read_names(std::istream& in) {
  std::vector<std::string> names;
  for (std::string name; in >> name;) names.push_back(name);
  return names;
}

void add_file(const std::string& name, Merged_Database& merged) {
  File file(name, Open_Mode::read_existing);
  Readonly_Journal journal(file);
  Blobless_Database database;
  database.limit_to_journal_of(journal.get_checkpoint());
  journal.replay(database);
  merged.add(name, database);
}

const char* const details =
    R"(OUT must not exist. It gets the tables and fields of the first file, then the records of all
files, table by table: those of the first file keep their ids, those of the next are numbered
on, and references are changed accordingly; one to a record that never was becomes null.

Files that cannot be read, that have other tables and fields, or that have blobs, are skipped
with a message. If OUT is the only argument, the names are read from standard input, separated by
spaces, tabs or ends of lines.
)";

}  // namespace

int run_merge(std::vector<std::string> arguments) {
  Options options({"joedb_merge FILE... OUT",
                   "Writes the records of several databases with the same tables to a new file.",
                   details,
                   "  joedb_merge monday.joedb tuesday.joedb week.joedb\n"
                   "  ls *.joedb | joedb_merge /tmp/all.joedb\n"});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  std::vector<std::string> names;
  do {
    names.push_back(words->take());
  } while (!words->is_empty());
  const std::string out = names.back();
  names.pop_back();
  if (names.empty()) names = read_names(std::cin);

  write_new_file(out, [&](Writable_Journal& journal) {
    Merged_Database merged;
    std::size_t errors = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::fprintf(stderr, "%zu / %zu: %s...", i + 1, names.size(), names[i].c_str());
      try {
        add_file(names[i], merged);
      } catch (const Exception& error) {
        std::fprintf(stderr, " %s", error.what());
        ++errors;
      }
      std::fputc('\n', stderr);
    }
    if (errors > 0) std::fprintf(stderr, "Number of errors: %zu\n", errors);
    if (errors == names.size()) throw Exception("nothing to merge");
    pack(merged.database(), journal);
  });
  return 0;
}

}  // namespace joedb
