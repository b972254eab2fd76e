#ifndef JOEDB_TABLE_DATABASE_H
#define JOEDB_TABLE_DATABASE_H

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/types.h"
#include "joedb/format/codec.h"
#include "joedb/format/entry.h"
#include "joedb/table/table.h"

namespace joedb::inline v1 {

class Database;

// Observes the changes of a Database (Database::set_observer). An observer is notified of each
// change before the change is applied, and of each journal position where a commit may end. The
// only implementation is Observers (history/typed_history.h).
//
// Changes of tables that the observer does not observe need not be reported. If writing an update
// of a vector fails, the update was reported but does not happen.
class Change_Observer {
 public:
  virtual ~Change_Observer() = default;

  // From now on, the observer observes `database`. If it observed another database before, the
  // changes reported since the last call of cut() have not happened.
  virtual void follow(Database& database) = 0;
  virtual bool observes(Table_Id table) const = 0;

  // Report a change of records [record, record + size). The records of an update need not be in
  // use. These functions throw std::bad_alloc.
  virtual void note_insert(Table_Id table, Record_Id record, index_t size) = 0;
  virtual void note_delete(Table_Id table, Record_Id record, index_t size) = 0;
  virtual void note_update(Table_Id table, Field_Id field, Record_Id record, index_t size) = 0;
  // Reports that tables or fields are about to change. The observer stops observing.
  virtual void note_schema_change() noexcept = 0;

  // Ends a batch: the changes reported since the last call of cut() are before this position of the
  // journal.
  virtual void cut(Offset position) = 0;
  // Reports a rollback: everything after `checkpoint` was dropped, and the observed database has
  // the content of the journal up to `checkpoint`.
  virtual void roll_back(Offset checkpoint) = 0;
  // Calls the functions of subscribers for the changes before `checkpoint`. Throws the exceptions
  // of these functions.
  virtual void notify(Offset checkpoint) = 0;
};

class Snapshot_File;
class Snapshot_Source;
class Snapshot_Writer;

// The result of the search for a snapshot when a database was opened.
struct Snapshot_Report {
  // Offset up to which the content came from a snapshot; 0 if no snapshot was used.
  Offset position = 0;
  // Why snapshots were rejected; empty if no snapshot was rejected.
  std::string remark;
  // True if this database must not replace the snapshot, because other programs could not use the
  // new snapshot. This is so if the snapshot has indexes that this database lacks, or if ids were
  // reused and this database belongs to a tool with the option --classic.
  bool is_for_others = false;
};

// The beginning of comments that are declarations (docs/file_format.md).
inline constexpr std::string_view declaration_mark = "joedb: ";

// True for the entries that Database::schema_entries keeps.
template <class Entry>
inline constexpr bool is_schema_entry =
    std::is_same_v<Entry, Create_Table> || std::is_same_v<Entry, Drop_Table> ||
    std::is_same_v<Entry, Rename_Table> || std::is_same_v<Entry, Add_Field> ||
    std::is_same_v<Entry, Drop_Field> || std::is_same_v<Entry, Rename_Field> ||
    std::is_same_v<Entry, Custom>;

// The content of a database in memory: the schema at run time, and a table engine for each table.
//
// A Database is a handler, so a journal can be replayed into it. Every entry is applied in two
// steps. prepare(entry) checks the entry, and allocates the memory that it needs. It throws
// Data_Error if the entry does not match the content, and Exception or std::bad_alloc if memory is
// exhausted; the content has not changed then. apply(entry) requires that prepare(entry) has
// returned, and that nothing has changed since. It cannot fail, except that memory may be exhausted
// for a schema entry or a declaration. operator() does both steps.
//
// A Database has no journal. A program that writes uses Writable_Database or generated code, which
// log each entry between the two steps.
//
// Not thread-safe. Several threads may call const functions while none changes the database.
class Database {
 public:
  explicit Database(Deleted_Values deleted_values = Deleted_Values::reset)
      : deleted_values_(deleted_values) {}

  // ---- the schema

  // Returns the table with this id, counted from 1; null if it does not exist or was dropped.
  const Table* find_table(Table_Id table) const {
    const std::size_t index = table.value() - std::size_t{1};
    return index < tables_.size() ? tables_[index].get() : nullptr;
  }
  Table* find_table(Table_Id table) {
    return const_cast<Table*>(static_cast<const Database*>(this)->find_table(table));
  }
  // Returns the table whose current name this is; null if there is none.
  const Table* find_table(std::string_view name) const;

  // The tables in the order of their ids: table 1 is at index 0. The pointer of a dropped table is
  // null. The address of a table does not change until the table is dropped.
  const std::vector<std::unique_ptr<Table>>& tables() const { return tables_; }

