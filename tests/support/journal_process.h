#ifndef JOEDB_TESTS_SUPPORT_JOURNAL_PROCESS_H
#define JOEDB_TESTS_SUPPORT_JOURNAL_PROCESS_H

#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/log.h"
#include "joedb/journal/writable_journal.h"
#include "sim/lab/sim_file.h"
#include "support/entries.h"

namespace joedb::testing {

// Collects the warnings of destructors while it exists, and keeps them off the terminal.
class Destructor_Warnings : private Logger {
 public:
  Destructor_Warnings() { Destructor_Logger::set_logger(this); }
  ~Destructor_Warnings() override { Destructor_Logger::remove_logger(); }
  Destructor_Warnings(const Destructor_Warnings&) = delete;
  Destructor_Warnings& operator=(const Destructor_Warnings&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  void log(std::string_view line) override { lines_.emplace_back(line); }

  std::vector<std::string> lines_;
};

// Appends any entry to a journal.
void append_any(Writable_Journal& journal, const Any_Entry& entry);

// A process that has the journal on a disk open for writing. It writes one word at a time: as a
// comment, of two bytes and the word.
class Journal_Process {
 public:
  explicit Journal_Process(Sim_Disk& disk, const Journal_Options& options = {},
                           Open_Mode mode = Open_Mode::write_existing_or_create_new)
      : file_(disk, mode), journal_(file_, options) {
    replay();
    if (!journal_.is_shared()) journal_.recover();
  }

  Sim_File& file() { return file_; }
  Writable_Journal& journal() { return journal_; }

  void replay() { journal_.replay(Ignore_Entries()); }
  void append(std::string_view word) { journal_.append(Comment{word}); }

  // Begin and end a transaction on a shared file.
  void begin() {
    journal_.lock_pull();
    replay();
    journal_.recover();
  }
  void end() { journal_.unlock(); }
  // Reads what others have written, without a transaction.
  void pull() {
    journal_.pull([this] { replay(); });
  }

 private:
  Sim_File file_;
  Writable_Journal journal_;
};

// Returns the words before the checkpoint of a file, each followed by a space; other entries are
// left out. Throws what a reader throws.
std::string words_in(std::string_view file, Recovery recovery = Recovery::none);

// Returns the last hard checkpoint in a file.
Offset hard_checkpoint_in(std::string_view file);

}  // namespace joedb::testing

#endif
