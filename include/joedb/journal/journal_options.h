#ifndef JOEDB_JOURNAL_JOURNAL_OPTIONS_H
#define JOEDB_JOURNAL_JOURNAL_OPTIONS_H

#include <optional>
#include <string>
#include <string_view>

#include "joedb/base/error.h"
#include "joedb/base/types.h"
#include "joedb/format/header.h"
#include "joedb/io/fail_stop_file.h"

namespace joedb::inline v1 {

// Which part of a file is read, and what a writer does with the rest.
enum class Recovery {
  // Reads up to the checkpoint. A writer refuses a file with bytes after it.
  none,
  // Reads everything up to the end of the file, or to zeros left by a preallocating writer.
  ignore_header,
  // Reads up to the checkpoint. A writer truncates the file there.
  overwrite,
  // Reads up to the hard checkpoint. A writer truncates the file there; it requires that no other
  // process has the file open.
  hard,
  // Reads up to the checkpoint. A writer saves the bytes after it in a new file,
  // FILE.tail-POSITION, and truncates the file.
  keep,
  // For readers only: like ignore_header, and the signature need not be that of a joedb file.
  ignore_signature,
};

// A file that is opened for writing has bytes past its checkpoint: a process was killed, or ended,
// during a transaction. The file has not been changed. Journal_Options::recovery selects how to
// treat these bytes.
class Unfinished_Transaction : public Exception {
 public:
  Unfinished_Transaction(std::string_view file, Offset checkpoint_position, Offset file_size);
  const std::string path;
  const Offset checkpoint;
  const Offset size;  // size of the file
};

// How durable a checkpoint is.
enum class Checkpoint_Level {
  soft,  // survives a killed process
  half,  // a hard one without its last sync
  hard   // survives a power cut
};

// The checkpoints of a journal, as far as this process knows them.
struct Checkpoints {
  int hard_index = 0;  // the slot that holds the current hard checkpoint
  int soft_index = 0;  // the copy, in the other slot, that holds the last soft one
  Offset checkpoint = journal_start;
  Offset hard_checkpoint = journal_start;

  // The slot of the next checkpoint, soft or hard.
  int next_slot() const { return 1 - hard_index; }

  // Updates the checkpoints from the words of the header. They never go back. A word beyond
  // `file_size` does not count; without a size (a device) every word does.
  void read(const Checkpoint_Words& words, std::optional<Offset> file_size);

  friend bool operator==(const Checkpoints&, const Checkpoints&) = default;
};

// How a journal is opened for writing. A recovery mode alone converts to options.
//
//     joedb::Journal_Options options;
//     options.preallocation = 1 << 20;
//     people::File_Database db("people.joedb", joedb::Open_Mode::write_existing, options);
struct Journal_Options {
  Journal_Options() = default;
  Journal_Options(Recovery mode) : recovery(mode) {}

  // How bytes after the checkpoint are handled. Default: Recovery::none; for a client
  // (replica/client.h) of a shared file or with a connection, Recovery::keep, so that a process
  // that was killed in a transaction stops neither the others nor itself.
  std::optional<Recovery> recovery;

  // The level that checkpoint() writes.
  Checkpoint_Level default_level = Checkpoint_Level::soft;

  // Seals hard checkpoints of less than 4 MiB (docs/file_format.md), which takes one sync instead
  // of two. joedb 10 does not see a sealed checkpoint before its sync has returned.
  bool has_seals = true;

  // If another program has left a transaction without an end, the first append ends it with one
  // Valid_Data, so that the new entries do not become part of it (history/transaction.h). Default:
  // true for clients and generated code, unless the schema option unmarked_transactions asks for
  // the bytes of joedb 10; false for others.
  std::optional<bool> ends_transactions;

  // Writes integrity entries (format/header.h, Integrity::sparse) to a new journal, so that
  // damaged bytes are found when they are read. A journal is new if it has no such entries and at
  // most integrity_step bytes when something is appended. A journal that has some gets more in any
  // case. Default: the value of ends_transactions.
  std::optional<bool> has_integrity;

  // Returns options with neither of these, for copies and for files that nobody else writes.
  static Journal_Options without_marks() {
    Journal_Options options;
    options.ends_transactions = false;
    return options;
  }

  // Step in bytes by which the file is preallocated with zeros: a sync then has no new size to
  // write. 0 turns this off. Default: a file that is opened alone and grows slowly
  // (Abstract_File::has_slow_growth) is preallocated from the fourth hard checkpoint on, in steps
  // of half its size, but at least 4 KiB and at most 1 MiB. The file is truncated when the journal
  // is closed; after a crash, opening it drops the zeros without asking. If the disk has no room
  // for them, the file grows as usual. Opening throws Exception if the step is negative or above
  // max_preallocation, and if it is not 0 and the file is shared or has no size.
  std::optional<Offset> preallocation;
  static constexpr Offset max_preallocation = Preallocator::max_step;
};

}  // namespace joedb::inline v1

#endif
