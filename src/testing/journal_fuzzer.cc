#include "testing/journal_fuzzer.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "joedb/base/log.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"
#include "testing/database_text.h"

namespace joedb::testing {

namespace {

void require(bool is_true, const std::string& text) {
  if (is_true) return;
  std::fprintf(stderr, "broken promise: %s\n", text.c_str());
  std::abort();
}

// The bytes of a database whose tables are too large to be compared in a moment.
constexpr index_t large = 10'000;

// All that can be seen of a database, if it is not too large.
std::optional<std::string> small_text_of(const Database& database) {
  for (const auto& table : database.tables())
    if (table && table->records().size() > large) return std::nullopt;
  return text_of(database);
}

std::optional<std::string> read(std::string_view file, Recovery recovery, Deleted_Values deleted) {
  Readonly_Memory_File memory(file);
  try {
    Readonly_Journal journal(memory, recovery);
    require(journal.get_checkpoint() <= memory.get_size(), "a checkpoint beyond the end");
    Database database(deleted);
    database.limit_to_journal_of(journal.get_checkpoint());
    journal.replay(database);
    require(journal.get_replay_position() == journal.get_checkpoint(), "not all is replayed");
    return small_text_of(database);
  } catch (const Corruption_Error& error) {
    require(error.offset >= 0 && error.offset <= memory.get_size(),
            std::string("an error elsewhere: ") + error.what());
  } catch (const Exception&) {
  }
  return std::nullopt;
}

// Appends something to every table.
void write_to(Writable_Database& db) {
  db.write(Comment{"appended"});
  for (std::size_t i = 0; i < db.get_database().tables().size(); ++i) {
    const Table* const table = db.get_database().tables()[i].get();
    if (table == nullptr) continue;
    const Record_Id record(table->records().next_free());
    db.write(Insert{table->id(), record});
    for (std::size_t f = 0; f < table->fields().size(); ++f) {
      const Field& field = table->fields()[f];
      if (!field.column) continue;
      visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        db.write(Update<T>{table->id(), record, Field_Id(static_cast<std::uint16_t>(f + 1)), T()});
      });
    }
  }
  db.write_blob("appended");
}

void write(std::string_view file, Recovery recovery, Deleted_Values deleted) {
  Memory_File memory(Open_Mode::write_existing);
  memory.get_data().assign(file.begin(), file.end());
  std::optional<std::string> text;
  try {
    Writable_Database db(memory, recovery, deleted);
    db.soft_checkpoint();
    write_to(db);
    db.soft_checkpoint();
    text = small_text_of(db.get_database());
  } catch (const Exception&) {
    return;
  }
  const std::string_view written(memory.get_data().data(), memory.get_data().size());
  if (text) require(read(written, Recovery::none, deleted) == text, "not what was written");
}

}  // namespace

void fuzz_journal(std::string_view file) {
  Destructor_Logger::remove_logger();
  for (const Recovery recovery : {Recovery::none, Recovery::ignore_header, Recovery::overwrite})
    for (const Deleted_Values deleted : {Deleted_Values::reset, Deleted_Values::keep}) {
      read(file, recovery, deleted);
      write(file, recovery, deleted);
    }
}

}  // namespace joedb::testing
