#include "text/patch_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "joedb/base/error.h"
#include "kernel/table/declaration.h"
#include "text/text_buffer.h"

namespace joedb::inline v1 {

namespace {

using Kind = Change::Kind;

// A change of at least this many records is written as vectors, a smaller one as a line per record.
constexpr index_t max_lines = 10;
// A vector ends after `vector_size` records, or after the record with which it reaches
// `vector_bytes` bytes.
constexpr index_t vector_size = 1000;
constexpr std::size_t vector_bytes = std::size_t{1} << 20;

// The rename of a table or field.
struct Rename {
  Table_Id table;
  Field_Id field;  // null: rename the table
  std::string old_name;
  std::string new_name;
};

class Patch_Writer {
 public:
  Patch_Writer(std::ostream& out, const std::vector<Change>& changes, Offset blobs_end, Names names)
      : out_(out), changes_(changes), blobs_end_(blobs_end), names_(std::move(names)) {
    for (const Change& change : changes) {
      if (change.table) names_.insert(change.table_name());
      if (change.is_of_records()) continue;
      names_.insert(change.schema->old_name);
      names_.insert(change.schema->field.name);
      names_.insert(change.schema->field.referenced);
      if (change.kind == Kind::table_renamed)
        renamed_tables_[change.table->id] = {change.schema->old_name, change.table_name()};
      if (change.kind == Kind::field_typed)
        typed_fields_[{change.table->id, change.schema->field.id}] = change.schema->field.logical;
      if (change.kind == Kind::field_renamed)
        renamed_fields_[{change.table->id, change.schema->field.id}] = change.schema->field.name;
      if (change.kind == Kind::field_added)
        added_[change.table->id].push_back(change.schema->field.id);
      if (change.kind == Kind::table_dropped) dropped_.insert({change.table->id, Field_Id()});
      if (change.kind == Kind::field_dropped)
        dropped_.insert({change.table->id, change.schema->field.id});
    }
  }

  void write() {
    for (const Change& change : changes_)
      if (has_records(change)) require_no_new_blobs(change);
    for (const Change& change : changes_) drop(change);
    rename();
    for (const Change& change : changes_)
      if (change.kind == Kind::table_created) {
        out_.add("create_table ", change.table_name());
        out_.end_line();
      }
    for (const Change& change : changes_)
      if (change.kind == Kind::field_typed) set_type(change);
    for (const Change& change : changes_)
      if (change.kind == Kind::field_added) add_field(change);
    release_deleted();
    for (const Change& change : changes_)
      if (has_records(change)) records(change);
    out_.flush();
  }

 private:
  // ---- names: a change has the names in use at its position in the list

  std::string_view old_name(const Table_Description& table) const {
    const auto renamed = renamed_tables_.find(table.id);
    return renamed == renamed_tables_.end() ? table.name : renamed->second.first;
  }
  std::string_view new_name(const Table_Description& table) const {
    const auto renamed = renamed_tables_.find(table.id);
    return renamed == renamed_tables_.end() ? table.name : renamed->second.second;
  }
  std::string_view new_name(const Change& change, const Field_Change& field) const {
    const auto renamed = renamed_fields_.find({change.table->id, field.field});
    return renamed == renamed_fields_.end() ? change.field_name(field) : renamed->second;
  }
  std::string temporary_name() {
    for (;;) {
      std::string name = "patch_" + std::to_string(++temporary_names_);
      if (names_.insert(name).second) return name;
    }
  }

  // ---- the schema

  void drop(const Change& change) {
    if (change.kind == Kind::table_dropped)
      out_.add("drop_table ", old_name(*change.table));
    else if (change.kind == Kind::field_dropped)
      out_.add("drop_field ", old_name(*change.table), ' ', change.schema->field.name);
    else
      return;
    out_.end_line();
  }

  void rename() {
    std::vector<Rename> tables, fields;
    for (const Change& change : changes_) {
      const bool is_of_table = change.kind == Kind::table_renamed;
      if (!is_of_table && change.kind != Kind::field_renamed) continue;
      const Schema_Change& schema = *change.schema;
      (is_of_table ? tables : fields)
          .push_back({change.table->id, is_of_table ? Field_Id() : schema.field.id, schema.old_name,
                      is_of_table ? change.table_name() : schema.field.name});
      if (!is_of_table)
        table_names_.emplace(change.table->id, std::string(new_name(*change.table)));
    }
    rename(std::move(tables));
    rename(std::move(fields));
  }

