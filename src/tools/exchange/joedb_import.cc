#include <filesystem>
#include <iostream>

#include "exchange/csv_reader.h"
#include "exchange/import.h"
#include "exchange/jsonl_reader.h"
#include "kernel/base/counted.h"
#include "kernel/base/json_text.h"
#include "kernel/base/plain_text.h"
#include "tools/exchange/exchange_formats.h"
#include "tools/frame/database_options.h"
#include "tools/frame/file_transaction.h"
#include "tools/frame/json_output.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/memory_limit.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/frame/source.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

namespace {

// Options shared by all formats.
struct Import_Options {
  Import_Settings settings;
  std::vector<std::string> types, renames, references, enums;  // of the form NAME=VALUE
  bool is_json = false;
  std::int64_t max_row = std::int64_t{256} << 20;
  Memory_Limit memory;
  Transaction_Options transaction;
};

void add_import_options(Options& options, Import_Options& import) {
  Import_Settings& settings = import.settings;
  options.add("--table", settings.table,
              "the table, which is created if it does not exist (default: the name of IN)",
              Value_Kind{"TABLE", ""});
  options.add("--key", settings.key,
              "fields that identify a record: rows update existing records, and insert the others",
              "FIELD,...");
  options.add_flag("--delete-missing", settings.deletes_missing,
                   "delete the records that match no row; needs --key or a column __id");
  options.add_flag("--preview", settings.has_preview,
                   "show how the columns would be imported, and with a key how many records would "
                   "change, but write nothing");
  options.add("--type", import.types,
              "type of a new field, like date, decimal(2), enum(open,paid) or 'int32 optional', "
              "instead of a type that fits its values; time: seconds since 1970, in an int64",
              "FIELD=TYPE,...");
  options.add_flag("--plain-types", settings.only_plain_types,
                   "new fields are not optional, and are no dates, timestamps or decimals, unless "
                   "--type names such a type");
  options.add_flag("--times", settings.reads_times,
                   "give new fields with times, like 2026-01-31 or 2026-01-31T12:00:00Z, the type "
                   "int64 instead of string");
  options.add(
      "--reference", import.references,
      "look up the values of FIELD in TABLE.FIELD, and store references to the records found",
      "FIELD=TABLE.FIELD,...");
  options.add_flag("--create-references", settings.creates_references,
                   "create the records that --reference does not find");
  options.add("--enum", import.enums,
              "same, with the field name of TABLE (default: the table with the name of FIELD); the "
              "table and its records are created as needed",
              "FIELD[=TABLE],...");
  options.add("--rename", import.renames, "store the values of COLUMN in FIELD",
              "COLUMN=FIELD,...");
  options.add("--skip", settings.skipped,
              "ignore these columns; here and for --rename, COLUMN is a name, or a number from 1",
              "COLUMN,...");
  options.add_flag("--strings", settings.only_strings,
                   "new fields are strings, unless --type names another type");
  options.add_flag("--add-fields", settings.adds_fields,
                   "add fields for new columns to an existing table");
  options.add("--sample", settings.sample,
              "derive the types of new fields from this many rows (default: all rows; 10000 for "
              "standard input and pipes)");
  import.memory.add_to(options);
  options.add("--max-row", import.max_row, "maximum size of a row, in bytes (default: 268435456)",
              {1, std::int64_t{1} << 40});
  options.add_flag("--json", import.is_json, "print the counts as a JSON object");
  add_transaction_options(options, import.transaction);
  add_busy_option(options);
  add_file_modes(options, transaction_grammar);
}

// Returns true if a closing bracket is missing.
bool is_open(const std::string& text) {
  return text.find('(') != text.npos && text.find(')') == text.npos;
}

// Parses words of the form NAME=VALUE. The list was split at commas, which the name of a column,
// and the brackets of a type, may have. The name may also have =.
Named_Settings named(const char* option, const std::vector<std::string>& words,
                     bool may_have_no_value = false) {
  Named_Settings result;
  const auto fail = [&](const std::string& word) {
    throw Usage_Error(std::string(option) + " " + word + ": a name, =, and a value expected");
  };
  std::string begin;  // of a name that has a comma
  for (const std::string& word : words) {
    if (!result.empty() && is_open(result.back().second)) {
      result.back().second += ',' + word;
      continue;
    }
    const std::string whole = begin + word;
    const std::size_t equals = whole.rfind('=');
    if (equals == whole.npos && !may_have_no_value) {
      begin = whole + ',';
      continue;
    }
    if (equals == 0 || equals + 1 == whole.size()) fail(whole);
    if (std::ranges::count(result, whole.substr(0, equals), &Named_Settings::value_type::first) > 0)
      throw Usage_Error(std::string(option) + " names " + whole.substr(0, equals) + " twice");
    result.emplace_back(whole.substr(0, equals),
                        equals == whole.npos ? "" : whole.substr(equals + 1));
    begin.clear();
  }
  if (!begin.empty()) fail(begin.substr(0, begin.size() - 1));
  return result;
}

void finish_settings(Import_Options& import, const std::string& in) {
  Import_Settings& settings = import.settings;
  settings.types = named("--type", import.types);
  settings.renames = named("--rename", import.renames);
  settings.references = named("--reference", import.references);
  settings.enums = named("--enum", import.enums, true);
  settings.memory = import.memory.bytes();
  if (!settings.table.empty()) return;
  if (in == "-") throw Usage_Error("--table is needed for standard input");
  std::filesystem::path name = std::filesystem::path(in).filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  settings.table = identifier_of(name.stem().string());
}

// ---- work ---------------------------------------------------------------------------------------

void require_no_interrupt(const Stop_Signal& stop) { stop.require_none("nothing was imported"); }

// Called after each row: shows progress, and checks for signals.
class Watch {
 public:
  // `what` is the action, for example "importing". `source` and `stop` must outlive this object.
  Watch(const Row_Source& source, const Stop_Signal& stop, const std::string& what)
      : source_(source),
        stop_(stop),
        progress_(what + " " + source.input().name(), 0, source.input().size().value_or(0)) {}

