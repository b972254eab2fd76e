#include "joedb/history/undo.h"

#include <algorithm>

#include "history/requests.h"

namespace joedb::inline v1 {

Plan undo_transaction(Writable_Database& database, const Undo_Options& options) {
  std::optional<When> when;
  if (options.position != 0) when = When{std::to_string(options.position), at(options.position)};
  Change_Options change_options;
  change_options.kept_values = index_t{1} << 20;  // what a drop has made unreachable is needed
  const auto changes =
      wanted_by_undo(std::as_const(database).get_journal().get_file(), when, change_options)
          .changes;
  const bool has_schema_changes = std::any_of(changes.begin(), changes.end(),
                                              [](const Change& c) { return !c.is_of_records(); });
  if (has_schema_changes && !options.may_change_schema)
    throw Exception("the transaction has changed tables or fields, which this program needs");
  return apply_changes(database, changes, options.conflicts);
}

}  // namespace joedb::inline v1
