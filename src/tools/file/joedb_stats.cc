#include <algorithm>
#include <iostream>

#include "history/transaction_groups.h"
#include "joedb/history/changes.h"
#include "kernel/base/json_text.h"
#include "kernel/base/plain_text.h"
#include "rewrite/blob_copies.h"
#include "text/change_text.h"
#include "text/columns.h"
#include "text/dump.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/entry_end.h"
#include "tools/frame/json_output.h"
#include "tools/frame/output.h"

namespace joedb {

namespace {

// The size of a part of a journal: the number of entries, and the number of their bytes.
struct Size {
  std::uint64_t entries = 0;
  Offset bytes = 0;

  Size& operator+=(const Size& other) {
    entries += other.entries;
    bytes += other.bytes;
    return *this;
  }
  Size& operator-=(const Size& other) {
    entries -= other.entries;
    bytes -= other.bytes;
    return *this;
  }
};

// The bytes of one table's entries: of its schema, of the insertion of each record, and of the
// entry that has written each value, or its part of such an entry. Takes 4 bytes per record and
// value.
class Entry_Bytes {
 public:
  void add_schema(Offset bytes) { schema_ += bytes; }
  void insert(index_t first, index_t size, Offset bytes) {
    spread(records_, first, size, bytes);
    for (auto& field : fields_) spread(field, first, size, 0);
  }
  void write(Field_Id field, index_t first, index_t size, Offset bytes) {
    if (fields_.size() <= field.value()) fields_.resize(field.value() + std::size_t{1});
    spread(fields_[field.value()], first, size, bytes);
  }

  Offset schema() const { return schema_; }
  // Returns the bytes of the records and values that the table has, and of the schema.
  Offset in_use(const Table& table) const {
    Offset sum = schema_;
    for_each_run(table.records(), [&](index_t first, index_t size) {
      sum += part(records_, first, size);
      for_each_field(table, [&](Field_Id id, const Field&) {
        if (id.value() < fields_.size()) sum += part(fields_[id.value()], first, size);
      });
    });
    return sum;
  }

 private:
  using Bytes = std::vector<std::uint32_t>;

  static void spread(Bytes& all, index_t first, index_t size, Offset bytes) {
    if (size == 0) return;
    const auto end = static_cast<std::size_t>(first + size);
    if (bytes > 0 && all.size() < end) all.resize(end);
    for (std::size_t i = static_cast<std::size_t>(first); i < std::min(end, all.size()); ++i)
      all[i] = static_cast<std::uint32_t>(bytes / size);
    if (bytes > 0) all[static_cast<std::size_t>(first)] += static_cast<std::uint32_t>(bytes % size);
  }
  static Offset part(const Bytes& all, index_t first, index_t size) {
    const auto end = std::min(static_cast<std::size_t>(first + size), all.size());
    Offset sum = 0;
    for (std::size_t i = static_cast<std::size_t>(first); i < end; ++i) sum += all[i];
    return sum;
  }

  Offset schema_ = 0;
  Bytes records_;
  std::vector<Bytes> fields_;  // by field id
};

// Sizes by the subject of the entries.
struct Sizes {
  std::vector<Size> tables;  // by table id: entries of its schema and its records
  std::vector<Entry_Bytes> bytes;
  Size blobs;
  Blob_Copies found_blobs;
  Size other;  // comments, time stamps, integrity entries

  Size of_table(std::size_t id) const { return id < tables.size() ? tables[id] : Size(); }
  Size all_tables() const {
    Size sum;
    for (const Size& table : tables) sum += table;
    return sum;
  }
};

// A handler that counts the replayed entries, and passes them on.
template <class Next>
class Sizer {
 public:
  using Sees_Integrity_Entries = void;
  Sizer(const Readonly_Journal& journal, Next& next)
      : journal_(journal), next_(next), position_(journal.get_replay_position()) {}

  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (!std::is_same_v<Entry, Integrity_Entry>) next_(entry);
    const Offset end = end_of_entry(entry, journal_);
    const Offset bytes = end - std::exchange(position_, end);
    of(entry) += {1, bytes};
    note(entry, bytes);
  }

  Sizes take_sizes() { return std::move(sizes_); }

 private:
  template <class Entry>
  Size& of(const Entry& entry) {
    if constexpr (requires { entry.table; })
      return of_table(entry.table.value());
    else if constexpr (std::is_same_v<Entry, Create_Table>)
      return of_table(++created_);
    else if constexpr (std::is_same_v<Entry, Blob_Data>)
      return sizes_.blobs;
    else
      return sizes_.other;
  }
  Size& of_table(std::size_t id) {
    if (sizes_.tables.size() <= id) {
      sizes_.tables.resize(id + 1);
      sizes_.bytes.resize(id + 1);
    }
    return sizes_.tables[id];
  }
  // Called after of(entry), which makes the place of the table.
  template <class Entry>
  void note(const Entry& entry, Offset bytes) {
    if constexpr (std::is_same_v<Entry, Blob_Data>) {
      sizes_.found_blobs.add(entry.blob);
    } else if constexpr (std::is_same_v<Entry, Create_Table>) {
      sizes_.bytes[created_].add_schema(bytes);
    } else if constexpr (requires { entry.table; }) {
      Entry_Bytes& table = sizes_.bytes[entry.table.value()];
      if constexpr (std::is_same_v<Entry, Delete> || std::is_same_v<Entry, Delete_Vector>)
        return;
      else if constexpr (requires { entry.record, entry.field, entry.values; })
        table.write(entry.field, entry.record.value(), entry.size, bytes);
      else if constexpr (requires { entry.record, entry.field; })
        table.write(entry.field, entry.record.value(), 1, bytes);
      else if constexpr (requires { entry.record, entry.size; })
        table.insert(entry.record.value(), entry.size, bytes);
      else if constexpr (requires { entry.record; })
        table.insert(entry.record.value(), 1, bytes);
      else
        table.add_schema(bytes);
    }
  }