  void operator()() {
    constexpr int step = 1024;
    if (++rows_ % step != 0) return;
    require_no_interrupt(stop_);
    if (source_.input().size()) progress_.update(source_.input().position());
  }

 private:
  const Row_Source& source_;
  const Stop_Signal& stop_;
  Progress progress_;
  std::int64_t rows_ = 0;
};

Import_Plan make_plan(Row_Source& source, const Database& database, const Import_Settings& settings,
                      const Stop_Signal& stop) {
  Watch watch(source, stop, "looking at");
  return plan_import(source, database, settings, [&] { watch(); });
}

// Loads the current content. If the file does not exist, leaves the database empty.
void read_content(const File_Argument& argument, Recovery recovery, Database& database) {
  std::error_code ignored;
  if (argument.kind == File_Argument::Kind::memory ||
      !std::filesystem::exists(argument.name, ignored))
    return;
  File_Argument readable = argument;
  readable.mode = Open_Mode::read_existing;
  Tool_Log log(Log_Options{});
  const auto file = open_file(readable, log);
  Readonly_Journal journal(*file, recovery);
  load(database, journal);
}

Json preview_json(const Import_Plan& plan, const std::optional<Import_Counts>& counts) {
  Json json{{"table", plan.table},
            {"written", false},
            {"new_table", plan.is_new_table},
            {"rows", plan.rows_seen},
            {"all_rows", plan.has_read_all},
            {"fields", Json::array()}};
  for (const Import_Plan::Column& column : plan.columns) {
    Json field{{"name", column.field}, {"type", column.type_text()}, {"new", column.is_new}};
    if (!column.renamed_from.empty()) field["column"] = column.renamed_from;
    json["fields"].push_back(std::move(field));
  }
  if (counts) {
    json["inserted"] = counts->inserted;
    json["updated"] = counts->updated;
    json["unchanged"] = counts->unchanged;
    json["deleted"] = counts->deleted;
    json["created"] = counts->created;
  }
  return json;
}

// With a key or record ids, also counts the records that would change, in a copy of the database.
void preview(Row_Source& source, const File_Argument& file, const Import_Options& import,
             const Stop_Signal& stop) {
  Database database;
  read_content(file, import.transaction.recovery, database);
  const Import_Plan plan = make_plan(source, database, import.settings, stop);
  std::optional<Import_Counts> counts;
  if (!plan.key.empty() || plan.id_source)
    change_copy(file, import.transaction, [&](Writable_Database& copy) {
      Watch watch(source, stop, "comparing");
      counts = import_rows(source, copy, plan, [&] { watch(); });
    });
  if (import.is_json) return print_json(preview_json(plan, counts));
  std::cout << source.input().name() << ": " << counted(plan.rows_seen, "row")
            << (plan.has_read_all ? "\n" : " were looked at; there may be more\n") << plan.text();
  if (counts) {
    std::cout << "would be: ";
    print_counts(plan.table, *counts, false);
  }
  std::cout << "nothing was written\n";
}

// Returns notes like "renamed: column full name is now full_name".
std::string renaming_notes(const Import_Plan& plan) {
  std::string notes;
  for (const Import_Plan::Column& column : plan.columns)
    if (!column.renamed_from.empty())
      notes += "renamed: column " + plain(column.renamed_from) + " is now " + column.field + '\n';
  return notes;
}

// Returns notes like "empty becomes 0: city.population, in 2 rows".
std::string missing_notes(const Import_Counts& counts, const Import_Plan& plan,
                          const Database& database) {
  std::string notes;
  const Table& table = *database.find_table(plan.table);
  for (const auto& [name, rows] : counts.missing) {
    const Column_Base& column = *table.find_field(table.find_field(name))->column;
    notes += "empty becomes " + missing_value_text(column.type().code, column.logical()) + ": " +
             plan.table + '.' + name + ", in " + counted(rows, "row") + '\n';
  }
  for (const auto& [name, rows] : counts.texts)
    notes += "numbers, true and false become texts: " + plan.table + '.' + name + ", in " +
             counted(rows, "row") + '\n';
  return notes;
}

void import_from(Row_Source& source, const File_Argument& file, const Import_Options& import,
                 const Stop_Signal& stop) {
  Import_Counts counts;
  std::string notes;
  change_file(file, import.transaction, [&](Writable_Database& database) {
    const Sql_Notes sql(database.get_database());
    const Import_Plan plan = make_plan(source, database.get_database(), import.settings, stop);
    Watch watch(source, stop, "importing");
    counts = import_rows(source, database, plan, [&] { watch(); });
    notes = renaming_notes(plan) + missing_notes(counts, plan, database.get_database());
    for (const std::string& line : sql.news(database.get_database())) notes += line + '\n';
  });
  if (!import.is_json) std::cout << notes;
  print_counts(import.settings.table, counts, import.is_json);
}

// Parses the rest of the command line, and imports the rows of make_source(input).
template <class Make_Source>
int run(Options& options, Import_Options& import, std::vector<std::string> arguments,
        const std::string& usage, Make_Source make_source) {
  options.set_words({kinds::database, kinds::file});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const auto [in, file] = take_import_words(*words, usage);
  finish_settings(import, in);

  const Stop_Signal stop;
  Input input(in, static_cast<std::size_t>(import.max_row), new_unpacker_of);
  input.set_interrupt_check([&] { require_no_interrupt(stop); });
  const auto source = make_source(input);
  if (import.settings.has_preview)
    preview(*source, file, import, stop);
  else
    import_from(*source, file, import, stop);
  finish_standard_output();
  return 0;
}

const char* const import_common_details =
    R"(Columns of an existing table are matched to its fields by name; a new table gets a field for each
column. The import is one transaction: if a row is invalid, nothing is imported. Without --key, each
row inserts a new record. With --key, or with a column __id (the record id), importing the same rows
again changes nothing. A missing value stays missing in an optional field; it becomes nan in a float
field and a null reference in a reference field; in other fields it becomes 0, false or "", and such
rows are counted. Numbers, dates, and true and false get optional fields if some rows have no value.
IN may be -, standard input.

)";

}  // namespace

