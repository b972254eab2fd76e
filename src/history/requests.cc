#include "history/requests.h"

#include "history/change_parts.h"
#include "history/explanation.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "kernel/base/counted.h"
#include "kernel/base/suggestion.h"
#include "kernel/table/live_fields.h"
#include "kernel/table/record_runs.h"

namespace joedb::inline v1 {

static Change_Options recovery_options(Recovery recovery) {
  Change_Options options;
  options.recovery = recovery;
  return options;
}

// Returns the changes from `end` back to `begin`, with all values that were lost in drops.
static std::vector<Change> changes_back(Abstract_File& file, Offset end, Offset begin,
                                        Recovery recovery) {
  Change_Options options = recovery_options(recovery);
  options.kept_values = index_t{1} << 20;
  return net_changes(file, end, begin, options);
}

// Returns the transaction that contains the position.
static Transaction_Summary transaction_at(Abstract_File& file, Offset position, Recovery recovery) {
  if (auto found = find_transaction(file, position, recovery_options(recovery)))
    return *std::move(found);
  throw Exception("no transaction has the position " + std::to_string(position));
}

bool has_content(const Transaction_Info& info, bool has_changes) {
  return has_changes || !info.comments.empty() || !info.author.empty() || info.blobs > 0;
}

Transaction_Summary find_transaction_at(Abstract_File& file, const std::optional<When>& when,
                                        Recovery recovery) {
  std::optional<Moment> moment;
  if (when) moment = resolve(file, *when, recovery);
  if (moment && moment->kind == Moment::Kind::position)
    return transaction_at(file, moment->value, recovery);
  const Offset end = moment ? find_moment(file, *moment, recovery) : 0;
  std::optional<Transaction_Summary> found;
  for (const Transaction_Summary& summary : Summaries(file, recovery_options(recovery))) {
    if (moment && summary.entries_end > end) break;
    if (has_content(summary, summary.has_changes()) || !found) found = summary;
  }
  if (!found) throw Exception("has no transactions");
  return *std::move(found);
}

Transaction read_transaction(Abstract_File& file, const std::optional<When>& when,
                             const Change_Options& options) {
  const Transaction_Summary place = find_transaction_at(file, when, options.recovery);
  Changes changes(file, place.begin, place.end, options);
  Transaction transaction;
  if (const Transaction* const found = changes.next()) transaction = *found;
  static_cast<Transaction_Info&>(transaction) = place;
  return transaction;
}

// ---- names --------------------------------------------------------------------------------------

static Exception no_table(const Database& database, const std::string& name) {
  return Exception("there is no table " + name + did_you_mean(name, table_names(database)));
}

static Exception no_field(const Table& table, const std::string& name) {
  return Exception("the table " + table.name() + " has no field " + name +
                   did_you_mean(name, field_names(table)));
}

// ---- blame --------------------------------------------------------------------------------------

void for_each_blame_line(Abstract_File& file, const Database& database, Offset end,
                         const Blamed& blamed, Recovery recovery,
                         const std::function<void(const Blame_Line&)>& f) {
  const Table* const table = database.find_table(blamed.table);
  if (table == nullptr) throw no_table(database, blamed.table);
  if (blamed.record && !table->is_used(*blamed.record))
    throw Exception("there is no record " + std::to_string(blamed.record->value()) + " of " +
                    blamed.table);
  const Field_Id wanted = blamed.field.empty() ? Field_Id() : table->find_field(blamed.field);
  if (!blamed.field.empty() && wanted.is_null()) throw no_field(*table, blamed.field);
  const Blame blame(file, database, end, table->id(), blamed.record.value_or(Record_Id()),
                    recovery);
  const Description description = describe(database, *table);
  const auto read_values = [&](Record_Id record) {
    for (const Field_Description& field : description->fields)
      if (wanted.is_null() || field.id == wanted)
        f({record, table->find_field(field.id),
           joedb::read_values(*table, field.id, record.value(), 1),
           blame.writer(record, field.id)});
  };
  if (blamed.record) return read_values(*blamed.record);
  for_each_run(*table, [&](index_t first, index_t size) {
    for (index_t id = first; id < first + size; ++id) {
      const Record_Id record(id);
      if (blamed.has_fields)
        read_values(record);
      else
        f({.record = record, .writer = blame.last_writer(record)});
    }
  });
}

// ---- undo and revert ----------------------------------------------------------------------------

// Returns "undo: WHY"; if the transaction is an undo, "redo: WHY".
static std::string comment_of(const Transaction_Info& info) {
  constexpr std::string_view undo = "undo: ", redo = "redo: ";
  if (info.comments.empty())
    return std::string(undo) + "the transaction at " + std::to_string(info.end);
  const std::string& comment = info.comments.front();
  if (comment.starts_with(undo)) return std::string(redo) + comment.substr(undo.size());
  if (comment.starts_with(redo)) return std::string(undo) + comment.substr(redo.size());
  return std::string(undo) + comment;
}

void throw_unfinished(Offset begin) {
  throw Exception("what was written behind position " + std::to_string(begin) +
                  " has no end of a transaction, so that nobody knows how many transactions it is: "
                  "revert " +
                  std::to_string(begin) +
                  ".. takes all of it back; a time stamp or valid_data ends it");
}

void throw_index_changes(Offset end) {
  throw Exception("the transaction at " + std::to_string(end) +
                  " has only declared or dropped indexes, which undo does not take back: "
                  "drop_index or create_index does");
}

void require_no_drops(const Plan& plan) {
  for (const Change& change : plan.changes) {
    const bool is_table = change.kind == Change::Kind::table_dropped;
    if (!is_table && change.kind != Change::Kind::field_dropped) continue;
    const std::string field = is_table ? "" : " field " + change.schema->field.name + " of";
    throw Exception("this would drop" + field + " table " + change.table_name() + " (" +
                    counted(change.schema->rows, "record") +
                    "), and nothing was written: --schema allows it");
  }
}

Transaction_Content inverse_changes(Abstract_File& file, const Transaction_Info& transaction,
                                    Recovery recovery) {
  Transaction_Content wanted;
  wanted.changes = changes_back(file, transaction.end, transaction.begin, recovery);
  wanted.comment = comment_of(transaction);
  wanted.has_valid_data = transaction.is_complete && !transaction.has_own_time;
  return wanted;
}

Transaction_Content undo_changes(Abstract_File& file, const std::optional<When>& when,
                                 Recovery recovery, Unfinished unfinished) {
  // Compare with the last transaction, because integrity entries may precede the checkpoint.
  const auto is_last = [&](const Transaction_Summary& summary) {
    for (const Transaction_Summary& last : Reversed<Summaries>(file, recovery_options(recovery)))
      return summary.end == last.end;
    return false;
  };
  // In a journal without ends, comments separate transactions. Only the extent of the last one is
  // unknown.
  const auto require_end = [&](const Transaction_Summary& summary) {
    if (unfinished == Unfinished::refused && !summary.is_complete && summary.has_changes() &&
        is_last(summary))
      throw_unfinished(summary.begin);
  };
  if (when) {
    const Transaction_Summary found =
        transaction_at(file, resolve(file, *when, recovery).value, recovery);
    require_end(found);
    Transaction_Content wanted = inverse_changes(file, found, recovery);
    if (wanted.changes.empty() && found.has_only_index_changes()) throw_index_changes(found.end);
    if (wanted.changes.empty())
      throw Exception("the transaction at " + std::to_string(found.end) +
                      " has changed no records, tables or fields");
    return wanted;
  }
  for (const Transaction_Summary& summary : Reversed<Summaries>(file, recovery_options(recovery))) {
    if (summary.tables.empty()) continue;
    require_end(summary);
    Transaction_Content wanted = inverse_changes(file, summary, recovery);
    if (!wanted.changes.empty()) return wanted;
    if (summary.has_only_index_changes()) throw_index_changes(summary.end);
  }
  throw Exception("has no transactions that have changed anything");
}

Moment_Range parse_range(const std::string& text, std::int64_t now) {
  const auto parse = [&](const std::string& part) -> std::optional<When> {
    if (part.empty()) return {};
    if (auto when = parse_when(part, now)) return when;
    throw Exception(text + ": " + part + " is neither a position, a time nor the name of a tag");
  };
  const std::size_t dots = text.find("..");
  if (dots == text.npos) throw Exception(text + ": expected A..B, two positions, times or tags");
  return {text, parse(text.substr(0, dots)), parse(text.substr(dots + 2))};
}

// Returns the position of `when`. Throws Exception if this position is inside a transaction.
static Offset position_of(Abstract_File& file, const When& when, Recovery recovery) {
  const Offset position = find_position(file, when, recovery);
  const auto found = find_transaction(file, position, recovery_options(recovery));
  if (found && position < found->entries_end)
    throw Exception("the position " + std::to_string(position) +
                    " is inside of the transaction from " + std::to_string(found->begin) + " to " +
                    std::to_string(found->end));
  return position;
}

Transaction_Content revert_changes(Abstract_File& file, const Moment_Range& range,
                                   Recovery recovery) {
  const Offset from = range.from ? position_of(file, *range.from, recovery) : journal_start;
  const Offset to = range.to ? position_of(file, *range.to, recovery)
                             : Readonly_Journal(file, recovery).get_checkpoint();
  if (from > to) throw Exception(range.text + ": the first is behind the second");
  Transaction_Content wanted;
  wanted.changes = changes_back(file, to, from, recovery);
  if (wanted.changes.empty()) throw Exception(range.text + ": nothing was changed there");
  wanted.comment = "revert: " + range.text;
  return wanted;
}

// ---- restore ------------------------------------------------------------------------------------

namespace {

// Follows a record to the end of the journal: was it deleted? A transaction that inserts it with
// the values that it had brings it back.
class Deletion {
 public:
  // `content` is the database in which the record is.
  Deletion(Database& content, Table_Id table, Record_Id record)
      : content_(content), table_(table), record_(record) {}

  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (std::is_same_v<Entry, Delete>) note(entry.table, entry.record, 1);
    if constexpr (std::is_same_v<Entry, Delete_Vector>) note(entry.table, entry.record, entry.size);
    content_(entry);
    if constexpr (is_transaction_end<Entry>) look();
  }
  bool has_come() const { return has_come_; }

