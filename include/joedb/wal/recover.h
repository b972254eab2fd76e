#ifndef JOEDB_WAL_RECOVER_H
#define JOEDB_WAL_RECOVER_H

#include <string>

#include "joedb/io/file.h"
#include "joedb/wal/log.h"

namespace joedb::inline v1::wal {

// What is in a log.
struct Report {
  Format format = Format::checked;
  std::uint64_t log_id = 0;  // of format `checked`: random; also the next
  std::uint64_t epoch = 0;
  std::uint64_t first_sequence = 1;
  std::uint64_t entries = 0;   // good ones, before the end
  std::uint64_t bytes = 0;     // in them
  std::uint32_t last_crc = 0;  // what the next entry will name as that of the one before
  End end;
  Offset file_size = 0;

  // The last entry that is known to have been durable, because another one, or a mark, was written
  // later and says so; 0: none says. Where none does, entries may be durable all the same.
  std::uint64_t known_durable = 0;
  // Up to there, all entries are known to be durable, and perhaps some of those behind.
  Offset durable_offset = 0;

  // Good entries behind the end. A power cut leaves them where it has lost an entry that was not
  // durable yet; so does damage.
  std::uint64_t later_entries = 0;
  Offset later_offset = 0;  // of the first of them, or a mark
  Offset later_end = 0;     // of the last
  // Where they were saved before they were removed: the name of a file; empty: nowhere.
  std::string saved = {};

  // No power cut explains this: entries that were durable are damaged. (In format `cwal`, which
  // cannot tell, whenever there are later entries.)
  bool is_damaged() const {
    return format == Format::cwal ? later_entries > 0 : known_durable >= end.position.sequence;
  }
  std::uint64_t last_sequence() const { return end.position.sequence - 1; }

  // "12 entries, 1 to 12; …", in a sentence or two.
  std::string text() const;
};

// What is done with the bytes behind the last good entry.
enum class Tail {
  keep,
  truncate,  // the file ends there
  zero       // the file keeps its size
};

// Finds the last good entry of a log. Reads the whole file, in blocks. With `truncate` and `zero`
// what is behind it is removed, and the file is synced. Good entries are among it (later_entries)
// where one before them is damaged, or was lost in a power cut: they are saved first, in a file
// NAME.tail-OFFSET beside the log, which is a log itself: `joedb wal dump --later` prints them.
//
// Throws Io_Error; Corruption_Error if no header is good, or good entries cannot be saved, because
// the log is in format `cwal`, or not in a file of the system: then nothing was changed.
//
// A Writer does this by itself when it opens a log, unless is_damaged().
Report recover(Abstract_File& file, Tail tail = Tail::keep);
// The same without a change.
Report examine(const Abstract_File& file);

}  // namespace joedb::inline v1::wal

#endif
