#include "joedb/table/typed_writer.h"

namespace joedb::inline v1 {

Schema_Relation compare_schemas(std::string_view file, std::string_view program) {
  if (!program.starts_with(file)) return Schema_Relation::incompatible;
  return file.size() == program.size() ? Schema_Relation::equal : Schema_Relation::file_is_older;
}

static Exception incompatible(std::string_view name) {
  return Exception(std::string(name) + ": Trying to open a file with incompatible schema");
}

void require_same_schema(const Database& database, std::string_view program_schema,
                         std::string_view name) {
  switch (compare_schemas(database.schema_entries(), program_schema)) {
    case Schema_Relation::equal:
      return;
    case Schema_Relation::incompatible:
      throw incompatible(name);
    case Schema_Relation::file_is_older:
      throw Out_Of_Date(std::string(name) +
                        ": Schema is out of date. Can't upgrade a read-only database.");
  }
}

namespace {

// Writes the entries it is called with to the journal and the database.
struct Upgrade {
  Database& database;
  Writable_Journal& journal;

  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (Encodable<Entry>) {
      database.prepare(entry);
      journal.append(entry);
      database.apply(entry);
    }
  }
};

// Holds the write lock of a shared file.
struct Transaction_Lock {
  explicit Transaction_Lock(Writable_Journal& j) : journal(j) { journal.lock_pull(); }
  ~Transaction_Lock() { journal.unlock(); }
  Writable_Journal& journal;
};

}  // namespace

void upgrade_schema(Database& database, Writable_Journal& journal, std::string_view program_schema,
                    std::string_view name) {
  const Transaction_Lock lock(journal);
  load(database, journal);
  switch (compare_schemas(database.schema_entries(), program_schema)) {
    case Schema_Relation::equal:
      return;
    case Schema_Relation::incompatible:
      throw incompatible(name);
    case Schema_Relation::file_is_older:
      break;
  }
  Upgrade upgrade{database, journal};
  upgrade(Comment{"Automatic schema upgrade"});
  Memory_Decoder_Input missing(program_schema.substr(database.schema_entries().size()));
  Context context;
  while (missing.remaining() > 0) decode_entry(missing, context, upgrade);
  upgrade(Valid_Data{});
  journal.soft_checkpoint();
}

}  // namespace joedb::inline v1
