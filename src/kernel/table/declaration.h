#ifndef JOEDB_SRC_KERNEL_TABLE_DECLARATION_H
#define JOEDB_SRC_KERNEL_TABLE_DECLARATION_H

#include <optional>
#include <string>
#include <string_view>

#include "joedb/table/writable_database.h"
#include "kernel/schema/logical_type.h"

// Declarations are comments in the journal that say what format 5 has no entry for: "joedb: type
// TABLE.FIELD TYPE", with a TYPE of parse_declared_type(), and "joedb: create_index NAME TABLE
// FIELD,…", create_unique_index or drop_index. Programs that do not know declarations, like joedb
// 10, read over them. docs/file_format.md has the grammar.

namespace joedb::inline v1 {

// The logical type of a field. The names are part of the text of the comment.
struct Type_Declaration {
  std::string_view table;
  std::string_view field;
  Declared_Type type;
};

// From now on, every comment is only a comment in this process, as in joedb 10. Call it before
// other threads use databases.
void ignore_declarations();
bool are_declarations_ignored();

// Returns nullopt if the comment is no declaration.
std::optional<Type_Declaration> parse_declaration(std::string_view comment);
// Parses the TYPE: that of parse_declared_type(), "references", or "references on_delete clear".
std::optional<Declared_Type> parse_type_words(std::string_view words);

// A declaration of an index, or its end, which has only a name.
struct Index_Declaration {
  bool is_drop = false;
  bool is_unique = false;
  std::string_view name = {};
  std::string_view table = {};
  std::vector<std::string_view> fields = {};
};
std::optional<Index_Declaration> parse_index_declaration(std::string_view comment);
// Returns nullopt if the table or a field does not exist.
std::optional<Index_Definition> definition_of(const Index_Declaration& declaration,
                                              const Database& database);

// True for the declaration of a type or an index.
bool is_declaration(std::string_view comment);

// Returns the command of joedbi that declares an index, "create_index by_name person name", and the
// text of the comment.
std::string index_command(const Index_Definition& index, const Table& table);
std::string index_declaration(const Index_Definition& index, const Table& table);
// Returns the comments that declare the indexes of a table, in the order of their names.
std::vector<std::string> index_declarations(const Database& database, const Table& table);

// Declares an index. Throws Data_Error if that cannot be (Database::declaration_problem), and
// Unique_Violation if the records violate it. Nothing has changed then.
void declare_index(Writable_Database& database, const Index_Definition& index);
// Ends the declaration of an index. Throws Data_Error if it is not declared.
void drop_index(Writable_Database& database, std::string_view name);

// Returns, for each unique declared index that has a key twice, a text such as "by_name: 2 records
// have the key of another one; …". Programs that do not know declarations can write such keys.
std::vector<std::string> violated_indexes(const Database& database);

// Returns the text of a comment. Requires is_stored_as(logical, stored).
std::string type_declaration(std::string_view table, std::string_view field, Type_Code stored,
                             const Logical_Type& logical);

// Returns the type of a field as joedbi writes it: "date", or "references city". `gone` stands for
// a table that was dropped.
std::string type_text(const Database& database, const Column_Base& column, std::string_view gone);

// Returns, for each field with values that its logical type does not have, a text such as
// "invoice.state: 3 records have no value of its type; the first is record 7, with 9". Programs
// that do not know declarations can write such values. Does not read JSON.
std::vector<std::string> invalid_values(const Database& database);

// True if the first names of an enumeration are the names of another one.
bool is_extension(const std::vector<std::string>& names, const std::vector<std::string>& more);

// Throws Data_Error if a value of the field that has the logical type `before` has not the same
// meaning, or none, as one of `after`.
void require_same_meaning(const Table& table, const Field& field, const Logical_Type& before,
                          const Logical_Type& after);

// Declares the logical type of a field; a plain type ends the declaration. Throws Data_Error if the
// field does not exist; if its stored type does not suit; if values of records would have another
// meaning, or none; or if names of an enumeration would end or move. Nothing has changed then.
void declare_type(Writable_Database& database, Table_Id table, Field_Id field,
                  const Logical_Type& logical);

// Adds a field and declares its logical type. If it is optional, the records that are there have no
// value. Throws the exceptions of Writable_Database::write.
void add_field(Writable_Database& database, const Add_Field& entry, const Logical_Type& logical);

// Gives the records [first, first + size) the value that means "no value" in an optional field;
// does nothing for another field. Format 5 gives new records and fields the default value of the
// stored type, so code that inserts a record, or adds a field to records, and has no value, calls
// this. Throws the exceptions of Writable_Database::write.
void write_missing(Writable_Database& database, const Table& table, Field_Id field, Record_Id first,
                   index_t size);

// The same for all fields for which has_value(Field_Id) is false.
template <class Has_Value>
void write_missing(Writable_Database& database, const Table& table, Record_Id first, index_t size,
                   Has_Value has_value) {
  for (std::size_t i = 0; i < table.fields().size(); ++i) {
    const Field_Id field(static_cast<std::uint16_t>(i + 1));
    const auto& column = table.fields()[i].column;
    if (column && column->logical().is_optional && !has_value(field))
      write_missing(database, table, field, first, size);
  }
}

}  // namespace joedb::inline v1

#endif
