#include "joedb/history/blame.h"

#include <algorithm>

#include "format/run_decoder.h"
#include "history/require_range.h"
#include "joedb/journal/moment.h"

namespace joedb::inline v1 {

// Notes where the values were written: a handler. What the entries are was checked when the
// database was loaded.
class Blame::Reader {
 public:
  Reader(Blame& blame, Readonly_Journal& journal, Table_Id table)
      : blame_(blame), journal_(journal), table_(table) {}

  // All entries of a batch belong to the transaction that has the first of them: none of them ends
  // one, or begins one.
  void replay_batch(Decoder_Input& in, Context& context, Offset end) {
    if (end - in.position() < shortest_batch) return;
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
    if (e.table != table_) return;
    ++fields_;
    if (fields_ < blame_.columns_.size()) blame_.columns_[fields_].added = position();
  }
  template <class Entry>
  void operator()(const Entry&) {}

 private:
  static constexpr Offset shortest_batch = 64;

  struct Sink {
    // The other tables: values are decoded, and not noted.
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

  // Calls f(first row, end row) for those that are asked about.
  template <class F>
  void for_rows(index_t record, index_t size, F f) {
    const auto rows = static_cast<index_t>(blame_.inserted_.size());
    const index_t first = std::max<index_t>(record - blame_.first_, 0);
    const index_t end = std::min(record - blame_.first_ + size, rows);
    if (first < end) f(first, end);
  }
  void insert(index_t record, index_t size, Offset position) {
    for_rows(record, size, [&](index_t first, index_t end) {
      std::fill(blame_.inserted_.begin() + first, blame_.inserted_.begin() + end, position);
    });
  }
  void update(index_t record, Field_Id field, index_t size, Offset position) {
    const std::size_t index = field.value();
    if (index >= blame_.columns_.size() || !blame_.is_field_[index]) return;
    std::vector<Offset>& written = blame_.columns_[index].written;
    for_rows(record, size, [&](index_t first, index_t end) {
      if (written.empty()) written.resize(blame_.inserted_.size());
      std::fill(written.begin() + first, written.begin() + end, position);
    });
  }

  Blame& blame_;
  Readonly_Journal& journal_;
  const Table_Id table_;
  std::size_t fields_ = 0;  // that the table has had so far
  bool is_table_ = false;   // of a batch: whether its table is the one
};

Blame::Blame(Abstract_File& file, const Database& database, Offset end, Table_Id table,
             Record_Id record, Recovery recovery) {
  const Table* const found = database.find_table(table);
  if (found == nullptr)
    throw Exception(file.get_name() + " has no table " + std::to_string(table.value()) + " at " +
                    std::to_string(end));
  const index_t rows = found->records().size();
  if (record.is_not_null()) first_ = record.value();
  inserted_.resize(static_cast<std::size_t>(record.is_null()        ? rows
                                            : record.value() < rows ? index_t{1}
                                                                    : index_t{0}));
  columns_.resize(found->fields().size() + 1);
  is_field_.resize(columns_.size());
  for (std::size_t i = 1; i < columns_.size(); ++i)
    is_field_[i] = found->fields()[i - 1].column != nullptr;

  Readonly_Journal journal(file, recovery);
  require_range(journal, journal_start, end);
  Reader reader(*this, journal, table);
  journal.replay(reader, end);
  require_entry_end(journal, end);
  find_transactions(file, end, table, recovery);
}

bool Blame::has(Record_Id record) const {
  const index_t index = record.value() - first_;
  return index >= 0 && index < static_cast<index_t>(inserted_.size()) &&
         inserted_[static_cast<std::size_t>(index)] != 0;
}

Offset Blame::position(std::size_t row, const Column& column) const {
  const Offset written = column.written.empty() ? 0 : column.written[row];
  return std::max({inserted_[row], column.added, written});
}

// The transactions that have written a value.
void Blame::find_transactions(Abstract_File& file, Offset end, Table_Id table, Recovery recovery) {
  std::vector<Offset> positions = inserted_;
  const auto tidy = [&] {
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  };
  tidy();
  for (std::size_t field = 1; field < columns_.size(); ++field) {
    if (!is_field_[field]) continue;
    const Column& column = columns_[field];
    positions.push_back(column.added);
    positions.insert(positions.end(), column.written.begin(), column.written.end());
    tidy();
  }
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
  return transaction(position(row(record), columns_[index]));
}

const Transaction_Info* Blame::last_writer(Record_Id record) const {
  if (!has(record)) return nullptr;
  Offset last = inserted_[row(record)];
  for (std::size_t field = 1; field < columns_.size(); ++field)
    if (is_field_[field] && !columns_[field].written.empty())
      last = std::max(last, columns_[field].written[row(record)]);
  return transaction(last);
}

const Transaction_Info* Blame::inserter(Record_Id record) const {
  return has(record) ? transaction(inserted_[row(record)]) : nullptr;
}

}  // namespace joedb::inline v1
