#ifndef JOEDB_SRC_TEXT_ENTRY_TEXT_H
#define JOEDB_SRC_TEXT_ENTRY_TEXT_H

#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include "joedb/format/codec.h"
#include "joedb/format/entry.h"
#include "joedb/io/file.h"
#include "joedb/table/database.h"
#include "kernel/schema/logical_type.h"
#include "text/sql.h"
#include "text/text_buffer.h"

// Handlers that print the entries of a journal, one entry per line. Rules for all these handlers:
//
// * Call begin(position) and end(position) before and after a replay that has entries to print.
// * Entries of records may be invalid. Schema entries must be valid, because names depend on them.
//   They are printed before they are checked.
// * Names, comments and texts may contain any bytes. The output always has the meaning of the
//   entries: no text can end its line, so that the rest would be read as a command.

namespace joedb::inline v1 {

template <class Entry, class... Entries>
inline constexpr bool is_one_of = (std::is_same_v<Entry, Entries> || ...);

// Entries that change tables or fields.
template <class Entry>
concept Schema_Entry =
    is_one_of<Entry, Create_Table, Drop_Table, Rename_Table, Add_Field, Drop_Field, Rename_Field>;

// Returns true for a vector without values, which changes nothing and is not printed.
template <class Entry>
bool is_vector_without_values(const Entry& entry) {
  if constexpr (requires { entry.values; })
    return entry.size == 0;
  else
    return false;
}

// The names of tables and fields at a position of a journal.
class Entry_Names {
 public:
  // Applies a schema entry. Throws Data_Error if it is invalid.
  void operator()(const Schema_Entry auto& entry) { schema_(entry); }
  // A comment may declare a logical type or an index.
  void operator()(const Comment& entry) { schema_(entry); }

  // Return "__unknown_table__" and "__unknown_field__" for unknown ids.
  std::string_view table(Table_Id id) const;
  std::string_view field(Table_Id table_id, Field_Id id) const;
  // Plain for unknown ids.
  const Logical_Type& logical(Table_Id table_id, Field_Id id) const;
  const Database& schema() const { return schema_; }

 private:
  Database schema_;
};

// ---- joedbi -------------------------------------------------------------------------------------

// Prints entries as commands of joedbi. Raw output shows entries as they are in the file, with ids
// instead of names, and without any checks.
class Command_Writer {
 public:
  enum class Form { commands, raw };

  // `blobs` is the file of the journal, or null. With a file, a blob is printed with its position
  // and its bytes. Form::raw prints only the bytes, and requires a file.
  explicit Command_Writer(std::ostream& out, const Abstract_File* blobs = nullptr,
                          Form form = Form::commands)
      : out_(out), blobs_(blobs), is_raw_(form == Form::raw) {}
  ~Command_Writer() { end_field(); }

  void begin(Offset /*position*/) {}
  // Prints an empty line, except in raw form.
  void end(Offset /*position*/) {
    end_field();
    if (!is_raw_) out_.end_line();
  }
  void flush() {
    end_field();
    out_.flush();
  }

  // The declaration of a logical type that directly follows its Add_Field becomes a part of
  // `add_field`, unless that would make existing values null. The declaration of an index becomes a
  // command.
  template <class Entry>
  void operator()(const Entry& entry) {
    if (is_vector_without_values(entry)) return;
    if constexpr (std::is_same_v<Entry, Comment>)
      if (print_declaration(entry)) return;
    end_field();
    if constexpr (std::is_same_v<Entry, Insert> || std::is_same_v<Entry, Insert_Vector>)
      filled_table_ = entry.table == filled_table_ ? entry.table : note_records(entry.table);
    print(entry);
    if constexpr (std::is_same_v<Entry, Add_Field>)
      has_open_field_ = true;
    else
      out_.end_line();
    if constexpr (Schema_Entry<Entry>)
      if (!is_raw_) names_(entry);
  }

  // Applies a schema entry, or a comment, without printing it.
  void skip(const auto& entry) { names_(entry); }
  // Says that a table has records, and returns its id.
  Table_Id note_records(Table_Id table) { return *filled_tables_.insert(table).first; }

 private:
  void print(const Create_Table& e);
  void print(const Drop_Table& e);
  void print(const Rename_Table& e);
  void print(const Add_Field& e);
  void print(const Drop_Field& e);
  void print(const Rename_Field& e);
  void print(const Custom& e);
  void print(const Comment& e);
  void print(const Timestamp& e);
  void print(const Valid_Data& e);
  void print(const Blob_Data& e);
  void print(const Insert& e);
  void print(const Delete& e);
  void print(const Insert_Vector& e);
  void print(const Delete_Vector& e);

  template <Field_Value T>
  void print(const Update<T>& e) {
    add_update("update", code_of<T>, e.table, e.record, e.field);
    out_.add(' ');
    append_value<T>(out_.text(), names_.logical(e.table, e.field), e.value);
  }

  template <Field_Value T>
  void print(const Update_Vector<T>& e) {
    add_update("update_vector", code_of<T>, e.table, e.record, e.field);
    out_.add(' ', e.size);
    const Logical_Type& logical = names_.logical(e.table, e.field);
    while (e.values.remaining() > 0) {
      out_.add(' ');
      append_value<T>(out_.text(), logical, e.values.next());
      out_.write_full_block();
    }
  }

