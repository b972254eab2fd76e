#ifndef JOEDB_SRC_KERNEL_TABLE_UNDO_LOG_H
#define JOEDB_SRC_KERNEL_TABLE_UNDO_LOG_H

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "joedb/table/writable_database.h"

namespace joedb::inline v1 {

// A log of changes of records, which can undo all changes since a savepoint in time proportional to
// their number. By contrast, Writable_Database::rollback() replays the journal from its start.
// Addresses of tables and columns stay valid.
//
// Between the first change and clear(), records must be changed only through this object, and the
// schema must not be changed. The functions that change records throw the exceptions of
// Writable_Database::write; nothing has changed then, unless is_broken().
//
// Consecutive rows that are appended to a table take no memory in this log; every other change
// takes about 100 bytes, and a copy of the old texts.
//
// Not thread-safe.
class Undo_Log {
 public:
  // The database must outlive this object.
  explicit Undo_Log(Writable_Database& database) : database_(database) {}

  // Inserts a record, then calls set_values(). set_values() may call set_new_value for fields of
  // the record, but no other function of this object. If it throws, the insertion is undone.
  template <class F>
  void insert(Table& table, Record_Id record, F set_values) {
    const Replay_Place start = database_.journal_.savepoint();
    Step step = insertion(table, record);
    reserve_one();
    database_.write(Insert{table.id(), record});
    try {
      set_values();
    } catch (...) {
      try {
        undo_all([&] { undo(step); }, start);
      } catch (const std::exception&) {  // is_broken() now; the first exception is rethrown
      }
      throw;
    }
    remember_insertion(std::move(step));
  }
  template <Field_Value T>
  void set_new_value(Table& table, Field_Id field, Record_Id record, T value) {
    database_.write(Update<T>{table.id(), record, field, value});
  }

  template <Field_Value T>
  void update(Table& table, Field_Id field, Record_Id record, T value) {
    table.require_used(record);
    const T old = table.column<T>(field).get(record.value());
    change({&table, record.value(), field, table.index_bits(record), {}, old_value(old)}, [&] {
      database_.write(Update<T>{table.id(), record, field, value});
    });
  }

  // Also does what the rules of references to the record say.
  void erase(Table& table, Record_Id record) { erase(table, {&record, 1}); }
  // The same for several records together, as Writable_Database::erase. look_for_interrupt() may
  // end it; nothing has changed then.
  void erase(Table& table, std::span<const Record_Id> records);
  // Like the first one, but references stay. For code that inserts the record again.
  void erase_alone(Table& table, Record_Id record);

  // A point to which rollback_to() can return. Valid until clear(), or until a rollback to an
  // earlier savepoint.
  struct Savepoint {
    Replay_Place journal;
    std::size_t steps = 0;
  };
  Savepoint savepoint();
  // Undoes the changes since the savepoint, in the tables and in the journal. If this throws
  // Io_Error, Write_Disabled or std::bad_alloc, is_broken() is true.
  void rollback_to(const Savepoint& savepoint);
  // Call this after a checkpoint: the changes before the checkpoint can no longer be undone.
  void clear();

  // True if tables and journal differ because a change could not be undone. Then the database can
  // only be closed.
  bool is_broken() const { return is_broken_; }
  // True if the tables could not be restored. If this is false but is_broken() is true, only the
  // journal could not be rolled back: the tables have the state of the savepoint, and can be rolled
  // back to an earlier savepoint.
  bool are_tables_invalid() const { return are_tables_invalid_; }

 private:
  using Old_Value = std::variant<std::string, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                 bool, float, double, Record_Id, Blob>;
  struct Appended {  // consecutive rows at the end of a table
    index_t count;
  };
  struct Inserted {
    std::vector<Old_Value> values;  // values of the former record with this id, for each live field
  };
  struct Erased {};
  struct Step {
    Table* table;
    index_t record;            // the first record
    Field_Id field;            // only for an update
    std::uint64_t index_bits;  // Table::index_bits, for an update or erasure
    Record_Ids::Before before;
    std::variant<Old_Value, Appended, Inserted, Erased> change;
  };

  static Old_Value old_value(std::string_view text) { return std::string(text); }
  template <class T>
  static Old_Value old_value(T value) {
    return value;
  }

  // Reserves memory for another step.
  void reserve_one() {
    if (steps_.size() == steps_.capacity()) steps_.reserve(2 * steps_.size() + 16);
  }
  Step insertion(Table& table, Record_Id record) const;
  void remember_insertion(Step step);
  template <class F>
  void change(Step step, F write) {
    steps_.push_back(std::move(step));
    try {
      write();
    } catch (...) {
      steps_.pop_back();
      throw;
    }
  }
  void undo(const Step& step);
  template <class F>
  void undo_all(F undo_steps, const Replay_Place& start);

  Writable_Database& database_;
  std::vector<Step> steps_;
  std::size_t barrier_ = 0;  // steps before this step belong to a savepoint
  bool is_broken_ = false;
  bool are_tables_invalid_ = false;
};

template <class F>
void Undo_Log::undo_all(F undo_steps, const Replay_Place& start) {
  // Set first, so that they remain true if an exception is thrown.
  is_broken_ = are_tables_invalid_ = true;
  undo_steps();
  are_tables_invalid_ = false;
  database_.journal_.rollback_to(start);
  is_broken_ = false;
}

}  // namespace joedb::inline v1

#endif
