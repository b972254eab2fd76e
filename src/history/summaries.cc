#include <deque>
#include <exception>
#include <limits>
#include <utility>

#include "history/record_counter.h"
#include "history/require_range.h"
#include "joedb/history/changes.h"
#include "joedb/table/load.h"
#include "kernel/format/run_decoder.h"
#include "kernel/table/declaration.h"

namespace joedb::inline v1 {

// A handler that turns entries into summaries.
class Summaries::Reader {
 public:
  using Sees_Integrity_Entries = void;

  Reader(Abstract_File& file, Offset from, std::optional<Offset> to, const Change_Options& options)
      : options_(options), journal_(file, options.recovery) {
    to_ = to.value_or(journal_.get_checkpoint());
    require_range(journal_, from, to_);
    begin_with_snapshot(from);
    read_to(from);
    begin_range(from);
  }

  const Transaction_Summary* next() {
    while (ready_.empty() && !is_at_end_) {
      if (error_) std::rethrow_exception(error_);
      try {
        read_piece();
      } catch (...) {  // first return the transactions before the error
        if (is_after_end_) finish();
        error_ = std::current_exception();
      }
    }
    if (ready_.empty()) return nullptr;
    item_ = std::move(ready_.front());
    ready_.pop_front();
    return &item_;
  }

  Offset range_end() const { return to_; }

  bool pull() {
    journal_.pull();
    if (journal_.get_checkpoint() == to_) return false;
    to_ = journal_.get_checkpoint();
    is_at_end_ = false;
    return true;
  }

  // ---- entries

  void replay_batch(Decoder_Input& in, Context& context, Offset end) {
    const Offset start = in.position();
    // After an end, begin_entry() must finish the transaction first.
    if (is_after_end_ || end - start < min_batch_size) return;
    decode_run(in, context, end, Sink{*this});
    if (in.position() == start) return;
    has_entries_ = true;
    done_ = summary_.entries_end = in.position();
  }

  void operator()(const Comment& e) {
    if (declare(e)) return end_entry();
    if (!e.text.empty()) {
      begin_entry();
      if (!has_seen_end_ && has_entries_) finish();
      note_comment(e.text);
      has_comments_ = true;
    }
    end_entry();
  }
  void operator()(const Valid_Data&) {
    begin_entry();
    note_end();
    end_entry();
  }
  void operator()(const Timestamp& e) {
    if (is_after_end_ && summary_.has_own_time) finish();
    note_end();
    summary_.has_own_time = true;
    summary_.time = last_time_ = e.seconds;
    end_entry();
  }
  // An integrity entry is written after a transaction, before its checkpoint.
  void operator()(const Integrity_Entry&) {
    if (has_entries_ || has_comments_)
      done_ = journal_.get_replay_position();
    else
      done_ = summary_.begin = journal_.get_replay_position();
  }
  void operator()(const Blob_Data& e) {
    begin_entry();
    has_entries_ = true;
    if (!has_filter()) {
      ++summary_.blobs;
      summary_.blob_bytes += e.blob.get_size();
    }
    end_entry();
  }
  void operator()(const Insert& e) { counter(e.table).insert(e.record.value(), 1), end_entry(); }
  void operator()(const Delete& e) { counter(e.table).erase(e.record.value(), 1), end_entry(); }
  void operator()(const Insert_Vector& e) {
    counter(e.table).insert(e.record.value(), checked(e.size));
    end_entry();
  }
  void operator()(const Delete_Vector& e) {
    counter(e.table).erase(e.record.value(), checked(e.size));
    end_entry();
  }
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    counter(e.table).update(e.record.value(), 1);
    end_entry();
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    Record_Counter& records = counter(e.table);
    if (e.size > 0) records.update(e.record.value(), checked(e.size));
    e.values.skip_rest();  // moves the replay position to the end of the entry
    end_entry();
  }
  template <class Entry>
  requires is_schema_entry<Entry>
  void operator()(const Entry& e) {
    begin_entry();
    if constexpr (std::is_same_v<Entry, Drop_Table>) {
      const std::string& name = schema_.table(e.table).name();
      counted(e.table).name = name;
    }
    schema_(e);
    has_entries_ = true;
    if constexpr (std::is_same_v<Entry, Create_Table>) {
      add_tables();
      note_schema_change(Table_Id(static_cast<std::uint16_t>(schema_.tables().size())));
    } else if constexpr (std::is_same_v<Entry, Custom>) {
      if (!has_filter()) ++summary_.marks;
    } else {
      note_schema_change(e.table);
    }
    last_added_ = {};
    if constexpr (std::is_same_v<Entry, Add_Field>)
      last_added_ = {e.table,
                     Field_Id(static_cast<std::uint16_t>(schema_.table(e.table).fields().size()))};
    end_entry();
  }

