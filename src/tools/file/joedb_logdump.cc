#include <exception>
#include <iostream>

#include "joedb/format/header.h"
#include "kernel/table/declaration.h"
#include "text/entry_text.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/entry_end.h"
#include "tools/frame/entry_follower.h"
#include "tools/frame/json_output.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"

namespace joedb {

namespace {

struct Logdump_Options {
  bool sql = false;
  bool raw = false;
  bool header = false;
  bool json = false;
  bool schema_only = false;
  bool load = false;
  bool print_checkpoint = false;
  bool blob = false;
  Reading_Options reading;
};

// ---- the header ---------------------------------------------------------------------------------

// Prints the header, whether or not it is valid. In a short file, only some fields exist.
void print_header(const Abstract_File& file) {
  std::array<char, header_size> bytes{};
  const std::size_t size = file.pread(bytes.data(), bytes.size(), 0);
  const Header header = decode_header(bytes);
  const auto field = [&](std::size_t end, auto value) {
    return size < end ? "<missing>" : std::to_string(value);
  };
  std::cout << "    file size: " << file.get_size() << '\n';
  for (std::size_t i = 0; i < header.checkpoints.size(); ++i)
    std::cout << "checkpoint[" << i << "]: " << field(8 * (i + 1), header.checkpoints[i]) << '\n';
  std::cout << "format version: " << field(signature_offset, header.version) << '\n';
  std::string signature_text;
  append_quoted(signature_text, {header.signature.data(), header.signature.size()});
  std::cout << "signature: " << (size < header_size ? "<missing>" : signature_text) << '\n';
}

void print_header_as_json(const Abstract_File& file) {
  std::array<char, header_size> bytes{};
  const std::size_t size = file.pread(bytes.data(), bytes.size(), 0);
  const Header header = decode_header(bytes);
  Json json{{"file", file.get_name()}, {"size", file.get_size()}, {"checkpoints", Json::array()}};
  for (std::size_t i = 0; i < header.checkpoints.size() && size >= 8 * (i + 1); ++i)
    json["checkpoints"].push_back(header.checkpoints[i]);
  json["version"] = size < signature_offset ? Json(nullptr) : Json(header.version);
  const std::string signature(header.signature.data(), header.signature.size());
  json["signature"] = size < header_size ? Json(nullptr) : Json(signature);
  print_json(json);
}

// ---- the journal --------------------------------------------------------------------------------

// Passes the entries selected by the options to a writer.
template <class Writer>
class Printer {
 public:
  Printer(Writer& writer, const Readonly_Journal& journal, const Logdump_Options& options)
      : writer_(writer), journal_(journal), options_(options) {}

  template <class Entry>
  void operator()(const Entry& entry) {
    bool is_schema = Schema_Entry<Entry> || std::is_same_v<Entry, Custom>;
    if constexpr (std::is_same_v<Entry, Comment>) is_schema = is_declaration(entry.text);
    if (!is_schema && options_.schema_only) return;
    writer_(entry);
    if (options_.print_checkpoint) writer_(Comment{std::to_string(end_of_entry(entry, journal_))});
  }

 private:
  Writer& writer_;
  const Readonly_Journal& journal_;
  const Logdump_Options& options_;
};

// Builds the tables of the journal up to `position`. If the journal is damaged, sets `position` to
// the offset of the damage, and returns the error. Otherwise, returns null.
std::exception_ptr try_to_load(Abstract_File& file, Recovery recovery, Offset& position) {
  const Offset end = position;
  Readonly_Journal journal(file, recovery);
  Database database;
  database.limit_to_journal_of(journal.get_checkpoint());
  try {
    replay_with_progress(journal, database, "loading " + file.get_name(), end);
  } catch (const Corruption_Error& error) {
    position = error.offset;
    return std::current_exception();
  }
  return nullptr;
}

template <class Writer>
void print_journal(Abstract_File& file, Writer writer, const Logdump_Options& options) {
  const Recovery recovery = options.reading.get_recovery();
  Readonly_Journal journal(file, recovery);
  if (journal.get_checkpoint() == journal_start) return;
  if constexpr (std::is_same_v<Writer, Sql_Writer>)
    writer.limit_to_journal_of(journal.get_checkpoint());
  const Offset wanted_end = options.reading.end_of(journal);
  Offset end = wanted_end;
  const std::exception_ptr error = options.load ? try_to_load(file, recovery, end) : nullptr;
  writer.begin(journal_start);
  replay_with_progress(journal, Printer<Writer>(writer, journal, options), file.get_name(), end,
                       Progress::Output::printing);
  if (error) std::rethrow_exception(error);
  options.reading.require_replayed_to(wanted_end, journal);
  if (!options.print_checkpoint || options.sql) writer.end(journal.get_replay_position());
}

void print_journal_as(Abstract_File& file, const Logdump_Options& options) {
  const Abstract_File* const blobs = options.blob ? &file : nullptr;
  if (options.raw)
    print_journal(file, Command_Writer(std::cout, &file, Command_Writer::Form::raw), options);
  else if (options.sql)
    print_journal(file, Sql_Writer(std::cout, blobs, strings_in_sql()), options);
  else
    print_journal(file, Command_Writer(std::cout, blobs), options);
}

const char* const logdump_details =
    R"(Only entries before the checkpoint are printed. If an entry is damaged, the entries before it are
printed.

Output formats:
  (default)  commands of joedbi: update person 3 age 42
  --raw      with ids instead of names, as in the file: update_int32 1 3 2 42
  --sql      statements of SQL: UPDATE "person" SET "age" = 42 WHERE "__id" = 3;
)";

}  // namespace

int run_logdump(std::vector<std::string> arguments) {
  Options parser({"joedb_logdump [options] FILE",
                  "Prints the history of a database: the entries of its journal, one per line.",
                  logdump_details,
                  "  joedb_logdump people.joedb\n"
                  "  joedb_logdump --sql people.joedb | sqlite3 people.sqlite\n"
                  "  joedb_logdump --at 4711 people.joedb\n"
                  "  joedb_logdump --header people.joedb\n"});
  Logdump_Options options;
  parser.add_flag("--sql", options.sql, "print SQL");
  parser.add_flag("--raw", options.raw, "print ids instead of names");
  parser.add_flag("--header", options.header,
                  "print only the file's size, checkpoints, version and signature");
  parser.add_flag("--json", options.json, "with --header: print a JSON object");
  parser.add_flag("--schema-only", options.schema_only, "print only schema changes");
  parser.add_flag("--load", options.load, "also build the tables, to detect invalid records");
  parser.add_flag("--print-checkpoint", options.print_checkpoint,
                  "after each entry, print its end position");
  parser.add_flag("--blob", options.blob, "also print the bytes of blobs");
  add_reading_options(parser, options.reading);
  Source_Options source;
  add_source_options(parser, source);
  add_classic_option(parser);
  auto words = parser.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_last_name();
  if (options.json && !options.header) words->fail("--json needs --header");
  const auto file = open_source(name, source);
  if (options.header)
    options.json ? print_header_as_json(*file) : print_header(*file);
  else
    name_file_in_errors(file->get_name(), [&] { print_journal_as(*file, options); });
  finish_standard_output();
  return 0;
}

}  // namespace joedb
