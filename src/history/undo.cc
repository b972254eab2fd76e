#include "joedb/history/undo.h"

#include <algorithm>
#include <ctime>

#include "history/requests.h"
#include "kernel/base/parse_number.h"
#include "kernel/journal/past_file.h"

namespace joedb::inline v1 {

// `end` is the end of the transaction; nullopt: it is the last one.
static void require_records_only(const std::vector<Change>& changes, std::optional<Offset> end) {
  if (!std::all_of(changes.begin(), changes.end(),
                   [](const Change& change) { return change.is_of_records(); }))
    throw Exception("the " + (end ? "transaction at " + std::to_string(*end) : "last transaction") +
                    " has changed tables or fields, which this program needs: it cannot be undone");
}

Plan undo_transaction(Writable_Database& database, const Undo_Options& options) {
  std::optional<When> when;
  if (options.position != 0) when = When{std::to_string(options.position), at(options.position)};
  const auto changes =
      undo_changes(std::as_const(database).get_journal().get_file(), when, Recovery::none).changes;
  if (!options.may_change_schema)
    require_records_only(changes, when ? std::optional(options.position) : std::nullopt);
  return apply_changes(database, changes, options.conflicts);
}

namespace {

// Returns the end of the transaction that this undo or redo reverses; nullopt if it is neither an
// undo nor a redo.
std::optional<Offset> undone_end(const Transaction_Info& info) {
  for (const std::string& comment : info.comments) {
    if (!comment.starts_with(undone_mark)) continue;
    const std::string_view number = std::string_view(comment).substr(undone_mark.size());
    if (const auto position = parse_number<Offset>(number)) return position;
  }
  return std::nullopt;
}

// The transactions of one author, or of all authors, and whether each is undone.
class Undo_Stack {
 public:
  Undo_Stack(Writable_Database& database, const Undo_Stack_Options& options)
      : database_(database), options_(options), file_(journal_of(database)) {
    for (const Transaction_Summary& summary : Summaries(file_)) {
      unfinished_.reset();  // only the last transaction counts
      add(summary);
    }
  }

  bool can_undo() const {
    if (unfinished_) return false;
    const auto last = last_applied(steps_.size());
    return last && is_permitted(*last);
  }
  bool can_redo() const { return !unfinished_ && !undone_.empty() && is_permitted(undone_.back()); }

  Plan undo() const {
    require_end();
    for (std::size_t end = steps_.size();;) {
      const auto last = last_applied(end);
      if (!last) throw Exception("there is nothing to undo");
      Transaction_Content wanted = inverse_of(*last, steps_[*last].applied, "undo: ");
      if (!wanted.changes.empty()) return write(wanted);
      if (steps_[*last].has_only_index_changes) throw_index_changes(steps_[*last].end);
      end = *last;  // the transaction had no effect
    }
  }
  Plan redo() const {
    require_end();
    if (undone_.empty()) throw Exception("there is nothing to redo");
    return write(inverse_of(undone_.back(), steps_[undone_.back()].undo, "redo: "));
  }

 private:
  struct Step {
    Offset end;                   // end of the transaction
    Transaction_Place applied;    // the transaction, or its last redo
    Transaction_Place undo = {};  // its last undo
    bool is_undone = false;
    bool has_schema_changes = false;
    bool has_only_index_changes = false;
  };

  // Returns the journal, including entries without a checkpoint.
  static Past_File journal_of(Writable_Database& database) {
    database.flush();
    const Writable_Journal& journal = std::as_const(database).get_journal();
    return {journal.get_file(), journal.get_position()};
  }

  void add(const Transaction_Summary& summary) {
    const Transaction_Place place{summary.begin, summary.end};
    if (const auto position = undone_end(summary)) {
      if (follow(place, *position)) return;
      if (options_.author.empty() || summary.author == options_.author) {
        // The file was rewritten after this undo or redo, so the transaction that it reversed is
        // unknown.
        steps_.clear();
        ends_.clear();
        undone_.clear();
        return;
      }
    }
    if (summary.tables.empty()) return;
    if (!options_.author.empty() && summary.author != options_.author) return;
    // In a journal without ends, comments separate transactions. Only the extent of the last one is
    // unknown.
    if (!summary.is_complete) unfinished_ = summary.begin;
    const bool has_schema_changes =
        std::any_of(summary.tables.begin(), summary.tables.end(),
                    [](const Table_Summary& table) { return table.schema_changes > 0; });
    steps_.push_back(
        {summary.end, place, {}, false, has_schema_changes, summary.has_only_index_changes()});
    note(place.end, steps_.size() - 1);
    undone_.clear();
  }

