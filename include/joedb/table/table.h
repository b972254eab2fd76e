#ifndef JOEDB_TABLE_TABLE_H
#define JOEDB_TABLE_TABLE_H

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/table/column.h"
#include "joedb/table/index.h"

namespace joedb::inline v1 {

// A field of a table. A dropped field keeps its place and its last name.
struct Field {
  std::string name;
  std::unique_ptr<Column_Base> column;  // null if the field was dropped
};

// The initial values of a new record that reuses an id. reset: default values, as for every other
// new record. keep: the values of the deleted record, as in the tools of joedb 10; only for tools
// with the option --classic.
enum class Deleted_Values { reset, keep };

// A table: its fields, its record ids, and a column for each field.
//
// A change is made in two steps. The first step, prepare_…, checks that the change is possible, and
// allocates the memory that it needs. It throws Data_Error if the change is not possible, and
// Exception or std::bad_alloc if memory is exhausted; no visible state has changed then. The second
// step makes the change, and cannot fail. Between the two steps, the entry is logged, and no other
// change may be made.
//
// Programs must only read tables, because functions that change a table neither check their
// arguments nor log: use Writable_Database or generated code to change tables.
//
// Not thread-safe. Several threads may call const functions while none changes the table.
class Table {
 public:
  Table(Table_Id id, std::string name, Deleted_Values deleted_values)
      : id_(id), name_(std::move(name)), deleted_values_(deleted_values) {}

  Table_Id id() const { return id_; }
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // The fields in the order of their ids: field 1 is at index 0. Dropped fields keep their place.
  const std::vector<Field>& fields() const { return fields_; }
  // Returns null if the field does not exist or was dropped.
  const Field* find_field(Field_Id field) const;
  // Returns the null id if there is no such field. Takes time logarithmic in the number of fields.
  Field_Id find_field(std::string_view name) const;

  // These functions require that Database::prepare has checked names and fields. prepare_add_field
  // makes a column with room for all rows, and throws Exception if memory is exhausted. add_field
  // adds this column as the last field, and returns the id of the field.
  void prepare_add_field(Type type);
  Field_Id add_field(std::string name);
  // Returns the column of the dropped field. The caller must keep it while its address is in use.
  std::unique_ptr<Column_Base> drop_field(Field_Id field);
  void rename_field(Field_Id field, std::string name);

  // The ids of the records in use, and their order.
  const Record_Ids& records() const { return records_; }
  bool is_used(Record_Id record) const { return records_.is_used(record.value()); }

  // Returns the column of a field of this type. Throws Data_Error if the field does not exist, or
  // if it has another type. The address is valid until the field is dropped.
  Column_Base& find_column(Field_Id field, Type_Code type);
  // The same, for the field type whose values have C++ type T (code_of in schema/type.h).
  template <Field_Value T>
  Column<T>& column(Field_Id field) {
    const std::size_t index = field.value() - std::size_t{1};
    if (index < fields_.size()) [[likely]] {
      Column_Base* const column = fields_[index].column.get();
      if (column != nullptr && column->type().code == code_of<T>) [[likely]]
        return static_cast<Column<T>&>(*column);
    }
    throw_bad_field(field, code_of<T>);
  }
  // The same, but returns null instead of throwing. Also returns null if the field is part of an
  // index.
  Column_Base* find_plain_column(Field_Id field, Type_Code type) const {
    const std::size_t index = field.value() - std::size_t{1};
    if (index >= field_count_) return nullptr;
    Column_Base* const column = fields_[index].column.get();
    const bool is_plain = column != nullptr && column->type().code == type && !column->is_indexed();
    return is_plain ? column : nullptr;
  }
  template <Field_Value T>
  const Column<T>& column(Field_Id field) const {
    return const_cast<Table*>(this)->column<T>(field);
  }

  // ---- indexes

  // The table need not have all fields of the index yet. Existing records are inserted in the index
  // when they are updated.
  Index& add_index(Index_Definition definition);
  // Ends an index. Its address stays valid, and it is empty.
  void drop_index(const Index& index);
  const std::vector<std::unique_ptr<Index>>& indexes() const { return indexes_; }
  // Returns an index of which the field is a part; null if there is none.
  const Index* find_index(Field_Id field) const;

