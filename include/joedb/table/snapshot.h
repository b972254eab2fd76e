#ifndef JOEDB_TABLE_SNAPSHOT_H
#define JOEDB_TABLE_SNAPSHOT_H

#include <optional>
#include <string>
#include <vector>

#include "joedb/journal/replay.h"
#include "joedb/table/database.h"

// A snapshot stands beside a journal, in FILE.snapshot, and kept ones in FILE.snapshot-POSITION:
// the content of the database as it was at a hard checkpoint. Opening maps it instead of replaying
// what is before. It is a cache: what does not fit is not used, it can be deleted at any time, and
// the journal is the only truth. docs/snapshots.md is about using them.
//
// A snapshot of up to 1 MiB is verified when it is opened. A larger one is not, for that would read
// all of it: where the journal has integrity entries, a thread verifies it afterwards, and
// Database::require_intact then throws. It is always verified before a new snapshot is made of what
// came from it.

namespace joedb::inline v1 {

// The end of the name of a snapshot. A position of 0 is that of the newest, ".snapshot".
std::string snapshot_suffix(Offset position = 0);
// The positions of those that are kept beside the file, in ascending order. Throws Io_Error.
std::vector<Offset> kept_snapshots(const Abstract_File& journal);

// Gives a new database the content of the newest snapshot of `journal` that it can use, and that is
// not beyond `limit`: for a `limit` before the newest one, of a kept one. Returns where replaying
// goes on; nothing if there is none. database.snapshot_report() says what has happened. Throws
// nothing but what memory may need. Trust::verified reads all of a snapshot first, and does not use
// a damaged one.
enum class Trust : std::uint8_t { fast, verified };
std::optional<Replay_Place> restore_snapshot(Database& database, const Abstract_File& journal,
                                             Offset limit, Trust trust = Trust::fast);

// For a database whose content is that of the newest snapshot, or of a kept one, at this position:
// what it has in memory is mapped from there, which gives memory back. Addresses of tables and
// columns stay; those of values, and cursors, do not. If another process has written a newer one,
// nothing happens. Throws Corruption_Error, Io_Error; the content is the same then.
void map_snapshot(Database& database, const Abstract_File& journal, Offset position,
                  bool is_kept = false);

// The indexes of the newest snapshot; none if there is no snapshot. Throws Corruption_Error,
// Io_Error.
std::vector<Index_Definition> snapshot_indexes(const Abstract_File& journal);

// For whom a snapshot is. Throws Corruption_Error, Io_Error.
struct Snapshot_Form {
  Deleted_Values deleted_values = Deleted_Values::reset;
  std::vector<Index_Definition> indexes;
};
Snapshot_Form snapshot_form(const Snapshot_File& snapshot);

// Writes the content of the database as a snapshot of `journal`, which has been replayed up to
// `place`: not behind its last hard checkpoint, and all bytes before are in the file. It gets its
// name when it is complete and durable, in place of one that has the name, which stays whole for
// those who have it open. Returns false if another process is writing one, or `journal` is a kind
// of file that has no place beside it. Throws Corruption_Error if the snapshot that the database
// came from is damaged, Io_Error; then nothing has changed, unless it was the directory that could
// not be synced.
bool write_snapshot(const Database& database, const Abstract_File& journal,
                    const Replay_Place& place, bool is_kept = false);

// Removes all snapshots of the journal, and unfinished ones of killed processes. When it returns, a
// power cut does not bring them back. A snapshot that another process is writing stays. Returns the
// suffixes of the removed files. Throws Io_Error.
std::vector<std::string> remove_snapshots(const Abstract_File& journal);

}  // namespace joedb::inline v1

#endif