  // Handles an undo or redo of a known transaction. Returns false if there is no such transaction.
  bool follow(const Transaction_Place& place, Offset position) {
    const auto found =
        std::lower_bound(ends_.begin(), ends_.end(), position,
                         [](const auto& entry, Offset wanted) { return entry.first < wanted; });
    if (found == ends_.end() || found->first != position) return false;
    const std::size_t number = found->second;
    Step& step = steps_[number];
    step.is_undone = !step.is_undone;
    (step.is_undone ? step.undo : step.applied) = place;
    std::erase(undone_, number);
    if (step.is_undone) undone_.push_back(number);
    note(place.end, number);
    return true;
  }
  void note(Offset end, std::size_t number) { ends_.emplace_back(end, number); }

  // Returns the last step before steps_[end] that is not undone; nullopt if all of them are.
  std::optional<std::size_t> last_applied(std::size_t end) const {
    while (end > 0)
      if (!steps_[--end].is_undone) return end;
    return std::nullopt;
  }
  bool is_permitted(std::size_t number) const {
    const Step& step = steps_[number];
    return !step.has_only_index_changes && (options_.may_change_schema || !step.has_schema_changes);
  }
  void require_end() const {
    if (!unfinished_) return;
    if (database_.ahead_of_checkpoint() > 0)
      throw Exception(
          "there are changes after the last checkpoint: end them with write_timestamp() and "
          "soft_checkpoint(), or drop them with rollback()");
    throw Exception(
        "the last changes have no end of a transaction, so that nobody knows how many transactions "
        "they are: end them with write_timestamp() or write_valid_data()");
  }

  Transaction_Content inverse_of(std::size_t number, const Transaction_Place& place,
                                 const std::string& what) const {
    const Step& step = steps_[number];
    Transaction_Info info;
    info.begin = place.begin;
    info.end = place.end;
    Transaction_Content wanted = inverse_changes(file_, info);
    if (!options_.may_change_schema) require_records_only(wanted.changes, step.end);
    const auto first = find_transaction(file_, step.end);
    wanted.comment = what + (first && !first->comments.empty()
                                 ? first->comments.front()
                                 : "the transaction at " + std::to_string(step.end));
    wanted.undone = place.end;
    wanted.has_valid_data = false;
    return wanted;
  }

  Plan write(const Transaction_Content& wanted) const {
    Plan plan =
        plan_changes(std::as_const(database_).get_database(), wanted.changes, options_.conflicts);
    if (plan.is_possible)
      write_transaction(database_, wanted, plan, options_.author,
                        options_.now ? options_.now() : std::int64_t{std::time(nullptr)});
    return plan;
  }

  Writable_Database& database_;
  const Undo_Stack_Options& options_;
  mutable Past_File file_;
  std::vector<Step> steps_;
  // The ends of all transactions, undos and redos; for each, the index of its step.
  std::vector<std::pair<Offset, std::size_t>> ends_;
  std::vector<std::size_t> undone_;   // steps that can be redone, in the order of their undos
  std::optional<Offset> unfinished_;  // start of a transaction without an end
};

}  // namespace

bool can_undo(Writable_Database& database, const Undo_Stack_Options& options) {
  return Undo_Stack(database, options).can_undo();
}
bool can_redo(Writable_Database& database, const Undo_Stack_Options& options) {
  return Undo_Stack(database, options).can_redo();
}
Plan undo(Writable_Database& database, const Undo_Stack_Options& options) {
  return Undo_Stack(database, options).undo();
}
Plan redo(Writable_Database& database, const Undo_Stack_Options& options) {
  return Undo_Stack(database, options).redo();
}

}  // namespace joedb::inline v1
