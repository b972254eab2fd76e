#ifndef JOEDB_TABLE_DATABASE_H
#define JOEDB_TABLE_DATABASE_H

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/format/decoder.h"
#include "joedb/format/entry.h"
#include "joedb/table/table.h"

namespace joedb::inline v1 {

// What Database::schema_entries has.
template <class Entry>
inline constexpr bool is_schema_entry =
    std::is_same_v<Entry, Create_Table> || std::is_same_v<Entry, Drop_Table> ||
    std::is_same_v<Entry, Rename_Table> || std::is_same_v<Entry, Add_Field> ||
    std::is_same_v<Entry, Drop_Field> || std::is_same_v<Entry, Rename_Field> ||
    std::is_same_v<Entry, Custom>;

// The content of a database in memory: the schema at run time, and a table engine for each table.
//
// It is a handler: a journal is replayed into it. Every entry has two steps: prepare(entry) checks
// that it fits and takes the memory it needs, and throws Data_Error with nothing changed;
// apply(entry) then cannot fail (but those that change the schema may lack memory). Calling the
// database does both.
class Database {
 public:
  explicit Database(Deleted_Values deleted_values = Deleted_Values::keep)
      : deleted_values_(deleted_values) {}

  // ---- the schema

  // Null if there is no such table, or it was dropped.
  const Table* find_table(Table_Id table) const {
    const std::size_t index = table.value() - std::size_t{1};
    return index < tables_.size() ? tables_[index].get() : nullptr;
  }
  Table* find_table(Table_Id table) {
    return const_cast<Table*>(static_cast<const Database*>(this)->find_table(table));
  }
  const Table* find_table(std::string_view name) const;

  // Tables by id: table 1 is the first. A dropped one leaves a null pointer. Tables stay where they
  // are in memory until they are dropped.
  const std::vector<std::unique_ptr<Table>>& tables() const { return tables_; }

  // The schema entries of the journal so far, encoded as in a file.
  const std::string& schema_entries() const { return schema_entries_; }

  // ---- indexes

  // To be called before anything is replayed: the index is made with its table.
  void add_index(Index_Definition definition);
  // In the order in which they were made.
  const std::vector<Index*>& indexes() const { return indexes_; }
  const Index* find_index(std::string_view name) const;

  // ---- limits

  // Rows that a journal may have without paying for them by a byte each (skipped ids, vectors), all
  // together, deleted ones included: as many as it has bytes, but 16 million in any case.
  static index_t free_rows_of_journal(Offset size);
  // A journal of this many bytes is about to be replayed. Indexes wait.
  void limit_to_journal_of(Offset size);
  // For the one who writes: vectors of any length, for they will be filled. Indexes are brought up
  // to date, all that can be; throws Data_Error if a unique one would hold a key twice
  // (Index::insert_waiting).
  void remove_limits();

  // From now on, tables and fields that are dropped stay in memory: somebody has their addresses.
  void keep_dropped() { keeps_dropped_ = true; }
  // The next checkpoint will be at `position`. Throws Data_Error if it could not be read back.
  void require_readable_from(Offset position) const;
  // The journal has grown to `position`.
  void note_journal_size(Offset position) {
    free_rows_ = std::max(free_rows_, free_rows_of_journal(position));
  }
  Table::Budget budget() const {
    const index_t left = std::max<index_t>(free_rows_ - rows_beyond_limit_, 0);
    return {left, may_write_ ? no_limit : left};
  }
  // Record `id` is about to be inserted in a table of this size.
  void note_insert(index_t id, index_t size) {
    if (id > size) [[unlikely]]
      rows_beyond_limit_ += id - size;
  }

  // ---- entries

  template <class Entry>
  void operator()(const Entry& entry) {
    prepare(entry);
    apply(entry);
  }
  // The same, which looks up the column once.
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    Table& t = table(e.table);
    Column<T>& column = t.template column<T>(e.field);
    prepare_update(t, column, e);
    t.set(column, e.field, e.record, e.value);
  }

  // Called by decode_entries: rows at the end of dense tables, and values in columns that are in no
  // index. Whoever derives from this class and has another operator() for Insert or Update must
  // hide this function, too.
  void replay_batch(Decoder_Input& in, Context& context, Offset end);

