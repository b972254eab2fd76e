#ifndef JOEDB_INTERPRETER_COMMANDS_H
#define JOEDB_INTERPRETER_COMMANDS_H

#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>

#include "interpreter/command_loop.h"
#include "joedb/table/writable_database.h"

// The commands of joedbi, group by group. What they work on must outlive the loop.

namespace joedb::inline v1 {

struct Command_Options {
  // No record id may be larger, and no vector as large. 0: what the journal allows
  // (Database::free_rows_of_journal).
  index_t max_record_id = 0;
  bool has_limit_option = false;  // somebody can set it: --max_record_id
  // Seconds since 1970.
  std::function<std::int64_t()> now = [] { return std::int64_t{std::time(nullptr)}; };
  // Called by the commands that write a checkpoint, before they do.
  std::function<void()> before_checkpoint = [] {};
};

// ---- groups -------------------------------------------------------------------------------------

// timestamp, comment, …, checkpoints and blobs. A Journal is a Writable_Database, or has the same
// functions. After a rollback, `after_rollback` is called.
template <class Journal>
void add_journal_commands(
    Command_Loop& loop, Journal& journal, const Command_Options& options,
    std::function<void()> after_rollback = [] {});

// table, record, find, describe, schema, dump, sql, json
void add_display_commands(Command_Loop& loop, const Database& database);

// insert_into, update, …
void add_data_commands(Command_Loop& loop, Writable_Database& database,
                       const Command_Options& options);

// create_table, add_field, …
void add_schema_commands(Command_Loop& loop, Writable_Database& database);

// read_blob
void add_blob_commands(Command_Loop& loop, std::function<std::string(Blob)> read);

// ---- for commands -------------------------------------------------------------------------------

// Reads the name of a table, of a field; throws Data_Error if there is no such thing.
const Table& read_table(Line_Reader& in, const Database& database);
Field_Id read_field(Line_Reader& in, const Table& table);
// The error about the word that was read last.
Data_Error no_such_table(const Line_Reader& in, const Database& database, std::string_view name);

// What the command `find` does, behind its name.
void find_records(Line_Reader& in, std::ostream& out, const Database& database,
                  const Display& display);
// What may stand between a field and a value there.
inline constexpr std::string_view find_operators[] = {
    "=", "!=", "<", "<=", ">", ">=", "begins", "contains"};
bool is_find_operator(std::string_view word);

// What the command `describe` prints: all tables, or one.
void describe(std::ostream& out, const Database& database, const Display& display);
void describe(std::ostream& out, const Database& database, const Table& table,
              const Display& display);

// Reads the seconds of a time stamp; now() if none are given. The same time may follow as text, as
// Command_Writer prints it.
std::int64_t read_timestamp(Line_Reader& in, const std::function<std::int64_t()>& now);

// Reads a value that a journal can hold; throws Data_Error for any other reference or blob.
// Classic: any negative reference is null.
template <Field_Value T>
T read_field_value(Line_Reader& in) {
  return in.read_value<T>();
}
template <>
Record_Id read_field_value<Record_Id>(Line_Reader& in);
template <>
Blob read_field_value<Blob>(Line_Reader& in);

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
