#include "joedb/history/changes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "history/require_range.h"
#include "joedb/journal/readonly_journal.h"
#include "kernel/format/run_decoder.h"
#include "kernel/table/retype.h"

namespace joedb::inline v1 {

// A handler that notes where values were written. Does not check the entries, because they were
// checked when the database was loaded.
class Blame::Reader {
 public:
  Reader(Blame& blame, Readonly_Journal& journal, Table_Id table)
      : blame_(blame), journal_(journal), table_(table) {}

  // No entry of a batch starts or ends a transaction, so all of them belong to one transaction.
  // Therefore a position inside the first entry is used for all.
  void replay_batch(Decoder_Input& in, Context& context, Offset end) {
    if (end - in.position() < min_batch_size) return;
    decode_run(in, context, end, Sink{*this, in.position() + 1});
  }

  void operator()(const Insert& e) {
    if (e.table == table_) insert(e.record.value(), 1, position());
  }
  void operator()(const Insert_Vector& e) {
    if (e.table == table_) insert(e.record.value(), e.size, position());
  }
  void operator()(const Delete& e) {
    if (e.table == table_) insert(e.record.value(), 1, 0);
  }
  void operator()(const Delete_Vector& e) {
    if (e.table == table_) insert(e.record.value(), e.size, 0);
  }
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    if (e.table == table_) update(e.record.value(), e.field, 1, position());
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    e.values.skip_rest();
    if (e.table == table_) update(e.record.value(), e.field, e.size, position());
  }
  void operator()(const Add_Field& e) {
    schema_(e);
    if (e.table != table_) return;
    const std::size_t fields = schema_.table(table_).fields().size();
    if (fields < blame_.columns_.size()) blame_.columns_[fields].added = position();
  }
  // A field that got another type keeps the writers of its values.
  void operator()(const Drop_Field& e) {
    if (e.table == table_ && e.field.value() < blame_.columns_.size()) {
      Column dropped = std::exchange(blame_.columns_[e.field.value()], {});
      const Field_Id to = retyped_field(schema_, e);
      if (!to.is_null() && to.value() < blame_.columns_.size())
        blame_.columns_[to.value()] = std::move(dropped);
    }
    schema_(e);
  }
  template <class Entry>
  void operator()(const Entry& e) {
    if constexpr (is_schema_entry<Entry>) schema_(e);
  }

 private:
  static constexpr Offset min_batch_size = 64;

  struct Sink {
    // Returns the reader even for other tables, so that their values are decoded. They are not
    // noted.
    Reader* table(Table_Id id) const {
      reader.is_table_ = id == reader.table_;
      return id.is_null() ? nullptr : &reader;
    }
    bool insert(Reader& table, Record_Id record) const {
      if (table.is_table_) table.insert(record.value(), 1, position);
      return true;
    }
    Reader* column(Reader& table, Record_Id record, Field_Id field, Type_Code) const {
      if (table.is_table_) table.update(record.value(), field, 1, position);
      return &table;
    }
    template <Field_Value T>
    bool set(Reader&, Record_Id, T) const {
      return true;
    }
    Reader& reader;
    Offset position;
  };

  Offset position() const { return journal_.get_replay_position(); }

  void insert(index_t record, index_t size, Offset position) {
    add(blame_.inserted_, record, size, position);
  }
  void update(index_t record, Field_Id field, index_t size, Offset position) {
    const std::size_t index = field.value();
    if (index >= blame_.columns_.size()) return;
    add(blame_.columns_[index].written, record, size, position);
  }
  // Adds only records that the object to blame includes.
  void add(Written& written, index_t record, index_t size, Offset position) {
    const index_t first = std::max(record, blame_.first_);
    const index_t end = std::min(record + size, blame_.end_);
    if (first < end) written.add(first, end, position);
  }

  Blame& blame_;
  Readonly_Journal& journal_;
  const Table_Id table_;
  Database schema_;        // tables and fields without records
  bool is_table_ = false;  // true if the current table of a batch is table_
};

Blame::Blame(Abstract_File& file, const Database& database, Offset end, Table_Id table,
             Record_Id record, Recovery recovery) {
  const Table* const found = database.find_table(table);
  if (found == nullptr)
    throw Exception(file.get_name() + " has no table " + std::to_string(table.value()) + " at " +
                    std::to_string(end));
  end_ = found->records().size();
  if (record.is_not_null()) {
    first_ = record.value();
    end_ = std::min(end_, first_ + 1);
  }
  columns_.resize(found->fields().size() + 1);
  is_field_.resize(columns_.size());
  for (std::size_t i = 1; i < columns_.size(); ++i)
    is_field_[i] = found->fields()[i - 1].column != nullptr;

  Readonly_Journal journal(file, recovery);
  require_range(journal, journal_start, end);
  Reader reader(*this, journal, table);
  journal.replay(reader, end);
  require_entry_end(journal, end);
  inserted_.sort();
  for (Column& column : columns_) column.written.sort();
  find_last();
  find_transactions(file, end, table, recovery);
}

// ---- ranges -------------------------------------------------------------------------------------

void Blame::Written::add(index_t first, index_t end, Offset position) {
  if (ranges_.size() > sorted_) {
    Range& last = ranges_.back();
    if (last.first == first && last.end == end) {
      last.position = position;
      return;
    }
    if (last.position == position && last.end == first) {
      last.end = end;
      return;
    }
  }
  if (ranges_.size() >= limit_) {
    sort();
    limit_ = std::max(limit_, 2 * ranges_.size());
  }
  ranges_.push_back({first, end, position});
}

