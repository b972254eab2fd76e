#include "joedb/history/undo.h"

#include <algorithm>

namespace joedb::inline v1 {

static Transaction_Summary transaction_of(Abstract_File& file, Offset position) {
  if (position > 0) {
    if (auto found = find_transaction(file, position)) return *std::move(found);
    throw Exception("no transaction has the position " + std::to_string(position));
  }
  std::optional<Transaction_Summary> found;
  for (const Transaction_Summary& summary : Summaries(file))
    if (!summary.tables.empty()) found = summary;
  if (!found) throw Exception("has no transactions that have changed anything");
  return *std::move(found);
}

Plan undo_transaction(Writable_Database& database, const Undo_Options& options) {
  Abstract_File& file = std::as_const(database).get_journal().get_file();
  const Transaction_Summary transaction = transaction_of(file, options.position);
  Change_Options change_options;
  change_options.deleted_values = std::as_const(database).get_database().deleted_values();
  change_options.kept_values = index_t{1} << 20;  // what a drop has made unreachable is needed
  const auto changes = net_changes(file, transaction.end, transaction.begin, change_options);
  const std::string name = "the transaction at " + std::to_string(transaction.end);
  if (changes.empty()) throw Exception(name + " has changed no records, tables or fields");
  const bool has_schema_changes = std::any_of(changes.begin(), changes.end(),
                                              [](const Change& c) { return !c.is_of_records(); });
  if (has_schema_changes && !options.may_change_schema)
    throw Exception(name + " has changed tables or fields, which this program needs");
  return apply_changes(database, changes, options.conflicts);
}

}  // namespace joedb::inline v1
