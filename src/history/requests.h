#ifndef JOEDB_SRC_HISTORY_REQUESTS_H
#define JOEDB_SRC_HISTORY_REQUESTS_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "history/tags.h"
#include "joedb/history/changes.h"
#include "joedb/history/undo.h"

// Implements show, blame, undo, revert, restore and tag, for the tools and for joedbi. The
// functions read the file up to its checkpoint. All throw Exception, with a message for users, if
// the transaction, table, record or tag does not exist, and the exceptions of Summaries and
// Changes.

namespace joedb::inline v1 {

// Returns the transaction that `show` shows: for a position, the transaction that contains it; for
// a time, the last transaction with changes, comments or blobs that ends at or before this time;
// for nullopt, the last such transaction of the journal. If there is no such transaction, returns
// the first transaction of the journal.
Transaction_Summary find_transaction_at(Abstract_File& file, const std::optional<When>& when,
                                        Recovery recovery);

// Returns the same transaction with its changes, which may be none if `options` selects tables.
Transaction read_transaction(Abstract_File& file, const std::optional<When>& when,
                             const Change_Options& options);
// False for a transaction that has only a time stamp.
bool has_content(const Transaction_Info& info, bool has_changes);

// ---- blame --------------------------------------------------------------------------------------

// The object of a blame: a table, a record, or one value of a record.
struct Blamed {
  std::string table;
  std::optional<Record_Id> record = {};
  std::string field = {};   // empty: all fields
  bool has_fields = false;  // for a table: one line per value
};

struct Blame_Line {
  Record_Id record;
  const Field* field = nullptr;  // null: the line is about the whole record
  Values value = {};             // one value, if the line is about a field
  const Transaction_Info* writer = nullptr;
};

// Calls f(line) for each line. `database` is the content of the file up to `end`. Throws Exception
// if the table, record or field does not exist, and the exceptions of Blame and f().
void for_each_blame_line(Abstract_File& file, const Database& database, Offset end,
                         const Blamed& blamed, Recovery recovery,
                         const std::function<void(const Blame_Line&)>& f);

// ---- changes to append --------------------------------------------------------------------------

struct Transaction_Content {
  std::vector<Change> changes;
  std::string comment;
  bool has_valid_data = false;  // the transaction also ends with a Valid_Data entry
  // For an undo stack (joedb/history/undo.h): the end of the transaction that is taken back. A
  // comment records it.
  std::optional<Offset> undone = {};
};

// What to do if the entries at the end of the journal are not a complete transaction.
enum class Unfinished {
  refused,      // throw, because the start of the last transaction is unknown
  transaction,  // the caller has written them as one transaction
};

// Returns the inverse of the transaction that contains the position, or of the last transaction
// that changed anything. `when` must not be a time.
Transaction_Content undo_changes(Abstract_File& file, const std::optional<When>& when,
                                 Recovery recovery, Unfinished unfinished = Unfinished::refused);
// Returns the inverse of a known transaction. There are no changes if the transaction left
// everything as it was.
Transaction_Content inverse_changes(Abstract_File& file, const Transaction_Info& transaction,
                                    Recovery recovery = Recovery::none);
// Throws Exception with the message that the entries after this position have no end.
[[noreturn]] void throw_unfinished(Offset begin);

// For undo without --schema. If the plan drops a table or field, throws Exception with its name.
void require_no_drops(const Plan& plan);

// The range "A..B" between two positions, times or tags. Without A it starts at the start of the
// journal; without B it ends at the end.
struct Moment_Range {
  std::string text;
  std::optional<When> from, to;
};
Moment_Range parse_range(const std::string& text, std::int64_t now);

// Returns the inverse of all transactions of the range. Throws Exception if an end of the range is
// inside a transaction.
Transaction_Content revert_changes(Abstract_File& file, const Moment_Range& range,
                                   Recovery recovery);

// A record to restore, and the moment whose values it gets.
struct Restored_Record {
  std::string table;
  Record_Id record;
  When when;
};
// Returns the change that restores the record. Fields dropped since stay dropped, and fields added
// since keep their values. `present` is the content at the end of the journal.
Transaction_Content restore_changes(Abstract_File& file, const Database& present,
                                    const Restored_Record& restored, Recovery recovery);

// Returns the comment that creates a tag for this place, or for the end of the journal. Throws
// Exception if a tag with this name exists, unless may_replace is true.
std::string tag_comment(Abstract_File& file, const std::string& name,
                        const std::optional<When>& when, bool may_replace);
// Returns the comment that removes the tag.
std::string tag_removal_comment(Abstract_File& file, const std::string& name);

// ---- writing ------------------------------------------------------------------------------------

// Appends a transaction, which ends with a time stamp: a comment, the author, and a plan, which
// must be for the current state. Entries after the last end in the journal are first ended as a
// transaction of their own. Returns the information about the new transaction. Writes no
// checkpoint. If this throws, a part may have been written: roll back.
Transaction_Info write_transaction(Writable_Database& database, const Transaction_Content& wanted,
                                   const Plan& plan, const std::string& author, std::int64_t now);

}  // namespace joedb::inline v1

#endif