  // The schema entries (is_schema_entry) so far, in order, encoded as in a file. Two databases with
  // equal schema entries have the same tables and fields, with the same ids.
  const std::string& schema_entries() const { return schema_entries_; }

  // The comments that declare the logical types of the fields (Column_Base::logical) and indexes,
  // in the order of tables, with current names: of each table the types in the order of its fields,
  // then the indexes in the order of their names. A comment of this form (docs/file_format.md) has
  // an effect when it is applied, if it suits the tables and fields. schema_entries() does not
  // contain declarations, because two programs can use the same file with other ones.
  std::vector<std::string> declarations() const;
  // A number that changes whenever tables, fields, logical types or declared indexes change.
  // Comparable only for the same object.
  std::uint64_t schema_version() const { return schema_entries_.size() + declaration_count_; }

  Deleted_Values deleted_values() const { return deleted_values_; }

  // ---- references (kernel/table/references.h)

  // The fields, also of the same table, that refer to a table.
  struct Referrers {
    std::map<std::pair<Table_Id, Field_Id>, Logical_Type::On_Delete> fields;
    std::size_t rule_count = 0;  // of these fields, how many have another rule than `keep`
  };
  // Null if there is none. Valid until the schema changes.
  const Referrers* find_referrers(Table_Id table) const {
    const auto found = referrers_.find(table);
    return found == referrers_.end() ? nullptr : &found->second;
  }
  // True if a field that refers to the table has another rule than `keep`.
  bool has_rules(Table_Id table) const {
    const Referrers* const referrers = find_referrers(table);
    return referrers != nullptr && referrers->rule_count > 0;
  }

  // ---- indexes

  // Adds an index of this program, which will be created together with its table. Call this before
  // anything is replayed. Neither the table nor a field of the index can be dropped. If the journal
  // declares the same index, there is only one, which has every record (Index::has_all).
  void add_index(Index_Definition definition);
  // The definitions that add_index() was called with.
  const std::vector<Index_Definition>& added_indexes() const { return added_; }
  // All indexes whose tables exist, of this program and of the journal. A declared index ends with
  // drop_index, its table, or one of its fields. Pointers are valid until the table is dropped.
  const std::vector<Index*>& indexes() const { return indexes_; }
  // Returns the index of this program with this name; if there is none, the declared one; null if
  // there is none, or if its table does not exist yet.
  const Index* find_index(std::string_view name) const;
  // Returns the index of this definition, whose schema_name is ignored; null if there is none.
  const Index* find_index(const Index_Definition& definition) const;

  // The index that the journal declares with this name; null if there is none.
  const Index* find_declared_index(std::string_view name) const;
  bool is_declared(const Index& index) const;
  // Returns why this index cannot be declared, whatever the values are: its name is in use or not
  // an identifier, its table or a field does not exist, or there are too many. Empty if it can.
  std::string declaration_problem(const Index_Definition& definition) const;

  // ---- observers

  // Sets the observer; null removes the observer. Without an observer, changes cost nothing extra.
  // The observer must outlive the database or be removed. Call this again when the set of observed
  // tables changes.
  void set_observer(Change_Observer* observer);
  Change_Observer* observer() const { return observer_; }
  // Notifies the observer of an entry that is about to be applied. Requires an observer.
  template <class Entry>
  void note(const Entry& entry) {
    if constexpr (is_schema_entry<Entry>)
      observer_->note_schema_change();
    else if constexpr (requires { entry.table; })
      if (table(entry.table).is_observed()) note_records(entry);
  }

  // ---- limits

  // Returns the record limit of a journal of `size` bytes: the maximum number of rows without an
  // entry of their own, in all tables, including deleted rows. Such rows are skipped ids and the
  // records of vectors. The limit is one row for each byte, but at least 16,777,216.
  static index_t free_rows_of_journal(Offset size);
  // Call this before a journal of this size is replayed. Insertions beyond its record limit throw
  // Data_Error, and indexes are not updated, until remove_limits().
  void limit_to_journal_of(Offset size);
  // Call this after replaying. From then on, the length of a vector is limited only by memory,
  // because its values will be written; the limit for skipped ids remains. Brings all indexes up to
  // date. Throws Unique_Violation for the first key that a unique index would hold twice. The
  // tables and the other indexes are complete then. Later, Index::insert_waiting tries again to
  // insert the missing records.
  void remove_limits();