// Visits the ranges from last to first, and assigns to each the records that no later range has.
// `next` is a union-find structure: it skips records that have been assigned.
void Blame::Written::sort() {
  if (ranges_.size() == sorted_) return;
  struct Edge {
    index_t record;
    std::size_t place;  // 2 * index of the range, plus 1 for its end
  };
  std::vector<Edge> sorted;
  sorted.reserve(2 * ranges_.size());
  for (const Range& range : ranges_) {
    sorted.push_back({range.first, sorted.size()});
    sorted.push_back({range.end, sorted.size()});
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Edge& x, const Edge& y) { return x.record < y.record; });
  std::vector<index_t> edges;
  std::vector<std::size_t> indexes(sorted.size());  // index in `edges`, by place
  for (const Edge& edge : sorted) {
    if (edges.empty() || edges.back() != edge.record) edges.push_back(edge.record);
    indexes[edge.place] = edges.size() - 1;
  }
  constexpr Offset none = -1;
  std::vector<Offset> positions(edges.size(), none);  // of the records between an edge and the next
  std::vector<std::size_t> next(edges.size());        // leads to the next unassigned edge
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = i;
  const auto find = [&](std::size_t i) {
    while (next[i] != i) i = next[i] = next[next[i]];
    return i;
  };
  for (std::size_t range = ranges_.size(); range-- > 0;) {
    const std::size_t end = indexes[2 * range + 1];
    for (std::size_t i = find(indexes[2 * range]); i < end; i = find(i)) {
      positions[i] = ranges_[range].position;
      next[i] = i + 1;  // a valid index, because i is before another edge
    }
  }
  ranges_.clear();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (positions[i] != none) append(edges[i], edges[i + 1], positions[i]);
  }
}

// Extends the last range if the new range is adjacent and has the same position.
void Blame::Written::append(index_t first, index_t end, Offset position) {
  if (!ranges_.empty() && ranges_.back().end == first && ranges_.back().position == position)
    ranges_.back().end = end;
  else
    ranges_.push_back({first, end, position});
  sorted_ = ranges_.size();
}

Blame::Written Blame::Written::later_of(const Written& a, const Written& b) {
  constexpr index_t none = std::numeric_limits<index_t>::max();
  Written result;
  auto range_a = a.ranges_.begin();
  auto range_b = b.ranges_.begin();
  for (index_t done = std::numeric_limits<index_t>::min();;) {
    const index_t first_a = range_a == a.ranges_.end() ? none : std::max(range_a->first, done);
    const index_t first_b = range_b == b.ranges_.end() ? none : std::max(range_b->first, done);
    const index_t first = std::min(first_a, first_b);
    if (first == none) return result;
    const bool is_in_a = first == first_a, is_in_b = first == first_b;
    done = std::min(is_in_a ? range_a->end : first_a, is_in_b ? range_b->end : first_b);
    result.append(first, done,
                  std::max(is_in_a ? range_a->position : 0, is_in_b ? range_b->position : 0));
    if (is_in_a && range_a->end == done) ++range_a;
    if (is_in_b && range_b->end == done) ++range_b;
  }
}

Offset Blame::Written::at(index_t record) const {
  const auto found = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& range) { return range.end <= record; });
  return found == ranges_.end() || record < found->first ? 0 : found->position;
}

// ---- transactions -------------------------------------------------------------------------------

bool Blame::has(Record_Id record) const {
  return record.value() >= first_ && record.value() < end_ && inserted_.at(record.value()) != 0;
}

// Merges pairs, then pairs of results, so that each range is copied only a few times.
void Blame::find_last() {
  std::vector<Written> all{inserted_};
  for (std::size_t field = 1; field < columns_.size(); ++field)
    if (!columns_[field].written.ranges().empty()) all.push_back(columns_[field].written);
  for (std::size_t step = 1; step < all.size(); step *= 2)
    for (std::size_t i = 0; i + step < all.size(); i += 2 * step)
      all[i] = Written::later_of(all[i], std::exchange(all[i + step], {}));
  last_ = std::move(all.front());
}

// Finds the transactions that wrote a value.
void Blame::find_transactions(Abstract_File& file, Offset end, Table_Id table, Recovery recovery) {
  std::vector<Offset> positions;
  const auto add = [&](const Written& written) {
    for (const Written::Range& range : written.ranges()) positions.push_back(range.position);
  };
  add(inserted_);
  for (std::size_t field = 1; field < columns_.size(); ++field) {
    if (!is_field_[field]) continue;
    positions.push_back(columns_[field].added);
    add(columns_[field].written);
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  Change_Options options;
  options.recovery = recovery;
  options.tables = {table};
  auto next = positions.begin();
  for (const Transaction_Summary& summary : Summaries(file, journal_start, end, options)) {
    next = std::upper_bound(next, positions.end(), summary.begin);
    if (next != positions.end() && *next <= summary.end) transactions_.push_back(summary);
  }
}

const Transaction_Info* Blame::transaction(Offset position) const {
  const auto found =
      std::partition_point(transactions_.begin(), transactions_.end(),
                           [&](const Transaction_Info& info) { return info.end < position; });
  return found == transactions_.end() || found->begin >= position ? nullptr : &*found;
}

const Transaction_Info* Blame::writer(Record_Id record, Field_Id field) const {
  const std::size_t index = field.value();
  if (!has(record) || index >= columns_.size() || !is_field_[index]) return nullptr;
  const Column& column = columns_[index];
  return transaction(
      std::max({inserted_.at(record.value()), column.added, column.written.at(record.value())}));
}

const Transaction_Info* Blame::last_writer(Record_Id record) const {
  return has(record) ? transaction(last_.at(record.value())) : nullptr;
}

const Transaction_Info* Blame::inserter(Record_Id record) const {
  return has(record) ? transaction(inserted_.at(record.value())) : nullptr;
}

}  // namespace joedb::inline v1