void print_counts(const std::string& table, const Import_Counts& counts, bool is_json) {
  if (is_json) {
    std::cout << '{'
              << json_members({{"table", table},
                               {"inserted", counts.inserted},
                               {"updated", counts.updated},
                               {"unchanged", counts.unchanged},
                               {"deleted", counts.deleted},
                               {"created", counts.created}});
    const auto add = [](const char* name, const std::map<std::string, std::int64_t>& by_field) {
      std::vector<Log_Field> rows;
      for (const auto& [field, count] : by_field) rows.push_back({field, count});
      if (!rows.empty()) std::cout << ", \"" << name << "\": {" << json_members(rows) << '}';
    };
    add("missing", counts.missing);
    add("texts", counts.texts);
    add("dangling", counts.dangling);
    std::cout << "}\n";
    return;
  }
  std::cout << table << ": inserted " << counts.inserted << ", updated " << counts.updated
            << ", unchanged " << counts.unchanged << ", deleted " << counts.deleted;
  if (counts.created > 0) std::cout << ", created " << counts.created << " in referenced tables";
  std::cout << '\n';
}

// Prints a notice if the file seems to have another separator: then its header is one column.
static void propose_separator(const Row_Source& source) {
  if (source.columns().size() != 1) return;
  const std::string& header = source.header(0);
  const std::size_t found = header.find_first_of(";\t|");
  if (found == header.npos) return;
  const std::string name = header[found] == '\t' ? "tab" : std::string("'") + header[found] + "'";
  print_notice(source.input().name() + " has one column, " + plain(header) +
               ": is it --separator " + name + '?');
}

