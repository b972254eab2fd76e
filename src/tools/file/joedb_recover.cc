#include <filesystem>
#include <iostream>

#include "joedb/base/log.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/writable_database.h"
#include "kernel/base/counted.h"
#include "kernel/io/new_file.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/json_output.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"

namespace joedb {

namespace {

// The size and the checkpoint of the file, before or after recovery.
struct State {
  Offset size;
  Offset checkpoint;
};

// Returns an unused file name for a tail that begins at `position`, like those of Journal_Recovery.
std::string new_tail_name(const std::string& file, Offset position) {
  const std::string first = file + ".tail-" + std::to_string(position);
  std::string name = first;
  for (int number = 2; std::filesystem::exists(name); ++number)
    name = first + '-' + std::to_string(number);
  return name;
}

// Saves the bytes that Recovery::hard would remove without saving them. Returns the name of the new
// file. Precondition: no other process has the file open.
std::string save_removed_bytes(File& file, Offset checkpoint, Recovery recovery) {
  if (file.get_size() <= checkpoint) return "";
  const std::string saved = new_tail_name(file.get_name(), checkpoint);
  fill_new_file(saved, New_File::Existing::refuse, [&](New_File& tail) {
    tail.take_permissions(file);
    save_tail(file, recovery, tail);
  });
  return saved;
}

void print(const std::string& name, const State& before, const State& after,
           const std::string& saved, Recovery recovery) {
  if (recovery == Recovery::ignore_header && after.checkpoint > before.checkpoint)
    std::cout << name << ": the checkpoint is at " << after.checkpoint << " now, instead of "
              << before.checkpoint << '\n';
  else if (after.size < before.size)
    std::cout << name << ": removed " << counted(before.size - after.size, "byte")
              << " behind the checkpoint at " << after.checkpoint << '\n';
  else
    std::cout << name << ": nothing to recover: it ends at its checkpoint, " << after.checkpoint
              << '\n';
  if (!saved.empty())
    std::cout << "saved: " << counted(before.size - after.size, "byte") << ", in " << saved << '\n';
}

Json json_of(const std::string& name, const State& before, const State& after,
             const std::string& saved) {
  Json json{{"file", name},
            {"size", after.size},
            {"checkpoint", after.checkpoint},
            {"size_before", before.size},
            {"saved", saved}};
  if (saved.empty()) json["saved"] = nullptr;
  return json;
}

void run_on(const std::string& name, Recovery recovery, bool is_json) {
  Recovery_Logger::remove_logger();  // this tool itself prints these messages
  State before{0, journal_start};
  Loading_File file(name, Open_Mode::write_existing);
  before.size = file.get_size();
  if (before.size == 0) throw Exception(name + ": the file is empty; it is not a database");
  if (recovery == Recovery::ignore_header) {
    try {
      before.checkpoint = Readonly_Journal(file).get_checkpoint();
    } catch (const Corruption_Error&) {  // the header is damaged, so ignore_header is used
    }
  }
  Writable_Database database(file, recovery);
  file.end_loading();
  const Writable_Journal& journal = database.get_journal();
  std::string saved;
  if (recovery == Recovery::hard)
    saved = save_removed_bytes(file, journal.get_checkpoint(), recovery);
  database.recover();
  if (recovery == Recovery::ignore_header) database.hard_checkpoint();
  if (saved.empty()) saved = journal.get_saved_tail();
  const State after{file.get_size(), journal.get_checkpoint()};
  is_json ? print_json(json_of(name, before, after, saved))
          : print(name, before, after, saved, recovery);
}

const char* const recover_details =
    R"(A process that is killed during a transaction leaves bytes after the checkpoint of FILE, and
writers then refuse the file. By default, these bytes are saved in FILE.tail-POSITION, and removed
from FILE. The tables are built before anything is changed: a file that cannot be read is not
modified.

  --recovery keep           save and remove the bytes after the checkpoint
  --recovery overwrite      remove the bytes after the checkpoint
  --recovery ignore_header  accept all entries of the file, and write a hard checkpoint after them
  --recovery hard           return to the last hard checkpoint, and save the bytes after it: for use
                            after a power cut, if later bytes are damaged

joedb_verify tells whether recovery is necessary. No other process may write the file; --recovery
hard requires that no other process has it open.
)";

}  // namespace

int run_recover(std::vector<std::string> arguments) {
  Options options({"joedb_recover [options] FILE",
                   "Recovers a database after a crash, without losing data.", recover_details,
                   "  joedb_recover people.joedb\n"
                   "  joedb_recover --recovery hard people.joedb\n"});
  Recovery recovery = Recovery::keep;
  add_recovery_option(options, recovery);
  bool is_json = false;
  add_json_option(options, is_json);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string name = words->take_last_name();
  if (recovery == Recovery::none)
    words->fail(
        "--recovery none would change nothing; expected keep, overwrite, ignore_header or hard");
  require_writable_name(name);
  name_file_in_errors(name, [&] { run_on(name, recovery, is_json); });
  finish_standard_output();
  return 0;
}

}  // namespace joedb
