#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "kernel/base/counted.h"
#include "kernel/io/process.h"
#include "rewrite/pack.h"
#include "rewrite/pack_in_parts.h"
#include "rewrite/pack_since.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/history_options.h"
#include "tools/frame/json_output.h"
#include "tools/frame/new_database_file.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/frame/source.h"

namespace joedb {

namespace {

// With --classic, rejects blobs, like joedb 10.
class Content : public Database {
 public:
  Content(Deleted_Values deleted, Blob_Copies& blobs) : Database(deleted), blobs_(blobs) {}
  using Database::operator();
  void operator()(const Blob_Data& entry) { add(entry.blob, blobs_); }

  static void add(Blob blob, Blob_Copies& blobs) {
    if (is_classic()) throw Exception("can't pack blobs");
    blobs.add(blob);
  }

 private:
  Blob_Copies& blobs_;
};

// Passes the entries on to a loader, and the blobs to `blobs`, if it is not null.
class Loader_With_Blobs {
 public:
  Loader_With_Blobs(Value_Loader& loader, Blob_Copies* blobs) : loader_(loader), blobs_(blobs) {}
  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (!std::is_same_v<Entry, Blob_Data>)
      loader_(entry);
    else if (blobs_ != nullptr)
      Content::add(entry.blob, *blobs_);
  }

