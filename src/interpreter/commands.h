#ifndef JOEDB_INTERPRETER_COMMANDS_H
#define JOEDB_INTERPRETER_COMMANDS_H

#include <cstdint>
#include <ctime>
#include <functional>
#include <string>

#include "interpreter/command_loop.h"
#include "joedb/table/writable_database.h"

// The commands of joedbi, group by group. What they work on must outlive the loop.

namespace joedb::inline v1 {

struct Command_Options {
  index_t max_record_id = 0;  // 0: no limit
  // Seconds since 1970.
  std::function<std::int64_t()> now = [] { return std::int64_t{std::time(nullptr)}; };
};

// ---- groups -------------------------------------------------------------------------------------

// timestamp, comment, …, checkpoints and blobs. A Journal is a Writable_Database, or has the same
// functions. After a rollback, `after_rollback` is called.
template <class Journal>
void add_journal_commands(
    Command_Loop& loop, Journal& journal, const Command_Options& options,
    std::function<void()> after_rollback = [] {});

// table, record, schema, dump, sql, json
void add_display_commands(Command_Loop& loop, const Database& database);

// insert_into, update, …
void add_data_commands(Command_Loop& loop, Writable_Database& database,
                       const Command_Options& options);

// create_table, add_field, …
void add_schema_commands(Command_Loop& loop, Writable_Database& database);

// read_blob
void add_blob_commands(Command_Loop& loop, std::function<std::string(Blob)> read);

// ---- for commands -------------------------------------------------------------------------------

// Reads the name of a table; throws Data_Error if there is no such table.
const Table& read_table(Line_Reader& in, const Database& database);

// Reads a value that a journal can hold: any negative reference is null. Throws Data_Error if the
// blob could not be written.
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
           const std::int64_t seconds = in.read_integer_or(0);
           journal.write(Timestamp{in.has_failed() ? now() : seconds});
         }},
        {"comment", "comment \"<comment_string>\"",
         [&journal](Line_Reader& in, std::ostream&) {
           journal.write(Comment{in.read_value<std::string_view>()});
         }},
        {"valid_data", "valid_data",
         [&journal](Line_Reader&, std::ostream&) { journal.write(Valid_Data{}); }},
        {"flush", "flush", [&journal](Line_Reader&, std::ostream&) { journal.flush(); }},
        {"soft_checkpoint|checkpoint", "[soft_]checkpoint",
         [&journal](Line_Reader&, std::ostream&) { journal.soft_checkpoint(); }},
        {"hard_checkpoint", "hard_checkpoint",
         [&journal](Line_Reader&, std::ostream&) { journal.hard_checkpoint(); }},
        {"rollback", "rollback (forget everything since the last checkpoint)",
         [&journal, after_rollback](Line_Reader&, std::ostream&) {
           journal.rollback();
           after_rollback();
         }},
        {"write_blob", "write_blob <data_string>", [&journal](Line_Reader& in, std::ostream& out) {
           const Blob blob = journal.write_blob(in.read_value<std::string_view>());
           out << blob.get_position() << ',' << blob.get_size() << '\n';
         }}}});
}

}  // namespace joedb::inline v1

#endif