  // Append a blank and the name; in raw form, a blank and the id.
  void add_table(Table_Id id);
  void add_field(Table_Id table, Field_Id id);
  // Appends " alone" to a deletion if references to the table have rules: the entries before it
  // already are what follows from it.
  void add_alone(Table_Id table);
  // Appends a blank and the name in an entry. The name may be invalid, because it is printed before
  // it is checked.
  void add_new_name(std::string_view name);
  void add_update(std::string_view command, Type_Code code, Table_Id table, Record_Id record,
                  Field_Id field);
  void add_quoted(std::string_view command, std::string_view text);
  // Prints the declaration of the field of the last line; returns false for any other comment.
  bool print_declaration(const Comment& e);
  void end_field() {
    if (has_open_field_) out_.end_line();
    has_open_field_ = false;
  }

  Text_Buffer out_;
  const Abstract_File* const blobs_;
  const bool is_raw_;
  Entry_Names names_;
  // True if the last line is an add_field without its end. The text of its type begins at
  // type_begin_.
  bool has_open_field_ = false;
  std::size_t type_begin_ = 0;
  std::pair<Table_Id, std::string> last_field_;
  // The tables that have, or once had, records, and the last one of them that was printed.
  std::set<Table_Id> filled_tables_;
  Table_Id filled_table_;
};

// ---- SQL ----------------------------------------------------------------------------------------

// Prints entries as SQL for SQLite. A column "__id" has the ids of the records. An entry that SQL
// cannot express becomes a comment. Throws Exception for a name that SQL does not allow, or that
// SQL considers equal to another name: SQLite would report an error, continue, and change the other
// field.
class Sql_Writer {
 public:
  // bytes: as joedb 10 writes them. SQLite stores these as BLOBs, which never compare equal to a
  // text.
  enum class Strings { text, bytes };
  // `blobs` is the file of the journal, or null. Without a file, blob fields stay NULL.
  explicit Sql_Writer(std::ostream& out, const Abstract_File* blobs = nullptr,
                      Strings strings = Strings::text)
      : out_(out), blobs_(blobs), strings_(strings) {}
  ~Sql_Writer() { end_reference(); }

  // Limits the number of records in a vector to that of a journal of `size` bytes
  // (Database::limit_to_journal_of). A larger vector throws Data_Error. Without the limit, a few
  // bytes could become any number of lines, because each record of a vector is a line.
  void limit_to_journal_of(Offset size);

  // Print the beginning and the end of an SQL transaction.
  void begin(Offset position);
  void end(Offset position);
  void flush() {
    end_reference();
    out_.flush();
  }

  // The rule of a reference is a part of its column if the declaration directly follows the
  // Add_Field: SQLite cannot change it later.
  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (std::is_same_v<Entry, Comment>) add_rule(entry);
    end_reference();
    print(entry);
    if constexpr (Schema_Entry<Entry>) names_(entry);
  }

  // Applies a schema entry without printing it.
  void skip(const Schema_Entry auto& entry) { names_(entry); }

 private:
  void print(const Create_Table& e);
  void print(const Drop_Table& e);
  void print(const Rename_Table& e);
  void print(const Add_Field& e);
  void print(const Drop_Field& e);
  void print(const Rename_Field& e);
  void print(const Custom& e);
  void print(const Comment& e);
  void print(const Timestamp& e);
  void print(const Valid_Data& e);
  void print(const Blob_Data&) {}  // printed in the fields that refer to it
  void print(const Insert& e);
  void print(const Delete& e);
  void print(const Insert_Vector& e);
  void print(const Delete_Vector& e);

  template <Field_Value T>
  void print(const Update<T>& e) {
    print_update(names_.table(e.table), names_.field(e.table, e.field), e.record, e.value);
  }

  template <Field_Value T>
  void print(const Update_Vector<T>& e) {
    const std::string_view table = names_.table(e.table);
    const std::string_view field = names_.field(e.table, e.field);
    for (index_t i = 0; e.values.remaining() > 0; ++i)
      print_update(table, field, e.record + i, e.values.next());
  }

  template <Field_Value T>
  void print_update(std::string_view table, std::string_view field, Record_Id record,
                    const T& value) {
    if constexpr (std::is_same_v<T, Blob>)
      if (blobs_ == nullptr) out_.add("-- ");
    out_.add("UPDATE \"", table, "\" SET \"", field, "\" = ");
    add_value(value);
    out_.add(" WHERE \"__id\" = ", record.value(), ';');
    out_.end_line();
  }

  void add_value(const auto& value) { append_sql(out_.text(), value); }
  void add_value(std::string_view value) {
    if (strings_ == Strings::text)
      append_sql_text(out_.text(), value);
    else
      append_sql_bytes(out_.text(), value);
  }
  void add_value(Blob value);

  void add_rule(const Comment& e);
  void end_reference();
  void add_new_name(std::string_view name);
  void end_comment(std::string_view text);
  void require_not_too_many(std::int64_t size) const;

  Text_Buffer out_;
  const Abstract_File* const blobs_;
  const Strings strings_;
  std::int64_t max_vector_ = std::numeric_limits<std::int64_t>::max();
  Entry_Names names_;
  // The table and field of the last line if this adds a reference, and has no end yet.
  std::string open_table_, open_field_;
};

}  // namespace joedb::inline v1

#endif