 private:
  Value_Loader& loader_;
  Blob_Copies* const blobs_;
};

struct Pack_Options {
  Reading_Options reading;
  Source_Options source;
  std::optional<std::string> since;  // pack older history to one state; nullopt: all of it
  std::int64_t memory = 1024;        // MB
  bool is_json = false;
  std::size_t bytes() const { return static_cast<std::size_t>(memory) << 20; }
};

// Loads the tables. Returns false if they exceed the memory limit.
bool load_within(std::size_t memory, Readonly_Journal& journal, Offset end, Content& database) {
  constexpr Offset step = Offset{1} << 22;
  Progress progress("loading " + journal.get_file().get_name(), journal_start, end);
  while (journal.get_replay_position() < end) {
    journal.replay(database, std::min(end, journal.get_replay_position() + step));
    progress.update(journal.get_replay_position());
    if (private_memory() > memory) return false;
  }
  return true;
}

// Packs the content of a file, at once or in parts. Returns the blobs that were left out. If it
// throws, no checkpoint has been written.
Blob_Copies::Unused pack_content(Abstract_File& file, const Pack_Options& options,
                                 Writable_Journal& packed) {
  const Recovery recovery = options.reading.get_recovery();
  Readonly_Journal journal(file, recovery);
  const Offset end = options.reading.end_of(journal);
  // The last bytes may be covered by an integrity entry after `end`. Check this entry too, so that
  // damaged bytes are not packed.
  if (end < journal.get_checkpoint()) Readonly_Journal(file, recovery).replay(Ignore_Entries());
  if (options.since) {
    const Moment since = resolve(file, parse_when(*options.since, "--keep-since"), recovery);
    pack_since(file, {.since = since, .end = end, .recovery = recovery, .memory = options.bytes()},
               packed);
    return {};
  }
  {
    Blob_Copies blobs;
    Content database(deleted_values(), blobs);
    database.limit_to_journal_of(journal.get_checkpoint());
    if (load_within(options.bytes(), journal, end, database)) {
      options.reading.require_replayed_to(end, journal);
      pack(database, file, blobs, packed);
      return blobs.unused();
    }
  }
  Blob_Copies blobs;
  Blob_Copies* found = &blobs;  // the first time only
  Part_Packer packer(options.bytes(), Part_Packer::Loose_References::keep, deleted_values());
  packer.add(file.get_name(), [&](Value_Loader& loader) {
    Readonly_Journal again(file, recovery);
    loader.limit_to_journal_of(journal.get_checkpoint());
    replay_with_progress(again, Loader_With_Blobs(loader, std::exchange(found, nullptr)),
                         "reading " + file.get_name(), end);
    options.reading.require_replayed_to(end, again);
  });
  packer.write(file, blobs, packed);
  return blobs.unused();
}

// Prints, for example, "small.joedb: 120 bytes, 400 before (70.0 % saved), without 1 unused blob (9
// bytes)".
void print_saved(const std::string& name, Offset before, Offset after, Blob_Copies::Unused unused,
                 bool is_json) {
  if (is_json)
    return print_json({{"file", name},
                       {"bytes", after},
                       {"bytes_before", before},
                       {"unused_blobs", unused.count},
                       {"unused_blob_bytes", unused.bytes}});
  std::printf("%s: %lld bytes, %lld before", name.c_str(), static_cast<long long>(after),
              static_cast<long long>(before));
  if (after <= before)
    std::printf(" (%.1f %% saved)",
                100 * (1 - static_cast<double>(after) / static_cast<double>(before)));
  if (unused.count > 0)
    std::printf(", without %s (%s)", counted(unused.count, "unused blob").c_str(),
                counted(unused.bytes, "byte").c_str());
  std::printf("\n");
}

void pack_to(const std::string& in, const std::string& out, bool force,
             const Pack_Options& options) {
  if (!is_classic()) require_other_file(out, in);
  const auto file = open_source(in, options.source);
  Blob_Copies::Unused unused;
  write_new_database(out, force, [&](Writable_Journal& packed) {
    unused =
        name_file_in_errors(file->get_name(), [&] { return pack_content(*file, options, packed); });
  });
  if (is_classic()) return;
  std::error_code ignored;
  print_saved(out, file->get_size(), static_cast<Offset>(std::filesystem::file_size(out, ignored)),
              unused, options.is_json);
}

// ---- in place -----------------------------------------------------------------------------------

// Packs a file that no one else has open, and writes a hard checkpoint.
Blob_Copies::Unused pack_file(File& file, const Pack_Options& options, File& packed) {
  Writable_Journal source(file);  // throws if there is an unfinished transaction
  Blob_Copies::Unused unused;
  write_journal(packed, [&](Writable_Journal& destination) {
    unused = pack_content(file, options, destination);
    if (source.get_integrity() == Integrity::each_checkpoint) destination.enable_integrity();
    destination.hard_checkpoint();
  });
  return unused;
}

void pack_in_place(const std::string& name, const std::string& kept, const Pack_Options& options) {
  New_Database_File made(name, New_Database_File::Existing::rewrite, kept);
  File& file = *made.replaced();
  const Offset before = file.get_size();
  Blob_Copies::Unused unused;
  const Offset after = made.write([&](File& packed) { unused = pack_file(file, options, packed); });
  print_saved(name, before, after, unused, options.is_json);
}

const char* const pack_details =
    R"(Writes the schema changes of IN to OUT, then the existing records, with the same ids. Old values,
deleted records, comments and time stamps are left out, and blobs to which no record refers. An OUT
that ends with .zst is compressed. Prints the sizes before and after.

With --keep-since, only the history before WHEN is packed, to one transaction; later transactions
are kept unchanged.

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
  options.add_flag("--in-place", is_in_place, "replace FILE itself");
  options.add("--keep", kept,
              "with --in-place: keep the old file under this name, in the same file system",
              kinds::file);
  options.add(
      "--keep-since", packing.since,
      "keep the history since this position, tag, or time, like \"2026-01-31\" or \"2 weeks ago\"",
      Value_Kind{"WHEN", ""});
  add_reading_options(options, reading);
  add_memory_option(options, packing.memory);
  add_source_options(options, packing.source);
  add_force_option(options, force);
  add_json_option(options, packing.is_json);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  // Validate this option before creating anything.
  if (packing.since) parse_when(*packing.since, "--keep-since");
  const std::string in = words->take_name();
  if (!is_in_place) {
    if (!kept.empty()) words->fail("--keep needs --in-place");
    if (words->is_empty() && !is_classic())
      words->fail("OUT is missing. To replace " + in + " itself, use --in-place");
    pack_to(in, words->take_last_name(), force, packing);
    finish_standard_output();
    return 0;
  }
  words->require_end();
  if (reading.moment.is_given() || reading.get_recovery() != Recovery::none)
    words->fail(
        "--in-place packs only the present state: to pack a past or a damaged one, write to OUT");
  name_file_in_errors(in, [&] { pack_in_place(in, kept, packing); });
  finish_standard_output();
  return 0;
}

}  // namespace joedb
