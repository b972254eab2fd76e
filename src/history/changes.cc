#include "joedb/history/changes.h"

#include <algorithm>
#include <deque>

#include "history/change_collector.h"
#include "history/require_range.h"
#include "joedb/table/load.h"

namespace joedb::inline v1 {

static index_t kept_values(const Readonly_Journal& journal, const Change_Options& options) {
  return options.kept_values * Database::free_rows_of_journal(journal.get_checkpoint());
}

// ---- forwards -----------------------------------------------------------------------------------

// Summaries finds the ends of transactions. The database is replayed from one end to the next.
class Changes::Reader {
 public:
  Reader(Abstract_File& file, Summaries summaries, Offset from, const Change_Options& options)
      : options_(options),
        summaries_(std::move(summaries)),
        journal_(file, options.recovery),
        collector_(database_, kept_values(journal_, options), options.has_all_fields) {
    load(database_, journal_, from);
    database_.limit_to_journal_of(journal_.get_checkpoint());
  }

  const Transaction* next() {
    const Transaction_Summary* const summary = summaries_.next();
    if (summary == nullptr) return nullptr;
    summary_ = *summary;
    if (!options_.tables.empty()) {  // skip transactions that the filter has removed
      journal_.replay(collector_, summary_.begin);
      collector_.take();
    }
    journal_.replay(collector_, summary_.end);
    require_entry_end(journal_, summary_.end);
    static_cast<Transaction_Info&>(transaction_) = summary_;
    transaction_.changes = collector_.take();
    if (!options_.tables.empty())
      std::erase_if(transaction_.changes, [&](const Change& c) { return !is_wanted(c); });
    return &transaction_;
  }

  bool pull() {
    const bool has_more = summaries_.pull();
    journal_.pull();
    database_.limit_to_journal_of(journal_.get_checkpoint());
    return has_more;
  }

  const Summaries& summaries() const { return summaries_; }
  const Database& database() const { return database_; }
  const Transaction_Summary& summary() const { return summary_; }

 private:
  bool is_wanted(const Change& change) const {
    if (change.table == nullptr || std::find(options_.tables.begin(), options_.tables.end(),
                                             change.table->id) == options_.tables.end())
      return false;
    if (options_.record.is_null()) return true;
    return change.is_of_records() && change.record <= options_.record &&
           options_.record < change.record + change.size;
  }