  void prepare(const Create_Table& e) const;
  void prepare(const Drop_Table& e) const;
  void prepare(const Rename_Table& e) const;
  void prepare(const Add_Field& e);
  void prepare(const Drop_Field& e) const;
  void prepare(const Rename_Field& e) const;
  void prepare(const Insert& e) { table(e.table).prepare_insert(e.record, budget()); }
  void prepare(const Insert_Vector& e) {
    table(e.table).prepare_insert_vector(e.record, e.size, budget());
  }
  void prepare(const Delete& e) { table(e.table).prepare_delete(e.record); }
  void prepare(const Delete_Vector& e) { table(e.table).prepare_delete_vector(e.record, e.size); }
  template <Field_Value T>
  void prepare(const Update<T>& e) {
    Table& t = table(e.table);
    prepare_update(t, t.template column<T>(e.field), e);
  }
  template <Field_Value T>
  void prepare(const Update_Vector<T>& e) const {
    const Table& t = table(e.table);
    t.column<T>(e.field);
    t.prepare_update_vector(e.record, e.size);
  }
  void prepare(const Custom&) const {}
  void prepare(const Comment&) const {}
  void prepare(const Timestamp&) const {}
  void prepare(const Valid_Data&) const {}
  void prepare(const Blob_Data&) const {}

  void apply(const Create_Table& e);
  void apply(const Drop_Table& e);
  void apply(const Rename_Table& e);
  void apply(const Add_Field& e);
  void apply(const Drop_Field& e);
  void apply(const Rename_Field& e);
  void apply(const Custom& e);
  void apply(const Insert& e) {
    Table& t = table(e.table);
    note_insert(e.record.value(), t.records().size());
    t.insert(e.record);
  }
  void apply(const Insert_Vector& e);
  void apply(const Delete& e) { apply(Delete_Vector{e.table, e.record, 1}); }
  void apply(const Delete_Vector& e);
  template <Field_Value T>
  void apply(const Update<T>& e) {
    Table& t = table(e.table);
    t.set(t.template column<T>(e.field), e.field, e.record, e.value);
  }
  template <Field_Value T>
  void apply(const Update_Vector<T>& e) {
    Table& t = table(e.table);
    Column<T>& column = t.template column<T>(e.field);
    Column_Update<T> update(t, column, e.field, e.record, e.size);
    column.expect(static_cast<std::size_t>(e.size));
    if constexpr (has_fixed_size<T>) {
      e.values.read_all(column.data() + e.record.value());
    } else {
      for (index_t id = e.record.value(); e.values.remaining() > 0; ++id) {
        const T value = e.values.next();
        if constexpr (std::is_same_v<T, std::string_view>) require_size(value);
        column.set(id, value);
      }
    }
    update.finish();
  }
  void apply(const Comment&) {}
  void apply(const Timestamp&) {}
  void apply(const Valid_Data&) {}
  void apply(const Blob_Data&) {}

  const Table& table(Table_Id id) const {
    const Table* const found = find_table(id);
    if (found == nullptr) [[unlikely]]
      throw_invalid_table(id);
    return *found;
  }
  Table& table(Table_Id id) {
    return const_cast<Table&>(static_cast<const Database*>(this)->table(id));
  }

  // Throws Data_Error if the blob could not stand in a file.
  static void require_valid(Blob blob) {
    constexpr auto limit = static_cast<std::int64_t>(max_compact);
    if (blob.get_position() < 0 || blob.get_position() > limit || blob.get_size() < 0 ||
        blob.get_size() > limit) [[unlikely]]
      throw Data_Error("a blob with a negative or impossible position or size");
  }

  // Throws Data_Error if a text is too long for a column (4 GiB).
  static void require_size(std::string_view text) {
    if (text.size() > Column<std::string_view>::max_size) [[unlikely]]
      throw Data_Error("a string can have at most 4294967295 bytes");
  }

 private:
  static constexpr index_t no_limit = index_t{1} << 48;

  template <Field_Value T>
  static void prepare_update(Table& t, Column<T>& column, const Update<T>& e) {
    if (!t.is_used(e.record)) [[unlikely]]
      throw_invalid_update();
    if constexpr (std::is_same_v<T, std::string_view>) require_size(e.value);
    column.prepare(e.value);
    if (column.is_indexed()) [[unlikely]]
      prepare_key(t, e);
  }
  template <Field_Value T>
  [[gnu::noinline]] static void prepare_key(Table& t, const Update<T>& e) {
    t.prepare_keys(e.record, std::array{New_Value{e.field, key_part(e.value)}});
  }
  void make_indexes();
  template <class Entry>
  void remember(const Entry& entry);
  [[noreturn]] static void throw_invalid_table(Table_Id id);
  [[noreturn]] static void throw_invalid_update();

  Deleted_Values deleted_values_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::map<std::string, Table_Id, std::less<>> table_ids_;
  std::string schema_entries_;
  std::vector<Index_Definition> indexes_to_make_;
  std::vector<Index*> indexes_;
  bool keeps_dropped_ = false;
  std::vector<std::unique_ptr<Table>> dropped_tables_;
  std::vector<std::unique_ptr<Column_Base>> dropped_columns_;
  index_t free_rows_ = free_rows_of_journal(0);
  index_t rows_beyond_limit_ = 0;
  bool may_write_ = false;
};

}  // namespace joedb::inline v1

#endif
