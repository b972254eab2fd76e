#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>

#include "joedb/table/load.h"
#include "kernel/table/declaration.h"
#include "rewrite/pack_in_parts.h"
#include "text/entry_text.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/new_database_file.h"
#include "tools/frame/output.h"

namespace joedb {

namespace {

std::vector<std::string> read_names(std::istream& in) {
  std::vector<std::string> names;
  for (std::string name; in >> name;) names.push_back(name);
  return names;
}

// Opens the file separately for each pass, because there may be more files than can be open at a
// time.
void add_file(const std::string& name, const Reading_Options& reading, const Source_Options& source,
              Part_Packer& merged) {
  std::optional<Offset> end;  // set by the first pass, for all passes
  merged.add(shown_name(name), [&reading, &source, name, end](Value_Loader& loader) mutable {
    const auto file = open_source(name, source);
    Readonly_Journal journal(*file, reading.get_recovery());
    loader.limit_to_journal_of(journal.get_checkpoint());
    if (!end) end = reading.end_of(journal);
    journal.replay(Blobless_Loader(loader, "can't merge blobs"), *end);
    reading.require_replayed_to(*end, journal);
  });
}

// Adds all valid files, and prints why others are skipped. Returns the number of skipped files.
std::size_t add_files(const std::vector<std::string>& names, const Reading_Options& reading,
                      const Source_Options& source, bool is_verbose, Part_Packer& merged) {
  std::size_t errors = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_verbose)
      std::fprintf(stderr, "%zu / %zu: %s...", i + 1, names.size(), shown_name(names[i]).c_str());
    try {
      add_file(names[i], reading, source, merged);
    } catch (const Usage_Error&) {
      throw;
    } catch (const Exception& error) {
      const std::string prefix = shown_name(names[i]) + ": ";
      const bool has_name = std::string_view(error.what()).starts_with(prefix);
      if (is_verbose)
        std::fprintf(stderr, " %s", error.what());
      else
        std::fprintf(stderr, "joedb_merge: skipped %s%s\n", has_name ? "" : prefix.c_str(),
                     error.what());
      ++errors;
    }
    if (is_verbose) std::fputc('\n', stderr);
  }
  if (is_verbose && errors > 0) std::fprintf(stderr, "Number of errors: %zu\n", errors);
  if (errors == names.size()) throw Exception("nothing to merge");
  return errors;
}

// Reads the tables and declarations of a journal.
class Schema_Reader {
 public:
  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (Schema_Entry<Entry> || std::is_same_v<Entry, Comment>) names_(entry);
  }
  bool has_unique_index() const {
    const auto& indexes = names_.schema().indexes();
    return std::any_of(indexes.begin(), indexes.end(),
                       [](const Index* index) { return index->definition().is_unique; });
  }

 private:
  Entry_Names names_;
};

// Warns of records of different files that have the same key of a declared unique index. Returns
// false if there are any. Only a file with such an index is loaded.
bool check_indexes(const std::string& out, const Source_Options& source) {
  const auto file = open_source(out, source);
  Schema_Reader schema;
  Readonly_Journal(*file).replay(schema);
  if (!schema.has_unique_index()) return true;
  Readonly_Journal journal(*file);
  Database database;
  load(database, journal);
  const std::vector<std::string> violated = violated_indexes(database);
  for (const std::string& text : violated)
    std::fprintf(stderr, "joedb_merge: warning: %s: %s\n", shown_name(out).c_str(), text.c_str());
  return violated.empty();
}

const char* const merge_details =
    R"(Writes the tables and fields of the first file to OUT, then the records of all files, table by
table. The records of the first file keep their ids; those of the next files are renumbered after
them, and references are adjusted. A reference to a record that never existed becomes null.

Files that cannot be read, that have other tables and fields, or that have blobs, are skipped with a
message; OUT is still written, and the exit code is 1 (with --classic: 0). So it is, with a warning,
if records of OUT have the same key of a unique index that the files declare. If OUT is the only
argument, file names are read from standard input, separated by spaces, tabs or newlines.
)";

}  // namespace

int run_merge(std::vector<std::string> arguments) {
  Options options({"joedb_merge [options] FILE... OUT",
                   "Merges the records of several databases with the same tables into a new file.",
                   merge_details,
                   "  joedb_merge monday.joedb tuesday.joedb week.joedb\n"
                   "  ls *.joedb | joedb_merge /tmp/all.joedb\n"});
  Reading_Options reading;
  bool force = false;
  bool is_verbose = false;
  add_reading_options(options, reading);
  std::int64_t memory = 1024;
  add_memory_option(options, memory);
  Source_Options source;
  add_source_options(options, source);
  add_force_option(options, force);
  options.add_flag("--verbose", is_verbose, "print the name of each file as it is read");
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  std::vector<std::string> names;
  do {
    names.push_back(words->take_name());
  } while (!words->is_empty());
  const std::string out = names.back();
  names.pop_back();
  if (names.empty()) names = read_names(std::cin);

  if (!is_classic())
    for (const std::string& name : names) require_other_file(out, name);

  std::size_t errors = 0;
  write_new_database(out, force, [&](Writable_Journal& journal) {
    Part_Packer merged(static_cast<std::size_t>(memory) << 20,
                       Part_Packer::Loose_References::make_null, deleted_values());
    errors = add_files(names, reading, source, is_verbose || is_classic(), merged);
    merged.write(journal);
  });
  if (is_classic()) return 0;
  return check_indexes(out, source) && errors == 0 ? 0 : 1;
}

}  // namespace joedb