  // Allocates the memory that the indexes need when a record gets these values. Throws
  // Unique_Violation if a unique index would hold a key twice, and Exception while there is a
  // Growth_Lock.
  void prepare_keys(Record_Id record, std::span<const New_Value> values);

  // Sets a value in `column`, the column of `field`, and moves the record in the indexes. Requires
  // that the record is in use, and that column.prepare and prepare_keys were called.
  template <Field_Value T>
  void set(Column<T>& column, Field_Id field, Record_Id record, T value) {
    if (column.is_indexed()) [[unlikely]]
      return set_indexed(column, field, record, value);
    column.set(record.value(), value);
  }
  // Inserts the record, which has a new value in `field`, in the indexes that have this field.
  // Requires that the record is in none of these indexes.
  void insert_into_indexes(Record_Id record, Field_Id field) {
    for (const auto& index : indexes_)
      if (index->has_field(field)) index->insert(record, field);
  }

  // For insertions without values: allocates the memory that enter_indexes() needs, and then
  // inserts the records, which are in use, in the indexes that have every record. Throws
  // Unique_Violation, if a reused id has the values of the deleted record.
  void prepare_enter(Record_Id first, index_t size) {
    for (const auto& index : indexes_) index->prepare_enter(first, size);
  }
  void enter_indexes(Record_Id first, index_t size) noexcept {
    for (const auto& index : indexes_) index->enter(first, size);
  }
  // True if a reused id begins with default values.
  bool resets_values() const { return deleted_values_ == Deleted_Values::reset; }

  // ---- observers (table/database.h)

  bool is_observed() const { return is_observed_; }
  void set_observed(bool value);
  // True if the table has indexes or is observed: then it is not enough to set the values of a new
  // row.
  bool is_followed() const { return is_followed_; }

  // ---- rows

  // The number of ids that one insertion may skip, and of records that one vector may have. These
  // limits on rows without an entry of their own prevent a few bytes of a hostile journal from
  // exhausting memory.
  struct Budget {
    index_t skip;
    index_t vector;
  };

  // Throws Data_Error if the id is negative, in use, or skips more than budget.skip ids; Exception
  // if memory is exhausted, or if the table must grow while there is a Growth_Lock.
  void prepare_insert(Record_Id record, const Budget& budget) {
    const index_t id = record.value();
    if (records_.is_dense() && id == records_.size()) [[likely]] {
      if (static_cast<std::size_t>(id) >= capacity_) [[unlikely]]
        reserve(id + 1, true);
    } else {
      prepare_unusual_insert(id, budget);
    }
  }
  // True if the record is the next row of a dense table, and needs no memory. Then prepare_insert
  // would do nothing.
  bool has_room_for(Record_Id record) const {
    const index_t id = record.value();
    return records_.is_dense() && id == records_.size() && static_cast<std::size_t>(id) < capacity_;
  }
  // `has_values` says that all values of the record are about to be set. Otherwise, a record with a
  // reused id gets the values that Deleted_Values determines; other records have default values.
  void insert(Record_Id record, bool has_values = false) {
    if (record.value() < records_.size() && !has_values) [[unlikely]]
      start_again(record, 1);
    records_.insert(record.value());
  }

  // The same for records [record, record + size). Also throws Data_Error if one of these records is
  // in use, or if `size` is negative or greater than budget.vector.
  void prepare_insert_vector(Record_Id record, index_t size, const Budget& budget);
  void insert_vector(Record_Id record, index_t size) {
    if (record.value() < records_.size()) start_again(record, size);
    records_.insert_vector(record.value(), size);
  }

