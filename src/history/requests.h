#ifndef JOEDB_SRC_HISTORY_REQUESTS_H
#define JOEDB_SRC_HISTORY_REQUESTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joedb/history/apply.h"
#include "joedb/history/changes.h"
#include "joedb/history/tags.h"

// What show, undo, revert, restore and tag do with a journal, for the tools and for joedbi. The
// functions read the file up to its checkpoint. All throw Exception, with a text for people, if
// there is no such transaction, table, record or tag; and what Summaries and Changes throw.

namespace joedb::inline v1 {

// The transaction that `show` shows: the one that has the position; the last one with changes,
// words or blobs that ends at or before the time; without a place, the last one of all.
Transaction_Summary find_shown(Abstract_File& file, const std::optional<When>& when,
                               Recovery recovery);

// Which transactions `log` shows: those behind a position or not before a time, up to another one.
class Transaction_Filter {
 public:
  Transaction_Filter(const std::optional<Moment>& since, const std::optional<Moment>& until)
      : since_(since), until_(until) {}

  bool operator()(const Transaction_Summary& summary) const {
    return is_shown(summary, summary.has_changes());
  }
  bool operator()(const Transaction& transaction) const {
    return is_shown(transaction, !transaction.changes.empty());
  }
  // Throws Exception if a time is asked for, and the file has none.
  void require_times(Abstract_File& file, Recovery recovery) const;

 private:
  bool is_shown(const Transaction_Info& info, bool has_changes) const;

  const std::optional<Moment> since_, until_;
};

// ---- what is to be appended ---------------------------------------------------------------------

struct Wanted_Changes {
  std::vector<Change> changes;
  std::string comment;
  bool has_valid_data = false;  // the transaction ends with such an entry, too
  // Where the transaction ends that is taken back, for an undo stack (joedb/history/undo.h): a
  // comment says it.
  std::optional<Offset> undone = {};
};

// What is done with entries at the end of the journal that are no complete transaction.
enum class Unfinished {
  refused,      // nobody knows where the last transaction begins
  transaction,  // the caller has written them, as one transaction
};

// The opposite of the transaction that has the position, or of the last one that has changed
// anything. `when` is no time.
Wanted_Changes wanted_by_undo(Abstract_File& file, const std::optional<When>& when,
                              const Change_Options& options,
                              Unfinished unfinished = Unfinished::refused);
// The same of a transaction that is known. Without changes if it has left everything as it was.
Wanted_Changes opposite(Abstract_File& file, const Transaction_Info& transaction,
                        const Change_Options& options);
// Throws Exception, which says that the entries behind this position have no end.
[[noreturn]] void throw_unfinished(Offset begin);

// For undo without --schema. Throws Exception, which says what would be dropped.
void require_no_drops(const Plan& plan);

// "A..B": from the position, time or tag A to B; without them, from the beginning, to the end.
struct Range_Of_Whens {
  std::string text;
  std::optional<When> from, to;
};
Range_Of_Whens parse_range(const std::string& text, std::int64_t now);

// The opposite of all transactions of the range. Neither end is inside of a transaction.
Wanted_Changes wanted_by_revert(Abstract_File& file, const Range_Of_Whens& range,
                                const Change_Options& options);

// A record as it was. Fields that were dropped since stay dropped, and those that were added since
// stay as they are. `present` is the content at the end.
struct Restored_Record {
  std::string table;
  Record_Id record;
  When when;
};
Wanted_Changes wanted_by_restore(Abstract_File& file, const Database& present,
                                 const Restored_Record& restored, const Change_Options& options);

// The comment that makes a tag of this place, or of the end of the journal. A tag with this name is
// only replaced if that is allowed.
std::string comment_of_new_tag(Abstract_File& file, const std::string& name,
                               const std::optional<When>& when, bool may_replace);
// The comment that removes it.
std::string comment_of_removed_tag(Abstract_File& file, const std::string& name);

// ---- writing ------------------------------------------------------------------------------------

// Appends a transaction, which ends with a time stamp: a comment, the author, and a plan, which
// must be for the present state. What the journal has behind its last end is ended first. Returns
// what the transaction says about itself. No checkpoint is written. If it throws, a part may have
// been written: roll back.
Transaction_Info write_transaction(Writable_Database& database, const Wanted_Changes& wanted,
                                   const Plan& plan, const std::string& author, std::int64_t now);

}  // namespace joedb::inline v1

#endif