  const Change_Options options_;
  Summaries summaries_;
  // Opened after summaries_ has read the file. Therefore the checkpoint of this journal is not
  // before the end of the summaries.
  Readonly_Journal journal_;
  Database database_;
  Transaction_Collector collector_;
  Transaction_Summary summary_;
  Transaction transaction_;
};

Changes::Changes(Abstract_File& file, Offset from, Offset to, const Change_Options& options)
    : reader_(std::make_unique<Reader>(file, Summaries(file, from, to, options), from, options)) {}
Changes::Changes(Abstract_File& file, const Change_Options& options)
    : reader_(std::make_unique<Reader>(file, Summaries(file, options), journal_start, options)) {}
Changes::~Changes() = default;
Changes::Changes(Changes&&) noexcept = default;
Changes& Changes::operator=(Changes&&) noexcept = default;

const Transaction* Changes::next() { return reader_->next(); }
Offset Changes::range_end() const { return reader_->summaries().range_end(); }
bool Changes::pull() { return reader_->pull(); }
const Database& Changes::database() const { return reader_->database(); }
const Transaction_Summary& Changes::summary() const { return reader_->summary(); }

// ---- backwards ----------------------------------------------------------------------------------

template <class Stream>
Reversed<Stream>::Reversed(Abstract_File& file, Offset from, Offset to,
                           const Change_Options& options)
    : file_(&file), options_(options) {
  find_places(Summaries(file, from, to, options));
}

template <class Stream>
Reversed<Stream>::Reversed(Abstract_File& file, const Change_Options& options)
    : file_(&file), options_(options) {
  find_places(Summaries(file, options));
}

template <class Stream>
Reversed<Stream>::Reversed(Abstract_File& file, std::vector<Transaction_Place> places,
                           const Change_Options& options)
    : file_(&file), options_(options), places_(std::move(places)) {}

template <class Stream>
void Reversed<Stream>::find_places(Summaries summaries) {
  while (const Transaction_Summary* const summary = summaries.next())
    places_.push_back({summary->begin, summary->end});
}

template <class Stream>
const typename Reversed<Stream>::Item* Reversed<Stream>::next() {
  if (!items_.empty()) items_.pop_back();
  while (items_.empty()) {
    if (places_.empty()) return nullptr;
    read_piece();
  }
  return &items_.back();
}

// Return the approximate memory in bytes. Consecutive changes share the description of their table,
// which is counted once.
static std::size_t memory_of(const Transaction_Info& info) {
  std::size_t result = sizeof info + info.author.size();
  for (const std::string& comment : info.comments) result += sizeof comment + comment.size();
  return result;
}
static std::size_t memory_of(const Transaction_Summary& summary) {
  std::size_t result = memory_of(static_cast<const Transaction_Info&>(summary));
  for (const Table_Summary& table : summary.tables) result += sizeof table + table.name.size();
  return result;
}
static std::size_t memory_of(const std::vector<Change>& changes) {
  std::size_t result = 0;
  const Table_Description* table = nullptr;
  for (const Change& change : changes) {
    result += sizeof change;
    for (const Field_Change& field : change.fields)
      result += sizeof field + field.old_values.memory() + field.new_values.memory();
    if (change.schema) result += sizeof *change.schema + memory_of(change.schema->lost);
    if (change.table && change.table.get() != table) {
      table = change.table.get();
      for (const Field_Description& field : table->fields)
        result += sizeof field + field.name.size() + field.referenced.size();
    }
  }
  return result;
}
static std::size_t memory_of(const Transaction& transaction) {
  return memory_of(static_cast<const Transaction_Info&>(transaction)) +
         memory_of(transaction.changes);
}

template <class Stream>
void Reversed<Stream>::read_piece() {
  constexpr std::size_t max_items = 65'536;
  constexpr std::size_t max_memory = std::size_t{1} << 28;
  constexpr Offset max_piece_size = Offset{1} << 26;
  const Offset end = places_.back().end;
  std::size_t first = places_.size() - 1;
  while (first > 0 && places_.size() - first < max_items &&
         end - places_[first - 1].begin <= piece_size_)
    --first;
  piece_size_ = std::min(2 * piece_size_, max_piece_size);
  Stream stream(*file_, places_[first].begin, end, options_);
  std::deque<std::size_t> memory;  // size of each item
  std::size_t sum = 0;
  std::size_t next = first;
  while (const Item* const item = stream.next()) {
    if (next == places_.size() || item->begin != places_[next].begin) continue;
    items_.push_back(*item);
    ++next;
    memory.push_back(memory_of(*item));
    sum += memory.back();
    if (sum <= max_memory) continue;
    // Drop the older items. They are read again later, in smaller pieces.
    std::size_t dropped = 0;
    for (; dropped + 1 < items_.size() && sum > max_memory / 2; ++dropped) {
      sum -= memory.front();
      memory.pop_front();
    }
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(dropped));
    first += dropped;
    piece_size_ = end - places_[first].begin;
  }
  places_.resize(first);
}

template class Reversed<Summaries>;
template class Reversed<Changes>;

// ---- from state to state ------------------------------------------------------------------------

// Returns the inverse of a change of records.
static Change reversed_records(Change change) {
  using Kind = Change::Kind;
  if (change.kind == Kind::inserted)
    change.kind = Kind::deleted;
  else if (change.kind == Kind::deleted)
    change.kind = Kind::inserted;
  for (Field_Change& field : change.fields) std::swap(field.old_values, field.new_values);
  return change;
}

