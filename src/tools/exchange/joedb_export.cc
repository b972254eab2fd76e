#include <filesystem>
#include <iostream>
#include <streambuf>

#include "exchange/export.h"
#include "kernel/io/new_file.h"
#include "text/dump.h"
#include "tools/exchange/exchange_formats.h"
#include "tools/frame/database_options.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"

namespace joedb {

namespace {

using Write = decltype(write_csv);

struct Export_Options {
  Export_Settings settings;
  std::vector<std::string> references;  // of the form FIELD=TABLE.FIELD
  Reading_Options reading;
  Source_Options source;
  std::string out;
  bool has_all_tables = false;
  bool is_replacing = false;
};

void add_export_options(Options& options, Export_Options& all) {
  Export_Settings& settings = all.settings;
  options.add("-o,--output", all.out,
              "write to this new file instead of standard output; with --all, to this directory, "
              "which is created if needed",
              kinds::file);
  options.add_flag("--force", all.is_replacing, "replace existing files");
  options.add_flag("--all", all.has_all_tables,
                   "export each table to a file with its name; needs -o");
  options.add_flag("--id", settings.has_ids,
                   "add a first column __id, the record id, which an import keeps");
  options.add("--skip", settings.skipped, "omit these fields", "FIELD,...");
  options.add("--time", settings.times,
              "write these fields, in seconds since 1970, as times: 2026-01-31T12:00:00Z",
              "FIELD,...");
  options.add("--reference", all.references,
              "write the value of a field of the referenced record instead of its id",
              "FIELD=TABLE.FIELD,...");
  add_reading_options(options, all.reading);
  add_source_options(options, all.source);
}

// ---- output -------------------------------------------------------------------------------------

// A stream buffer that writes to a file from offset 0 on.
class File_Buffer : public std::streambuf {
 public:
  explicit File_Buffer(Abstract_File& file) : file_(file) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    file_.pwrite(text, static_cast<std::size_t>(size), position_);
    position_ += size;
    return size;
  }
  int_type overflow(int_type c) override {
    const char text = traits_type::to_char_type(c);
    xsputn(&text, 1);
    return c;
  }

 private:
  Abstract_File& file_;
  Offset position_ = 0;
};

class Exporter {
 public:
  Exporter(const Database& database, const Abstract_File& file, const Export_Options& options,
           Write* write_table)
      : database_(database), file_(file), options_(options), write_(write_table) {}

  void print(const Table& table) const {
    write(table, std::cout, Progress::Output::printing);
    finish_standard_output();
  }

  void write_file(const Table& table, const std::string& name) const {
    require_absent(name, options_.is_replacing);
    const auto existing =
        options_.is_replacing ? New_File::Existing::replace : New_File::Existing::refuse;
    fill_new_file(name, existing, [&](File& file) {
      File_Buffer buffer(file);
      std::ostream out(&buffer);
      out.exceptions(std::ios::badbit);  // rethrow the error of the file
      write(table, out, Progress::Output::nothing);
    });
  }

 private:
  void write(const Table& table, std::ostream& out, Progress::Output output) const {
    constexpr Offset step = 1024;
    Progress progress("exporting " + table.name(), 0, table.records().used_count(), output,
                      Progress::Unit::entries);
    Offset count = 0;
    write_(database_, table, file_, options_.settings, out, [&] {
      if (++count % step != 0) return;
      progress.update(count);
      if (!out) throw Exception("writing standard output failed");
    });
  }

  const Database& database_;
  const Abstract_File& file_;
  const Export_Options& options_;
  Write* const write_;
};

const Table& find_table(const Database& database, const std::string& name) {
  const Table* const table = database.find_table(name);
  if (table != nullptr) return *table;
  throw Exception("no such table: " + name + did_you_mean(name, table_names(database)));
}

void export_all(const Database& database, const Exporter& exporter, const std::string& folder,
                const char* extension) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw_io_error("making the folder", folder, -1, error.value());
  for (const Table* table : live_tables(database))
    exporter.write_file(*table, folder + "/" + table->name() + "." + extension);
}

int run(
    Options& options, Export_Options& all, std::vector<std::string> arguments,
    const char* extension, Write* write, const std::function<void()>& take_settings = [] {}) {
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  take_settings();
  const std::string name = words->take_name();
  const std::string table = all.has_all_tables ? "" : words->take_name();
  words->require_end();
  if (all.has_all_tables && all.out.empty()) words->fail("--all needs a folder: -o FOLDER");
  for (const std::string& word : all.references) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) words->fail("--reference " + word + ": expected FIELD=TABLE.FIELD");
    all.settings.references.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }

  if (!all.has_all_tables && !all.out.empty()) require_other_file(all.out, name);
  const auto file = open_source(name, all.source);
  name_file_in_errors(file->get_name(), [&] {
    Database database;
    Readonly_Journal journal(*file, all.reading.get_recovery());
    all.reading.load(journal, database);
    const Exporter exporter(database, *file, all, write);
    if (all.has_all_tables)
      export_all(database, exporter, all.out, extension);
    else if (all.out.empty())
      exporter.print(find_table(database, table));
    else
      exporter.write_file(find_table(database, table), all.out);
  });
  return 0;
}

const char* const export_common_details =
    R"(Records are ordered by id. Importing the output into a table with the same fields gives the same
values. References are written as record ids, which stay valid only if the referenced records keep
their ids: use --id.

)";

}  // namespace

int export_csv(std::vector<std::string> arguments) {
  Options options({"joedb export csv [options] FILE TABLE", "Prints a table as CSV.",
                   std::string("The first line has the field names. Blobs are written as base64, "
                               "nan and null references as empty\nvalues, "
                               "and strings byte for byte, even if they are not UTF-8.\n"
                               "\n") +
                       export_common_details,
                   "  joedb export csv europe.joedb city\n"
                   "  joedb export csv --reference country=country.name europe.joedb city\n"
                   "  joedb export csv --all --id -o folder europe.joedb\n"});
  Export_Options all;
  std::string separator = ",";
  bool has_no_header = false;
  options.add("--separator", separator, "separator: one character, or tab (default: ,)",
              Value_Kind{"C", ""});
  options.add_flag("--no-header", has_no_header, "omit the line of field names");
  add_export_options(options, all);
  return run(options, all, std::move(arguments), "csv", write_csv, [&] {
    all.settings.separator = separator_of(separator);
    all.settings.has_header = !has_no_header;
  });
}

int export_jsonl(std::vector<std::string> arguments) {
  Options options(
      {"joedb export jsonl [options] FILE TABLE", "Prints a table as JSON lines.",
       std::string("Each line is one record, as an object. Blobs, and strings that are "
                   "not UTF-8, are written as\n"
                   "{\"base64\": \"...\"}; infinities as the strings \"inf\" and \"-inf\"; "
                   "nan and null references as null.\n"
                   "\n") +
           export_common_details,
       "  joedb export jsonl europe.joedb city | jq .name\n"
       "  joedb export jsonl --all --id -o folder europe.joedb\n"});
  Export_Options all;
  options.add_flag("--types", all.settings.has_types,
                   "begin with a line that has the types of the fields, which an import uses: for "
                   "tables that have few records, or none");
  add_export_options(options, all);
  return run(options, all, std::move(arguments), "jsonl", write_jsonl);
}

}  // namespace joedb