  // Throws Data_Error if the record is not in use.
  void require_used(Record_Id record) const {
    if (!is_used(record)) [[unlikely]]
      throw_not_used(record);
  }
  // Throws std::bad_alloc, and Data_Error if the record is not in use.
  void prepare_delete(Record_Id record) {
    require_used(record);
    records_.reserve_lists(records_.size());
  }
  // Throws Data_Error unless all of [record, record + size) are in use.
  void prepare_delete_vector(Record_Id record, index_t size);
  // Deletes the last record first, so that new rows reuse the ids in ascending order. The values of
  // a record stay until its id is reused.
  void erase_vector(Record_Id record, index_t size);

  // ---- undoing (kernel/table/undo_log.h): the reverse order of the changes

  // Returns a bit for each index, which is set if the index has the record. All indexes from number
  // 63 on share the highest bit.
  std::uint64_t index_bits(Record_Id record) const;
  // Inserts the record again in the indexes whose bits are set in `index_bits`. Call this after a
  // value of the record was restored. Throws std::bad_alloc.
  void undo_keys(Record_Id record, std::uint64_t index_bits);
  // Erases the record from the indexes. Call this before a value of the record is restored.
  void erase_keys(Record_Id record) {
    for (const auto& index : indexes_) index->forget(record);
  }
  // Does not restore values.
  void undo_insert(Record_Id record, const Record_Ids::Before& before) {
    erase_keys(record);
    records_.undo_insert(record.value(), before);
  }
  // Throws std::bad_alloc.
  void undo_erase(Record_Id record, const Record_Ids::Before& before, std::uint64_t index_bits) {
    records_.undo_erase(record.value(), before);
    undo_keys(record, index_bits);
  }

  // ----

  // Throws Data_Error unless 0 <= record and record + size <= records().size(). Records in the
  // range need not be in use.
  void prepare_update_vector(Record_Id record, index_t size) const;

  // Makes room for the next row. The insertion of that row then allocates no memory, so its values
  // may be texts of this table. Columns move only in this function and in the functions prepare_….
  // Does nothing if memory is exhausted.
  void make_room_for_one() noexcept {
    if (static_cast<std::size_t>(records_.size()) >= capacity_) [[unlikely]]
      try_to_reserve(records_.size() + 1);
  }

  // Prevents columns from moving. While this object exists, insertions that need memory throw
  // Exception, and so do updates of a field that is part of an index. It must not outlive the
  // table.
  class Growth_Lock {
   public:
    explicit Growth_Lock(Table& table) : table_(table) { ++table_.growth_locks_; }
    ~Growth_Lock() { --table_.growth_locks_; }
    Growth_Lock(const Growth_Lock&) = delete;
    Growth_Lock& operator=(const Growth_Lock&) = delete;

   private:
    Table& table_;
  };

  // Throws Exception while there is a Growth_Lock.
  void require_no_lock() const;

  // ---- snapshots (snapshot/sections.h): records and columns, without indexes

  void save(Section_Writer& out) const;
  // Requires that the table is new and has the fields of the snapshot, or that the table already
  // has the content of the snapshot. In the second case, the content is unchanged if this throws
  // Corruption_Error, Io_Error or std::bad_alloc.
  void restore(Section_Reader& in);
  // Moves records and columns to a temporary file. Throws Io_Error or std::bad_alloc; the content
  // is unchanged then.
  void spill(File& file);
  // True if the file of the snapshot was truncated under its mapping.
  bool was_cut() const;
  // Advises the system that all records are about to be read, in order. Only the first call after
  // restore() has an effect. Any thread may call it.
  void expect_scan() const noexcept {
    if (is_read_randomly_.load(std::memory_order_relaxed)) [[unlikely]]
      begin_scan();
  }
  // True if an id was reused: only then does Deleted_Values make a difference.
  bool has_reused_ids() const { return has_reused_ids_; }

 private:
  template <Field_Value T>
  [[gnu::noinline]] void set_indexed(Column<T>& column, Field_Id field, Record_Id record, T value) {
    for (const auto& index : indexes_)
      if (index->has_field(field)) index->erase(record);
    column.set(record.value(), value);
    insert_into_indexes(record, field);
  }

