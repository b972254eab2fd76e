#include <cstdio>
#include <iostream>
#include <optional>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "interpreter/dump.h"
#include "interpreter/pack.h"
#include "joedb/io/posix_file.h"

namespace joedb {

namespace {

// Blob fields say where in a file the bytes are, which would not be true of the merged file.
class Blobless_Database : public Database {
 public:
  using Database::operator();
  void operator()(const Blob_Data&) { throw Exception("can't merge blobs"); }
};

// The tables of several databases with the same schema, one behind the other.
class Merged_Database {
 public:
  const Database& database() const { return database_; }

  // The first database gives the schema. Throws if another has not the same.
  void add(const std::string& name, const Database& added) {
    if (!has_schema_) {
      take_schema(added);
      first_name_ = name;
    } else if (added.schema_entries() != database_.schema_entries()) {
      throw Exception(name + " does not have the same schema as " + first_name_);
    }
    for (const Table* from : live_tables(added)) add_records(added, *from);
    for (const Table* from : live_tables(added)) shifts_[from->id().value()] += size_of(*from);
  }

 private:
  static index_t size_of(const Table& table) { return table.records().size(); }

  void take_schema(const Database& from) {
    Memory_Decoder_Input in(from.schema_entries());
    Context context;
    while (in.remaining() > 0) decode_entry(in, context, database_);
    shifts_.resize(from.tables().size() + 1);
    has_schema_ = true;
  }

  void add_records(const Database& added, const Table& from) {
    constexpr Table::Budget no_limit{index_t{1} << 48, index_t{1} << 48};
    Table& to = *database_.find_table(from.id());
    const index_t shift = shifts_[from.id().value()];
    for_each_run(from.records(), [&](index_t first, index_t size) {
      const Record_Id record(shift + first);
      to.prepare_insert_vector(record, size, no_limit);
      to.insert_vector(record, size);
    });
    for (std::size_t i = 0; i < from.fields().size(); ++i) {
      const Column_Base* const column = from.fields()[i].column.get();
      if (column == nullptr) continue;
      visit_type(column->type().code, [&]<class T>(std::type_identity<T>) {
        add_values(added, from.records(), static_cast<const Column<T>&>(*column),
                   static_cast<Column<T>&>(*to.fields()[i].column), shift);
      });
    }
  }

  template <class T>
  void add_values(const Database& added, const Record_Ids& records, const Column<T>& from,
                  Column<T>& to, index_t shift) {
    for_each_run(records, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) {
        if constexpr (std::is_same_v<T, Record_Id>)
          to.set(shift + id, shifted(from.get(id), added.find_table(from.type().referenced)));
        else
          to.set(shift + id, from.get(id));
      }
    });
  }

  // A reference that leads behind the end of its table would lead to a record of the next file.
  Record_Id shifted(Record_Id reference, const Table* table) const {
    if (table == nullptr || reference.is_null()) return reference;
    if (reference.value() < 0 || reference.value() >= size_of(*table)) return Record_Id();
    return reference + shifts_[table->id().value()];
  }

  Database database_;
  bool has_schema_ = false;
  std::string first_name_;
  std::vector<index_t> shifts_;  // by table id: what is to be added to record ids
};

std::vector<std::string> read_lines(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

void add_file(const std::string& name, Merged_Database& merged) {
  File file(name, Open_Mode::read_existing);
  Readonly_Journal journal(file);
  Blobless_Database database;
  database.limit_to_journal_of(journal.get_checkpoint());
  journal.replay(database);
  merged.add(name, database);
}

const char* const details =
    R"(OUT must not exist. It gets the tables and fields of the first file, then the records of all
files, table by table: those of the first file keep their ids, those of the next are numbered
on, and references are changed accordingly; one to a record that never was becomes null.

Files that cannot be read, that have other tables and fields, or that have blobs, are skipped
with a message. If OUT is the only argument, the names are read from standard input.
)";

}  // namespace

int run_merge(std::vector<std::string> arguments) {
  Options options({"joedb_merge FILE... OUT",
                   "Writes the records of several databases with the same tables to a new file.",
                   details,
                   "  joedb_merge monday.joedb tuesday.joedb week.joedb\n"
                   "  ls *.joedb | joedb_merge /tmp/all.joedb\n"});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  std::vector<std::string> names;
  do {
    names.push_back(words->take());
  } while (!words->is_empty());
  const std::string out = names.back();
  names.pop_back();
  if (names.empty()) names = read_lines(std::cin);

  write_new_file(out, [&](Writable_Journal& journal) {
    Merged_Database merged;
    std::size_t errors = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::fprintf(stderr, "%zu / %zu: %s...", i + 1, names.size(), names[i].c_str());
      try {
        add_file(names[i], merged);
      } catch (const Exception& error) {
        std::fprintf(stderr, " %s", error.what());
        ++errors;
      }
      std::fputc('\n', stderr);
    }
    if (errors > 0) std::fprintf(stderr, "Number of errors: %zu\n", errors);
    if (errors == names.size()) throw Exception("nothing to merge");
    pack(merged.database(), journal);
  });
  return 0;
}

}  // namespace joedb
