#ifndef JOEDB_JOURNAL_JOURNAL_OPTIONS_H
#define JOEDB_JOURNAL_JOURNAL_OPTIONS_H

#include <optional>

#include "joedb/base/ids.h"
#include "joedb/io/preallocator.h"
#include "joedb/journal/checkpoints.h"
#include "joedb/journal/recovery.h"

namespace joedb::inline v1 {

// How a journal is opened for writing. A recovery mode alone stands for options, too.
//
//     joedb::Journal_Options options;
//     options.preallocation = 1 << 20;
//     people::File_Database db("people.joedb", joedb::Open_Mode::write_existing, options);
struct Journal_Options {
  Journal_Options() = default;
  Journal_Options(Recovery mode) : recovery(mode) {}

  // What is done with bytes behind the checkpoint. Without a value: Recovery::none; for a client
  // (replica/client.h) of a shared file, or with a connection, Recovery::keep: a process that was
  // killed in a transaction must not stop the others, nor itself.
  std::optional<Recovery> recovery;

  // What checkpoint() writes.
  Checkpoint_Level default_level = Checkpoint_Level::soft;

  // Whether hard checkpoints of less than 4 MiB are sealed (format/seal.h), which takes one sync
  // instead of two. joedb 10 does not see a sealed one before its sync has returned.
  bool has_seals = true;

  // Whether the first append ends a transaction that another program left without an end, with one
  // Valid_Data, so that the new entries do not become part of it (history/transaction.h). Without a
  // value: yes for clients and generated code, unless the option unmarked_transactions says that
  // bytes are those of joedb 10; no for others.
  std::optional<bool> ends_transactions;

  // Whether a new journal gets integrity entries (format/integrity.h, Integrity::sparse), so that
  // damaged bytes are found when they are read. New is one that has none and at most integrity_step
  // bytes when something is appended. One that has some goes on with them in any case. Without a
  // value: as ends_transactions.
  std::optional<bool> has_integrity;

  // For copies, and files that nobody else writes: neither of these.
  static Journal_Options without_marks() {
    Journal_Options options;
    options.ends_transactions = false;
    return options;
  }

  // The file is preallocated in steps of so many bytes, filled with zeros: a sync then has no new
  // size to write. 0: it is not. Without a value, a file that is opened alone is preallocated from
  // the fourth hard checkpoint on, in steps of 4 KiB to 1 MiB, at most half of its size. The file
  // is truncated when the journal is closed; after a crash, opening it drops the zeros, without
  // asking. Where the disk has no room for it, the file grows as usual. Opening throws Exception
  // for a step that is negative or above max_preallocation; for any but 0, if the file is shared or
  // has no size.
  std::optional<Offset> preallocation;
  static constexpr Offset max_preallocation = Preallocator::max_step;
};

}  // namespace joedb::inline v1

#endif
