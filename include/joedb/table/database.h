#ifndef JOEDB_TABLE_DATABASE_H
#define JOEDB_TABLE_DATABASE_H

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/format/decoder.h"
#include "joedb/format/entry.h"
#include "joedb/table/change_observer.h"
#include "joedb/table/table.h"

namespace joedb::inline v1 {

class Snapshot_File;
class Snapshot_Source;
class Snapshot_Writer;

// What opening a database has found beside its journal.
struct Snapshot_Report {
  // Up to where the content has come from a snapshot; 0: there was none that could be used.
  Offset position = 0;
  // Why snapshots were not used; empty if nothing was wrong with them.
  std::string remark;
  // Whether one that this database writes in place of it would be of no use to others: it has
  // indexes that this one has not, or ids were used again, and this one is a tool with --classic.
  bool is_for_others = false;
};

// What Database::schema_entries has.
template <class Entry>
inline constexpr bool is_schema_entry =
    std::is_same_v<Entry, Create_Table> || std::is_same_v<Entry, Drop_Table> ||
    std::is_same_v<Entry, Rename_Table> || std::is_same_v<Entry, Add_Field> ||
    std::is_same_v<Entry, Drop_Field> || std::is_same_v<Entry, Rename_Field> ||
    std::is_same_v<Entry, Custom>;

// The content of a database in memory: the schema at run time, and a table engine for each table.
//
// It is a handler: a journal is replayed into it. Every entry has two steps. prepare(entry) checks
// the entry and takes the memory it needs: it throws Data_Error for an entry that does not fit the
// content, Exception or std::bad_alloc without memory, and the content has not changed then.
// apply(entry) requires that prepare(entry) has returned, with no change in between. It cannot
// fail, except that an entry of the schema may lack memory. Calling the database does both.
//
// The database has no journal. A program that writes uses Writable_Database, or generated code,
// which log each entry between the two steps.
//
// Not thread-safe. Functions that are const may be called by several threads while none changes
// the database.
class Database {
 public:
  explicit Database(Deleted_Values deleted_values = Deleted_Values::reset)
      : deleted_values_(deleted_values) {}

  // ---- the schema

  // The table with this id, counted from 1. Null if there is none, or it was dropped.
  const Table* find_table(Table_Id table) const {
    const std::size_t index = table.value() - std::size_t{1};
    return index < tables_.size() ? tables_[index].get() : nullptr;
  }
  Table* find_table(Table_Id table) {
    return const_cast<Table*>(static_cast<const Database*>(this)->find_table(table));
  }
  // The table with this name, as it was last renamed. Null if there is none.
  const Table* find_table(std::string_view name) const;

  // Tables by id: table 1 is the first. A dropped one leaves a null pointer. Tables stay where they
  // are in memory until they are dropped.
  const std::vector<std::unique_ptr<Table>>& tables() const { return tables_; }

  // The schema entries (is_schema_entry) so far, in their order, encoded as in a file. Two
  // databases with the same bytes here have the same tables and fields, with the same ids.
  const std::string& schema_entries() const { return schema_entries_; }

  Deleted_Values deleted_values() const { return deleted_values_; }

  // ---- indexes

  // Call it before anything is replayed. The index is made when its table is created. It belongs
  // to the table, which cannot be dropped from then on, nor can the fields of the index.
  void add_index(Index_Definition definition);
  // The indexes whose tables exist, in the order in which they were made. Pointers are valid as
  // long as the database.
  const std::vector<Index*>& indexes() const { return indexes_; }
  // By the name of its definition. Null if there is none, or its table does not exist yet.
  const Index* find_index(std::string_view name) const;

  // ---- observers

  // Null: none, which costs nothing. The observer must outlive the database, or be removed. Call it
  // again when the observer observes other tables.
  void set_observer(Change_Observer* observer);
  Change_Observer* observer() const { return observer_; }
  // Tells the observer of an entry that is about to be applied. Requires that there is one.
  template <class Entry>
  void note(const Entry& entry) {
    if constexpr (is_schema_entry<Entry>)
      observer_->note_schema_change();
    else if constexpr (requires { entry.table; })
      if (table(entry.table).is_observed()) note_records(entry);
  }

