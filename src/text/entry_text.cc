#include "text/entry_text.h"

#include <algorithm>

#include "kernel/base/plain_text.h"
#include "kernel/base/time.h"
#include "kernel/base/utf8.h"
#include "kernel/table/declaration.h"
#include "text/sql.h"

namespace joedb::inline v1 {

// ---- names --------------------------------------------------------------------------------------

std::string_view Entry_Names::table(Table_Id id) const {
  const Table* const found = schema_.find_table(id);
  return found == nullptr ? std::string_view("__unknown_table__") : found->name();
}

std::string_view Entry_Names::field(Table_Id table_id, Field_Id id) const {
  const Table* const found = schema_.find_table(table_id);
  const Field* const field = found == nullptr ? nullptr : found->find_field(id);
  return field == nullptr ? std::string_view("__unknown_field__") : field->name;
}

const Logical_Type& Entry_Names::logical(Table_Id table_id, Field_Id id) const {
  static const Logical_Type plain;
  const Table* const found = schema_.find_table(table_id);
  const Field* const field = found == nullptr ? nullptr : found->find_field(id);
  return field == nullptr ? plain : field->column->logical();
}

// ---- joedbi -------------------------------------------------------------------------------------

void Command_Writer::add_table(Table_Id id) {
  if (is_raw_)
    out_.add(' ', id.value());
  else
    out_.add(' ', names_.table(id));
}

void Command_Writer::add_field(Table_Id table, Field_Id id) {
  if (is_raw_)
    out_.add(' ', id.value());
  else
    out_.add(' ', names_.field(table, id));
}

void Command_Writer::add_alone(Table_Id table) {
  if (!is_raw_ && names_.schema().has_rules(table)) out_.add(" alone");
}

void Command_Writer::add_new_name(std::string_view name) {
  out_.add(' ');
  if (is_raw_ || std::any_of(name.begin(), name.end(), is_control))
    append_quoted(out_.text(), name);
  else
    out_.add(name);
}

void Command_Writer::add_update(std::string_view command, Type_Code code, Table_Id table,
                                Record_Id record, Field_Id field) {
  out_.add(command);
  if (is_raw_) out_.add('_', code == Type_Code::reference ? "reference" : type_name(code));
  add_table(table);
  out_.add(' ', record.value());
  add_field(table, field);
}

void Command_Writer::add_quoted(std::string_view command, std::string_view text) {
  out_.add(command, ' ');
  append_quoted(out_.text(), text);
}

void Command_Writer::print(const Create_Table& e) {
  out_.add("create_table");
  add_new_name(e.name);
}

void Command_Writer::print(const Drop_Table& e) {
  out_.add("drop_table");
  add_table(e.table);
}

void Command_Writer::print(const Rename_Table& e) {
  out_.add("rename_table");
  add_table(e.table);
  add_new_name(e.name);
}

void Command_Writer::print(const Add_Field& e) {
  out_.add("add_field");
  add_table(e.table);
  add_new_name(e.name);
  out_.add(' ');
  type_begin_ = out_.text().size();
  last_field_ = {e.table, std::string(e.name)};
  out_.add(type_name(e.type.code));
  if (e.type.code == Type_Code::reference) add_table(e.type.referenced);
}

bool Command_Writer::print_declaration(const Comment& e) {
  if (is_raw_) return false;
  const std::uint64_t version = names_.schema().schema_version();
  names_(e);
  if (names_.schema().schema_version() == version) return false;
  if (parse_index_declaration(e.text)) {
    end_field();
    out_.add(e.text.substr(declaration_mark.size()));
    out_.end_line();
    return true;
  }
  if (!has_open_field_) return false;
  const Type_Declaration declaration = parse_declaration(e.text).value();
  const Table& table = *names_.schema().find_table(declaration.table);
  const Column_Base& column = *table.find_field(table.find_field(declaration.field))->column;
  if (table.id() != last_field_.first || declaration.field != last_field_.second) return false;
  if (column.logical().is_optional && filled_tables_.contains(table.id())) return false;
  out_.text().resize(type_begin_);
  out_.add(declared_type_text(column.type().code, column.logical(),
                              names_.table(column.type().referenced)));
  end_field();
  return true;
}

void Command_Writer::print(const Drop_Field& e) {
  out_.add("drop_field");
  add_table(e.table);
  add_field(e.table, e.field);
}

void Command_Writer::print(const Rename_Field& e) {
  out_.add("rename_field");
  add_table(e.table);
  add_field(e.table, e.field);
  add_new_name(e.name);
}

// joedbi would take the part of the name after a blank for an argument, and a second line for a
// command.
void Command_Writer::print(const Custom& e) {
  const bool is_word =
      std::none_of(e.name.begin(), e.name.end(), [](char c) { return is_control(c) || c == ' '; });
  if (is_raw_ || !is_word)
    add_quoted(is_raw_ ? "custom" : "# custom", e.name);
  else
    out_.add("custom ", e.name);
}

void Command_Writer::print(const Comment& e) { add_quoted("comment", e.text); }

void Command_Writer::print(const Timestamp& e) {
  out_.add("timestamp ", e.seconds);
  if (!is_raw_) out_.add(' ', dump_time_text(e.seconds));
}

void Command_Writer::print(const Valid_Data&) { out_.add("valid_data"); }

void Command_Writer::print(const Blob_Data& e) {
  if (!is_raw_) {
    out_.add("# Blob: ");
    append_value(out_.text(), e.blob);
    if (blobs_ == nullptr) return;
    out_.add('\n');
  }
  add_quoted("write_blob", blobs_->read_blob(e.blob));
}

void Command_Writer::print(const Insert& e) {
  out_.add("insert_into");
  add_table(e.table);
  out_.add(' ', e.record.value());
}

void Command_Writer::print(const Delete& e) {
  out_.add("delete_from");
  add_table(e.table);
  out_.add(' ', e.record.value());
  add_alone(e.table);
}

void Command_Writer::print(const Insert_Vector& e) {
  out_.add("insert_vector");
  add_table(e.table);
  out_.add(' ', e.record.value(), ' ', e.size);
}

void Command_Writer::print(const Delete_Vector& e) {
  out_.add("delete_vector");
  add_table(e.table);
  out_.add(' ', e.record.value(), ' ', e.size);
  add_alone(e.table);
}

// ---- SQL ----------------------------------------------------------------------------------------

// Names that are in the schema have been checked, so they need no escapes.

void Sql_Writer::limit_to_journal_of(Offset size) {
  max_vector_ = Database::free_rows_of_journal(size);
}

void Sql_Writer::begin(Offset position) {
  end_reference();
  out_.add("BEGIN TRANSACTION; -- checkpoint = ", position);
  out_.end_line();
}

void Sql_Writer::end(Offset position) {
  end_reference();
  out_.add("COMMIT; --checkpoint = ", position, '\n');
  out_.end_line();
}

void Sql_Writer::print(const Create_Table& e) {
  require_new_table_name(names_.schema(), {}, e.name);
  out_.add("CREATE TABLE ");
  add_new_name(e.name);
  out_.add("(\"__id\" INTEGER PRIMARY KEY);");
  out_.end_line();
}

void Sql_Writer::print(const Drop_Table& e) {
  out_.add("DROP TABLE \"", names_.table(e.table), "\";");
  out_.end_line();
}

void Sql_Writer::print(const Rename_Table& e) {
  require_new_table_name(names_.schema(), e.table, e.name);
  out_.add("ALTER TABLE \"", names_.table(e.table), "\" RENAME TO ");
  // SQLite ignores case, so a name that differs only in case is in use: rename in two steps.
  if (is_same_name(names_.table(e.table), e.name)) {
    out_.add("\"__renamed\";");
    out_.end_line();
    out_.add("ALTER TABLE \"__renamed\" RENAME TO ");
  }
  add_new_name(e.name);
  out_.add(';');
  out_.end_line();
}

void Sql_Writer::print(const Add_Field& e) {
  if (const Table* const table = names_.schema().find_table(e.table))
    require_new_field_name(*table, {}, e.name);
  out_.add("ALTER TABLE \"", names_.table(e.table), "\" ADD ");
  add_new_name(e.name);
  out_.add(' ', sql_type(e.type.code, Sql_Types::shared));
  if (e.type.code == Type_Code::reference) {
    out_.add(" REFERENCES \"", names_.table(e.type.referenced), '"');
    open_table_ = names_.table(e.table);
    open_field_ = e.name;
    return;
  }
  out_.add(';');
  out_.end_line();
}

void Sql_Writer::print(const Drop_Field& e) {
  out_.add("ALTER TABLE \"", names_.table(e.table), "\" DROP COLUMN \"",
           names_.field(e.table, e.field), "\";");
  out_.end_line();
}

void Sql_Writer::print(const Rename_Field& e) {
  if (const Table* const table = names_.schema().find_table(e.table))
    require_new_field_name(*table, e.field, e.name);
  out_.add("ALTER TABLE \"", names_.table(e.table), "\" RENAME COLUMN \"",
           names_.field(e.table, e.field), "\" TO ");
  add_new_name(e.name);
  out_.add(';');
  out_.end_line();
}

void Sql_Writer::print(const Custom& e) {
  out_.add("-- custom: ");
  end_comment(e.name);
}

void Sql_Writer::print(const Comment& e) {
  out_.add("-- ");
  end_comment(e.text);
}

void Sql_Writer::print(const Timestamp& e) {
  out_.add("-- ", dump_time_text(e.seconds));
  out_.end_line();
}

void Sql_Writer::print(const Valid_Data&) {
  out_.add("-- valid data");
  out_.end_line();
}

void Sql_Writer::print(const Insert& e) { print(Insert_Vector{e.table, e.record, 1}); }

void Sql_Writer::print(const Delete& e) { print(Delete_Vector{e.table, e.record, 1}); }

void Sql_Writer::print(const Insert_Vector& e) {
  require_not_too_many(e.size);
  const std::string_view table = names_.table(e.table);
  for (std::int64_t i = 0; i < e.size; ++i) {
    out_.add("INSERT INTO \"", table, "\"(\"__id\") VALUES(", (e.record + i).value(), ");");
    out_.end_line();
  }
}

// Deletes from the last record to the first, in the order of the entry.
void Sql_Writer::print(const Delete_Vector& e) {
  require_not_too_many(e.size);
  const std::string_view table = names_.table(e.table);
  for (std::int64_t i = e.size; --i >= 0;) {
    out_.add("DELETE FROM \"", table, "\" WHERE \"__id\" = ", (e.record + i).value(), ';');
    out_.end_line();
  }
}

void Sql_Writer::require_not_too_many(std::int64_t size) const {
  if (size > max_vector_) throw Data_Error("too big: " + std::to_string(size) + " records");
}

// ---- parts of SQL

void Sql_Writer::add_rule(const Comment& e) {
  if (open_field_.empty()) return;
  const auto declaration = parse_declaration(e.text);
  if (!declaration || declaration->table != open_table_ || declaration->field != open_field_)
    return;
  out_.add(sql_on_delete(declaration->type.logical.on_delete));
}

void Sql_Writer::end_reference() {
  if (open_field_.empty()) return;
  open_field_.clear();
  out_.add(';');
  out_.end_line();
}

void Sql_Writer::add_value(Blob value) {
  if (blobs_ == nullptr)
    out_.add("\"BLOB\"");
  else if (value.is_null())
    out_.add("NULL");
  else
    append_sql_bytes(out_.text(), blobs_->read_blob(value));
}

// Appends the name in an entry. The name may be invalid, because it is printed before it is
// checked.
void Sql_Writer::add_new_name(std::string_view name) {
  std::string& out = out_.text();
  out += '"';
  for (const char c : name) {
    if (c == '"') out += '"';
    if (is_control(c))
      append_octal(out, c);
    else
      out += c;
  }
  out += '"';
}

// Begins each line of the text with "-- ". Escapes control characters as joedbi does, because some
// readers drop a line, or the rest of it, at a zero byte.
void Sql_Writer::end_comment(std::string_view text) {
  std::string& out = out_.text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (c == '\n' || c == '\r')
      out += "\n-- ";
    else if (is_control(c) && c != '\t')
      append_octal(out, c);
    else
      out += c;
  }
  out_.end_line();
}

}  // namespace joedb::inline v1