  // From now on, keeps dropped tables and fields in memory until the database is destroyed, so that
  // their addresses stay valid.
  void keep_dropped() { keeps_dropped_ = true; }
  // Throws Data_Error if the journal, ending at `position`, could not be read again, because the
  // tables have more rows without entries of their own than its record limit allows, or if the
  // declared indexes would have too many records for its size.
  void require_readable_from(Offset position) const;
  // Call this when the journal has grown to `position`. The record limit grows with the journal,
  // and never shrinks.
  void note_journal_size(Offset position) {
    journal_size_ = std::max(journal_size_, position);
    free_rows_ = std::max(free_rows_, free_rows_of_journal(position));
  }
  // Returns how many more ids an insertion may skip, and how many records a vector may have.
  Table::Budget budget() const {
    const index_t left = std::max<index_t>(free_rows_ - rows_beyond_limit_, 0);
    return {left, may_write_ ? no_limit : left};
  }
  // Counts the ids that are skipped when record `id` is inserted in a table of size `size`.
  void note_insert(index_t id, index_t size) {
    if (id > size) [[unlikely]]
      rows_beyond_limit_ += id - size;
  }

  // ---- snapshots (table/load.h)

  // Returns an empty database with the same index definitions, Deleted_Values and keep_dropped().
  Database make_new() const;
  // True if neither a schema entry nor a time stamp was replayed yet.
  bool is_new() const { return schema_entries_.empty() && !timestamps_; }
  void save(Snapshot_Writer& out) const;
  // Reads the definition of an index, which precedes the items of the index.
  static Index_Definition read_definition(Section_Reader& in);
  // Throws Corruption_Error or Io_Error.
  static Deleted_Values read_deleted_values(const Snapshot_File& snapshot);
  // True if the snapshot has the same Deleted_Values as this database, or no id was reused. Throws
  // Corruption_Error or Io_Error.
  bool suits(const Snapshot_File& snapshot) const;
  // Takes the content from a snapshot. The database must be new, or already have the content of the
  // snapshot. In the second case, tables and columns keep their addresses, but their values are
  // then mapped from the snapshot. Throws Io_Error, and Corruption_Error, with a message that names
  // the mismatch; a new database is unusable then.
  void restore(std::shared_ptr<const Snapshot_File> snapshot);
  // The snapshot from which values came; null if all values came from entries.
  const std::shared_ptr<Snapshot_Source>& snapshot_source() const { return snapshot_source_; }
  // Frees memory: moves tables and indexes to an unnamed file in $TMPDIR or /var/tmp. From then on,
  // forked child processes share these tables and indexes. Invalidates the same addresses as
  // restore(). Throws Io_Error or std::bad_alloc; the content is unchanged then.
  void spill();
  // Throws if values may be wrong: Io_Error if the file that tables are mapped from was truncated,
  // and Corruption_Error if the verification of a snapshot in the background (table/load.h) found
  // damage.
  void require_intact() const {
    if (Zeroed_Memory::cut_count() != known_cuts_) [[unlikely]]
      look_for_damage();
  }
  // The snapshots that were found next to the journal.
  const Snapshot_Report& snapshot_report() const { return snapshot_report_; }
  void set_snapshot_report(Snapshot_Report report) { snapshot_report_ = std::move(report); }

  // The first and the last time stamp so far, in seconds since 1970; nullopt if there is none.
  struct Timestamps {
    std::int64_t first;
    std::int64_t last;
  };
  const std::optional<Timestamps>& timestamps() const { return timestamps_; }

  // ---- entries

  // Calls prepare(entry), then apply(entry), and throws their exceptions. If prepare(entry) throws,
  // nothing has changed.
  template <class Entry>
  void operator()(const Entry& entry) {
    prepare(entry);
    apply(entry);
  }
  // The same, with a single look-up of the column.
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    Table& t = table(e.table);
    Column<T>& column = t.template column<T>(e.field);
    prepare_update(t, column, e);
    t.set(column, e.field, e.record, e.value);
  }

  // Called by decode_entries. Replays insertions at the end of dense tables, and updates of columns
  // that belong to no index. Stops at `end`, or before the first entry that is invalid or of
  // another kind. A derived class that has its own operator() for Insert or Update must also hide
  // this function.
  void replay_batch(Decoder_Input& in, Context& context, Offset end);