  // ---- limits

  // The record limit: how many rows a journal of `size` bytes may have that no entry of their own
  // makes. These are skipped ids and the records of vectors, all together, deleted ones included.
  // It is as many rows as bytes, but at least 16,777,216.
  static index_t free_rows_of_journal(Offset size);
  // Call it before a journal of this many bytes is replayed: insertions beyond its record limit
  // throw Data_Error. Indexes are not updated until remove_limits().
  void limit_to_journal_of(Offset size);
  // Call it after replaying. From here on a vector may have any length, up to the memory, for its
  // values follow; the limit for skipped ids stays. Brings all indexes up to date. Throws
  // Unique_Violation if a unique one would hold a key twice, the first of several errors; the
  // tables and the other indexes are complete then, and records that are not in an index are tried
  // again (Index::insert_waiting).
  void remove_limits();

  // From now on, tables and fields that are dropped stay in memory, so that their addresses stay
  // valid, until the database is destroyed.
  void keep_dropped() { keeps_dropped_ = true; }
  // Throws Data_Error if a journal that ends at `position` could not be read back: the tables have
  // more rows without entries of their own than the record limit allows.
  void require_readable_from(Offset position) const;
  // Call it when the journal has grown to `position`: the record limit may grow with it. It never
  // becomes smaller.
  void note_journal_size(Offset position) {
    free_rows_ = std::max(free_rows_, free_rows_of_journal(position));
  }
  // How many more ids an insertion may skip, and how many records a vector may have.
  Table::Budget budget() const {
    const index_t left = std::max<index_t>(free_rows_ - rows_beyond_limit_, 0);
    return {left, may_write_ ? no_limit : left};
  }
  // Record `id` is about to be inserted in a table of this size.
  void note_insert(index_t id, index_t size) {
    if (id > size) [[unlikely]]
      rows_beyond_limit_ += id - size;
  }

  // ---- snapshots (table/snapshot.h)

  // A new database that will have the same indexes, and treats ids that are used again alike.
  Database make_new() const;
  // Whether nothing was replayed yet.
  bool is_new() const { return schema_entries_.empty() && !timestamps_; }
  void save(Snapshot_Writer& out) const;
  // The first items of the group of an index.
  static Index_Definition read_definition(Section_Reader& in);
  // Throws Corruption_Error, Io_Error.
  static Deleted_Values read_deleted_values(const Snapshot_File& snapshot);
  // Whether it treats ids that are used again as this database does, or there are none. Throws
  // Corruption_Error, Io_Error.
  bool suits(const Snapshot_File& snapshot) const;
  // For a new database, or one with the same content, whose addresses of tables and columns stay,
  // and whose values are in the file then. Throws Corruption_Error, with a text that says what does
  // not fit, and Io_Error; a new database is of no use then.
  void restore(std::shared_ptr<const Snapshot_File> snapshot);
  // The snapshot that values have come from; null if all of them have come from entries.
  const std::shared_ptr<Snapshot_Source>& snapshot_source() const { return snapshot_source_; }
  // Gives memory back: moves tables and indexes to a file without a name in $TMPDIR, or /var/tmp.
  // From then on, processes that this one forks share them. What is true of addresses after
  // restore() is true then. Throws Io_Error, std::bad_alloc; the content is the same then.
  void spill();
  // Throws Io_Error if somebody has cut the file that tables are mapped from, Corruption_Error if
  // its verification in the background (table/snapshot.h) has found damage: values may be wrong.
  void require_intact() const {
    if (Zeroed_Memory::cut_count() != known_cuts_) [[unlikely]]
      look_for_damage();
  }
  // What was found beside the journal.
  const Snapshot_Report& snapshot_report() const { return snapshot_report_; }
  void set_snapshot_report(Snapshot_Report report) { snapshot_report_ = std::move(report); }

