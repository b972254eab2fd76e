#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "history/change_parts.h"
#include "joedb/history/undo.h"
#include "kernel/base/interrupts.h"
#include "kernel/table/declaration.h"

namespace joedb::inline v1 {

namespace {

using Kind = Change::Kind;

// Writes the changes of a plan, in an order in which each change is possible.
class Plan_Writer {
 public:
  Plan_Writer(Writable_Database& database, const Plan& plan) : db_(database), plan_(plan) {}

  void run() {
    // First drop tables and fields, and delete records: this frees names and keys for later
    // changes.
    drop();
    rename();
    create();
    declare();
    for (const Change& change : plan_.changes)
      if (change.kind == Kind::deleted) erase(change);
    for (const Change& change : plan_.changes)
      if (change.kind == Kind::updated) update(change);
    update_keys();
    for (const Change& change : plan_.changes)
      if (change.kind == Kind::inserted) insert(change);
    insert_waiting();
  }

 private:
  Table& table(Table_Id id) { return db_.get_database().table(id); }

  // ---- tables and fields

  void drop() {
    for (const Change& change : plan_.changes) {
      if (change.kind == Kind::table_dropped) db_.write(Drop_Table{change.table->id});
      if (change.kind == Kind::field_dropped)
        db_.write(Drop_Field{change.table->id, change.schema->field.id});
    }
  }

  // Tables or fields may exchange their names. Therefore, if a wanted name is taken, the first pass
  // assigns a temporary name.
  void rename() {
    for (const bool is_last : {false, true})
      for (const Change& change : plan_.changes) {
        const Table_Id id = change.table->id;
        if (change.kind == Kind::table_renamed) {
          const Database& database = db_.get_database();
          const auto is_taken = [&](const std::string& name) {
            return database.find_table(name) != nullptr;
          };
          if (table(id).name() == change.table_name()) continue;
          if (is_last || !is_taken(change.table_name()))
            db_.write(Rename_Table{id, change.table_name()});
          else
            db_.write(Rename_Table{id, unused_name(change.table_name(), is_taken)});
        } else if (change.kind == Kind::field_renamed) {
          const Field_Id field = change.schema->field.id;
          const std::string& name = change.schema->field.name;
          const auto is_taken = [&](const std::string& candidate) {
            return !table(id).find_field(candidate).is_null();
          };
          if (table(id).find_field(field)->name == name) continue;
          if (is_last || !is_taken(name))
            db_.write(Rename_Field{id, field, name});
          else
            db_.write(Rename_Field{id, field, unused_name(name, is_taken)});
        }
      }
  }
  template <class Is_Taken>
  static std::string unused_name(const std::string& name, Is_Taken is_taken) {
    for (int i = 1;; ++i)
      if (const std::string result = name + "_" + std::to_string(i); !is_taken(result))
        return result;
  }

  void create() {
    for (const Change& change : plan_.changes) {
      if (change.kind != Kind::table_created) continue;
      db_.write(Create_Table{change.table_name()});
      table_ids_[change.table->id] =
          Table_Id(static_cast<std::uint16_t>(db_.get_database().tables().size()));
    }
    for (const Change& change : plan_.changes) {
      if (change.kind != Kind::field_added) continue;
      const Field_Description& field = change.schema->field;
      const Table_Id id = present(change.table->id);
      Type type{field.type.code, present(field.type.referenced)};
      const bool lacks_target = type.code == Type_Code::reference &&
                                db_.get_database().find_table(type.referenced) == nullptr;
      if (lacks_target) type.referenced = create_table_to_drop();
      db_.write(Add_Field{id, field.name, type});
      if (lacks_target) db_.write(Drop_Table{type.referenced});
      if (field.logical) {
        const std::string declaration =
            type_declaration(table(id).name(), field.name, type.code, *field.logical);
        db_.write(Comment{declaration});
      }
      field_ids_[{change.table->id, field.id}] =
          Field_Id(static_cast<std::uint16_t>(table(id).fields().size()));
    }
  }

  // Without the checks of declare_type(), because the values follow.
  void declare() {
    for (const Change& change : plan_.changes) {
      if (change.kind != Kind::field_typed) continue;
      const Field_Description& wanted = change.schema->field;
      const Table& changed = table(change.table->id);
      const std::string declaration =
          type_declaration(changed.name(), changed.find_field(wanted.id)->name, wanted.type.code,
                           get(wanted.logical));
      db_.write(Comment{declaration});
    }
  }

  // Creates a table so that a reference field to it can be added. The caller drops the table
  // afterwards.
  Table_Id create_table_to_drop() {
    const Database& database = db_.get_database();
    db_.write(Create_Table{unused_name(
        "dropped", [&](const std::string& name) { return database.find_table(name) != nullptr; })});
    return Table_Id(static_cast<std::uint16_t>(database.tables().size()));
  }

  // Return the new id of a recreated table or field; the same id for any other.
  Table_Id present(Table_Id id) const {
    const auto found = table_ids_.find(id);
    return found == table_ids_.end() ? id : found->second;
  }
  Field_Id present(Table_Id table, Field_Id field) const {
    const auto found = field_ids_.find({table, field});
    return found == field_ids_.end() ? field : found->second;
  }

  // ---- records