int import_csv(std::vector<std::string> arguments) {
  const std::string usage = "joedb import csv [options] FILE IN";
  Options options(
      {usage, "Imports the rows of a CSV file into a table.",
       std::string("The first row has the column names. New fields for numbers, dates, "
                   "times, for true and false, and for\n"
                   "text get a type that preserves all values as written: 007 and NO stay "
                   "strings, and a column with\n"
                   "1.10 and 2.25 is decimal(2). Only times like 2026-01-31 12:00:00 will be "
                   "written otherwise, with T and Z.\n"
                   "Blobs and bytes are base64.\n"
                   "\n") +
           import_common_details + file_help(transaction_grammar),
       "  joedb import csv --preview europe.joedb cities.csv\n"
       "  joedb import csv --new --enum country europe.joedb cities.csv\n"
       "  joedb import csv --table city --key name europe.joedb update.csv\n"
       "  curl https://a.org/cities.csv | joedb import csv --table city europe.joedb -\n"});
  Import_Options import;
  Csv_Format format;
  std::string separator;
  options.add(
      "--separator", separator,
      "separator: one character, or tab (default: the one of a first line like sep=;, or ,)",
      Value_Kind{"C", ""});
  options.add("--columns", format.columns, "column names, for a file without a header",
              "COLUMN,...");
  options.add_flag("--trim", format.trims, "remove spaces around unquoted values");
  options.add_flag("--fill", format.fills,
                   "accept rows with too few values: the others are missing");
  options.add("--comment", format.comment, "skip rows that begin with this, for example #");
  std::vector<std::string> missing;
  options.add("--missing", missing, "values that are missing, like NA or null, and not text",
              "VALUE,...");
  add_import_options(options, import);
  return run(options, import, std::move(arguments), usage, [&](Input& input) {
    if (!separator.empty()) format.separator = separator_of(separator);
    format.missing = {missing.begin(), missing.end()};
    auto reader = std::make_unique<Csv_Reader>(input, format);
    if (separator.empty()) propose_separator(*reader);
    return reader;
  });
}

int import_jsonl(std::vector<std::string> arguments) {
  const std::string usage = "joedb import jsonl [options] FILE IN";
  Options options(
      {usage, "Imports JSON lines, one object per line, into a table.",
       std::string(
           "The keys of the objects are the columns. Values are null, true, false, numbers and "
           "strings;\n"
           "{\"base64\": \"...\"} is the value of a blob, or of a string that is not UTF-8.\n"
           "\n") +
           import_common_details + file_help(transaction_grammar),
       "  joedb import jsonl --new europe.joedb cities.jsonl\n"
       "  jq -c '.[]' cities.json | joedb import jsonl --table city europe.joedb -\n"});
  Import_Options import;
  add_import_options(options, import);
  return run(options, import, std::move(arguments), usage,
             [&](Input& input) { return std::make_unique<Jsonl_Reader>(input); });
}

}  // namespace joedb