 private:
  std::vector<Values> values() const {
    std::vector<Values> result;
    const Table* const table = content_.find_table(table_);
    if (table == nullptr || !table->is_used(record_)) return result;
    for_each_field(*table, [&](Field_Id field, const Field&) {
      result.push_back(read_values(*table, field, record_.value(), 1));
    });
    return result;
  }
  void note(Table_Id table, Record_Id first, index_t size) {
    if (table != table_ || record_.value() < first.value() ||
        record_.value() - first.value() >= size)
      return;
    if (!has_come_) last_values_ = values();
    has_come_ = true;
  }
  void look() {
    if (has_come_ && !last_values_.empty() && values() == last_values_) has_come_ = false;
  }

  Database& content_;
  const Table_Id table_;
  const Record_Id record_;
  bool has_come_ = false;
  std::vector<Values> last_values_;
};

}  // namespace

Transaction_Content restore_changes(Abstract_File& file, const Database& present,
                                    const Restored_Record& restored, Recovery recovery) {
  const Table* const table = present.find_table(restored.table);
  if (table == nullptr) throw no_table(present, restored.table);
  const Offset position = find_position(file, restored.when, recovery);
  const Record_Id record = restored.record;
  // First the state at the position, then what follows.
  Database content;
  Readonly_Journal journal(file, recovery);
  load(content, journal, position);
  require_entry_end(journal, position);
  const Table* const before = content.find_table(table->id());
  if (before == nullptr || !before->is_used(record))
    throw Exception("there was no record " + std::to_string(record.value()) + " of " +
                    restored.table + " at " + restored.when.text);
  Change change =
      change_of_records(Change::Kind::inserted, describe(present, *table), record.value(), 1);
  for (const Field_Description& field : change.table->fields)
    if (before->find_field(field.id) != nullptr)
      change.fields.push_back(
          {field.id, Values(), read_values(*before, field.id, record.value(), 1)});
  Deletion deletion(content, table->id(), record);
  content.limit_to_journal_of(journal.get_checkpoint());
  journal.replay(deletion);
  // Ids are reused: after a deletion, a record with this id is another one, and an insertion
  // conflicts with it.
  if (table->is_used(record) && !deletion.has_come()) {
    change.kind = Change::Kind::updated;
    for (Field_Change& field : change.fields)
      field.old_values = read_values(*table, field.field, record.value(), 1);
  }
  Transaction_Content wanted;
  wanted.changes.push_back(std::move(change));
  wanted.comment = "restore: " + restored.table + ' ' + std::to_string(record.value()) + " as at " +
                   restored.when.text;
  return wanted;
}

