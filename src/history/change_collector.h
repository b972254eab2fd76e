#ifndef JOEDB_SRC_HISTORY_CHANGE_COLLECTOR_H
#define JOEDB_SRC_HISTORY_CHANGE_COLLECTOR_H

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "history/change_parts.h"
#include "history/range_map.h"
#include "joedb/history/changes.h"
#include "joedb/table/database.h"
#include "kernel/table/declaration.h"

namespace joedb::inline v1 {

// Base class of Transaction_Collector and Net_Collector: a handler that applies entries to the
// database. Before it applies an entry, it copies the values that the entry destroys.
//
// When a record is first touched, the collector notes whether the record was in use, and saves its
// values. The new values are read from the database at the end.
class Change_Collector {
 public:
  // `kept_values`: maximum number of values to copy when tables and fields are dropped.
  // `is_ordered`: true if the changes are needed in the order in which they were made.
  Change_Collector(Database& database, index_t kept_values, bool is_ordered)
      : database_(database), kept_values_(kept_values), is_ordered_(is_ordered) {}

  template <class Entry>
  void operator()(const Entry& entry) {
    database_.prepare(entry);  // throws if the entry is invalid
    note(entry);
    database_.apply(entry);
    if constexpr (is_schema_entry<Entry> || std::is_same_v<Entry, Comment>) note_applied(entry);
  }

  // Note a change of records [first, first + size). The caller must apply the change itself,
  // afterwards.
  void note_insert(Table_Id id, index_t first, index_t size);
  void note_delete(Table_Id id, index_t first, index_t size);
  void note_update(Table_Id id, Field_Id field, index_t first, index_t size);

  // Forgets everything noted about a table.
  void forget(Table_Id id) {
    tables_.erase(id);
    last_ = nullptr;
  }

 protected:
  ~Change_Collector() = default;

  struct Was_Used {
    bool value;
  };
  using Saved_Values = Range_Map<Values>;
  // The value of a record before an update of this single value, of at most 8 bytes.
  struct Pending_Value {
    index_t record;
    std::uint64_t order;
    std::uint64_t value;  // the bytes of the value, padded with zeros
  };
  struct Touched_Field {
    Type type;
    Saved_Values saved;  // values of records that were in use before
    // Values before updates of single values, in the order of the updates. Only the first value of
    // a record counts, and only if `saved` does not have the record. Appending to `pending` is much
    // cheaper than a search in `saved`. save_pending() moves all pending values to `saved` at once.
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

    // Records that were inserted or deleted, and whether they were in use before. If a record was
    // in use, the values of all its fields are saved.
    Range_Map<Was_Used> records;
    std::map<Field_Id, Touched_Field> fields;
    Field_Id last_id;
    Touched_Field* last = nullptr;  // the field of last_id
  };
  using Touched_Tables = std::map<Table_Id, Touched_Table>;

  Touched_Table& touched(Table_Id id);
  // Forgets everything noted.
  void forget() {
    tables_.clear();
    last_ = nullptr;
  }
  // Saves the values of records that are about to be deleted.
  void save_records(const Table& table, Touched_Table& touched, index_t first, index_t end);
  // Saves the values of the records in the range that are in use. Skips values that are already
  // saved, and records that were inserted.
  void save_values(const Table& table, Touched_Table& touched, Field_Id field, index_t first,
                   index_t end);
  // Sorts by record, and keeps only the first value of each record.
  static void sort_pending(std::vector<Pending_Value>& pending);
  static void append(Values& out, const Pending_Value* first, index_t size);
  // Move the pending values of the field, or of all fields of the table, to `saved`.
  void save_pending(Touched_Field& field) const;
  void save_pending(Touched_Table& touched) const;
  // Called before a table or field is dropped, with the number of fields whose values would be
  // kept. Returns true if their values, counted for all ids of the table, are at most kept_values_.
  // Then subtracts this number from kept_values_.
  bool may_keep(const Table& table, std::size_t fields);

  // Returns the values of [first, end). All of them must be saved. `range` must contain `first`.
  static Values gather(Saved_Values::Iterator range, index_t first, index_t end);
  static Change deletion(Description table, const Touched_Table& touched, index_t first,
                         index_t end);

