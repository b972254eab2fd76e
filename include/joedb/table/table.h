#ifndef JOEDB_TABLE_TABLE_H
#define JOEDB_TABLE_TABLE_H

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
#include "joedb/table/record_ids.h"

namespace joedb::inline v1 {

struct Field {
  std::string name;
  std::unique_ptr<Column_Base> column;  // none once the field is dropped
};

// What becomes of the values of a deleted record. Compiled programs see default values when its id
// is used again; the interpreter, like that of joedb 10, the old ones.
enum class Deleted_Values { reset, keep };

// One table: its fields, which rows exist, and a column for each field.
//
// A change has two steps. prepare_… checks that it is possible and takes the memory it needs, and
// throws without having changed anything that can be seen; then the change itself cannot fail. What
// stands between them is the journal.
class Table {
 public:
  Table(Table_Id id, std::string name, Deleted_Values deleted_values)
      : id_(id), name_(std::move(name)), deleted_values_(deleted_values) {}

  Table_Id id() const { return id_; }
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // Fields by id: field 1 is the first. Dropped ones keep their place.
  const std::vector<Field>& fields() const { return fields_; }
  // Null if there is no such field.
  const Field* find_field(Field_Id field) const;
  Field_Id find_field(std::string_view name) const;

  // Names and fields have been checked (Database::prepare). The column that the first function
  // makes, with room for all rows, is the one that the second adds.
  void prepare_add_field(Type type);
  Field_Id add_field(std::string name);
  // Returns its column.
  std::unique_ptr<Column_Base> drop_field(Field_Id field);
  void rename_field(Field_Id field, std::string name);

  const Record_Ids& records() const { return records_; }
  bool is_used(Record_Id record) const { return records_.is_used(record.value()); }

  // The column of a field of this type; throws Data_Error for any other field.
  Column_Base& find_column(Field_Id field, Type_Code type);
  // The column of a field whose values are T; throws Data_Error for any other field.
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
  // Null for any other field, and for part of the key of an index.
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

  // Records that are there already are inserted when they are updated.
  Index& add_index(Index_Definition definition);
  const std::vector<std::unique_ptr<Index>>& indexes() const { return indexes_; }
  // The index that a field is part of, or null.
  const Index* find_index(Field_Id field) const;

  // For the record that is about to get these values: throws Data_Error if a unique index would
  // hold a key twice, and takes the memory that its indexes need.
  void prepare_keys(Record_Id record, std::span<const New_Value> values);

  // A new value in a column, and in all indexes.
  template <Field_Value T>
  void set(Column<T>& column, Field_Id field, Record_Id record, T value) {
    if (column.is_indexed()) [[unlikely]]
      return set_indexed(column, field, record, value);
    column.set(record.value(), value);
  }
  // After a new value in a record that is in none of them.
  void insert_into_indexes(Record_Id record, Field_Id field) {
    for (const auto& index : indexes_)
      if (index->has_field(field)) index->insert(record, field);
  }

  // ---- rows

  // How many rows may be made that no byte of the journal pays for: skipped ids, and the records of
  // vectors. A few bytes must not take all memory.
  struct Budget {
    index_t skip;
    index_t vector;
  };

  void prepare_insert(Record_Id record, const Budget& budget) {
    const index_t id = record.value();
    if (records_.is_dense() && id == records_.size()) [[likely]] {
      if (static_cast<std::size_t>(id) >= capacity_) [[unlikely]]
        reserve(id + 1, true);
    } else {
      prepare_unusual_insert(id, budget);
    }
  }
  // Whether this is the next row of a dense table, and needs no memory.
  bool has_room_for(Record_Id record) const {
    const index_t id = record.value();
    return records_.is_dense() && id == records_.size() && static_cast<std::size_t>(id) < capacity_;
  }
  // Unless all values are about to be set: back to default values.
  void insert(Record_Id record, bool has_values = false) {
    if (record.value() < records_.size() && !has_values) [[unlikely]]
      start_again(record, 1);
    records_.insert(record.value());
  }

  void prepare_insert_vector(Record_Id record, index_t size, const Budget& budget);
  void insert_vector(Record_Id record, index_t size) {
    if (record.value() < records_.size()) start_again(record, size);
    records_.insert_vector(record.value(), size);
  }

  void require_used(Record_Id record) const {
    if (!is_used(record)) [[unlikely]]
      throw_not_used(record);
  }
  void prepare_delete(Record_Id record) {
    require_used(record);
    records_.reserve_lists(records_.size());
  }
  void prepare_delete_vector(Record_Id record, index_t size);
  // From the last to the first.
  void erase_vector(Record_Id record, index_t size);

  // Throws Data_Error unless [record, record + size) is inside the table.
  void prepare_update_vector(Record_Id record, index_t size) const;

  // So that the next row needs no memory, and texts of this table may be passed as values for it.
  // Columns move only here and in prepare_…. Without memory nothing happens.
  void make_room_for_one() noexcept {
    if (static_cast<std::size_t>(records_.size()) >= capacity_) [[unlikely]]
      try_to_reserve(records_.size() + 1);
  }

  // While it lives, columns do not move: insertions that need memory throw. So does whatever would
  // insert records in an index.
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

 private:
  template <Field_Value T>
  [[gnu::noinline]] void set_indexed(Column<T>& column, Field_Id field, Record_Id record, T value) {
    for (const auto& index : indexes_)
      if (index->has_field(field)) index->erase(record);
    column.set(record.value(), value);
    insert_into_indexes(record, field);
  }

  // These ids are about to be used again.
  void start_again(Record_Id record, index_t size);
  void reserve(index_t rows, bool will_be_filled);
  void try_to_reserve(index_t rows) noexcept;
  void prepare_unusual_insert(index_t id, const Budget& budget);
  [[noreturn]] void throw_bad_field(Field_Id field, Type_Code type) const;
  [[noreturn]] void throw_not_used(Record_Id record) const;

  Table_Id id_;
  std::string name_;
  Deleted_Values deleted_values_;
  std::vector<Field> fields_;
  std::size_t field_count_ = 0;  // fields_.size(), which is a division, for each replayed value
  std::map<std::string, Field_Id, std::less<>> field_ids_;
  std::unique_ptr<Column_Base> next_column_;
  std::vector<std::unique_ptr<Index>> indexes_;
  Record_Ids records_;
  std::size_t capacity_ = 0;  // rows that every column has room for
  int growth_locks_ = 0;
};

// An update of one column for records [first, first + size), some of which may not be in use, in
// place. While it lives, the records are in no index that has the field.
template <Field_Value T>
class Column_Update {
 public:
  // Throws what Table::prepare_update_vector throws.
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

  // The values are there. Throws Data_Error if a unique index would hold a key twice; then
  // is_undone(): the old values are there again.
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