// ---- tags ---------------------------------------------------------------------------------------

std::string tag_comment(Abstract_File& file, const std::string& name,
                        const std::optional<When>& when, bool may_replace) {
  require_tag_name(name);
  const Tags tags = read_tags(file);
  const auto old = tags.by_name().find(name);
  if (old != tags.by_name().end() && !may_replace)
    throw Exception("there is a tag " + name + " of position " +
                    std::to_string(old->second.position) + "; --force replaces it");
  if (!when) return tag_text(name, Readonly_Journal(file).get_checkpoint());
  const Offset position = find_position(file, *when);
  Readonly_Journal journal(file);
  journal.replay(Ignore_Entries(), position);
  require_entry_end(journal, position);
  return tag_text(name, position);
}

std::string tag_removal_comment(Abstract_File& file, const std::string& name) {
  read_tags(file).at(name);
  return tag_removal_text(name);
}

// ---- writing ------------------------------------------------------------------------------------

Transaction_Info write_transaction(Writable_Database& database, const Transaction_Content& wanted,
                                   const Plan& plan, const std::string& author, std::int64_t now) {
  database.require_ready();
  database.end_transaction(Timestamp{now});
  const Writable_Journal& journal = std::as_const(database).get_journal();
  Transaction_Info info;
  info.begin = journal.get_position();
  info.comments = {wanted.comment};
  info.author = author;
  write_explanation(database, wanted.comment, author);
  if (wanted.undone) {
    const std::string text = std::string(undone_mark) + std::to_string(*wanted.undone);
    database.write(Comment{text});
  }
  write_plan(database, plan);
  if (wanted.has_valid_data) database.write(Valid_Data{});
  database.write(Timestamp{now});
  info.end = info.entries_end = journal.get_position();
  info.time = now;
  info.has_own_time = info.is_complete = true;
  return info;
}

}  // namespace joedb::inline v1