  const Readonly_Journal& journal_;
  Next& next_;
  Offset position_;
  Sizes sizes_;
  std::size_t created_ = 0;
};

struct Line {
  std::string name;
  std::int64_t rows = 0;
  Size size = {};
  Offset in_use = 0;

  Offset garbage() const { return size.bytes - in_use; }
};

struct Statistics {
  std::vector<Line> tables;
  Line dropped{"(dropped tables)"};
  Line blobs{"(blobs)"};
  Size other;
  Line total{"total"};
};

Statistics make_statistics(const Database& database, Sizes sizes) {
  Statistics result;
  sizes.found_blobs.need_all(database);
  result.blobs.size = sizes.blobs;
  result.blobs.in_use = sizes.blobs.bytes - sizes.found_blobs.unused().bytes;
  result.dropped.size = sizes.all_tables();
  for (const Entry_Bytes& bytes : sizes.bytes) result.dropped.in_use += bytes.schema();
  for (const Table* table : live_tables(database)) {
    const std::size_t id = table->id().value();
    const Entry_Bytes& bytes = sizes.bytes[id];
    Line line{table->name(), 0, sizes.of_table(id), bytes.in_use(*table)};
    for_each_run(table->records(), [&](index_t, index_t size) { line.rows += size; });
    result.dropped.size -= line.size;
    result.dropped.in_use -= bytes.schema();
    result.total.rows += line.rows;
    result.total.in_use += line.in_use;
    result.tables.push_back(std::move(line));
  }
  result.other = sizes.other;
  result.total.size = sizes.all_tables();
  result.total.size += sizes.blobs;
  result.total.size += sizes.other;
  result.total.in_use += result.dropped.in_use + result.blobs.in_use;
  return result;
}

// ---- text ---------------------------------------------------------------------------------------

using Row = std::vector<std::string>;

// Prints rows. The first cell of a row is aligned left, the others right.
void print_rows(const std::vector<Row>& rows, std::size_t min_width) {
  Text_Columns layout{std::vector<Text_Columns::Column>(rows.front().size(), {min_width, false})};
  layout.columns[0] = {};
  for (const Row& row : rows) layout.fit(row);
  for (const Row& row : rows) std::cout << layout.line(row) << '\n';
}

void print_tables(const Statistics& statistics) {
  std::vector<Row> rows{{"table", "rows", "entries", "bytes", "garbage"}};
  const auto add = [&](const Line& line, bool has_rows) {
    const auto percent = line.size.bytes == 0 ? 0 : 100 * line.garbage() / line.size.bytes;
    rows.push_back({line.name, has_rows ? std::to_string(line.rows) : "",
                    std::to_string(line.size.entries), std::to_string(line.size.bytes),
                    std::to_string(percent) + " %"});
  };
  for (const Line& line : statistics.tables) add(line, true);
  if (statistics.dropped.size.bytes > 0) add(statistics.dropped, false);
  if (statistics.blobs.size.bytes > 0) add(statistics.blobs, false);
  if (statistics.other.bytes > 0) add({"(other)", 0, statistics.other, 0}, false);
  add(statistics.total, true);
  constexpr std::size_t width = 12;
  print_rows(rows, width);
}

void print_tables_as_json(const Statistics& statistics) {
  const auto sizes = [](const Line& line) {
    return json_members({{"bytes", line.size.bytes},
                         {"garbage", line.garbage()},
                         {"entries", static_cast<std::int64_t>(line.size.entries)}});
  };
  std::string out = "{\"tables\": [";
  for (const Line& line : statistics.tables) {
    out += &line == &statistics.tables.front() ? "\n  {" : ",\n  {";
    out += json_members({{"name", line.name}, {"rows", line.rows}}) + ", " + sizes(line) + '}';
  }
  out += "],\n \"dropped\": {" + sizes(statistics.dropped) + "},\n " +
         json_members({{"blobs", statistics.blobs.size.bytes},
                       {"unused_blobs", statistics.blobs.garbage()}}) +
         ",\n " + json_members({{"other", statistics.other.bytes}}) + ",\n \"total\": {" +
         json_members({{"rows", statistics.total.rows}}) + ", " + sizes(statistics.total) + "}}\n";
  std::cout << out;
}

// ---- groups of transactions ---------------------------------------------------------------------

enum class Grouping { table, hour, day, month, author };

Transaction_Groups::By by_of(Grouping grouping) {
  using By = Transaction_Groups::By;
  switch (grouping) {
    case Grouping::hour:
      return By::hour;
    case Grouping::month:
      return By::month;
    case Grouping::author:
      return By::author;
    case Grouping::table:  // does not group transactions
    case Grouping::day:
      break;
  }
  return By::day;
}

using Group = Transaction_Groups::Group;

void print_groups(const std::vector<Group>& groups, Grouping grouping) {
  const bool is_of_authors = grouping == Grouping::author;
  std::vector<Row> rows{{is_of_authors ? "author" : "time", "transactions", "bytes", "inserted",
                         "updated", "deleted"}};
  Group total;
  const auto add = [&](const Group& group) {
    std::string name;
    append_plain(name, group.name);
    rows.push_back({name, std::to_string(group.transactions), std::to_string(group.bytes),
                    std::to_string(group.counts.inserted), std::to_string(group.counts.updated),
                    std::to_string(group.counts.deleted)});
  };
  for (Group group : groups) {
    if (group.is_nameless) group.name = is_of_authors ? "(no author)" : "(no time)";
    add(group);
    total.transactions += group.transactions;
    total.bytes += group.bytes;
    total.counts.inserted += group.counts.inserted;
    total.counts.updated += group.counts.updated;
    total.counts.deleted += group.counts.deleted;
  }
  total.name = "total";
  add(total);
  print_rows(rows, 0);
}

void print_groups_as_json(const std::vector<Group>& groups) {
  const auto append_counts = [](Json& json, const Transaction_Groups::Counts& counts) {
    json["inserted"] = counts.inserted;
    json["updated"] = counts.updated;
    json["deleted"] = counts.deleted;
    json["schema_changes"] = counts.schema_changes;
  };
  Json array = Json::array();
  for (const Group& group : groups) {
    Json json{{"name", group.is_nameless ? Json(nullptr) : Json(group.name)},
              {"transactions", group.transactions},
              {"bytes", group.bytes}};
    append_counts(json, group.counts);
    json["tables"] = Json::array();
    for (const auto& [id, table] : group.tables) {
      Json counts{{"name", table.first}};
      append_counts(counts, table.second);
      json["tables"].push_back(std::move(counts));
    }
    array.push_back(std::move(json));
  }
  print_json(Json{{"groups", std::move(array)}});
}

void print_by_transaction(Abstract_File& file, const Reading_Options& reading, Grouping grouping,
                          bool is_json) {
  Change_Options options;
  options.recovery = reading.get_recovery();
  const Readonly_Journal journal(file, options.recovery);
  Transaction_Groups groups(by_of(grouping), is_json ? Zone::utc : Zone::local);
  for (const Transaction_Summary& summary :
       Summaries(file, journal_start, reading.end_of(journal), options))
    groups.add(summary);
  is_json ? print_groups_as_json(groups.sorted()) : print_groups(groups.sorted(), grouping);
}

void print_by_table(Abstract_File& file, const Reading_Options& reading, bool is_json) {
  Readonly_Journal journal(file, reading.get_recovery());
  Database database;
  database.limit_to_journal_of(journal.get_checkpoint());
  Sizer sizer(journal, database);
  reading.replay(journal, sizer, "loading " + file.get_name());
  const Statistics statistics = make_statistics(database, sizer.take_sizes());
  is_json ? print_tables_as_json(statistics) : print_tables(statistics);
}

const char* const stats_details =
    R"(Prints for each table: the number of its records and of its entries in the journal, their size in
bytes, and how many of these bytes are garbage, which joedb_pack removes: what was overwritten or
deleted, and blobs to which no record refers. The line (other) is comments, time stamps and
integrity entries, all of which joedb_pack removes. The file header is not counted.

With --by, transactions are summed up, including those without changes: their bytes, and the
numbers of records inserted, updated and deleted. With --json, hours, days and months are those of
UTC. A transaction without a time
stamp is counted at the previous time stamp.

)";

}  // namespace

int run_stats(std::vector<std::string> arguments) {
  Options options({"joedb_stats [options] FILE",
                   "Prints the space used by each table, or the write activity over time.",
                   stats_details,
                   "  joedb_stats people.joedb\n"
                   "  joedb_stats --by day people.joedb\n"
                   "  joedb_stats --json people.joedb | jq .total.garbage\n"});
  Grouping grouping = Grouping::table;
  options.add_choice("--by", grouping,
                     {{"table", Grouping::table},
                      {"hour", Grouping::hour},
                      {"day", Grouping::day},
                      {"month", Grouping::month},
                      {"author", Grouping::author}},
                     "sum up entries by table, or transactions by hour, day, month or author");
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
  name_file_in_errors(file->get_name(), [&] {
    if (grouping == Grouping::table)
      print_by_table(*file, reading, is_json);
    else
      print_by_transaction(*file, reading, grouping, is_json);
  });
  finish_standard_output();
  return 0;
}

}  // namespace joedb
