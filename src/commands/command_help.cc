#include "commands/command_loop.h"

#include <algorithm>
#include <string>

namespace joedb::inline v1 {

// ---- the commands -------------------------------------------------------------------------------

static constexpr Command_Help commands[] = {
    // general
    {"help", "command", "list the commands, or explain one, with examples", "help\nhelp update\n"},
    {"about", "", "print versions", "about\n"},
    {"quit", "", "quit, and write a checkpoint", "quit\n"},
    {"exit", "", "same as quit", "exit\n"},
    {"abort", "",
     "exit with code 1 and without a checkpoint: the entries written so far become a tail, as if "
     "the program had been killed",
     "abort\n"},
    {"echo", "on|off", "turn the echo of commands (OK: LINE) on or off", "echo off\n"},
    {"prompt", "on|off", "turn the prompt on or off", "prompt off\n"},
    {"set", "setting setting_value",
     "list the settings, or change one: references is names or ids, limit is the maximum number of "
     "records shown of a table (0: all), pager is on or off",
     "set\nset references names\nset limit 100\nset pager off\n"},
    // journal
    {"timestamp", "number",
     "append a time stamp, in seconds since 1970 (default: now). The same time as text may follow, "
     "as printed by joedb_logdump",
     "timestamp\ntimestamp 1767718800\n"},
    {"comment", "new", "append a comment", "comment \"imported from the old list\"\n"},
    {"valid_data", "", "append a valid_data mark", "valid_data\n"},
    {"flush", "", "write the buffer to the file, without a checkpoint", "flush\n"},
    {"soft_checkpoint", "", "write a checkpoint that survives a killed process",
     "soft_checkpoint\n"},
    {"checkpoint", "", "write a checkpoint that survives a killed process", "checkpoint\n"},
    {"hard_checkpoint", "", "write a checkpoint that survives a power cut", "hard_checkpoint\n"},
    {"rollback", "",
     "discard all changes since the last checkpoint, in memory and in the file, and continue",
     "rollback\n"},
    {"write_blob", "new", "append a blob, and print its position and size",
     "write_blob \"\\x89PNG\"\n"},
    {"read_blob", "new new", "print the bytes of a blob, quoted, or write them to the new file OUT",
     "read_blob 45,4\nread_blob 45,4 picture.png\n"},
    // schema
    {"create_table", "new", "create a table without fields", "create_table city\n"},
    {"drop_table", "table", "drop a table with all its records", "drop_table person\n"},
    {"rename_table", "table new", "rename a table", "rename_table person people\n"},
    {"add_field", "table new type = value",
     "add a field to a table; with a value, also write it to all existing records",
     "add_field person town string\nadd_field person friend references person\n"
     "add_field person is_member boolean = true\nadd_field person born date optional\n"
     "add_field person wage decimal(2)\nadd_field person state enum(active, retired)\n"
     "add_field person rival references person on_delete clear\n"},
    {"set_type", "table field type",
     "say what the values of a field mean; the type in the file must be able to store it",
     "set_type person age int32 optional\n"},
    {"retype_field", "table field type",
     "change the type of a field. All values must fit exactly; the field becomes the last one",
     "retype_field person age int64\nretype_field person age decimal(3)\n"},
    {"drop_field", "table field", "drop a field with all its values", "drop_field person age\n"},
    {"rename_field", "table field new", "rename a field", "rename_field person boss manager\n"},
    {"custom", "new",
     "append a custom entry: compiled programs that upgrade to it call their function NAME",
     "custom set_default_town\n"},
    {"create_index", "new table index_field",
     "declare an index in the file, for every program: it finds records by these fields, and keeps "
     "them in their order",
     "create_index person_by_age person age,name\n"},
    {"create_unique_index", "new table index_field",
     "declare an index in the file that refuses a second record with the same key, from every "
     "program",
     "create_unique_index person_by_name person name\n"},
    {"drop_index", "declared_index", "end the declaration of an index",
     "create_index person_by_age person age\ndrop_index person_by_age\n"},
    // data
    {"insert_into", "table new_record row...",
     "insert a record. Without an id, or with a negative one, after the last record. With values: "
     "one per field, in the order of the fields. Without id and values, optional fields are null",
     "insert_into person\ninsert_into person -1 \"Edsger\" 72 0\n"},
    {"delete_from", "table record alone",
     "delete a record; references to it without a rule (on_delete) are not changed. With alone, as "
     "in dumps, no references are",
     "delete_from person 1\n"},
    {"update", "table record field value", "set a field of a record",
     "update person 1 name \"Charles\"\nupdate person 1 boss -1\n"},
    {"insert_vector", "table new_record number", "insert N records, from ID on",
     "insert_vector person 3 10\n"},
    {"delete_vector", "table record number alone",
     "delete N records, from ID on. With alone, as in dumps, no references are changed",
     "delete_vector person 1 2\n"},
    {"update_vector", "table record field number value...", "set a field of N records, from ID on",
     "update_vector person 0 age 3 37 44 85\n"},
    // showing
    {"table", "table number number number",
     "show records as a table. Columns wider than WIDTH (default 25; 0 for no limit) are "
     "truncated; LENGTH records are shown from START on (default 0: all, regardless of START)",
     "table person\ntable person 0\ntable person 25 100 50\n"},
    {"record", "table record",
     "show a record, with its neighbours in the order of insertion (-2: none); without ID, "
     "information about the table",
     "record person 1\nrecord person\n"},
    {"find", "condition...",
     "show the records that satisfy all conditions, by id. OP is =, !=, <, <=, >, >=, begins or "
     "contains, and defaults to =. With --options, find I [VALUE…] shows the records whose keys in "
     "index I begin with these values, in index order, and find I [VALUE…] .. [VALUE…] those from "
     "one "
     "key to another, both included; without values, an end is open",
     "find person name \"Ada\"\nfind person age > 40 age < 50\n"
     "find person name begins \"C\" boss = 0\n"},
    {"describe", "table",
     "list the tables, or the fields of one table, with types, indexes and references, and the "
     "number of records",
     "describe\ndescribe person\n"},
    {"schema", "", "print commands that create the present schema", "schema\n"},
    {"dump", "", "print commands that create the present content", "dump\n"},
    {"sql", "",
     "print the present content as SQL: a transaction with a CREATE TABLE for each table and an "
     "INSERT for each record. The bytes of blobs are not included: their columns are NULL. Names "
     "are changed as by export sqlite",
     "sql\n"},
    {"json", "0|1", "print the content as JSON; with 1, strings as base64", "json\njson 1\n"},
};

std::span<const Command_Help> interpreter_help() { return commands; }

// ---- arguments ----------------------------------------------------------------------------------

namespace {

struct Argument_Help {
  std::string_view word;  // as in the usage of commands
  std::string_view text;
};

constexpr Argument_Help arguments[] = {
    {"table_name", "a table: describe lists them"},
    {"old_table_name", "a table: describe lists them"},
    {"new_table_name", "letters, digits and _, without a leading digit or __"},
    {"field_name", "a field of the table: describe TABLE lists them"},
    {"old_field_name", "a field of the table: describe TABLE lists them"},
    {"new_field_name", "letters, digits and _, without a leading digit or __"},
    {"record_id", "the number in front of a record, from 0 on"},
    {"type",
     "string, blob, int8, int16, int32, int64, float32, float64, boolean, references TABLE, date, "
     "timestamp, duration, decimal(2), enum(NAME, …), bytes, uuid or json; optional may follow, "
     "and "
     "on_delete clear, cascade or refuse behind references TABLE"},
    {"operator", "=, !=, <, <=, >, >=, begins or contains"},
    {"value",
     "a value of the type of the field: \"text\", 12, -1.5, true or false, a record id (-1 for "
     "null), POSITION,SIZE of a blob, 2026-01-31, paid, null. In a text, write \\ before \" and "
     "\\"},
    {"size", "a number of records"},
    {"N", "the number of values"},
    {"v_1", "the values, one per record"},
    {"max_column_width", "in characters; 0 for no limit"},
    {"start", "a record id"},
    {"length", "a number of records; 0 for all"},
    {"base64", "1: print strings as base64"},
    {"stamp", "seconds since 1970"},
    {"comment_string", "any text"},
    {"data_string", "the bytes; \\xHH is a byte in hexadecimal"},
    {"blob", "POSITION,SIZE, as shown by table"},
    {"output_file_name", "a file that does not exist yet"},
    {"custom_name", "the name of the function"},
    {"index_name", "an index of the file, or of the file of --options; describe TABLE lists them"},
    {"new_index_name", "a name that no index of the file has"},
    {"when",
     "a position, as shown by log; a time: 2026-01-31, \"2026-01-31 12:00\", yesterday, \"2 "
     "hours ago\"; or a tag"},
    {"A..B", "two positions, times or tags; A defaults to the beginning, B to the end"},
    {"tag_name", "a word that is neither a position nor a time"},
    {"command", "a command, as listed by help"},
    {"setting", "references, limit or pager"},
    {"setting_value", "names or ids; a number; on or off"},
    {"wait_seconds", "how long to wait for other writers, at most"},
    {"sleep_seconds", "pause between repetitions"},
};

constexpr std::size_t line_width = 79;

// Breaks a text into lines. The first line begins at `column`; the others are indented.
void print_wrapped(std::ostream& out, std::string_view text, std::size_t column,
                   std::size_t indentation) {
  for (bool is_first = true; !text.empty(); is_first = false) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!is_first && column + 1 + word.size() > line_width) {
      out << '\n' << std::string(indentation, ' ');
      column = indentation;
    } else if (!is_first) {
      out << ' ';
      ++column;
    }
    out << word;
    column += word.size();
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  out << '\n';
}

void print_lines(std::ostream& out, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    out << "  " << line << '\n';
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
}

bool has_argument(const std::vector<std::string_view>& forms, std::string_view word) {
  const std::string marked = '<' + std::string(word) + '>';
  return std::any_of(forms.begin(), forms.end(),
                     [&](std::string_view form) { return form.find(marked) != form.npos; });
}

}  // namespace

void print_command_help(std::ostream& out, const std::vector<std::string_view>& forms,
                        const Command_Help& help) {
  for (const std::string_view form : forms) out << form << '\n';
  out << "\n  ";
  print_wrapped(out, help.summary, 2, 2);
  std::size_t longest = 0;
  for (const Argument_Help& a : arguments)
    if (has_argument(forms, a.word)) longest = std::max(longest, a.word.size());
  if (longest > 0) out << '\n';
  for (const Argument_Help& a : arguments) {
    if (!has_argument(forms, a.word)) continue;
    const std::size_t column = longest + 6;
    out << "  <" << a.word << '>' << std::string(longest - a.word.size() + 2, ' ');
    print_wrapped(out, a.text, column, column);
  }
  out << "\nexamples:\n";
  print_lines(out, help.examples);
}

}  // namespace joedb::inline v1
