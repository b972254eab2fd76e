#ifndef JOEDB_SRC_HISTORY_CHANGE_COLLECTOR_H
#define JOEDB_SRC_HISTORY_CHANGE_COLLECTOR_H

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "history/change_parts.h"
#include "history/range_map.h"
#include "joedb/history/transaction.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

// What two ways of looking at changes have in common: of each record that is touched for the first
// time it notes whether it was in use, and the values it had; new values are read from the database
// at the end.
//
// It is a handler that applies entries to the database: what an entry destroys is copied before.
class Change_Collector {
 public:
  // `kept_values`: of so many values copies are made for drops of tables and fields.
  // `is_ordered`: changes are wanted in the order in which they were made.
  Change_Collector(Database& database, index_t kept_values, bool is_ordered)
      : database_(database), kept_values_(kept_values), is_ordered_(is_ordered) {}

  template <class Entry>
  void operator()(const Entry& entry) {
    database_.prepare(entry);  // checks it
    note(entry);
    database_.apply(entry);
    if constexpr (is_schema_entry<Entry>) note_applied(entry);
  }

  // The same for records [first, first + size), which are about to be changed by somebody else.
  void note_insert(Table_Id id, index_t first, index_t size);
  void note_delete(Table_Id id, index_t first, index_t size);
  void note_update(Table_Id id, Field_Id field, index_t first, index_t size);

  // Forgets what was noted of a table.
  void forget(Table_Id id) {
    tables_.erase(id);
    last_ = nullptr;
  }

  // Records as they are now, all of which are in use.
  static Change insertion(Description table, const Table& rows, index_t first, index_t size);

 protected:
  ~Change_Collector() = default;

  struct Was_Used {
    bool value;
  };
  using Saved_Values = Range_Map<Values>;
  // What a record had before an update of one value of at most 8 bytes.
  struct Pending_Value {
    index_t record;
    std::uint64_t order;
    std::uint64_t value;  // its bytes, then zeros
  };
  struct Touched_Field {
    Type type;
    Saved_Values saved;  // values of records that were in use before
    // Those of single updates, in the order of these: of a record the first one counts, unless it
    // is saved already. To append one is much cheaper than to look for its record in `saved`, to
    // which save_pending moves all of them together.
    std::vector<Pending_Value> pending;
  };
  struct Touched_Table {
    Touched_Field& field(Field_Id id) {
      if (last == nullptr || last_id != id) {
        last = &fields[id];
        last_id = id;
      }
      return *last;
    }
    void forget(Field_Id id) {
      fields.erase(id);
      last = nullptr;
    }

    // Records that were inserted or deleted: whether they were in use before. Of those that were,
    // the values of all fields are saved.
    Range_Map<Was_Used> records;
    std::map<Field_Id, Touched_Field> fields;
    Field_Id last_id;
    Touched_Field* last = nullptr;  // that of last_id
  };
  using Touched_Tables = std::map<Table_Id, Touched_Table>;

  Touched_Table& touched(Table_Id id);
  // Forgets what was noted.
  void forget() {
    tables_.clear();
    last_ = nullptr;
  }
  // Notes that these are about to be deleted.
  void save_records(const Table& table, Touched_Table& touched, index_t first, index_t end);
  // Saves values of used records in the range that were neither saved nor inserted.
  void save_values(const Table& table, Touched_Table& touched, Field_Id field, index_t first,
                   index_t end);
  // Sorts by record, and leaves the first one of each.
  static void sort_pending(std::vector<Pending_Value>& pending);
  static void append(Values& out, const Pending_Value* first, index_t size);
  // After these, `saved` of the field, of all fields of the table, is complete.
  void save_pending(Touched_Field& field) const;
  void save_pending(Touched_Table& touched) const;
  // Whether this number of values may be copied for a drop, and takes them off.
  bool may_keep(const Table& table, std::size_t fields);

  // The saved values of [first, end), all of which are there; `range` has the first of them.
  static Values gather(Saved_Values::Iterator range, index_t first, index_t end);
  static Change deletion(Description table, const Touched_Table& touched, index_t first,
                         index_t end);

  struct Updated_Field {
    Field_Id id;
    Saved_Values::Iterator range;  // that of the first record
  };
  using Updated_Fields = std::vector<Updated_Field>;  // by id

  // Records that were there before and still are, with the fields that were touched: calls
  // f(first, end, order, fields) for ranges of them in ascending order. No values are pending.
  template <class F>
  static void for_each_update(const Touched_Table& touched, F f);
  template <class F>
  static void for_each_update(const Touched_Table& touched, Field_Id id, const Saved_Values& saved,
                              F f);

  Database& database_;
  Touched_Tables tables_;
  std::uint64_t next_order_ = 0;

 private:
  virtual void note_drop(const Table& table) = 0;
  virtual void note_drop(const Table& table, const Field& field, Field_Id id) = 0;
  // Before and after a change of tables or fields other than a drop, which comes alone.
  virtual void note_schema() = 0;
  virtual void note_applied(const Create_Table& e) = 0;
  virtual void note_applied(const Rename_Table& e) = 0;
  virtual void note_applied(const Add_Field& e) = 0;
  virtual void note_applied(const Rename_Field& e) = 0;
  virtual void note_applied(const Custom& e) = 0;
  void note_applied(const Drop_Table&) {}
  void note_applied(const Drop_Field&) {}

