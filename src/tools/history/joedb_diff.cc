#include <algorithm>
#include <ctime>
#include <filesystem>

#include "history/change_parts.h"
#include "joedb/history/changes.h"
#include "text/patch_text.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/history_options.h"
#include "tools/history/history_output.h"

namespace joedb {

namespace {

struct Diff_Command {
  History_Options history;
  bool has_only_summary = false;
  bool is_patch = false;
  bool has_exit_code = false;

  Recovery recovery() const {
    return history.ignore_header ? Recovery::ignore_header : history.recovery;
  }
};

struct Difference {
  History_Output::State from;
  History_Output::State to;
  std::vector<Change> changes;
  Offset blobs_end;  // as in write_patch
  Names names;       // the names at `from`, for a patch
};

// ---- differences --------------------------------------------------------------------------------

// A handler that applies only schema entries.
struct Schema {
  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (is_schema_entry<Entry>) database(entry);
  }
  Database database;
};

Names names_at(Abstract_File& file, Offset position, Recovery recovery) {
  Readonly_Journal journal(file, recovery);
  Schema schema;
  journal.replay(schema, position);
  return names_of(schema.database);
}

Difference of_positions(const std::string& name, const When& a, const std::optional<When>& b,
                        const Diff_Command& command) {
  const auto file = open_source(name, command.history.source);
  return name_file_in_errors(file->get_name(), [&] {
    const Change_Options options = command.history.for_file(*file);
    if (!b && !a.moment && !read_tags(*file, options.recovery).by_name().contains(a.text))
      throw Exception(a.text +
                      ": there is no such file, and it is neither a position, a time nor a tag");
    const Offset from = find_position(*file, a, options.recovery);
    const Offset to = b ? find_position(*file, *b, options.recovery)
                        : Readonly_Journal(*file, options.recovery).get_checkpoint();
    std::vector<Change> changes = net_changes(*file, from, to, options);
    if (!options.tables.empty())
      std::erase_if(changes, [&](const Change& change) {
        return std::find(options.tables.begin(), options.tables.end(), change.table->id) ==
               options.tables.end();
      });
    Names names;
    if (command.is_patch) names = names_at(*file, from, options.recovery);
    return Difference{{file->get_name(), from},
                      {file->get_name(), to},
                      std::move(changes),
                      from,
                      std::move(names)};
  });
}

struct Loaded_File {
  Loaded_File(const std::string& name, const Diff_Command& command)
      : file(open_source(name, command.history.source)) {
    name_file_in_errors(file->get_name(), [&] {
      Reading_Options reading;
      reading.recovery = command.recovery();
      Readonly_Journal journal(*file, reading.recovery);
      reading.load(journal, database);
      state = {file->get_name(), journal.get_checkpoint()};
    });
  }

  std::unique_ptr<Abstract_File> file;
  Database database;
  History_Output::State state;
};

Difference of_files(const std::string& a, const std::string& b, const Diff_Command& command) {
  const Loaded_File from(a, command);
  const Loaded_File to(b, command);
  const std::string& table = command.history.table;
  if (!table.empty() && from.database.find_table(table) == nullptr &&
      to.database.find_table(table) == nullptr)
    throw Exception("neither file has a table " + table);
  Difference_Options options;
  options.blobs_of_a = from.file.get();
  options.blobs_of_b = to.file.get();
  std::vector<Change> changes = differences(from.database, to.database, options);
  if (!table.empty())
    std::erase_if(changes, [&](const Change& change) { return change.table_name() != table; });
  return {from.state, to.state, std::move(changes), 0, names_of(from.database)};
}

// Removes all changes except those of one record.
void select(std::vector<Change>& changes, Record_Id record) {
  std::erase_if(changes, [&](const Change& change) {
    return !change.is_of_records() || record < change.record ||
           !(record < change.record + change.size);
  });
  for (Change& change : changes) {
    const index_t i = record.value() - change.record.value();
    for (Field_Change& field : change.fields)
      for (Values* const values : {&field.old_values, &field.new_values})
        if (!values->is_empty()) *values = part_of(*values, i, 1);
    change.record = record;
    change.size = 1;
  }
}

// ---- output -------------------------------------------------------------------------------------

void print(const Difference& difference, const Diff_Command& command) {
  const History_Options& history = command.history;
  print_paged(!history.is_json && !command.is_patch, [&](std::ostream& out) {
    if (command.is_patch)
      write_patch(out, difference.changes, difference.blobs_end, difference.names);
    else
      History_Output(out, history)
          .print_difference(difference.from, difference.to, difference.changes,
                            !command.has_only_summary);
  });
}

const char* const diff_details =
    R"(FROM and TO are positions of the journal, as shown by joedb_log; times: "2026-01-31",
"2026-01-31 12:00", yesterday, "2 hours ago"; or tags. TO defaults to the latest state, and
may be before FROM.

Two files are compared by content, regardless of their histories: tables and fields by name, records
by id, blobs by bytes. If a file is named like a time, write ./yesterday. A file takes precedence
over a tag of the same name.

Changes are marked + for records that are only in the second state, ~ for records with other values,
and - for records that are only in the first state. The last lines are their totals.
)";

}  // namespace

int run_diff(std::vector<std::string> arguments) {
  Options options({"joedb_diff [options] FILE FROM [TO]\n       joedb_diff [options] FILE1 FILE2",
                   "Compares two states of a database, or two files.", diff_details,
                   "  joedb_diff people.joedb yesterday\n"
                   "  joedb_diff --stat people.joedb 129 137\n"
                   "  joedb_diff people.joedb backup.joedb\n"
                   "  joedb_diff --patch people.joedb backup.joedb | joedbi people.joedb\n"});
  Diff_Command command;
  options.add_flag("--stat", command.has_only_summary,
                   "show only the number of records that differ");
  options.add_flag("--patch", command.is_patch,
                   "print joedbi commands that turn the first state into the second");
  options.add_flag("--exit-code", command.has_exit_code, "exit with 1 if the states differ");
  add_history_options(options, command.history);
  options.set_words({kinds::database, kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_name();
  if (words->is_empty()) words->fail("the second state or file is missing");
  const std::string second = words->take_name();
  std::optional<When> from, to;
  if (!words->is_empty()) {
    from = parse_when(second, "FROM");
    to = parse_when(words->take_last_name(), "TO");
  } else {
    // If a file and a tag have this name, use the file.
    from = parse_when(second, std::time(nullptr));
    std::error_code ignored;
    if (from && !from->moment && (is_url(second) || std::filesystem::exists(second, ignored)))
      from.reset();
  }
  command.history.check(*words);
  if (command.is_patch && (command.history.is_json || command.has_only_summary))
    words->fail("--patch excludes --json and --stat");
  std::error_code ignored;
  if (!from && !is_url(second) && !std::filesystem::exists(second, ignored))
    throw Exception(second +
                    ": there is no such file, and it is neither a position, a time nor a tag");

  Difference difference =
      from ? of_positions(name, *from, to, command) : of_files(name, second, command);
  if (command.history.record) select(difference.changes, Record_Id(*command.history.record));
  print(difference, command);
  return command.has_exit_code && !difference.changes.empty() ? 1 : 0;
}

}  // namespace joedb