  void erase(const Change& change) {
    look_for_interrupt();
    if (change.size == 1)
      db_.write_alone(Delete{change.table->id, change.record});
    else
      db_.write_alone(Delete_Vector{change.table->id, change.record, change.size});
  }

  void insert(const Change& change) {
    look_for_interrupt();
    const Table_Id id = present(change.table->id);
    if (change.size == 1)
      db_.write(Insert{id, change.record});
    else
      db_.write(Insert_Vector{id, change.record, change.size});
    std::vector<const Field_Change*> fields;
    for (const Field_Change& field : change.fields) fields.push_back(&field);
    // Sort the fields by id: a record enters a unique index with the last field of its key.
    std::sort(fields.begin(), fields.end(), [&](const Field_Change* a, const Field_Change* b) {
      return present(change.table->id, a->field) < present(change.table->id, b->field);
    });
    for (const Field_Change* const field : fields)
      write(id, change.record, present(change.table->id, field->field), field->new_values);
    write_missing(db_, table(id), change.record, change.size, [&](Field_Id field) {
      return std::any_of(fields.begin(), fields.end(), [&](const Field_Change* given) {
        return present(change.table->id, given->field) == field;
      });
    });
  }

  void update(const Change& change) {
    look_for_interrupt();
    const Table_Id id = change.table->id;
    const std::set<Field_Id> keys = unique_fields(id);
    bool has_keys = false;
    for (const Field_Change& field : change.fields) {
      const Field_Id field_id = present(id, field.field);
      if (keys.contains(field_id))
        has_keys = true;
      else
        write(id, change.record, field_id, field.new_values);
    }
    if (has_keys)
      for (index_t i = 0; i < change.size; ++i) waiting_.push_back({&change, i});
  }

  std::set<Field_Id> unique_fields(Table_Id id) {
    std::set<Field_Id> result;
    for (const auto& index : table(id).indexes())
      if (index->definition().is_unique)
        result.insert(index->definition().fields.begin(), index->definition().fields.end());
    return result;
  }

  template <Field_Value T>
  void write_one(Table_Id id, Record_Id record, Field_Id field, T value) {
    db_.write(Update<T>{id, record, field, value});
  }

  void write(Table_Id id, Record_Id record, Field_Id field, const Values& values) {
    visit_type(values.type(), [&]<class T>(std::type_identity<T>) {
      if (values.size() == 1) return write_one<T>(id, record, field, values.get<T>(0));
      const auto size = static_cast<std::size_t>(values.size());
      const std::unique_ptr<T[]> copy(new T[size]);
      for (std::size_t i = 0; i < size; ++i) copy[i] = values.get<T>(static_cast<index_t>(i));
      db_.write_vector<T>(id, record, field, std::span<const T>(copy.get(), size));
    });
  }

  // ---- records with unique keys

  struct Waiting {
    const Change* change;
    index_t index;
    Record_Id record() const { return change->record + index; }
  };

  // Records may exchange their keys. Each record is updated when its new key is free. Records that
  // wait for each other are deleted and inserted again.
  void update_keys() {
    constexpr int passes = 4;
    for (int pass = 0; pass < passes && !waiting_.empty(); ++pass) {
      std::erase_if(waiting_, [&](const Waiting& waiting) { return try_to_update(waiting); });
      std::reverse(waiting_.begin(), waiting_.end());
    }
    for (const Waiting& waiting : waiting_) {
      const Table& rows = table(waiting.change->table->id);
      Change insertion =
          inserted_records(describe(db_.get_database(), rows), rows, waiting.record().value(), 1);
      for (const Field_Change& field : waiting.change->fields) {
        const Field_Id id = present(waiting.change->table->id, field.field);
        for (Field_Change& inserted : insertion.fields)
          if (inserted.field == id)
            inserted.new_values = part_of(field.new_values, waiting.index, 1);
      }
      reinserted_.push_back(std::move(insertion));
    }
    for (const Change& insertion : reinserted_) erase(insertion);
  }

  bool try_to_update(const Waiting& waiting) {
    look_for_interrupt();
    const Table_Id id = waiting.change->table->id;
    const std::set<Field_Id> keys = unique_fields(id);
    try {
      for (const Field_Change& field : waiting.change->fields) {
        const Field_Id field_id = present(id, field.field);
        if (!keys.contains(field_id)) continue;
        write(id, waiting.record(), field_id, part_of(field.new_values, waiting.index, 1));
      }
      return true;
    } catch (const Unique_Violation&) {  // nothing was written
      return false;
    }
  }

  // The ids of table and fields have already been replaced by the current ones.
  void insert_waiting() {
    for (const Change& insertion : reinserted_) {
      db_.write(Insert{insertion.table->id, insertion.record});
      for (const Field_Change& field : insertion.fields)
        write(insertion.table->id, insertion.record, field.field, field.new_values);
      write_missing(db_, table(insertion.table->id), insertion.record, 1,
                    [&](Field_Id field) { return insertion.find_field(field) != nullptr; });
    }
  }

  Writable_Database& db_;
  const Plan& plan_;
  std::map<Table_Id, Table_Id> table_ids_;
  std::map<std::pair<Table_Id, Field_Id>, Field_Id> field_ids_;
  std::vector<Waiting> waiting_;
  std::vector<Change> reinserted_;
};

}  // namespace

void write_plan(Writable_Database& database, const Plan& plan) {
  Plan_Writer(database, plan).run();
}

}  // namespace joedb::inline v1