 private:
  static constexpr Offset piece_size = Offset{1} << 16;
  static constexpr Offset min_batch_size = 64;

  struct Counted_Table {
    Record_Counter records;
    std::string name;  // set when the table is dropped
    std::uint64_t schema_changes = 0;
    bool is_touched = false;
  };

  struct Sink {
    Record_Counter* table(Table_Id id) const {
      return reader.schema_.find_table(id) == nullptr ? nullptr : &reader.touched(id);
    }
    bool insert(Record_Counter& records, Record_Id record) const {
      records.insert(record.value(), 1);
      return true;
    }
    Record_Counter* column(Record_Counter& records, Record_Id record, Field_Id, Type_Code) const {
      records.update(record.value(), 1);
      return &records;
    }
    template <Field_Value T>
    bool set(Record_Counter&, Record_Id, T) const {
      return true;
    }
    Reader& reader;
  };

  // Starts with a snapshot, if possible. A snapshot has the schema and the last time stamp, but not
  // whether a transaction ends at its position. If it has no time stamp, the journal must be read
  // from its start.
  void begin_with_snapshot(Offset from) {
    Database schema;
    joedb::begin_with_snapshot(schema, journal_, from);
    if (!schema.timestamps()) {
      journal_.rewind();
      return;
    }
    schema_ = std::move(schema);
    add_tables();
    last_time_ = schema_.timestamps()->last;
    has_seen_end_ = true;
  }

  void read_to(Offset end) {
    journal_.replay(*this, end);
    require_entry_end(journal_, end);
  }

  void begin_range(Offset from) {
    finish();
    done_ = summary_.begin = from;
    ready_.clear();
    is_in_range_ = true;
  }

  void read_piece() {
    const Offset end = std::min(journal_.get_replay_position() + piece_size, to_);
    journal_.replay(*this, end);
    if (journal_.get_replay_position() < to_) return;
    require_entry_end(journal_, to_);
    is_at_end_ = true;
    if (has_entries_ || has_comments_) finish();
  }

  // Returns false for a comment that declares nothing. The declaration of a field that was just
  // added is no change of its own.
  bool declare(const Comment& e) {
    if (const auto index = parse_index_declaration(e.text)) return declare_index(*index, e);
    const auto declaration = parse_declaration(e.text);
    if (!declaration) return false;
    const Table* const table = schema_.find_table(declaration->table);
    const Field_Id field = table == nullptr ? Field_Id() : table->find_field(declaration->field);
    if (field.is_null()) return false;
    begin_entry();
    const Column_Base& column = *table->find_field(field)->column;
    const Shared_Logical_Type before = column.shared_logical();
    schema_(e);
    has_entries_ = true;
    const bool is_new = last_added_ == std::pair(table->id(), field);
    if (column.shared_logical() != before && !is_new) {
      note_schema_change(table->id());
      last_added_ = {};
    }
    return true;
  }

