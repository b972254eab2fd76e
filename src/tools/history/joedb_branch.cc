#include <algorithm>

#include "joedb/io/memory_file.h"
#include "kernel/io/copy_range.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/history_options.h"
#include "tools/frame/new_database_file.h"
#include "tools/frame/output.h"

namespace joedb {

namespace {

// Makes the file system copy the bytes, so that both files share them. Returns false if this is not
// possible. The file is opened by its name, which another file may have taken, so the ends of both
// copies are compared.
bool try_to_share(const Abstract_File& file, New_File& branch, Offset end) {
  if (dynamic_cast<const File*>(&file) == nullptr) return false;
  if (!copy_in_file_system(file.get_name(), branch.path(), end)) return false;
  constexpr Offset sample = 65536;
  const Offset first_end = std::min(end, journal_start + sample);
  return file.equal_to(branch, journal_start, first_end) &&
         file.equal_to(branch, std::max(end - sample, journal_start), end);
}

// Copies the bytes up to `end`, and writes a header with a soft checkpoint there.
void copy_beginning(const Abstract_File& file, New_File& branch, Offset end) {
  if (!try_to_share(file, branch, end)) {
    branch.truncate(0);
    file.copy_to(branch, 0, end);
  }
  Header header;
  if (end > journal_start) header.checkpoints.back() = -end;
  const std::array<char, header_size> bytes = encode_header(header);
  branch.pwrite(bytes.data(), bytes.size(), 0);
}

void write_branch(Abstract_File& file, Recovery recovery, const When& when, New_File& branch) {
  const Offset end = find_position(file, when, recovery);
  Readonly_Journal original(file, recovery);
  original.replay(Ignore_Entries(), end);
  require_entry_end(original, end);
  copy_beginning(file, branch, end);
  Journal_Options options = options_of_new_file();
  const bool may_be_damaged =
      recovery == Recovery::ignore_header || recovery == Recovery::ignore_signature;
  if (may_be_damaged) options.recovery = Recovery::ignore_header;
  const auto complete = [&](Writable_Journal& journal) {
    journal.replay(Ignore_Entries());
    // Append nothing to any other journal, so that the rest of FILE can still be pushed to NEW.
    if (original.get_integrity() == Integrity::each_checkpoint) journal.enable_integrity();
    journal.hard_checkpoint();
  };
  write_journal(branch, complete, options);
}

const char* const branch_details =
    R"(Copies the entries of FILE up to WHEN to NEW, byte for byte, and ends them with a hard checkpoint.
NEW is then an independent database. If the file system supports it, both files share their common
data on disk, so that copying takes almost no time and no space.

WHEN is a position of the journal, as shown by joedb_log; a time: "2026-01-31",
"2026-01-31 12:00", yesterday, "2 hours ago"; or a tag (joedb_tag).
)";

}  // namespace

int run_branch(std::vector<std::string> arguments) {
  Options options({"joedb_branch [options] FILE WHEN NEW",
                   "Copies a database as it was at some point.", branch_details,
                   "  joedb_branch people.joedb yesterday trial.joedb\n"
                   "  joedb_branch people.joedb 129 as_it_was.joedb\n"});
  Recovery recovery = Recovery::none;
  bool ignore_header = false;
  bool force = false;
  Source_Options source;
  add_recovery_option(options, recovery);
  options.add_flag("--ignore-header", ignore_header, "same as --recovery ignore_header");
  options.add_flag("--force", force, "replace NEW if it exists");
  add_source_options(options, source);
  add_utc_option(options);
  options.set_words({kinds::database, kinds::text, kinds::database});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_name();
  const When when = parse_when(words->take_name(), "WHEN");
  const std::string out = words->take_last_name();
  if (ignore_header) recovery = Recovery::ignore_header;
  require_writable_name(out);
  require_other_file(out, name);
  require_absent(out, force);
  const auto file = open_source(name, source);
  using Existing = New_Database_File::Existing;
  New_Database_File made(out, force ? Existing::replace : Existing::refuse);
  made.write([&](New_File& branch) {
    if (made.replaced() == nullptr) branch.take_permissions(*file);
    name_file_in_errors(file->get_name(), [&] { write_branch(*file, recovery, when, branch); });
  });
  return 0;
}

}  // namespace joedb
