#include <algorithm>
#include <cstdio>
#include <optional>

#include "kernel/io/process.h"
#include "rewrite/pack.h"
#include "rewrite/pack_in_parts.h"
#include "rewrite/pack_since.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/history_options.h"
#include "tools/frame/new_database_file.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/frame/source.h"

namespace joedb {

namespace {

// A database that rejects blobs, because blob fields have positions in the old file, which would be
// wrong in the new one.
class Blobless_Database : public Database {
 public:
  using Database::Database;
  using Database::operator();
  void operator()(const Blob_Data&) { throw Exception("can't pack blobs"); }
};

struct Pack_Options {
  Reading_Options reading;
  Source_Options source;
  std::optional<std::string> since;  // combine older history to one state; nullopt: all of it
  std::int64_t memory = 1024;        // in MB
  std::size_t bytes() const { return static_cast<std::size_t>(memory) << 20; }
};

// Loads the tables. Returns false if they exceed the memory limit.
bool load_within(std::size_t memory, Readonly_Journal& journal, Offset end,
                 Blobless_Database& database) {
  constexpr Offset step = Offset{1} << 22;
  Progress progress("loading " + journal.get_file().get_name(), journal_start, end);
  while (journal.get_replay_position() < end) {
    journal.replay(database, std::min(end, journal.get_replay_position() + step));
    progress.update(journal.get_replay_position());
    if (private_memory() > memory) return false;
  }
  return true;
}

// Packs the content of a file, either at once or in parts. If this throws, there is no checkpoint.
void pack_content(Abstract_File& file, const Pack_Options& options, Writable_Journal& packed) {
  const Recovery recovery = options.reading.get_recovery();
  Readonly_Journal journal(file, recovery);
  const Offset end = options.reading.end_of(journal);
  // The last bytes may be covered by an integrity entry after `end`. Check this entry too, so that
  // damaged bytes are not packed.
  if (end < journal.get_checkpoint()) Readonly_Journal(file, recovery).replay(Ignore_Entries());
  if (options.since) {
    const Moment since = resolve(file, parse_when(*options.since, "--keep-since"), recovery);
    return pack_since(file,
                      {.since = since, .end = end, .recovery = recovery, .memory = options.bytes()},
                      packed);
  }
  {
    Blobless_Database database(deleted_values());
    database.limit_to_journal_of(journal.get_checkpoint());
    if (load_within(options.bytes(), journal, end, database)) {
      options.reading.require_replayed_to(end, journal);
      return pack(database, packed);
    }
  }
  Part_Packer packer(options.bytes(), Part_Packer::Loose_References::keep, deleted_values());
  packer.add(file.get_name(), [&](Value_Loader& loader) {
    Readonly_Journal again(file, recovery);
    loader.limit_to_journal_of(journal.get_checkpoint());
    replay_with_progress(again, Blobless_Loader(loader, "can't pack blobs"),
                         "reading " + file.get_name(), end);
    options.reading.require_replayed_to(end, again);
  });
  packer.write(packed);
}

void pack_to(const std::string& in, const std::string& out, bool force,
             const Pack_Options& options) {
  if (!is_classic()) require_other_file(out, in);
  const auto file = open_source(in, options.source);
  write_new_database(out, force, [&](Writable_Journal& packed) {
    name_file_in_errors(file->get_name(), [&] { pack_content(*file, options, packed); });
  });
}

// ---- in place -----------------------------------------------------------------------------------

// Packs a file that no other process has open, and makes a hard checkpoint.
void pack_file(File& file, const Pack_Options& options, File& packed) {
  Writable_Journal source(file);  // throws if there is an unfinished transaction
  write_journal(packed, [&](Writable_Journal& destination) {
    pack_content(file, options, destination);
    if (source.get_integrity() == Integrity::each_checkpoint) destination.enable_integrity();
    destination.hard_checkpoint();
  });
}

// Prints a line like "small.joedb: 120 bytes, 400 before (70.0 % saved)".
void print_saved(const std::string& name, Offset before, Offset after) {
  std::printf("%s: %lld bytes, %lld before", name.c_str(), static_cast<long long>(after),
              static_cast<long long>(before));
  if (after <= before)
    std::printf(" (%.1f %% saved)",
                100 * (1 - static_cast<double>(after) / static_cast<double>(before)));
  std::printf("\n");
}

void pack_in_place(const std::string& name, const std::string& kept, const Pack_Options& options) {
  New_Database_File made(name, New_Database_File::Existing::rewrite, kept);
  File& file = *made.replaced();
  const Offset before = file.get_size();
  const Offset after = made.write([&](File& packed) { pack_file(file, options, packed); });
  print_saved(name, before, after);
}

const char* const pack_details =
    R"(Writes the schema changes of IN to OUT, then the existing records, with the same ids. Old values,
deleted records, comments and time stamps are left out. A database with blobs cannot be packed. An
OUT that ends with .zst is compressed.

With --keep-since, only the history before WHEN is packed, to one transaction; later transactions
are kept unchanged, and blobs are allowed.

With --in-place, FILE is replaced atomically, and keeps its owner, permissions and symbolic links.
No other process may have it open. Its history is lost unless the old file is kept (--keep), and
copies of it, such as those of clients, have to be made again.
)";

}  // namespace

int run_pack(std::vector<std::string> arguments) {
  Options options({"joedb_pack [options] IN OUT\n       joedb_pack --in-place [--keep OLD] FILE",
                   "Writes the content of a database to a new file, without its history.",
                   pack_details,
                   "  joedb_pack people.joedb small.joedb\n"
                   "  joedb_pack --in-place --keep people.old people.joedb\n"
                   "  joedb_pack --in-place --keep-since '90 days ago' people.joedb\n"});
  Pack_Options packing;
  Reading_Options& reading = packing.reading;
  bool force = false;
  bool is_in_place = false;
  std::string kept;
  options.add_flag("--in-place,--in_place", is_in_place, "replace FILE itself");
  options.add("--keep", kept,
              "with --in-place: keep the old file under this name, in the same file system");
  options.add(
      "--keep-since,--keep_since", packing.since,
      "keep the history since this position, tag, or time, like \"2026-01-31\" or \"2 weeks ago\"",
      Value_Kind{"WHEN", ""});
  add_reading_options(options, reading);
  add_memory_option(options, packing.memory);
  add_source_options(options, packing.source);
  add_force_option(options, force);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  // Validate this option before creating anything.
  if (packing.since) parse_when(*packing.since, "--keep-since");
  const std::string in = words->take_name();
  if (!is_in_place) {
    if (!kept.empty()) words->fail("--keep is for --in-place");
    if (words->is_empty() && !is_classic())
      words->fail("OUT is missing. To replace " + in + " itself, say --in-place");
    pack_to(in, words->take_last_name(), force, packing);
    return 0;
  }
  words->require_end();
  if (reading.moment.is_given() || reading.get_recovery() != Recovery::none)
    words->fail("--in-place takes the file as it is: to pack a past or a damaged state, write OUT");
  name_file_in_errors(in, [&] { pack_in_place(in, kept, packing); });
  finish_standard_output();
  return 0;
}

}  // namespace joedb
