#ifndef JOEDB_TESTS_SUPPORT_EXACT_STATE_H
#define JOEDB_TESTS_SUPPORT_EXACT_STATE_H

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"
#include "sim/lab/random_changes.h"
#include "text/dump.h"

// For tests of code that rewrites a journal.

namespace joedb::testing {

// Returns the value as a text that shows all of its bits; for a blob, its bytes.
template <Field_Value T>
std::string exact_text(const Abstract_File& file, const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return '"' + std::string(value) + '"';
  } else if constexpr (std::is_same_v<T, Blob>) {
    if (value.is_null()) return "null";
    std::string bytes(static_cast<std::size_t>(value.get_size()), '\0');
    return file.pread(bytes.data(), bytes.size(), value.get_position()) == bytes.size()
               ? '<' + bytes + '>'
               : "behind the end";
  } else if constexpr (std::is_same_v<T, Record_Id>) {
    return '#' + std::to_string(value.value());
  } else {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    std::string text;
    for (const char c : bytes) text += std::to_string(static_cast<unsigned char>(c)) + '.';
    return text;
  }
}

// Returns everything that programs and tools can see of a database, and the ids that new records
// will get. skip(table, record, field) returns true for values to leave out.
template <class Skip>
std::string exact_state(const Database& database, const Abstract_File& file, Skip skip) {
  std::string text = database.schema_entries();
  for (const std::string& declaration : database.declarations()) text += '\n' + declaration;
  for (const Table* table : live_tables(database)) {
    const Record_Ids& records = table->records();
    text += "\ntable " + std::to_string(table->id().value()) + ' ' + table->name() + " of " +
            std::to_string(records.size()) + ", free";
    if (!records.is_dense() && records.next_free() < records.size())
      for (index_t id = records.next_free(); id != Record_Ids::no_id;
           id = records.before_insert(id).next)
        text += ' ' + std::to_string(id);
    for (index_t id = records.first(); id != Record_Ids::no_id; id = records.next(id)) {
      text += "\n  " + std::to_string(id);
      std::uint16_t number = 0;
      for (const Field& field : table->fields()) {
        const Field_Id field_id(++number);
        if (!field.column || skip(table->id(), Record_Id(id), field_id)) continue;
        visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
          const auto& column = static_cast<const Column<T>&>(*field.column);
          text += ' ' + field.name + '=' + exact_text<T>(file, column.get(id));
        });
      }
    }
  }
  std::vector<const Index*> indexes(database.indexes().begin(), database.indexes().end());
  std::sort(indexes.begin(), indexes.end(), [](const Index* a, const Index* b) {
    return a->definition().name < b->definition().name;
  });
  for (const Index* index : indexes) {
    text += "\nindex " + index->definition().name;
    for (auto i = index->begin(); i != index->end(); i.next())
      text += ' ' + std::to_string(i.record().value());
  }
  return text;
}
inline std::string exact_state(const Database& database, const Abstract_File& file) {
  return exact_state(database, file, [](Table_Id, Record_Id, Field_Id) { return false; });
}

// Fills a file with changes of all kinds. Some values refer to blobs written long before. Returns
// positions between entries; the last one is the checkpoint.
inline std::vector<Offset> write_history(Random& random, Memory_File& file) {
  std::vector<Offset> positions{journal_start};
  Writable_Database db(file, {}, random.flip() ? Deleted_Values::keep : Deleted_Values::reset);
  Random_Changes changes(random, Random_Changes::Indexes::declared);
  std::vector<Blob> blobs;
  for (std::size_t steps = 1 + random.below(120); steps > 0; --steps) {
    changes.change(db);
    if (random.below(8) == 0)
      blobs.push_back(
          db.write_blob(std::string(random.below(40), static_cast<char>('A' + random.below(26)))));
    const auto& tables = db.get_database().tables();
    const Table* const table = tables.empty() ? nullptr : tables[random.below(tables.size())].get();
    for (std::size_t i = 0; table != nullptr && !blobs.empty() && i < table->fields().size(); ++i) {
      const Field& field = table->fields()[i];
      if (!field.column || field.column->type().code != Type_Code::blob) continue;
      const auto id = static_cast<index_t>(random.below(20));
      if (!table->records().is_used(id)) continue;
      Blob blob = blobs[random.below(blobs.size())];
      const auto skipped = static_cast<Offset>(
          random.below(3) > 0 ? 0 : random.below(static_cast<std::size_t>(blob.get_size()) + 1));
      blob = Blob(blob.get_position() + skipped, blob.get_size() - skipped);
      db.write(Update<Blob>{table->id(), Record_Id(id), Field_Id(static_cast<std::uint16_t>(i + 1)),
                            blob});
    }
    if (random.below(3) == 0) positions.push_back(db.get_journal().get_position());
  }
  db.soft_checkpoint();
  positions.push_back(db.get_journal().get_position());
  return positions;
}

// A database that is replayed entry by entry, to be compared with another one after each step.
class Stepping_Database {
 public:
  Stepping_Database(Abstract_File& file, Deleted_Values deleted)
      : file_(file), journal_(file), database_(deleted) {
    database_.limit_to_journal_of(journal_.get_checkpoint());
  }
  // Replays one entry. Returns false at the end.
  bool step() {
    if (is_at_end()) return false;
    journal_.replay(database_, journal_.get_replay_position() + 1);
    return true;
  }
  void go_to(Offset position) { journal_.replay(database_, position); }
  bool is_at_end() const { return journal_.get_replay_position() == journal_.get_checkpoint(); }
  Offset position() const { return journal_.get_replay_position(); }
  const Database& database() const { return database_; }
  std::string state() const { return exact_state(database_, file_); }

 private:
  Abstract_File& file_;
  Readonly_Journal journal_;
  Database database_;
};

struct Entry_Counter {
  std::size_t count = 0;
  template <class Entry>
  void operator()(const Entry&) {
    ++count;
  }
};

// Returns the number of entries after the position.
inline std::size_t entry_count(Abstract_File& file, Offset from) {
  Readonly_Journal journal(file);
  journal.replay(Ignore_Entries(), from);
  Entry_Counter counter;
  journal.replay(counter);
  return counter.count;
}

}  // namespace joedb::testing

#endif