  struct Updated_Field {
    Field_Id id;
    Saved_Values::Iterator range;  // the range that contains the first record
  };
  using Updated_Fields = std::vector<Updated_Field>;  // sorted by id

  // Calls f(first, end, order, fields) for ranges of updated records, in ascending order. The
  // records existed before and still exist; `fields` are the touched fields. Requires that no
  // values are pending.
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
  // Called before each change of the schema that is not a drop; note_applied() is called after it.
  // For a drop, only note_drop() is called, before it.
  virtual void note_schema() {}
  virtual void note_applied(const Create_Table&) {}
  virtual void note_applied(const Rename_Table&) {}
  virtual void note_applied(const Add_Field&) {}
  virtual void note_applied(const Rename_Field&) {}
  virtual void note_applied(const Custom&) {}
  virtual void note_declaration(const Type_Declaration&) {}
  virtual void note_applied(const Comment&) {}
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
  void note(const Comment& e) {
    if (const auto declaration = parse_declaration(e.text)) note_declaration(*declaration);
  }
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
  std::string old_name_;  // the old name, while a rename is being applied

 private:
  Table_Id last_id_;
  Touched_Table* last_ = nullptr;  // the table of last_id_
  index_t kept_values_;
  const bool is_ordered_;
};

// Collects the changes of a transaction, in the order of their first entries.
class Transaction_Collector final : public Change_Collector {
 public:
  // `has_all_fields`: an update also lists the fields that were not touched.
  Transaction_Collector(Database& database, index_t kept_values, bool has_all_fields)
      : Change_Collector(database, kept_values, true), has_all_fields_(has_all_fields) {}
  // Returns the changes since the last call.
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
  void note_declaration(const Type_Declaration& declaration) override;
  void note_applied(const Comment& e) override;

  // Adds all noted changes to changes_. Must be called before the schema changes, because it reads
  // the new values from the tables.
  void flush();
  // Returns the description of the table with all its current fields. Changes share the
  // description, because that of a table with many fields is larger than most changes.
  Description description(const Table& table);
  // Returns the description of the table for an update of `fields`. If the schema has changed often
  // between updates, the description has only these fields, to limit memory.
  Description description(const Table& table, const Updated_Fields& fields);
  // Must be called when the table or its name has changed.
  void forget_descriptions(Table_Id id);
  void add_schema_change(Change::Kind kind, Description table, Schema_Change schema);

  const bool has_all_fields_;
  std::vector<Change> changes_;
  // The field of the declaration that is being applied, as it was before; its id is null if there
  // is none.
  Table_Id declared_table_;
  Field_Description declared_;
  // Current descriptions. A description becomes invalid if the table or its name changes, or the
  // name of a table to which it refers.
  std::map<Table_Id, Description> descriptions_;
  // Pairs of a referenced table and a described table that refers to it.
  std::set<std::pair<Table_Id, Table_Id>> references_;
  std::size_t described_bytes_ = 0;  // total size of the descriptions since take()
};

// Collects the difference between the state at construction and the current state.
class Net_Collector final : public Change_Collector {
 public:
  Net_Collector(Database& database, index_t kept_values);

  // Each list can be applied in its order.
  struct Net_Changes {
    std::vector<Change> schema;   // tables and fields that were created or renamed
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

  bool existed(Table_Id table) const { return before_.contains(table); }
  bool existed(Table_Id table, Field_Id field) const;
  void add_schema(Net_Changes& net) const;
  void add_records(Net_Changes& net, const Table& table, const Touched_Table& touched) const;
  // A shortcut for a table that has only pending values of one field; returns false for other
  // tables. After many updates of one field, the range map would take most of the time.
  bool add_pending(Net_Changes& net, const Table& table, Touched_Table& touched) const;
  // Adds the changes of records that were deleted and then inserted again.
  void add_replaced(std::vector<Change>& out, const Table& table, const Description& after,
                    const Touched_Table& touched, index_t first, index_t end) const;
  void add_drops(Net_Changes& net) const;

  std::map<Table_Id, Description> before_;
  std::map<Table_Id, Dropped> dropped_tables_;
  std::map<std::pair<Table_Id, Field_Id>, Dropped> dropped_fields_;
};

}  // namespace joedb::inline v1

#endif