  // Orders the renames so that each new name is free. A rename can only wait for the rename that
  // frees its new name, and at most one rename waits for it. Therefore the renames form chains and
  // cycles.
  void rename(std::vector<Rename> waiting) {
    using Key = std::pair<Table_Id, std::string_view>;
    const auto key = [](const Rename& rename, std::string_view name) {
      return Key(rename.field == Field_Id() ? Table_Id() : rename.table, name);
    };
    std::map<Key, std::size_t> by_old_name, by_new_name;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      by_old_name.emplace(key(waiting[i], waiting[i].old_name), i);
      by_new_name.emplace(key(waiting[i], waiting[i].new_name), i);
    }
    std::vector<bool> is_done(waiting.size());
    // Gives a temporary name to the object of a rename, then executes the renames that wait for its
    // old name, one after the other.
    const auto use_temporary_name = [&](std::size_t i) {
      for (;;) {
        const Key old_name = key(waiting[i], waiting[i].old_name);
        by_old_name.erase(old_name);
        const auto next = by_new_name.find(old_name);
        if (next == by_new_name.end() || is_done[next->second]) return;
        i = next->second;
        rename(waiting[i], waiting[i].new_name);
        is_done[i] = true;
      }
    };
    // A chain begins with a rename whose new name is free.
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (is_done[i] || by_old_name.contains(key(waiting[i], waiting[i].new_name))) continue;
      rename(waiting[i], waiting[i].new_name);
      is_done[i] = true;
      use_temporary_name(i);
    }
    // A cycle needs a temporary name.
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (is_done[i]) continue;
      const std::string name = temporary_name();
      rename(waiting[i], name);
      Rename last = waiting[i];
      last.old_name = name;
      is_done[i] = true;
      use_temporary_name(i);
      rename(last, last.new_name);
    }
  }
  void rename(const Rename& rename, std::string_view name) {
    if (rename.field == Field_Id())
      out_.add("rename_table ", rename.old_name, ' ', name);
    else
      out_.add("rename_field ", table_names_.at(rename.table), ' ', rename.old_name, ' ', name);
    out_.end_line();
  }

  // If a field references a dropped table, creates a temporary table for it to reference, and drops
  // this table afterwards.
  void add_field(const Change& change) {
    const Field_Description& field = change.schema->field;
    const bool is_reference = field.type.code == Type_Code::reference;
    std::string gone;
    if (is_reference && field.referenced.empty()) {
      gone = temporary_name();
      out_.add("create_table ", gone);
      out_.end_line();
    }
    // With an optional type, add_field would make the values of all records null.
    const bool is_optional = get(field.logical).is_optional;
    out_.add("add_field ", new_name(*change.table), ' ', field.name, ' ',
             is_optional ? std::string(type_name(field.type.code))
                         : declared_type_text(field.type.code, get(field.logical),
                                              gone.empty() ? field.referenced : gone));
    out_.end_line();
    if (is_optional) declare(new_name(*change.table), field.name, field);
    if (gone.empty()) return;
    out_.add("drop_table ", gone);
    out_.end_line();
  }

  // As a comment, because set_type looks at the values, which follow.
  void declare(std::string_view table, std::string_view field, const Field_Description& typed) {
    out_.add("comment ");
    append_quoted(out_.text(), type_declaration(table, field, typed.type.code, get(typed.logical)));
    out_.end_line();
  }
  void set_type(const Change& change) {
    const Field_Description& field = change.schema->field;
    const auto renamed = renamed_fields_.find({change.table->id, field.id});
    declare(new_name(*change.table),
            renamed == renamed_fields_.end() ? field.name : renamed->second, field);
  }

  // ---- records

  // Returns true for a change of records, unless their table is dropped first.
  bool has_records(const Change& change) const {
    return change.is_of_records() && !dropped_.contains({change.table->id, Field_Id()});
  }
  bool is_there(const Change& change, const Field_Change& field) const {
    return !dropped_.contains({change.table->id, field.field});
  }

  void require_no_new_blobs(const Change& change) const {
    for (const Field_Change& field : change.fields) {
      if (field.new_values.type() != Type_Code::blob || !is_there(change, field)) continue;
      for (index_t i = 0; i < field.new_values.size(); ++i) {
        const auto blob = field.new_values.get<Blob>(i);
        if (blob.is_null() || blob.get_end() <= blobs_end_) continue;
        throw Exception("record " + std::to_string(change.record.value() + i) + " of " +
                        std::string(new_name(*change.table)) + " has a new blob in " +
                        std::string(new_name(change, field)) +
                        ": commands cannot give a field the bytes of a blob");
      }
    }
  }

  // Makes the references null that have rules, and refer to records that the patch deletes. So a
  // deletion changes nothing that is in the patch, in any order of deletions.
  void release_deleted() {
    std::set<std::pair<Table_Id, Record_Id>> deleted;
    for (const Change& change : changes_)
      for (index_t i = 0; change.kind == Kind::deleted && i < change.size; ++i)
        deleted.emplace(change.table->id, change.record + i);
    if (deleted.empty()) return;
    for (const Change& change : changes_) {
      if (!has_records(change) || change.kind == Kind::inserted) continue;
      for (const Field_Change& field : change.fields) {
        if (field.old_values.type() != Type_Code::reference || !is_there(change, field)) continue;
        if (logical_of(change, field).on_delete == Logical_Type::On_Delete::keep) continue;
        const Table_Id referenced = change.table->find_field(field.field)->type.referenced;
        for (index_t i = 0; i < change.size; ++i) {
          if (!deleted.contains({referenced, field.old_values.get<Record_Id>(i)})) continue;
          begin_line("update", change, change.record + i);
          out_.add(' ', new_name(change, field), " -1");
          out_.end_line();
        }
      }
    }
  }

  void records(const Change& change) {
    look_up_types(change);
    switch (change.kind) {
      case Kind::deleted:
        begin_line(change.size > 1 ? "delete_vector" : "delete_from", change, change.record);
        if (change.size > 1) out_.add(' ', change.size);
        out_.end_line();
        break;
      case Kind::inserted:
        insert(change);
        break;
      default:
        if (change.size < max_lines)
          update(change);
        else
          for (const Field_Change& field : change.fields)
            if (is_there(change, field)) vector(change, field, 0, change.size);
        break;
    }
  }

  void begin_line(std::string_view command, const Change& change, Record_Id record) {
    out_.add(command, ' ', new_name(*change.table), ' ', record.value());
  }

  void insert(const Change& change) {
    if (change.size < max_lines) {
      const auto fields = in_order_of_table(change);
      for (index_t i = 0; i < change.size; ++i) {
        begin_line("insert_into", change, change.record + i);
        for (const Field_Change* const field : fields) {
          out_.add(' ');
          append(out_.text(), change, *field, i);
          out_.write_full_block();
        }
        out_.end_line();
      }
      return;
    }
    for (index_t first = 0; first < change.size; first += vector_size) {
      const index_t size = std::min(vector_size, change.size - first);
      begin_line("insert_vector", change, change.record + first);
      out_.add(' ', size);
      out_.end_line();
      for (const Field_Change& field : change.fields) vector(change, field, first, first + size);
    }
  }

  // Returns the fields in the order of the patched table. Fields that the patch adds are last.
  std::vector<const Field_Change*> in_order_of_table(const Change& change) const {
    std::vector<const Field_Change*> result;
    for (const Field_Change& field : change.fields) result.push_back(&field);
    const auto added = added_.find(change.table->id);
    if (added == added_.end()) return result;
    const auto place = [&](const Field_Change* field) {
      const auto found = std::find(added->second.begin(), added->second.end(), field->field);
      return found == added->second.end() ? std::ptrdiff_t{-1} : found - added->second.begin();
    };
    std::stable_sort(result.begin(), result.end(),
                     [&](const auto* x, const auto* y) { return place(x) < place(y); });
    return result;
  }

  void update(const Change& change) {
    for (index_t i = 0; i < change.size; ++i)
      for (const Field_Change& field : change.fields) {
        if (!is_there(change, field)) continue;
        begin_line("update", change, change.record + i);
        out_.add(' ', new_name(change, field), ' ');
        append(out_.text(), change, field, i);
        out_.end_line();
      }
  }

  void vector(const Change& change, const Field_Change& field, index_t first, index_t end) {
    while (first < end) {
      values_.clear();
      index_t size = 0;
      while (first + size < end && size < vector_size && values_.size() < vector_bytes) {
        values_ += ' ';
        append(values_, change, field, first + size);
        ++size;
      }
      begin_line("update_vector", change, change.record + first);
      out_.add(' ', new_name(change, field), ' ', size, values_);
      out_.end_line();
      first += size;
    }
  }

  // The types are declared before the records.
  const Logical_Type& logical_of(const Change& change, const Field_Change& field) const {
    const auto typed = typed_fields_.find({change.table->id, field.field});
    return get(typed == typed_fields_.end() ? change.table->find_field(field.field)->logical
                                            : typed->second);
  }
  // Remembers the logical types of the fields of a change.
  void look_up_types(const Change& change) {
    logical_.clear();
    for (const Field_Change& field : change.fields) logical_.push_back(&logical_of(change, field));
  }
  void append(std::string& out, const Change& change, const Field_Change& field, index_t i) const {
    const Logical_Type& logical =
        *logical_[static_cast<std::size_t>(&field - change.fields.data())];
    std::visit([&](const auto& value) { append_value(out, logical, value); }, field.new_values[i]);
  }

  Text_Buffer out_;
  const std::vector<Change>& changes_;
  const Offset blobs_end_;
  Names names_;                                                             // now or later
  std::map<Table_Id, std::pair<std::string, std::string>> renamed_tables_;  // old and new name
  std::map<std::pair<Table_Id, Field_Id>, std::string> renamed_fields_;     // new name
  std::map<std::pair<Table_Id, Field_Id>, Shared_Logical_Type> typed_fields_;
  std::map<Table_Id, std::vector<Field_Id>> added_;
  std::set<std::pair<Table_Id, Field_Id>> dropped_;  // tables have a null field
  std::map<Table_Id, std::string> table_names_;      // for tables whose fields are renamed
  std::string values_;
  std::vector<const Logical_Type*> logical_;  // of the fields of the present change
  int temporary_names_ = 0;
};

}  // namespace

Names names_of(const Database& database) {
  Names names;
  for (const auto& table : database.tables()) {
    if (!table) continue;
    names.insert(table->name());
    for (const Field& field : table->fields())
      if (field.column) names.insert(field.name);
  }
  return names;
}

void write_patch(std::ostream& out, const std::vector<Change>& changes, Offset blobs_end,
                 Names names) {
  Patch_Writer(out, changes, blobs_end, std::move(names)).write();
}

}  // namespace joedb::inline v1