  // Unless deleted values are kept (Deleted_Values), resets the values of ids that are about to be
  // reused.
  void start_again(Record_Id record, index_t size);
  void begin_scan() const noexcept;
  void reserve(index_t rows, bool will_be_filled);
  void try_to_reserve(index_t rows) noexcept;
  void prepare_unusual_insert(index_t id, const Budget& budget);
  [[noreturn]] void throw_bad_field(Field_Id field, Type_Code type) const;
  [[noreturn]] void throw_not_used(Record_Id record) const;

  Table_Id id_;
  std::string name_;
  Deleted_Values deleted_values_;
  std::vector<Field> fields_;
  // A copy of fields_.size(), whose computation takes a division: too slow for each replayed value.
  std::size_t field_count_ = 0;
  std::map<std::string, Field_Id, std::less<>> field_ids_;
  std::unique_ptr<Column_Base> next_column_;
  std::vector<std::unique_ptr<Index>> indexes_;
  std::vector<std::unique_ptr<Index>> dropped_indexes_;
  Record_Ids records_;
  std::size_t capacity_ = 0;  // number of rows that every column has room for
  int growth_locks_ = 0;
  bool is_observed_ = false;
  bool is_followed_ = false;
  bool has_reused_ids_ = false;
  mutable std::atomic<bool> is_read_randomly_ = false;  // from restore() to expect_scan()
};

// Updates one column in place, for records [first, first + size), some of which may not be in use.
// Construct this object, write the values to the column, and call finish(). Until finish() returns,
// the records are in no index that has the field. If finish() is not called, the destructor inserts
// the records in the indexes, with the current values of the column.
template <Field_Value T>
class Column_Update {
 public:
  // The table and the column must outlive this object. Throws the exceptions of
  // Table::prepare_update_vector, std::bad_alloc, and Exception if there is a Growth_Lock and the
  // field is part of an index.
  Column_Update(Table& table, Column<T>& column, Field_Id field, Record_Id first, index_t size)
      : table_(table), column_(column), field_(field), first_(first.value()), size_(size) {
    table.prepare_update_vector(first, size);
    if (!column.is_indexed()) return;
    table.require_no_lock();
    for_each_index([&](Index& index) {
      if (index.definition().is_unique && !index.is_deferred() && old_values_.empty())
        for (index_t i = 0; i < size_; ++i) old_values_.emplace_back(column_.get(first_ + i));
      if (size_ > 0) index.reserve(first_ + size_);
    });
    for_each_record(&Index::erase);
  }
  ~Column_Update() {
    if (is_in_progress_ && column_.is_indexed()) for_each_record(&Index::insert_again);
  }
  Column_Update(const Column_Update&) = delete;
  Column_Update& operator=(const Column_Update&) = delete;

  // Inserts the records in the indexes. Throws Unique_Violation if a unique index would hold a key
  // twice; the column then has its old values again, and is_undone() is true.
  void finish() {
    if (column_.is_indexed()) {
      try {
        for_each_index([&](Index& index) { index.require_unique_vector(first_, size_, field_); });
      } catch (...) {
        for (index_t i = 0; i < size_; ++i)
          column_.set(first_ + i, T(old_values_[static_cast<std::size_t>(i)]));
        is_undone_ = true;
        throw;
      }
      for_each_record(&Index::insert, field_);
    }
    is_in_progress_ = false;
  }
  bool is_undone() const { return is_undone_; }

 private:
  using Old_Value = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>;

  template <class F>
  void for_each_index(F f) {
    for (const auto& index : table_.indexes())
      if (index->has_field(field_)) f(*index);
  }
  template <class... Argument>
  void for_each_record(void (Index::*f)(Record_Id, Argument...), Argument... argument) {
    for_each_index([&](Index& index) {
      for (index_t id = first_; id < first_ + size_; ++id)
        if (table_.records().is_used(id)) (index.*f)(Record_Id(id), argument...);
    });
  }

  Table& table_;
  Column<T>& column_;
  const Field_Id field_;
  const index_t first_;
  const index_t size_;
  std::deque<Old_Value> old_values_;
  bool is_in_progress_ = true;
  bool is_undone_ = false;
};

}  // namespace joedb::inline v1

#endif