  void note(const Insert& e) { note_insert(e.table, e.record.value(), 1); }
  void note(const Insert_Vector& e) { note_insert(e.table, e.record.value(), e.size); }
  void note(const Delete& e) { note_delete(e.table, e.record.value(), 1); }
  void note(const Delete_Vector& e) { note_delete(e.table, e.record.value(), e.size); }
  template <Field_Value T>
  void note(const Update<T>& e) {
    note_update(e.table, e.field, e.record.value(), 1);
  }
  template <Field_Value T>
  void note(const Update_Vector<T>& e) {
    note_update(e.table, e.field, e.record.value(), e.size);
  }
  void note(const Drop_Table& e) { note_drop(*database_.find_table(e.table)); }
  void note(const Drop_Field& e) {
    const Table& table = *database_.find_table(e.table);
    note_drop(table, *table.find_field(e.field), e.field);
  }
  void note(const Create_Table& e) { note_rename(e); }
  void note(const Rename_Table& e) { note_rename(e); }
  void note(const Add_Field&) { note_schema(); }
  void note(const Rename_Field& e) { note_rename(e); }
  void note(const Custom&) { note_schema(); }
  void note(const Comment&) {}
  void note(const Timestamp&) {}
  void note(const Valid_Data&) {}
  void note(const Blob_Data&) {}

  void note_rename(const Create_Table&) { note_schema(); }
  void note_rename(const Rename_Table& e) {
    note_schema();
    old_name_ = database_.find_table(e.table)->name();
  }
  void note_rename(const Rename_Field& e) {
    note_schema();
    old_name_ = database_.find_table(e.table)->find_field(e.field)->name;
  }

 protected:
  std::string old_name_;  // of what is being renamed

 private:
  Table_Id last_id_;
  Touched_Table* last_ = nullptr;  // that of last_id_
  index_t kept_values_;
  const bool is_ordered_;
};

// The changes of a transaction, in the order of their first entries.
class Transaction_Collector final : public Change_Collector {
 public:
  // `has_all_fields`: an update has also the fields of its records that were not touched.
  Transaction_Collector(Database& database, index_t kept_values, bool has_all_fields)
      : Change_Collector(database, kept_values, true), has_all_fields_(has_all_fields) {}
  // What has changed since the last call.
  std::vector<Change> take();

 private:
  struct Place {
    std::uint64_t order;
    std::size_t index;
  };

  void note_drop(const Table& table) override;
  void note_drop(const Table& table, const Field& field, Field_Id id) override;
  void note_schema() override { flush(); }
  void note_applied(const Create_Table& e) override;
  void note_applied(const Rename_Table& e) override;
  void note_applied(const Add_Field& e) override;
  void note_applied(const Rename_Field& e) override;
  void note_applied(const Custom& e) override;

  // New values are read now, before the schema changes.
  void flush();
  // The table with all its fields as they are now. Changes share it: of a wide table, it is larger
  // than most of them.
  Description description(const Table& table);
  // The same for an update of these fields. Where the schema changes again and again between
  // updates, it has no others.
  Description description(const Table& table, const Updated_Fields& fields);
  // The table, or its name, has changed.
  void forget_descriptions(Table_Id id);
  void add_schema_change(Change::Kind kind, Description table, Schema_Change schema);

  const bool has_all_fields_;
  std::vector<Change> changes_;
  // Those that were made since the table or its name, or that of a table that it refers to,
  // changed.
  std::map<Table_Id, Description> descriptions_;
  std::set<std::pair<Table_Id, Table_Id>> references_;  // to a table, from one that is described
  std::size_t described_bytes_ = 0;                     // since take()
};

// The difference between the state when it was made and the present one.
class Net_Collector final : public Change_Collector {
 public:
  Net_Collector(Database& database, index_t kept_values);

  // Each in the order in which they can be applied.
  struct Net_Changes {
    std::vector<Change> schema;   // what is new or has another name
    std::vector<Change> records;  // sorted by table and record
    std::vector<Change> drops;
  };
  Net_Changes take();

 private:
  struct Dropped {
    index_t rows;
    bool has_lost;
  };

  void note_drop(const Table& table) override;
  void note_drop(const Table& table, const Field& field, Field_Id id) override;
  void note_schema() override {}
  void note_applied(const Create_Table&) override {}
  void note_applied(const Rename_Table&) override {}
  void note_applied(const Add_Field&) override {}
  void note_applied(const Rename_Field&) override {}
  void note_applied(const Custom&) override {}

  bool was_there(Table_Id table) const { return before_.contains(table); }
  bool was_there(Table_Id table, Field_Id field) const;
  void add_schema(Net_Changes& net) const;
  void add_records(Net_Changes& net, const Table& table, const Touched_Table& touched) const;
  // The same for a table with nothing but pending values of one field; false for another one. Many
  // updates of a field are worth it: the map takes longer than all else.
  bool add_pending(Net_Changes& net, const Table& table, Touched_Table& touched) const;
  // Of records that were deleted and inserted again.
  void add_replaced(std::vector<Change>& out, const Table& table, const Description& after,
                    const Touched_Table& touched, index_t first, index_t end) const;
  void add_drops(Net_Changes& net) const;

  std::map<Table_Id, Description> before_;
  std::map<Table_Id, Dropped> dropped_tables_;
  std::map<std::pair<Table_Id, Field_Id>, Dropped> dropped_fields_;
};

}  // namespace joedb::inline v1

#endif