  // Seconds since 1970, of the first and the last time stamp so far; nothing if there was none.
  struct Timestamps {
    std::int64_t first;
    std::int64_t last;
  };
  const std::optional<Timestamps>& timestamps() const { return timestamps_; }

  // ---- entries

  // Throws what prepare(entry) throws, and has changed nothing then.
  template <class Entry>
  void operator()(const Entry& entry) {
    prepare(entry);
    apply(entry);
  }
  // The same; looks up the column once.
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    Table& t = table(e.table);
    Column<T>& column = t.template column<T>(e.field);
    prepare_update(t, column, e);
    t.set(column, e.field, e.record, e.value);
  }

  // Called by decode_entries: replays rows at the end of dense tables, and values in columns that
  // are in no index. It stops before the first other entry, before an invalid one, and at `end`. A
  // derived class with its own operator() for Insert or Update must hide this function, too.
  void replay_batch(Decoder_Input& in, Context& context, Offset end);

  // What each of these throws, as a Data_Error: a table, field or record that does not exist; a
  // field of another type; a name that is in use or not an identifier (schema/type.h); a 65536th
  // table or field; dropping what an index needs; an id that is in use, negative, or beyond the
  // record limit; a string of more than 4294967295 bytes; a key that a unique index has already
  // (Unique_Violation).
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

  // A new table or field gets the next id; ids of dropped ones are not used again.
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
  // Reads e.values to their end. The decoder may throw Corruption_Error before that, and the values
  // read so far stay. Throws Unique_Violation if a unique index would hold a key twice; the column
  // has its old values then.
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
  void apply(const Timestamp& e) {
    if (!timestamps_) timestamps_ = {e.seconds, e.seconds};
    timestamps_->last = e.seconds;
  }
  void apply(const Valid_Data&) {}
  void apply(const Blob_Data&) {}

  // Takes back the last insertion in this table (table/undo_log.h).
  void undo_insert(Table& table, Record_Id record, const Record_Ids::Before& before) {
    if (record.value() > before.size) rows_beyond_limit_ -= record.value() - before.size;
    table.undo_insert(record, before);
  }

  // The same as find_table, but throws Data_Error if there is no such table.
  const Table& table(Table_Id id) const {
    const Table* const found = find_table(id);
    if (found == nullptr) [[unlikely]]
      throw_invalid_table(id);
    return *found;
  }
  Table& table(Table_Id id) {
    return const_cast<Table&>(static_cast<const Database*>(this)->table(id));
  }

  // Throws Data_Error unless position and size are in 0 … 2^61 - 1. Does not look at the file.
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

  void note_records(const Insert& e) { observer_->note_insert(e.table, e.record, 1); }
  void note_records(const Insert_Vector& e) { observer_->note_insert(e.table, e.record, e.size); }
  void note_records(const Delete& e) { observer_->note_delete(e.table, e.record, 1); }
  void note_records(const Delete_Vector& e) { observer_->note_delete(e.table, e.record, e.size); }
  template <Field_Value T>
  void note_records(const Update<T>& e) {
    observer_->note_update(e.table, e.field, e.record, 1);
  }
  template <Field_Value T>
  void note_records(const Update_Vector<T>& e) {
    observer_->note_update(e.table, e.field, e.record, e.size);
  }
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
  void look_for_damage() const;
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
  Change_Observer* observer_ = nullptr;
  bool keeps_dropped_ = false;
  std::vector<std::unique_ptr<Table>> dropped_tables_;
  std::vector<std::unique_ptr<Column_Base>> dropped_columns_;
  index_t free_rows_ = free_rows_of_journal(0);
  index_t rows_beyond_limit_ = 0;
  bool may_write_ = false;
  std::optional<Timestamps> timestamps_;
  Snapshot_Report snapshot_report_;
  std::shared_ptr<Snapshot_Source> snapshot_source_;
  std::shared_ptr<File> spill_file_;
  std::uint64_t known_cuts_ = Zeroed_Memory::cut_count();
};

}  // namespace joedb::inline v1

#endif
