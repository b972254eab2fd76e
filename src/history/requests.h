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
// functions read the file up to its checkpoint. They throw Exception, with a message for users, if
// the transaction, table, record or tag does not exist, and pass on the exceptions of Summaries and
// Changes.

namespace joedb::inline v1 {

// Returns the transaction that `show` shows. For a position, this is the transaction that contains
// it. For a time, it is the last transaction with content (see has_content) that ends at or before
// this time; for nullopt, the last transaction with content in the journal. If there is none,
// returns the first transaction.
Transaction_Summary find_transaction_at(Abstract_File& file, const std::optional<When>& when,
                                        Recovery recovery);

// Returns the same transaction with its changes. It may have no changes if `options` selects
// tables.
Transaction read_transaction(Abstract_File& file, const std::optional<When>& when,
                             const Change_Options& options);
// Returns false for a transaction that has only a time stamp, without changes, comments or blobs.
bool has_content(const Transaction_Info& info, bool has_changes);

// ---- blame --------------------------------------------------------------------------------------

// The object of a blame: a table, a record, or one value of a record.
struct Blamed {
  std::string table;
  std::optional<Record_Id> record = {};
  std::string field = {};   // empty: all fields
  bool has_fields = false;  // for a table: print one line per value
};

struct Blame_Line {
  Record_Id record;
  const Field* field = nullptr;  // null if the line is about the whole record
  Values value = {};             // a single value if the line is about a field, else empty
  const Transaction_Info* writer = nullptr;
};

// Calls f(line) for each line. `database` must be the content of the file up to `end`. Throws
// Exception if the table, record or field does not exist. Passes on the exceptions of Blame and
// f().
void for_each_blame_line(Abstract_File& file, const Database& database, Offset end,
                         const Blamed& blamed, Recovery recovery,
                         const std::function<void(const Blame_Line&)>& f);

// ---- changes to append --------------------------------------------------------------------------

struct Transaction_Content {
  std::vector<Change> changes;
  std::string comment;
  bool has_valid_data = false;  // if true, a Valid_Data entry is also written at the end
  // For an undo stack (joedb/history/undo.h): the end of the transaction that is undone or redone.
  // It is written as a comment. nullopt for other transactions.
  std::optional<Offset> undone = {};
};

// What to do if the last transaction of the journal has no end.
enum class Unfinished {
  refused,      // throw Exception, because its start is unknown
  transaction,  // treat the entries as one transaction, as the caller has written them
};

// Returns the inverse of the transaction that contains position `when`. If `when` is nullopt,
// returns the inverse of the last transaction that changed anything. `when` must not be a time.
Transaction_Content undo_changes(Abstract_File& file, const std::optional<When>& when,
                                 Recovery recovery, Unfinished unfinished = Unfinished::refused);
// Returns the inverse of a given transaction; without changes if the transaction had no effect.
Transaction_Content inverse_changes(Abstract_File& file, const Transaction_Info& transaction,
                                    Recovery recovery = Recovery::none);
// Throws Exception, with the message that the entries from position `begin` on have no end.
[[noreturn]] void throw_unfinished(Offset begin);
// Throws Exception, with the message that the transaction with this end has only index_changes.
[[noreturn]] void throw_index_changes(Offset end);

// For undo without --schema: throws Exception, with a name, if the plan drops a table or field.
void require_no_drops(const Plan& plan);

// A range "A..B" between two positions, times or tags. If A is missing, the range begins at the
// start of the journal. If B is missing, it ends at the end of the journal.
struct Moment_Range {
  std::string text;
  std::optional<When> from, to;
};
Moment_Range parse_range(const std::string& text, std::int64_t now);

// Returns the inverse of all transactions in the range. Throws Exception if the range begins or
// ends inside a transaction.
Transaction_Content revert_changes(Abstract_File& file, const Moment_Range& range,
                                   Recovery recovery);

// A record to restore, and the moment from which to take its values.
struct Restored_Record {
  std::string table;
  Record_Id record;
  When when;
};
// Returns the change that restores the record: an insertion if the record was deleted since then,
// which conflicts with another record that has got its id. Fields dropped since then are not
// restored; fields added since then keep their values. `present` must be the content at the end of
// the journal.
Transaction_Content restore_changes(Abstract_File& file, const Database& present,
                                    const Restored_Record& restored, Recovery recovery);

// Returns the comment that creates a tag for `when`, or for the end of the journal if `when` is
// nullopt. Throws Exception if a tag with this name exists and may_replace is false.
std::string tag_comment(Abstract_File& file, const std::string& name,
                        const std::optional<When>& when, bool may_replace);
// Returns the comment that removes the tag.
std::string tag_removal_comment(Abstract_File& file, const std::string& name);

// ---- writing ------------------------------------------------------------------------------------

// Appends a transaction: a comment, the author, the changes of a plan, and a time stamp as its end.
// The plan must be for the current state. If the journal ends with entries without an end, they
// first get an end of their own. Returns the information about the new transaction. Makes no
// checkpoint. If this throws, a part may have been written, so roll back.
Transaction_Info write_transaction(Writable_Database& database, const Transaction_Content& wanted,
                                   const Plan& plan, const std::string& author, std::int64_t now);

}  // namespace joedb::inline v1

#endif