  // The declaration of an index, or its end, is a change of the table of the index.
  bool declare_index(const Index_Declaration& declaration, const Comment& e) {
    const Index* const dropped =
        declaration.is_drop ? schema_.find_declared_index(declaration.name) : nullptr;
    const Table* const table = dropped != nullptr ? schema_.find_table(dropped->definition().table)
                                                  : schema_.find_table(declaration.table);
    const std::uint64_t version = schema_.schema_version();
    schema_(e);
    if (table == nullptr || schema_.schema_version() == version) return false;
    begin_entry();
    has_entries_ = true;
    note_schema_change(table->id());
    if (is_wanted(table->id())) ++summary_.index_changes;
    return true;
  }

  // Called before an entry that is neither a time stamp nor an integrity entry. If the previous
  // transaction has its end, finishes that transaction.
  void begin_entry() {
    if (is_after_end_) [[unlikely]]
      finish();
  }
  void end_entry() { done_ = summary_.entries_end = journal_.get_replay_position(); }
  void note_end() { summary_.is_complete = has_seen_end_ = is_after_end_ = has_entries_ = true; }

  bool has_filter() const { return !options_.tables.empty(); }
  bool is_wanted(Table_Id id) const {
    return !has_filter() ||
           std::find(options_.tables.begin(), options_.tables.end(), id) != options_.tables.end();
  }
  void add_tables() {
    while (tables_.size() <= schema_.tables().size()) {
      const Table_Id id(static_cast<std::uint16_t>(tables_.size()));
      tables_.emplace_back();
      const index_t record = options_.record.value();
      if (!is_wanted(id))
        tables_.back().records.limit_to(0, 0);
      else if (has_filter() && options_.record.is_not_null())
        tables_.back().records.limit_to(record, record + 1);
    }
  }
  void note_schema_change(Table_Id id) {
    touched(id);
    if (is_wanted(id) && (!has_filter() || options_.record.is_null())) ++counted(id).schema_changes;
  }

  Counted_Table& counted(Table_Id id) { return tables_[id.value()]; }
  // The schema must have the table.
  Record_Counter& touched(Table_Id id) {
    Counted_Table& table = counted(id);
    if (!table.is_touched) {
      table.is_touched = true;
      touched_.push_back(id);
    }
    return table.records;
  }
  Record_Counter& counter(Table_Id id) {
    begin_entry();
    schema_.table(id);  // throws if there is none
    has_entries_ = true;
    return touched(id);
  }
  static index_t checked(std::int64_t size) {
    if (size > (index_t{1} << 48)) throw Data_Error("a vector with an impossible size");
    return size;
  }

  void note_comment(std::string_view text) {
    const bool may_be_author = summary_.author.empty() &&
                               (summary_.comments.empty() ||
                                (summary_.comments.size() == 1 && done_ == end_of_first_comment_));
    if (may_be_author && text.starts_with(author_mark))
      summary_.author = text.substr(author_mark.size());
    else
      summary_.comments.emplace_back(text);
    if (summary_.comments.size() == 1) end_of_first_comment_ = journal_.get_replay_position();
  }

  // Finishes the transaction at the end of the last entry.
  void finish() {
    std::sort(touched_.begin(), touched_.end());
    for (const Table_Id id : touched_) {
      Counted_Table& table = counted(id);
      if (is_in_range_ && (!table.records.is_empty() || table.schema_changes > 0)) {
        const Record_Counter::Counts counts = table.records.count();
        const Table* const found = schema_.find_table(id);
        if (counts.inserted + counts.updated + counts.deleted + table.schema_changes > 0)
          summary_.tables.push_back({id, found != nullptr ? found->name() : table.name,
                                     counts.inserted, counts.updated, counts.deleted,
                                     table.schema_changes});
      }
      table.schema_changes = 0;
      table.records.clear();
      table.is_touched = false;
    }
    touched_.clear();
    last_added_ = {};
    summary_.end = done_;
    if (!summary_.has_own_time) summary_.time = last_time_;
    if (is_in_range_ && (!has_filter() || !summary_.tables.empty()))
      ready_.push_back(std::move(summary_));
    summary_ = {};
    summary_.begin = done_;
    has_entries_ = has_comments_ = is_after_end_ = false;
  }

