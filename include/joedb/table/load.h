#ifndef JOEDB_TABLE_LOAD_H
#define JOEDB_TABLE_LOAD_H

#include <optional>
#include <string>
#include <vector>

#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"

// A snapshot is a file next to a journal: FILE.snapshot, or FILE.snapshot-POSITION for a kept
// snapshot. It holds the content of the database at a hard checkpoint. When the database is opened,
// the snapshot is mapped to memory, and only the entries after this checkpoint are replayed. A
// snapshot is a cache: it is not used if it does not match the journal, and it can be deleted at
// any time. docs/snapshots.md is the user's guide.
//
// A snapshot of up to 1 MiB is verified when it is opened. A larger snapshot is not verified then,
// because the whole file would have to be read. Instead, if the journal has integrity entries, a
// thread verifies the snapshot afterwards; if it finds damage, Database::require_intact throws.
// Before a new snapshot is made of content that came from an old snapshot, the old snapshot is
// always verified.

namespace joedb::inline v1 {

// Returns the suffix of the name of a snapshot. Position 0 means the newest snapshot, ".snapshot".
std::string snapshot_suffix(Offset position = 0);
// Returns the positions of the kept snapshots next to the file, in ascending order. Throws
// Io_Error.
std::vector<Offset> kept_snapshots(const Abstract_File& journal);

// Gives a new database the content of a snapshot of `journal`: of the newest snapshot, or, if that
// is beyond `limit` or cannot be used, of the newest usable kept snapshot up to `limit`. Returns
// the place where replaying continues, or nullopt if there is no usable snapshot.
// database.snapshot_report() then describes the result. Throws only if memory is exhausted. With
// Trust::verified, the whole snapshot is verified before it is used.
enum class Trust : std::uint8_t { fast, verified };
std::optional<Replay_Place> restore_snapshot(Database& database, const Abstract_File& journal,
                                             Offset limit, Trust trust = Trust::fast);

// Maps the tables from the newest snapshot, or from a kept snapshot, at this position, which frees
// memory. The database must have the content of this snapshot. Addresses of tables and columns stay
// valid; addresses of values and cursors do not. Does nothing if the snapshot was removed, or
// replaced by another process. Throws Corruption_Error or Io_Error; the content is unchanged then.
void map_snapshot(Database& database, const Abstract_File& journal, Offset position,
                  bool is_kept = false);

// Returns the index definitions in the newest snapshot; empty if there is no snapshot. Throws
// Corruption_Error or Io_Error.
std::vector<Index_Definition> snapshot_indexes(const Abstract_File& journal);

// The properties that determine which databases can use a snapshot. snapshot_form throws
// Corruption_Error or Io_Error.
struct Snapshot_Form {
  Deleted_Values deleted_values = Deleted_Values::reset;
  std::vector<Index_Definition> indexes;
};
Snapshot_Form snapshot_form(const Snapshot_File& snapshot);

// Writes the content of the database as a snapshot of `journal`, which has been replayed up to
// `place`. `place` must not be after the last hard checkpoint, and all bytes before it must be in
// the file. The snapshot gets its name when it is complete and durable. If it replaces a snapshot
// of the same name, the old snapshot stays intact for processes that have it open. Returns false if
// another process is writing a snapshot, or if snapshots cannot be stored beside this kind of file.
// Throws Io_Error, and Corruption_Error if the content came from a snapshot that is damaged;
// nothing has changed then, unless only the sync of the directory failed.
bool write_snapshot(const Database& database, const Abstract_File& journal,
                    const Replay_Place& place, bool is_kept = false);

// Removes all snapshots of the journal, and incomplete snapshots of killed processes. The removal
// is durable on return. A snapshot that another process is writing is not removed. Returns the
// suffixes of the removed files. Throws Io_Error.
std::vector<std::string> remove_snapshots(const Abstract_File& journal);

// Functions that load journals into tables, under the limits for untrusted journals. The observer
// of the database, if there is one, is notified of the entries, and of the position where they end.
// All functions throw Io_Error; Corruption_Error if an entry is invalid or does not match the
// tables (the database then has the entries before this entry); and Unique_Violation if a unique
// index would hold a key twice (the database then has all entries). If the snapshot from which a
// database came was found to be damaged, loading more entries throws Corruption_Error.

// Replays the journal from its replay position to its checkpoint: all entries the first time, and
// later only the new entries.
void load(Database& database, Readonly_Journal& journal);
void load(Database& database, Writable_Journal& journal);

// The same for a new database and a new journal, up to position `end`, which must be between two
// entries and not after the checkpoint. The function for a Readonly_Journal throws Exception for
// any other `end`.
void load(Database& database, Readonly_Journal& journal, Offset end);
void load(Database& database, Writable_Journal& journal, Offset end);

// The same, but a snapshot is used only after all of it has been verified.
void load_verified(Database& database, Readonly_Journal& journal, Offset end);
void load_verified(Database& database, Writable_Journal& journal);

// Called by the functions above. If there are snapshots that are not beyond `limit`, gives the
// database the content of the newest of them, and moves the replay position of the journal to the
// position of this snapshot. Does nothing unless the database and the journal are new.
void begin_with_snapshot(Database& database, Readonly_Journal& journal, Offset limit,
                         Trust trust = Trust::fast);

// Replays the entries that Writable_Journal::copy_from has appended to the journal (replay_copied).
void load_copied(Database& database, Writable_Journal& journal);

// Loads a past state into a new database. Throws Exception if the file does not have this moment,
// or if the position of the moment is inside an entry.
void load(Database& database, Abstract_File& file, Moment moment,
          Recovery recovery = Recovery::none);

}  // namespace joedb::inline v1

#endif