// After a dropped field was created again, adds updates that restore its former values, except
// default values.
static void add_restored(std::vector<Change>& out, const Change& lost) {
  const Field_Change& field = lost.fields.front();
  const Values one_default(field.old_values.type(), 1);
  for (index_t first = 0, end = 0; first < lost.size; first = end) {
    const auto is_default = [&](index_t i) { return is_same(field.old_values[i], one_default[0]); };
    end = first + 1;
    if (is_default(first)) continue;
    while (end < lost.size && !is_default(end)) ++end;
    Change change = change_of_records(Change::Kind::updated, lost.table,
                                      lost.record.value() + first, end - first);
    change.fields.push_back({field.field, Values(field.old_values.type(), change.size),
                             part_of(field.old_values, first, change.size)});
    out.push_back(std::move(change));
  }
}

static void add_reversed(std::vector<Change>& out, const Change& change) {
  using Kind = Change::Kind;
  if (change.is_of_records()) {
    out.push_back(reversed_records(change));
    return;
  }
  const Schema_Change& schema = *change.schema;
  const auto add = [&](Kind kind, const Description& table, Schema_Change opposite) {
    out.push_back(change_of_schema(kind, table, std::move(opposite)));
  };
  switch (change.kind) {
    case Kind::table_created:
      add(Kind::table_dropped, change.table, {});
      break;
    case Kind::table_renamed:
      add(Kind::table_renamed, describe(change.table->id, schema.old_name),
          {.field = schema.field, .old_name = change.table_name()});
      break;
    case Kind::field_added:
      add(Kind::field_dropped, change.table, {.field = schema.field});
      break;
    case Kind::field_renamed: {
      Schema_Change opposite{.field = schema.field, .old_name = schema.field.name};
      opposite.field.name = schema.old_name;
      add(Kind::field_renamed, change.table, std::move(opposite));
      break;
    }
    case Kind::field_typed: {
      Schema_Change opposite{.field = schema.field, .old_type = schema.field.logical};
      opposite.field.logical = schema.old_type;
      add(Kind::field_typed, change.table, std::move(opposite));
      break;
    }
    case Kind::table_dropped: {
      const auto table = describe(change.table->id, change.table_name());
      add(Kind::table_created, table, {});
      for (const Field_Description& field : change.table->fields)
        add(Kind::field_added, table, {.field = field});
      for (const Change& lost : schema.lost) out.push_back(reversed_records(lost));
      break;
    }
    case Kind::field_dropped:
      add(Kind::field_added, change.table, {.field = schema.field});
      for (const Change& lost : schema.lost) add_restored(out, lost);
      break;
    default:  // a mark has no inverse
      break;
  }
}

std::vector<Change> reversed(const std::vector<Change>& changes) {
  std::vector<Change> result;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change)
    add_reversed(result, *change);
  return result;
}

std::vector<Change> net_changes(Abstract_File& file, Offset a, Offset b,
                                const Change_Options& options) {
  const Offset from = std::min(a, b);
  const Offset to = std::max(a, b);
  Readonly_Journal journal(file, options.recovery);
  require_range(journal, from, to);
  Database database;
  load(database, journal, from);
  database.limit_to_journal_of(journal.get_checkpoint());
  Net_Collector collector(database, kept_values(journal, options));
  journal.replay(collector, to);
  require_entry_end(journal, to);
  Net_Collector::Net_Changes net = collector.take();
  const auto add = [](std::vector<Change>& out, std::vector<Change> more) {
    if (out.empty())
      out = std::move(more);
    else
      out.insert(out.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  };
  std::vector<Change> result;
  if (a <= b) {
    result = std::move(net.schema);
    add(result, std::move(net.records));
    add(result, std::move(net.drops));
  } else {
    result = reversed(net.drops);
    result.reserve(result.size() + net.records.size());
    for (Change& change : net.records) result.push_back(reversed_records(std::move(change)));
    add(result, reversed(net.schema));
  }
  return result;
}

}  // namespace joedb::inline v1