  const Change_Options options_;
  Readonly_Journal journal_;
  Offset to_;
  Database schema_;  // only for names: has no records except those of a snapshot
  bool is_in_range_ = false;
  bool is_at_end_ = false;
  std::vector<Counted_Table> tables_{1};  // by id
  std::vector<Table_Id> touched_;         // tables touched by the current transaction
  // The field that the last change of the schema in the current transaction has added.
  std::pair<Table_Id, Field_Id> last_added_;
  Transaction_Summary summary_;  // the current transaction
  Offset done_ = journal_start;  // end of the last entry
  bool has_entries_ = false;     // the current transaction has entries other than comments
  bool has_comments_ = false;
  Offset end_of_first_comment_ = 0;
  bool is_after_end_ = false;
  bool has_seen_end_ = false;
  std::optional<std::int64_t> last_time_;
  std::deque<Transaction_Summary> ready_;
  std::exception_ptr error_;  // to throw when ready_ is empty
  Transaction_Summary item_;
};

Summaries::Summaries(Abstract_File& file, Offset from, Offset to, const Change_Options& options)
    : reader_(std::make_unique<Reader>(file, from, to, options)) {}
Summaries::Summaries(Abstract_File& file, const Change_Options& options)
    : reader_(std::make_unique<Reader>(file, journal_start, std::nullopt, options)) {}
Summaries::~Summaries() = default;
Summaries::Summaries(Summaries&&) noexcept = default;
Summaries& Summaries::operator=(Summaries&&) noexcept = default;

const Transaction_Summary* Summaries::next() { return reader_->next(); }
Offset Summaries::range_end() const { return reader_->range_end(); }
bool Summaries::pull() { return reader_->pull(); }

bool Transaction_Summary::has_only_index_changes() const {
  std::uint64_t others = 0;
  for (const Table_Summary& table : tables)
    others += table.inserted + table.updated + table.deleted + table.schema_changes;
  return index_changes > 0 && others == index_changes;
}

namespace {

// A handler that finds the tables that ever had a name. It skips records at the speed of the
// decoder.
struct Find_Tables : Ignore_Entries {
  using Ignore_Entries::operator();
  struct Sink {
    Find_Tables* table(Table_Id) const { return &find; }
    bool insert(Find_Tables&, Record_Id) const { return true; }
    Find_Tables* column(Find_Tables&, Record_Id, Field_Id, Type_Code) const { return &find; }
    template <Field_Value T>
    bool set(Find_Tables&, Record_Id, T) const {
      return true;
    }
    Find_Tables& find;
  };
  void replay_batch(Decoder_Input& in, Context& context, Offset end) {
    decode_run(in, context, end, Sink{*this});
  }
  void operator()(const Create_Table& e) {
    ++tables;
    add(Table_Id(static_cast<std::uint16_t>(tables)), e.name);
  }
  void operator()(const Rename_Table& e) { add(e.table, e.name); }
  void add(Table_Id id, std::string_view table_name) {
    if (table_name == name && std::find(found.begin(), found.end(), id) == found.end())
      found.push_back(id);
  }

  const std::string_view name;
  std::size_t tables = 0;
  std::vector<Table_Id> found = {};
};

}  // namespace

std::vector<Table_Id> tables_named(Abstract_File& file, std::string_view name, Recovery recovery) {
  Readonly_Journal journal(file, recovery);
  Find_Tables find{{}, name};
  journal.replay(find);
  return find.found;
}

std::optional<Transaction_Summary> find_transaction(Abstract_File& file, Offset position,
                                                    const Change_Options& options) {
  Summaries all(file, options);
  while (const Transaction_Summary* const found = all.next())
    if (position <= found->end)
      return position > found->begin ? std::optional(*found) : std::nullopt;
  return std::nullopt;
}

}  // namespace joedb::inline v1
