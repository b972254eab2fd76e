#ifndef JOEDB_SRC_COMMANDS_COMMANDS_H
#define JOEDB_SRC_COMMANDS_COMMANDS_H

#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>

#include "commands/command_loop.h"
#include "joedb/table/writable_database.h"
#include "kernel/base/parse_number.h"
#include "kernel/schema/line_reader.h"
#include "kernel/schema/logical_type.h"

// The commands of joedbi, by group. The objects on which they operate must outlive the loop.

namespace joedb::inline v1 {

struct Command_Options {
  // The largest id for insert_into; the ids and sizes of vectors must be smaller. 0: the limit of
  // the journal (Database::free_rows_of_journal).
  index_t max_record_id = 0;
  bool has_limit_option = false;  // true if the tool has the option --max-record-id
  // Returns the current time in seconds since 1970.
  std::function<std::int64_t()> now = [] { return std::int64_t{std::time(nullptr)}; };
  // Called before a command makes a checkpoint.
  std::function<void()> before_checkpoint = [] {};
};

// ---- groups -------------------------------------------------------------------------------------

// Adds timestamp, comment, …, checkpoints and blobs. `Journal` is Writable_Database, or a class
// with the same functions. `after_rollback` is called after each command `rollback`.
template <class Journal>
void add_journal_commands(
    Command_Loop& loop, Journal& journal, const Command_Options& options,
    std::function<void()> after_rollback = [] {});

// Adds table, record, find, describe, schema, dump, sql and json.
void add_display_commands(Command_Loop& loop, const Database& database);

// Adds insert_into, update, ….
void add_data_commands(Command_Loop& loop, Writable_Database& database,
                       const Command_Options& options);

// Adds create_table, add_field, ….
void add_schema_commands(Command_Loop& loop, Writable_Database& database);

// Adds read_blob.
void add_blob_commands(Command_Loop& loop, std::function<std::string(Blob)> read);

// Adds log, show, diff, blame and tag for a journal that ends at `end`, and whose content there is
// `database`. All arguments must outlive the loop. Adds nothing if the loop is classic.
void add_history_commands(Command_Loop& loop, const Database& database, Abstract_File& file,
                          Offset end, const Command_Options& options);

// Adds the same commands for a writable database. They read up to the last entry, even if it has no
// checkpoint. Also adds undo, revert and restore, which append transactions without a checkpoint.
void add_history_commands(Command_Loop& loop, Writable_Database& database,
                          const Command_Options& options);

// ---- used by the commands -----------------------------------------------------------------------

// Thrown if the last word read should be the name of a table, but no table has this name.
class Unknown_Table : public Line_Error {
 public:
  explicit Unknown_Table(const Line_Error& error) : Line_Error(error) {}
};

// Read the name of a table or field. Throw Unknown_Table or Line_Error if there is none of that
// name.
const Table& read_table(Line_Reader& in, const Database& database);
Field_Id read_field(Line_Reader& in, const Table& table);
// The same for a name that was just read.
Field_Id find_field(const Line_Reader& in, const Table& table, std::string_view name);
// Returns the error for an unknown table. `name` must be the last word read.
Unknown_Table no_such_table(const Line_Reader& in, const Database& database, std::string_view name);

// Runs the command `find`. The word `find` must have been read.
void find_records(Line_Reader& in, std::ostream& out, const Database& database,
                  const Display& display);
// The operators between a field and a value in `find`.
inline constexpr std::string_view find_operators[] = {
    "=", "!=", "<", "<=", ">", ">=", "begins", "contains"};
bool is_find_operator(std::string_view word);

// Returns the candidates for the argument being typed. `kind` is as in Command_Help. `words` are
// the command and the words between it and the argument. `prefix` is the beginning of the argument.
// Candidates are names in the schema, ids of existing records with their names, and values of
// booleans and references.
Completions complete_from(const Database& database, std::string_view kind,
                          const std::vector<std::string_view>& words, std::string_view prefix);

// Print the output of the command `describe` for all tables, or for one table.
void describe(std::ostream& out, const Database& database, const Display& display);
void describe(std::ostream& out, const Database& database, const Table& table,
              const Display& display);

// The type of a new field.
struct Field_Type {
  Type type;
  Logical_Type logical;
};
// Reads a type: "int32", "decimal(2) optional", "enum(open, paid)" or "references city". Throws
// Line_Error.
Field_Type read_type(Line_Reader& in, const Database& database);

// Reads the time stamp of a command, in seconds. Returns now() if the line has none. The same time
// may follow as text, in the format of Command_Writer.
std::int64_t read_timestamp(Line_Reader& in, const std::function<std::int64_t()>& now);

// Reads a value. Throws Data_Error for a reference or blob that a journal cannot store. With
// Reading::classic, any negative reference is null.
template <Field_Value T>
T read_field_value(Line_Reader& in) {
  return in.read_value<T>();
}
template <>
Record_Id read_field_value<Record_Id>(Line_Reader& in);
template <>
Blob read_field_value<Blob>(Line_Reader& in);

// Reads a value in the format of append_value (kernel/schema/logical_type.h), or another one of
// parse_logical_number. Any number that can be stored is accepted, too, and 0x with the bytes of a
// UUID, because listings show values that the type does not have in this way. With
// Reading::classic, reads the stored value.
template <Field_Value T>
T read_field_value(Line_Reader& in, const Logical_Type& logical) {
  constexpr bool is_number = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  if (logical.has_plain_values() || in.is_classic()) return read_field_value<T>(in);
  if (logical.is_optional && in.peek_word() == "null") {
    in.read_word("value");
    return missing_value<T>(logical);
  }
  using Kind = Logical_Type::Kind;
  if (logical.kind != Kind::plain && logical.kind != Kind::json) {
    if constexpr (is_number) {
      const auto text = in.read_value<std::string_view>();
      auto value = parse_logical_number(text, logical);
      if (!value && logical.kind != Kind::decimal) value = parse_number<T>(text);
      if (value && is_missing(logical, static_cast<T>(*value))) value.reset();
      if (value) return static_cast<T>(*value);
      throw in.unexpected(expected_text(logical));
    }
    if constexpr (std::is_same_v<T, std::string_view>) {
      const auto text = in.read_value<std::string_view>();
      const bool is_raw = logical.kind == Kind::uuid && text.starts_with("0x");
      auto value = is_raw ? parse_logical_bytes(text.substr(2), {.kind = Kind::bytes})
                          : parse_logical_bytes(text, logical);
      if (value) return in.keep(std::move(*value));
      throw in.unexpected(expected_text(logical));
    }
  }
  const T value = read_field_value<T>(in);
  if constexpr (!std::is_floating_point_v<T>)
    if (is_missing(logical, value)) throw in.error("this value means null");
  return value;
}

// ---- implementation -----------------------------------------------------------------------------

template <class Journal>
void add_journal_commands(Command_Loop& loop, Journal& journal, const Command_Options& options,
                          std::function<void()> after_rollback) {
  loop.add_group(
      {"Journal",
       {{"timestamp", "timestamp [<stamp>] (if no value is given, use current time)",
         [&journal, now = options.now](Line_Reader& in, std::ostream&) {
           journal.write(Timestamp{read_timestamp(in, now)});
         }},
        {"comment", "comment \"<comment_string>\"",
         [&journal](Line_Reader& in, std::ostream&) {
           const auto text = in.read_value<std::string_view>();
           in.require_end();
           journal.write(Comment{text});
         }},
        {"valid_data", "valid_data",
         without_arguments([&journal] { journal.write(Valid_Data{}); })},
        {"flush", "flush", without_arguments([&journal] { journal.flush(); })},
        {"soft_checkpoint|checkpoint", "[soft_]checkpoint",
         without_arguments([&journal, before = options.before_checkpoint] {
           before();
           journal.soft_checkpoint();
         })},
        {"hard_checkpoint", "hard_checkpoint",
         without_arguments([&journal, before = options.before_checkpoint] {
           before();
           journal.hard_checkpoint();
         })},
        {"rollback", "rollback (forget everything since the last checkpoint)",
         without_arguments([&journal, after_rollback] {
           journal.rollback();
           after_rollback();
         })},
        {"write_blob", "write_blob <data_string>", [&journal](Line_Reader& in, std::ostream& out) {
           const auto bytes = in.read_value<std::string_view>();
           in.require_end();
           const Blob blob = journal.write_blob(bytes);
           out << blob.get_position() << ',' << blob.get_size() << '\n';
         }}}});
}

}  // namespace joedb::inline v1

#endif
