#include <algorithm>
#include <iostream>

#include "cli/command.h"
#include "cli/database_options.h"
#include "cli/history_json.h"
#include "cli/history_options.h"
#include "cli/history_output.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/standard_input.h"
#include "interpreter/display.h"
#include "joedb/history/blame.h"
#include "joedb/table/load.h"
#include "schema/value_text.h"
#include "table/record_runs.h"

namespace joedb {

namespace {

struct Blame_Command {
  std::string table;
  std::optional<Record_Id> record;
  std::string field;
  std::optional<When> when;
  bool has_fields = false;
  bool is_json = false;
  bool is_complete = false;
  Colour colour = Colour::automatic;
  Recovery recovery = Recovery::none;
};

class Blame_Printer {
 public:
  Blame_Printer(Abstract_File& file, const Blame_Command& command, std::ostream& out)
      : command_(command),
        out_(out),
        has_colours_(has_colours(command.colour)),
        line_(out, {.is_json = command.is_json,
                    .has_colours = has_colours_,
                    .is_complete = command.is_complete,
                    .record = {},
                    .position_width = 0}) {
    Readonly_Journal journal(file, command.recovery);
    const Offset end = command.when ? find_position(file, *command.when, command.recovery)
                                    : journal.get_checkpoint();
    load(database_, journal, end);
    require_entry_end(journal, end);
    table_ = std::as_const(database_).find_table(command.table);
    if (table_ == nullptr) throw Exception("there is no table " + command.table);
    if (command.record && !table_->is_used(*command.record))
      throw Exception("there is no record " + std::to_string(command.record->value()) + " of " +
                      command.table);
    if (!command.field.empty()) {
      field_ = table_->find_field(command.field);
      if (field_.is_null())
        throw Exception("the table " + command.table + " has no field " + command.field);
    }
    blame_.emplace(file, database_, end, table_->id(), command.record.value_or(Record_Id()),
                   command.recovery);
  }

  void print() {
    if (command_.record) return print_values(*command_.record);
    for_each_run(*table_, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) {
        if (command_.has_fields)
          print_values(Record_Id(id));
        else
          print_line({{"record", id}}, std::to_string(id), blame_->last_writer(Record_Id(id)));
      }
    });
  }

 private:
  void print_values(Record_Id record) {
    for (std::size_t i = 0; i < table_->fields().size(); ++i) {
      const Field& field = table_->fields()[i];
      const Field_Id id(static_cast<std::uint16_t>(i + 1));
      if (!field.column || (!field_.is_null() && id != field_)) continue;
      Values values(field.column->type().code);
      values.append(*field.column, record.value(), 1);
      const Transaction_Info* const writer = blame_->writer(record, id);
      if (command_.is_json) {
        print_line(
            {{"record", record.value()}, {"field", field.name}, {"value", json_of(values[0])}}, "",
            writer);
        continue;
      }
      std::string text = command_.has_fields ? std::to_string(record.value()) + ' ' : "";
      text += field.name + ' ';
      append_text(text, values[0]);
      print_line({}, text, writer);
    }
  }

  void append_text(std::string& out, const Value& value) const {
    constexpr std::size_t longest_text = 40;
    std::visit(
        [&]<class T>(const T& typed) {
          if constexpr (std::is_same_v<T, std::string_view>) {
            std::size_t size = typed.size();
            if (!command_.is_complete && size > longest_text) {
              size = longest_text;  // a character is not cut
              while (size > longest_text - 4 &&
                     (static_cast<unsigned char>(typed[size]) & 0xc0u) == 0x80u)
                --size;
            }
            append_quoted(out, typed.substr(0, size));
            if (size < typed.size()) out += "…";
          } else {
            append_value(out, typed);
          }
        },
        value);
  }

  void print_line(Json json, const std::string& what, const Transaction_Info* writer) {
    if (command_.is_json) {
      json["transaction"] = writer == nullptr ? Json(nullptr) : json_of(*writer);
      out_ << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
      return;
    }
    out_ << what << "  " << (writer == nullptr ? "" : line_.line(*writer)) << '\n';
  }

  const Blame_Command& command_;
  std::ostream& out_;
  const bool has_colours_;
  History_Output line_;
  Database database_;
  const Table* table_ = nullptr;
  Field_Id field_;
  std::optional<Blame> blame_;
};

const char* const details =
    R"(A line says what was written, and by which transaction: its position, where it ends, its time,
author and comment, as joedb_log shows them. For a table, there is a line for each record, with
the transaction that has written to it last; for a record, a line for each of its values.

)";

}  // namespace

int run_blame(std::vector<std::string> arguments) {
  Options options({"joedb_blame [options] FILE TABLE [RECORD [FIELD]]",
                   "Shows by which transactions the values of a table were written.", details,
                   "  joedb_blame people.joedb person\n"
                   "  joedb_blame people.joedb person 3\n"
                   "  joedb_blame --at '2 hours ago' people.joedb person 3 age\n"});
  Blame_Command command;
  std::optional<std::string> when;
  Source_Options source;
  bool ignore_header = false;
  options.add_flag("--fields", command.has_fields, "of a table: a line for each value");
  options.add("--at", when, "the state at this position, time or tag", Value_Kind{"WHEN", ""});
  options.add_flag("--all", command.is_complete, "show the whole of long texts");
  options.add_flag("--json", command.is_json, "print JSON: an object for each line");
  add_colour_option(options, command.colour);
  add_recovery_option(options, command.recovery);
  options.add_flag("--ignore_header", ignore_header, "the same as --recovery ignore_header");
  add_source_options(options, source);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_name();
  command.table = words->take_name();
  if (!words->is_empty()) command.record = parse_record(words->take_name());
  if (!words->is_empty()) command.field = words->take_last_name();
  words->require_end();
  if (command.has_fields && command.record)
    words->fail("--fields is for a table: of a record, all are shown");
  if (when) command.when = parse_when(*when, "--at");
  if (ignore_header) command.recovery = Recovery::ignore_header;
  const auto file = open_source(name, source);
  name_file_in_errors(file->get_name(), [&] {
    Paged_Output out(!command.is_json && is_interactive() && has_pager_program());
    try {
      Blame_Printer(*file, command, out.stream()).print();
    } catch (const Display_Stopped&) {
    }
    out.finish();
  });
  return 0;
}

}  // namespace joedb
