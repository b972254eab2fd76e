#include <array>
#include <iostream>
#include <numeric>

#include "base/json_text.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/database_options.h"
#include "cli/output.h"
#include "interpreter/display_width.h"
#include "interpreter/dump.h"
#include "interpreter/pack.h"
#include "joedb/io/memory_file.h"

namespace joedb {

namespace {

// Bytes of a journal, by what they are about.
struct Sizes {
  std::vector<Offset> tables;  // by table id; of its schema and its records
  Offset blobs = 0;
  Offset other = 0;  // comments, time stamps, integrity entries
};

// Counts the bytes of the entries that are replayed, and passes the entries on.
template <class Next>
class Sizer {
 public:
  using Sees_Integrity_Entries = void;
  Sizer(const Readonly_Journal& journal, Next& next)
      : journal_(journal), next_(next), position_(journal.get_replay_position()) {}

  template <class Entry>
  void operator()(const Entry& entry) {
    const Offset end = journal_.get_replay_position();
    of(entry) += end - std::exchange(position_, end);
    if constexpr (!std::is_same_v<Entry, Integrity_Entry>) next_(entry);
  }

  const Sizes& sizes() const { return sizes_; }

 private:
  template <class Entry>
  Offset& of(const Entry& entry) {
    if constexpr (requires { entry.table; })
      return of_table(entry.table.value());
    else if constexpr (std::is_same_v<Entry, Create_Table>)
      return of_table(++created_);
    else if constexpr (std::is_same_v<Entry, Blob_Data>)
      return sizes_.blobs;
    else
      return sizes_.other;
  }
  Offset& of_table(std::size_t id) {
    if (sizes_.tables.size() <= id) sizes_.tables.resize(id + 1);
    return sizes_.tables[id];
  }

  const Readonly_Journal& journal_;
  Next& next_;
  Offset position_;
  Sizes sizes_;
  std::size_t created_ = 0;
};

// What is left of a database without its history.
Sizes packed_sizes(const Database& database) {
  Memory_File file;
  Writable_Journal packed(file);
  try {
    pack(database, packed);
  } catch (...) {
    Destructor_Logger::remove_logger();
    throw;
  }
  packed.soft_checkpoint();
  Readonly_Journal journal(file);
  Ignore_Entries ignore;
  Sizer sizer(journal, ignore);
  journal.replay(sizer);
  return sizer.sizes();
}

struct Line {
  std::string name;
  std::int64_t rows = 0;
  Offset bytes = 0;
  Offset packed = 0;

  Offset garbage() const { return std::max<Offset>(bytes - packed, 0); }
};

struct Statistics {
  std::vector<Line> tables;
  Line dropped{"(dropped tables)"};
  Offset blobs = 0;
  Offset other = 0;
  Line total{"total"};
};

Offset at(const std::vector<Offset>& sizes, std::size_t id) {
  return id < sizes.size() ? sizes[id] : 0;
}

Statistics make_statistics(const Database& database, const Sizes& sizes) {
  const Sizes packed = packed_sizes(database);
  Statistics result;
  result.dropped.bytes = std::accumulate(sizes.tables.begin(), sizes.tables.end(), Offset{0});
  result.dropped.packed = std::accumulate(packed.tables.begin(), packed.tables.end(), Offset{0});
  result.total.bytes = result.dropped.bytes + sizes.blobs + sizes.other;
  result.total.packed = result.dropped.packed + sizes.blobs;
  for (const Table* table : live_tables(database)) {
    const std::size_t id = table->id().value();
    Line line{table->name(), 0, at(sizes.tables, id), at(packed.tables, id)};
    for_each_run(table->records(), [&](index_t, index_t size) { line.rows += size; });
    result.dropped.bytes -= line.bytes;
    result.dropped.packed -= line.packed;
    result.total.rows += line.rows;
    result.tables.push_back(std::move(line));
  }
  result.blobs = sizes.blobs;
  result.other = sizes.other;
  return result;
}

using Row = std::array<std::string, 4>;

void print_row(const Row& row, std::size_t name_width) {
  constexpr std::size_t width = 14;
  std::cout << row[0] << std::string(name_width - display_width(row[0]), ' ');
  for (std::size_t i = 1; i < row.size(); ++i)
    std::cout << std::string(width - std::min(row[i].size(), width), ' ') << row[i];
  std::cout << '\n';
}

void print_text(const Statistics& statistics) {
  std::vector<Row> rows{{"table", "rows", "bytes", "garbage"}};
  const auto add = [&](const Line& line, bool has_rows) {
    const auto percent = line.bytes == 0 ? 0 : 100 * line.garbage() / line.bytes;
    rows.push_back({line.name, has_rows ? std::to_string(line.rows) : "",
                    std::to_string(line.bytes), std::to_string(percent) + " %"});
  };
  for (const Line& line : statistics.tables) add(line, true);
  if (statistics.dropped.bytes > 0) add(statistics.dropped, false);
  if (statistics.blobs > 0) add({"(blobs)", 0, statistics.blobs, statistics.blobs}, false);
  if (statistics.other > 0) add({"(other)", 0, statistics.other, 0}, false);
  add(statistics.total, true);
  std::size_t name_width = 0;
  for (const Row& row : rows) name_width = std::max(name_width, display_width(row[0]));
  for (const Row& row : rows) print_row(row, name_width);
}

void print_json(const Statistics& statistics) {
  const auto sizes = [](const Line& line) {
    return "\"bytes\": " + std::to_string(line.bytes) +
           ", \"garbage\": " + std::to_string(line.garbage());
  };
  std::string out = "{\"tables\": [";
  for (const Line& line : statistics.tables) {
    out += &line == &statistics.tables.front() ? "\n  {\"name\": \"" : ",\n  {\"name\": \"";
    append_json_text(out, line.name);
    out += "\", \"rows\": " + std::to_string(line.rows) + ", " + sizes(line) + "}";
  }
  out += "],\n \"dropped\": {" + sizes(statistics.dropped) +
         "},\n \"blobs\": " + std::to_string(statistics.blobs) +
         ",\n \"other\": " + std::to_string(statistics.other) +
         ",\n \"total\": {\"rows\": " + std::to_string(statistics.total.rows) + ", " +
         sizes(statistics.total) + "}}\n";
  std::cout << out;
}

const char* const details =
    R"(For each table: its records, the bytes of its entries in the journal, and how many of them are
garbage: those that joedb_pack leaves out, because they were overwritten or deleted, or can be
written more shortly. (other) is comments, time stamps and integrity entries, all of them garbage in
this sense. The header of the file is not counted.

)";

}  // namespace

int run_stats(std::vector<std::string> arguments) {
  Options options({"joedb_stats [options] FILE",
                   "Prints how much space the tables of a database take.", details,
                   "  joedb_stats people.joedb\n"
                   "  joedb_stats --json people.joedb | jq .total.garbage\n"});
  bool is_json = false;
  options.add_flag("--json", is_json, "print a JSON object, with bytes instead of percentages");
  Reading_Options reading;
  add_reading_options(options, reading);
  Source_Options source;
  add_source_options(options, source);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_last_name();
  const auto file = open_source(name, source);
  const Statistics statistics = name_file_in_errors(file->get_name(), [&] {
    Readonly_Journal journal(*file, reading.get_recovery());
    Database database;
    database.limit_to_journal_of(journal.get_checkpoint());
    Sizer sizer(journal, database);
    reading.replay(journal, sizer, "loading " + file->get_name());
    return make_statistics(database, sizer.sizes());
  });
  is_json ? print_json(statistics) : print_text(statistics);
  finish_standard_output();
  return 0;
}

}  // namespace joedb