  // Each of these functions throws Data_Error if a table, field or record does not exist; if a
  // field has another type; if a name is in use or not an identifier (schema/type.h); for the
  // 65536th table or field; if an index needs a table or field that is to be dropped; if an id is
  // in use, negative, or beyond the record limit; if a string has more than 4294967295 bytes; or if
  // a unique index already has the key (Unique_Violation).
  void prepare(const Create_Table& e) const;
  void prepare(const Drop_Table& e) const;
  void prepare(const Rename_Table& e) const;
  void prepare(const Add_Field& e);
  void prepare(const Drop_Field& e) const;
  void prepare(const Rename_Field& e) const;
  void prepare(const Insert& e) {
    Table& t = table(e.table);
    t.prepare_insert(e.record, budget());
    if (t.is_followed()) [[unlikely]]
      t.prepare_enter(e.record, 1);
  }
  void prepare(const Insert_Vector& e) {
    Table& t = table(e.table);
    t.prepare_insert_vector(e.record, e.size, budget());
    t.prepare_enter(e.record, e.size);
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

  // A new table or field gets the next id; the ids of dropped tables and fields are not reused.
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
    if (t.is_followed()) [[unlikely]]
      t.enter_indexes(e.record, 1);
  }
  void apply(const Insert_Vector& e);
  void apply(const Delete& e) { apply(Delete_Vector{e.table, e.record, 1}); }
  void apply(const Delete_Vector& e);
  template <Field_Value T>
  void apply(const Update<T>& e) {
    Table& t = table(e.table);
    t.set(t.template column<T>(e.field), e.field, e.record, e.value);
  }
  // Reads all values of e.values. If the decoder throws Corruption_Error before the last value, the
  // values read so far stay. Throws Unique_Violation if a unique index would hold a key twice; the
  // column has its old values then.
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
  void apply(const Comment& e) {
    if (e.text.starts_with(declaration_mark)) [[unlikely]]
      declare(e.text);
  }
  void apply(const Timestamp& e) {
    if (!timestamps_) timestamps_ = {e.seconds, e.seconds};
    timestamps_->last = e.seconds;
  }
  void apply(const Valid_Data&) {}
  void apply(const Blob_Data&) {}

  // Undoes the last insertion in this table (kernel/table/undo_log.h).
  void undo_insert(Table& table, Record_Id record, const Record_Ids::Before& before) {
    if (record.value() > before.size) rows_beyond_limit_ -= record.value() - before.size;
    table.undo_insert(record, before);
  }

  // Like find_table, but throws Data_Error if there is no such table.
  const Table& table(Table_Id id) const {
    const Table* const found = find_table(id);
    if (found == nullptr) [[unlikely]]
      throw_invalid_table(id);
    return *found;
  }
  Table& table(Table_Id id) {
    return const_cast<Table&>(static_cast<const Database*>(this)->table(id));
  }

  // Throws Data_Error unless position and size are in 0 … 2^61 - 1. Does not check that the file
  // has these bytes.
  static void require_valid(Blob blob) {
    constexpr auto limit = static_cast<std::int64_t>(max_compact);
    if (blob.get_position() < 0 || blob.get_position() > limit || blob.get_size() < 0 ||
        blob.get_size() > limit) [[unlikely]]
      throw Data_Error("a blob with a negative or impossible position or size");
  }

  // Throws Data_Error if a text is too long for a column (more than 4294967295 bytes).
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
  void declare(std::string_view comment);
  void note_referrer(Table_Id table, Field_Id field, const Column_Base& column);
  void forget_referrer(Table_Id table, Field_Id field, const Column_Base& column);
  bool declare_type(std::string_view comment);
  bool declare_index(std::string_view comment);
  void drop_index(const Index& index);
  void make_indexes();
  void restore_indexes(const Snapshot_File& snapshot);
  index_t indexed_rows() const;
  void require_indexable(Offset size) const;
  void look_for_damage() const;
  template <class Entry>
  void remember(const Entry& entry);
  [[noreturn]] static void throw_invalid_table(Table_Id id);
  [[noreturn]] static void throw_invalid_update();

  Deleted_Values deleted_values_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::map<std::string, Table_Id, std::less<>> table_ids_;
  std::string schema_entries_;
  std::uint64_t declaration_count_ = 0;
  std::map<Table_Id, Referrers> referrers_;
  std::vector<Index_Definition> added_;
  std::vector<Index_Definition> indexes_to_make_;
  std::vector<Index*> indexes_;
  std::map<std::string, Index*, std::less<>> declared_;
  Change_Observer* observer_ = nullptr;
  bool keeps_dropped_ = false;
  std::vector<std::unique_ptr<Table>> dropped_tables_;
  std::vector<std::unique_ptr<Column_Base>> dropped_columns_;
  index_t free_rows_ = free_rows_of_journal(0);
  index_t rows_beyond_limit_ = 0;
  Offset journal_size_ = 0;
  bool may_write_ = false;
  std::optional<Timestamps> timestamps_;
  Snapshot_Report snapshot_report_;
  std::shared_ptr<Snapshot_Source> snapshot_source_;
  std::shared_ptr<File> spill_file_;
  std::uint64_t known_cuts_ = Zeroed_Memory::cut_count();
};

}  // namespace joedb::inline v1

#endif
